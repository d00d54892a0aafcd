"""Every way of naming rows against every construct of the support page.

A way makes the relations of the page with tokens of its kind: a key that may be NULL by its type or
may not, of two columns, of any type with an order, the places of rows in files, their values. Each
query is held against plain Spark: its answer, the answer without some rows, which are chosen by
their tokens and by conditions, and its annotations in the worlds of these deletions.

``python -m tests.oracle.names --output FILE`` runs all and says what became of each; it goes on
where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Any, Final

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType, TimestampType

import lipstick
from lipstick.errors import LipstickError, NeedsSparkError
from lipstick.frame import AnnotatedFrame
from lipstick.tracking.naming import shown_key
from rewriter.errors import QueryError
from semiring.token import Token
from tests.local_spark import local_spark
from tests.oracle.bag import PROVENANCE
from tests.oracle.duck import loosened
from tests.oracle.plain import FOR_FEW_ROWS, few_rows
from tests.oracle.rows import (
    Bag,
    assert_same_bag,
    assert_same_schema,
    bag_of,
    difference,
    from_spark,
    normal,
)
from tests.oracle.world_answers import Rows, World
from tests.oracle.world_check import check_answered, reason
from tests.support_page.constructs import CONSTRUCTS
from tests.support_page.queries import DATABASE

_PLACE: Final = "_place"
"""The number of a row in its relation, which no query sees."""
_TAG: Final = "tag"
"""The column with the token's value where ``id`` stays a number, for what only numbers can do."""

_ORDERED: Final = re.compile(r"LIMIT|OVER|WITHIN GROUP|max_by|collect_list")
"""What the order among rows that tie may decide."""
_SAMPLE: Final = re.compile(r" TABLESAMPLE \(.*?\)")

QUERIES: Final = tuple(
    sql for title, group in CONSTRUCTS.items() for sql in group if title != "Other statements"
)

_UNIQUE: Final = {
    "bigint": "CAST(id AS BIGINT) + 9007199254740992",
    "decimal": "CAST(id AS DECIMAL(38, 4)) / 8",
    "double": "CAST(id AS DOUBLE) / 3",
    "text": "concat(id, 'é''\\\"')",
    "binary": "unhex(concat('00FF', lpad(id, 2, '0')))",
    "date": "date_add(DATE '1969-12-30', id)",
    "timestamp": "timestamp_micros(id * 1000001 - 3000000)",
    "timestamp_ntz": "CAST(concat('2024-03-31 02:30:0', id) AS TIMESTAMP_NTZ)",
    "char": "rpad(CAST(id AS STRING), 4, ' ')",
}
"""What ``id`` is instead of a number, by the name of a way."""
_IN_NO_KEY: Final = {
    "interval": "make_dt_interval(id, 1, 2, 3.5)",
    "array": "array(id, NULL, 7)",
    "struct": "named_struct('a', CAST(NULL AS STRING), 't', timestamp_micros(id), 'b',"
    " named_struct('c', 1.5D, 'd', 'x'))",
    "map": "map(id, 'a', 7, NULL)",
    "variant": "parse_json(concat('{\"a\": [', id, ']}'))",
    "collated": "collate(CASE id WHEN 1 THEN 'a' WHEN 2 THEN 'A' ELSE concat('b', id) END,"
    " 'UTF8_LCASE')",
}
"""Values of ``id`` that are in no key, but name rows together with all others."""
_COMPILED: Final = {"spark.sql.codegen.factoryMode": "CODEGEN_ONLY"}
"""For texts with a collation: Spark's interpreted aggregates lose those that they hold."""
_COMPARED_AS_TEXTS: Final = (_IN_NO_KEY["map"], _IN_NO_KEY["variant"])
"""Values that Spark does not compare."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way of naming rows.

    Attributes
    ----------
    key
        As ``track`` takes it.
    value
        What the key is, an expression over the number ``id``.
    more
        Further columns, by their expressions.
    twice
        Whether the first row of each relation comes twice.
    stored
        The format of a file or table that the rows are stored in; None: in none.
    nullable
        Whether the key may be NULL by its type.
    """

    key: str | tuple[str, ...] | None = "id"
    value: str = "id"
    more: Mapping[str, str] = field(default_factory=dict)
    twice: bool = False
    stored: str | None = None
    nullable: bool = True


