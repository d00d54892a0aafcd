"""Window functions without Spark, held against an independent engine."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from lipstick.engines.memory.state import spark_scalar
from lipstick.engines.memory.windows import computed, extent, placed
from lipstick.errors import NeedsSparkError
from rewriter.interpret import Vector, WindowCall, from_arrow, windowed
from rewriter.scalars.text import scalar
from semiring.base import Array
from tests.oracle.duck import connected_duck
from tests.oracle.duck_sql import to_duckdb

RANKS = ("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "PERCENT_RANK()", "CUME_DIST()", "NTILE(3)")
OFFSETS = (
    "LAG({x})",
    "LEAD({x}, 2)",
    "LAG({x}, 1, -5)",
    "LEAD({x}, 3, {y})",
    "LAG({x}, -1)",
    "LAG({x}, 0)",
    "LAG({x}, 2) IGNORE NULLS",
    "LEAD({x}) IGNORE NULLS",
)
FRAMED = (
    "SUM({x})",
    "COUNT(*)",
    "COUNT({x})",
    "MIN({x})",
    "MAX({y})",
    "AVG({x})",
    "SUM({d})",
    "SUM({x}) FILTER(WHERE {y} >= 0)",
    "COUNT(*) FILTER(WHERE {x} > 2)",
    "FIRST_VALUE({x})",
    "LAST_VALUE({x})",
    "NTH_VALUE({x}, 2)",
    "FIRST_VALUE({x}) IGNORE NULLS",
    "LAST_VALUE({x}) IGNORE NULLS",
    "NTH_VALUE({x}, 2) IGNORE NULLS",
)
PARTITIONS = ("", "PARTITION BY {k}", "PARTITION BY {k}, {y}")
ORDERS = (
    "ORDER BY {id}",
    "ORDER BY {x} DESC NULLS LAST, {id}",
    "ORDER BY {y} ASC NULLS LAST, {id} DESC",
)
FRAMES = (
    "",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING",
    "ROWS BETWEEN 4 PRECEDING AND 2 PRECEDING",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
)
TIED = ("ORDER BY {x}", "ORDER BY {x} DESC", "ORDER BY {y} DESC NULLS FIRST")
"""Orders in which rows tie, for what does not depend on it."""
RANGES = (
    "RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING",
    "RANGE BETWEEN 2 FOLLOWING AND 3 FOLLOWING",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN 3 PRECEDING AND 2 PRECEDING",
)


def table(seed: int, size: int) -> pa.Table:
    """Return rows with NULLs and ties; their sums of floats are exact."""
    rng = random.Random(seed)
    return pa.table(
        {
            "id": pa.array(rng.sample(range(size), size), pa.int32()),
            "k": pa.array([rng.choice([None, "a", "b"]) for _ in range(size)], pa.string()),
            "x": pa.array([rng.choice([None, 1, 2, 3, 8]) for _ in range(size)], pa.int32()),
            "y": pa.array([rng.choice([None, -1, 0, 4]) for _ in range(size)], pa.int64()),
            "d": pa.array([rng.choice([None, 0.5, 1.0, -2.0]) for _ in range(size)], pa.float64()),
        }
    )


def resolve(data: pa.Table) -> Callable[[str, str], Vector]:
    """Return the columns of a table as those of members."""
    return lambda _, name: from_arrow(data.column(name))


def call(sql: str) -> WindowCall:
    """Return a window function over ``m``."""
    (window_call,) = windowed(scalar(sql)).calls
    return window_call


def over(function: str, partition: str, order: str, frame: str) -> str:
    """Return a window function as text, over columns of ``m``."""
    text = f"{function} OVER ({' '.join(part for part in (partition, order, frame) if part)})"
    return text.format_map({name: f"m.`{name}`" for name in ("id", "k", "x", "y", "d")})


def texts() -> list[str]:
    """Return every combination that is defined."""
    calls = [over(f, p, o, "") for f in (*RANKS, *OFFSETS) for p in PARTITIONS for o in ORDERS]
    partitions, orders = PARTITIONS[:2], ORDERS[:2]
    calls += [over(f, p, o, r) for f in FRAMED for p in partitions for o in orders for r in FRAMES]
    tied = [f for f in FRAMED if "VALUE" not in f]
    calls += [over(f, p, o, r) for f in tied for p in PARTITIONS for o in TIED for r in RANGES]
    calls += [over(f, p, o, "") for f in RANKS[1:5] for p in PARTITIONS for o in TIED]
    return calls + [over(f, p, "", "") for f in tied for p in PARTITIONS]


@cache
def statements() -> list[tuple[str, list[WindowCall]]]:
    """Return statements of DuckDB, each with the window functions that it selects after the id."""
    every = texts()
    some = [every[start : start + 60] for start in range(0, len(every), 60)]
    selects = []
    for part in some:
        items = ", ".join(f"{sql} AS v{number}" for number, sql in enumerate(part))
        selects.append((to_duckdb(f"SELECT m.id, {items} FROM m"), [call(sql) for sql in part]))
    return selects


@pytest.mark.parametrize("size", [0, 1, 23])
def test_every_combination(size: int) -> None:
    """Every function, partition, order and frame, over no row, one row and many."""
    data = table(size, size)
    columns = resolve(data)
    with connected_duck() as connection:
        connection.register("m", data)
        for statement, calls in statements():
            expected = {row[0]: row[1:] for row in connection.execute(statement).fetchall()}
            for number, window in enumerate(calls):
                actual = computed(window, columns, size).to_pylist()
                assert actual == [expected[i][number] for i in data["id"].to_pylist()], window.text


def test_extents() -> None:
    """The rows that a value is decided by: those up to it, the frame, or the partition."""
    data = pa.table({"id": [1, 2, 3, 4], "k": ["a", "b", "a", "a"], "x": [5, 5, 5, 7]})
    columns = resolve(data)

    def rows(sql: str) -> list[set[int]]:
        window = call(sql)
        placement = placed(window, columns, 4)
        extents = extent(window, placement)
        ids = [data.column("id")[int(row)].as_py() for row in placement.rows]
        ranges = zip(extents.start[placement.place], extents.stop[placement.place], strict=True)
        return [set(ids[a:b]) for a, b in ranges]

    window = "OVER (PARTITION BY m.k ORDER BY m.x)"
    assert rows(f"RANK() {window}") == [{1, 3}, {2}, {1, 3}, {1, 3, 4}]
    assert rows(f"NTILE(2) {window}") == [{1, 3, 4}, {2}, {1, 3, 4}, {1, 3, 4}]
    ordered = "OVER (PARTITION BY m.k ORDER BY m.id)"
    assert rows(f"ROW_NUMBER() {ordered}") == [{1}, {2}, {1, 3}, {1, 3, 4}]
    assert rows(f"LAG(m.x) {ordered}") == [{1}, {2}, {1, 3}, {3, 4}]
    assert rows(f"LEAD(m.x, 2) {ordered}") == [{1, 3, 4}, {2}, {3, 4}, {4}]
    assert rows("SUM(m.x) OVER (PARTITION BY m.k)") == [{1, 3, 4}, {2}, {1, 3, 4}, {1, 3, 4}]


def test_a_default_is_no_flag() -> None:
    """The last argument of LAG is a value; of the others it says whether NULLs are passed over."""
    assert not call("LAG(m.x, 1, TRUE) OVER (ORDER BY m.id)").ignores_nulls
    assert call("LAST(m.x, TRUE) OVER (ORDER BY m.id)").ignores_nulls
    assert call("NTH_VALUE(m.x, 2, TRUE) OVER (ORDER BY m.id)").ignores_nulls
    assert not call("LAST(m.x, FALSE) OVER (ORDER BY m.id)").ignores_nulls


@pytest.mark.parametrize(
    "sql",
    [
        "STDDEV(m.x) OVER (PARTITION BY m.k)",
        "SUM(m.x) OVER (ORDER BY m.d RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
        "SUM(m.x) OVER (ORDER BY m.id ROWS BETWEEN m.x PRECEDING AND CURRENT ROW)",
        "LAG(m.x, m.y) OVER (ORDER BY m.id)",
        "SUM(m.x) OVER (PARTITION BY SOUNDEX(m.k))",
        "COLLECT_LIST(m.x) OVER (PARTITION BY m.k)",
    ],
)
def test_what_only_spark_computes(sql: str) -> None:
    """What cannot be computed here is said by name."""
    with pytest.raises(NeedsSparkError, match="without Spark"):
        computed(call(sql), resolve(table(1, 5)), 5)


def test_a_session_computes_keys_that_have_no_rule_here() -> None:
    """Partitions and orders are found by the values that the session has for these rows."""
    rows, asked = table(1, 40), []

    def compute(
        text: str, columns: Mapping[tuple[str, str], pa.Array], length: int, groups: Array | None
    ) -> pa.Array:
        assert groups is None
        asked.append((text, length))
        return pc.abs(columns["m", "y"])

    ranked = "ROW_NUMBER() OVER (PARTITION BY {} ORDER BY m.id)"
    token = spark_scalar.set(compute)
    try:
        by_session = computed(call(ranked.format("SOUNDEX(m.y)")), resolve(rows), 40)
    finally:
        spark_scalar.reset(token)
    changed = rows.set_column(3, "y", pc.abs(rows["y"]))
    assert by_session.equals(computed(call(ranked.format("m.y")), resolve(changed), 40))
    assert asked == [("SOUNDEX(m.y)", 40)]
