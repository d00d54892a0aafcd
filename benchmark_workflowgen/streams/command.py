"""``python -m benchmark_workflowgen streams``: the experiments of the thesis, again."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from benchmark_workflowgen.streams import measures, workloads

EXPERIMENTS: dict[str, Callable[..., Iterator[dict[str, Any]]]] = {
    "storage": measures.measure_storage,
    "throughput": measures.measure_throughput,
    "memory": measures.measure_memory,
    "latency": measures.measure_latency,
    "questions": measures.measure_questions,
    "all ancestors": measures.measure_all_ancestors,
    "workloads": workloads.measured,
}


@click.command("streams")
@click.option("--only", multiple=True, type=click.Choice(list(EXPERIMENTS)), help="Several times.")
@click.option(
    "--parameters",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file instead of presets/streams.toml.",
)
@click.option("--output", type=click.Path(path_type=Path), help="A file for the results, JSON.")
def streams(only: tuple[str, ...], parameters: Path | None, output: Path | None) -> None:
    """Measure provenance of streams: storage, throughput, memory, latency and questions.

    Every experiment has a table of its parameters in presets/streams.toml; variants are measured in
    turns within one run. Memory is measured in a process for every case.
    """
    preset = files("benchmark_workflowgen").joinpath("presets", "streams.toml")
    text = preset.read_text() if parameters is None else parameters.read_text()
    given = tomllib.loads(text)
    results: dict[str, list[dict[str, Any]]] = {}
    for name, experiment in EXPERIMENTS.items():
        if name not in given or (only and name not in only):
            continue
        results[name] = []
        for row in experiment(**given[name]):
            results[name].append(row)
            if output is not None:
                output.write_text(json.dumps(results, indent=1))
        shown(name, results[name])


def shown(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows as a table."""
    table = Table(title=title)
    for name in rows[0]:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console(width=200).print(table)
