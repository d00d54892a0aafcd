"""Many scenarios at once, without Spark: over captures that DuckDB computed."""

from __future__ import annotations

import os
import random
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

import lipstick
from lipstick.capture.capture import Capture
from lipstick.engines.memory.reach import members_of
from lipstick.errors import CaptureError, NeedsSparkError, TrackingError
from tests.oracle.database import Database, Relation
from tests.oracle.deletion import deletion_sets
from tests.oracle.generator import generate
from tests.oracle.many import check_many
from tests.oracle.written import write_capture

GENERATED = int(os.environ.get("LIPSTICK_GENERATED", "8"))
"""Generated queries; with more of them the test looks further."""

CARS = Relation(
    "cars",
    ("car",),
    "car string, model string, price int, weight double",
    pa.table(
        {
            "car": ["C1", "C2", "C3", "C4", "C5"],
            "model": ["Accord", "Civic", "Civic", "Jazz", None],
            "price": pa.array([24, 20, 22, None, 20], pa.int32()),
            "weight": [1.5, float("nan"), 1.25, -0.0, None],
        }
    ),
)
BIDS = Relation(
    "bids",
    ("bid", "round"),
    "bid int, round int, wanted string",
    pa.table(
        {
            "bid": pa.array([1, 1, 2, 3], pa.int32()),
            "round": pa.array([1, 2, 1, 1], pa.int32()),
            "wanted": ["Civic", "Accord", "Civic", None],
        }
    ),
)
DATABASE = Database({"cars": CARS, "bids": BIDS})

QUERIES = {
    "aggregates": """SELECT model, count(*) n, sum(price) s, min(price) lo, max(weight) hi,
        sum(weight) w, count(DISTINCT price) d FROM cars GROUP BY model""",
    "no keys": "SELECT count(*) n, sum(price) s, max(price) hi, sum(weight) w FROM cars",
    "join": """SELECT model, count(*) n, sum(price * round) s FROM cars JOIN bids ON model = wanted
        GROUP BY model""",
    "having": "SELECT price, count(*) n FROM cars GROUP BY price HAVING count(*) < 2",
    "limit": """SELECT model, sum(price) s FROM cars GROUP BY model ORDER BY s DESC, model
        LIMIT 2 OFFSET 1""",
    "rows": "SELECT car, price + 1 p FROM cars WHERE price > 19 ORDER BY price DESC, car",
    "limited rows": "SELECT car FROM cars ORDER BY price DESC, car LIMIT 2",
    "equal rows": "SELECT wanted FROM bids",
    "select list": """SELECT model, sum(price) + count(*) t, sum(price) > 30 b FROM cars
        GROUP BY model""",
    "of groups": """SELECT n, count(*) c FROM (SELECT model, count(*) n FROM cars GROUP BY model)
        GROUP BY n""",
    "absence": "SELECT car FROM cars WHERE NOT EXISTS (SELECT 1 FROM bids WHERE wanted = model)",
    "outer": "SELECT car, bid FROM cars LEFT JOIN bids ON model = wanted AND round = 1",
    "union": "SELECT model FROM cars UNION SELECT wanted FROM bids",
    "copies": "SELECT price, model FROM cars EXCEPT ALL SELECT 20, wanted FROM bids",
    "common copies": """SELECT wanted w FROM bids INTERSECT ALL SELECT model FROM cars
        ORDER BY w DESC""",
    "united copies": """(SELECT model FROM cars EXCEPT ALL SELECT wanted FROM bids WHERE round > 1)
        UNION ALL SELECT wanted FROM bids""",
    "windows": """SELECT car, rank() OVER (ORDER BY price) r, sum(price) OVER (PARTITION BY model) s
        FROM cars""",
    "windows, limited": """SELECT car, row_number() OVER (ORDER BY price DESC, car) n FROM cars
        ORDER BY n LIMIT 2""",
    "windows of groups": """SELECT model, sum(count(*)) OVER (ORDER BY model) n FROM cars
        GROUP BY model""",
    "grouping sets": "SELECT model, price, count(*) n FROM cars GROUP BY ROLLUP (model, price)",
    "nothing": "SELECT model, sum(price) s FROM cars WHERE price > 100 GROUP BY model",
}
ALONE = ("aggregates", "no keys", "join", "having", "limit", "rows", "limited rows", "equal rows")


