"""UNION, EXCEPT and INTERSECT of queries that are bound, and pipes, which extend a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import AntiJoin, BagDifference, Scalar, SemiJoin, UnionAll
from rewriter.bind.catalog import SESSION, WINDOW
from rewriter.bind.clauses.grouping import distinct
from rewriter.bind.clauses.ordering import order_and_limit, ordinal
from rewriter.bind.clauses.pivot import bind_pivoted
from rewriter.bind.clauses.selects import answer, bind_rows
from rewriter.bind.clauses.sources import bind_sample
from rewriter.bind.columns.scope import Bound, Entry, Outer, Scope
from rewriter.bind.columns.types import marks_of
from rewriter.bind.context import BindContext, refuse_query_clauses, refuse_set_operation
from rewriter.bind.text import SourceText, unwrap
from rewriter.dialect import (
    AggregateStep,
    DropStep,
    ExtendStep,
    NameStep,
    OrderStep,
    Piped,
    SetStep,
)
from rewriter.position import Span
from rewriter.scalars.comparable import cast_to


def bind_set_operation(
    operation: exp.SetOperation,
    operands: Sequence[exp.Expr],
    branches: Sequence[Bound],
    context: BindContext,
) -> Bound:
    """Return a set operation of bound queries.

    Raises
    ------
    QueryError
        The queries have different numbers of columns.
    """
    source, first = context.source, branches[0]
    name = type(operation).__name__.upper()
    words = (name, "MINUS") if name == "EXCEPT" else (name,)
    span = source.keyword_after(operation.this, *words)
    for branch, operand in zip(branches[1:], operands[1:], strict=True):
        have, need = len(branch.scope.entries), len(first.scope.entries)
        if have != need:
            advice = "Select as many columns in each of them."
            problem = f"{name} of queries of {need} and {have} columns"
            raise source.error(problem, advice, operand)
    _check_marks(operation, branches, source)
    if not isinstance(operation, exp.Union):
        if operation.args.get("distinct"):
            return _difference(operation, branches, context, span)
        return _bag_difference(operation, branches, context, span)
    names = [attribute.name for attribute in first.relation.attributes]
    output = tuple(context.names.attribute(name) for name in names)
    union = UnionAll(tuple(branch.relation for branch in branches), output, span)
    bound = Bound(union, first.scope.over(output))
    return distinct(bound, context, span) if operation.args.get("distinct") else bound


def _check_marks(
    operation: exp.SetOperation, branches: Sequence[Bound], source: SourceText
) -> None:
    """Refuse what Spark does otherwise to columns that it knows more of than their types."""
    name = type(operation).__name__.upper()
    marks = [
        [known.get(attribute.id) for attribute in bound.relation.attributes]
        for bound, known in ((bound, marks_of(bound.relation)) for bound in branches)
    ]
    if not isinstance(operation, exp.Union) and any(SESSION in each for each in marks):
        advice = "Compare the starts and ends of the windows, as columns of their own."
        raise source.unsupported(f"{name} of session windows has no rule", advice, operation)
    for column in zip(*marks, strict=True):
        if len({None if mark in (WINDOW, SESSION) else mark for mark in column}) > 1:
            advice = "Convert them: CAST(... AS STRING)."
            problem = f"{name} of CHAR with a text of another length has no rule"
            raise source.unsupported(problem, advice, operation)


def _difference(
    operation: exp.SetOperation, branches: Sequence[Bound], context: BindContext, span: Span | None
) -> Bound:
    """Return EXCEPT or INTERSECT: the different rows of the left that the right lacks or has."""
    if span is not None:
        context.differences.add(span)
        if span in context.environment.converted:
            branches = [
                _converted(each, context.environment.converted[span], context) for each in branches
            ]
    left, right = distinct(branches[0], context, span), branches[1]
    pairs = zip(left.relation.attributes, right.relation.attributes, strict=True)
    equal = exp.and_(
        *(exp.NullSafeEQ(this=left.column(), expression=other.column()) for left, other in pairs),
        copy=False,
    )
    join = AntiJoin if isinstance(operation, exp.Except) else SemiJoin
    return Bound(join(left.relation, right.relation, equal, span), left.scope)


def _converted(bound: Bound, types: Mapping[int, str], context: BindContext) -> Bound:
    """Return the rows with some columns, by their numbers, converted to a type."""
    attributes = bound.relation.attributes
    converted: list[Scalar] = [attribute.column() for attribute in attributes]
    for number, name in types.items():
        converted[number] = cast_to(converted[number], name)
    project = context.project(bound.relation, [a.name for a in attributes], converted)
    return Bound(project, bound.scope.over(project.output))


def _bag_difference(
    operation: exp.SetOperation, branches: Sequence[Bound], context: BindContext, span: Span | None
) -> Bound:
    """Return EXCEPT ALL or INTERSECT ALL; of a chain of EXCEPT ALL all but the first are taken."""
    left, *further = branches
    output = tuple(context.names.attribute(a.name) for a in left.relation.attributes)
    right = further[0].relation
    if len(further) > 1:
        taken = tuple(context.names.attribute(a.name) for a in left.relation.attributes)
        right = UnionAll(tuple(bound.relation for bound in further), taken, span)
    common = isinstance(operation, exp.Intersect)
    relation = BagDifference(left.relation, right, output, common, span)
    return Bound(relation, left.scope.over(output))


def bind_piped(piped: Piped, context: BindContext, outer: Outer | None) -> Bound:
    """Bind a query in pipe syntax, without what stands after its last operator.

    Raises
    ------
    UnsupportedError
        An operator has no rule.
    CorrelationError
        An operator refers to a query around this one.
    """
    inside = None if outer is None else outer.refused("pipe syntax")
    return _shown(_Pipe(context, inside).bound(piped), context)


@dataclass(frozen=True, slots=True)
class _Pipe:
    context: BindContext
    outer: Outer | None

    def bound(self, piped: Piped) -> Bound:
        """Bind an operator and those before it."""
        given = self._before(piped.this)
        step = piped.args["step"]
        match step:
            case exp.Select():
                refuse_query_clauses(step, self.context.source)
                return self._select(given, step)
            case ExtendStep():
                items = [exp.Star(), *(item.copy() for item in step.expressions)]
                return self._select(given, exp.Select(expressions=items))
            case SetStep():
                return self._assigned(given, step)
            case DropStep():
                star = exp.Star(except_=[name.copy() for name in step.expressions])
                return self._select(given, exp.Select(expressions=[star]))
            case NameStep():
                return Bound(given.relation, given.scope.renamed((step.name,)))
            case AggregateStep():
                return self._aggregated(given, step)
            case exp.Where():
                return self._rows(given, exp.Select(where=step.copy()))
            case exp.Join():
                return self._rows(given, exp.Select(joins=[step.copy()]))
            case exp.Pivot():
                return bind_pivoted(given, step, self.context)
            case exp.TableSample():
                return bind_sample(given, step, self.context)
            case OrderStep():
                refuse_query_clauses(step, self.context.source)
                return order_and_limit(_shown(given, self.context), step, self.context)
            case exp.SetOperation():
                return self._set_operation(given, piped, step)
        raise TypeError(f"no rule for {type(step).__name__}")

    def _before(self, source: exp.Expr) -> Bound:
        if isinstance(source, Piped):
            return self.bound(source)
        if isinstance(source, exp.Query):
            return self.context.bind.query(source, self.context, self.outer)
        from_ = source.args.get("from_") or exp.From(this=source)
        laterals = [node.copy() for node in source.args.get("laterals") or []]
        return self._rows(None, exp.Select(from_=from_.copy(), laterals=laterals))

    def _rows(self, given: Bound | None, select: exp.Select) -> Bound:
        rows = bind_rows(select, self.context, self.outer, correlate=False, given=given)
        return Bound(rows.relation, rows.scope)

    def _select(self, given: Bound, select: exp.Select) -> Bound:
        return answer(bind_rows(select, self.context, self.outer, correlate=False, given=given))

    def _assigned(self, given: Bound, step: SetStep) -> Bound:
        """Return the columns with other values for some; later values see the earlier ones."""
        source = self.context.source
        for assigned in step.expressions:
            name = assigned.args["alias"]
            if sum(entry.named(name.name) for entry in given.scope.visible) != 1:
                problem = f"SET of {name.name}, which is not the name of one column,"
                advice = "Select the columns that are meant."
                raise source.error(problem, advice, name)
            select = exp.Select(expressions=[exp.Star(), assigned.copy()])
            extended = self._select(given, select)
            *kept, value = extended.scope.entries
            chosen = [value if entry.named(name.name) else entry for entry in kept]
            given = Bound(extended.relation, Scope(tuple(chosen)))
        return given

    def _aggregated(self, given: Bound, step: AggregateStep) -> Bound:
        """Return the keys, then the aggregates; an integer is the column at that place."""
        keys = [self._key(key, given.scope) for key in step.args.get("keys") or []]
        items = [*keys, *(item.copy() for item in step.expressions)]
        bare = [(key.this if isinstance(key, exp.Alias) else key).copy() for key in keys]
        select = exp.Select(expressions=items)
        if keys:
            select.set("group", exp.Group(expressions=bare))
        return self._select(given, select)

    def _key(self, key: exp.Expr, scope: Scope) -> exp.Expr:
        index = ordinal(key, len(scope.visible), "GROUP BY", self.context.source)
        if index is None:
            return key.copy()
        return _named(scope.visible[index], unwrap(key))

    def _set_operation(self, given: Bound, piped: Piped, step: exp.SetOperation) -> Bound:
        operation = step.copy()
        operation.set("this", piped.this.copy())
        refuse_set_operation(operation, self.context.source)
        name = type(operation).__name__.upper()
        refused = self.outer.beyond(f"{name} in a subquery") if self.outer else None
        right = self.context.bind.query(step.expression, self.context, refused)
        branches = [_shown(given, self.context), right]
        operands: Sequence[exp.Expr] = [piped.this, step.expression]
        return bind_set_operation(operation, operands, branches, self.context)


def _named(entry: Entry, ordinal_node: exp.Expr) -> exp.Column:
    """Return the name of a column, standing where an ordinal does."""
    parts = [exp.to_identifier(part, quoted=True) for part in (*entry.qualifier, entry.name)]
    column: exp.Column = exp.column(parts[-1], *reversed(parts[:-1]))
    column.this.meta.update(ordinal_node.meta)
    return column


def _shown(bound: Bound, context: BindContext) -> Bound:
    """Return a query's rows with the columns in scope alone, in their order."""
    visible = bound.scope.visible
    attributes = tuple(entry.attribute for entry in visible)
    if attributes == bound.relation.attributes:
        return Bound(bound.relation, Scope(visible))
    names = [entry.name for entry in visible]
    shown = context.project(bound.relation, names, [a.column() for a in attributes])
    entries = zip(visible, shown.attributes, strict=True)
    return Bound(shown, Scope(tuple(replace(e, attribute=a) for e, a in entries)))
