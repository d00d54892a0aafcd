"""Data frames as queries: the text of a frame over tracked relations, proven to be it."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from lipstick.errors import LipstickError, TrackingError, readable_types, without_columns
from semiring.support.depth import recursion_limit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lipstick.tracking.tracker import Tracked

_DEEPEST = 20_000
"""Depth of calls: plans may be as deep as Spark allows, and each call of a frame's method is a
level or more."""

__all__ = ["check_names", "plain_frame", "query_text", "relation_of_view"]


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


def relation_of_view(spark: SparkSession, name: str, tracked: Iterable[Tracked]) -> Tracked | None:
    """Return the relation whose rows a view has, all and as they are; None: it has others.

    Plans are not seen over Spark Connect, where no view has them.

    Parameters
    ----------
    name
        The name, quoted as Spark reads it.
    """
    if not spark.catalog.tableExists(name):
        return None
    frame = spark.table(name)
    if not hasattr(frame, "_jdf"):
        return None
    from lipstick.dataframes.jvm import analysed
    from lipstick.dataframes.leaves import only_leaf, relation_of_leaf

    leaf = only_leaf(analysed(frame))
    return None if leaf is None else relation_of_leaf(leaf, tracked)


def check_names(spark: SparkSession, frame: DataFrame, covered: Iterable[str]) -> None:
    """Refuse a frame of Spark Connect that reads a name which another session has covered.

    Raises
    ------
    TrackingError
        When the frame, or a text in it, has the name.
    """
    from lipstick.dataframes.messages import relation_of, values_of

    names = tuple(covered)
    if not names:
        return
    texts = values_of(relation_of(spark, frame), "unparsed_identifier", "query")
    words = set(re.findall(r"\w+", json.dumps(texts)))
    folded = {word.lower() for word in words}
    for name in names:
        if name.lower() in folded:
            raise TrackingError(
                f"{name!r} is two things here: another session on this Spark tracks a relation of "
                "that name, whose rows the frame reads by it.\nClose that session, or make the "
                f"frame of what was tracked here: the frame or path that track({name!r}, ...) got."
            )


def query_text(
    spark: SparkSession,
    frame: DataFrame,
    tracked: Iterable[Tracked],
    replaced_since: Collection[str] = (),
) -> str:
    """Return Spark SQL over tracked relations that is the same query as a data frame.

    Parameters
    ----------
    replaced_since
        In a classic session, the names of relations whose tables have got other versions since the
        frame ran: it has read the version that is tracked.

    Raises
    ------
    QueryError
        The frame has a part without a rule, reads untracked rows, or Spark reads another query
        in its text.
    """
    with recursion_limit(_DEEPEST), readable_types():
        if not frame.columns:
            raise without_columns()
        if hasattr(frame, "_jdf"):
            from lipstick.dataframes.classic import classic_text

            return classic_text(spark, frame, tuple(tracked), replaced_since)
        from lipstick.dataframes.connect import connect_text

        return connect_text(spark, frame, tuple(tracked))
