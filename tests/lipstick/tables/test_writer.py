"""`q.write` and its statements: what is tracked, what is kept, what is refused before a write."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import DataFrame, SparkSession

import lipstick
from lipstick.cli import main
from lipstick.cli.table_damage import check_capture
from lipstick.errors import (
    CapabilityError,
    CaptureError,
    CaptureNotHereError,
    SourceChangedError,
    TrackingError,
    UnsupportedError,
)
from lipstick.tracking.tracker import Naming
from tests.oracle.plain import few_rows

pytestmark = [pytest.mark.spark, pytest.mark.classic]

COUNTS = "SELECT Model, count(*) AS n FROM Cars GROUP BY Model"
TABLES = ("counts", "wide", "old", "parts", "again")


@pytest.fixture(autouse=True)
def tables(spark: SparkSession) -> Iterator[None]:
    """No test finds tables of another."""
    with few_rows(spark):
        yield
    for name in TABLES:
        spark.sql(f"DROP TABLE IF EXISTS {name}")


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """The rows of a frame in a fixed order."""
    return sorted((tuple(row) for row in frame.collect()), key=str)


def annotations(q: lipstick.AnnotatedFrame, *, expand: bool = False) -> dict[Any, str]:
    """Annotations as text, by the first column."""
    annotated = q.polynomials(limit=None, expand=expand)
    return {next(iter(row.values())): str(annotation) for row, annotation in annotated}


@pytest.mark.slow
def test_groups_are_named_by_what_they_are_grouped_by(dealer: lipstick.Session) -> None:
    """The statement returns the query, whose capture is kept with the table."""
    q = dealer.sql(f"CREATE TABLE counts USING parquet AS {COUNTS}")
    assert q.query == COUNTS
    assert q.capture.directory.is_relative_to(dealer.store / "derived" / "counts")
    counts = dealer.sql("SELECT Model, n FROM counts")
    assert annotations(counts) == {"Accord": "counts:Accord", "Civic": "counts:Civic"}
    expanded = {"Accord": "δ(Cars:C1)", "Civic": "δ(Cars:C2 + Cars:C3)"}
    assert annotations(counts, expand=True) == expanded
    lineage = counts.lineage("n > 1")
    assert rows(lineage["Cars"]) == [("C2", "Civic", 20), ("C3", "Civic", 22)]
    assert rows(lineage["counts"]) == [("Civic", 2)]


def test_cells_of_a_written_table_come_with_the_cells_behind_them(dealer: lipstick.Session) -> None:
    totals = "SELECT Model, sum(Price) AS total FROM Cars GROUP BY Model"
    dealer.sql(totals).write.saveAsTable("wide")
    found = dealer.sql("SELECT Model, total + 1 AS t FROM wide").where("t", Model="Civic")
    cells = {
        name: sorted(tuple(c.values()) for c in t.to_pylist()) for name, t in found.cells.items()
    }
    assert cells == {
        "wide": [("Civic", "total", "computed")],
        "Cars": [("C2", "Price", "computed"), ("C3", "Price", "computed")],
    }
    assert [(d.relation, d.column) for d in found.deciding] == [("Cars", "Model")]


def test_what_changing_values_decide_is_not_expanded(dealer: lipstick.Session) -> None:
    """The annotation of a row of the table does not say that its count may be another."""
    dealer.sql(f"CREATE TABLE counts USING parquet AS {COUNTS}")
    many = dealer.sql("SELECT Model FROM counts WHERE n > 1")
    with pytest.raises(CapabilityError, match="compares or aggregates values of 'counts'"):
        many.polynomials(expand=True)
    total = dealer.sql("SELECT sum(n) AS s FROM counts GROUP BY Model <> ''")
    assert str(total.polynomials(expand=True)[0][1]).count("Cars:") == 3
    with pytest.raises(CapabilityError, match="compares or aggregates"):
        total.algebra.tensors("s", expand=True)
    w = many.what_if({"Cars": ["C2"]})
    assert (w.method, rows(w.df)) == ("blocks", [])
    rerun = many.what_if({"Cars": ["C2"]}, method="rerun")
    assert (rerun.method, rows(rerun.df)) == ("rerun", [])


@pytest.mark.slow
def test_tensors_are_expanded(dealer: lipstick.Session) -> None:
    """Where their values are those of input rows."""
    dealer.sql("SELECT Model, Price FROM Cars").write.saveAsTable("wide")
    [(_, tensor)] = dealer.sql("SELECT sum(Price) AS s FROM wide").algebra.tensors("s", expand=True)
    assert str(tensor) == "Cars:C2⊗20 + Cars:C3⊗22 + Cars:C1⊗24"


def test_files_are_tracked_in_a_later_session(
    dealer: lipstick.Session, spark: SparkSession, tmp_path: Path
) -> None:
    """With the provenance that is kept beside them; base relations must be tracked as they were."""
    path = tmp_path / "dear.parquet"
    dear = dealer.sql("SELECT CarId, Price FROM Cars WHERE Price > 20").write.key("CarId")
    assert dear.parquet(path).name == "dear"
    cars = dealer.tracked["Cars"].source.frame
    dealer.sql("SELECT CarId FROM dear").save(tmp_path / "capture")
    dealer.close()
    offline = lipstick.open(tmp_path / "capture")
    assert {str(a) for _, a in offline.polynomials(expand=True)} == {"Cars:C1", "Cars:C3"}
    assert sorted(offline.lineage()["Cars"].column("CarId").to_pylist()) == ["C1", "C3"]
    with pytest.raises(CaptureError, match="'Cars' is read through derived relations"):
        offline.what_if({"Cars": ["C1"]})
    with lipstick.session(spark) as later:
        tracked = later.track("dear", path, derived=True)
        assert (tracked.naming, tracked.token) == (Naming.KEY, ("CarId",))
        q = later.sql("SELECT CarId FROM dear")
        assert annotations(q, expand=True) == {"C1": "Cars:C1", "C3": "Cars:C3"}
        with pytest.raises(TrackingError, match=r"'Cars' .* is not tracked in this session"):
            q.what_if({"Cars": "Price > 23"})
        later.track("Cars", cars, key="CarId")
        q = later.sql("SELECT CarId FROM dear")
        assert rows(q.what_if({"Cars": "Price > 23"}).df) == [("C3",)]
        assert rows(q.lineage()["Cars"]) == [("C1", "Accord", 24), ("C3", "Civic", 22)]
        with pytest.raises(TrackingError, match="takes no key"):
            later.track("more", path, derived=True, key="CarId")


def test_captures_travel_with_what_is_upstream(
    dealer: lipstick.Session, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From another working directory, beside the provenance, and as a bundle by themselves."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    dealer.sql(COUNTS).write.parquet(f"file:{home}/tot", name="tot")
    again = dealer.sql("SELECT Model, n FROM tot WHERE n > 0").write.provenance("again")
    again.parquet(f"file:{home}/twice", name="twice")
    q = dealer.sql("SELECT sum(n) AS n FROM twice")
    q.save("capture")
    q.save("bundle", bundle=True)
    dealer.close()
    monkeypatch.chdir(tmp_path)

    def check(path: Path) -> None:
        assert check_capture(path) == []
        keys = lipstick.open(path).lineage()["Cars"].column("CarId").to_pylist()
        assert sorted(keys) == ["C1", "C2", "C3"]
        capture = lipstick.open(path, spark=spark)
        lineage = capture.lineage()
        assert rows(lineage["Cars"]) == [("C1",), ("C2",), ("C3",)]
        assert rows(lineage["tot"]) == [("Accord", 1), ("Civic", 2)]
        assert rows(capture.what_if({"Cars": ["C1", "C2"]}, strict=True).df) == [(1,)]
        with pytest.raises(TrackingError, match="'c1'"):
            capture.what_if({"Cars": ["c1"]}, strict=True)

    check(home / "capture")
    moved = home.rename(tmp_path / "moved")
    check(moved / "capture")
    for name in ("capture", "bundle"):
        (moved / name).rename(tmp_path / name)
    shutil.rmtree(moved)
    check(tmp_path / "bundle")
    alone = lipstick.open(tmp_path / "capture")
    assert [row for row, _ in alone.polynomials()] == [{"n": 3}]
    with pytest.raises(CaptureNotHereError, match=rf"is not here: {home}/again/v000001.json\."):
        alone.lineage()
    [absent] = check_capture(tmp_path / "capture")
    assert (absent.where, absent.absent) == (f"{home}/again/v000001.json", True)
    told = CliRunner().invoke(main, ["fsck", str(tmp_path / "capture")])
    assert told.exit_code == 1
    assert "0 damaged, 0 left over, 1 not here" in told.output
    for at, file in enumerate((tmp_path / "bundle").glob("upstream/*/parts/*/rows/*.parquet")):
        file.write_bytes(file.read_bytes()[:-1])
        assert len(check_capture(tmp_path / "bundle")) == at + 1


@pytest.mark.slow
def test_table_that_something_else_changed(dealer: lipstick.Session, spark: SparkSession) -> None:
    """Its rows are not those that are known any more."""
    dealer.sql(f"CREATE TABLE counts USING parquet AS {COUNTS}")
    spark.sql("INSERT INTO counts VALUES ('Fit', 1L)")
    for statement in ("SELECT * FROM counts", f"INSERT INTO counts {COUNTS}"):
        with pytest.raises(SourceChangedError, match=r"'counts' .* changed since"):
            dealer.sql(statement)
    dealer.untrack("counts")
    with pytest.raises(SourceChangedError, match="is not what was written with the provenance"):
        dealer.track("counts", derived=True)
    with pytest.raises(SourceChangedError, match="rows were written by something else"):
        dealer.sql(f"INSERT INTO counts {COUNTS}")


@pytest.mark.parametrize("step", [pytest.param("part_rows", marks=pytest.mark.slow), "check_kept"])
def test_interrupted_write_is_not_taken_for_one(
    dealer: lipstick.Session, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Before and after the table: no provenance is left, and the table is not tracked."""

    def broken(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"lipstick.tables.commit.{step}", broken)
    with pytest.raises(KeyboardInterrupt):
        dealer.sql(COUNTS).write.saveAsTable("counts")
    assert "counts" not in dealer.tracked
    assert not (dealer.store / "derived" / "counts").exists()
    assert dealer.spark.catalog.tableExists("counts") == (step == "check_kept")


