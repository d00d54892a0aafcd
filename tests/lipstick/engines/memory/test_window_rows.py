"""Blocks with window functions in memory: hypothetical answers, annotations, tensors, lineage."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lipstick.engines.memory import many, window_rows
from lipstick.engines.memory.places import scenarios_of
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.window_frames import moves
from semiring.expression import Expression
from semiring.semirings import Counting
from semiring.token import Token
from tests.oracle.database import Database, Deletion, Relation
from tests.oracle.duck import Duck
from tests.oracle.many import check_many
from tests.oracle.written import check_written, written


def relation(name: str, value: str, size: int, seed: int) -> Relation:
    """Return a relation of few different values, with NULLs."""
    rng = random.Random(seed)
    columns = {
        "id": range(1, size + 1),
        "k": [rng.choice([None, 1, 2, 3]) for _ in range(size)],
        value: [rng.choice([None, -1, 1, 2, 5]) for _ in range(size)],
    }
    data = pa.table({column: pa.array(values, pa.int32()) for column, values in columns.items()})
    return Relation(name, ("id",), f"id int, k int, {value} int", data)


DATABASE = Database(
    {
        r.name: r
        for r in (relation("a", "x", 9, 5), relation("b", "y", 8, 6), relation("c", "z", 5, 7))
    }
)
DUCK = Duck(DATABASE)

OF_ROWS = (
    "SELECT id, x FROM (SELECT id, x, avg(x) OVER (PARTITION BY k) AS m, row_number() OVER"
    " (PARTITION BY k ORDER BY id) AS n FROM a) t WHERE x >= m AND n < 4",
    "SELECT id FROM (SELECT id, x, sum(x) OVER (ORDER BY k) AS s, rank() OVER (ORDER BY x) AS r"
    " FROM a) t WHERE x < s AND r > 1",
    "SELECT i, j FROM (SELECT a.id AS i, b.id AS j, row_number() OVER (PARTITION BY a.k"
    " ORDER BY a.id, b.id) AS r FROM a LEFT JOIN b ON a.k = b.k AND b.y > 1 WHERE NOT EXISTS"
    " (SELECT 1 FROM c WHERE c.k = a.k AND c.z > a.x)) t WHERE r <> 2",
    "SELECT k, x FROM (SELECT k, x, rank() OVER (PARTITION BY k ORDER BY x DESC) AS r"
    " FROM (SELECT k, x FROM a GROUP BY k, x) u) t WHERE r = 1",
    "SELECT k, count(*) AS n FROM (SELECT k, rank() OVER (ORDER BY x) AS r FROM a) t WHERE r > 3"
    " GROUP BY k",
    "SELECT id FROM (SELECT id, count(*) FILTER (WHERE x > 0) OVER"
    " (ORDER BY id RANGE BETWEEN 3 PRECEDING AND CURRENT ROW) AS n FROM a) t WHERE n >= 2",
)
"""Queries whose rows are told apart by columns that are shown."""
OF_VALUES = (
    "SELECT id, lag(x) OVER (ORDER BY id) AS l, lead(x, 2, 0) OVER (PARTITION BY k ORDER BY id)"
    " AS e, ntile(2) OVER (ORDER BY id) AS n, x - max(x) OVER (PARTITION BY k) AS d FROM a",
    "SELECT k, sum(x) AS t, sum(sum(x)) OVER (ORDER BY k ROWS 1 PRECEDING) AS s FROM a GROUP BY k",
    "SELECT k, s, rank() OVER (ORDER BY s DESC) AS r FROM (SELECT k, sum(x) AS s FROM a GROUP BY k"
    " UNION ALL SELECT k, sum(y) FROM b GROUP BY k) t",
    "SELECT id FROM (SELECT id, rank() OVER (ORDER BY x) AS r FROM a) t ORDER BY r, id LIMIT 3",
    "SELECT id, last_value(x) OVER (ORDER BY k) AS v, nth_value(x, 2) OVER (ORDER BY k, id) AS w"
    " FROM a WHERE x IS NOT NULL AND k <> 2",
)


def deletions() -> list[Deletion]:
    """Return nothing, everything, and some of every relation several times."""
    rng = random.Random(1)
    chances = [0.0, 1.0, *[0.35] * 8]
    return [
        Deletion(
            "chosen",
            {
                r.name: frozenset(key for key in r.row_keys() if rng.random() < chance)
                for r in DATABASE.relations.values()
            },
        )
        for chance in chances
    ]


@pytest.mark.parametrize("sql", [*OF_ROWS, *OF_VALUES])
def test_hypothetical_answers(sql: str, tmp_path: Path) -> None:
    """A what-if has the values that the query has over what is left."""
    grouping = sql.endswith("GROUP BY k")
    assert check_written(sql, DATABASE, deletions(), tmp_path, grouping=grouping) > 1


BOUNDED = (
    "SELECT id, x, lag(x) OVER (ORDER BY id) AS l, lead(x, 3, 0) OVER (ORDER BY id) AS e FROM a",
    "SELECT id, x - lag(x, 2) OVER (PARTITION BY k ORDER BY id DESC) AS d,"
    " sum(x) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS s"
    " FROM a WHERE x IS NOT NULL",
    "SELECT k, x, s - lag(s) OVER (ORDER BY k, x) AS d,"
    " max(s) OVER (ORDER BY k, x ROWS 2 PRECEDING) AS m"
    " FROM (SELECT k, x, sum(id) AS s FROM a GROUP BY k, x) t",
)


@pytest.mark.parametrize("sql", BOUNDED)
def test_values_of_bounded_frames_are_computed_from_neighbours(sql: str, tmp_path: Path) -> None:
    """Far fewer rows than the partition has, and the values are those of the whole of it."""
    database = Database({"a": relation("a", "x", 80, 3)})
    rng = random.Random(7)
    gone = [
        Deletion("chosen", {"a": frozenset((rng.randint(1, 80),) for _ in range(count))})
        for count in (1, 1, 2, 2, 3, 5, 9)
    ]
    assert check_written(sql, database, gone, tmp_path) == len(gone)


RANKED = (
    "SELECT k, x, rank() OVER (PARTITION BY k ORDER BY n DESC) AS r"
    " FROM (SELECT k, x, count(*) AS n FROM a GROUP BY k, x) t",
    "SELECT k, x, row_number() OVER (PARTITION BY k ORDER BY s NULLS LAST, x) AS r"
    " FROM (SELECT k, x, sum(CASE WHEN id % 3 = 0 THEN NULL ELSE id % 7 END) AS s"
    " FROM a GROUP BY k, x) t",
    "SELECT k, x, dense_rank() OVER (PARTITION BY k ORDER BY n DESC) AS r"
    " FROM (SELECT k, x, count(*) AS n FROM a GROUP BY k, x) t",
    "SELECT k, x, dense_rank() OVER (ORDER BY s DESC) AS r"
    " FROM (SELECT k, x, sum(id) AS s FROM a GROUP BY k, x) t",
    "SELECT id, rank() OVER (PARTITION BY k ORDER BY x) AS r FROM a"
    " WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.k = a.k AND c.z > a.x)",
)


@pytest.mark.parametrize("sql", RANKED)
def test_ranks_are_computed_between_old_and_new_places(
    sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that move, leave and arrive, among ties: as each scenario alone, whose partitions are
    computed whole."""
    database = Database({"a": relation("a", "x", 60, 3), "c": relation("c", "z", 4, 2)})
    rng = random.Random(7)
    sizes, calls = {"a": 60, "c": 4}, []
    gone = [
        {
            name: pa.table({"id": pa.array(rng.sample(range(1, size + 1), 2), pa.int32())})
            for name, size in sizes.items()
            if rng.random() < 0.6
        }
        for _ in range(80)
    ]

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return moves(*arguments)

    monkeypatch.setattr(window_rows, "moves", counted)
    monkeypatch.setattr(many, "FIRST", 1_000)  # all scenarios are one piece
    memory = written(sql, database, tmp_path)
    assert check_many(memory, gone) > 20
    assert len(calls) == 1


