"""The command: files of statements, run one after another, and what became of them."""

from __future__ import annotations

import logging
import math
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

from tests.local_spark import local_spark
from tests.scoreboard.spark.bench import Bench
from tests.scoreboard.spark.check import check
from tests.scoreboard.spark.outcome import Outcome, Verdict, append, findings, read, table
from tests.scoreboard.spark.script import Script, read_script

CASES = Path(__file__).parent.parent / "cases"


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), required=True)
@click.option(
    "--again", multiple=True, type=click.Choice([*map(str, Verdict), "all"]), help="Run also these"
)
@click.option("--reading", is_flag=True, help="Only read the statements: no oracle is asked.")
@click.option("--frames", is_flag=True, help="Annotate the frames that spark.sql makes of them.")
@click.option("--connect", is_flag=True, help="Over Spark Connect.")
@click.option("--every", type=click.IntRange(1), default=1, help="Of a file, every so manieth.")
@click.option("--compiled", is_flag=True, help="Let Spark compile its plans, as it usually does.")
@click.option("--seconds", type=float, help="End after so long, to go on another time.")
@click.option("--findings", "report", type=click.Path(path_type=Path), help="What failed, by cause")
def spark(
    files: Sequence[Path],
    output: Path,
    again: Collection[str],
    reading: bool,
    frames: bool,
    connect: bool,
    every: int,
    compiled: bool,
    seconds: float | None,
    report: Path | None,
) -> None:
    """Put the statements of FILES, or of all cases, to the oracles.

    Statements whose outcome OUTPUT has already are not run again. The exit code is 1 where an
    answer is wrong, or something crashed.
    """
    end = time.monotonic() + (math.inf if seconds is None else seconds)
    kept = output / "spark.jsonl"
    scripts = [read_script(path) for path in files or sorted(CASES.glob("*.sql"))]
    known = read(kept)
    done = {
        key
        for key, outcome in known.items()
        if outcome.verdict not in again
        and "all" not in again
        and (reading or outcome.verdict is not Verdict.READ)
    }
    chosen = {key for script in scripts for key in _keys(script)[::every]}
    left = [script for script in scripts if chosen.intersection(_keys(script)) - done]
    if left:
        with _spark(compiled=compiled, connect=connect) as session:
            wanted = chosen - done
            for outcome in chain.from_iterable(
                _run(session, script, wanted, oracles=not reading, frames=frames) for script in left
            ):
                append(kept, outcome)
                if time.monotonic() > end:
                    break
    known = read(kept)
    keys = [key for script in scripts for key in _keys(script) if key in chosen]
    outcomes = [known[key] for key in keys if key in known]
    text = table(outcomes)
    (output / "spark.md").write_text(text)
    print(text)
    if len(outcomes) < len(keys):
        print(f"{len(keys) - len(outcomes)} statements are left: run this again.")
    if report is not None:
        report.write_text(f"At {_commit()}, {len(outcomes)} statements\n\n{findings(outcomes)}")
    if any(outcome.verdict in (Verdict.WRONG, Verdict.CRASHED) for outcome in outcomes):
        sys.exit(1)


def _keys(script: Script) -> list[str]:
    """Return the keys of a file's queries, each once."""
    keys = [
        f"{script.name}/{statement.key}" for statement in script.statements if statement.is_query
    ]
    return list(dict.fromkeys(keys))


def _run(
    spark: SparkSession, script: Script, wanted: Collection[str], *, oracles: bool, frames: bool
) -> Iterator[Outcome]:
    """Run a file's statements; of its queries those that are wanted."""
    number = 0
    left = set(wanted)
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
            if key not in left:
                continue
            left.remove(key)
            outcome = check(bench, statement, script.name, number, oracles=oracles, frames=frames)
            first_line = next(iter(outcome.message.splitlines()), "")
            print(
                f"{script.name}:{number} {outcome.verdict} {outcome.seconds}s {first_line[:150]}",
                file=sys.stderr,
                flush=True,
            )
            yield outcome


@contextmanager
def _spark(*, compiled: bool, connect: bool) -> Iterator[SparkSession]:
    """Start Spark for many small queries; without compiled plans these are sooner done."""
    # Of statements that Spark rejects: their outcomes say so.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    options = {
        "spark.log.level": "OFF",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.parquet.compression.codec": "uncompressed",
    }
    with (
        TemporaryDirectory(prefix="scoreboard-") as folder,
        local_spark(
            Path(folder), connect=connect, interpreted=not compiled, options=options
        ) as session,
    ):
        yield session


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