def test_rows_are_added_and_replaced(dealer: lipstick.Session) -> None:
    """Keys that rows have no more in common give way to places; what replaces has keys again."""
    dealer.sql(f"CREATE TABLE counts USING parquet AS {COUNTS}")
    before = dealer.sql("SELECT * FROM counts")
    assert len(before.polynomials()) == 2
    dealer.sql("INSERT INTO counts SELECT Model, 0L FROM Requests")
    assert dealer.tracked["counts"].naming is Naming.ROWS
    after = dealer.sql("SELECT Model, sum(n) AS n FROM counts GROUP BY Model")
    assert annotations(after, expand=True) == {
        "Accord": "δ(Cars:C1)",
        "Civic": "δ(Requests:B1 + δ(Cars:C2 + Cars:C3))",
    }
    w = after.what_if({"Cars": ["C2", "C3"]})
    assert (w.method, rows(w.df)) == ("annotations", [("Accord", 1), ("Civic", 0)])
    assert rows(before.what_if({"Cars": ["C1"]}).df) == [("Civic", 2)], "as it was"
    assert rows(before.df) == [("Accord", 1), ("Civic", 2)]
    dealer.sql(COUNTS).write.mode("overwrite").insertInto("counts")
    assert dealer.tracked["counts"].naming is Naming.KEY
    assert annotations(dealer.sql("SELECT * FROM counts"))["Civic"] == "counts:Civic"


