"""The deletion oracle: a what-if equals the plain query on the database without the deleted rows.

What is put to the test is the captured annotations. An answer by running the query again is
compared too, but proves nothing about them: it is counted apart.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.errors import PySparkException

from lipstick.errors import CaptureError
from tests.oracle.database import NOTHING, Database, Deletion, Key, Relation
from tests.oracle.plain import Engine, PlainSpark
from tests.oracle.rows import (
    Bag,
    Row,
    assert_same_bag,
    assert_same_schema,
    difference,
    from_arrow,
    from_spark,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CHANGE: Final = "_change"
ANNOTATED: Final = frozenset({"annotations", "blocks"})
OFFLINE: Final = "offline"
"""Answered from the capture, without Spark."""
UNRELATED: Final = "unrelated"
SUBTRAHEND: Final = "subtrahend"
HUGE: Final = 500_000
"""Of a relation of more rows, only some that the answer depends on are deleted."""
_GONE: Final = frozenset({"removed", "deleted", "old"})
_CAME: Final = frozenset({"added", "inserted", "new"})
_SAME: Final = frozenset({"same", "unchanged"})


@dataclass(slots=True)
class Tally:
    """What a run of the deletion oracle has put to the test."""

    asked: int = 0
    nonempty: int = 0
    changed: int = 0
    grown: int = 0
    failed: int = 0
    """Those after which the query itself fails, and the what-if by the same error."""
    methods: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Count another run's deletions in."""
        self.asked += other.asked
        self.nonempty += other.nonempty
        self.changed += other.changed
        self.grown += other.grown
        self.failed += other.failed
        self.methods += other.methods

    def assert_telling(self) -> None:
        """Fail if under half of the non-empty deletions changed the answer."""
        if 2 * self.changed < self.nonempty or not self.nonempty:
            raise AssertionError(f"the deletions prove too little: {self}")

    def __str__(self) -> str:
        methods = ", ".join(f"{name} {count}" for name, count in sorted(self.methods.items()))
        return (
            f"{self.asked} deletions, {self.changed} of {self.nonempty} non-empty ones changed"
            f" the answer, {self.grown} of them made it longer, {self.failed} made it fail;"
            f" answered by {methods or 'nothing'}"
        )


def lineage_keys(q: Any, database: Database) -> dict[str, frozenset[Key]]:
    """Return the keys of the rows an answer depends on, by relation: one action in all."""
    from pyspark.sql import functions as f

    frames: list[DataFrame] = []
    for name, frame in q.lineage().items():
        key = [frame[column].cast("string") for column in database.relations[name].key]
        frames.append(frame.select(f.lit(name).alias("relation"), f.array(*key).alias("key")))
    if not frames:
        return {}
    texts_by_name: dict[str, set[tuple[str, ...]]] = {}
    for name, key in reduce(lambda left, right: left.unionAll(right), frames).collect():
        texts_by_name.setdefault(name, set()).add(tuple(key))
    lineage = {}
    for name, texts in texts_by_name.items():
        relation = database.relations[name]
        keys = relation.read_keys(texts)
        unknown = keys.difference(relation.row_keys(relation.data.filter(relation.among(keys))))
        if unknown:
            raise AssertionError(f"lineage names rows that {name} does not have: {unknown}")
        lineage[name] = keys
    return lineage


