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
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, TimestampType

import lipstick
from lipstick.errors import LipstickError, NeedsSparkError
from lipstick.frame import AnnotatedFrame
from lipstick.tracking.naming import shown_key
from rewriter.errors import QueryError
from semiring.token import Token
from tests.local_spark import local_spark
from tests.oracle.bag import PROVENANCE
from tests.oracle.duck import loosened
from tests.oracle.plain import few_rows
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
        *,
        tagged: bool = False,
        made: Callable[[str], str] | None = None,
    ) -> None:
        from lipstick.workflow.execution.benches import new_session

        self._way, self._tagged = way, tagged
        self._home = Path(tempfile.mkdtemp(dir=home))
        self._tables = {name: made(way.stored or "") for name in DATABASE.relations} if made else {}
        self.ls = lipstick.session(spark)
        self._plain = new_session(spark)
        self._plain.conf.set(
            "spark.sql.session.timeZone", spark.conf.get("spark.sql.session.timeZone")
        )
        self._whole: dict[str, DataFrame] = {}
        self._views: dict[str, str] = {}
        self._tokens: dict[str, list[tuple[Any, ...]]] = {}
        self.condition: dict[str, str] = {}
        for name in DATABASE.relations:
            frame = self._frame(spark, name)
            source: Any = frame.drop(_PLACE)
            if way.stored == "parquet":
                source = str(self._home / f"{name}.parquet")
                frame.coalesce(1).drop(_PLACE).write.parquet(source)
            elif way.stored in FORMATS:
                source = self._tables[name]
                _write_table(spark, source, frame.drop(_PLACE), way.stored)
            key = way.key if way.key in (None, "*") else self._key
            tracked = self.ls.track(name, source, key=key)
            self._whole[name] = self._frame(self._plain, name)
            self._tokens[name] = _tokens_of(spark, tracked, frame)
            self.condition[name] = f"{self._key_column} = {self._value('2')}"

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
        """Return a relation with the places of its rows."""
        way, base = self._way, DATABASE.relations[name]
        columns = [column for column in base.data.column_names if column != "id"]
        rows = base.frame(spark).select("*", F.col("id").alias(_PLACE)).orderBy("id")
        if way.stored == "range":
            numbers = spark.range(1, base.data.num_rows + 1)
            rows = numbers.join(rows.withColumnRenamed("id", "_id"), F.col("id") == F.col("_id"))
        if way.twice:
            again = rows.where("id = 1").withColumn(_PLACE, F.lit(0))
            rows = again.unionAll(rows).orderBy(_PLACE)
        more = [F.expr(sql).alias(column) for column, sql in way.more.items()]
        value = F.expr(way.value)
        ids = [value.alias("id")]
        if self._tagged:
            ids = [F.col("id"), value.alias(_TAG)]
        frame = rows.select(*ids, *more, *columns, _PLACE)
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
        """Return the rows of a query over what is left, by plain Spark; None: ties decide them."""
        first = self._answer(sql, gone, F.col(_PLACE))
        if "LIMIT" in sql:
            others = [self._answer(sql, gone, -F.col(_PLACE))]
            texts = [sql.replace("ORDER BY x", f"ORDER BY x, k {word}") for word in ("ASC", "DESC")]
            others += [self._answer(text, gone, F.col(_PLACE)) for text in texts]
            if any(difference(first.rows, other.rows) for other in others):
                return None
        return first

    def _answer(self, sql: str, gone: Mapping[str, Sequence[int]], order: Column) -> Bag:
        for name, frame in self._whole.items():
            view = str((gone.get(name), order))
            if self._views.get(name) != view:
                left = frame.where(~F.col(_PLACE).isin(*gone.get(name, ()))).orderBy(order)
                left.drop(_PLACE).createOrReplaceTempView(name)
                self._views[name] = view
        return from_spark(self._plain.sql(sql))

    def places(self, name: str, condition: str) -> list[int]:
        """Return the places of the rows that a condition is true of."""
        rows = self._whole[name].where(condition).select(_PLACE).collect()
        return sorted(row[0] for row in rows)

    def close(self) -> None:
        """End both sessions."""
        from lipstick.workflow.execution.benches import leave

        self.ls.close()
        for name in self._whole:
            self._plain.catalog.dropTempView(name)
        leave(self._plain)


