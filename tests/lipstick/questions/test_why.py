"""Explanations: planted causes are found, and each suggestion does what it says."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.capture.capture import Capture
from lipstick.errors import CapabilityError, CaptureError, TrackingError
from semiring.errors import ArgumentError
from tests.oracle.database import Database, Relation
from tests.oracle.duck import connected_duck
from tests.oracle.written import write_capture
from tests.planted.scoreboard import run

_SIZE = 600


def _database() -> Database:
    rng = np.random.default_rng(7)
    zone = np.array(["a", "b", "c"])[np.arange(_SIZE) % 3]
    day = np.arange(_SIZE) // 20
    amount = np.round(rng.uniform(5, 15, _SIZE), 2)
    wrong = (zone == "b") & (day >= 10) & (day <= 14)
    amount[wrong] *= 10
    rides = pa.table(
        {
            "id": np.arange(_SIZE),
            "zone": zone,
            "day": day,
            "driver": np.arange(_SIZE) % 7,
            "note": pa.array(["late" if w else None for w in rng.random(_SIZE) < 0.3]),
            "amount": amount,
        }
    )
    schema = "id bigint, zone string, day bigint, driver bigint, note string, amount double"
    drivers = pa.table({"driver": np.arange(6), "team": ["x", "y"] * 3})
    return Database(
        {
            "rides": Relation("rides", ("id",), schema, rides),
            "drivers": Relation("drivers", ("driver",), "driver bigint, team string", drivers),
        }
    )


def _ask(sql: str, folder: Path, *args: Any, **kwargs: Any) -> Any:
    database = _database()
    capture = write_capture(sql, database, folder / "capture")
    read = capture.manifest.relations
    tables = {n: r.data for n, r in database.relations.items() if n in read}
    return capture.why(*args, sources=tables, **kwargs)


def test_most_planted_errors_are_found_and_every_suggestion_does_what_it_says() -> None:
    outcomes = [run(seed, 3_000) for seed in (0, 7, 26, 37)]
    assert sum(outcome.found > 0 for outcome in outcomes) >= 3
    assert sum(outcome.baseline for outcome in outcomes) <= 3


@pytest.mark.parametrize("sql", ["SELECT * FROM t WHERE v > 90", "SELECT max(v) AS v FROM t"])
def test_a_sample_decides_what_is_looked_at_and_no_number(
    sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lipstick.questions.why.pipeline._SAMPLE", 700)
    # A sum, a check by rows and a condition, held against an independent engine.
    assert sum(run(seed, 3_000).found > 0 for seed in (6, 24, 42)) >= 2
    rng = np.random.default_rng(5)
    value, kind = rng.random(3_000) * 80, rng.integers(0, 9, 3_000)
    value[(kind == 4) & (rng.random(3_000) < 0.2)] = 95
    rows = pa.table({"id": np.arange(3_000), "kind": kind, "v": value})
    relation = Relation("t", ("id",), "id bigint, kind bigint, v double", rows)
    capture = write_capture(sql, Database({"t": relation}), tmp_path / "c")
    lines: list[str] = []
    args = ("v",) if "max" in sql else ()
    said = capture.why(*args, sources={"t": rows}, progress=lines.append)
    assert "of 3,000 rows are looked at" in lines[0]
    (first, *_) = said.causes
    assert (first.text, first.rows) == ("kind = 4", int((kind == 4).sum()))
    answer = first.what_if().df
    after = answer.column("v")[0].as_py() if args else answer.num_rows
    assert after == pytest.approx(first.after)


def test_a_value_is_explained_by_the_rows_that_raise_it(tmp_path: Path) -> None:
    said = _ask("SELECT avg(amount) AS v FROM rides", tmp_path, "v", too="high")
    first = said.causes[0]
    assert set(first.text.split(" and ")) == {"day from 10 to 14", "zone = 'b'"}
    assert first.rows == 33
    assert first.what_if().df.column("v")[0].as_py() == pytest.approx(first.after)
    assert first.sentence.startswith("Without the 33 rows of rides where")
    assert said.complete
    page = said._repr_html_()
    assert f"<td>33</td><td><b>{first.after:,.6g}</b></td>" in page
    assert "zone = &#x27;b&#x27;" in page
    assert "<td>" + "\u2588" * 16 + "</td>" in page
    assert said.table.column("sql")[0].as_py() == first.sql


def test_a_value_is_explained_by_one_day(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    hours, device = rng.permutation(60 * 24 * 4) // 4, rng.integers(0, 9, 60 * 24 * 4)
    at = np.datetime64("2024-01-10T00:00", "us") + hours.astype("timedelta64[h]")
    value = rng.normal(20, 2, len(at))
    value[at.astype("datetime64[D]") == np.datetime64("2024-02-07")] += 300
    rows = pa.table({"id": np.arange(len(at)), "device": device, "at": at, "v": value})
    relation = Relation("t", ("id",), "id bigint, device bigint, at timestamp_ntz, v double", rows)
    capture = write_capture("SELECT avg(v) AS v FROM t", Database({"t": relation}), tmp_path / "c")
    first = capture.why("v", too="high", sources={"t": rows}).causes[0]
    assert (first.text, first.rows) == ("date(at) = 2024-02-07", 96)
    assert first.sql == "CAST(`at` AS DATE) = CAST('2024-02-07' AS DATE)"
    assert first.what_if().df.column("v")[0].as_py() == pytest.approx(first.after)


def test_the_tuples_that_move_a_value_most_come_first(tmp_path: Path) -> None:
    said = _ask("SELECT avg(amount) AS v FROM rides", tmp_path, "v", too="high")
    top = said.top(5)
    largest = sorted(_database().relations["rides"].data.column("amount").to_pylist())[::-1]
    assert top.column("amount").to_pylist() == largest[:5]
    assert all(effect < 0 for effect in top.column("_effect").to_pylist())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM rides WHERE amount > 20",
        "SELECT zone, day, count(*) AS n FROM rides GROUP BY zone, day HAVING avg(amount) > 20",
        "SELECT zone, day, max(amount) AS m FROM rides GROUP BY zone, day HAVING max(amount) > 20",
        "SELECT r.id FROM rides r JOIN drivers d ON r.driver = d.driver WHERE amount > 20",
    ],
)
def test_a_check_is_explained_by_the_rows_that_fail_it(sql: str, tmp_path: Path) -> None:
    said = _ask(sql, tmp_path)
    first = said.causes[0]
    assert {"zone = 'b'", "day from 10 to 14"} <= set(first.text.split(" and ")), first.text
    assert first.after == 0
    assert first.what_if().df.num_rows == 0
    quarantined = said.quarantine("rides")
    assert set(quarantined.column("zone").to_pylist()) == {"b"}
    assert set(quarantined.column("day").to_pylist()) == {10, 11, 12, 13, 14}
    assert all(first.text in reasons for reasons in quarantined.column("_reasons").to_pylist())


@pytest.mark.parametrize(
    ("sql", "ask"),
    [
        ("SELECT * FROM o WHERE v < 0", {}),
        ("SELECT count(*) AS n FROM o WHERE v < 0", {"column": "n", "than": 0, "too": "high"}),
        ("SELECT count(*) = 0 AS ok FROM o WHERE v < 0", {}),
        ("SELECT count_if(v < 0) AS n FROM o", {"column": "n", "than": 0, "too": "high"}),
    ],
)
@pytest.mark.parametrize("strays", [0, 5])
def test_failures_are_explained_beside_the_rows_that_do_not_fail(
    sql: str, ask: dict[str, Any], strays: int, tmp_path: Path
) -> None:
    """All failures are of one country and one day: each alone has mostly rows that do not fail."""
    rng = np.random.default_rng(5)
    size = 60_000
    country = rng.choice(["BR", "DE", "IN", "US", "ZA"], size)
    day = rng.integers(0, 60, size)
    wrong = (country == "BR") & (day == 31)
    stray = np.isin(np.arange(size), rng.choice(size, strays, replace=False))
    v = np.where(wrong | stray, -1.0, rng.gamma(3.0, 20.0, size))
    code = rng.integers(0, 9, size)
    table = pa.table({"id": np.arange(size), "country": country, "day": day, "code": code, "v": v})
    schema = "id bigint, country string, day bigint, code bigint, v double"
    database = Database({"o": Relation("o", ("id",), schema, table)})
    said = write_capture(sql, database, tmp_path / "c").why(**ask, sources={"o": table}, limit=3)
    (cause,) = said.causes
    assert cause.text in ("country = 'BR' and day = 31", "day = 31 and country = 'BR'"), said
    failing = int((wrong | stray).sum())
    assert (cause.rows, cause.before) == (wrong.sum(), failing)
    assert cause.after == int((stray & ~wrong).sum())


def test_failures_that_have_nothing_in_common_are_not_explained(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    v = np.where(rng.random(20_000) < 0.01, -1.0, 1.0)
    columns = {f"c{i}": rng.integers(0, 5 << i, 20_000) for i in range(6)}
    table = pa.table({"id": np.arange(20_000), **columns, "v": v})
    schema = ", ".join(f"{name} bigint" for name in table.column_names[:-1]) + ", v double"
    database = Database({"o": Relation("o", ("id",), schema, table)})
    capture = write_capture("SELECT count(*) AS n FROM o WHERE v < 0", database, tmp_path / "c")
    said = capture.why("n", than=0, too="high", sources={"o": table})
    assert not said.causes, said


def test_rows_without_a_partner_are_those_that_are_not_in_the_other_relation(
    tmp_path: Path,
) -> None:
    sql = (
        "SELECT r.id FROM rides r LEFT JOIN drivers d ON r.driver = d.driver WHERE d.driver IS NULL"
    )
    said = _ask(sql, tmp_path)
    assert {cause.text for cause in said.causes} & {"driver = 6", "driver is not in drivers"}
    assert said.causes[0].after == 0


def test_what_makes_a_condition_true_comes_first_and_parts_do_so_together(tmp_path: Path) -> None:
    # Both zone b of some days and driver 0 are wrong; a bound that one of them, or both, reach.
    rides = _database().relations["rides"].data
    amount = rides.column("amount").to_numpy() + 40 * (rides.column("driver").to_numpy() == 0)
    rides = rides.set_column(5, "amount", pa.array(amount))
    relation = Relation("rides", ("id",), _database().relations["rides"].schema, rides)
    database = Database({"rides": relation})
    for bound, enough in ((17.0, 1), (11.0, 2)):
        sql = f"SELECT avg(amount) <= {bound} AS ok FROM rides"
        capture = write_capture(sql, database, tmp_path / f"{bound}")
        said = capture.why(sources={"rides": rides}, limit=3)
        texts = [cause.text for cause in said.causes]
        assert {frozenset(text.split(" and ")) for text in texts[:2]} == {
            frozenset(["zone = 'b'", "day from 10 to 14"]),
            frozenset(["driver = 0"]),
        }
        holds = [cause.after == 0 for cause in said.causes]
        assert holds == sorted(holds, reverse=True)
        assert (said.causes[0].after == 0) == (enough == 1)
        assert said.together[:1] == ((0.0,) if enough == 2 else ())
        line = "Without the rows of 1 and 2 together, nothing would be wrong any more."
        assert (line in str(said)) == (enough == 2)


def test_values_of_a_wrong_unit_are_corrected(tmp_path: Path) -> None:
    said = _ask("SELECT avg(amount) <= 11 AS ok FROM rides", tmp_path)
    first, *others = said.corrections()
    assert first.cause is said.causes[0]
    assert (first.column, first.change) == ("amount", "amount / 10")
    assert first.reached
    assert first.after == 0
    assert first.what_if().df.column("ok").to_pylist() == [True]
    number = first.values.num_rows
    assert first.sentence.startswith(f"With amount / 10 as amount in the {number} rows of rides")
    assert first.sentence.endswith("ok would be true.")
    for each in others:
        assert each.what_if().df.column("ok").to_pylist() == [each.reached]
    failing = _ask("SELECT id FROM rides WHERE amount > 20", tmp_path / "2")
    with pytest.raises(CapabilityError, match="decide which rows are there need Spark"):
        failing.corrections()


def test_a_capture_beyond_memory_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lipstick.questions.why.pipeline.free_memory", lambda: 120_000)
    with pytest.raises(CapabilityError, match=r"601 captured rows.*q\.filter.*cluster=True"):
        _ask("SELECT avg(amount) AS v FROM rides", tmp_path, "v")
    monkeypatch.setattr("lipstick.questions.why.pipeline.free_memory", lambda: 130_000)
    assert _ask("SELECT avg(amount) AS v FROM rides", tmp_path / "2", "v").causes


def _sales() -> pa.Table:
    """Sales of nine shops in three regions; some of shop 4's have the wrong one."""
    shop = np.arange(900) % 9
    region = np.array(["north", "south", "west"])[shop % 3]
    region[(shop == 4) & (np.arange(900) > 500)] = "north"
    return pa.table({"id": np.arange(900), "shop": shop, "region": region, "amount": shop + 10})