SPELLINGS: dict[str, Callable[[lipstick.Session], Any]] = {
    "INSERT": lambda ls: ls.sql(f"INSERT INTO default.Counts {COUNTS}"),
    "insertInto": lambda ls: ls.sql(COUNTS).write.insertInto("spark_catalog.default.counts"),
    "saveAsTable": lambda ls: ls.sql(COUNTS).write.mode("append").saveAsTable("`default`.counts"),
}


@pytest.mark.parametrize("later", [False, True], ids=["same session", "later session"])
@pytest.mark.parametrize("spelt", SPELLINGS)
def test_a_table_is_added_to_by_any_name_that_means_it(
    dealer: lipstick.Session, spelt: str, later: bool
) -> None:
    """What was written before keeps its provenance."""
    dealer.sql(f"CREATE TABLE counts USING parquet AS {COUNTS}")
    with ExitStack() as stack:
        ls = dealer
        if later:
            ls = stack.enter_context(lipstick.session(dealer.spark, store=dealer.store))
            ls.track("Cars", dealer.tracked["Cars"].source.frame, key="CarId")
        SPELLINGS[spelt](ls)
        assert [name for name in ls.tracked if name.endswith("counts")] == ["counts"]
        q = ls.sql("SELECT Model, sum(n) AS n FROM default.counts GROUP BY Model")
        twice = {"Accord": "δ(2·δ(Cars:C1))", "Civic": "δ(2·δ(Cars:C2 + Cars:C3))"}
        assert annotations(q, expand=True) == twice
        assert rows(q.what_if({"Cars": ["C2", "C3"]}).df) == [("Accord", 2)]


