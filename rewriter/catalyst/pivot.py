"""PIVOT, which a plan has as two aggregations and a projection.

The inner aggregation groups by the keys and the pivot column too, the outer one puts each value's
aggregates into an array (``PivotFirst``), and the projection takes the arrays apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from rewriter.catalyst.errors import unsupported
from rewriter.catalyst.literals import literal
from rewriter.catalyst.names import column, identifier
from rewriter.catalyst.outputs import references
from rewriter.catalyst.scalars import Scalars, attribute_id
from rewriter.catalyst.selects import Column, Rows, Stage
from rewriter.catalyst.tree import Node

_ALIAS = "p"


@dataclass(frozen=True, slots=True)
class Pivot:
    """The parts of a PIVOT: its aggregates and keys, and the columns that are taken of it."""

    source: Node
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
    aggregates = tuple(known[attribute_id(one.children[1])] for one in firsts.values())
    if any(known[key].kind != "AttributeReference" for key in keys):
        raise unsupported(
            "a pivot grouped by an expression has no rule", "Add it as a column before groupBy."
        )
    return Pivot(
        source=inner.children[0],
        aggregates=aggregates,
        keys=keys,
        of=known[attribute_id(first.children[0])],
        values=tuple(first.fields.get("pivotColumnValues") or ()),
        arrays={array: number for number, array in enumerate(firsts)},
        items=project.many("projectList"),
    )


def pivoted(pivot: Pivot, rows: Rows, scalars: Scalars) -> Rows:
    """Return the PIVOT over rows that are one relation of the columns it uses."""
    several = len(pivot.aggregates) > 1
    of = next(node for node in pivot.of.walk() if node.kind == "AttributeReference")
    type_ = of.fields["dataType"] if pivot.of is of else pivot.of.fields.get("dataType")
    aggregates = [
        exp.Alias(this=scalars.write(item), alias=identifier(f"a{number}"))
        for number, item in enumerate(pivot.aggregates)
    ]
    choices = [
        exp.PivotAlias(this=_value(value, type_), alias=identifier(f"v{number}"))
        for number, value in enumerate(pivot.values)
    ]
    node = exp.Pivot(
        expressions=aggregates,
        fields=[exp.In(this=scalars.write(pivot.of), expressions=choices)],
        unpivot=False,
        alias=exp.TableAlias(this=identifier(_ALIAS)),
    )
    table = rows.select.args["from_"].this.copy()
    table.set("pivots", [node])
    columns = tuple(_column(item, pivot, rows, several=several) for item in pivot.items)
    return Rows(columns, exp.Select(from_=exp.From(this=table)), Stage.ITEMS)


def _column(item: Node, pivot: Pivot, rows: Rows, *, several: bool) -> Column:
    name = str(item.fields["name"])
    if item.kind == "AttributeReference":
        key = next(one for one in rows.columns if one.id == attribute_id(item))
        return Column(key.id, name, column(_ALIAS, key.scalar.name))
    array, place = item.children[0].children if item.children else ()
    number, value = pivot.arrays[attribute_id(array)], int(place.fields["value"])
    own = f"v{value}_a{number}" if several else f"v{value}"
    return Column(attribute_id(item), name, column(_ALIAS, own))


def _value(value: str | None, type_: object) -> exp.Expr:
    return literal(Node("Literal", {"value": value, "dataType": type_}, ()))
