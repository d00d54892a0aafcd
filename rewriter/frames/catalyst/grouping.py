"""Groupings in Catalyst plans; and grouping sets, PIVOT, UNPIVOT and time windows, expanded there.

Analysis has replaced these by other operators. Grouping sets and UNPIVOT are copies of the rows:
one for each set, and one for each column or tuple of columns. A time window is a column computed
under the operator that uses it. PIVOT is two aggregations and a projection: the inner aggregation
groups by the keys and the pivot column too, the outer one puts each value's aggregates into an
array (``PivotFirst``), and the projection takes the arrays apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from sqlglot import exp

from rewriter.frames.catalyst.outputs import references
from rewriter.frames.catalyst.scalars import CatalystScalars, attribute_id
from rewriter.frames.catalyst.tree import PlanNode, tree
from rewriter.frames.writing.clauses import grouped, ready
from rewriter.frames.writing.literals import literal
from rewriter.frames.writing.pivot import (
    Unpivot,
    pivot_input,
    pivot_key,
    pivot_select,
    pivot_value,
    unpivoted,
)
from rewriter.frames.writing.selects import Column, FromRows, LastClause, call, unsupported

if TYPE_CHECKING:
    from rewriter.frames.catalyst.plans import CatalystPlans


@dataclass(frozen=True, slots=True)
class ExpandedSets:
    """The grouping sets of an aggregation.

    ``keys`` are its grouping expressions, ``sets`` the numbers of the keys that each set has, and
    ``outputs`` the expression ids under which the aggregation knows them; ``grouping_id`` is the
    expression id of the number of the set.
    """

    keys: tuple[PlanNode, ...]
    sets: tuple[tuple[int, ...], ...]
    outputs: tuple[int, ...]
    grouping_id: int

    def columns(self, scalars: CatalystScalars) -> Mapping[int, exp.Expr]:
        """Return the aggregation's own attributes as expressions over the rows."""
        written = dict(zip(self.outputs, map(scalars.write, self.keys), strict=True))
        return {**written, self.grouping_id: call("grouping_id")}

    def clause(self, scalars: CatalystScalars) -> exp.Group:
        """Return GROUP BY GROUPING SETS."""
        keys = [scalars.write(key) for key in self.keys]
        sets = [
            exp.Tuple(expressions=[keys[n].copy() for n in grouping_set])
            for grouping_set in self.sets
        ]
        return exp.Group(expressions=[exp.GroupingSets(expressions=sets)])


def aggregate(plans: CatalystPlans, node: PlanNode) -> FromRows:
    """Return the groups of an operator's rows, by keys or by grouping sets."""
    keys, items = node.many("groupingExpressions"), node.many("aggregateExpressions")
    below = node.children[0]
    if below.kind == "Expand" and _is_of_sets(below):
        sets = grouping_sets(below)
        rows = plans.input_of(below, LastClause.WHERE, (*sets.keys, *items))
        scope = plans.scope(rows)
        outputs = {**scope.columns, **sets.columns(scope)}
        columns = plans.items(rows, items, replace(scope, columns=outputs))
        return grouped(rows, sets.clause(scope), columns)
    rows = plans.input_of(node, LastClause.WHERE, (*keys, *items))
    scope = plans.scope(rows)
    group = exp.Group(expressions=[scope.write(key) for key in keys]) if keys else None
    return grouped(rows, group, plans.items(rows, items))


def _is_of_sets(expand: PlanNode) -> bool:
    """Return True if copies of rows are made for grouping sets, not for UNPIVOT."""
    outputs, below = _outputs(expand), expand.children[0]
    return outputs[-1].name == "spark_grouping_id" and below.kind == "Project"


def _outputs(expand: PlanNode) -> tuple[PlanNode, ...]:
    """Return the columns of copied rows, without the place of a set among equal ones."""
    outputs = expand.many("output")
    return outputs[:-1] if outputs[-1].name == "_gen_grouping_pos" else outputs


def grouping_sets(expand: PlanNode) -> ExpandedSets:
    """Return the grouping sets that an ``Expand`` over its projection is made of."""
    project, outputs = expand.children[0], _outputs(expand)
    items = project.many("projectList")
    keys = tuple(item.child for item in items if item.kind == "Alias")
    first = len(items) - len(keys)
    rows = [
        [tree(value) for value in row[first : len(outputs) - 1]]
        for row in expand.fields["projections"]
    ]
    sets = tuple(
        tuple(number for number, value in enumerate(row) if value.kind == "AttributeReference")
        for row in rows
    )
    ids = tuple(map(attribute_id, outputs[first:-1]))
    return ExpandedSets(keys, sets, ids, attribute_id(outputs[-1]))


_ALIAS = "p"
_VALUE = "value"
"""The name of a column before UNPIVOT that is an expression."""


