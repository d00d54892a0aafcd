"""PIVOT, which a plan has as two aggregations and a projection.

The inner aggregation groups by the keys and the pivot column too, the outer one puts each value's
aggregates into an array (``PivotFirst``), and the projection takes the arrays apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rewriter.frames.catalyst.outputs import references
from rewriter.frames.catalyst.scalars import attribute_id
from rewriter.frames.catalyst.tree import Node
from rewriter.frames.writing.clauses import ready
from rewriter.frames.writing.literals import literal
from rewriter.frames.writing.pivot import pivot_input, pivot_key, pivot_select, pivot_value
from rewriter.frames.writing.selects import Column, Rows, Stage

if TYPE_CHECKING:
    from rewriter.frames.catalyst.plans import CatalystPlans

_ALIAS = "p"


@dataclass(frozen=True, slots=True)
class Pivot:
    """The parts of a PIVOT: its aggregates, its keys, and the columns read from it."""

    source: Node
    made: tuple[Node, ...]
    """Keys, and the pivot column, that are expressions: columns before, as a text has them."""
    aggregates: tuple[Node, ...]
    keys: frozenset[int]
    of: Node
    values: tuple[str | None, ...]
    arrays: dict[int, int]
    """The number of the aggregate by the attribute of its array."""
    items: tuple[Node, ...]

    @property
    def used(self) -> frozenset[int]:
        """The attributes of the source that PIVOT reads: the others would be keys too."""
        return self.keys.union(*map(references, (self.of, *self.aggregates)))


def pivot_of(project: Node) -> Pivot | None:
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


def pivoted(plans: CatalystPlans, pivot: Pivot) -> Rows:
    """Return the rows of a PIVOT."""
    rows = ready(plans.close, plans.rows(pivot.source), Stage.ORDER, ())
    if pivot.made:
        columns = (*rows.columns, *plans.items(rows, pivot.made))
        rows = plans.close(replace(rows, columns=columns, stage=Stage.ITEMS))
    rows = pivot_input(plans.close, rows, pivot.used)
    scalars = plans.scope(rows)
    type_ = pivot.of.fields["dataType"]
    values = [literal(v, type_) for v in pivot.values]
    aggregates = [scalars.write(item) for item in pivot.aggregates]
    keys = [column.scalar for column in rows.columns if column.id in pivot.keys]
    select = pivot_select(rows, keys, aggregates, scalars.write(pivot.of), values)
    return Rows(tuple(_column(item, pivot, rows) for item in pivot.items), select, Stage.ITEMS)


def _column(item: Node, pivot: Pivot, rows: Rows) -> Column:
    if item.kind == "AttributeReference":
        key = next(column for column in rows.columns if column.id == attribute_id(item))
        return Column(key.id, item.name, pivot_key(key.scalar))
    array, ordinal = item.children[0].children
    scalar = pivot_value(
        int(ordinal.fields["value"]), pivot.arrays[attribute_id(array)], len(pivot.aggregates)
    )
    return Column(attribute_id(item), item.name, scalar)