WAYS: Final[dict[str, Way]] = {
    "nullable": Way(),
    "not null": Way(nullable=False),
    "range": Way(value="id", stored="range"),
    "two columns": Way(
        ("part", "id"), "CAST((id + 1) / 2 AS INT)", {"part": "CAST(id % 2 AS STRING)"}
    ),
    "places in Parquet": Way(None, twice=True, stored="parquet"),
    "key in Parquet": Way(stored="parquet"),
    "values": Way("*", twice=True),
    **{name: Way(value=sql) for name, sql in _UNIQUE.items()},
    **{f"values with {name}": Way("*", sql, twice=True) for name, sql in _IN_NO_KEY.items()},
}
FORMATS: Final = {
    name: Way(None, stored=name, twice=True) for name in ("delta", "iceberg", "jdbc-iceberg")
}
"""Ways that need real tables."""


class Plain:
    """Plain Spark in a session of its own, and its answers, for all ways whose rows are the same.

    Attributes
    ----------
    answers
        By the rows that a query reads of its relations, its text and the places of what is gone;
        None where ties decide the answer, an error where Spark refuses the query.
    """

    def __init__(self, spark: SparkSession) -> None:
        from lipstick.workflow.execution.benches import new_session

        self.spark = new_session(spark)
        for name in ("spark.sql.session.timeZone", *FOR_FEW_ROWS):
            self.spark.conf.set(name, str(spark.conf.get(name)))
        self.answers: dict[Any, Bag | PySparkException | None] = {}
        self._views: dict[str, DataFrame] = {}

    def run(self, sql: str, views: Mapping[str, DataFrame]) -> Bag:
        """Return the rows of a query over frames by their names."""
        for name, frame in views.items():
            if self._views.get(name) is not frame:
                frame.createOrReplaceTempView(name)
                self._views[name] = frame
        return from_spark(self.spark.sql(sql))

    def close(self) -> None:
        """End the session."""
        from lipstick.workflow.execution.benches import leave

        for name in self._views:
            self.spark.catalog.dropTempView(name)
        leave(self.spark)


class Answers:
    """What a query answers in some worlds, by plain Spark."""

    def __init__(self, by_world: Mapping[World, Bag]) -> None:
        self._rows = {world: loosened(bag).rows for world, bag in by_world.items()}
        self.tuples = sorted(frozenset[Token]().union(*by_world), key=repr)
        self.present = self._rows[frozenset()]

    def rows(self, world: World) -> Rows | None:
        """Return the rows of the answer in a world, loosened; None: it is not known."""
        return self._rows.get(world)

    def ask(self, worlds: Iterable[World]) -> None:
        """Do nothing: all are known."""


@dataclass(frozen=True, slots=True)
class Found:
    """What became of a query whose rows are named in a way."""

    way: str
    sql: str
    outcome: str
    detail: str = ""
    seconds: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)


HELD: Final = "held"
REFUSED: Final = "refused"
UNKNOWN: Final = "refused by Spark"
WRONG: Final = "wrong"
CRASHED: Final = "crashed"
FAILED: Final = (WRONG, CRASHED)