def _answered(sql: str, sales: pa.Table) -> pa.Table:
    with connected_duck() as connection:
        connection.register("sales", sales)
        answer: pa.Table = connection.execute(sql).fetch_arrow_table()
        return answer


@pytest.mark.parametrize(
    ("sql", "ask", "usual"),
    [
        (
            "SELECT region, sum(amount) AS v FROM sales GROUP BY region",
            {"column": "v", "where": {"region": "north"}, "than": 3900.0},
            "'south'",
        ),
        (
            "SELECT sum(amount) = 3900 AS v FROM sales WHERE region = 'north'",
            {"column": "v"},
            "'south'",
        ),
        # A range of ids has no meaning: the cause is a shop, whose other rows say what is usual.
        ("SELECT id FROM sales WHERE region = 'north' AND shop % 3 > 0", {}, "'south'"),
    ],
)
def test_a_wrong_value_that_decides_is_corrected(
    sql: str, ask: Any, usual: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sales = _sales()
    schema = "id bigint, shop bigint, region string, amount bigint"
    database = Database({"sales": Relation("sales", ("id",), schema, sales)})

    def rerun(_: Capture, update: dict[str, pa.Table]) -> Any:
        new = update["sales"]
        name = new.column_names[-1]
        values = dict(zip(*(new.column(n).to_pylist() for n in ("id", name)), strict=True))
        rows = [row | {name: values.get(row["id"], row[name])} for row in sales.to_pylist()]
        return SimpleNamespace(df=_answered(sql, pa.Table.from_pylist(rows, sales.schema)))

    monkeypatch.setattr(Capture, "what_if_updated", rerun)
    capture = write_capture(sql, database, tmp_path / "capture")
    said = capture.why(**ask, sources={"sales": sales})
    (first,) = [each for each in said.corrections() if each.column == "region"][:1]
    assert (first.change, first.values.num_rows, first.reached) == (usual, 44, True)
    told = f"With {usual} as region in 44 of the 100 rows of sales where "
    assert first.sentence.startswith(told)
    assert said._asked.measure.of_answer(first.what_if().df) == first.after


def test_the_difference_of_two_values_is_explained(tmp_path: Path) -> None:
    sql = "SELECT zone, avg(amount) AS v FROM rides GROUP BY zone"
    said = _ask(sql, tmp_path, "v", {"zone": "b"}, than={"zone": "a"})
    assert said.causes[0].text == "day from 10 to 14"
    assert abs(said.causes[0].after) < abs(said.before)
    near = _ask(sql, tmp_path / "2", "v", {"zone": "b"}, than=10.0)
    assert near.causes[0].text == "day from 10 to 14"


@pytest.mark.parametrize(
    ("sql", "ask"),
    [
        ("SELECT count(DISTINCT driver) AS v FROM rides", {"than": 6}),
        ("SELECT percentile(amount, 0.99) AS v FROM rides", {"too": "high"}),
        ("SELECT max(amount) AS v FROM rides", {"too": "high"}),
        ("SELECT sum(amount) / count(*) AS v FROM rides", {"too": "high"}),
        ("SELECT max(a) AS v FROM (SELECT zone, avg(amount) AS a FROM rides GROUP BY zone)", {}),
        ("SELECT avg(amount) < 12 AS v FROM rides", {}),
        ("SELECT avg(amount) < 12 AND count(*) > 0 AS v FROM rides", {}),
    ],
)
def test_effects_are_those_of_what_ifs(sql: str, ask: dict[str, Any], tmp_path: Path) -> None:
    said = _ask(sql, tmp_path, "v", **ask)
    assert said.causes
    for cause in said.causes:
        value = cause.what_if().df.column("v")[0].as_py()
        if isinstance(value, bool):
            assert value == (cause.after == 0)
        else:
            assert value == pytest.approx(cause.after)


def test_chance_explains_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = pa.table(
        {
            "id": np.arange(4000),
            "a": rng.integers(0, 9, 4000),
            "b": rng.normal(size=4000),
            "v": rng.random(4000),
        }
    )
    relation = Relation("t", ("id",), "id bigint, a bigint, b double, v double", rows)
    capture = write_capture(
        "SELECT * FROM t WHERE v < 0.5", Database({"t": relation}), tmp_path / "c"
    )
    said = capture.why(sources={"t": rows})
    assert all(cause.before - cause.after >= said.before / 100 for cause in said.causes)


@pytest.mark.parametrize("tail", ["", "HAVING sum(v) > 5", "ORDER BY total DESC LIMIT 3"])
def test_what_makes_a_row_this_one_explains_nothing_of_its_value(tail: str, tmp_path: Path) -> None:
    """The column that a key is joined to says which row it is, below LIMIT and HAVING too."""
    rng = np.random.default_rng(4)
    shops = pa.table(
        {"id": np.arange(600), "region": np.arange(600) % 6, "size": rng.integers(1, 9, 600)}
    )
    regions = pa.table({"region": np.arange(6), "name": list("abcdef")})
    sales = pa.table(
        {
            "n": np.arange(3000),
            "id": rng.integers(0, 600, 3000),
            "v": np.round(rng.gamma(2, 5, 3000), 2),
        }
    )
    database = Database(
        {
            "shops": Relation("shops", ("id",), "id bigint, region bigint, size bigint", shops),
            "regions": Relation("regions", ("region",), "region bigint, name string", regions),
            "sales": Relation("sales", ("n",), "n bigint, id bigint, v double", sales),
        }
    )
    sql = (
        "SELECT name, sum(v) AS total FROM sales s JOIN shops p ON s.id = p.id "
        f"JOIN regions r ON p.region = r.region GROUP BY name {tail}"
    )
    capture = write_capture(sql, database, tmp_path / "capture")
    tables = {name: each.data for name, each in database.relations.items()}
    first = capture.df.to_pylist()[0]["name"]
    explained = capture.why("total", {"name": first}, sources=tables)
    assert not [cause.text for cause in explained.causes if cause.relation != "regions"]


def test_percentiles_have_neither_shares_nor_smallest_sets(tmp_path: Path) -> None:
    said = _ask("SELECT median(amount) AS v FROM rides", tmp_path, "v", than=9.0, too="high")
    assert said.top(3, "rides").column("_shapley").null_count == 3
    with pytest.raises(CapabilityError, match="smallest sets are not found for a percentile"):
        said.repairs(relation="rides")


def test_a_spent_budget_is_said(tmp_path: Path) -> None:
    said = _ask("SELECT avg(amount) AS v FROM rides", tmp_path, "v", too="high", budget=0.0)
    assert not said.complete
    assert "The budget was spent" in str(said)
    assert "left out alone" not in str(said)  # single rows were not tried either


def test_a_number_of_no_rows_has_none_to_list(tmp_path: Path) -> None:
    said = _ask("SELECT count(*) AS n FROM rides WHERE amount < -9999", tmp_path, "n")
    assert "No row that is left out alone changes it." in str(said)
    assert "top() lists" not in str(said)


def test_without_sources_conditions_are_on_keys(tmp_path: Path) -> None:
    capture = write_capture("SELECT avg(amount) AS v FROM rides", _database(), tmp_path / "c")
    said = capture.why("v", too="high")
    assert all(cause.text.startswith("id ") for cause in said.causes)
    assert "were not read" in str(said)


def _capture(folder: Path) -> Capture:
    sql = "SELECT zone, max(note) AS note, avg(amount) AS v FROM rides GROUP BY zone"
    return write_capture(sql, _database(), folder / "capture")


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "message"),
    [
        (("w",), {}, CaptureError, "no column 'w'"),
        (("v",), {}, CaptureError, "The answer has 3 rows"),
        (("note", {"zone": "a"}), {}, CaptureError, "numbers, moments and truth values"),
        (("v", {"zone": "z"}), {}, CaptureError, "0 rows with zone = 'z'"),
        (("v", {"v": "x"}), {}, CaptureError, "is compared with 'x'"),
        ((None, {"zone": "z"}), {}, CaptureError, "there is nothing to explain"),
        ((), {"too": "high"}, ArgumentError, "name its column"),
        (("v", {"zone": "a"}), {"limit": 0}, ArgumentError, "1 or more"),
        (("v", {"zone": "a"}), {"sources": {"x": pa.table({})}}, TrackingError, "no relation 'x'"),
        (
            ("v", {"zone": "a"}),
            {"sources": {"rides": pa.table({"zone": ["a"]})}},
            TrackingError,
            "no column 'id'",
        ),
        (("v", {"zone": "a"}), {"columns": {"rides": ["x"]}}, TrackingError, "no column 'x'"),
        (("v", {"zone": "a"}), {"columns": {"x": ["x"]}}, TrackingError, "no relation 'x'"),
    ],
)
def test_questions_that_cannot_be_asked(
    args: Any, kwargs: Any, error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        _capture(tmp_path).why(*args, **kwargs)


@pytest.mark.engines("memory")
def test_conditions_mean_in_spark_what_they_mean_here(
    ls: lipstick.Session, spark: SparkSession, tmp_path: Path
) -> None:
    size = 120
    zone = dt.UTC
    instants = [dt.datetime(2024, 3, 1, tzinfo=zone) + dt.timedelta(hours=i) for i in range(size)]
    rows = pa.table(
        {
            "id": pa.array(range(size), pa.int64()),
            "text": ["it's", "back\\slash", 'q"', None] * (size // 4),
            "price": pa.array([Decimal(i) / 4 for i in range(size)], pa.decimal128(10, 2)),
            "ratio": pa.array([i / 7 for i in range(size - 1)] + [float("nan")]),
            "single": pa.array([i / 3 for i in range(size)], pa.float32()),
            "day": pa.array([dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(size)]),
            "at": pa.array(instants, pa.timestamp("us", "UTC")),
            "local": pa.array([i.replace(tzinfo=None) for i in instants], pa.timestamp("us")),
            "flag": [i % 5 == 0 for i in range(size)],
            "v": pa.array([1000 if i > 100 else i for i in range(size)], pa.int64()),
        }
    )
    ls.track("t", spark.createDataFrame(rows), key="id")
    q = ls.sql("SELECT sum(v) AS v FROM t")
    causes = [
        cause
        for column in rows.column_names[:-1]
        for cause in q.why("v", columns={"t": [column]}, limit=2).causes
    ]
    view = spark.table(q.plan.relations["t"].view)
    chosen = [f"collect_list(CASE WHEN {c.sql} THEN id END)" for c in causes]
    for cause, keys in zip(causes, view.selectExpr(*chosen).head() or (), strict=True):
        assert sorted(keys) == sorted(cause.keys.column("id").to_pylist()), cause.sql
    assert cause.what_if().df.collect()[0]["v"] == cause.after


@pytest.mark.engines("memory")
def test_a_session_aggregates_groups_that_lose_all_their_rows(
    ls: lipstick.Session, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    """Aggregates without a rule here are Spark's in each scenario, bounded in rows."""
    rows = pa.table({"id": range(12), "kind": ["a", "b"] * 6, "w": [1, 2, 3] * 4})
    ls.track("t", spark.createDataFrame(rows), key="id")
    q = ls.sql("SELECT approx_count_distinct(w) AS v, corr(id, w) AS r FROM t WHERE kind = 'a'")
    top = q.top("v", 20).to_pylist()
    assert [row["_after"] for row in top] == [3] * len(top)
    assert q.why("v", than=0, columns={"t": ["w"]}).before == 3
    scenarios = q.contributions("v", by="kind").to_pylist()
    assert [(row["kind"], row["_after"]) for row in scenarios] == [("a", 0)]
    monkeypatch.setattr("lipstick.engines.memory.aggregates._BY_SPARK", 5)
    with pytest.raises(CapabilityError, match=r"Spark alone computes .* scenarios"):
        q.why("r")


@pytest.mark.engines("memory")
@pytest.mark.parametrize(
    ("sql", "where"),
    [
        ("SELECT to_date(at) AS day, sum(price) AS v FROM {} GROUP BY 1", {"day": "2024-03-02"}),
        (
            "SELECT date_trunc('day', at) AS d, max(price) AS v FROM {} GROUP BY 1",
            {"d": "2024-03-02"},
        ),
        ("SELECT round(exp(avg(ln(price))), 6) AS v FROM {}", {}),
        ("SELECT round(log10(sum(price)), 9) AS v FROM {}", {}),
        ("SELECT percentile_approx(price, 0.951) AS v FROM {}", {}),
        (
            "SELECT sum(price) AS v FROM (SELECT *, lag(at) OVER (ORDER BY at) AS last FROM {}) "
            "WHERE last IS NULL OR unix_timestamp(at) - unix_timestamp(last) > 1000",
            {},
        ),
    ],
)
def test_a_session_computes_what_has_no_rule_here(
    sql: str, where: dict[str, Any], ls: lipstick.Session, spark: SparkSession
) -> None:
    """Time zones and functions that Spark alone has are no reason to refuse in a session."""
    size = 200
    start = dt.datetime(2024, 3, 1, tzinfo=dt.UTC)
    rows = pa.table(
        {
            "id": pa.array(range(size), pa.int64()),
            "kind": pa.array(["bar", "car", "beer", "dog"] * (size // 4)),
            "at": pa.array(
                [start + dt.timedelta(minutes=20 * i) for i in range(size)],
                pa.timestamp("us", "UTC"),
            ),
            "price": [900.0 + i if 80 <= i < 90 else float(1 + i % 7) for i in range(size)],
        }
    )
    zone = str(spark.conf.get("spark.sql.session.timeZone"))
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        ls.track("t", spark.createDataFrame(rows), key="id")
        q = ls.sql(sql.format("t"))
        explained = q.why("v", where, too="high", budget=None)
        assert explained.causes
        for cause in explained.causes:
            kept = spark.table(q.plan.relations["t"].view).where(
                f"NOT coalesce({cause.sql}, false)"
            )
            kept.createOrReplaceTempView("kept")
            answer = spark.sql(sql.format("kept"))
            for name, value in where.items():
                answer = answer.where(f"{name} = '{value}'")
            (found,) = answer.select("v").collect()
            assert cause.after == pytest.approx(found["v"])
        (best,) = q.top("v", 1, where).to_pylist()
        assert best["price"] > 900
        assert explained.top(1).to_pylist()[0]["id"] == best["id"]
        assert explained.quarantine().num_rows >= explained.causes[0].rows
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


def test_a_count_of_no_rows_is_asked(tmp_path: Path) -> None:
    sql = "SELECT count(DISTINCT zone) AS n, count(*) AS m FROM rides WHERE zone = 'd'"
    for column in "nm":
        explained = _ask(sql, tmp_path / column, column, than=1)
        assert explained.causes == ()
        assert "why_not() explains one that is not there" in str(explained)


def test_an_extreme_is_explained_by_the_few_rows_that_decide_it(tmp_path: Path) -> None:
    """Three values a thousand times too large, in rows that have nothing else in common."""
    rng = np.random.default_rng(3)
    value, kind = np.round(rng.random(3_000) * 80, 2), rng.integers(0, 9, 3_000)
    wrong = np.array([17, 1_204, 2_718])
    value[wrong] = [40_000, 50_000, 60_000]
    rows = pa.table({"id": np.arange(3_000), "kind": kind, "v": value})
    relation = Relation("t", ("id",), "id bigint, kind bigint, v double", rows)
    sql = "SELECT max(v) AS m, sum(v) AS s, count(*) AS n FROM t"
    capture = write_capture(sql, Database({"t": relation}), tmp_path / "c")
    said = capture.why("m", than=80, sources={"t": rows})
    (first, *_) = said.causes
    assert first.text.startswith("v >= ")
    assert first.rows in (3, 4)
    assert first.after == np.sort(value)[-1 - first.rows]
    assert first.after == first.what_if().df.column("m")[0].as_py()
    total = capture.why("s", too="high", sources={"t": rows})
    assert not any("v >=" in each.text for each in total.causes)
