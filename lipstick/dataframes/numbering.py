"""Canonical plans without the numbers that Spark leaves in them.

Expressions of a canonical plan refer to columns by their places, so that plans are equal whatever
ids their columns have. Two operators keep ids that are no expressions: an existence join that of
its mark, a recursion its own and those of its columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from lipstick.dataframes.jvm import Plan, changed, described, kind, with_parameters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NUMBERED = {"Join": (2,), "UnionLoop": (0, 3), "UnionLoopRef": (0,)}
"""Places of these ids among the parameters of an operator."""
Ids: TypeAlias = dict[tuple[int, int | None], Any]
"""An id for each place and, where it is a recursion's, the number of the recursion in its plan."""


def same_result(spark: SparkSession, left: Plan, right: Plan) -> bool:
    """Tell whether two plans give the same result, as ``sameResult`` does, whatever their ids."""
    if left.sameResult(right):
        return True
    ids: Ids = {}
    left_plan, other = (_renumbered(spark, plan.canonicalized(), ids) for plan in (left, right))
    return bool(ids) and bool(left_plan.equals(other))


def _renumbered(spark: SparkSession, plan: Plan, ids: Ids) -> Plan:
    """Return a canonical plan with the same ids as others; the first plan decides about them."""
    nodes = described(plan)
    loops = [node["id"] for node in nodes if kind(node) == "UnionLoop"]

    def renumber(node: Plan) -> Plan:
        name = str(node.getClass().getSimpleName())
        loop = None if name == "Join" else loops.index(node.productElement(0))
        numbers = {n: ids.setdefault((n, loop), node.productElement(n)) for n in _NUMBERED[name]}
        return with_parameters(spark, node, numbers)

    positions = {position for position, node in enumerate(nodes) if _is_numbered(node)}
    return changed(spark, plan, nodes, positions, renumber) if positions else plan


def _is_numbered(node: dict[str, Any]) -> bool:
    name = kind(node)
    return name in _NUMBERED and (name != "Join" or "exists" in node["joinType"])