class Relations:
    """The relations of the page in a session, named in a way; and plain Spark over the same.

    Parameters
    ----------
    tagged
        Whether ``id`` stays a number, and the key is a column of its own.
    made
        Makes the name of a table, for ways whose rows are stored in one.
    """

    def __init__(
        self,
        spark: SparkSession,
        way: Way,
        home: Path,
        plain: Plain,
        *,
        tagged: bool = False,
        made: Callable[[str], str] | None = None,
    ) -> None:
        self._way, self._tagged, self._plain = way, tagged, plain
        self._home = Path(tempfile.mkdtemp(dir=home))
        self._tables = {name: made(way.stored or "") for name in DATABASE.relations} if made else {}
        self.ls = lipstick.session(spark)
        self._whole: dict[str, _Rows] = {}
        self._tokens: dict[str, list[tuple[Any, ...]]] = {}
        self._places: dict[tuple[str, str], list[int]] = {}
        self.condition: dict[str, str] = {}
        for name in DATABASE.relations:
            frame = self._frame(spark, name)
            rows = _Rows(frame, plain.spark)
            source: Any = frame.drop(_PLACE) if way.stored == "range" else rows.all_in(spark)
            if way.stored == "parquet":
                source = str(self._home / f"{name}.parquet")
                frame.coalesce(1).drop(_PLACE).write.parquet(source)
            elif way.stored in FORMATS:
                source = self._tables[name]
                _write_table(spark, source, frame.drop(_PLACE), way.stored)
            key = way.key if way.key in (None, "*") else self._key
            tracked = self.ls.track(name, source, key=key)
            self._whole[name] = rows
            self._tokens[name] = _tokens_of(spark, tracked, rows.placed)
            sides = [self._key_column, self._value("2")]
            if way.value in _COMPARED_AS_TEXTS:
                sides = [f"to_json({side})" for side in sides]
            self.condition[name] = " = ".join(sides)

    @property
    def _key_column(self) -> str:
        return _TAG if self._tagged else "id"

    @property
    def _key(self) -> list[str]:
        names = (self._way.key,) if isinstance(self._way.key, str) else self._way.key or ()
        return [self._key_column if name == "id" else name for name in names]

    def _value(self, number: str) -> str:
        return re.sub(r"\bid\b", number, self._way.value)

    def _frame(self, spark: SparkSession, name: str) -> DataFrame:
        """Return a relation with the places of its rows, in their order."""
        way, base = self._way, DATABASE.relations[name]
        columns = [column for column in base.data.column_names if column != "id"]
        rows = base.frame(spark).select("*", F.col("id").alias(_PLACE))
        if way.stored == "range":
            numbers = spark.range(1, base.data.num_rows + 1)
            rows = numbers.join(rows.withColumnRenamed("id", "_id"), F.col("id") == F.col("_id"))
        if way.twice:
            rows = rows.where("id = 1").withColumn(_PLACE, F.lit(0)).unionAll(rows)
        more = [F.expr(sql).alias(column) for column, sql in way.more.items()]
        value = F.expr(way.value)
        ids = [value.alias("id")]
        if self._tagged:
            ids = [F.col("id"), value.alias(_TAG)]
        frame = rows.orderBy(_PLACE).select(*ids, *more, *columns, _PLACE)
        if way.value == _UNIQUE["char"]:
            mark = {"__CHAR_VARCHAR_TYPE_STRING": "char(4)"}
            frame = frame.withMetadata(self._key_column, mark)
        if not way.nullable:
            schema = frame.schema
            schema[self._key_column].nullable = False
            frame = spark.createDataFrame(frame.collect(), schema)
        return frame

    def token(self, name: str, place: int) -> tuple[Any, ...]:
        """Return the token of a row of a relation, as members store it."""
        return self._tokens[name][place]

    def answer(self, sql: str, gone: Mapping[str, Sequence[int]]) -> Bag | None:
        """Return the rows of a query over what is left, by plain Spark; None: ties decide them.

        Raises
        ------
        PySparkException
            Spark refuses the query.
        """
        left = frozenset((name, tuple(places)) for name, places in gone.items() if places)
        known, case = self._plain.answers, (self._read_by(sql), sql, left)
        if case not in known:
            try:
                known[case] = self._answer(sql, gone)
            except PySparkException as error:
                known[case] = error
        answer = known[case]
        if isinstance(answer, PySparkException):
            raise answer
        return answer

    def _read_by(self, sql: str) -> tuple[Any, ...]:
        """Return what the rows that a query reads are, of all that differs among ways."""
        way, text = self._way, sql.replace("count(*)", "")
        rows: tuple[Any, ...] = (way.twice,)
        if re.search(r"\bid\b", text):
            rows = (*rows, way.stored == "range", "id" if self._tagged else way.value)
        if re.search(r"\*|\bTABLE\b|\bNATURAL\b", text):
            rows = (*rows, way.stored == "range", way.value, self._tagged, *way.more.items())
        if _ORDERED.search(sql):
            rows = (*rows, *self._key)
        return rows

    def _answer(self, sql: str, gone: Mapping[str, Sequence[int]]) -> Bag | None:
        first = self._plain.run(sql, self._left(gone))
        if not _ORDERED.search(sql):
            return first
        limited = ("ASC", "DESC") if "LIMIT" in sql else ()
        texts = [sql.replace("ORDER BY x", f"ORDER BY x, k {word}") for word in limited]
        others = [
            self._backwards(sql, gone),
            *(self._plain.run(t, self._left(gone)) for t in texts),
        ]
        unordered = bool(limited) and "ORDER BY" not in sql
        if not unordered and not any(difference(first.rows, other.rows) for other in others):
            return first
        # Rows that tie are in the order of their keys.
        keys = ", ".join(self._key)
        text = re.sub(r"ORDER BY (id|x)\b", rf"ORDER BY \1, {keys}", sql)
        if unordered:
            text = sql.replace(" LIMIT", f" ORDER BY {keys} LIMIT")
        if self._way.key in (None, "*") or text == sql:
            return None
        by_key = self._plain.run(text, self._left(gone))
        return None if difference(by_key.rows, self._backwards(text, gone).rows) else by_key

    def _backwards(self, sql: str, gone: Mapping[str, Sequence[int]]) -> Bag:
        return self._plain.run(sql, self._left(gone, backwards=True))

    def _left(
        self, gone: Mapping[str, Sequence[int]], *, backwards: bool = False
    ) -> dict[str, DataFrame]:
        return {
            name: rows.left(tuple(gone.get(name, ())), backwards=backwards)
            for name, rows in self._whole.items()
        }

    def places(self, name: str, condition: str) -> list[int]:
        """Return the places of the rows that a condition is true of."""
        case = (name, condition)
        if case not in self._places:
            rows = self._whole[name].frame.where(condition).select(_PLACE).collect()
            self._places[case] = sorted(row[0] for row in rows)
        return self._places[case]

    def close(self) -> None:
        """End the session."""
        self.ls.close()


