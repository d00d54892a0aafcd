"""The types of what a query compares with other rows, as Spark finds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lipstick.errors import UnsupportedError
from rewriter.bind import Query
from rewriter.blocks import Block
from rewriter.comparable import compared_exactly
from rewriter.position import Span
from rewriter.statements import comparisons_sql

Widened = Mapping[Span, Sequence[str | None]]
"""Types to convert columns of set operations to, by their place; None: they have that type."""

_OF_MAPS = "SET_OPERATION_ON_MAP_TYPE"


@dataclass(frozen=True, slots=True)
class Pair:
    """The types of an outer value and of the inner one it is compared with."""

    outer: str
    inner: str
    span: Span | None

    @property
    def differs(self) -> bool:
        """Whether Spark converts one of them, or both."""
        return self.outer != self.inner


def lowered(
    spark: SparkSession, bind: Callable[[Widened], Query], lower: Callable[[Query], Block]
) -> tuple[Query, Block]:
    """Return a bound query and its blocks, in which all that is compared has suitable types.

    The sides of EXCEPT and INTERSECT are joined, by IS NOT DISTINCT FROM, and the rows of the left
    are the answer: as Spark converts both sides to a common type, so does the query that is bound.

    Raises
    ------
    UnsupportedError
        IN, EXISTS or a join would find different values equal, or a subquery uses a map of the
        query around it.
    """
    widened: dict[Span, tuple[str | None, ...]] = {}
    while True:
        query = bind(widened)
        root = lower(query)
        pairs = _pairs(spark, root, query.sql)
        found = _wider(spark, pairs, query.differences)
        if found.items() <= widened.items():
            _check_exact(pairs, query.sql)
            return query, root
        widened |= found


def _pairs(spark: SparkSession, root: Block, sql: str) -> list[Pair]:
    pairs: list[Pair] = []
    for compared in comparisons_sql(root):
        try:
            schema = spark.sql(compared.sql).schema
        except AnalysisException as error:
            if _OF_MAPS not in str(error.getCondition()):
                raise
            raise UnsupportedError(
                "a subquery that refers to a map of the query around it is not supported",
                "Refer to what it needs of the map: a column of a derived table around it.",
                sql,
                next(filter(None, compared.spans), None),
            ) from error
        types = [field.dataType.simpleString() for field in schema]
        pairs += map(Pair, types[::2], types[1::2], compared.spans)
    return pairs


def _wider(
    spark: SparkSession, pairs: Sequence[Pair], differences: Mapping[Span, int]
) -> dict[Span, tuple[str | None, ...]]:
    """Return the common types of set operations whose sides have different ones."""
    by_place: dict[Span, list[Pair]] = {}
    for pair in pairs:
        if pair.span is not None and pair.span in differences:
            by_place.setdefault(pair.span, []).append(pair)
    return {
        span: tuple(_common(spark, pair) for pair in found[: differences[span]])
        for span, found in by_place.items()
        if any(pair.differs for pair in found)
    }


def _common(spark: SparkSession, pair: Pair) -> str | None:
    if not pair.differs:
        return None
    sides = (f"SELECT CAST(NULL AS {name})" for name in (pair.outer, pair.inner))
    return spark.sql(" UNION ALL ".join(sides)).schema[0].dataType.simpleString()


def _check_exact(pairs: Sequence[Pair], sql: str) -> None:
    """Refuse IN, EXISTS and semi joins that convert what they compare with a loss."""
    for pair in pairs:
        if not compared_exactly(pair.outer, pair.inner):
            raise UnsupportedError(
                f"IN, EXISTS, or an outer, semi or anti join compares {pair.outer} with "
                f"{pair.inner}, which makes different values equal",
                f"Convert the inner side: CAST(... AS {pair.outer}).",
                sql,
                pair.span,
            )
