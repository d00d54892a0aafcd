"""Operators of several inputs in Catalyst plans: joins, set operations, lateral joins, generators.

Generators are LATERAL views, and calls of table functions beside a relation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from rewriter.frames.catalyst.scalars import attribute_id
from rewriter.frames.catalyst.tree import Node
from rewriter.frames.writing import joins
from rewriter.frames.writing.selects import (
    Column,
    Rows,
    Stage,
    call,
    identifier,
    lateral_view,
    unique,
    unsupported,
)

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
    """Return rows joined with the rows that a generator makes of each."""
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


def join(plans: CatalystPlans, node: Node) -> Rows:
    """Return a join, by a condition or without one."""
    side, kind = _side_and_kind(node, "a join")
    left, right = joins.join_inputs(plans.close, *map(plans.rows, node.children))
    condition = node.one("condition")
    written = plans.scope(left, right).write(condition) if condition is not None else None
    return joins.joined(left, right, side, kind, written)


def lateral_join(plans: CatalystPlans, node: Node) -> Rows:
    """Return a join with a subquery, or with a table function, of the columns of the left side."""
    side, kind = _side_and_kind(node, "a lateral join")
    left = joins.left_input(plans.close, plans.rows(node.children[0]))
    plan = node.required("right").required("plan")
    call = lateral_call(plan)
    if call is None:
        lateral, columns = joins.subquery_lateral(plans.inner_rows(plan, plans.scope(left)))
    else:
        names = unique([item.name for item in call.generate.many("generatorOutput")])
        written = called(plans, call.generate, left)
        lateral, columns = joins.call_lateral(written, names), call.columns(names)
    written_join = exp.Join(side=side, kind=kind)
    rows = joins.lateral_join(left, lateral, columns, written_join)
    condition = node.one("condition")
    if condition is not None:
        written_join.set("on", plans.scope(rows).write(condition))
    return rows


def set_operation(plans: CatalystPlans, node: Node) -> Rows:
    """Return a union, an intersection or a difference."""
    distinct = node.kind != "Union" and not node.fields.get("isAll")
    inputs = [joins.operand(plans.close, plans.rows(child)) for child in node.children]
    operator = joins.SET_OPERATIONS[node.kind.lower()]
    return joins.combined(operator, inputs, distinct=distinct)


def _side_and_kind(node: Node, operator: str) -> tuple[str | None, str | None]:
    type_ = node.option("joinType")
    if type_.lower() not in joins.JOINS:
        raise unsupported(f"{operator} of type {type_} has no rule")
    return joins.JOINS[type_.lower()]
