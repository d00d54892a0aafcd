"""The command line: ``lipstick``.

A command is imported when it is called, and imports what it needs when it runs: what needs no Spark
does not import it.
"""

from __future__ import annotations

import os
import sys
import traceback
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from lipstick.cli.errors import Failure, reported
from lipstick.cli.output import summary
from lipstick.outer import resolve
from lipstick.systems import commands

_OWN = {
    "rows": "captures:rows",
    "why": "why:why",
    "what-if": "captures:what_if",
    "where": "captures:where",
    "diff": "captures:diff",
    "explore": "explore:explore",
    "mcp": "mcp:mcp",
    "demo": "demo:demo",
    "fsck": "store:fsck",
    "compact": "store:compact",
    "vacuum": "store:vacuum",
    "erase": "erase:erase",
    "openlineage": "openlineage:openlineage",
    "workflow": "workflow:workflow",
    "graph": "graph:graph",
}
"""The commands of this package, each with its module and its name there."""

_LISTED = {
    "Ask": ("rows", "why", "what-if", "where", "diff"),
    "Explore": ("explore", "mcp", "demo"),
    "Keep": ("fsck", "compact", "vacuum", "erase", "openlineage"),
    "Projects": ("dbt", "pipeline", "script", "record", "stitch", "workflow"),
    "Graphs": ("graph", "stream", "events", "federation"),
}
"""The commands as they are listed."""


def _version() -> str:
    try:
        return version("lipstick-spark")
    except PackageNotFoundError:
        return "unknown (not installed)"


class _Group(click.Group):
    """The commands of the core and of systems; these are imported when they are called."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command; a defect shows its traceback, with an exit code that is no verdict."""
        try:
            return super().__call__(*args, **kwargs)
        except Exception:
            traceback.print_exc()
            sys.exit(Failure.exit_code)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, whose errors before its own work are reported as those in it."""
        with reported():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*_OWN, *(command.name for command in commands())])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        named = {name: f"lipstick.cli.{reference}" for name, reference in _OWN.items()}
        named |= {command.name: command.reference for command in commands()}
        return _with_progress(resolve(named[cmd_name])) if cmd_name in named else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by what they are for, without importing the systems."""
        own = ((name, self.get_command(ctx, name)) for name in _OWN)
        says = {name: summary(command) for name, command in own if command is not None}
        says |= {command.name: command.summary for command in commands()}
        others = tuple(says.keys() - {name for names in _LISTED.values() for name in names})
        for title, names in (_LISTED | {"Others": others}).items():
            listed = [(name, says[name]) for name in names if name in says]
            if listed:
                with formatter.section(title):
                    formatter.write_dl(listed)


def _with_progress(command: click.Command) -> click.Command:
    """Return a command that takes ``-q`` and ``-v`` behind its name, too.

    Commands that pass options on to a program leave them to it.
    """
    if isinstance(command, click.Group):
        for each in command.commands.values():
            _with_progress(each)
    elif not command.context_settings.get("ignore_unknown_options"):
        names = {option for each in command.params for option in each.opts}
        new = (each for each in main.params if each.name in ("quiet", "verbose"))
        command.params += [
            click.Option(each.opts, is_flag=True, hidden=True, expose_value=False, callback=_of_all)
            for each in new
            if not names & {*each.opts}
        ]
    return command


def _of_all(context: click.Context, option: click.Parameter, given: bool) -> None:
    """Set an option of all commands."""
    if given:
        params = context.find_root().params
        params[option.name or ""] = True
        _show_errors(params["verbose"])


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(_version(), "--version", prog_name="lipstick")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option("-v", "--verbose", is_flag=True, help="Show how long steps take, and whole errors.")
def main(quiet: bool, verbose: bool) -> None:
    """Semiring provenance for Spark SQL: every answer with how it came about.

    Exit codes: 0 done, 1 damage found or a check failed, 2 anything else, as wrong input, no Java,
    or an answer that is not whole.
    """
    del quiet  # read where progress is shown
    _show_errors(verbose)


def _show_errors(verbose: bool) -> None:
    if verbose:
        os.environ["LIPSTICK_TRACEBACK"] = "1"
