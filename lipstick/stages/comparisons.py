"""The types of the values that a query compares with other rows, as Spark finds them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField

from lipstick.errors import UnsupportedError
from lipstick.tracking.tracker import fixed_length
from rewriter.blocks import Block
from rewriter.emit.statements import comparisons_sql, plain_sql
from rewriter.position import Span
from rewriter.scalars.comparable import Conversions, compared_exactly

_OF_MAPS = "SET_OPERATION_ON_MAP_TYPE"


@dataclass(frozen=True, slots=True)
class Pair:
    """The types of an outer value and of the inner one it is compared with, and where that is.

    ``lengths`` are the different types of two texts of a fixed length; empty for all others.
    """

    outer: str
    inner: str
    lengths: tuple[str, ...]
    place: tuple[Span | None, int]


def compared_pairs(spark: SparkSession, root: Block, sql: str) -> list[Pair]:
    """Return the types of the values that the blocks compare with other rows.

    Raises
    ------
    UnsupportedError
        A subquery uses a map of the query around it.
    """
    pairs: list[Pair] = []
    for compared in comparisons_sql(root):
        try:
            schema = spark.sql(compared.sql).schema
        except AnalysisException as error:
            _refuse_maps(error, sql, compared.places)
            raise
        sides = zip(schema.fields[::2], schema.fields[1::2], compared.places, strict=True)
        pairs += [_pair(outer, inner, compared_at) for outer, inner, compared_at in sides]
    return pairs


def check_outer_values(spark: SparkSession, root: Block, sql: str) -> None:
    """Refuse a subquery for each row of maps: it is computed once for all their values.

    Raises
    ------
    UnsupportedError
        A subquery uses a map of the query around it.
    """
    try:
        _ = spark.sql(plain_sql(root)).schema
    except AnalysisException as error:
        _refuse_maps(error, sql)
        raise


def _refuse_maps(
    error: AnalysisException, sql: str, places: Iterable[tuple[Span | None, int]] = ()
) -> None:
    """Refuse a query that would compare maps of outer rows, if that is the error of Spark."""
    if _OF_MAPS in str(error.getCondition()):
        raise UnsupportedError(
            "a subquery that refers to a map of the query around it is not supported",
            "Refer to what it needs of the map: a column of a derived table around it.",
            sql,
            next((span for span, _ in places if span is not None), None),
        ) from error


def _pair(outer: StructField, inner: StructField, compared_at: tuple[Span | None, int]) -> Pair:
    lengths = {length for length in map(fixed_length, (outer, inner)) if length is not None}
    return Pair(
        outer.dataType.simpleString(),
        inner.dataType.simpleString(),
        tuple(sorted(lengths)) if len(lengths) > 1 else (),
        compared_at,
    )


def common_types(
    spark: SparkSession, pairs: Sequence[Pair], differences: Collection[Span], known: Conversions
) -> Conversions:
    """Return the types to which comparisons must convert both sides, the known ones included.

    Without ANSI mode, ``=`` converts otherwise than set operations do.

    Parameters
    ----------
    differences
        The places of EXCEPT and INTERSECT.
    """
    conversions = {span: dict(types) for span, types in known.items()}
    for pair in pairs:
        span, number = pair.place
        if span is None or pair.outer == pair.inner:
            continue
        exact = compared_exactly(pair.outer, pair.inner)
        if span in differences or (not exact and _is_ansi(spark)):
            name = _common(spark, pair)
            if name is not None:
                conversions.setdefault(span, {})[number] = name
    return conversions


def _is_ansi(spark: SparkSession) -> bool:
    return spark.conf.get("spark.sql.ansi.enabled") == "true"


def _common(spark: SparkSession, pair: Pair) -> str | None:
    sides = (f"SELECT CAST(NULL AS {name})" for name in (pair.outer, pair.inner))
    try:
        return spark.sql(" UNION ALL ".join(sides)).schema[0].dataType.simpleString()
    except AnalysisException:
        return None


def check_exact(pairs: Sequence[Pair], sql: str) -> None:
    """Refuse comparisons that make different values equal.

    Raises
    ------
    UnsupportedError
        With the types and the place of the first one.
    """
    for pair in pairs:
        if pair.lengths:
            raise UnsupportedError(
                f"IN, EXISTS, or an outer, semi or anti join compares {' with '.join(pair.lengths)}"
                ", which Spark pads in some of these and not in others",
                "Convert both sides: CAST(... AS STRING).",
                sql,
                pair.place[0],
            )
        if not compared_exactly(pair.outer, pair.inner):
            raise UnsupportedError(
                f"IN, EXISTS, or an outer, semi or anti join compares {pair.outer} with "
                f"{pair.inner}, which makes different values equal",
                f"Convert the inner side: CAST(... AS {pair.outer}).",
                sql,
                pair.place[0],
            )
