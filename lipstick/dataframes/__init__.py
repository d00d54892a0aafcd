"""Data frames as queries: the text of a frame over tracked relations, proven to be it."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lipstick.errors import LipstickError, TrackingError, without_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lipstick.tracking.tracker import Tracked

_DEEPEST = 20_000

FUNCTION_PREFIX = "_lipstick_udf_"
"""The prefix of the names under which the functions of frames are registered."""

ANOTHER_MEANING = (
    "The text made of this data frame has another meaning to Spark than the frame. Write the part "
    "that differs in another way, or as a query for sql()."
)
"""The advice of the error that a proof ends in when the plans of frame and text differ."""

__all__ = ["FUNCTION_PREFIX", "check_names", "plain_frame", "query_text", "read_paths"]


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


def read_paths(spark: SparkSession, frame: DataFrame) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the paths that the plan of a frame reads, and the options that it reads them with.

    Over Spark Connect a plan has the paths that a reader got, and no paths of tables.
    """
    paths: dict[str, None] = {}
    options: dict[str, str] = {}
    if hasattr(frame, "_jdf"):
        from lipstick.dataframes.jvm import file_relations

        for relation in file_relations(frame):
            roots = relation.location().rootPaths()
            paths |= dict.fromkeys(roots.apply(at).toUri().toString() for at in range(roots.size()))
            found = relation.options().iterator()
            while found.hasNext():
                option = found.next()
                options[option._1()] = option._2()
    else:
        from lipstick.dataframes.messages import relation_of

        for source in _found(relation_of(spark, frame), "data_source"):
            paths |= dict.fromkeys(source.get("paths", []))
            options |= source.get("options", {})
    return tuple(paths), options


def check_names(spark: SparkSession, frame: DataFrame, covered: Iterable[str]) -> None:
    """Refuse a frame of Spark Connect that reads a name which another session has covered.

    Raises
    ------
    TrackingError
        When the frame, or a text in it, has the name.
    """
    from lipstick.dataframes.messages import relation_of

    names = tuple(covered)
    if not names:
        return
    texts = _found(relation_of(spark, frame), "unparsed_identifier", "query")
    words = set(re.findall(r"\w+", json.dumps(texts)))
    folded = {word.lower() for word in words}
    for name in names:
        if name.lower() in folded:
            raise TrackingError(
                f"{name!r} is two things here: another session on this Spark tracks a relation of "
                "that name, whose rows the frame reads by it.\nClose that session, or make the "
                f"frame of what was tracked here: the frame or path that track({name!r}, ...) got."
            )


def _found(value: Any, *keys: str) -> list[Any]:
    """Return all that stands under some keys in a plan as data."""
    if isinstance(value, list):
        return [found for part in value for found in _found(part, *keys)]
    if not isinstance(value, dict):
        return []
    own = [part for key, part in value.items() if key in keys]
    return own + [found for part in value.values() for found in _found(part, *keys)]


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
    with _deep_recursion():
        if not frame.columns:
            raise without_columns()
        if hasattr(frame, "_jdf"):
            from lipstick.dataframes.classic import classic_text

            return classic_text(spark, frame, tuple(tracked), replaced_since)
        from lipstick.dataframes.connect import connect_text

        return connect_text(spark, frame, tuple(tracked))


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Let plans be as deep as Spark allows: a call of a frame's method is a level or more."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def named_relation(relations: Sequence[Tracked], name: str = "") -> Tracked:
    """Return the relation that a frame reads by its name, where several have one source.

    Raises
    ------
    TrackingError
        The frame reads none of them by name.
    """
    named = [
        relation
        for relation in relations
        if relation.name.lower().rpartition(".")[2] == name.lower()
    ]
    chosen = named or relations
    if len(chosen) > 1:
        names = ", ".join(relation.name for relation in chosen)
        raise TrackingError(
            f"This data frame reads a source that is tracked more than once: {names}.\n"
            f'Say which is meant by spark.table("{chosen[0].name}"), or untrack the others.'
        )
    return chosen[0]