@dataclass(frozen=True, slots=True)
class Pivot:
    """The parts of a PIVOT: its aggregates, its keys, and the columns read from it."""

    source: PlanNode
    made: tuple[PlanNode, ...]
    """Keys, and the pivot column, that are expressions: columns before, as a text has them."""
    aggregates: tuple[PlanNode, ...]
    keys: frozenset[int]
    of: PlanNode
    values: tuple[str | None, ...]
    arrays: dict[int, int]
    """The number of the aggregate by the attribute of its array."""
    items: tuple[PlanNode, ...]

    @property
    def used(self) -> frozenset[int]:
        """The attributes of the source that PIVOT reads: the others would be keys too."""
        return self.keys.union(*map(references, (self.of, *self.aggregates)))


def pivot_of(project: PlanNode) -> Pivot | None:
    """Return the PIVOT that a projection ends; None if it is another projection."""
    outer = project.children[0]
    if outer.kind != "Aggregate" or outer.children[0].kind != "Aggregate":
        return None
    inner = outer.children[0]
    firsts = {
        attribute_id(item): first
        for item in outer.many("aggregateExpressions")
        for first in item.walk()
        if first.kind == "PivotFirst"
    }
    if not firsts:
        return None
    known = {attribute_id(item): item for item in inner.many("aggregateExpressions")}
    keys = frozenset(map(attribute_id, outer.many("groupingExpressions")))
    first = next(iter(firsts.values()))
    of = first.children[0]
    columns = [known[number] for number in known if number in keys | {attribute_id(of)}]
    return Pivot(
        source=inner.children[0],
        made=tuple(column for column in columns if column.kind != "AttributeReference"),
        aggregates=tuple(known[attribute_id(first.children[1])] for first in firsts.values()),
        keys=keys,
        of=of,
        values=tuple(first.fields.get("pivotColumnValues") or ()),
        arrays={array: number for number, array in enumerate(firsts)},
        items=project.many("projectList"),
    )


def pivoted(plans: CatalystPlans, pivot: Pivot) -> FromRows:
    """Return the rows of a PIVOT."""
    rows = ready(plans.close, plans.rows(pivot.source), LastClause.ORDER, ())
    if pivot.made:
        columns = (*rows.columns, *plans.items(rows, pivot.made))
        rows = plans.close(replace(rows, columns=columns, stage=LastClause.ITEMS))
    rows = pivot_input(plans.close, rows, pivot.used)
    scalars = plans.scope(rows)
    type_ = pivot.of.fields["dataType"]
    values = [literal(v, type_) for v in pivot.values]
    aggregates = [scalars.write(item) for item in pivot.aggregates]
    keys = [column.scalar for column in rows.columns if column.id in pivot.keys]
    select = pivot_select(rows, keys, aggregates, scalars.write(pivot.of), values)
    return FromRows(
        tuple(_column(item, pivot, rows) for item in pivot.items), select, LastClause.ITEMS
    )


def _column(item: PlanNode, pivot: Pivot, rows: FromRows) -> Column:
    if item.kind == "AttributeReference":
        key = next(column for column in rows.columns if column.id == attribute_id(item))
        return Column(key.id, item.name, pivot_key(key.scalar))
    array, ordinal = item.children[0].children
    scalar = pivot_value(
        int(ordinal.fields["value"]), pivot.arrays[attribute_id(array)], len(pivot.aggregates)
    )
    return Column(attribute_id(item), item.name, scalar)


def expand(plans: CatalystPlans, node: PlanNode) -> FromRows:
    """Return the copies of rows that an operator makes, as the UNPIVOT that they are.

    What UNPIVOT makes rows of are columns: expressions are columns before. It casts columns to one
    type itself, which a literal text does not rely on.

    Raises
    ------
    UnsupportedError
        When it is made of something else.
    """
    outputs = node.many("output")
    copies = [[tree(value) for value in row] for row in node.fields.get("projections") or ()]
    first = copies[0] if copies else []
    split = next((n for n, part in enumerate(first) if part.kind == "Literal"), None)
    if split is None:
        raise unsupported("copies of rows that are not grouping sets have no rule")
    rows = plans.rows(node.children[0])
    kept = [part.child if part.kind == "Alias" else part for part in first[:split]]
    values = [part for row in copies for part in row[split + 1 :]]
    if not plans.literal and all(map(_is_cast_column, values)):
        values = [part.child if part.kind == "Cast" else part for part in values]
    parts = [*kept, *values]
    made = [part for part in parts if part.kind != "AttributeReference"]
    if made:
        rows = ready(plans.close, rows, LastClause.ORDER, ())
        scope = plans.scope(rows)
        columns = [Column(-1 - n, _VALUE, scope.write(part)) for n, part in enumerate(made)]
        plans.steps.need(column.id for column in columns)
        rows = plans.close(replace(rows, columns=(*rows.columns, *columns), stage=LastClause.ITEMS))
    numbers = count(-1, -1)
    ids = [attribute_id(p) if p.kind == "AttributeReference" else next(numbers) for p in parts]
    width = len(first) - split - 1
    unpivot = Unpivot(
        kept=tuple(ids[:split]),
        names=tuple(str(row[split].fields["value"]) for row in copies),
        values=tuple(tuple(ids[at : at + width]) for at in range(split, len(ids), width)),
        outputs=tuple((attribute_id(output), output.name) for output in outputs[split:]),
    )
    return unpivoted(plans.close, unpivot, rows)


