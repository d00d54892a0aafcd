"""The smallest sets of tuples that make a check pass, against all sets of small databases."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lipstick.errors import CapabilityError
from lipstick.questions.why.answer import Explanation
from lipstick.questions.why.smallest import _heaviest
from tests.oracle.database import Database, Relation
from tests.oracle.duck import connected_duck
from tests.oracle.written import write_capture


def _said(sql: str, rows: pa.Table, folder: Path, *args: Any, **kwargs: Any) -> Explanation:
    relation = Relation("t", ("id",), "id bigint, g string, v bigint", rows)
    capture = write_capture(sql, Database({"t": relation}), folder / "capture")
    return capture.why(*args, sources={"t": rows}, **kwargs)


def _rows(seed: int, size: int = 9) -> pa.Table:
    rng = np.random.default_rng(seed)
    groups = np.array(["a", "b"])[rng.integers(0, 2, size)]
    return pa.table({"id": np.arange(size), "g": groups, "v": rng.integers(0, 7, size)})


def _least(rows: pa.Table, check: str) -> set[frozenset[int]]:
    """Return all deletions of least size after which a check of SQL yields TRUE."""
    ids = rows.column("id").to_pylist()
    with connected_duck() as connection:
        connection.register("t", rows)
        for size in range(len(ids) + 1):
            found = set()
            for gone in combinations(ids, size):
                left = f"(SELECT * FROM t WHERE id NOT IN ({', '.join(map(str, [*gone, -1]))}))"
                if connection.execute(check.replace("{t}", left)).fetchall() == [(True,)]:
                    found.add(frozenset(gone))
            if found:
                return found
    return set()


_GROUPS = "SELECT g, count(*) AS n FROM {{t}} GROUP BY g HAVING {}"
_MANY = _GROUPS.format("count(*) > 3")
_HIGH = _GROUPS.format("avg(v) > 2")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("sql", "ask", "check"),
    [
        ("SELECT avg(v) <= 2 AS ok FROM t", {"column": "ok"}, "SELECT avg(v) <= 2 FROM {t}"),
        ("SELECT sum(v) < 15 AS ok FROM t", {"column": "ok"}, "SELECT sum(v) < 15 FROM {t}"),
        ("SELECT 4 < avg(v) AS ok FROM t", {"column": "ok"}, "SELECT 4 < avg(v) FROM {t}"),
        (
            "SELECT count(DISTINCT v) AS n FROM t",
            {"column": "n", "than": 3},
            "SELECT count(DISTINCT v) = 3 FROM {t}",
        ),
        (
            "SELECT max(v) AS n FROM t",
            {"column": "n", "than": 3, "too": "high"},
            "SELECT max(v) <= 3 FROM {t}",
        ),
        (
            _MANY.replace("{t}", "t"),
            {},
            f"SELECT count(*) = 0 FROM ({_MANY})",
        ),
        (
            _HIGH.replace("{t}", "t"),
            {},
            f"SELECT count(*) = 0 FROM ({_HIGH})",
        ),
        ("SELECT * FROM t WHERE v > 4", {}, "SELECT count(*) = 0 FROM {t} WHERE v > 4"),
    ],
)
def test_all_smallest_sets_are_found(
    sql: str, ask: dict[str, Any], check: str, seed: int, tmp_path: Path
) -> None:
    rows = _rows(seed)
    expected = _least(rows, check)
    if expected == {frozenset()}:
        pytest.skip("nothing is wrong")
    said = _said(sql, rows, tmp_path, **ask)
    if not expected:
        with pytest.raises(CapabilityError, match="No deletion"):
            said.repairs()
        return
    found = said.repairs(10_000)
    assert {frozenset(each.column("id").to_pylist()) for each in found.sets} == expected
    assert found.count == len(expected)
    assert found.size == len(next(iter(expected)))


def test_a_hundred_and_one_distinct_values_in_place_of_a_hundred(tmp_path: Path) -> None:
    rows = pa.table({"id": np.arange(301), "g": ["a"] * 301, "v": np.arange(301) % 101})
    said = _said("SELECT count(DISTINCT v) AS n FROM t", rows, tmp_path, "n", than=100)
    found = said.repairs(5)
    # 99 values are there three times, and two of them twice.
    assert (found.size, found.count, len(found.sets)) == (2, 2, 2)
    assert [set(each.column("v").to_pylist()) for each in found.sets] == [{99}, {100}]
    assert str(found).startswith("2 tuples of t must go; there are 2 such sets")


def test_a_mean_that_is_too_high(tmp_path: Path) -> None:
    values = np.full(1000, 10)
    values[[17, 400, 401]] = [6000, 4000, 3000]
    rows = pa.table({"id": np.arange(1000), "g": ["a"] * 1000, "v": values})
    said = _said("SELECT avg(v) AS m FROM t", rows, tmp_path, "m", than=15, too="high")
    found = said.repairs()
    assert (found.size, found.count) == (2, 2)
    assert [each.column("id").to_pylist() for each in found.sets] == [[17, 400], [17, 401]]
    assert said.top(3).column("id").to_pylist() == [17, 400, 401]


def test_many_sets_are_counted_as_far_as_that_goes(tmp_path: Path) -> None:
    rows = pa.table({"id": np.arange(40), "g": ["a"] * 40, "v": np.arange(40) % 3 + 7})
    said = _said("SELECT sum(v) < 170 AS ok FROM t", rows, tmp_path, "ok")
    found = said.repairs(3)
    assert (len(found.sets), found.count) == (3, None)
    same = pa.table({"id": np.arange(40), "g": ["a"] * 40, "v": [1] * 40})
    assert (
        _said("SELECT sum(v) <= 20 AS ok FROM t", same, tmp_path / "2", "ok").repairs(1).count
        == 137846528820
    )


@pytest.mark.parametrize(
    ("sql", "ask", "message"),
    [
        ("SELECT avg(v) AS n FROM t", {"column": "n"}, "than="),
        ("SELECT avg(v) AS n FROM t", {"column": "n", "than": 1}, "equal to a number"),
        ("SELECT max(v) > 9 AS n FROM t", {"column": "n"}, "raises a maximum"),
        ("SELECT count(DISTINCT v) >= 9 AS n FROM t", {"column": "n"}, "raises a number"),
        ("SELECT sum(v) > count(*) * 90 AS n FROM t", {"column": "n"}, "are not found for"),
        ("SELECT sum(v) > 900 AS n FROM t", {"column": "n"}, "No deletion"),
        ("SELECT id FROM t ORDER BY v LIMIT 3", {}, "LIMIT"),
    ],
)
def test_what_has_no_smallest_sets(
    sql: str, ask: dict[str, Any], message: str, tmp_path: Path
) -> None:
    said = _said(sql, _rows(0), tmp_path, **ask)
    with pytest.raises(CapabilityError, match=message):
        said.repairs()


def test_sets_of_thousands_of_rows_are_found() -> None:
    weights = np.arange(5_000, 0, -1, dtype=np.float64)
    found = _heaviest(
        np.arange(5_000), weights, float(weights[:3_000].sum()), strict=False, limit=2
    )
    assert (found.size, found.count) == (3_000, 1)
    assert found.places == [tuple(range(3_000))]
    several = _heaviest(np.arange(5_000), weights, 7_000_000.0, strict=False, limit=2)
    assert several.count is None
    assert all(weights[list(each)].sum() >= 7_000_000.0 for each in several.places)
