"""Pipe syntax: each operator applies to the rows of the query before it, and to its columns.

Columns keep the qualifiers that may stand before them until ``AS`` gives them another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.bind.clauses.ordering import order_and_limit, ordinal
from rewriter.bind.clauses.pivot import bind_pivoted
from rewriter.bind.clauses.refusals import refuse_query_clauses, refuse_set_operation
from rewriter.bind.clauses.selects import answer, bind_rows
from rewriter.bind.clauses.set_operations import bind_set_operation
from rewriter.bind.clauses.sources import bind_sample
from rewriter.bind.columns.scope import Bound, Entry, Outer, Scope
from rewriter.bind.context import BindContext
from rewriter.bind.fingerprint import unwrap
from rewriter.dialect import (
    AggregateStep,
    DropStep,
    ExtendStep,
    NameStep,
    OrderStep,
    Piped,
    SetStep,
)


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
