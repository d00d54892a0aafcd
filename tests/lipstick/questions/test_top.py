"""Tuples left out one by one by a statement over members, as in memory."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest

import lipstick
from lipstick.errors import CapabilityError, CaptureError
from lipstick.questions.why.pipeline import measured
from lipstick.questions.why.rows import top_rows
from lipstick.questions.why.sources import read_sources
from rewriter.emit.statements.leave_one_out import AFTER, leave_one_out_sql
from tests.oracle.captured import blocks_of
from tests.oracle.cells import database, generate
from tests.oracle.duck import connected_duck, create_table
from tests.oracle.duck_sql import to_duckdb
from tests.oracle.written import written

_CALLS = ("sum(b)", "count(*)", "count(b, f)", "avg(b)", "max(b)", "min(b)", "sum(b * e)", "max(e)")


@pytest.mark.parametrize("seed", range(0, 32, 2))
def test_a_statement_leaves_out_tuples_as_memory_does(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    data = database(generate(seed).rows)
    one, other = chance.choice(_CALLS), chance.choice(_CALLS)
    value = chance.choice((one, f"{one} - 2 * {other}", f"{one} / nullif({other}, 0)"))
    source = chance.choice(("r JOIN s ON r.k = s.id", "r JOIN s ON r.k <= s.id"))
    key, group = chance.choice((("7", ""), ("r.k", " WHERE r.k > 0 GROUP BY r.k")))
    memory = written(f"SELECT {key} AS k, {value} AS v FROM {source}{group}", data, tmp_path)
    row = next(each for each in memory.answer().to_pylist() if each["c1"] is not None)
    root, rows = memory.engine.root, memory.engine.base(memory.engine.root.name)
    measure, _ = measured(memory, "c1", {"c0": row["c0"]} if group else {}, None, None)
    assert measure.positions is not None
    names = [token.relation for token in root.tokens]
    tables = {name: data.relations[name].data for name in names}
    identity = [rows.take(name, measure.positions) for name in root.identity]
    with connected_duck() as connection:
        chosen = pa.table([*identity, pa.array([0])], [*root.identity, "_"])
        create_table(connection, "chosen_row", chosen)
        members = tmp_path / root.name / "members" / "*.parquet"
        connection.execute(f"CREATE TABLE members AS FROM '{members}'")
        for name, source_rows in read_sources(memory.engine, None, tables).items():
            sql = leave_one_out_sql(root, "v", name, lambda _: "members", "chosen_row", 100)
            assert sql is not None
            found = connection.execute(to_duckdb(sql)).fetch_arrow_table().to_pylist()
            expected = top_rows(measure, source_rows, 100).to_pylist()
            left_out = {each["t0"]: each[AFTER] for each in found}
            assert left_out == pytest.approx({each["id"]: each["_after"] for each in expected})
            gone = [each["_after"] is None for each in expected]
            assert gone == sorted(gone, reverse=True)


@pytest.mark.spark
@pytest.mark.classic
def test_the_cluster_finds_the_same_tuples(dealer: lipstick.Session, tmp_path: Path) -> None:
    q = dealer.sql(
        "SELECT Model, avg(Price) AS a, max(Price) > 9 AS b,"
        " sum(if(Price > 9, double('Infinity'), 1.0D)) AS c FROM Cars GROUP BY Model"
    )
    found = q.top("a", 1, {"Model": "Civic"}, cluster=True).to_pylist()
    alone = q.top("a", 1, {"Model": "Civic"}, cluster=False)
    assert found == alone.select(["CarId", "_after", "_effect"]).to_pylist()
    with pytest.raises(CapabilityError, match="of numbers alone"):
        q.top("b", 1, {"Model": "Civic"}, cluster=True)
    bare = q.save(tmp_path / "bare", values="reference")
    with pytest.raises(CapabilityError, match="values are in the capture"):
        bare.top("a", 1, {"Model": "Civic"}, cluster=True)
    with pytest.raises(CapabilityError, match="an infinity or NaN"):
        q.top("c", 1, {"Model": "Civic"}, cluster=True)
    with pytest.raises(CaptureError, match="Not one row of the answer"):
        q.top("a", cluster=True)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, sum(b) OVER (ORDER BY id) AS v FROM r",
        "SELECT r.k, sum(b) AS v FROM r LEFT JOIN s ON r.k = s.id GROUP BY r.k",
        "SELECT k, sum(b) AS v FROM r GROUP BY k HAVING count(*) > 1",
        "SELECT k, count(DISTINCT b) AS v FROM r GROUP BY k",
    ],
)
def test_values_that_other_rows_decide_have_no_such_statement(sql: str) -> None:
    root = blocks_of(sql, database(generate(1).rows))
    assert leave_one_out_sql(root, root.outputs[1].name, "r", lambda _: "m", "c", 5) is None
