"""From errors to exit codes: one message, no traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

DAMAGED = 1
"""The exit code where something stored is not as it was written."""

UNKNOWN = 3
"""The exit code of a question whose answer depends on what is missing."""


class Failure(click.ClickException):
    """A request that cannot be met as it was put."""

    exit_code = 2


class Damaged(Failure):
    """Something stored is not as it was written."""

    exit_code = DAMAGED


@contextmanager
def reported() -> Iterator[None]:
    """Turn the errors that this project raises on purpose, and file errors, into failures."""
    from semiring.errors import LipstickError

    try:
        yield
    except LipstickError as error:
        _exit_as_program(error)
        from lipstick.cli.output import printable

        raise (Damaged if _is_damage(error) else Failure)(printable(str(error))) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise Failure(f"{where}{error.strerror or error}") from error


def _exit_as_program(error: Exception) -> None:
    """Show the traceback of a program that failed by itself, and exit with its code."""
    from lipstick.systems.errors import ProgramFailedError

    if isinstance(error, ProgramFailedError):
        click.echo(error.traceback, err=True, nl=False)
        click.echo(f"Error: {error}", err=True)
        raise SystemExit(error.code) from error


def _is_damage(error: Exception) -> bool:
    from graphquery.errors import GraphDataError
    from graphquery.store import StoreDamagedError
    from lipstick.errors import CaptureDamagedError

    return isinstance(error, (CaptureDamagedError, GraphDataError, StoreDamagedError))
