"""Plain Parquet is erased from by an exchange of folders, wherever the work is interrupted."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import lipstick
from lipstick.cli import main
from lipstick.erasure.parquet import ParquetFolder, parquet_table
from lipstick.errors import ErasureError, VersionGoneError

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


class _StoppedError(Exception):
    """An interruption."""


def test_an_erasure_goes_on_after_an_interruption_at_any_step_and_a_kill(
    spark: SparkSession, tmp_path: Path
) -> None:
    people, report = _pipeline(spark, tmp_path)
    expected = [row for row in _rows(spark, people) if row[1] != "zoe@example.org"]
    with pytest.raises(ErasureError, match="has no branches"):
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
    assert CliRunner().invoke(main, asked).exit_code == 1
    receipt = lipstick.ErasureReceipt.read(tmp_path / "receipt")
    assert {entry["outcome"] for entry in receipt.document["tables"]} == {"no such row", "equal"}
    assert {finding["state"] for finding in receipt.findings} == {"elsewhere", "possible"}
    erased = {str(value) for each in plan.document["values"] for value in each["values"]}
    assert erased == {"zoe@example.org", "100009"}
    shown = json.dumps(receipt.document).lower() + receipt.page().lower()
    assert not [value for value in erased if value in shown]
    assert all(receipt.concerns(tmp_path / "key", value) for value in erased)
    spark.createDataFrame([(1,)], "id int").write.mode("append").parquet(str(report))
    with pytest.raises(ErasureError, match="changed after the erasure"):
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
        with pytest.raises(ErasureError, match="has no versions"):
            table.history()
    finally:
        spark.sql("DROP TABLE numbers")


def _kill_at(step: str, plan: Path) -> None:
    """Apply a plan in a process of its own, which is killed when it reports a step."""
    command = [sys.executable, "-m", "lipstick.cli", "erase", "apply", str(plan)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if line.startswith(step):
                os.kill(running.pid, signal.SIGKILL)
                break
    assert running.returncode == -signal.SIGKILL


def test_folders_are_exchanged_by_two_renames_where_the_system_has_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
    for stops in range(4):
        folder, new = tmp_path / f"t{stops}", tmp_path / f".t{stops}.erasure_7"
        folder.mkdir()
        new.mkdir()
        (new / "_lipstick_erasure_7").touch()
        table = ParquetFolder(None, "", folder)  # type: ignore[arg-type]
        left = [stops]

        def rename(self: Path, other: Path, left: list[int] = left) -> None:
            if not left[0]:
                raise _StoppedError
            left[0] -= 1
            self.replace(other)

        with monkeypatch.context() as patched:
            patched.setattr(Path, "rename", rename)
            with contextlib.suppress(_StoppedError):
                table.exchange("7")
        table.resume("7")
        assert (folder / "_lipstick_erasure_7").exists() == (stops > 0)
        assert new.exists()
