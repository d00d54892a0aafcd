"""Shapley values of tuples in a number, against their definition over all sets of tuples."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.oracle.database import Database, Relation
from tests.oracle.duck import connected_duck
from tests.oracle.written import write_capture

_SIZES = {"t": 6, "s": 3}


def _database(seed: int) -> Database:
    rng = np.random.default_rng(seed)
    t, s = _SIZES["t"], _SIZES["s"]
    values = pa.array(rng.integers(-3, 5, t), mask=rng.random(t) < 0.15)
    rows = {"id": np.arange(t), "g": rng.choice(["a", "b"], t), "k": rng.integers(0, 2, t)}
    left = pa.table({**rows, "v": values})
    right = pa.table({"sid": np.arange(s), "k": rng.integers(0, 2, s), "w": rng.integers(1, 4, s)})
    return Database(
        {
            "t": Relation("t", ("id",), "id bigint, g string, k bigint, v bigint", left),
            "s": Relation("s", ("sid",), "sid bigint, k bigint, w bigint", right),
        }
    )


def _expected(database: Database, body: str, number: str, tuples: int) -> list[float]:
    """Return the Shapley value of each tuple, by the definition.

    Parameters
    ----------
    body, number
        FROM and WHERE over tables that a column ``world`` is added to, and the number of a world.
    tuples
        The number of tuples; the bits of a world.
    """
    with connected_duck() as connection:
        first = 0
        for name, relation in database.relations.items():
            connection.register(f"_{name}", relation.data)
            key, bit = relation.key[0], first
            connection.execute(
                f"CREATE TABLE {name} AS SELECT w.world, _{name}.* FROM _{name}, "
                f"(SELECT unnest(range(0, {2**tuples})) AS world) w "
                f"WHERE (w.world >> ({key} + {bit})) & 1 = 1"
            )
            first += relation.data.num_rows
        found = connection.execute(f"SELECT t.world, {number} {body} GROUP BY t.world").fetchall()
    numbers = np.zeros(2**tuples)
    for world, value in found:
        numbers[world] = 0.0 if value is None else float(value)
    worlds = np.arange(2**tuples)
    sizes = np.bitwise_count(worlds)
    factorial = np.array([math.factorial(n) for n in range(tuples + 1)], dtype=float)
    shares = []
    for bit in range(tuples):
        without = worlds[(worlds >> bit) & 1 == 0]
        weights = factorial[sizes[without]] * factorial[tuples - sizes[without] - 1]
        gained = numbers[without | (1 << bit)] - numbers[without]
        shares.append(float((weights * gained).sum() / factorial[tuples]))
    return shares


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("number", "joined", "ask"),
    [
        ("sum(v)", False, {"too": "high"}),
        ("count(v)", False, {"too": "high"}),
        ("avg(v)", False, {}),
        ("max(v)", False, {}),
        ("min(v)", False, {}),
        ("count(DISTINCT v)", False, {}),
        ("sum(w * v)", True, {}),
        ("count(*)", True, {"column": None}),
    ],
)
def test_shapley_values_are_those_of_the_definition(
    number: str, joined: bool, ask: dict[str, Any], seed: int, tmp_path: Path
) -> None:
    database = _database(seed)
    body = "FROM t JOIN s ON t.k = s.k" if joined else "FROM t"
    checked = "column" in ask
    sql = f"SELECT t.id {body}" if checked else f"SELECT {number} AS n {body}"
    capture = write_capture(sql, database, tmp_path / "c")
    tables = {n: database.relations[n].data for n in capture.manifest.relations}
    said = capture.why(**{"column": "n", **ask}, sources=tables)
    every = body.replace("t.k = s.k", "t.k = s.k AND t.world = s.world")
    tuples = sum(_SIZES[name] for name in tables)
    expected = _expected(
        Database({n: database.relations[n] for n in tables}), every, number, tuples
    )
    top = said.top(100, "t")
    assert top.num_rows
    for row in top.to_pylist():
        assert row["_shapley"] == pytest.approx(expected[row["id"]]), row
    if joined:
        for row in said.top(100, "s").to_pylist():
            assert row["_shapley"] == pytest.approx(expected[_SIZES["t"] + row["sid"]]), row


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(v) / count(*) AS n FROM t",
        "SELECT avg(v) AS n FROM t JOIN s ON t.k = s.k",
        "SELECT sum(a.v) AS n FROM t a JOIN t b ON a.id = b.id",
        "SELECT sum(v) AS n FROM t LEFT JOIN s ON t.k = s.k AND s.w > 1",
    ],
)
def test_where_no_closed_form_is_known_there_is_no_value(sql: str, tmp_path: Path) -> None:
    database = _database(0)
    capture = write_capture(sql, database, tmp_path / "c")
    tables = {n: database.relations[n].data for n in capture.manifest.relations}
    top = capture.why("n", sources=tables).top(5, "t")
    assert top.num_rows
    assert top.column("_shapley").null_count == top.num_rows


def test_shares_of_a_condition_and_a_difference_are_those_of_their_aggregates(
    tmp_path: Path,
) -> None:
    database = _database(3)
    t = database.relations["t"].data
    low = write_capture("SELECT sum(v) < -90 AS ok FROM t", database, tmp_path / "1")
    top = low.why(sources={"t": t}).top(9).sort_by("id")
    assert top.column("_shapley").to_pylist() == top.column("v").to_pylist()
    sql = "SELECT g, sum(v) AS n FROM t GROUP BY g"
    both = write_capture(sql, database, tmp_path / "2")
    said = both.why("n", {"g": "a"}, than={"g": "b"}, sources={"t": t})
    for row in said.top(9).to_pylist():
        assert row["_shapley"] == (row["v"] if row["g"] == "a" else -row["v"])
