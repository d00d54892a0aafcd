"""The command line: ``python -m benchmark_workflowgen``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from benchmark_workflowgen.errors import BenchmarkError
from benchmark_workflowgen.experiments import (
    cluster,
    erasure,
    events,
    explanations,
    federation,
    graph_cost,
    inference,
    inference_scale,
    provsql,
    questions,
    release,
    script_cost,
    semiring_cost,
    short_queries,
    statements,
    streaming_cost,
    streams,
    worker_cost,
)
from benchmark_workflowgen.grid import KINDS, PRESETS, SPARK, Case, preset, read_grid
from benchmark_workflowgen.results import Results
from lipstick.cli.errors import Failure, reported
from lipstick.engines.spark.local_session import check_java

_PATH = click.Path(path_type=Path)


_IN_OTHER_PROCESSES = ("questions", "short-queries", "worker-cost")
"""The commands whose Spark is started by processes of theirs."""


class _Group(click.Group):
    """Commands whose errors are a line, with the exit code 2 for all but defects."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            with reported():
                return super().invoke(ctx)
        except click.UsageError:
            raise
        except click.ClickException as error:
            raise Failure(error.format_message()) from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, once there is a Java for it."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in _IN_OTHER_PROCESSES and not {"-h", "--help"} & {*rest}:
            check_java()
        return name, command, rest


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """WorkflowGen: what tracking provenance costs, and what is asked of it."""


@main.command("list")
def list_() -> None:
    """List the presets with their experiments, and the kinds with their parameters."""
    console = Console()
    shown = Table(title="Presets")
    for column in ("preset", "experiment", "kind", "cases"):
        shown.add_column(column)
    for name in PRESETS:
        cases = read_grid(preset(name))
        for experiment in dict.fromkeys(case.experiment for case in cases):
            own_cases = [case for case in cases if case.experiment == experiment]
            shown.add_row(name, experiment, own_cases[0].kind, str(len(own_cases)))
    console.print(shown)
    kinds = Table(title="Kinds of experiments")
    kinds.add_column("kind")
    kinds.add_column("parameters")
    for kind, parameters in KINDS.items():
        kinds.add_row(kind, ", ".join(sorted(parameters | SPARK)))
    console.print(kinds)


@main.command()
@click.option("--preset", "name", type=click.Choice(PRESETS), help="A grid of this package.")
@click.option("--grid", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--output", type=_PATH, required=True, help="The folder of the results.")
@click.option("--only", multiple=True, help="Run this experiment; may be given several times.")
@click.option("--master", help="A cluster: spark://host:port. Default: local.")
@click.option("--remote", help="A Spark Connect server: sc://host:port.")
@click.option("--memory", default="4g", show_default=True, help="Of the driver.")
@click.option("--cache", type=_PATH, help="Of generated tables.  [default: OUTPUT/data]")
def run(
    name: str | None,
    grid: Path | None,
    output: Path,
    only: tuple[str, ...],
    master: str | None,
    remote: str | None,
    memory: str,
    cache: Path | None,
) -> None:
    """Measure a grid. What is in OUTPUT already is not measured again."""
    from benchmark_workflowgen.runner import CaseRunner
    from benchmark_workflowgen.sessions import Sparks

    if (name is None) == (grid is None):
        raise click.UsageError("Give --preset or --grid.")
    if master is not None and remote is not None:
        raise click.UsageError("Give --master or --remote, not both.")
    path = preset(name) if name is not None else grid
    assert path is not None
    console = Console()
    try:
        cases = _chosen(read_grid(path), only)
        results = Results(output)
        results.begin(path)
        with Sparks(master, remote, memory) as sparks:
            CaseRunner(sparks, results, cache or output / "data").run(cases, console)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    console.print(f"{results.write_table()}", highlight=False)


def _chosen(cases: tuple[Case, ...], only: tuple[str, ...]) -> tuple[Case, ...]:
    names = dict.fromkeys(case.experiment for case in cases)
    unknown = [name for name in only if name not in names]
    if unknown:
        raise BenchmarkError(
            f"There is no experiment {unknown[0]!r}; there are: {', '.join(names)}."
        )
    return tuple(case for case in cases if not only or case.experiment in only)


@main.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def report(folder: Path) -> None:
    """Write FOLDER/report.html, and all measurements as FOLDER/results.parquet."""
    from benchmark_workflowgen.report import write_report

    Results(folder).write_table()
    try:
        click.echo(write_report(folder))
    except (ImportError, ValueError) as error:
        raise click.ClickException(str(error)) from error


for experiment in (
    semiring_cost,
    short_queries,
    statements,
    erasure,
    questions,
    provsql,
    release,
    worker_cost,
    graph_cost,
    script_cost,
    cluster,
    federation,
    streaming_cost,
    streams,
    events,
    explanations,
    inference,
    inference_scale,
):
    name = experiment.__name__.rpartition(".")[2].replace("_", "-")
    main.add_command(experiment.main, name)
