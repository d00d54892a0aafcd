"""The benchmark suites: keys are keys, texts are read, and no query finds nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from rewriter.dialect import emit, parse
from tests.oracle.database import Database, Relation
from tests.oracle.duck import Duck
from tests.oracle.rows import difference
from tests.oracle.suites import TPCDS, TPCH, Suite

SCALE = 0.01


@pytest.fixture(scope="module", params=(TPCH, TPCDS), ids=lambda suite: suite.name)
def suite(request: pytest.FixtureRequest) -> Suite:
    """Every suite in turn."""
    chosen: Suite = request.param
    return chosen


@pytest.fixture(scope="module")
def database(
    suite: Suite, tpch: Callable[[float], Path], tpcds: Callable[[float], Path]
) -> Database:
    """The relations of the suite."""
    return suite.load({TPCH.name: tpch, TPCDS.name: tpcds}[suite.name](SCALE))


def test_suites_are_whole() -> None:
    assert (TPCH.numbers, TPCDS.numbers) == (tuple(range(1, 23)), tuple(range(1, 100)))
    assert (len(TPCH.keys), len(TPCDS.keys)) == (8, 24)


def test_alteration_that_alters_nothing_is_an_error() -> None:
    suite = Suite("tpch", {}, {1: (("no such text", ""),)})
    with pytest.raises(ValueError, match="query 1 does not contain 'no such text'"):
        suite.query(1)


def test_texts_are_read(suite: Suite) -> None:
    for number in suite.numbers:
        text = emit(parse(suite.query(number)))
        assert emit(parse(text)) == text, number


def test_keys_are_unique_and_known(suite: Suite, database: Database) -> None:
    _assert_keys(database.relations.values())


def test_changed_relations_keep_their_columns_and_keys(suite: Suite, database: Database) -> None:
    for change in set(suite.changed.values()):
        relations = change(database).relations
        assert list(relations) == list(database.relations)
        changed = [new for name, new in relations.items() if new is not database.relations[name]]
        assert changed
        for relation in changed:
            before = database.relations[relation.name].data
            assert relation.data.schema == before.schema, relation.name
            assert not relation.data.equals(before), relation.name
        _assert_keys(changed)


def test_every_query_finds_something(suite: Suite, database: Database) -> None:
    """At least one value that is neither NULL nor zero, over the data that it is asked over."""
    for number, duck in _engines(suite, database):
        rows = duck.answer(suite.query(number)).rows
        assert any(value not in (None, 0) for row in rows for value in row), number


@pytest.mark.slow
def test_ties_leave_no_choice(suite: Suite, database: Database) -> None:
    """Where LIMIT cuts rows off, the same are left whatever breaks ties."""
    cut = 0
    for number, duck in _engines(suite, database):
        sql = suite.query(number)
        if re.search(rf"LIMIT {len(duck.answer(sql))}$", sql):
            first, last = (duck.answer(_ties_broken(sql, descending=d)) for d in (False, True))
            assert not difference(first.rows, last.rows), number
            cut += 1
    assert cut


def test_ties_are_broken_both_ways() -> None:
    table = pa.table({"a": pa.array([1, 1], pa.int32()), "b": pa.array([1, 2], pa.int32())})
    duck = Duck(Database({"r": Relation("r", ("b",), "a int, b int", table)}))
    sql = "SELECT a, b FROM r ORDER BY a LIMIT 1"
    first, last = (duck.answer(_ties_broken(sql, descending=d)).rows for d in (False, True))
    assert (first, last) == (((1, 1),), ((1, 2),))


def _engines(suite: Suite, database: Database) -> Iterator[tuple[int, Duck]]:
    """Return every query with an engine over its data, one engine at a time."""
    for change in {None, *suite.changed.values()}:
        duck = Duck(database if change is None else change(database))
        yield from ((n, duck) for n in suite.numbers if suite.changed.get(n) is change)


def _ties_broken(sql: str, *, descending: bool) -> str:
    """Return a query that orders rows by all their columns after what it orders them by."""
    query = sqlglot.parse_one(sql, read="spark")
    places = range(1, len(query.selects) + 1)
    last = [exp.Ordered(this=exp.Literal.number(ordinal), desc=descending) for ordinal in places]
    query.args["order"].set("expressions", [*query.args["order"].expressions, *last])
    return query.sql(dialect="spark")


def _assert_keys(relations: Iterable[Relation]) -> None:
    for relation in relations:
        keys = relation.data.select(list(relation.key))
        assert all(column.null_count == 0 for column in keys.columns), relation.name
        distinct = keys.group_by(list(relation.key)).aggregate([])
        assert 0 < distinct.num_rows == keys.num_rows, relation.name