class _Rows:
    """The rows of a relation with their places: read once, and frames of some of them.

    In a classic session a frame has its rows in its plan, and Spark reads them without a job.
    """

    def __init__(self, frame: DataFrame, plain: SparkSession) -> None:
        self.placed = frame.collect()
        self.frame, self._plain = frame, plain
        self._lefts: dict[tuple[tuple[int, ...], bool], DataFrame] = {}
        self._in_jvm = hasattr(plain, "_jsparkSession")
        self._listed = frame._jdf.collectAsList() if self._in_jvm else None

    def all_in(self, spark: SparkSession) -> DataFrame:
        """Return all rows in a session."""
        return self._some(spark, range(len(self.placed)))

    def left(self, gone: tuple[int, ...], *, backwards: bool) -> DataFrame:
        """Return the rows that are not gone, in their order or in the other one."""
        case = (gone, backwards)
        if case not in self._lefts:
            there = [n for n, row in enumerate(self.placed) if row[_PLACE] not in gone]
            self._lefts[case] = self._some(self._plain, there[::-1] if backwards else there)
        return self._lefts[case]

    def _some(self, spark: SparkSession, numbers: Sequence[int]) -> DataFrame:
        """Return rows without their places."""
        if not self._in_jvm:
            rows = [self.placed[number][:-1] for number in numbers]
            return spark.createDataFrame(rows, StructType(self.frame.schema.fields[:-1]))
        some = spark._jvm.java.util.ArrayList()
        for number in numbers:
            some.add(self._listed.get(number))
        frame = spark._jsparkSession.createDataFrame(some, self.frame._jdf.schema())
        return DataFrame(frame, spark).drop(_PLACE)


