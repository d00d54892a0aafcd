"""Erasures of real tables of Delta and Iceberg: applied, interrupted, verified."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import lipstick
from lipstick.cli import main
from semiring.errors import LipstickError

ROOT = Path(__file__).parent.parent.parent
SEEDS = int(os.environ.get("LIPSTICK_ERASURES", "1"))
FORMATS = ("delta", "iceberg")
EMAIL, CITY = "`e``mail.x`", "`ci``ty`"
_KEYS = {"joined": "id", "totals": "ci`ty"}


class Pipeline:
    """Two sources, a join of them, and sums of the join."""

    def __init__(self, lake: SparkSession, fresh: Callable[[str], str], format: str) -> None:
        self.lake, self.format = lake, format
        self.names = {name: fresh(format) for name in ("customers", "orders", "joined", "totals")}
        names = self.names
        self.queries = {
            "joined": f"SELECT o.id, o.customer, c.{EMAIL}, c.{CITY}, o.cents "
            f"FROM {names['orders']} o JOIN {names['customers']} c ON o.customer = c.id",
            "totals": f"SELECT {CITY}, count(*) AS n, max(cents) AS most, sum(cents) AS cents "
            f"FROM {names['joined']} GROUP BY {CITY}",
        }
        people = "concat(if(id = 40, 'zz', 'u'), id, '@example.org')"
        lake.sql(
            f"CREATE TABLE {names['customers']} USING {format} AS SELECT CAST(id AS INT) AS id, "
            f"{people} AS {EMAIL}, concat('city', id % 7) AS {CITY} FROM range(1, 41)"
        )
        lake.sql(
            f"CREATE TABLE {names['orders']} USING {format} AS SELECT CAST(id AS INT) AS id, "
            "CAST(id * 7 % 40 + 1 AS INT) AS customer, id * 13 % 100 AS cents FROM range(200, 400)"
        )
        for name, query in self.queries.items():
            lake.sql(f"CREATE TABLE {names[name]} USING {format} AS {query}")

    def plan(
        self, ls: lipstick.Session, delete: dict[str, str], **options: Any
    ) -> lipstick.ErasurePlan:
        for name in ("customers", "orders"):
            ls.track(self.names[name], self.names[name], key="id")
        return ls.erase(
            {self.names[name]: text for name, text in delete.items()},
            {self.names[name]: query for name, query in self.queries.items()},
            **{"key": {self.names[name]: key for name, key in _KEYS.items()}, **options},
        )

    def rows(self, name: str, delete: dict[str, str] | None = None) -> list[tuple[object, ...]]:
        """Return the rows of a table; with `delete`, as its query has them without some rows."""
        if delete is None:
            return sorted(map(tuple, self.lake.table(self.names[name]).collect()))
        text = self.queries.get(name, f"SELECT * FROM {self.names[name]}")
        for source, known in list(self.names.items())[::-1]:
            inner = self.queries.get(source, f"SELECT * FROM {known}")
            if source in delete:
                inner += f" WHERE NOT coalesce({delete[source]}, FALSE)"
            text = text.replace(f"FROM {known}", f"FROM ({inner})")
            text = text.replace(f"JOIN {known}", f"JOIN ({inner})")
        return sorted(map(tuple, self.lake.sql(text).collect()))

    def purge(self, receipt: lipstick.ErasureReceipt) -> None:
        """Do what the receipt says is still to be done, at once."""
        for statement in receipt.to_do:
            if statement.startswith("VACUUM"):
                self.lake.sql(f"{statement} RETAIN 0 HOURS")
            elif statement.startswith(("CALL", "REORG")):
                self.lake.sql(statement.replace("current_timestamp()", "TIMESTAMP '2100-01-01'"))


@pytest.mark.parametrize("key", ["code", None])
def test_tables_of_padded_texts_are_rewritten(
    lake: SparkSession, ls: lipstick.Session, fresh: Callable[[str], str], key: str | None
) -> None:
    """A MERGE of Delta does not find rows again by a CHAR, which Spark pads."""
    table, sums = fresh("delta"), fresh("delta")
    lake.sql(f"CREATE TABLE {table} (code CHAR(6), region CHAR(3), v INT) USING delta")
    lake.sql(f"INSERT INTO {table} VALUES ('ab', 'eu', 1), ('abc', 'eu', 2), ('q', NULL, 3)")
    query = f"SELECT region, sum(v) AS v FROM {table} GROUP BY region"
    lake.sql(f"CREATE TABLE {sums} (region CHAR(3), v BIGINT) USING delta")
    lake.sql(f"INSERT INTO {sums} {query}")
    ls.track(table, table, key="code")
    keys = {} if key is None else {table: key}
    plan = ls.erase({table: "code = 'ab'"}, {sums: query}, key=keys, in_place=True)
    assert [entry["action"] for entry in plan.tables] == ["rewrite", "rewrite"]
    plan.apply()
    rows = sorted(map(tuple, lake.table(table).collect()))
    assert rows == [("abc   ", "eu ", 2), ("q     ", None, 3)]
    assert {tuple(row) for row in lake.table(sums).collect()} == {("eu ", 2), (None, 3)}


@pytest.mark.parametrize("format", [pytest.param("delta", marks=pytest.mark.slow), "iceberg"])
def test_one_customer_is_erased_in_place_and_the_receipt_names_what_is_still_to_be_done(
    lake: SparkSession, fresh: Callable[[str], str], format: str, tmp_path: Path
) -> None:
    pipeline = Pipeline(lake, fresh, format)
    names = pipeline.names
    delete = {"customers": f"{EMAIL} = 'zz40@example.org'", "orders": "customer = 40"}
    expected = {name: pipeline.rows(name, delete) for name in names}
    described = {
        "sources": {names[name]: {"key": "id"} for name in ("customers", "orders")},
        "derived": {
            names[name]: {"query": query, "key": _KEYS[name]}
            for name, query in pipeline.queries.items()
        },
    }
    (tmp_path / "pipeline.yaml").write_text(json.dumps(described))
    where = [("--where", f"{names[name]}:{condition}") for name, condition in delete.items()]
    plan, receipt, key = (str(tmp_path / name) for name in ("plan", "receipt", "key"))
    options = ("-o", plan, "--in-place")
    printed = _run("plan", str(tmp_path / "pipeline.yaml"), *chain(*where), *options)
    assert f"{names['totals']}: 0 of 7 rows go, 1 change, 0 are new (merge)" in printed
    assert Path(plan).stat().st_mode & 0o077 == 0
    _run("apply", plan)
    assert {name: pipeline.rows(name) for name in names} == expected
    verify = ("verify", plan, "--key", key, "--receipt", receipt, "--page", receipt + ".html")
    assert _run(*verify, code=1).splitlines()[0] == "pending"
    pending = lipstick.ErasureReceipt.read(receipt)
    assert {f["state"] for f in pending.findings} == {"old version", "log"}
    pipeline.purge(pending)
    # Delta's log has the greatest address in the statistics of a removed file.
    _run(*verify, code=1 if format == "delta" else 0)
    done = lipstick.ErasureReceipt.read(receipt)
    assert {f["state"] for f in done.findings} == ({"log"} if format == "delta" else set())
    _run("check", receipt, "--key", key, "--value", "zz40@example.org")
    assert "zz40" not in Path(receipt).read_text() + Path(receipt + ".html").read_text()


def _run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["erase", *arguments])
    assert result.exit_code == code, result.output
    return result.stdout


class _KilledError(Exception):
    """An interruption."""


def _apply_with_interruptions(lake: SparkSession, path: Path, steps: int) -> None:
    """Apply a plan in one session after another, each of which ends at its third step."""
    for _ in range(steps):
        seen = []

        def stop(step: str, seen: list[str] = seen) -> None:
            seen.append(step)
            if len(seen) > 3:
                raise _KilledError

        with lipstick.session(lake) as session:
            try:
                lipstick.ErasurePlan(session, json.loads(path.read_text())).apply(stop)
            except _KilledError:
                continue
            return
    raise AssertionError("it never ends")


_CONDITIONS = {
    "customers": ("id % 5 = {}", CITY + " = 'city{}'", EMAIL + " LIKE '%{}@%'", "id = {}"),
    "orders": ("customer = {}", "cents > 9{}", "cents IS NOT NULL", "id % 3 = {}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("format", FORMATS)
def test_after_an_erasure_with_interruptions_every_table_is_as_if_the_rows_had_never_been(
    lake: SparkSession, fresh: Callable[[str], str], format: str, seed: int, tmp_path: Path
) -> None:
    random = Random(f"{format}{seed}")
    pipeline = Pipeline(lake, fresh, format)
    sources = random.choice([["customers"], ["orders"], ["customers", "orders"]])
    delete = {
        name: random.choice(_CONDITIONS[name]).format(random.randrange(5)) for name in sources
    }
    whole = {name: pipeline.rows(name) for name in pipeline.names}
    expected = {name: pipeline.rows(name, delete) for name in pipeline.names}
    keys = {pipeline.names[n]: k for n, k in _KEYS.items() if random.random() < 0.5}
    in_place = random.random() < 0.5
    with lipstick.session(lake) as session:
        plan = pipeline.plan(session, delete, key=keys, in_place=in_place)
        path = plan.save(tmp_path / "plan.json")
    _apply_with_interruptions(lake, path, steps=10)
    targets = {entry["name"]: entry["effect"]["target"] for entry in plan.document["tables"]}
    for name, table in pipeline.names.items():
        found = sorted(map(tuple, lake.sql(f"SELECT * FROM {targets[table]}").collect()))
        assert found == expected[name]
        if not in_place:
            assert pipeline.rows(name) == whole[name]
    written = str(tmp_path / "receipt.json")
    _run("verify", str(path), "--key", str(tmp_path / "key"), "--receipt", written, code=1)
    receipt = lipstick.ErasureReceipt.read(written)
    outcomes = {entry["outcome"] for entry in receipt.document["tables"]}
    assert outcomes <= {"equal", "no such row"}
    assert receipt.findings
    if not in_place:
        for statement in plan.document["tables"][0]["effect"]["publish"]:
            assert statement in receipt.to_do


_WHERE = {
    "iceberg": [
        None,
        "{table}/data/*.parquet",
        "{table}/metadata/snap-*.avro",
        "{table}/metadata/v*.metadata.json",
    ],
    "delta": [None, "{table}/*.parquet", "{table}/_delta_log/*.json", "{table}/*.parquet"],
}
"""Where a process is killed: by the first new file of a form, None: at the first step."""


def _kill_when(command: list[str], path: Path, files: str | None, warehouse: Path) -> None:
    """Apply a plan in a process of its own, which is killed with its Spark at a place."""
    before = set() if files is None else set(warehouse.glob(files))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    said = path.with_suffix(".said")
    # A pipe that nobody reads is full one day, and the process waits for ever.
    with (
        said.open("w") as errors,
        subprocess.Popen(
            command, stderr=errors, env=environment, start_new_session=True
        ) as running,
    ):

        def is_there() -> bool:
            if files is None:
                return "\ncomputing" in "\n" + said.read_text()
            return not set(warehouse.glob(files)) <= before

        while not is_there() and running.poll() is None:
            time.sleep(0.001)
        os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == -signal.SIGKILL, said.read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("format", "in_place"),
    [("iceberg", True), ("iceberg", False), ("delta", True)],
    ids=["iceberg in place", "iceberg branch", "delta in place"],
)
def test_a_killed_process_leaves_nothing_half_erased(
    lake: SparkSession, fresh: Callable[[str], str], format: str, in_place: bool, tmp_path: Path
) -> None:
    """The next one goes on where it was."""
    pipeline = Pipeline(lake, fresh, format)
    delete = {"customers": "id = 40", "orders": "customer = 40"}
    whole, expected = (
        {name: pipeline.rows(name, gone) for name in pipeline.names} for gone in (None, delete)
    )
    with lipstick.session(lake) as session:
        plan = pipeline.plan(session, delete, in_place=in_place)
        path = plan.save(tmp_path / "plan.json")
    tables = list(pipeline.names.values())
    if format == "iceberg":
        warehouse = Path(lake.conf.get("spark.sql.catalog.ice.warehouse"), "db")
        command = [sys.executable, "-m", "lipstick", "erase", "apply", str(path)]
    else:
        places = [_location(lake, table) for table in tables]
        warehouse = places[0].parent
        pairs = [f"{table}={place}" for table, place in zip(tables, places, strict=True)]
        module = "tests.table_formats.erase_elsewhere"
        command = [sys.executable, "-m", module, str(path), *pairs]
    targets = {entry["name"]: entry["effect"]["target"] for entry in plan.document["tables"]}
    for number, files in enumerate(_WHERE[format]):
        table = tables[number].rpartition(".")[2]
        place = None if files is None else files.format(table=table)
        _kill_when(command, path, place, warehouse)
        for name, own in pipeline.names.items():
            lake.sql(f"REFRESH TABLE {own}")
            assert pipeline.rows(name) in (
                (whole[name], expected[name]) if in_place else (whole[name],)
            )
    with lipstick.session(lake) as session:
        again = lipstick.ErasurePlan(session, json.loads(path.read_text()))
        again.apply()
        again.apply()
    for name, own in pipeline.names.items():
        found = sorted(map(tuple, lake.sql(f"SELECT * FROM {targets[own]}").collect()))
        assert found == expected[name]
        versions = f"SELECT * FROM {own}.snapshots"
        versions = f"DESCRIBE HISTORY {own}" if format == "delta" else versions
        assert lake.sql(versions).count() == 2
        assert in_place or pipeline.rows(name) == whole[name]


def _location(lake: SparkSession, table: str) -> Path:
    (detail,) = lake.sql(f"DESCRIBE DETAIL {table}").collect()
    return Path(detail["location"].removeprefix("file:"))


@pytest.mark.slow
def test_leftovers_are_found_and_what_cannot_be_erased_is_refused(
    lake: SparkSession,
    ls: lipstick.Session,
    fresh: Callable[[str], str],
    tmp_path: Path,
) -> None:
    people, totals = fresh("delta"), fresh("delta")
    lake.sql(
        f"CREATE TABLE {people} USING delta AS SELECT CAST(id AS INT) AS id, "
        "concat('u', id, '@example.org') AS email, id % 3 AS city FROM range(1, 30)"
    )
    query = f"SELECT city, count(*) AS n FROM {people} GROUP BY city"
    lake.sql(f"CREATE TABLE {totals} USING delta AS {query}")
    ls.track(people, people, key="id")
    with pytest.raises(LipstickError, match="No row matches"):
        ls.erase({people: "id = 99"}, {totals: query})
    with pytest.raises(LipstickError, match="is not tracked"):
        ls.erase({"nobody": "id = 7"})
    with pytest.raises(LipstickError, match="has a subquery"):
        ls.erase({people: f"id IN (SELECT id FROM {people})"})
    with pytest.raises(LipstickError, match="does not name the rows"):
        ls.erase({people: "id = 7"}, {totals: query}, key={totals: "n"})
    with pytest.raises(LipstickError, match=f"is not what '{totals}' makes"):
        ls.erase({people: "id = 7"}, {totals: query.replace("(*)", "(*) + 1")})
    dropped = tmp_path / "dropped"
    ls.sql(f"SELECT city, email FROM {people}").save(dropped)
    ls.sql(f"SELECT sum(id) AS s FROM {people}").save(tmp_path / "lake" / "capture")
    pq.write_table(pa.table({"who": ["x", "U7@Example.org"]}), tmp_path / "lake" / "copy")
    (tmp_path / "lake" / "list.csv").write_text("id,n\n7,1\n")
    with pytest.raises(LipstickError, match="neither a capture nor a store"):
        ls.erase({people: "id = 7"}, drop=[tmp_path])
    options = {"key": {totals: "city"}, "in_place": True, "drop": [dropped]}
    plan = ls.erase({people: "id = 7"}, {totals: query}, search=[tmp_path / "lake"], **options)
    late = ls.erase({people: "id = 8"}, {totals: query}, key={totals: "city"}, in_place=True)
    plan.apply()
    assert not dropped.exists()
    with pytest.raises(LipstickError, match="has moved on since"):
        late.apply()
    receipt = plan.verify(tmp_path / "key")
    assert receipt.verdict == "not erased"
    found = {(f["state"], Path(f["path"]).name) for f in receipt.findings if "lake" in f["path"]}
    assert {("elsewhere", "copy"), ("possible", "list.csv"), ("possible", "capture")} <= found
    for leftover in ("copy", "list.csv"):
        (tmp_path / "lake" / leftover).unlink()
    lake.sql(f"INSERT INTO {people} VALUES (7, 'u7@example.org', 1)")
    again = {e["table"]: e["outcome"] for e in plan.verify(tmp_path / "key").document["tables"]}
    default = "spark_catalog.default"
    assert again == {f"{default}.{people}": "1 rows", f"{default}.{totals}": "2 rows differ"}


@pytest.mark.slow
def test_the_tutorial_says_what_happens(
    lake: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "tutorials" / "erasure.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```py\n(.*?)^```$(?:\n+^```text\n(.*?)^```$)?", page, re.M | re.S)
    namespace: dict[str, object] = {"spark": lake}
    try:
        for code, expected in blocks:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(code, namespace)
            assert not expected or printed.getvalue().split() == expected.split()
    finally:
        for name in ("customers", "sales", "lines", "report"):
            lake.sql(f"DROP TABLE IF EXISTS {name}")
    assert len(blocks) == 4
