"""The command line: ``lipstick``.

A command imports what it needs when it runs: asking for help, or about a graph, starts no Spark and
does not import it.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import click

from lipstick.cli.demo import demo
from lipstick.cli.events import events
from lipstick.cli.explore import explore
from lipstick.cli.federation import federation
from lipstick.cli.graph import graph
from lipstick.cli.record import record, stitch
from lipstick.cli.script import script
from lipstick.cli.store import compact, fsck, vacuum
from lipstick.cli.stream import stream
from lipstick.cli.workflow import workflow


def _version() -> str:
    try:
        return version("lipstick-spark")
    except PackageNotFoundError:
        return "unknown (not installed)"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(_version(), "--version", prog_name="lipstick")
def main() -> None:
    """Semiring provenance for Spark SQL: every answer with how it came about.

    Exit codes: 0 done, 1 damage found or a check failed, 2 wrong input.
    """


for command in (
    demo,
    explore,
    workflow,
    graph,
    script,
    fsck,
    compact,
    vacuum,
    federation,
    events,
    record,
    stitch,
    stream,
):
    main.add_command(command)
