"""``lipstick openlineage``: the run behind a saved capture as events of OpenLineage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from lipstick.cli.errors import Failure
from lipstick.cli.output import working

Command = Callable[..., Any]


def event_options(function: Command) -> Command:
    """Add the namespace, and where events go."""
    for option in (
        click.option(
            "--output",
            type=click.Path(dir_okay=False, path_type=Path),
            help="Write to this file instead of standard output.",
        ),
        click.option(
            "--send",
            is_flag=True,
            help="Send the events with the configuration of OpenLineage's client: OPENLINEAGE_URL, "
            "OPENLINEAGE__TRANSPORT__TYPE, openlineage.yml.",
        ),
        click.option(
            "--namespace",
            default="lipstick",
            show_default=True,
            help="The namespace of jobs and datasets.",
        ),
    ):
        function = option(function)
    return function


def send_events(events: list[Any], output: Path | None, *, send: bool) -> None:
    """Write events, a line each, or send them.

    Raises
    ------
    Failure
        They are to be written and sent.
    """
    from lipstick.openlineage import emit

    if send and output is not None:
        raise Failure("Give --output or --send.")
    with working("sending the events" if send else "writing the events"):
        lines = emit(events, output, send=send)
    if output is None and not send:
        click.echo(lines, nl=False)
    else:
        click.echo(f"{len(events)} events {'sent' if send else f'in {output}'}.")


@click.command()
@click.argument("capture", type=click.Path(path_type=Path))
@click.option("--dataset", help="The table that has the answer; by default the folder's name.")
@click.option("--explorer", metavar="URL", help="The address at which the capture is explored.")
@event_options
def openlineage(
    capture: Path,
    dataset: str | None,
    explorer: str | None,
    namespace: str,
    send: bool,
    output: Path | None,
) -> None:
    """Write the run behind a saved CAPTURE as events of OpenLineage, a line of JSON each.

    The run is part of the one that Airflow or dbt names in OPENLINEAGE_PARENT_ID or
    OPENLINEAGE_CONTEXT. The facet lipstick_capture of the dataset has the address of the capture.
    """
    import lipstick
    from lipstick.openlineage import capture_events

    with working("reading the capture"):
        events = capture_events(
            lipstick.open(capture), namespace, dataset=dataset, explorer=explorer
        )
    send_events(events, output, send=send)
