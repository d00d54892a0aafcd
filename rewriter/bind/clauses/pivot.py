"""PIVOT and UNPIVOT.

UNPIVOT repeats every row for each of some columns. PIVOT is a grouping by all other columns, with
an aggregate for each of the values in its list. Spark computes it in one of two ways, by the types
of the aggregates. If all are numbers or truth values, an aggregate over no rows is NULL, whatever
it is elsewhere. Otherwise each is computed over all rows, and rows with another value count as
NULL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Filter, Generate, Project, Scalar, bracketed, is_known, references
from rewriter.bind.clauses.generators import struct_array
from rewriter.bind.clauses.grouping import Grouping
from rewriter.bind.columns.scope import Bound, Entry, Scope, item_name
from rewriter.bind.columns.types import mark_of, marks_of, type_of, unmarked
from rewriter.bind.context import BindContext
from rewriter.bind.functions.calls import call_name, is_aggregate
from rewriter.bind.scalars import ScalarBinder
from rewriter.bind.subqueries.memberships import conjunction
from rewriter.bind.subqueries.values import Subqueries
from rewriter.bind.text import unwrap
from rewriter.position import Span


def bind_unpivot(bound: Bound, pivot: exp.Pivot, context: BindContext, span: Span | None) -> Bound:
    """Bind UNPIVOT over a relation: the other columns, the name of a column, and its value.

    Rows whose values are all NULL are left out, unless NULLs are included.
    """
    (values,) = pivot.expressions
    (field,) = pivot.args["fields"]
    value_names = [part.name for part in _parts(values)]
    lookup = bound.scope.lookup(context.source)
    refusal = "cannot stand in UNPIVOT"
    binder = ScalarBinder(context, (lookup,), Subqueries(context), bound.scope, refusal)
    rows: list[Sequence[Scalar]] = []
    used: set[str] = set()
    for written in field.expressions:
        named = isinstance(written, exp.PivotAlias)
        columns = _parts(written.this if named else written)
        scalars = [binder.bind(column) for column in columns]
        used.update(name for scalar in scalars for name in references(scalar))
        name = written.alias if named else "_".join(column.name for column in columns)
        rows.append([exp.Literal.string(name), *scalars])
    names = [field.this.name, *value_names]
    output = tuple(context.names.attribute(name) for name in names)
    position = context.names.attribute("pos")
    relation = Generate(
        bound.relation, struct_array(rows), position, output, outer=False, inline=True, span=span
    )
    entries = tuple(Entry(attribute, attribute.name, origin=attribute.id) for attribute in output)
    kept = tuple(entry for entry in bound.scope.visible if entry.attribute.id not in used)
    scope = Scope((*kept, *entries))
    if pivot.args.get("include_nulls"):
        return Bound(relation, scope)
    there = [is_known(attribute.column()) for attribute in output[1:]]
    return Bound(Filter(relation, exp.or_(*there), span), scope)


def _parts(node: exp.Expr) -> Sequence[exp.Expr]:
    return node.expressions if isinstance(node, exp.Tuple) else [node]


_NULL_OF_NOTHING = frozenset({"avg", "max", "mean", "min", "sum"})
"""Aggregates that are NULL over no rows."""
_COUNTS = frozenset({"count", "count_if"})
_IGNORING_NULLS = frozenset(
    {"array_agg", "collect_list", "collect_set", "max_by", "min_by", "mode"}
    | _NULL_OF_NOTHING
    | _COUNTS
)
"""Aggregates to which rows with NULL are as if they were not there."""
_FIRST = frozenset({"first", "first_value", "last", "last_value"})
"""Aggregates that PIVOT lets pass over NULL."""
_SMALL = (*exp.DataType.NUMERIC_TYPES, exp.DataType.Type.BOOLEAN)
"""The types for which an aggregate over no rows is NULL."""

_ADVICE = "Write PIVOT as aggregates with FILTER and GROUP BY."


@dataclass(frozen=True, slots=True)
class _Pivoted:
    """One value of PIVOT: an aggregate over the input, or an expression over some.

    ``functions`` are the names of the aggregates, in the order in which the calls stand in it.
    """

    functions: tuple[str, ...]
    scalar: Scalar
    alias: str
    text: str


def bind_pivoted(bound: Bound, pivot: exp.Pivot, context: BindContext) -> Bound:
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


def bind_pivot(bound: Bound, pivot: exp.Pivot, context: BindContext, span: Span | None) -> Bound:
    """Bind PIVOT over a relation.

    Groups are by the columns that neither the aggregates nor FOR mention. A group is there even if
    none of the values is.

    Raises
    ------
    UnsupportedError
        For aggregates whose value where a value is not there has no rule.
    """
    subqueries = Subqueries(context)
    lookup = bound.scope.lookup(context.source)
    binder = ScalarBinder(context, (lookup,), subqueries, bound.scope)
    (field,) = pivot.args["fields"]
    of = field.this.expressions if isinstance(field.this, exp.Tuple) else [field.this]
    columns = [binder.bind(column) for column in of]
    # Spark pads none of them, as it does where columns of CHAR are compared.
    marks = marks_of(bound.relation)
    columns = [unmarked(column) if mark_of(column, marks) else column for column in columns]
    aggregates = [_aggregate(written, binder, span) for written in pivot.expressions]
    small = _are_small(aggregates, bound, context, span)
    used = {name for scalar in columns for name in references(scalar)}
    used |= {name for aggregate in aggregates for name in references(aggregate.scalar)}
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
            scalars.append(_filtered(aggregate, condition, grouping, attribute.name, small))
    if subqueries.ids:
        raise context.source.unsupported("a subquery in PIVOT is not supported", _ADVICE, span)
    relation = grouping.relation(bound.relation, span)
    output = tuple(entry.attribute for entry in entries)
    return Bound(Project(relation, output, tuple(scalars)), Scope(tuple(entries)))


def _aggregate(written: exp.Expr, binder: ScalarBinder, span: Span | None) -> _Pivoted:
    source = binder.context.source
    alias = written.alias if isinstance(written, exp.Alias) else ""
    value = unwrap(written.this if alias else written)
    calls = _calls(value)
    if not calls:
        problem = "PIVOT of what has no aggregate of its own is not supported"
        raise source.unsupported(problem, _ADVICE, span)
    functions = tuple(call_name(call, source) for call in calls)
    return _Pivoted(functions, binder.bind(value), alias, item_name(value))


def _calls(value: exp.Expr) -> list[exp.Expr]:
    """Return the calls of aggregates in an expression, in the order of the text."""
    return [part for part in value.walk(bfs=False, prune=is_aggregate) if is_aggregate(part)]


def _are_small(
    aggregates: Sequence[_Pivoted], bound: Bound, context: BindContext, span: Span | None
) -> bool:
    """Return True if all aggregates are numbers or truth values, as far as types are known.

    Raises
    ------
    UnsupportedError
        Where the types are unknown, or others, for aggregates whose value depends on that.
    """
    functions = {name for aggregate in aggregates for name in aggregate.functions}
    types = [
        type_of(each.scalar, bound.relation, context.environment.catalog) for each in aggregates
    ]
    known = [type_ for type_ in types if type_ is not None]
    if any(type_.this not in _SMALL for type_ in known):
        beyond = functions - _IGNORING_NULLS - _FIRST
        small = False
    elif len(known) == len(types):
        return True
    else:
        # A sum is as NULL where it is not there as any other; so is the greatest text.
        beyond = functions - _NULL_OF_NOTHING - _COUNTS
        small = True
        if functions & _COUNTS and functions & {"max", "min"}:
            problem = "PIVOT of a count beside MIN or MAX is not supported"
            raise context.source.unsupported(problem, _ADVICE, span)
    for name in sorted(beyond):
        raise context.source.unsupported(f"PIVOT of {name} is not supported", _ADVICE, span)
    return small


def _condition(
    written: exp.Expr, columns: Sequence[Scalar], binder: ScalarBinder
) -> tuple[Scalar, str]:
    """Return that the pivot columns have a value of IN, and what its columns are called."""
    named = isinstance(written, exp.PivotAlias)
    value = written.this if named else written
    of_columns = len(columns) > 1 and isinstance(value, exp.Tuple)
    parts = value.expressions if of_columns else [_as_struct(value)]
    equal: list[Scalar] = [
        exp.NullSafeEQ(this=bracketed(column.copy()), expression=bracketed(binder.bind(part)))
        for column, part in zip(columns, parts, strict=True)
    ]
    return conjunction(tuple(equal)), written.alias if named else _shown(value)


def _as_struct(value: exp.Expr) -> exp.Expr:
    """Return a value of one column, where several in brackets are the fields of a struct."""
    if not isinstance(value, exp.Tuple):
        return value
    return exp.Anonymous(
        this="struct", expressions=[_as_struct(part) for part in value.expressions]
    )


def _shown(value: exp.Expr) -> str:
    if isinstance(value, exp.Tuple):
        return f"{{{', '.join(_shown(part) for part in value.expressions)}}}"
    if isinstance(value, exp.Null):
        return "null"
    return str(value.this) if isinstance(value, exp.Literal) else item_name(value)


def _filtered(
    pivoted: _Pivoted, condition: Scalar, grouping: Grouping, name: str, small: bool
) -> Scalar:
    """Return a value of the rows that have a value of IN, over the grouping."""
    where = exp.Where(this=condition.copy())
    functions = iter(pivoted.functions)

    def filtered(node: exp.Expr) -> exp.Expr:
        if not is_aggregate(node):
            return node
        condition_before = (node.expression.this,) if isinstance(node, exp.Filter) else ()
        aggregated = node.this if condition_before else node
        both = exp.Where(
            this=conjunction((condition.copy(), *(part.copy() for part in condition_before)))
        )
        call: exp.Expr = exp.Filter(this=aggregated.copy(), expression=both)
        if next(functions) in _FIRST and not small:
            call = exp.IgnoreNulls(this=call)
        return grouping.aggregate(call, name).column()

    value: Scalar = pivoted.scalar.copy().transform(filtered, copy=False)
    alone = is_aggregate(pivoted.scalar)
    if not small or (alone and set(pivoted.functions) <= _NULL_OF_NOTHING):
        return value
    rows = exp.Filter(this=exp.Count(this=exp.Star()), expression=where.copy())
    count = grouping.aggregate(rows, f"{name}_rows")
    there = exp.GT(this=count.column(), expression=exp.Literal.number(0))
    return exp.Case().when(there, value)