def _write_table(spark: SparkSession, name: str, rows: DataFrame, format: str) -> None:
    """Write a table whose format names its rows."""
    delta = format == "delta"
    properties = {"delta.enableRowTracking": "true"} if delta else {"format-version": "3"}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    columns = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in rows.schema)
    using = "delta" if delta else "iceberg"
    spark.sql(f"CREATE TABLE {name} ({columns}) USING {using} TBLPROPERTIES ({listed})")
    rows.coalesce(1).writeTo(name).append()


def _tokens_of(spark: SparkSession, tracked: Any, placed: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the tokens of rows by their places: of equal rows each has one."""
    rows = spark.table(tracked.view).collect()
    columns = tracked.columns
    free: dict[str, list[tuple[Any, ...]]] = {}
    for row in rows:
        values = repr([normal(row[name]) for name in columns])
        free.setdefault(values, []).append(tuple(row[name] for name in tracked.token))
    first = placed[0][_PLACE]
    found = [()] * first if first else []
    for row in placed:
        found.append(free[repr([normal(row[name]) for name in columns])].pop(0))
    return found


def check(relations: Relations, sql: str, counts: Counter[str]) -> None:
    """Hold a query against plain Spark.

    Raises
    ------
    AssertionError
        With the statement, the deletion, and the rows that are missing or unexpected.
    QueryError
        The query is refused.
    """
    ls = relations.ls
    q = ls.sql(sql)
    answer = from_spark(q.df)
    undrawn, plain = _undrawn(relations, q, sql), _SAMPLE.sub("", sql)
    before = relations.answer(plain, undrawn)
    if before is None:
        counts["answers that ties decide"] += 1
        before = answer
    assert_same_schema(before, answer, f"q.df\n{sql}")
    assert_same_bag(before, answer, f"q.df\n{sql}")
    annotated = from_spark(q.plan.annotated).without(PROVENANCE)
    assert_same_bag(before, annotated, f"q.plan.annotated\n{sql}")
    read = [name for name in DATABASE.relations if name in q.plan.relations]
    if not read:
        counts["without relations"] += 1
        return
    by_world = {frozenset[Token](): before}
    capture = lipstick.open(q.capture.directory)
    for gone, delete in _deletions(relations, read):
        expected = relations.answer(
            plain,
            {name: sorted({*undrawn.get(name, ()), *gone.get(name, ())}) for name in read},
        )
        what = f"deleting {delete}\n{sql}"
        actual = from_spark(q.what_if(delete=delete).df)
        if expected is None:
            continue
        assert_same_schema(expected, actual, what)
        assert_same_bag(expected, actual, what)
        keys = {
            name: [_key(relations.token(name, place)) for place in places]
            for name, places in gone.items()
        }
        try:
            here = bag_of(capture.what_if(keys).df)
        except NeedsSparkError:
            counts["deletions that need Spark"] += 1
        else:
            counts["deletions without Spark"] += 1
            assert_same_bag(expected, here, f"without Spark, {what}")
        by_world[_world(relations, q, gone)] = expected
    _check_annotations(q, capture, sql, by_world, counts)


def _undrawn(relations: Relations, q: AnnotatedFrame, sql: str) -> dict[str, list[int]]:
    """Return the places of rows that a sample left out: chance draws, and a capture keeps it.

    Plain Spark answers the query without its sample over the rows that were drawn.
    """
    if not _SAMPLE.search(sql):
        return {}
    drawn = {token for _, given in q.polynomials(limit=None) for token in given.tokens}
    return {
        name: [
            n for n in relations.places(name, "TRUE") if _token(relations, q, name, n) not in drawn
        ]
        for name in q.plan.relations
    }


def _deletions(
    relations: Relations, read: Sequence[str]
) -> Iterator[tuple[dict[str, list[int]], dict[str, Any]]]:
    """Yield places of rows, and how they are asked for: by tokens, and by a condition."""
    tokens = {name: [_key(relations.token(name, 1))] for name in read}
    yield {name: [1] for name in read}, tokens
    last = read[-1]
    other = {"r": "x = 2", "s": "y >= 2", "n": "xs IS NULL", "d": "p IS NULL"}[last]
    either = f"{other} OR {relations.condition[last]}"
    yield {last: relations.places(last, either)}, {last: either}


def _key(token: tuple[Any, ...]) -> Any:
    return token[0] if len(token) == 1 else token


def _world(relations: Relations, q: AnnotatedFrame, gone: Mapping[str, Sequence[int]]) -> World:
    """Return deleted rows as the tokens that annotations have."""
    return frozenset(
        _token(relations, q, name, place) for name, places in gone.items() for place in places
    )


def _token(relations: Relations, q: AnnotatedFrame, name: str, place: int) -> Token:
    tracked = q.plan.relations[name]
    schema = relations.ls.spark.table(tracked.view).schema
    kinds = [schema[column].dataType for column in tracked.token]
    pairs = zip(relations.token(name, place), kinds, strict=True)
    key = tuple(_in_annotations(part, kind) for part, kind in pairs)
    return Token(name, shown_key(tracked.naming.value, key))


def _in_annotations(part: Any, kind: DataType) -> Any:
    """Return a part of a token as annotations have it."""
    if isinstance(kind, TimestampType):
        return part.astimezone(UTC)
    return bytes(part) if isinstance(part, bytearray) else part


def _check_annotations(
    q: AnnotatedFrame, capture: Any, sql: str, by_world: Mapping[World, Bag], counts: Counter[str]
) -> None:
    """Hold annotations in the worlds of the deletions, and those of Spark against these."""
    try:
        told = q.polynomials(limit=None)
    except LipstickError as error:
        counts[f"no annotations: {reason(error, 60)}"] += 1
        return
    try:
        here = capture.memory.annotations()
        checked = check_answered(capture.memory, Answers(by_world), list(by_world), "potential")
    except LipstickError as error:
        counts[f"no worlds: {reason(error, 60)}"] += 1
        return
    assert Counter(map(repr, told)) == Counter(map(repr, here)), f"two annotations\n{sql}"
    assert not checked.problems, f"{checked.problems}\n{sql}"
    counts["worlds"] += checked.worlds
    counts["worlds that differ"] += checked.changed


@contextmanager
def plain_beside(spark: SparkSession) -> Iterator[Plain]:
    """Yield plain Spark beside a session, which is set to many small queries meanwhile."""
    with few_rows(spark):
        plain = Plain(spark)
        try:
            yield plain
        finally:
            plain.close()


@contextmanager
def relations_of(
    spark: SparkSession,
    way: Way,
    home: Path,
    plain: Plain,
    made: Callable[[str], str] | None = None,
) -> Iterator[Callable[..., Relations]]:
    """Yield what makes the relations of a way, with the key in ``id`` or beside it, each once."""
    known: dict[bool, Relations] = {}

    def get(*, tagged: bool) -> Relations:
        if tagged not in known:
            if other := known.pop(not tagged, None):
                other.close()
            known[tagged] = Relations(spark, way, home, plain, tagged=tagged, made=made)
        return known[tagged]

    with few_rows(spark, _COMPILED if "collate(" in way.value else {}):
        try:
            yield get
        finally:
            for relations in known.values():
                relations.close()


def is_answered(get: Callable[..., Relations], sql: str, *, tagged: bool) -> bool:
    """Return True if plain Spark answers a query over the relations of a way."""
    with_answers = get(tagged=tagged)
    try:
        with_answers.answer(sql, {})
    except PySparkException:
        return False
    return True


def held(get: Callable[..., Relations], way: str, sql: str, *, tagged: bool) -> Found:
    """Hold one query, whatever becomes of it."""
    start, counts = time.monotonic(), Counter[str]()
    outcome, detail = HELD, ""
    try:
        if not is_answered(get, sql, tagged=tagged):
            outcome = UNKNOWN
        else:
            check(get(tagged=tagged), sql, counts)
    except QueryError as error:
        outcome, detail = REFUSED, error.problem
    except AssertionError as error:
        outcome, detail = WRONG, str(error)
    except Exception as error:  # what it is is worth knowing, and the next query too
        outcome, detail = CRASHED, reason(error, 400)
    return Found(way, sql, outcome, detail, round(time.monotonic() - start, 2), dict(counts))


def found_of(
    spark: SparkSession, name: str, queries: Sequence[str], home: Path, plain: Plain
) -> Iterator[Found]:
    """Yield what becomes of queries over a way; those that Spark refuses come over tags."""
    way, again = WAYS[name], []
    with relations_of(spark, way, home, plain) as get:
        for sql in queries:
            result = held(get, name, sql, tagged=False)
            if result.outcome == UNKNOWN and way.value != "id":
                again.append(sql)
            else:
                yield result
        for sql in again:
            yield held(get, name, sql, tagged=True)


def _chosen(way: str, sql: str, every: int) -> bool:
    """Return True for a share of the cells, drawn by their names."""
    digest = hashlib.sha256(f"{way}\n{sql}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % every == 0


def main(arguments: Sequence[str] | None = None) -> None:
    """Hold all cells, or some; print those that fail, and what became of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.names", description=__doc__)
    parser.add_argument("ways", nargs="*", help="ways of naming rows; none: all")
    parser.add_argument("--query", default="", help="a part of the queries to take")
    parser.add_argument("--output", type=Path, help="results, a line each; what is there is kept")
    parser.add_argument("--every", type=int, default=1, help="take one cell of so many")
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after so many")
    parser.add_argument("--connect", action="store_true", help="over Spark Connect")
    options = parser.parse_args(arguments)
    results: list[Found] = []
    if options.output is not None and options.output.exists():
        lines = options.output.read_text(encoding="utf-8").splitlines()
        results = [Found(**json.loads(line)) for line in lines]
    known = frozenset((each.way, each.sql) for each in results)
    stop = time.monotonic() + options.seconds if options.seconds else None
    with tempfile.TemporaryDirectory(prefix="names-") as folder:
        home = Path(folder)
        with (
            local_spark(home, connect=options.connect, interpreted=True) as spark,
            plain_beside(spark) as plain,
        ):
            for name in options.ways or WAYS:
                chosen = [
                    sql
                    for sql in QUERIES
                    if options.query in sql
                    and (name, sql) not in known
                    and _chosen(name, sql, options.every)
                ]
                for result in found_of(spark, name, chosen, home, plain) if chosen else ():
                    results.append(result)
                    _report(result, options.output)
                    if stop is not None and time.monotonic() > stop:
                        break
                else:
                    continue
                print("stopped before the end: no time is left")
                break
    print(tally(results))
    sys.exit(any(each.outcome in FAILED for each in results))


def _report(result: Found, output: Path | None) -> None:
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")
    if result.outcome in FAILED:
        print(f"{result.way}: {result.outcome}\n{result.sql}\n{result.detail}\n", flush=True)


def tally(results: Sequence[Found]) -> str:
    """Return what became of cells: by way, and what was compared."""
    lines = [f"{len(results)} cells in {sum(each.seconds for each in results):.0f} s"]
    for name in dict.fromkeys(each.way for each in results):
        outcomes = Counter(each.outcome for each in results if each.way == name)
        shown = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
        lines.append(f"  {name}: {shown}")
    counts = Counter[str]()
    for each in results:
        counts.update(each.counts)
    lines += [f"{count:7} {what}" for what, count in counts.most_common()]
    refused = Counter(each.detail for each in results if each.outcome == REFUSED)
    lines += [f"{count:7} refused: {what}" for what, count in refused.most_common()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
