"""Operators that a text leaves out, and operators that it cannot express."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewriter.errors import QueryError
from rewriter.frames.catalyst.tree import PlanNode
from rewriter.frames.writing.refusals import (
    AS_OF,
    NUMBERED,
    TRANSPOSED,
    rows_of_python,
    rows_of_state,
    untracked,
)
from rewriter.frames.writing.selects import unsupported

_PLACEMENTS = frozenset(
    [
        "CollectMetrics",
        "RebalancePartitions",
        "Repartition",
        "RepartitionByExpression",
        "ResolvedHint",
    ]
)

_UNTRACKED = frozenset(
    [
        "DataSourceV2Relation",
        "DataSourceV2ScanRelation",
        "HiveTableRelation",
        "LocalRelation",
        "LogicalRDD",
        "LogicalRelation",
        "OneRowRelation",
        "StreamingRelation",
        "StreamingRelationV2",
    ]
)
_OF_GROUPS = {
    "FlatMapCoGroupsInArrow": "cogroup().applyInArrow",
    "FlatMapCoGroupsInPandas": "cogroup().applyInPandas",
    "FlatMapGroupsInArrow": "groupBy().applyInArrow",
    "FlatMapGroupsInPandas": "groupBy().applyInPandas",
    "MapInArrow": "mapInArrow",
    "MapInPandas": "mapInPandas",
}
"""Operators for which others stand, outside subqueries, before a plan is written."""
_PYTHON_ROWS = {
    "MapPartitionsInR": "dapply",
}
_OF_STATE = {
    "FlatMapGroupsInPandasWithState": "groupBy().applyInPandasWithState",
    "TransformWithStateInPandas": "groupBy().transformWithStateInPandas",
    "TransformWithStateInPySpark": "groupBy().transformWithState",
}


_ADVISED = {
    "AsOfJoin": AS_OF,
    "AttachDistributedSequence": NUMBERED,
    "Transpose": TRANSPOSED,
    "UnionLoop": (
        "a recursion stands in a part that no text was kept of",
        "Give its text to sql().",
    ),
}


def is_placement(kind: str, fields: Mapping[str, Any]) -> bool:
    """Return True if an operator only decides where and in which order rows are computed."""
    return kind in _PLACEMENTS or is_local_sort(kind, fields)


def is_local_sort(kind: str, fields: Mapping[str, Any]) -> bool:
    """Return True if an operator sorts the rows of each task."""
    return kind == "Sort" and not fields.get("global")


def refusal(node: PlanNode) -> QueryError:
    """Return the error of an operator without a rule."""
    if node.kind in _UNTRACKED:
        return untracked(node.kind)
    if node.kind in _PYTHON_ROWS:
        return rows_of_python(_PYTHON_ROWS[node.kind])
    if node.kind in _OF_STATE:
        return rows_of_state(_OF_STATE[node.kind])
    if node.kind in _OF_GROUPS:
        return unsupported(
            f"{_OF_GROUPS[node.kind]} in a subquery has no rule", "Write the subquery as a join."
        )
    if node.kind in _ADVISED:
        return unsupported(*_ADVISED[node.kind])
    return unsupported(f"the operator {node.kind} has no rule")
