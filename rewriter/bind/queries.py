"""Queries: :func:`bind_query`, and the binding of queries inside queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Relation
from rewriter.bind.catalog import Environment
from rewriter.bind.clauses.ordering import order_and_limit
from rewriter.bind.clauses.selects import bind_select
from rewriter.bind.clauses.set_operations import bind_piped, bind_set_operation
from rewriter.bind.clauses.sources import bind_values, define_ctes
from rewriter.bind.columns.scope import AttributeNames, Bound, Outer, lambda_variables
from rewriter.bind.context import (
    BindContext,
    Correlated,
    LateralRows,
    Recursion,
    SubqueryMembers,
    refuse_query_clauses,
    refuse_set_operation,
)
from rewriter.bind.functions.calls import with_aggregates
from rewriter.bind.parameters import substitute
from rewriter.bind.subqueries.correlated import (
    bind_lateral_subquery,
    bind_members,
    bind_scalar_select,
    refusal,
    without_limit,
)
from rewriter.bind.subqueries.unnesting import bind_dependent, members_of, scalar_of
from rewriter.bind.text import SourceText, parse
from rewriter.dialect import Piped
from rewriter.errors import CorrelationError
from rewriter.position import Span

_CLAUSES = ("with_", "order", "limit", "offset")


class QueryBinder:
    """Binds queries inside queries; see :class:`rewriter.bind.context.Binders`."""

    def query(self, query: exp.Query, context: BindContext, outer: Outer | None) -> Bound:
        """Bind a query with its WITH, ORDER BY and LIMIT."""
        inner = define_ctes(query, context, outer)
        if isinstance(query, exp.Select):
            return bind_select(query, inner, outer)
        refuse_query_clauses(query, context.source)
        if isinstance(query, exp.SetOperation):
            bound = self._set_operation(query, inner, outer)
        elif isinstance(query, Piped):
            bound = bind_piped(query, inner, outer)
        elif isinstance(query.this, exp.Query):
            bound = self.query(query.this, inner, outer)
        elif isinstance(query.this, exp.Values):
            bound = bind_values(query.this, inner)
        else:
            name = query.this.key.upper()
            at = context.source.keyword_before(query, name) or query
            advice = "Store its rows in a relation and track it."
            raise context.source.unsupported(f"{name} is not supported", advice, at)
        return order_and_limit(bound, query, inner)

    def scalar(self, query: exp.Query, context: BindContext, outer: Outer) -> Bound | Correlated:
        """Bind a scalar subquery."""
        query = _bare(query)
        try:
            if isinstance(query, exp.Select):
                return bind_scalar_select(query, define_ctes(query, context, outer), outer)
            return self.query(query, context, outer.refused("a scalar subquery"))
        except CorrelationError:
            return scalar_of(bind_dependent(query, context, outer), query, context)

    def lateral(
        self, query: exp.Query, left: Relation, context: BindContext, outer: Outer
    ) -> LateralRows:
        """Bind a subquery of FROM whose rows depend on those before it."""
        return bind_lateral_subquery(_bare(query), left, context, outer)

    def members(
        self, query: exp.Query, context: BindContext, outer: Outer, *, exists: bool
    ) -> SubqueryMembers:
        """Bind the subquery of IN or EXISTS."""
        query = _bare(query)
        if exists:
            query = without_limit(query, context.source)
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
        return SubqueryMembers(bound.relation, values, ())

    def _set_operation(
        self, operation: exp.SetOperation, context: BindContext, outer: Outer | None
    ) -> Bound:
        refuse_set_operation(operation, context.source)
        name = type(operation).__name__.upper()
        operands = _operands(operation)
        refused = outer.beyond(f"{name} in a subquery") if outer else None
        branches = [self.query(operand, context, refused) for operand in operands]
        return bind_set_operation(operation, operands, branches, context)


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


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A bound query: its plan and its text.

    ``root.attributes`` are the answer's columns in order, named by alias, column or field, and
    else by the text of their expression, which is not always Spark's name for it.
    """

    root: Relation
    sql: str
    recursions: Mapping[str, Recursion]
    """Its recursive queries, by the keys of ``Environment.levels``."""
    differences: Collection[Span]
    """The places of EXCEPT and INTERSECT, which convert the columns of their answer."""


def bind_query(
    sql: str, environment: Environment, expression: exp.Query | None = None
) -> BoundQuery:
    """Bind the text of a query.

    Parameters
    ----------
    sql
        One query in Spark SQL, which Spark analyses without error.
    environment
        The meaning of the names of relations and functions.
    expression
        The parsed text, if the caller has parsed it, or put literals for parameters or ``now()``.

    Raises
    ------
    UnsupportedError
        An operator has no rule.
    UntrackedError
        The catalog does not know a relation.
    NotUnderstoodError
        The text cannot be parsed.
    QueryError
        A name is unknown or ambiguous, or a parameter was not replaced by a value.
    """
    source = SourceText(sql)
    tree = parse(source) if expression is None else expression
    query = with_aggregates(substitute(tree, None, sql=sql), environment.aggregates)
    names = AttributeNames(lambda_variables(query))
    context = BindContext(source, environment, names, QueryBinder())
    root = context.bind.query(query, context, None).relation
    return BoundQuery(root, sql, context.recursions, context.differences)