def deletion_sets(
    rng: random.Random,
    database: Database,
    lineage: Mapping[str, frozenset[Key]],
    *,
    count: int = 5,
    compared: Sequence[str] = (),
    subtracted: Sequence[str] = (),
    exact: bool | None = None,
) -> list[Deletion]:
    """Return deletions to put to a query, those most telling first.

    Parameters
    ----------
    lineage
        The keys of the rows that the answer depends on.
    count
        How many: the empty set, everything, a singleton, about half of the lineage, and rows at
        one end of a column; then again singletons, halves and ends. Where there are
        ``subtracted`` relations, two or three of these are sets of their rows.
    compared
        Relations that feed compared aggregates: preferred for singletons and ends, because taking
        the greatest or least members away moves an aggregate over its threshold.
    subtracted
        Relations of whose rows the absence is asked for: deleting some makes rows appear. Their
        rows need not be in the lineage.
    exact
        True for a query in which deletion can only remove or shrink: then one more set is added,
        of rows outside of the lineage, which must not change anything.
    """
    touched = {name: keys for name, keys in lineage.items() if keys}
    names = sorted(touched) or sorted(database.relations)
    biased = [name for name in names if name in compared] or names
    sets = [NOTHING, _full(rng, database, touched, names)]
    makers: tuple[Callable[[], Deletion], ...] = (
        lambda: _singleton(rng, database, touched, biased),
        lambda: _half(rng, database, touched, names),
        lambda: _end(rng, database, touched, biased),
    )
    present = [name for name in subtracted if database.relations[name].data.num_rows]
    if present:
        usual = rng.choice(makers)
        aimed = (
            lambda: _subtrahend(rng, database, present),
            lambda: _end(rng, database, {}, present),
        )
        makers = (aimed[0], usual, *aimed[::-1], *makers)
    while len(sets) < count:
        sets.append(makers[(len(sets) - 2) % len(makers)]())
    if exact and touched:
        sets += _unrelated(rng, database, touched)
    return sets


def _full(
    rng: random.Random,
    database: Database,
    touched: Mapping[str, frozenset[Key]],
    names: Sequence[str],
) -> Deletion:
    keys = {}
    for name in names:
        huge = database.relations[name].data.num_rows > HUGE
        inside = touched.get(name) if huge else None
        keys[name] = inside or frozenset(database.relations[name].row_keys())
    whole = [name for name in names if len(keys[name]) == database.relations[name].data.num_rows]
    large = {name for name in whole if len(keys[name]) > 1_000}
    predicates = {name: "TRUE" for name in whole if name in large or rng.random() < 0.5}
    return Deletion("full", keys, predicates)


def _rows(database: Database, touched: Mapping[str, frozenset[Key]], name: str) -> list[Key]:
    return sorted(touched.get(name) or database.relations[name].row_keys(), key=repr)


def _singleton(
    rng: random.Random,
    database: Database,
    touched: Mapping[str, frozenset[Key]],
    names: Sequence[str],
) -> Deletion:
    name = rng.choice(names)
    rows = _rows(database, touched, name)
    return Deletion("singleton", {name: frozenset(rng.sample(rows, min(1, len(rows))))})


