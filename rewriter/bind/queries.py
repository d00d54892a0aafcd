"""Queries: SELECT, set operations, and queries in brackets."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import AntiJoin, BagDifference, Relation, SemiJoin, UnionAll
from rewriter.bind.clauses import refuse_query_clauses, refuse_set_operation
from rewriter.bind.constants import bind_values
from rewriter.bind.context import Context, Correlated, LateralRows, Members
from rewriter.bind.correlated import bind_scalar_select
from rewriter.bind.dependent import bind_dependent, members_of, scalar_of
from rewriter.bind.grouping import distinct
from rewriter.bind.lateral_subqueries import bind_lateral_subquery
from rewriter.bind.members import bind_members, refusal, without_limit
from rewriter.bind.ordering import order_and_limit
from rewriter.bind.scope import Bound, Outer
from rewriter.bind.selects import bind_select
from rewriter.bind.sources import define_ctes
from rewriter.errors import CorrelationError
from rewriter.position import Span, keyword_after, keyword_before

_CLAUSES = ("with_", "order", "limit", "offset")


class QueryBinder:
    """Binds queries inside queries; see :class:`rewriter.bind.context.Binders`."""

    def query(self, query: exp.Query, context: Context, outer: Outer | None) -> Bound:
        """Bind a query with its WITH, ORDER BY and LIMIT."""
        inner = define_ctes(query, context, outer)
        if isinstance(query, exp.Select):
            return bind_select(query, inner, outer)
        refuse_query_clauses(query, context.source)
        if isinstance(query, exp.SetOperation):
            bound = self._set_operation(query, inner, outer)
        elif isinstance(query.this, exp.Query):
            bound = self.query(query.this, inner, outer)
        elif isinstance(query.this, exp.Values):
            bound = bind_values(query.this, inner)
        else:
            name = query.this.key.upper()
            place = keyword_before(context.source.sql, query, name) or query
            advice = "Store its rows in a relation and track it."
            raise context.source.unsupported(f"{name} is not supported", advice, place)
        return order_and_limit(bound, query, inner)

    def scalar(self, query: exp.Query, context: Context, outer: Outer) -> Bound | Correlated:
        """Bind a scalar subquery."""
        query = _bare(query)
        try:
            if isinstance(query, exp.Select):
                return bind_scalar_select(query, define_ctes(query, context, outer), outer)
            return self.query(query, context, outer.refused("a scalar subquery"))
        except CorrelationError:
            return scalar_of(bind_dependent(query, context, outer), query, context)

    def lateral(
        self, query: exp.Query, left: Relation, context: Context, outer: Outer
    ) -> LateralRows:
        """Bind a subquery of FROM whose rows depend on those before it."""
        return bind_lateral_subquery(_bare(query), left, context, outer)

    def members(self, query: exp.Query, context: Context, outer: Outer, *, exists: bool) -> Members:
        """Bind the subquery of IN or EXISTS."""
        query = _bare(query)
        if exists:
            query = without_limit(query)
        try:
            if isinstance(query, exp.Select):
                inner = define_ctes(query, context, outer)
                members = bind_members(query, inner, outer, exists=exists)
                if members is not None:
                    return members
            bound = self.query(query, context, outer.refused(refusal(query)))
        except CorrelationError:
            return members_of(bind_dependent(query, context, outer))
        values = tuple(entry.attribute.column() for entry in bound.scope.entries)
        return Members(bound.relation, values, ())

    def _set_operation(
        self, operation: exp.SetOperation, context: Context, outer: Outer | None
    ) -> Bound:
        source = context.source
        refuse_set_operation(operation, source)
        name = type(operation).__name__.upper()
        operands = _operands(operation)
        refused = outer.beyond(f"{name} in a subquery") if outer else None
        branches = [self.query(operand, context, refused) for operand in operands]
        first = branches[0]
        words = (name, "MINUS") if name == "EXCEPT" else (name,)
        span = keyword_after(source.sql, operation.this, *words)
        for branch, operand in zip(branches[1:], operands[1:], strict=True):
            have, need = len(branch.scope.entries), len(first.scope.entries)
            if have != need:
                advice = "Select as many columns in each of them."
                problem = f"{name} of queries of {need} and {have} columns"
                raise source.error(problem, advice, operand)
        if not isinstance(operation, exp.Union):
            if operation.args.get("distinct"):
                return _difference(operation, branches, context, span)
            return _bag_difference(operation, branches, context, span)
        names = [attribute.name for attribute in first.relation.attributes]
        output = tuple(context.names.attribute(name) for name in names)
        union = UnionAll(tuple(branch.relation for branch in branches), output, span)
        bound = Bound(union, first.scope.over(output))
        return distinct(bound, context, span) if operation.args.get("distinct") else bound


def _difference(
    operation: exp.SetOperation, branches: Sequence[Bound], context: Context, span: Span | None
) -> Bound:
    """Return EXCEPT or INTERSECT: the different rows of the left that the right lacks or has."""
    left, right = distinct(branches[0], context, span), branches[1]
    pairs = zip(left.relation.attributes, right.relation.attributes, strict=True)
    equal = exp.and_(
        *(exp.NullSafeEQ(this=one.column(), expression=other.column()) for one, other in pairs),
        copy=False,
    )
    join = AntiJoin if isinstance(operation, exp.Except) else SemiJoin
    return Bound(join(left.relation, right.relation, equal, span), left.scope)


def _bag_difference(
    operation: exp.SetOperation, branches: Sequence[Bound], context: Context, span: Span | None
) -> Bound:
    """Return EXCEPT ALL or INTERSECT ALL; of a chain of EXCEPT ALL all but the first are taken."""
    left, *others = branches
    output = tuple(context.names.attribute(a.name) for a in left.relation.attributes)
    right = others[0].relation
    if len(others) > 1:
        taken = tuple(context.names.attribute(a.name) for a in left.relation.attributes)
        right = UnionAll(tuple(bound.relation for bound in others), taken, span)
    common = isinstance(operation, exp.Intersect)
    relation = BagDifference(left.relation, right, output, common, span)
    return Bound(relation, left.scope.over(output))


def _bare(query: exp.Query) -> exp.Query:
    """Return a query without brackets around it."""
    while isinstance(query, exp.Subquery) and not _has_clauses(query):
        query = query.this
    return query


def _has_clauses(query: exp.Query) -> bool:
    return any(query.args.get(clause) for clause in _CLAUSES)


def _operands(operation: exp.SetOperation) -> list[exp.Query]:
    """Return the inputs of a set operation; a chain of UNION ALL or EXCEPT ALL is one with many."""
    kind = type(operation)
    if operation.args.get("distinct") or kind not in (exp.Union, exp.Except):
        return [operation.this, operation.expression]
    operands = [operation.expression]
    left = operation.this
    while isinstance(left, kind) and not left.args.get("distinct") and not _has_clauses(left):
        operands.append(left.expression)
        left = left.this
    return [left, *reversed(operands)]
