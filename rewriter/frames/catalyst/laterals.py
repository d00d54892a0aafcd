"""Generators of a plan: LATERAL views, and calls of table functions beside a relation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from rewriter.frames.catalyst.scalars import attribute_id
from rewriter.frames.catalyst.tree import Node
from rewriter.frames.writing.calls import call
from rewriter.frames.writing.errors import unsupported
from rewriter.frames.writing.names import identifier
from rewriter.frames.writing.selects import Column, Rows, Stage, lateral_view

if TYPE_CHECKING:
    from rewriter.frames.catalyst.plans import CatalystPlans

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
            columns.append(Column(attribute_id(item), item.name, scalar))
        return tuple(columns)


def generate(plans: CatalystPlans, node: Node) -> Rows:
    """Return rows with those that a generator makes of each."""
    generator = node.required("generator")
    name = generator_name(generator)
    rows = plans.input_of(node, Stage.WHERE, (generator,))
    outputs = node.many("generatorOutput")
    written = call(name, *map(plans.scope(rows).write, generator.children))
    names = [item.name for item in outputs]
    rows, scalars = lateral_view(rows, written, names, outer=bool(node.fields.get("outer")))
    pairs = zip(outputs, scalars, strict=True)
    added = tuple(Column(attribute_id(item), item.name, scalar) for item, scalar in pairs)
    return replace(rows, columns=rows.columns + added)


def called(plans: CatalystPlans, generate: Node, rows: Rows) -> exp.Expr:
    """Write the call of a generator over rows, an outer one where it makes a row of NULLs."""
    generator = generate.required("generator")
    name = generator_name(generator) + ("_outer" if generate.fields.get("outer") else "")
    return call(name, *map(plans.scope(rows).write, generator.children))


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
