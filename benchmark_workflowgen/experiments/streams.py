"""``python -m benchmark_workflowgen streams``: the experiments of the thesis, again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import click

from benchmark_workflowgen.harness import (
    Row,
    output_option,
    preset_values,
    print_rows,
    write_results,
)
from benchmark_workflowgen.streams import measures, workloads

EXPERIMENTS: dict[str, Callable[..., Iterator[Row]]] = {
    "storage": measures.measure_storage,
    "throughput": measures.measure_throughput,
    "memory": measures.measure_memory,
    "latency": measures.measure_latency,
    "questions": measures.measure_questions,
    "all ancestors": measures.measure_all_ancestors,
    "workloads": workloads.measured,
}


@click.command()
@click.option("--only", multiple=True, type=click.Choice(list(EXPERIMENTS)), help="Several times.")
@click.option(
    "--parameters",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file instead of presets/streams.toml.",
)
@output_option
def main(only: tuple[str, ...], parameters: Path | None, output: Path | None) -> None:
    """Measure provenance of streams: storage, throughput, memory, latency and questions.

    Every experiment has a table of its parameters in presets/streams.toml; variants are measured in
    turns within one run. Memory is measured in a process for every case.
    """
    given = preset_values("streams", parameters)
    results: dict[str, list[Row]] = {}
    for name, experiment in EXPERIMENTS.items():
        if name not in given or (only and name not in only):
            continue
        results[name] = []
        for row in experiment(**given[name]):
            results[name].append(row)
            write_results(output, results)
        print_rows(name, results[name])