def _half(
    rng: random.Random,
    database: Database,
    touched: Mapping[str, frozenset[Key]],
    names: Sequence[str],
) -> Deletion:
    keys = {}
    for name in names:
        rows = _rows(database, touched, name)
        size = min(rng.randint(0, max(1, len(rows) // 2)), 500)
        keys[name] = frozenset(rng.sample(rows, min(size, len(rows))))
    return Deletion("random", keys)


def _subtrahend(rng: random.Random, database: Database, names: Sequence[str]) -> Deletion:
    """Delete many or all of the rows of one relation, and leave the others alone."""
    name = rng.choice(names)
    rows = _rows(database, {}, name)
    size = len(rows) if rng.random() < 0.4 else rng.randint(1, max(1, 2 * len(rows) // 3))
    return Deletion(SUBTRAHEND, {name: frozenset(rng.sample(rows, size))})


def _end(
    rng: random.Random,
    database: Database,
    touched: Mapping[str, frozenset[Key]],
    names: Sequence[str],
) -> Deletion:
    """Delete the rows at one end of a column, as a predicate."""
    name = rng.choice(names)
    relation = database.relations[name]
    columns = _ordered_columns(relation)
    if not columns or relation.data.num_rows > HUGE:
        return _singleton(rng, database, touched, names)
    column = rng.choice(columns)
    inside = (
        relation.data.filter(relation.among(touched[name])) if name in touched else relation.data
    )
    candidates = inside.column(column).drop_null()
    if not len(candidates):
        return _singleton(rng, database, touched, names)
    bound = candidates[rng.randrange(len(candidates))]
    upper = rng.random() < 0.5
    compare = pc.greater_equal if upper else pc.less_equal
    rows = relation.data.filter(compare(relation.data.column(column), bound))
    gone = frozenset(relation.row_keys(rows))
    predicate = f"{column} {'>=' if upper else '<='} {_literal(bound.as_py())}"
    return Deletion("end", {name: gone}, {name: predicate})


def _ordered_columns(relation: Relation) -> list[str]:
    kinds = dict(item.split(" ") for item in relation.schema.split(", "))
    return [
        name
        for name, kind in kinds.items()
        if kind in ("int", "bigint", "date") or kind.startswith("decimal")
    ]


def _literal(value: Any) -> str:
    return f"DATE '{value}'" if hasattr(value, "isoformat") else str(value)


def _unrelated(
    rng: random.Random, database: Database, touched: Mapping[str, frozenset[Key]]
) -> list[Deletion]:
    keys = {}
    for name in database.relations:
        relation = database.relations[name]
        rows = relation.without(touched.get(name, frozenset()))
        chosen = rng.sample(range(rows.num_rows), min(rows.num_rows, 500))
        keys[name] = frozenset(relation.row_keys(rows.take(pa.array(chosen, pa.int64()))))
    deletion = Deletion(UNRELATED, {name: rows for name, rows in keys.items() if rows})
    return [deletion] if len(deletion) else []


def check_deletion(
    ls: Any,
    q: Any,
    sql: str,
    database: Database,
    deletions: Iterable[Deletion],
    *,
    plain: Engine | None = None,
    exact: bool | None = None,
    offline: Any = None,
    with_spark: Collection[int] | None = None,
) -> Tally:
    """Hold what-ifs against plain runs over the reduced database.

    Parameters
    ----------
    exact
        How the query is classified. True: no what-if may run it again. False: none may answer
        from annotations alone. None: not asserted, but runs are counted by method.
    plain
        An engine over the database; by default plain Spark in a new session.
    offline
        The query's capture opened without Spark: asked the same, and counted as ``offline``, or
        as ``needs Spark`` where it says that only Spark can evaluate an expression.
    with_spark
        The places of the deletions that Spark is asked for too, where ``offline`` answers them:
        its answers take longest. None: all.

    Returns
    -------
    Tally
        What was asked; the caller adds these up over a run and calls ``assert_telling``. Neither
        answers by running again nor deletions meant to change nothing count as non-empty there.

    Raises
    ------
    AssertionError
        With the statement, the deletion, and the rows that are missing or unexpected.
    """
    if plain is None:
        with closing(PlainSpark(q.df.sparkSession, database)) as engine:
            return check_deletion(
                ls,
                q,
                sql,
                database,
                deletions,
                exact=exact,
                plain=engine,
                offline=offline,
                with_spark=with_spark,
            )
    tally = Tally()
    before = plain.answer(sql)
    for number, deletion in enumerate(deletions):
        what = f"deleting {_short(deletion)}\n{sql}"
        try:
            expected = plain.answer(sql, deletion)
        except PySparkException as error:
            _check_failure(q, deletion, error.getCondition(), what)
            tally.failed += 1
            continue
        changed = bool(difference(before.rows, expected.rows))
        if changed and deletion.kind == UNRELATED:
            raise AssertionError(f"rows outside of the lineage matter: {what}")
        methods = []
        if offline is not None:
            methods.append(check_offline(offline, deletion, before, expected, what))
        if methods != [OFFLINE] or with_spark is None or number in with_spark:
            methods.append(_check_spark(q, deletion, before, expected, exact, what))
        tally.asked += 1
        tally.methods.update(methods)
        if methods[-1] != "rerun" and len(deletion) and deletion.kind != UNRELATED:
            tally.nonempty += 1
            tally.changed += changed
            tally.grown += len(expected) > len(before)
    return tally


def _check_spark(
    q: Any, deletion: Deletion, before: Bag, expected: Bag, exact: bool | None, what: str
) -> str:
    """Hold a what-if against the same answer; return its method."""
    w = q.what_if(delete=deletion.argument())
    _check_method(w.method, exact, what)
    actual = from_spark(w.df)
    assert_same_schema(expected, actual, f"w.df, {what}")
    assert_same_bag(expected, actual, f"w.df by {w.method}, {what}")
    changes = from_spark(w.changes)
    what = f"w.changes by {w.method}, {what}"
    check_changes(before, expected, changes, what, empty=len(deletion) == 0)
    return str(w.method)


def _check_failure(q: Any, deletion: Deletion, condition: str | None, what: str) -> None:
    """Hold a what-if to the error of the query over what the deletion leaves."""
    try:
        q.what_if(delete=deletion.argument()).df.collect()
    except PySparkException as error:
        raised = error.getCondition()
        if raised != condition:
            raise AssertionError(f"{raised} instead of {condition}: {what}") from error
    else:
        raise AssertionError(f"the query fails by {condition}, the what-if does not: {what}")


def check_offline(capture: Any, deletion: Deletion, before: Bag, expected: Bag, what: str) -> str:
    """Hold the in-memory engine against the same answer; return how it counts."""
    read = capture.manifest.relations
    deleted = {name: keys for name, keys in deletion.key_lists().items() if name in read}
    try:
        w = capture.what_if(deleted)
        actual, changes = from_arrow(w.df), from_arrow(w.changes)
    except CaptureError as error:
        if "Spark" not in str(error):
            raise
        return "needs Spark"
    assert_same_bag(expected, actual, f"offline, {what}")
    check_changes(before, expected, changes, f"changes offline, {what}", empty=len(deletion) == 0)
    return OFFLINE


def _short(deletion: Deletion, limit: int = 600) -> str:
    text = str(deletion)
    return text if len(text) <= limit else f"{text[:limit]}... ({len(deletion)} rows)"


def _check_method(method: str, exact: bool | None, what: str) -> None:
    if method not in ANNOTATED | {"rerun"}:
        raise AssertionError(f"unknown method {method!r}: {what}")
    if exact and method == "rerun":
        raise AssertionError(f"an exact query was run again: {what}")
    if exact is False and method == "annotations":
        raise AssertionError(f"an inexact query was answered from annotations alone: {what}")


def check_changes(before: Bag, after: Bag, changes: Bag, what: str, *, empty: bool = False) -> None:
    """Hold reported changes against two answers: before + new rows = after + old rows, as bags."""
    old, new = read_changes(changes, before.columns)
    if empty and (old or new):
        raise AssertionError(f"{what}: nothing was deleted, yet {len(old) + len(new)} changes")
    wrong = difference([*after.rows, *old], [*before.rows, *new])
    if wrong:
        raise AssertionError(
            f"{what}: the old rows and the new do not lead from one answer to the other\n{wrong}"
        )


def read_changes(changes: Bag, columns: Sequence[str]) -> tuple[list[Row], list[Row]]:
    """Return the old rows and the new rows of ``w.changes``.

    Either ``_change`` and two structs ``old`` and ``new``, one of them NULL where a row appears or
    disappears; or the answer's columns, one row for each of old and new, told apart by
    ``_change``. Rows said to be unchanged are neither.
    """
    if CHANGE not in changes.columns:
        raise AssertionError(f"w.changes has no column {CHANGE}: {changes.columns}")
    if {"old", "new"} <= set(changes.columns) and len(changes.columns) == 3:
        return _from_pairs(changes)
    rest = changes.without(CHANGE)
    if rest.columns != tuple(columns):
        raise AssertionError(f"w.changes has the columns {changes.columns}, the answer {columns}")
    at = len(changes.columns) - 1 - changes.columns[::-1].index(CHANGE)
    old: list[Row] = []
    new: list[Row] = []
    for change, row in zip((full[at] for full in changes.rows), rest.rows, strict=True):
        if change in _GONE:
            old.append(row)
        elif change in _CAME:
            new.append(row)
        elif change not in _SAME:
            raise AssertionError(f"w.changes has a change of unknown kind {change!r}")
    return old, new


def _from_pairs(changes: Bag) -> tuple[list[Row], list[Row]]:
    """Read structs, holding each kind of change against which of them is NULL."""
    kind, left, right = (changes.columns.index(name) for name in (CHANGE, "old", "new"))
    olds: list[Row] = []
    news: list[Row] = []
    for row in changes.rows:
        change, old, new = row[kind], row[left], row[right]
        sides = [side for side in (old, new) if side is not None]
        if change in _SAME:
            if len(sides) != 2 or difference([old], [new]):
                raise AssertionError(f"w.changes calls this unchanged: {old!r}, {new!r}")
            continue
        right_sides = (
            (change in _GONE and new is None and old is not None)
            or (change in _CAME and old is None and new is not None)
            or (change == "changed" and len(sides) == 2)
        )
        if not right_sides:
            raise AssertionError(f"w.changes calls this {change}: {old!r}, {new!r}")
        if old is not None:
            olds.append(old)
        if new is not None:
            news.append(new)
    return olds, news
