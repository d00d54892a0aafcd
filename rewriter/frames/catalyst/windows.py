"""Sort orders and window specifications of a plan."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from rewriter.frames.catalyst.tree import Node
from rewriter.frames.writing.errors import unsupported

Write = Callable[[Node], exp.Expr]

_FRAMED_BY_ITSELF = {
    "CumeDist",
    "DenseRank",
    "Lag",
    "Lead",
    "NTile",
    "PercentRank",
    "Rank",
    "RowNumber",
}
"""Functions whose frame is part of their meaning."""
_OVER_VALUES = {"Lag", "Lead", "NthValue"}
"""Functions of which a window says whether they leave out NULLs."""
_SIDES = {
    "UnboundedPreceding": ("UNBOUNDED", "PRECEDING"),
    "UnboundedFollowing": ("UNBOUNDED", "FOLLOWING"),
    "CurrentRow": ("CURRENT ROW", None),
}


def ordered(write: Write, node: Node) -> exp.Ordered:
    """Return a sort order, with the place of its NULLs."""
    return exp.Ordered(
        this=write(node.children[0]),
        desc=node.option("direction") == "Descending" or None,
        nulls_first=node.option("nullOrdering") == "NullsFirst",
    )


def over(write: Write, node: Node) -> exp.Window:
    """Return a function with its window."""
    function, specification = node.children
    keys = specification.many("orderSpec")
    name = function.one("aggregateFunction") or function
    frame = specification.one("frameSpecification")
    called = write(function)
    if name.kind in _OVER_VALUES and name.fields.get("ignoreNulls"):
        called = exp.IgnoreNulls(this=called)
    window = exp.Window(
        this=called,
        partition_by=[write(key) for key in specification.many("partitionSpec")],
        over="OVER",
    )
    if keys:
        window.set("order", exp.Order(expressions=[ordered(write, key) for key in keys]))
    if frame is not None and name.kind not in _FRAMED_BY_ITSELF and not _usual(frame, bool(keys)):
        window.set("spec", _frame(write, frame))
    return window


def _usual(frame: Node, ordered: bool) -> bool:
    """Tell whether a frame is the one that a window has where none is written."""
    ends = tuple(child.kind for child in frame.children)
    if not ordered:
        return ends == ("UnboundedPreceding", "UnboundedFollowing")
    return (
        ends == ("UnboundedPreceding", "CurrentRow") and frame.option("frameType") == "RangeFrame"
    )


def _frame(write: Write, frame: Node) -> exp.WindowSpec:
    if frame.kind != "SpecifiedWindowFrame":
        raise unsupported(f"the window frame {frame.kind} has no rule")
    lower, upper = frame.children
    start, start_side = _boundary(write, lower)
    end, end_side = _boundary(write, upper)
    return exp.WindowSpec(
        kind="ROWS" if frame.option("frameType") == "RowFrame" else "RANGE",
        start=start,
        start_side=start_side,
        end=end,
        end_side=end_side,
    )


def _boundary(write: Write, node: Node) -> tuple[exp.Expr | str, str | None]:
    if node.kind in _SIDES:
        return _SIDES[node.kind]
    value = write(node)
    if isinstance(value, exp.Neg):
        return value.this, "PRECEDING"
    return value, "FOLLOWING"
