"""The command: files of statements, run one after another, and what became of them."""

from __future__ import annotations

import logging
import math
import os
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.scoreboard.spark.bench import Bench
from tests.scoreboard.spark.check import check
from tests.scoreboard.spark.outcome import Outcome, Verdict, append, findings, read, table
from tests.scoreboard.spark.script import Script, read_script

CASES = Path(__file__).parent.parent / "cases"


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), required=True)
@click.option("--again", multiple=True, type=click.Choice([*Verdict, "all"]), help="Run also these")
@click.option("--reading", is_flag=True, help="Only read the statements: no oracle is asked.")
@click.option("--compiled", is_flag=True, help="Let Spark compile its plans, as it usually does.")
@click.option("--seconds", type=float, help="End after so long, to go on another time.")
@click.option("--findings", "report", type=click.Path(path_type=Path), help="What failed, by cause")
def spark(
    files: Sequence[Path],
    output: Path,
    again: Collection[str],
    reading: bool,
    compiled: bool,
    seconds: float | None,
    report: Path | None,
) -> None:
    """Put the statements of FILES, or of all cases, to the oracles.

    Statements whose outcome OUTPUT has already are not run again.
    """
    end = time.monotonic() + (math.inf if seconds is None else seconds)
    kept = output / "spark.jsonl"
    scripts = [read_script(path) for path in files or sorted(CASES.glob("*.sql"))]
    known = read(kept)
    done = {
        key
        for key, one in known.items()
        if one.verdict not in again
        and "all" not in again
        and (reading or one.verdict is not Verdict.READ)
    }
    left = [script for script in scripts if set(_keys(script)) - done]
    if left:
        with _spark(compiled) as session:
            for outcome in chain.from_iterable(
                _run(session, script, done, not reading) for script in left
            ):
                append(kept, outcome)
                if time.monotonic() > end:
                    break
    known = read(kept)
    keys = [key for script in scripts for key in dict.fromkeys(_keys(script))]
    ours = [known[key] for key in keys if key in known]
    text = table(ours)
    (output / "spark.md").write_text(text)
    print(text)
    if len(ours) < len(keys):
        print(f"{len(keys) - len(ours)} statements are left: run this again.")
    if report is not None:
        report.write_text(f"At {_commit()}, {len(ours)} statements\n\n{findings(ours)}")


def _keys(script: Script) -> list[str]:
    return [f"{script.name}/{one.key}" for one in script.statements if one.is_query]


def _run(
    spark: SparkSession, script: Script, done: Collection[str], oracles: bool
) -> Iterator[Outcome]:
    """Run a file's statements; of its queries those without an outcome."""
    number = 0
    seen = set(done)
    with (
        TemporaryDirectory(prefix="scoreboard-") as folder,
        closing(Bench(spark, script.settings, Path(folder))) as bench,
    ):
        for statement in script.statements:
            if not statement.is_query:
                try:
                    bench.run(statement.text)
                except PySparkException as error:
                    line = str(error).splitlines()[0]
                    print(f"{script.name}: {statement.text[:80]}: {line}", file=sys.stderr)
                continue
            number += 1
            key = f"{script.name}/{statement.key}"
            if key in seen:
                continue
            seen.add(key)
            outcome = check(bench, statement, script.name, number, oracles=oracles)
            said = next(iter(outcome.message.splitlines()), "")
            print(
                f"{script.name}:{number} {outcome.verdict} {outcome.seconds}s {said[:150]}",
                file=sys.stderr,
                flush=True,
            )
            yield outcome


@contextmanager
def _spark(compiled: bool) -> Iterator[SparkSession]:
    """Start Spark for many small queries; without compiled plans these are sooner done."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Of statements that Spark rejects: their outcomes say so.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    settings = {
        "spark.buffer.pageSize": "1m",
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.log.level": "OFF",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.parquet.compression.codec": "uncompressed",
    }
    if not compiled:
        settings["spark.sql.codegen.wholeStage"] = "false"
        settings["spark.sql.codegen.factoryMode"] = "NO_CODEGEN"
    with TemporaryDirectory(prefix="scoreboard-") as folder:
        settings["spark.sql.warehouse.dir"] = folder
        builder = SparkSession.builder.master("local[2]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        try:
            yield session
        finally:
            session.stop()


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