def test_rows_that_were_there_are_base_rows(dealer: lipstick.Session, spark: SparkSession) -> None:
    """They have the key that the table was tracked by."""
    spark.sql("CREATE TABLE old USING orc AS SELECT 'C0' AS CarId, 9 AS Price")
    dealer.track("old", key="CarId")
    dealer.sql("INSERT INTO old SELECT CarId, Price FROM Cars WHERE Model = 'Civic'")
    q = dealer.sql("SELECT CarId FROM old")
    assert annotations(q, expand=True) == {"C0": "old:C0", "C2": "Cars:C2", "C3": "Cars:C3"}
    assert rows(q.what_if({"Cars": ["C2"], "old": ["C0"]}).df) == [("C3",)]
    with pytest.raises(TrackingError, match=r"key \(CarId\) of 'old' is not unique"):
        dealer.sql("INSERT INTO old SELECT CarId, Price FROM Cars")
    assert rows(spark.table("old")) == [("C0", 9), ("C2", 20), ("C3", 22)], "nothing was written"


@pytest.mark.slow
def test_partitioned_table(dealer: lipstick.Session, tmp_path: Path) -> None:
    """Its columns are in another order than the query's, and it is read by columns' names."""
    writer = dealer.sql("SELECT Model, CarId, Price FROM Cars").write.partitionBy("Model")
    tracked = writer.key().provenance(tmp_path / "p").saveAsTable("parts")
    assert tracked.columns == ("CarId", "Price", "Model")
    assert tracked.derived == tmp_path / "p" / "v000001.json"
    dealer.sql("INSERT INTO parts SELECT BidId, 0, Model FROM Requests")
    q = dealer.sql("SELECT CarId FROM parts WHERE Model = 'Civic'")
    assert annotations(q, expand=True) == {"C2": "Cars:C2", "C3": "Cars:C3", "B1": "Requests:B1"}
    dealer.sql("""INSERT OVERWRITE parts PARTITION (Model = 'Civic')
        SELECT CarId, 2 * Price FROM Cars WHERE CarId = 'C3'""")
    q = dealer.sql("SELECT CarId FROM parts")
    assert annotations(q, expand=True) == {"C1": "Cars:C1", "C3": "Cars:C3"}
    assert rows(q.what_if({"Cars": ["C3"]}).df) == [("C1",)]


@pytest.mark.slow
def test_partition_of_rows_that_were_there(dealer: lipstick.Session, spark: SparkSession) -> None:
    """Those in other partitions stay, as base rows."""
    spark.sql("CREATE TABLE old (id STRING, day INT) USING parquet PARTITIONED BY (day)")
    spark.sql("INSERT INTO old VALUES ('a', 1), ('b', 2), ('c', NULL)")
    dealer.sql("INSERT OVERWRITE old PARTITION (day = 1) SELECT CarId FROM Cars WHERE CarId = 'C3'")
    q = dealer.sql("SELECT id, day FROM old")
    assert rows(q.df) == rows(spark.table("old")) == [("C3", 1), ("b", 2), ("c", None)]
    assert annotations(q, expand=True)["C3"] == "Cars:C3"
    dealer.sql("INSERT OVERWRITE old PARTITION (day = NULL) SELECT CarId FROM Cars WHERE Price < 0")
    q = dealer.sql("SELECT id, day FROM old")
    assert rows(q.df) == rows(spark.table("old")) == [("C3", 1), ("b", 2)]


