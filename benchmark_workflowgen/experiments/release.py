"""A few figures of each release, kept in a file of its own in `releases`.

How long the packages take to be imported, and what captures of short queries and questions to them
cost. They say which release made something slower; `docs/benchmark.md` has what each thing costs.

    python -m benchmark_workflowgen release
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import click

from benchmark_workflowgen.environment import environment
from benchmark_workflowgen.experiments import short_queries
from benchmark_workflowgen.harness import write_results
from benchmark_workflowgen.sessions import Sparks

FOLDER: Final = Path(__file__).parents[1] / "releases"
IMPORTS: Final = {
    "semiring": "from semiring import Polynomial",
    "rewriter": "from rewriter import bind_query",
    "graphquery": "from graphquery import ProvenanceGraph",
    "lipstick": "from lipstick import session",
}
"""By package, what is imported of it: names are looked up when they are asked for."""
_TIMES: Final = 5
_TIMED: Final = (
    "import time\nstarted = time.perf_counter()\n{}\nprint(time.perf_counter() - started)"
)
_FACTS: Final = ("cores", "python", "packages", "spark")


@click.command()
@click.option("--output", type=click.Path(path_type=Path), help="[default: that of the version]")
@click.option("--rows", default=100_000, show_default=True, help="Of the orders.")
@click.option("--repetitions", default=_TIMES, show_default=True)
def main(output: Path | None, rows: int, repetitions: int) -> None:
    """Measure what is tracked from release to release, and write its file."""
    release = version("lipstick-spark")
    figures: dict[str, Any] = {
        "version": release,
        "import_seconds": {name: import_seconds(name, repetitions) for name in IMPORTS},
    }
    with Sparks(None, None, "2g") as sparks:
        spark = sparks.get(2, 4)
        measured = short_queries.measure(spark, list(short_queries.QUERIES), rows, repetitions)
        figures["short_queries"] = short_queries.figures(measured)
        facts = environment(spark)
        figures["environment"] = {name: facts[name] for name in _FACTS}
    write_results(output or FOLDER / f"{release}.json", figures)
    click.echo(json.dumps(figures, indent=1))


def import_seconds(package: str, times: int) -> float:
    """Return how long a package takes to be imported by a new process, the median of a few."""
    command = [sys.executable, "-c", _TIMED.format(IMPORTS[package])]
    runs = (subprocess.run(command, capture_output=True, check=True) for _ in range(times))
    return statistics.median(float(run.stdout) for run in runs)
