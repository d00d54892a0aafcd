"""Shared parts of commands on scripts: options, the opened script, and lines in answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import reported
from lipstick.cli.output import JSON, TABLE, answer, answer_options

if TYPE_CHECKING:
    from lipstick.systems.scripts import Line, ScriptProvenance

Command = Callable[..., None]


def script_options(function: Command) -> Command:
    """Give a command the options that say how a script is read."""
    for option in (
        click.option(
            "--order",
            type=click.Choice(["position", "executed"]),
            default="position",
            show_default=True,
            help="The order of a notebook's cells.",
        ),
        click.option(
            "--facts",
            type=click.Path(dir_okay=False, path_type=Path),
            multiple=True,
            help="A YAML file with facts about calls; may be repeated.",
        ),
    ):
        function = option(function)
    return function


def script_command(*more_formats: str) -> Callable[[Command], Command]:
    """Make a function of a script's provenance, an `Answer` and its own arguments a command."""
    formats = (TABLE, JSON, *more_formats)

    def decorate(function: Command) -> Command:
        @wraps(function)
        def command(
            path: Path,
            facts: tuple[Path, ...],
            order: str,
            format: str | None,
            output: Path | None,
            limit: int | None,
            **arguments: Any,
        ) -> None:
            with reported():
                provenance = opened_script(path, facts, order)
                function(provenance, answer(format, output, limit, formats), **arguments)

        argument = click.argument("path", metavar="SCRIPT", type=click.Path(path_type=Path))
        return argument(script_options(answer_options(formats)(command)))

    return decorate


def opened_script(path: Path, facts: tuple[Path, ...], order: str) -> ScriptProvenance:
    """The provenance of a script, read as the options say."""
    from lipstick.systems.scripts import script_provenance

    return script_provenance(
        path, facts=facts, order="executed" if order == "executed" else "position"
    )


def line_row(line: Line) -> dict[str, Any]:
    """A line of a script as a row of an answer."""
    return {"file": line.file, "line": line.where, "text": line.text}
