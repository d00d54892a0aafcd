"""PIVOT: a grouping by all other columns, with an aggregate for each value of those it is for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Project, Scalar, bracketed, references
from rewriter.bind.calls import call_name, is_aggregate
from rewriter.bind.context import Context
from rewriter.bind.fingerprint import unwrap
from rewriter.bind.grouping import Grouping
from rewriter.bind.marks import mark_of, marks_of, unmarked
from rewriter.bind.memberships import conjunction
from rewriter.bind.names import item_name
from rewriter.bind.scalars import ScalarBinder
from rewriter.bind.scope import Bound, Entry, Scope
from rewriter.bind.subqueries import Subqueries
from rewriter.bind.unpivot import bind_unpivot
from rewriter.position import Span

_NULL_OF_NOTHING = frozenset({"avg", "max", "mean", "min", "sum"})
"""Aggregates that are NULL over no rows, as PIVOT has them where a value is not there."""

_COUNTS = frozenset({"count", "count_if"})
"""Aggregates that PIVOT has as NULL, and not 0, where a value is not there."""

_ADVICE = "Write PIVOT as aggregates with FILTER and GROUP BY."


@dataclass(frozen=True, slots=True)
class _Pivoted:
    """One aggregate of PIVOT: its call over the input, the name it was given, and its text."""

    call: Scalar
    alias: str
    text: str
    counts: bool


def bind_pivoted(bound: Bound, pivot: exp.Pivot, context: Context) -> Bound:
    """Bind PIVOT or UNPIVOT over a relation, and its alias."""
    source = context.source
    name = "UNPIVOT" if pivot.args.get("unpivot") else "PIVOT"
    span = source.keyword_before(pivot, name)
    if name == "UNPIVOT":
        bound = bind_unpivot(bound, pivot, context, span)
    else:
        bound = bind_pivot(bound, pivot, context, span)
    alias = pivot.args.get("alias")
    if alias is None:
        return bound
    names = [column.name for column in alias.columns] or None
    if names is not None and len(names) != len(bound.scope.visible):
        problem = f"{len(names)} column names are given for {len(bound.scope.visible)} columns"
        raise source.error(problem, "Name each column once.", span)
    return Bound(bound.relation, bound.scope.renamed((alias.name,), names))


def bind_pivot(bound: Bound, pivot: exp.Pivot, context: Context, span: Span | None) -> Bound:
    """Bind PIVOT over a relation.

    Groups are by the columns that neither the aggregates nor FOR mention. A group is there even if
    none of the values is.

    Raises
    ------
    UnsupportedError
        For aggregates whose value over no rows depends on their type.
    """
    subqueries = Subqueries(context)
    lookup = bound.scope.lookup(context.source)
    binder = ScalarBinder(context, (lookup,), subqueries, bound.scope)
    (field,) = pivot.args["fields"]
    of = field.this.expressions if isinstance(field.this, exp.Tuple) else [field.this]
    columns = [binder.bind(column) for column in of]
    # Spark pads none of them, as it does where columns of CHAR are compared.
    marks = marks_of(bound.relation)
    columns = [unmarked(one) if mark_of(one, marks) else one for one in columns]
    aggregates = [_aggregate(written, binder, span) for written in pivot.expressions]
    _check_empty_values(aggregates, context, span)
    used = {name for scalar in columns for name in references(scalar)}
    used |= {name for aggregate in aggregates for name in references(aggregate.call)}
    kept = [entry for entry in bound.scope.visible if entry.attribute.id not in used]
    keys = [(entry.name, entry.attribute.column()) for entry in kept]
    grouping = Grouping(context, subqueries, keys)
    entries: list[Entry] = []
    scalars: list[Scalar] = []
    for entry, (_, key) in zip(kept, keys, strict=True):
        attribute = context.names.attribute(entry.name)
        entries.append(Entry(attribute, entry.name, entry.qualifier, origin=attribute.id))
        scalars.append(grouping.over(key))
    for written in field.expressions:
        condition, name = _condition(written, columns, binder)
        for aggregate in aggregates:
            more = f"_{aggregate.alias or aggregate.text}" if len(aggregates) > 1 else ""
            attribute = context.names.attribute(name + more)
            entries.append(Entry(attribute, attribute.name, origin=attribute.id))
            scalars.append(_filtered(aggregate, condition, grouping, attribute.name))
    if subqueries.ids:
        raise context.source.unsupported("a subquery in PIVOT is not supported", _ADVICE, span)
    relation = grouping.relation(bound.relation, span)
    output = tuple(entry.attribute for entry in entries)
    return Bound(Project(relation, output, tuple(scalars)), Scope(tuple(entries)))


def _aggregate(written: exp.Expr, binder: ScalarBinder, span: Span | None) -> _Pivoted:
    source = binder.context.source
    alias = written.alias if isinstance(written, exp.Alias) else ""
    call = unwrap(written.this if alias else written)
    if not is_aggregate(call) or isinstance(call, exp.Filter):
        problem = "PIVOT of what is not one aggregate is not supported"
        raise source.unsupported(problem, _ADVICE, span)
    name = call_name(call, source)
    if name not in _NULL_OF_NOTHING | _COUNTS:
        raise source.unsupported(f"PIVOT of {name} is not supported", _ADVICE, span)
    return _Pivoted(binder.bind(call), alias, item_name(call), name in _COUNTS)


def _check_empty_values(
    aggregates: Sequence[_Pivoted], context: Context, span: Span | None
) -> None:
    """Refuse counts beside MIN or MAX: of no rows they are NULL only where those are numbers."""
    ordered = any(isinstance(aggregate.call, exp.Max | exp.Min) for aggregate in aggregates)
    if ordered and any(aggregate.counts for aggregate in aggregates):
        problem = "PIVOT of a count beside MIN or MAX is not supported"
        raise context.source.unsupported(problem, _ADVICE, span)


def _condition(
    written: exp.Expr, columns: Sequence[Scalar], binder: ScalarBinder
) -> tuple[Scalar, str]:
    """Return that the pivot columns have a value of IN, and what its columns are called."""
    named = isinstance(written, exp.PivotAlias)
    value = written.this if named else written
    parts = value.expressions if isinstance(value, exp.Tuple) else [value]
    equal: list[Scalar] = [
        exp.NullSafeEQ(this=bracketed(column.copy()), expression=bracketed(binder.bind(part)))
        for column, part in zip(columns, parts, strict=True)
    ]
    return conjunction(tuple(equal)), written.alias if named else _shown(value)


def _shown(value: exp.Expr) -> str:
    if isinstance(value, exp.Tuple):
        return f"{{{', '.join(_shown(part) for part in value.expressions)}}}"
    if isinstance(value, exp.Null):
        return "null"
    return str(value.this) if isinstance(value, exp.Literal) else item_name(value)


def _filtered(aggregate: _Pivoted, condition: Scalar, grouping: Grouping, name: str) -> Scalar:
    """Return an aggregate of the rows that have a value, over the grouping."""
    where = exp.Where(this=condition.copy())
    found = grouping.aggregate(exp.Filter(this=aggregate.call.copy(), expression=where), name)
    if not aggregate.counts:
        return found.column()
    rows = exp.Filter(this=exp.Count(this=exp.Star()), expression=where.copy())
    count = grouping.aggregate(rows, f"{name}_rows")
    there = exp.GT(this=count.column(), expression=exp.Literal.number(0))
    return exp.Case().when(there, found.column())
