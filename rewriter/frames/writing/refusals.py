"""Refusals of plans that no query expresses: untracked rows, and rows that Python makes."""

from __future__ import annotations

from rewriter.errors import UnsupportedError, UntrackedError
from rewriter.frames.writing.selects import unsupported

_ROWS = {
    "LocalRelation": "rows of createDataFrame()",
    "LogicalRDD": "rows of an RDD, of createDataFrame() or of a checkpoint",
    "OneRowRelation": "a row that stands alone, without a table",
    "StreamingRelation": "a stream",
    "StreamingRelationV2": "a stream",
    "cached_remote_relation": "rows of a checkpoint",
    "local_relation": "rows of createDataFrame()",
}
_CHECKPOINTED = ("LogicalRDD", "cached_remote_relation")


def untracked(kind: str) -> UntrackedError:
    """Return the error for a scan of an untracked relation."""
    rows = _ROWS.get(kind, "rows of a table or of files")
    advice = 'Track the frame or table that it is made of: ls.track("name", frame, ...).'
    if kind in _CHECKPOINTED:
        advice += " A frame that comes before checkpoint() or .rdd is annotated as it is."
    return UntrackedError(f"this data frame reads untracked data: {rows}", advice)


def rows_of_state(name: str) -> UnsupportedError:
    """Return the error of a method that keeps state from one micro-batch to the next."""
    return unsupported(
        f"{name} keeps a state of its own from one micro-batch to the next",
        "Use what keeps a state that is followed: a grouping by keys, by window() or by "
        "session_window(), dropDuplicates(), or a join of streams; or track the folder that the "
        "stream is written to, and query that.",
    )


def rows_of_python(name: str) -> UnsupportedError:
    """Return the error of a method whose Python function makes rows of rows."""
    return unsupported(
        f"{name} makes rows of which nothing says what they came from",
        "Use expressions, a udf() of one row, or in SQL a table function of partitions, "
        "f(TABLE(t) PARTITION BY k); or track the frame that it returns.",
    )


AS_OF = (
    "an as-of join takes the nearest row, which no join of a query says",
    "Number the rows of a join by row_number() over a window, and filter.",
)
TRANSPOSED = (
    "transpose() makes columns of what rows hold",
    "Give the values as columns: groupBy().pivot(column, values), or unpivot().",
)
NUMBERED = (
    "zipWithIndex() numbers rows in an order that Spark does not promise",
    "Number them by columns: F.row_number().over(Window.orderBy(...)) - 1.",
)


def sorted_duplicates() -> UnsupportedError:
    """Return the refusal of dropDuplicates() by some of the columns over sorted rows."""
    return unsupported(
        "dropDuplicates() over sorted rows has no rule: Spark does not say that it keeps "
        "the first of them",
        "Number the rows of each key, row_number().over(Window.partitionBy(...)"
        ".orderBy(...)), and keep those with 1.",
    )
