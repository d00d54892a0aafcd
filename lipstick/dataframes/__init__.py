"""Data frames as queries: the text of a frame over tracked relations, proven to be it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lipstick.errors import LipstickError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lipstick.tracking import Tracked

_DEEPEST = 20_000

FUNCTION_PREFIX = "_lipstick_udf_"
"""What the names begin with under which functions of frames are registered."""

__all__ = ["FUNCTION_PREFIX", "plain_frame", "query_text"]


def plain_frame(frame: Any) -> DataFrame:
    """Return the Spark data frame of a frame: itself, or that of pandas on Spark.

    The latter's index is columns before the others where it has names, else nothing.

    Raises
    ------
    LipstickError
        When it is neither.
    """
    from pyspark.sql import DataFrame

    if isinstance(frame, DataFrame):
        return frame
    if not hasattr(frame, "to_spark"):
        raise LipstickError(
            f"{type(frame).__name__} is not a data frame of Spark.\n"
            "Give a pyspark.sql.DataFrame, or a frame of pandas on Spark."
        )
    index = list(frame.index.names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice on an index that is lost
        return frame.to_spark(None if None in index else index)  # type: ignore[no-any-return]


def query_text(spark: SparkSession, frame: DataFrame, tracked: Iterable[Tracked]) -> str:
    """Return Spark SQL over tracked relations that is the same query as a data frame.

    Raises
    ------
    QueryError
        The frame has a part without a rule, reads untracked rows, or Spark reads another query
        in its text.
    """
    with _deep_recursion():
        return _query_text(spark, frame, tuple(tracked))


def _query_text(spark: SparkSession, frame: DataFrame, tracked: tuple[Tracked, ...]) -> str:
    if hasattr(frame, "_jdf"):
        from lipstick.dataframes.classic import classic_text

        return classic_text(spark, frame, tracked)
    from lipstick.dataframes.connect import connect_text

    return connect_text(spark, frame, tracked)


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Let plans be as deep as Spark allows: a call of a frame's method is a level or more."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