@pytest.mark.classic
def test_partitions_that_would_be_null(ls: lipstick.Session, spark: SparkSession) -> None:
    """Spark writes '' into the folder of NULL; nothing is written then."""
    ls.track("places", spark.createDataFrame([(1, ""), (2, None)], "id int, p string"), key="id")
    spark.sql("CREATE TABLE by_place (id INT, p STRING) USING parquet PARTITIONED BY (p)").collect()
    query, problem = "SELECT id, p FROM places", r"by 'p', .* value '' there, .* reads as NULL"
    try:
        with pytest.raises(TrackingError, match=problem):
            ls.sql(f"CREATE TABLE made USING parquet PARTITIONED BY (p) AS {query}")
        with pytest.raises(TrackingError, match=problem):
            ls.sql(query).write.partitionBy("p").saveAsTable("made")
        with pytest.raises(TrackingError, match=problem):
            ls.sql(f"INSERT INTO by_place {query}")
        assert not spark.catalog.tableExists("made")
        assert spark.table("by_place").count() == 0
        ls.sql(f"INSERT INTO by_place {query} WHERE p IS NULL")
        assert rows(ls.sql("SELECT id, p FROM by_place").df) == [(2, None)]
    finally:
        spark.sql("DROP TABLE by_place").collect()


@pytest.mark.slow
def test_columns_that_an_insert_does_not_give(
    dealer: lipstick.Session, spark: SparkSession
) -> None:
    """They have the value of PARTITION, their default, or NULL, in hypothetical rows too."""
    spark.sql("""CREATE TABLE wide (id STRING, n BIGINT, price DECIMAL(12, 2) DEFAULT 7, day DATE)
        USING parquet PARTITIONED BY (day)""")
    dealer.sql("""INSERT INTO wide PARTITION (day = '2024-01-02') (n, id)
        SELECT 1, CarId FROM Cars WHERE Model = 'Accord'""")
    dealer.sql("""WITH c AS (SELECT CarId AS id, Price FROM Cars WHERE Model = 'Civic')
        INSERT INTO wide BY NAME SELECT Price, id FROM c""")
    dealer.sql("INSERT INTO wide (id, n) SELECT Model, count(*) FROM Cars GROUP BY Model")
    q = dealer.sql("SELECT id, n, price, day FROM wide")
    stored = rows(spark.table("wide"))
    assert rows(q.df) == stored
    seven = Decimal("7.00")
    assert stored == [
        ("Accord", 1, seven, None),
        ("C1", 1, seven, date(2024, 1, 2)),
        ("C2", None, Decimal("20.00"), None),
        ("C3", None, Decimal("22.00"), None),
        ("Civic", 2, seven, None),
    ]
    assert annotations(q, expand=True)["C1"] == "Cars:C1"
    w = q.what_if({"Cars": ["C2"]})
    assert w.method == "blocks"
    assert rows(w.df) == [row for row in stored[:4] if row[0] != "C2"] + [("Civic", 1, seven, None)]


@pytest.mark.slow
def test_captures_by_reference_over_written_tables(
    dealer: lipstick.Session, tmp_path: Path
) -> None:
    """Values are looked up in the rows that are kept."""
    dealer.sql("SELECT Model, Price FROM Cars").write.saveAsTable("wide")
    q = dealer.sql("SELECT Model, sum(Price) AS s FROM wide GROUP BY Model")
    c = q.save(tmp_path / "c", values="reference")
    w = c.what_if({"Cars": ["C2"]})
    assert (w.method, rows(w.df)) == ("annotations", [("Accord", 24), ("Civic", 22)])