def _is_cast_column(value: PlanNode) -> bool:
    inner = value.child if value.kind == "Cast" else value
    return inner.kind == "AttributeReference"


_STRUCT, _TIME = "CreateNamedStruct", "PreciseTimestampConversion"
_ADDED = ("TimeAdd", "TimestampAddInterval")
"""The sum of a time and a length; the latter since Spark 4.1."""


@dataclass(frozen=True, slots=True)
class PlanWindow:
    """The rows of an operator, each with a window that its time is in; lengths in microseconds.

    Sessions have a gap instead of lengths.
    """

    input: PlanNode
    attribute: PlanNode
    time: PlanNode
    lengths: tuple[int, ...] = ()
    gap: PlanNode | None = None

    @property
    def used(self) -> tuple[PlanNode, ...]:
        """The expressions over the operator's rows."""
        return (self.time,) if self.gap is None else (self.time, self.gap)

    def column(self, scalars: CatalystScalars) -> Column:
        """Return the column of the window."""
        if self.gap is None:
            texts = [exp.Literal.string(f"{length} microseconds") for length in self.lengths]
            scalar = call("window", scalars.write(self.time), *texts)
        else:
            scalar = call("session_window", *map(scalars.write, self.used))
        return Column(attribute_id(self.attribute), self.attribute.name, scalar)


def windowed(plans: CatalystPlans, window: PlanWindow) -> FromRows:
    """Return a step with the window, which is kept where nothing reads it: it repeats rows."""
    used = frozenset[int]().union(*map(references, window.used))
    rows = ready(plans.close, plans.rows(window.input), LastClause.WHERE, used)
    time_column = window.column(plans.scope(rows))
    plans.steps.need([time_column.id])
    return plans.close(replace(rows, columns=(time_column, *rows.columns), stage=LastClause.ITEMS))


def time_window_of(node: PlanNode) -> PlanWindow | None:
    """Return the time window that an operator makes with the one below it; None if it does not.

    It is a projection of rows that have a time where the windows do not overlap, and else a filter
    of copies of rows; of sessions, a filter of a projection. What is read here wrongly makes
    another plan, and is found out by that.
    """
    if not node.children or not node.children[0].children:
        return None
    below = node.children[0]
    if node.kind == "Project" and below.kind == "Filter":
        attribute = node.many("projectList")[0]
    elif node.kind == "Filter" and below.kind == "Project":
        attribute = below.many("projectList")[0]
    elif node.kind == "Filter" and below.kind == "Expand" and below.fields.get("projections"):
        attribute = below.many("output")[0]
    else:
        return None
    struct = attribute.child if attribute.kind == "Alias" else attribute
    if below.kind == "Expand":
        struct = tree(below.fields["projections"][0][0])
    times = [part.child for part in struct.walk() if part.kind == _TIME and _is_long(part)]
    if struct.kind != _STRUCT or not times:
        return None
    within = next((part for part in struct.walk() if part.kind == "Remainder"), None)
    if below.kind == "Project":
        added = next((part for part in struct.children[-1].walk() if part.kind in _ADDED), None)
        if within is not None or added is None:
            return None
        time, gap = added.children
        return PlanWindow(below.children[0], attribute, time, gap=_without_conversion(gap))
    if within is None:
        return None
    return PlanWindow(below.children[0], attribute, times[0], _lengths(struct, within))


def _without_conversion(gap: PlanNode) -> PlanNode:
    """Return a length without its conversion, which Spark adds to a text."""
    return gap.child if gap.kind == "Cast" else gap


def _is_long(conversion: PlanNode) -> bool:
    return conversion.fields.get("toType") == "long"


def _lengths(struct: PlanNode, within: PlanNode) -> tuple[int, int, int]:
    """Return width, slide and start, of ``... + width`` and ``(time - start) % slide``."""
    end = next(part for part in struct.children[3].walk() if part.kind == "Add")
    width, slide = _number(end.children[1]), _number(within.children[1])
    return width, slide, _number(within.children[0].children[1])


def _number(literal: PlanNode) -> int:
    return int(literal.fields["value"])
