"""Run the galleries of libraries of checks under a watch, and print a table of what was found.

``python -m tests.checks_by_running [LIBRARY ...] --rows 100000 --output FILE`` runs the libraries
that the interpreter has: Great Expectations (0.18 or 1), Soda Core on data frames of Spark,
Pandera, DQX. Each library validates orders that break each check, and orders that break none,
plainly and watched. Then each failing check is asked: its quarantine must be the rows that a filter
by hand has or the library must pass without it, and the library must find without the rows of
causes, and without the first row of ``top``, the numbers that were said. FILE has a line for each
check, and a run goes on after the last.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import lipstick
from lipstick.watching.checks import LibraryResult
from lipstick.watching.libraries import LibraryVerdict, reports_of
from semiring.errors import LipstickError
from tests.checks_by_running.tables import write_tables

LIBRARIES = ("great_expectations", "soda", "pandera", "dqx")
COLUMNS = ("kinds", "run", "red", "tied", "by rows", "exact", "green", "causes", "top", "wrong")
CLOSE = 1e-6


class Gallery:
    """The kinds of checks of a library, over tables."""

    def __init__(self, name: str, frames: dict[str, DataFrame], watch: Any) -> None:
        self.module = importlib.import_module(f"tests.checks_by_running.{name}")
        self.frames, self.watch = frames, watch
        self.kinds = list(self.module.RULES)

    def verdicts(self, frame: DataFrame, kinds: Sequence[str]) -> dict[str, Any]:
        """Return what the library says without being watched, by kind."""
        report = self.module.validate(frame, list(kinds), self.watch)
        known = isinstance(report, list)
        found = report if known else [each.verdict for each in reports_of(report)]
        return {self.module.kind_of(each.name): each for each in found}

    def watched(self, frame: DataFrame) -> dict[str, LibraryResult]:
        """Return the results of all kinds, tied to their queries."""
        with self.watch.checks() as run:
            report = self.module.validate(frame, self.kinds, self.watch)
        return {self.module.kind_of(each.name): each for each in run.results(report)}

    def measured(self, frame: DataFrame, kind: str) -> tuple[bool | None, float | None]:
        """Return what the library says of a kind over other rows: if it passes, and its number."""
        if kind not in (found := self.verdicts(frame, [kind])):
            return True, 0  # a library that reports failures alone
        verdict = found[kind]
        number = verdict.failures if verdict.failures is not None else verdict.value
        return verdict.passed, number

    def asked(self, kind: str, result: LibraryResult) -> dict[str, Any]:
        """Ask a failing check, carry out what it says, and return what became of it."""
        orders = self.frames["orders"]
        failing = self.module.RULES[kind][1]
        said: dict[str, Any] = {}
        why = result.why(budget=10)
        said["why"] = str(why)[:300]
        spark = orders.sparkSession
        if failing is not None:
            rows = result.quarantine("orders", budget=10)
            orders.createOrReplaceTempView("o")
            if failing != "order":
                by_hand = spark.sql(f"SELECT order_id FROM o WHERE {failing}").toArrow()
                wanted = set(by_hand["order_id"].to_pylist())
                found = set(rows["order_id"].to_pylist())
                said["by_hand"], said["found"] = len(wanted), len(found)
                said["exact"] = wanted == found
            passed, number = self.measured(without(orders, rows), kind)
            said["green"] = bool(passed)
            said["left"] = None if number is None else float(number)
        for cause in [each for each in why.causes if each.relation == "orders"][:1]:
            rest = orders.where(f"NOT coalesce({cause.sql}, false)")
            number = self.measured(rest, kind)[1]
            said["cause"] = [cause.text, cause.after, None if number is None else float(number)]
        top = result.top(1, relation="orders").to_pylist()
        if top and top[0]["_after"] is not None:
            number = self.measured(orders.where(f"order_id != {top[0]['order_id']}"), kind)[1]
            said["top"] = [float(top[0]["_after"]), None if number is None else float(number)]
        return said


def without(orders: DataFrame, rows: pa.Table) -> DataFrame:
    """Return the orders without some."""
    spark = orders.sparkSession
    keys = spark.createDataFrame([(n,) for n in rows["order_id"].to_pylist()], "order_id int")
    return orders.join(keys, "order_id", "left_anti").select(*orders.columns)


def same(said: Sequence[Any] | None) -> bool:
    """Return True if the last two numbers are one, or the library has none any more."""
    if said is None:
        return True
    one, other = said[-2:]
    return other is None or abs(one - other) <= CLOSE * max(abs(one), 1)


def is_wrong(line: dict[str, Any]) -> bool:
    """Return True if something that was said is not so."""
    return (
        line.get("differs", False)
        or "error" in line
        or line.get("exact") is False
        or not same(line.get("top"))
        or not same(line.get("cause"))
    )


def _said(verdict: LibraryVerdict | None) -> str:
    """Return what a library has said of a check, which watching must not change."""
    return "" if verdict is None else repr((verdict.passed, verdict.failures, verdict.value))


def checked(gallery: Gallery, done: set[str], write: Any) -> None:
    """Hold each kind of a library that was not held before."""
    if done >= set(gallery.kinds):
        return
    results = {}
    differs = set()
    for name in ("orders", "sound"):
        frame = gallery.frames[name]
        plain = gallery.verdicts(frame, gallery.kinds)
        results[name] = gallery.watched(frame)
        seen = {kind: each.verdict for kind, each in results[name].items()}
        differs |= {
            kind for kind in gallery.kinds if _said(plain.get(kind)) != _said(seen.get(kind))
        }
    for kind in gallery.kinds:
        if kind in done:
            continue
        result, sound = (results[name].get(kind) for name in ("orders", "sound"))
        line: dict[str, Any] = {"kind": kind, "differs": kind in differs}
        if result is not None and result.passed is not None:
            line |= {"red": result.passed is False, "sound": sound is None or sound.passed}
            line["tied"] = result.query is not None
            line["reason"] = result.reason
            line["tied_to"] = (
                None
                if result.query is None
                else f"{result.column}: {result.query.call} {result.query.text}"[:300]
            )
            line["sound_tied"] = sound is not None and sound.query is not None
            if line["red"] and result.query is not None:
                try:
                    line |= gallery.asked(kind, result)
                except LipstickError as error:
                    line["refused"] = str(error).splitlines()[0]
                except Exception as error:
                    line["error"] = f"{type(error).__name__}: {error}"[:500]
        write(line)


def table(name: str, lines: list[dict[str, Any]]) -> list[str]:
    """Return the line of a library, and those of what is wrong or refused."""
    n: Counter[str] = Counter()
    for each in lines:
        n["kinds"] += 1
        n["run"] += "red" in each
        n["red"] += each.get("red", False)
        n["tied"] += bool(each.get("red") and each["tied"])
        n["by rows"] += "green" in each
        n["exact"] += each.get("exact", False)
        n["green"] += each.get("green", False)
        n["causes"] += "cause" in each and same(each["cause"])
        n["top"] += "top" in each and same(each["top"])
        n["wrong"] += is_wrong(each)
    shown = [f"{name:20}" + "".join(f"{n[column]:8}" for column in COLUMNS)]
    for each in lines:
        if is_wrong(each):
            shown.append(f"  WRONG {each}")
        elif "red" not in each:
            shown.append(f"  {each['kind']}: the library could not run it")
        elif not each["red"] or each["sound"] is False:
            shown.append(f"  {each['kind']}: is not red over faults and green without")
        elif not each["tied"] or "refused" in each or each.get("green") is False:
            refused = each.get("refused", "still red without quarantine")
            shown.append(f"  {each['kind']}: {each['reason'] or refused}")
    return shown


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("libraries", nargs="*", default=LIBRARIES)
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")  # libraries try what fails
    with tempfile.TemporaryDirectory() as folder:
        output = given.output or Path(folder) / "lines"
        lines = [json.loads(x) for x in output.read_text().splitlines()] if output.exists() else []
        frames = write_tables(spark, folder, given.rows)
        for name in given.libraries:

            def write(line: dict[str, Any], name: str = name) -> None:
                lines.append({"library": name} | line)
                with output.open("a") as file:
                    file.write(json.dumps(lines[-1], default=str) + "\n")

            with lipstick.watch(spark) as watch:
                try:
                    gallery = Gallery(name, frames, watch)
                    done = {each["kind"] for each in lines if each["library"] == name}
                    checked(gallery, done, write)
                except ImportError as error:
                    print(f"{name}: not installed ({error.name})")
        print(f"{'library':20}" + "".join(f"{column:>8}" for column in COLUMNS))
        for name in given.libraries:
            print("\n".join(table(name, [each for each in lines if each["library"] == name])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
