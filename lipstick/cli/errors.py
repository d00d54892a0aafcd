"""From errors to exit codes: one message, no traceback."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import walk_tb

import click

DAMAGED = 1
"""The exit code where something stored is not as it was written."""

_PARAMETER = re.compile(r"\b([a-z_]+)=(?:\{[^}]*\}|\[[^]]*\]|'[^']*'|\"[^\"]*\"|True\b|\d+)")
"""A parameter of Python in an advice, such as ``where={...}``."""

_CALLS = {
    "contributions()": "lipstick rows --of COLUMN",
    "plan.dropped()": "plan.dropped() in Python",
    "top()": "--top N",
    "what_if()": "lipstick what-if",
    "why_not()": "lipstick why not",
}
"""Commands and options in place of methods."""

INCOMPLETE = 2
"""The exit code of an answer that is not whole: something was refused, or is not known."""


class Failure(click.ClickException):
    """A request that cannot be met as it was put."""

    exit_code = INCOMPLETE


class Damaged(Failure):
    """Something stored is not as it was written."""

    exit_code = DAMAGED


@contextmanager
def reported() -> Iterator[None]:
    """Turn errors that are no defects of ours into failures; these are raised as they are."""
    from semiring.errors import LipstickError

    try:
        yield
    except LipstickError as error:
        _exit_as_program(error)
        raise (Damaged if _is_damage(error) else Failure)(_in_options(error, str(error))) from error
    except ModuleNotFoundError as error:
        name = str(error.name).partition(".")[0]
        raise Failure(f"{name} is not installed.\nInstall it: pip install {name}") from error
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise Failure(f"{where}{error.strerror or error}") from error
    except Exception as error:
        if not type(error).__module__.startswith("pyspark."):
            raise
        from lipstick.errors import first_line

        raise Failure(f"Spark: {_in_options(error, first_line(error))}") from error


def in_commands(message: str) -> str:
    """Return a message with commands and options for methods of Python."""
    for call, command in _CALLS.items():
        message = re.sub(rf"\b{re.escape(call)}", command, message)
    return message


def _in_options(error: Exception, message: str) -> str:
    """Return a message to be printed, with options of the command for what Python has."""
    from lipstick.cli.output import printable

    calls = [frame.f_locals.get("ctx") for frame, _ in walk_tb(error.__traceback__)]
    calls = [click.get_current_context(silent=True), *calls]
    contexts = [call for call in calls if isinstance(call, click.Context)]
    options = {each.name: each for each in contexts[-1].command.params} if contexts else {}

    def option(written: re.Match[str]) -> str:
        found = options.get(written[1])
        if not isinstance(found, click.Option):
            return written[0]
        value = found.metavar or found.type.name.upper()
        return found.opts[0] if found.is_flag else f"{found.opts[0]} {value}"

    return printable(_PARAMETER.sub(option, in_commands(message)))


def _exit_as_program(error: Exception) -> None:
    """Show the traceback of a program that failed by itself, and exit with its code."""
    from lipstick.systems.errors import ProgramFailedError

    if isinstance(error, ProgramFailedError):
        click.echo(error.traceback, err=True, nl=False)
        click.echo(f"Error: {error}", err=True)
        raise SystemExit(error.code) from error


def _is_damage(error: Exception) -> bool:
    from graphquery.errors import StoreDamagedError
    from lipstick.errors import CaptureDamagedError

    return isinstance(error, (CaptureDamagedError, StoreDamagedError))
