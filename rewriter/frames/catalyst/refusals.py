"""Operators that a text leaves out, and those that it cannot have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewriter.errors import QueryError, UnsupportedError, UntrackedError
from rewriter.frames.catalyst.errors import unsupported
from rewriter.frames.catalyst.tree import Node

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


def is_placement(kind: str, fields: Mapping[str, Any]) -> bool:
    """Tell whether an operator says where and in which order rows are computed, not which."""
    return kind in _PLACEMENTS or is_local_sort(kind, fields)


def is_local_sort(kind: str, fields: Mapping[str, Any]) -> bool:
    """Tell whether an operator sorts the rows of each task."""
    return kind == "Sort" and not fields.get("global")


def refusal(node: Node) -> QueryError:
    """Return the error of an operator without a rule."""
    if node.kind in _UNTRACKED:
        return untracked(node.kind)
    if node.kind in _PYTHON_ROWS:
        return rows_of_python(_PYTHON_ROWS[node.kind])
    if node.kind in _OF_GROUPS:
        return unsupported(
            f"{_OF_GROUPS[node.kind]} in a subquery has no rule", "Write the subquery as a join."
        )
    if node.kind == "UnionLoop":
        return unsupported(
            "a recursion stands in a part that no text was kept of", "Give its text to sql()."
        )
    return unsupported(f"the operator {node.kind} has no rule")


def untracked(kind: str) -> UntrackedError:
    """Return the error of a scan of what is not tracked."""
    return UntrackedError(
        f"this data frame reads rows that are not tracked ({kind})",
        'Track the frame or table that it is made of: ls.track("name", frame, ...).',
    )


def rows_of_python(name: str) -> UnsupportedError:
    """Return the error of a method whose Python function makes rows of rows."""
    return unsupported(
        f"{name} makes rows of which nothing says what they came from",
        "Use expressions, a udf() of one row, or in SQL a table function of partitions, "
        "f(TABLE(t) PARTITION BY k); or track the frame that it returns.",
    )