REFUSED = {
    "INSERT INTO again SELECT n FROM counts": "has 2 columns, the answer has 1",
    "INSERT OVERWRITE counts SELECT Model, n + 0 FROM again": "is a source of the query",
    "INSERT INTO counts SELECT Model, '1' FROM Cars": r"CAST\(\.\.\. AS bigint\)",
    "INSERT INTO counts (n) SELECT Model, 1 FROM Cars": "1 columns of 'counts' are listed",
    "INSERT INTO counts (n, m) SELECT 1, Model FROM Cars": "has no column m",
    "INSERT INTO counts BY NAME SELECT 1 AS m": "has no column m",
    "INSERT INTO counts (n, N) SELECT 1, 2": "two columns of one name",
    "INSERT INTO counts PARTITION (m = 1) SELECT 'a', 2": "has no column m",
    "CREATE TABLE counts USING parquet AS SELECT 1 AS a": "exists already",
    "CREATE TABLE Cars USING parquet AS SELECT 1 AS a": "'Cars' is tracked already",
    "INSERT INTO Cars SELECT * FROM Cars": "'Cars' is .*, which queries read and no statement",
    "INSERT INTO nowhere SELECT 1 AS a": "There is no table nowhere",
    "INSERT INTO shown SELECT CarId FROM Cars": "is a temporary view",
    "CREATE TABLE wide USING parquet AS SELECT Model, Model FROM Cars": "two columns called",
}


def test_refused_before_a_write(dealer: lipstick.Session, spark: SparkSession) -> None:
    """Nothing is captured, nothing is written."""
    dealer.sql(f"CREATE TABLE counts USING parquet AS {COUNTS}")
    dealer.sql("CREATE TABLE again USING parquet AS SELECT Model, n FROM counts")
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW shown AS SELECT 1 AS a")
    before = set(dealer.store.rglob("*"))
    for statement, problem in REFUSED.items():
        with pytest.raises(TrackingError, match=problem):
            dealer.sql(statement)
    assert set(dealer.store.rglob("*")) == before
    assert rows(spark.table("counts")) == [("Accord", 1), ("Civic", 2)]
    spark.catalog.dropTempView("shown")


@pytest.mark.slow
def test_table_under_another_name_is_a_source_too(
    dealer: lipstick.Session, spark: SparkSession
) -> None:
    """It is known by its files."""
    spark.sql("CREATE TABLE old USING parquet AS SELECT 1 AS a")
    dealer.track("alias", "old", key="a")
    with pytest.raises(TrackingError, match="'old' is a source of the query"):
        dealer.sql("INSERT OVERWRITE old SELECT a + 1 FROM alias")


def test_formats_that_do_not_keep_values(dealer: lipstick.Session, spark: SparkSession) -> None:
    """Are refused before anything is written, by each way to write a table."""
    spark.sql("CREATE TABLE old (a string) USING text")
    csv = dealer.sql("SELECT '' AS a, CarId FROM Cars").write
    writes: list[Callable[[], object]] = [
        lambda: dealer.sql("INSERT INTO old SELECT concat(Model, '\n', CarId) FROM Cars"),
        lambda: dealer.sql("CREATE TABLE wide USING csv AS SELECT '' AS a, CarId FROM Cars"),
        lambda: csv.format("csv").saveAsTable("wide"),
        lambda: csv.insertInto("old"),
    ]
    for write in writes:
        with pytest.raises(TrackingError, match=r"a table of (csv|text), otherwise than they were"):
            write()
    assert spark.table("old").count() == 0
    assert not spark.catalog.tableExists("wide")


@pytest.mark.engines("spark")
def test_other_statements(dealer: lipstick.Session) -> None:
    with pytest.raises(UnsupportedError, match="UPDATE is not annotated at 1:1"):
        dealer.sql("UPDATE Cars SET Price = 1")
    with pytest.raises(UnsupportedError, match="CREATE is not a query"):
        dealer.sql("CREATE TABLE wide (a int) USING parquet")
    assert not dealer.spark.catalog.tableExists("wide"), "a refused statement does not run"
    with pytest.raises(TrackingError, match="Spark guesses the types"):
        dealer.sql(COUNTS).write.partitionBy("Model").parquet("/nowhere")
