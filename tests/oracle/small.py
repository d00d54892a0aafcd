"""Both oracles over small hand-written relations, and annotations written down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import lipstick
from lipstick import Session
from lipstick.errors import NeedsSparkError
from lipstick.frame import AnnotatedFrame
from semiring.expression import Expression
from semiring.token import Token
from tests.oracle.bag import PROVENANCE, check_counting
from tests.oracle.database import Database, Deletion, Relation
from tests.oracle.deletion import OFFLINE, check_deletion
from tests.oracle.plain import PlainSpark, few_rows
from tests.oracle.rows import (
    Bag,
    assert_same_bag,
    assert_same_schema,
    from_arrow,
    from_spark,
)

_ARROW: Final[dict[str, pa.DataType]] = {
    "int": pa.int32(),
    "bigint": pa.int64(),
    "smallint": pa.int16(),
    "decimal(10,2)": pa.decimal128(10, 2),
    "decimal(28)": pa.decimal128(28, 0),
    "string": pa.string(),
    "double": pa.float64(),
    "array<int>": pa.list_(pa.int32()),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}

Rows = Sequence[tuple[Any, ...]]
Annotated = Counter[tuple[tuple[Any, ...], Expression]]


def small(name: str, schema: str, rows: Rows) -> Relation:
    """Return a relation whose first column is its key."""
    columns = [item.split(" ") for item in schema.split(", ")]
    arrays = [
        pa.array([row[number] for row in rows], _ARROW[kind])
        for number, (_, kind) in enumerate(columns)
    ]
    data = pa.Table.from_arrays(arrays, names=[column for column, _ in columns])
    return Relation(name, (columns[0][0],), schema, data)


def token(relation: str, key: Any) -> Expression:
    """Return the token of a tuple as an annotation."""
    return Expression.token(Token(relation, (key,)))


def absent(*tuples: Expression) -> Expression:
    """Return 1 ⊖ δ(Σ): none of these tuples is there."""
    total = Expression.zero()
    for expression in tuples:
        total = total + expression
    return Expression.one().monus(total.delta())


def annotated(q: AnnotatedFrame) -> Annotated:
    """Return the rows of an answer with their annotations, as a bag."""
    pairs = q.polynomials(limit=None)
    return Counter((_hashable(row), Expression.of(annotation)) for row, annotation in pairs)


def _hashable(value: Any) -> Any:
    """Return values with tuples for structs and arrays."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return value
    return tuple(map(_hashable, value))


@dataclass(frozen=True, slots=True)
class Oracles:
    """A lipstick session and plain Spark over the same small database."""

    ls: Session
    plain: PlainSpark
    database: Database

    def hold(
        self,
        sql: str,
        *deletions: Mapping[str, Sequence[Any]],
        grouping: bool = False,
        offline: bool = True,
    ) -> AnnotatedFrame:
        """Hold a query against both oracles, with Spark and from a capture opened without it.

        Parameters
        ----------
        deletions
            Per relation the keys of the rows deleted. At least one must change the answer.
        grouping
            See :func:`tests.oracle.bag.check_bag`.
        offline
            Whether the capture must answer every deletion without Spark.
        """
        expected = self.plain.answer(sql)
        q = self.ls.sql(sql)
        actual = from_spark(q.plan.annotated).without(PROVENANCE)
        assert_same_schema(expected, actual, f"q.plan.annotated\n{sql}")
        assert_same_bag(expected, actual, f"q.plan.annotated\n{sql}")
        check_counting(expected, counted(q), sql, grouping=grouping)
        numbered = [
            Deletion(
                "chosen", {name: frozenset((key,) for key in keys) for name, keys in d.items()}
            )
            for d in deletions
        ]
        capture = lipstick.open(q.capture.directory)
        tally = check_deletion(
            self.ls,
            q,
            sql,
            self.database,
            numbered,
            plain=self.plain,
            offline=capture,
            with_spark={0},
        )
        assert tally.methods["rerun"] == 0, "captured annotations answer, nothing else"
        assert tally.changed, f"no deletion changes the answer of\n{sql}"
        if offline:
            assert tally.methods[OFFLINE] == tally.asked, f"{tally}\n{sql}"
        return q

    def hold_frame(self, frame: DataFrame, sql: str, *, chosen: bool = False) -> None:
        """Hold a data frame against plain Spark, and its annotations against those of a query.

        ``chosen``: Spark leaves open which answer there is; that of the query is expected instead.
        """
        q, other = self.ls.annotate(frame), self.ls.sql(sql)
        assert q.schema.names == frame.columns
        assert_same_bag(from_spark(other.df if chosen else frame), from_spark(q.df), q.query)
        assert annotated(q) == annotated(other)


def counted(q: AnnotatedFrame) -> Bag:
    """Return the answer counted: without Spark, which is quicker, or with."""
    counting = lipstick.semirings.Counting()
    try:
        return from_arrow(lipstick.open(q.capture.directory).algebra.evaluate(counting))
    except NeedsSparkError:
        return from_spark(q.algebra.evaluate(counting))


@contextmanager
def oracles(spark: SparkSession, *relations: Relation) -> Iterator[Oracles]:
    """Track relations, and give plain Spark the same."""
    database = Database({relation.name: relation for relation in relations})
    with (
        few_rows(spark),
        closing(PlainSpark(spark, database)) as plain,
        lipstick.session(spark) as ls,
    ):
        database.track(ls, spark)
        yield Oracles(ls, plain, database)