def _write_table(spark: SparkSession, name: str, rows: DataFrame, format: str) -> None:
    """Write a table whose format names its rows."""
    delta = format == "delta"
    properties = {"delta.enableRowTracking": "true"} if delta else {"format-version": "3"}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    columns = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in rows.schema)
    using = "delta" if delta else "iceberg"
    spark.sql(f"CREATE TABLE {name} ({columns}) USING {using} TBLPROPERTIES ({listed})")
    rows.coalesce(1).writeTo(name).append()


def _tokens_of(spark: SparkSession, tracked: Any, frame: DataFrame) -> list[tuple[Any, ...]]:
    """Return the tokens of rows by their places: of equal rows each has one."""
    rows = spark.table(tracked.view).collect()
    columns = tracked.columns
    free: dict[str, list[tuple[Any, ...]]] = {}
    for row in rows:
        values = repr([normal(row[name]) for name in columns])
        free.setdefault(values, []).append(tuple(row[name] for name in tracked.token))
    placed = sorted(frame.collect(), key=lambda row: row[_PLACE])
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
    before = relations.answer(sql, {})
    q = ls.sql(sql)
    answer = from_spark(q.df)
    if before is None:
        counts["answers that ties decide"] += 1
        before = answer
    assert_same_schema(before, answer, f"q.df\n{sql}")
    assert_same_bag(before, answer, f"q.df\n{sql}")
    annotated = from_spark(q.annotated).without(PROVENANCE)
    assert_same_bag(before, annotated, f"q.annotated\n{sql}")
    read = [name for name in DATABASE.relations if name in q.relations]
    if not read:
        counts["without relations"] += 1
        return
    by_world = {frozenset[Token](): before}
    capture = lipstick.open(q.capture.directory)
    for gone, delete in _deletions(relations, read):
        expected = relations.answer(sql, gone)
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
    world = set()
    for name, places in gone.items():
        tracked = q.relations[name]
        schema = relations.ls.spark.table(tracked.view).schema
        kinds = [schema[column].dataType for column in tracked.token]
        for place in places:
            pairs = zip(relations.token(name, place), kinds, strict=True)
            key = tuple(_in_annotations(part, kind) for part, kind in pairs)
            world.add(Token(name, shown_key(tracked.naming.value, key)))
    return frozenset(world)


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
def relations_of(
    spark: SparkSession, way: Way, home: Path, made: Callable[[str], str] | None = None
) -> Iterator[Callable[..., Relations]]:
    """Yield what makes the relations of a way, with the key in ``id`` or beside it, each once."""
    known: dict[bool, Relations] = {}

    def get(*, tagged: bool) -> Relations:
        if tagged not in known:
            if other := known.pop(not tagged, None):
                other.close()
            known[tagged] = Relations(spark, way, home, tagged=tagged, made=made)
        return known[tagged]

    with few_rows(spark):
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
    spark: SparkSession,
    ways: Mapping[str, Way],
    queries: Sequence[str],
    home: Path,
    known: frozenset[tuple[str, str]] = frozenset(),
    made: Callable[[str], str] | None = None,
) -> Iterator[Found]:
    """Yield what becomes of queries, way by way; those that Spark refuses come over tags."""
    for name, way in ways.items():
        left = [sql for sql in queries if (name, sql) not in known]
        if not left:
            continue
        with relations_of(spark, way, home, made) as get:
            again = []
            for sql in left:
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
        with local_spark(home, connect=options.connect, interpreted=True) as spark:
            for name in options.ways or WAYS:
                chosen = [
                    sql
                    for sql in QUERIES
                    if options.query in sql and _chosen(name, sql, options.every)
                ]
                for result in found_of(spark, {name: WAYS[name]}, chosen, home, known):
                    results.append(result)
                    _report(result, options.output)
                    if stop is not None and time.monotonic() > stop:
                        break
                else:
                    continue
                print("stopped before the end: no time is left")
                break
    print(tally(results))
    sys.exit(any(each.outcome in (WRONG, CRASHED) for each in results))


def _report(result: Found, output: Path | None) -> None:
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")
    if result.outcome in (WRONG, CRASHED):
        print(f"{result.way}: {result.outcome}\n{result.sql}\n{result.detail}\n", flush=True)


def tally(results: Sequence[Found]) -> str:
    """Return what became of cells: by way, and what was compared."""
    lines = [f"{len(results)} cells"]
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