@pytest.fixture(scope="module", params=QUERIES)
def capture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Capture:
    directory = tmp_path_factory.mktemp("capture") / "c"
    written_capture = write_capture(QUERIES[request.param], DATABASE, directory)
    if request.param in ALONE:
        engine = written_capture.memory._engine
        members = members_of(engine.rows(engine.root.name))
        assert members is not None
        assert members.alone, "computed together"
    return written_capture


@pytest.fixture(scope="module")
def sums(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    """A capture of one of the queries."""
    return write_capture(QUERIES["join"], DATABASE, tmp_path_factory.mktemp("capture") / "c")


def _tokens(relation: Relation, chosen: set[int]) -> pa.Table:
    return relation.data.select(list(relation.key)).take(pa.array(sorted(chosen), pa.int64()))


deletions = st.fixed_dictionaries(
    {
        "cars": st.sets(st.integers(0, 4)).map(lambda chosen: _tokens(CARS, chosen)),
        "bids": st.sets(st.integers(0, 3)).map(lambda chosen: _tokens(BIDS, chosen)),
    }
)


@settings(max_examples=15)
@given(st.lists(deletions, max_size=6))
def test_many_scenarios_are_each_of_them(
    capture: Capture, given: list[dict[str, pa.Table]]
) -> None:
    read = {name for name, record in capture.manifest.relations.items() if record.token}
    check_many(
        capture.memory,
        [{name: tokens for name, tokens in scenario.items() if name in read} for scenario in given],
    )


def test_generated_queries(tmp_path: Path) -> None:
    """Many blocks, and what cannot be answered in memory is the same error."""
    answered = changed = 0
    for seed in range(1_000_000, 1_000_000 + GENERATED):
        case = generate(seed)
        try:
            written_capture = write_capture(case.sql, case.database, tmp_path / str(seed))
        except (duckdb.Error, sqlglot.errors.SqlglotError):
            continue
        if written_capture.manifest.root.copies:
            continue
        chosen = deletion_sets(random.Random(seed), case.database, {}, count=6)
        tokens = [
            {
                name: _tokens(relation, {relation.row_keys().index(key) for key in keys})
                for name, keys in deletion.keys.items()
                for relation in [case.database.relations[name]]
                if name in written_capture.manifest.relations
            }
            for deletion in chosen
        ]
        try:
            changed += check_many(written_capture.memory, tokens)
            answered += len(tokens)
        except NeedsSparkError:
            with pytest.raises(NeedsSparkError):
                _ask_each(written_capture, tokens)
    assert answered > 2 * GENERATED
    assert changed > answered / 4


def _ask_each(capture: Capture, given: list[dict[str, pa.Table]]) -> None:
    for scenario in given:
        capture.memory.what_if(scenario)


def test_large_groups_of_floats_are_added_up_as_alone(tmp_path: Path) -> None:
    """By chunks, in the scenarios that touch many members, and only in those."""
    count = 70_000
    data = pa.table(
        {
            "id": pa.array(range(count), pa.int32()),
            "k": ["big"] * (count - 9) + ["small"] * 9,
            "x": [0.1 * (i % 97) for i in range(count)],
        }
    )
    relation = Relation("r", ("id",), "id int, k string, x double", data)
    sql = "SELECT k, sum(x) s, avg(x) a FROM r GROUP BY k"
    written_capture = write_capture(sql, Database({"r": relation}), tmp_path / "c")
    chosen = [{0, 5, 40_000}, {69_999}, {7, 69_998}, set(range(69_991, 70_000))]
    assert (
        check_many(written_capture.memory, [{"r": _tokens(relation, keys)} for keys in chosen]) == 4
    )


# -- how scenarios are given ---------------------------------------------------------------


def test_listed_and_named(sums: Capture) -> None:
    listed = sums.what_if_many([{"cars": ["C2"]}, {}, {"bids": [(1, 1), (2, 1)]}])
    assert listed.changes.to_pylist() == [
        {"scenario": 0, "model": "Civic", "n": 2, "s": 44, "_change": "changed"},
        {"scenario": 2, "model": "Civic", "n": 4, "s": 84, "_change": "deleted"},
    ]
    assert len(listed) == 3
    assert listed.df.num_rows == 6 - 1
    named = sums.what_if_many({"without C2": {"cars": ["C2"]}})
    assert named.changes.column("scenario").to_pylist() == ["without C2"]
    assert named.scenarios.to_pylist() == ["without C2"]


def test_tabulated(sums: Capture) -> None:
    cars = pa.table({"car": ["C2", "C1", "C3"], "scenario": ["a", "b", "a"]})
    bids = pa.table({"bid": [1], "round": [2], "scenario": ["c"]})
    many = sums.what_if_many({"cars": cars, "bids": bids})
    shown = many.changes.select(["scenario", "model", "_change"]).to_pylist()
    assert [tuple(row.values()) for row in shown] == [
        ("a", "Civic", "deleted"),
        ("b", "Accord", "deleted"),
        ("c", "Accord", "deleted"),
    ]


def test_each_tuple_and_each_group(sums: Capture) -> None:
    cars = sums.what_if_many(lipstick.each("cars"))
    assert sorted(cars.scenarios.to_pylist()) == ["C1", "C2", "C3"], "those that took part"
    assert cars.changes.num_rows == 3
    bids = sums.what_if_many(lipstick.each("bids"))
    assert {"bid": 1, "round": 2} in bids.scenarios.to_pylist()
    rounds = sums.what_if_many(lipstick.each("BIDS", by="round"))
    assert rounds.changes.select(["scenario", "model"]).to_pylist() == [
        {"scenario": 1, "model": "Civic"},
        {"scenario": 2, "model": "Accord"},
    ]


REFUSED = [
    (lipstick.each("cars", by="model"), "are not its key"),
    (lipstick.each("houses"), "does not read a tracked relation 'houses'"),
    ([{"cars": "price > 3"}], "needs Spark"),
    ({"cars": pa.table({"car": ["C2"]})}, "no column 'scenario'"),
]


@pytest.mark.parametrize(("given", "text"), REFUSED, ids=[text for _, text in REFUSED])
def test_refused(sums: Capture, given: object, text: str) -> None:
    with pytest.raises(TrackingError, match=text):
        sums.what_if_many(given)  # type: ignore[arg-type]


def test_what_only_spark_computes_is_named(tmp_path: Path) -> None:
    sql = "SELECT model, atan(sum(price)) r FROM cars GROUP BY model"
    written_capture = write_capture(sql, DATABASE, tmp_path / "c")
    assert written_capture.what_if_many([{"cars": ["C4"]}]).changes.num_rows == 1
    with pytest.raises(CaptureError, match="ATAN"):
        written_capture.what_if_many([{"cars": ["C4"]}, {"cars": ["C2"]}])


@pytest.mark.parametrize(
    ("sql", "limit"),
    [
        ("SELECT model, sum(price) s FROM cars GROUP BY model ORDER BY s DESC, model", "LIMIT 2"),
        (
            "SELECT model, sum(price) s FROM cars GROUP BY model ORDER BY s, model",
            "LIMIT 1 OFFSET 1",
        ),
        ("SELECT car, price FROM cars ORDER BY price DESC, car", "LIMIT 3 OFFSET 1"),
    ],
)
def test_rows_that_limit_cuts_have_their_new_place(sql: str, limit: str, tmp_path: Path) -> None:
    """A row that the query without LIMIT still has is among them, as it is there."""
    whole = write_capture(sql, DATABASE, tmp_path / "whole")
    limited = write_capture(f"{sql} {limit}", DATABASE, tmp_path / "limited")
    before = limited.memory.answer().to_pylist()
    name = next(iter(before[0]))
    seen = 0
    for number in range(1, 2 ** len(CARS.data)):
        gone = {"cars": [f"C{bit + 1}" for bit in range(len(CARS.data)) if number >> bit & 1]}
        rows = whole.what_if(delete=gone).df.to_pylist()
        found = limited.what_if(delete=gone)
        places = {row[name]: place for place, row in enumerate(rows, 1)}
        kept = [row[name] for row in found.df.to_pylist()]
        left = {
            at: places[row[name]]
            for at, row in enumerate(before)
            if row[name] in places and row[name] not in kept
        }
        assert found.cut is not None
        cut = found.cut.to_pylist()
        assert {row.pop("_row"): row.pop("_place") for row in cut} == left
        assert cut == [rows[place - 1] for place in left.values()]
        seen += len(cut)
    assert seen