def test_a_deletion_changes_neighbours_alone(tmp_path: Path) -> None:
    database = Database({"a": relation("a", "x", 80, 3)})
    memory = written(BOUNDED[0], database, tmp_path)
    deleted = Deleted(pa.table({"id": pa.array([20, 60], pa.int32())}), np.array([0, 1]))
    states = memory.engine.states({"a": deleted})
    changed = states[memory.engine.root.name].changed
    assert len(changed) < 2 * 20
    assert set(scenarios_of(changed).tolist()) == {0, 1}


@pytest.mark.parametrize("sql", OF_ROWS)
def test_annotations_follow_deletions(sql: str, tmp_path: Path) -> None:
    """The conditions on window functions in an annotation say which rows a deletion leaves."""
    answer = written(sql, DATABASE, tmp_path).annotations()
    size = 1 if sql.endswith("GROUP BY k") else 2
    rows = [(tuple(row.values())[:size], Expression.of(annotation)) for row, annotation in answer]
    gone = 0
    for deletion in deletions():
        tokens = [Token(name, key) for name, keys in deletion.keys.items() for key in keys]
        left = {row[:size] for row in DUCK.answer(sql, deletion).rows}
        for row, annotation in rows:
            there = annotation.delete(tokens).evaluate(Counting()) != 0
            assert there == (row in left), f"{row} of {sql} with {annotation}, {deletion}"
            gone += not there
    assert gone


def test_tensors_are_of_frames(tmp_path: Path) -> None:
    """An aggregate over a window, and a rank, which counts; also of the grouping below."""
    rows = "SELECT id, sum(x) OVER w AS s, rank() OVER w AS r FROM a WINDOW w AS (ORDER BY id)"
    memory = written(rows, DATABASE, tmp_path / "rows")
    x = DATABASE.relations["a"].data["x"].to_pylist()
    terms = [f"a:{n}⊗{value}" for n, value in enumerate(x[:3], start=1) if value is not None]
    summed = str(memory.tensors("c1", limit=3)[2][1])
    assert sorted(summed.split(" + ")) == sorted(terms)
    assert str(memory.tensors("c2", limit=3)[2][1]) == "a:1⊗1 + a:2⊗1 + a:3⊗1"
    groups = "SELECT k, count(*) AS n, max(count(*)) OVER () AS m FROM a GROUP BY k"
    memory = written(groups, DATABASE, tmp_path / "groups")
    (row, counted), *_ = memory.tensors("c1")
    assert str(counted).count("⊗1") == row["c1"]
    assert str(memory.tensors("c2")[0][1]).count("δ") == 4
    assert str(memory.tensors("c2")[0][1]).count("COUNT(") == 4


def test_lineage_has_what_decides(tmp_path: Path) -> None:
    """The rows that a value comes from are in the lineage of its row."""
    sql = "SELECT id, lag(x, 2) OVER (ORDER BY id) AS l FROM a"
    memory = written(sql, DATABASE, tmp_path)
    lineage = memory.lineage(lambda rows: np.arange(rows.num_rows) == 4)["a"]
    assert sorted(lineage["id"].to_pylist()) == [3, 4, 5]
    apart = memory.lineage(lambda rows: np.isin(np.arange(rows.num_rows), [3, 7]))["a"]
    assert sorted(apart["id"].to_pylist()) == [2, 3, 4, 6, 7, 8]
    assert memory.lineage()["a"].num_rows == 9
