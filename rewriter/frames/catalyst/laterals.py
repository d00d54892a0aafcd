"""LATERAL subqueries and table functions of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from rewriter.frames.catalyst.scalars import attribute_id
from rewriter.frames.catalyst.tree import Node
from rewriter.frames.writing.errors import unsupported
from rewriter.frames.writing.names import identifier
from rewriter.frames.writing.selects import Column

_GENERATORS = {
    "Explode": "explode",
    "Inline": "inline",
    "JsonTuple": "json_tuple",
    "PosExplode": "posexplode",
    "Stack": "stack",
}


def generator_name(generator: Node) -> str:
    """Return the table function that a generator is.

    Raises
    ------
    UnsupportedError
        For one without a rule.
    """
    name = _GENERATORS.get(generator.kind)
    if name is None:
        raise unsupported(f"the generator {generator.kind} has no rule")
    return name


@dataclass(frozen=True, slots=True)
class LateralCall:
    """The call of a table function beside a relation: its columns are taken of the generator's."""

    generate: Node
    items: tuple[Node, ...]

    def columns(self, names: Sequence[str]) -> tuple[Column, ...]:
        """Return its columns, given the names of the generator's columns."""
        pairs = zip(map(attribute_id, self.generate.many("generatorOutput")), names, strict=True)
        known = dict(pairs)
        columns = []
        for item in self.items:
            inner = item.child if item.kind == "Alias" else item
            scalar = exp.Column(this=identifier(known[attribute_id(inner)]))
            columns.append(Column(attribute_id(item), item.fields["name"], scalar))
        return tuple(columns)


def lateral_call(plan: Node) -> LateralCall | None:
    """Return the call that the plan of a LATERAL is; None if it is a subquery."""
    plan = _unnamed(plan)
    items = None
    if plan.kind == "Project":
        items, plan = plan.many("projectList"), _unnamed(plan.child)
    if plan.kind != "Generate" or plan.child.kind != "OneRowRelation":
        return None
    items = plan.many("generatorOutput") if items is None else items
    inner = [item.child if item.kind == "Alias" else item for item in items]
    if any(item.kind != "AttributeReference" for item in inner):
        return None
    return LateralCall(plan, items)


def _unnamed(plan: Node) -> Node:
    while plan.kind == "SubqueryAlias":
        plan = plan.child
    return plan
