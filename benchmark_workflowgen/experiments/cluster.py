"""``python -m benchmark_workflowgen cluster``: a grid on a cluster that is started for it."""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from benchmark_workflowgen.cluster.standalone import HOST, Standalone, can_hide
from benchmark_workflowgen.errors import BenchmarkError
from benchmark_workflowgen.grid import PRESETS, preset, read_grid
from benchmark_workflowgen.results import Results

_TELLING = re.compile(
    r"Registering worker|Registered app|Launching executor|Successfully registered|"
    r"Asked to launch executor|Spark Connect server started"
)


@click.command()
@click.option("--preset", "name", type=click.Choice(PRESETS), default="smoke", show_default=True)
@click.option("--grid", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--output", type=click.Path(path_type=Path), required=True)
@click.option("--workers", default=2, show_default=True)
@click.option("--connect", is_flag=True, help="Through a Spark Connect server on the cluster.")
@click.option("--hide-tmp", is_flag=True, help="Workers have a /tmp of their own; needs root.")
def main(
    name: str, grid: Path | None, output: Path, workers: int, connect: bool, hide_tmp: bool
) -> None:
    """Start a master and workers on this machine and measure a grid on them.

    Driver and workers share OUTPUT, as machines share a file system.
    """
    from benchmark_workflowgen.runner import CaseRunner
    from benchmark_workflowgen.sessions import Sparks

    path = grid if grid is not None else preset(name)
    output = output.resolve()
    hidden = Path("/tmp") if hide_tmp else None
    if hidden is not None and output.is_relative_to(hidden):
        raise click.ClickException("With --hide-tmp the output is not below /tmp: workers read it.")
    if hidden is not None and not can_hide():
        raise click.ClickException("--hide-tmp needs root and the command unshare.")
    os.environ.setdefault("SPARK_LOCAL_IP", HOST)
    # So that the cluster is stopped too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    console = Console()
    try:
        results = Results(output)
        results.begin(path)
        with (
            shared(output / "shared"),
            Standalone(output / "cluster", workers=workers, hidden=hidden) as standalone,
        ):
            remote = standalone.serve() if connect else None
            master = None if connect else standalone.url
            with Sparks(master, remote, "2g") as sparks:
                CaseRunner(sparks, results, output / "data").run(read_grid(path), console)
            for log in sorted(standalone.folder.glob("*.log")):
                for line in telling(log):
                    console.print(f"{log.stem}: {line}", markup=False, highlight=False)
    except BenchmarkError as error:
        raise click.ClickException(str(error)) from error
    console.print(f"{results.write_table()}", highlight=False)


def telling(log: Path) -> Iterator[str]:
    """Yield the lines of a log that say who did what on the cluster."""
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if _TELLING.search(line):
            yield line


@contextmanager
def shared(folder: Path) -> Iterator[None]:
    """Have temporary files where workers see them too."""
    folder.mkdir(parents=True, exist_ok=True)
    before = os.environ.get("TMPDIR"), tempfile.tempdir
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before[1]
        if before[0] is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before[0]
