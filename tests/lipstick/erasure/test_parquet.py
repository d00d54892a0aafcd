"""Plain Parquet is erased from by an exchange of folders, wherever the work is interrupted."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import lipstick
from lipstick.cli import main
from lipstick.erasure.parquet import ParquetFolder, parquet_table
from lipstick.errors import LipstickError, VersionGoneError

pytestmark = pytest.mark.classic

REPORT = "SELECT city, count(*) AS people, sum(cents) AS cents FROM people GROUP BY city"
GONE = "email = 'zoe@example.org'"


def _pipeline(spark: SparkSession, folder: Path) -> tuple[Path, Path]:
    """Write people by city, and a report on them."""
    people, report = folder / "people", folder / "report"
    rows = [(n, f"p{n}@example.org", f"city{n % 3}", n) for n in range(1, 9)]
    rows.append((100_009, "zoe@example.org", "city1", 50))
    frame = spark.createDataFrame(rows, "id int, email string, city string, cents int")
    frame.coalesce(1).write.partitionBy("city").parquet(str(people))
    frame.createOrReplaceTempView("people")
    spark.sql(REPORT).coalesce(1).write.parquet(str(report))
    spark.catalog.dropTempView("people")
    return people, report


def _plan(spark: SparkSession, people: Path, report: Path, **options: bool) -> lipstick.ErasurePlan:
    ls = lipstick.session(spark)
    ls.track("people", people, key="id")
    return ls.erase(
        {"people": GONE},
        {"report": REPORT},
        key={"report": "city"},
        paths={"report": report},
        **{"in_place": True, **options},
    )


def _rows(spark: SparkSession, folder: Path) -> list[tuple[object, ...]]:
    return sorted(map(tuple, spark.read.parquet(str(folder)).collect()))


def test_every_value_is_searched_for_or_listed_and_visible_rows_are_to_be_changed(
    spark: SparkSession, tmp_path: Path
) -> None:
    people, notes = tmp_path / "people", tmp_path / "notes"
    spark.sql(
        """SELECT id, id = 7 AS member, concat('p', id, '@example.org') AS email,
        named_struct('line', concat('Via Appia ', id), 'tags', array(concat('tag', id), 'all'),
          'floor', CAST(id AS INT)) AS address,
        map(concat('key', id), concat('value', id)) AS props,
        date_add(DATE'1980-01-01', CAST(id AS INT)) AS born,
        TIMESTAMP'2024-01-01 00:00:00' + make_interval(0, 0, 0, CAST(id AS INT)) AS seen,
        CAST(id AS DECIMAL(9, 2)) AS paid, id / 2 AS share, encode(concat('bin', id), 'UTF-8') AS b,
        CASE WHEN id = 7 THEN X'FF07' END AS raw, CAST(id AS INT) AS age
        FROM range(1, 20)"""
    ).write.parquet(str(people))
    spark.sql(
        """SELECT id, IF(id = 3, 'seen at VIA APPIA 7, tag7', 'nothing') AS text FROM range(1, 9)"""
    ).write.parquet(str(notes))
    other = tmp_path / "list"
    other.mkdir()
    (other / "f.csv").write_text("x\nvalue7\n")
    ls = lipstick.session(spark)
    ls.track("people", f"{people}", key="id")
    ls.track("notes", f"{notes}", key="id")
    plan = ls.erase({"people": "id = 7"}, search=[other, tmp_path / "typo"], in_place=True)
    searched = {(v["column"], *v["values"]) for v in plan.document["values"]}
    assert searched == {
        ("id", 7),
        ("email", "p7@example.org"),
        ("address.line", "Via Appia 7"),
        ("address.tags", "tag7"),
        ("props", "key7"),
        ("props", "value7"),
        ("born", "1980-01-08"),
        ("seen", "2024-01-08 00:00:00"),
        ("b", "bin7"),
    }
    listed = {line.partition(":")[0] for line in plan.document["not_searched_for"]}
    assert listed == {
        f"people.{name}"
        for name in ("id", "member", "address.floor", "born", "seen", "paid", "share", "raw", "age")
    }
    plan.apply()
    receipt = plan.verify(tmp_path / "key")
    assert receipt.verdict == "not erased"
    (to_do, advice) = receipt.to_do
    assert to_do == (
        f"UPDATE parquet.`{notes}` SET text = ... WHERE ...: 1 row shows erased values there"
    )
    assert advice == f"remove or rewrite {other / 'f.csv'}"
    assert receipt.concerns(tmp_path / "key", "VIA APPIA 7")
    assert receipt.concerns(tmp_path / "key", date(1980, 1, 8))
    shutil.rmtree(other)
    receipt = plan.verify(tmp_path / "key", search=[tmp_path / "none"])
    gone = {Path(each["path"]).name for each in receipt.unsearched}
    assert (gone, receipt.dropped) == ({"typo", "none"}, [str(other)])


class _StoppedError(Exception):
    """An interruption."""


def test_an_erasure_goes_on_after_an_interruption_at_any_step_and_a_kill(
    spark: SparkSession, tmp_path: Path
) -> None:
    people, report = _pipeline(spark, tmp_path)
    expected = [row for row in _rows(spark, people) if row[1] != "zoe@example.org"]
    with pytest.raises(LipstickError, match="has no branches"):
        _plan(spark, people, report, in_place=False)
    plan = _plan(spark, people, report)
    assert [(t["action"], t["removed"], t["changed"]) for t in plan.tables] == [
        ("exchange", 1, 0),
        ("exchange", 0, 1),
    ]
    assert plan.document["to_search"]["files"] > 4
    path = plan.save(tmp_path / "plan.json")
    steps: list[str] = []

    def stop(step: str) -> None:
        within = "people" in step and step.startswith(("writing", "exchanging"))
        if step not in steps and not step.startswith("computing") and not within:
            steps.append(step)
            raise _StoppedError(step)

    def interrupted() -> bool:
        """Apply up to the next step."""
        with contextlib.suppress(_StoppedError):
            plan.apply(stop)
            return False
        return True

    while interrupted() and "report" not in steps[-1]:
        assert len(steps) < 10
    _kill_at("exchanging", path)
    while interrupted():
        assert len(steps) < 20
    verbs = [step.split()[0] for step in steps]
    assert (verbs.count("writing"), verbs.count("removing")) == (1, 2)
    assert _rows(spark, people) == expected
    assert ("city1", 3, 12) in _rows(spark, report)
    assert {p.name for p in tmp_path.iterdir()} == {"people", "report", "plan.json"}
    leftover = tmp_path / "exports" / "Zoe@example.org.csv"
    leftover.parent.mkdir()
    leftover.write_text("who,id\nzoe@example.org,100009\n")
    options = ["--key", str(tmp_path / "key"), "--receipt", str(tmp_path / "receipt")]
    asked = ["erase", "verify", str(path), *options, "--search", str(leftover.parent)]
    told = CliRunner().invoke(main, [*asked, "--json"])
    assert told.exit_code == 1
    receipt = lipstick.ErasureReceipt.read(tmp_path / "receipt")
    said = json.loads(told.stdout)
    assert (said["verdict"], said["findings"]) == (receipt.verdict, receipt.findings)
    signed = ["erase", "check", str(tmp_path / "receipt"), "--key", str(tmp_path / "key"), "--json"]
    assert json.loads(CliRunner().invoke(main, signed).stdout)["genuine"]
    assert {entry["outcome"] for entry in receipt.document["tables"]} == {"no such row", "equal"}
    assert {finding["state"] for finding in receipt.findings} == {"elsewhere", "possible"}
    erased = {str(value) for each in plan.document["values"] for value in each["values"]}
    assert erased == {"zoe@example.org", "100009"}
    shown = json.dumps(receipt.document).lower() + receipt.page().lower()
    assert not [value for value in erased if value in shown]
    assert all(receipt.concerns(tmp_path / "key", value) for value in erased)
    spark.createDataFrame([(1,)], "id int").write.mode("append").parquet(str(report))
    with pytest.raises(LipstickError, match="changed after the erasure"):
        plan.apply()


def test_a_table_of_the_catalog_is_read_anew(spark: SparkSession, tmp_path: Path) -> None:
    place = tmp_path / "numbers"
    spark.sql(f"CREATE TABLE numbers USING parquet LOCATION '{place}' AS SELECT id FROM range(5)")
    try:
        table = parquet_table(spark, "numbers")
        before = table.current()
        assert spark.table("numbers").count() == 5
        table.write(table.read(before).where("id > 2"), "1", lambda step: None)
        assert table.read(table.current()).count() == spark.table("numbers").count() == 2
        assert table.read(before).count() == 5
        table.remove_earlier("1")
        with pytest.raises(VersionGoneError, match="others than they were"):
            table.read(before)
        with pytest.raises(LipstickError, match="has no versions"):
            table.history()
    finally:
        spark.sql("DROP TABLE numbers")


def _kill_at(step: str, plan: Path) -> None:
    """Apply a plan in a process of its own, which is killed when it reports a step."""
    command = [sys.executable, "-m", "lipstick", "erase", "apply", str(plan)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if line.startswith(step):
                os.kill(running.pid, signal.SIGKILL)
                break
    assert running.returncode == -signal.SIGKILL


class _Files:
    """Stands in for Spark: a frame is the content of the file in its folder."""

    def __init__(self, content: str = "") -> None:
        self.content = content

    @property
    def read(self) -> _Files:
        return self

    write = catalog = schema = read

    def simpleString(self) -> str:  # noqa: N802
        return "struct<id:int>"

    def mode(self, *_: str) -> _Files:
        return self

    partitionBy = refreshByPath = mode  # noqa: N815

    def table(self, _: str) -> _Files:
        return self

    def parquet(self, path: str) -> _Files:
        if self.content:
            Path(path).mkdir(exist_ok=True)
            (Path(path) / "a.parquet").write_text(self.content)
        return self


@pytest.mark.parametrize("exchanges", [True, False], ids=["exchange", "two renames"])
def test_folders_are_exchanged_whichever_step_is_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanges: bool
) -> None:
    """A reader sees the old rows or the new ones, and a run that goes on ends with the new ones."""
    if not exchanges:
        monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
    places = [(Path, "rename"), (Path, "write_text"), (shutil, "rmtree"), (shutil, "copymode")]
    seen = set[str]()
    for stops in itertools.count():
        folder = tmp_path / f"t{stops}"
        folder.mkdir()
        (folder / "a.parquet").write_text("old")
        left = [stops]

        def counted(real: Callable[..., object], left: list[int] = left) -> Callable[..., object]:
            def call(*arguments: object, **named: object) -> object:
                left[0] -= 1
                if left[0] < 0:
                    raise _StoppedError
                return real(*arguments, **named)

            return call

        def run(folder: Path = folder) -> None:
            table = ParquetFolder(_Files(), "`t`", folder)  # type: ignore[arg-type]
            if not table.exchanged("7"):
                table.write(_Files("the new rows"), "7", lambda _: None)  # type: ignore[arg-type]
            table.remove_earlier("7")

        with monkeypatch.context() as patched:
            patched.setattr(ParquetFolder, "exchange", counted(ParquetFolder.exchange))
            for holder, name in places:
                patched.setattr(holder, name, counted(getattr(holder, name)))
            with contextlib.suppress(_StoppedError):
                run()
        for earlier in tmp_path.glob(f".t{stops}.earlier_*"):
            ParquetFolder(_Files(), "`t`", folder).resume(earlier.name[-1])  # type: ignore[arg-type]
        seen.add((folder / "a.parquet").read_text())
        run()
        assert (folder / "a.parquet").read_text() == "the new rows"
        assert not list(tmp_path.glob(f".t{stops}.*"))
        if left[0] >= 0:
            break
    assert seen == {"old", "the new rows"}
    assert stops > 6


SPELLINGS = {
    "as they are named": ("report", "report", "report", "people"),
    "in full": ("spark_catalog.default.report", "Report", "default.report", "default.people"),
    "by other relations": ("default.report", "report_too", "REPORT", "people_too"),
    "by views": ("report", "report_view", "default.Report", "people_view"),
}
"""By how names are spelt: the derived table, where it is read, its key, and its source."""


@pytest.mark.parametrize("how", SPELLINGS)
def test_names_mean_what_spark_finds_by_them(spark: SparkSession, how: str) -> None:
    """What rests on a derived table changes, whatever name it reads the table by."""
    derived, read, key, source = SPELLINGS[how]
    tables = ("people", "report", "summary")
    for table in tables:
        spark.sql(f"DROP TABLE IF EXISTS {table}")
    spark.sql(
        "CREATE TABLE people USING parquet AS SELECT id, id % 3 AS city, id AS cents, "
        "IF(id = 5, 'zoe@example.org', 'other') AS email FROM range(9)"
    )
    report = "SELECT city, sum(cents) AS cents FROM {} GROUP BY city"
    column = "sum" if read == "report_view" else "cents"
    summary = f"SELECT max({column}) AS most FROM {{}}"
    try:
        spark.sql(f"CREATE TABLE report USING parquet AS {report.format('people')}")
        spark.sql("CREATE TABLE summary USING parquet AS SELECT max(cents) AS most FROM report")
        spark.sql("CREATE TEMP VIEW people_view AS SELECT * FROM people")
        spark.sql("CREATE TEMP VIEW report_view (town, sum) AS SELECT city, cents FROM report")
        with lipstick.session(spark) as ls:
            ls.track("people", key="id")
            if how in ("by other relations", "by views"):
                ls.track("report", key="city")
            if how == "by other relations":
                ls.track("people_too", "people", key="id")
                ls.track("report_too", "default.report", key="city")
            plan = ls.erase(
                {source if "view" not in source else "people": GONE},
                {derived: report.format(source), "summary": summary.format(read)},
                key={key: "city"},
                in_place=True,
            )
            effects = {entry["name"]: entry["effect"] for entry in plan.document["tables"]}
            assert len(effects) == 3
            assert next(e for n, e in effects.items() if "report" in n)["changed"] == 1
            plan.apply()
        assert sorted(map(tuple, spark.sql("SELECT * FROM report").collect())) == [
            (0, 9),
            (1, 12),
            (2, 10),
        ]
        assert spark.sql("SELECT * FROM summary").collect()[0][0] == 12
    finally:
        for table in tables:
            spark.sql(f"DROP TABLE IF EXISTS {table}")
        for view in ("people_view", "report_view"):
            spark.catalog.dropTempView(view)


@pytest.mark.parametrize("given", ["key", "paths"])
def test_what_is_given_for_no_derived_table_is_refused(
    spark: SparkSession, tmp_path: Path, given: str
) -> None:
    people, report = _pipeline(spark, tmp_path)
    with lipstick.session(spark) as ls:
        ls.track("people", people, key="id")
        with pytest.raises(LipstickError, match="'repart' is none of the derived tables: report"):
            ls.erase(
                {"people": GONE},
                {"report": REPORT},
                in_place=True,
                **{"paths": {"report": report}, given: {"report": report, "repart": "city"}},
            )
