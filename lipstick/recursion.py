"""How deep the recursive queries of a text go, found by running their levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import SparkSession

from lipstick.errors import UnsupportedError
from rewriter import BoundQuery, Recursion, lower_query
from rewriter.blocks import TokenSource
from rewriter.emit.statements import plain_sql, potential_sql

_ADVICE = "Store the recursion's answer in a relation and track it."


def unfolded(
    spark: SparkSession,
    bind: Callable[[Mapping[str, int]], BoundQuery],
    tokens: Mapping[str, TokenSource],
) -> BoundQuery:
    """Return a query whose recursions are unfolded as deep as they go.

    Parameters
    ----------
    bind
        Binds the query, with the numbers of levels known so far.
    tokens
        How each tracked relation is read.

    Raises
    ------
    UnsupportedError
        A recursion does not end within the levels it may have, or not after every deletion, or its
        levels have different types.
    """
    levels: dict[str, int] = {}
    query = bind(levels)
    while recursions := [item for item in query.recursions.items() if item[0] not in levels]:
        key, recursion = recursions[0]
        levels[key] = _depth(_Levels(spark, recursion, tokens, query.sql))
        query = bind(levels)
    return query


def _depth(levels: _Levels) -> int:
    """Return the last level that may have tuples, by doubling and halving."""
    low, high = 0, 1
    while high < levels.last and not levels.is_empty(high):
        low, high = high, min(2 * high, levels.last)
    if high >= levels.last and not levels.is_empty(levels.last):
        raise levels.refusal(
            f"{levels.recursion.name} does not end within {levels.last} levels, or would not after "
            "some deletion",
            "If it ends, say within how many: MAX RECURSION LEVEL n after its name.",
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if levels.is_empty(middle) else (middle, high)
    if low:
        levels.check_types()
    return low


class _Levels:
    """The levels of one recursion, run one at a time."""

    def __init__(
        self,
        spark: SparkSession,
        recursion: Recursion,
        tokens: Mapping[str, TokenSource],
        sql: str,
    ) -> None:
        self._spark = spark
        self.recursion = recursion
        self._tokens = tokens
        self._sql = sql

    @property
    def last(self) -> int:
        return len(self.recursion.levels) - 1

    def is_empty(self, level: int) -> bool:
        """Tell whether a level has no tuples, whatever is deleted."""
        sql = potential_sql(lower_query(self.recursion.levels[level], self._tokens, self._sql))
        if sql is None:
            raise self.refusal(f"recursion of {self.recursion.name} over aggregated values")
        return self._spark.sql(sql).head() is None

    def check_types(self) -> None:
        """Refuse a level whose columns differ in type from the first level's."""
        first, second = (
            self._spark.sql(plain_sql(lower_query(level, self._tokens, self._sql))).schema
            for level in self.recursion.levels[:2]
        )
        for field, other in zip(first, second, strict=True):
            if field.dataType.simpleString() != other.dataType.simpleString():
                types = f"{field.dataType.simpleString()} and {other.dataType.simpleString()}"
                raise self.refusal(
                    f"{self.recursion.name} begins and goes on with columns of types {types}",
                    "Cast the column in the recursive query.",
                )

    def refusal(self, problem: str, advice: str = _ADVICE) -> UnsupportedError:
        return UnsupportedError(
            f"{problem}, which is not supported", advice, self._sql, self.recursion.span
        )
