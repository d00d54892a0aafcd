"""Operators of several inputs: joins, lateral joins and set operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from rewriter.frames.catalyst.laterals import called, lateral_call
from rewriter.frames.catalyst.tree import Node
from rewriter.frames.writing import binary, laterals
from rewriter.frames.writing.errors import unsupported
from rewriter.frames.writing.selects import Rows, unique

if TYPE_CHECKING:
    from rewriter.frames.catalyst.plans import CatalystPlans


def join(plans: CatalystPlans, node: Node) -> Rows:
    """Return a join, by a condition or without one."""
    side, kind = _side_and_kind(node, "a join")
    left, right = binary.join_inputs(plans.close, *map(plans.rows, node.children))
    condition = node.one("condition")
    written = plans.scope(left, right).write(condition) if condition is not None else None
    return binary.joined(left, right, side, kind, written)


def lateral_join(plans: CatalystPlans, node: Node) -> Rows:
    """Return a join with a subquery, or with a table function, of the columns of the left side."""
    side, kind = _side_and_kind(node, "a lateral join")
    left = binary.left_input(plans.close, plans.rows(node.children[0]))
    plan = node.required("right").required("plan")
    call = lateral_call(plan)
    if call is None:
        lateral, columns = laterals.subquery_lateral(plans.inner_rows(plan, plans.scope(left)))
    else:
        names = unique([item.name for item in call.generate.many("generatorOutput")])
        written = called(plans, call.generate, left)
        lateral, columns = laterals.call_lateral(written, names), call.columns(names)
    written_join = exp.Join(side=side, kind=kind)
    rows = laterals.lateral_join(left, lateral, columns, written_join)
    condition = node.one("condition")
    if condition is not None:
        written_join.set("on", plans.scope(rows).write(condition))
    return rows


def set_operation(plans: CatalystPlans, node: Node) -> Rows:
    """Return a union, an intersection or a difference."""
    distinct = node.kind != "Union" and not node.fields.get("isAll")
    inputs = [binary.operand(plans.close, plans.rows(child)) for child in node.children]
    operator = binary.SET_OPERATIONS[node.kind.lower()]
    return binary.combined(operator, inputs, distinct=distinct)


def _side_and_kind(node: Node, operator: str) -> tuple[str | None, str | None]:
    type_ = node.option("joinType")
    if type_.lower() not in binary.JOINS:
        raise unsupported(f"{operator} of type {type_} has no rule")
    return binary.JOINS[type_.lower()]
