"""From errors to exit codes: one message, no traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

DAMAGED = 1
"""The exit code where something stored is not as it was written."""


class Failure(click.ClickException):
    """What was asked cannot be done, or not so."""

    exit_code = 2


class Damaged(Failure):
    """Something stored is not as it was written."""

    exit_code = DAMAGED


@contextmanager
def reported() -> Iterator[None]:
    """Turn the errors that this project raises on purpose, and those of files, into failures."""
    from semiring.errors import LipstickError

    try:
        yield
    except LipstickError as error:
        _end_as_a_script(error)
        from lipstick.cli.output import printable

        raise (Damaged if _is_damage(error) else Failure)(printable(str(error))) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise Failure(f"{where}{error.strerror or error}") from error


def _end_as_a_script(error: Exception) -> None:
    """Where a script failed that was run: show what it would have shown, and end as it would."""
    from lipstick.systems.scripts.errors import ScriptFailedError

    if isinstance(error, ScriptFailedError):
        click.echo(error.traceback, err=True, nl=False)
        click.echo(f"Error: {error}", err=True)
        raise SystemExit(error.code) from error


def _is_damage(error: Exception) -> bool:
    from graphquery.errors import GraphDataError
    from graphquery.store import StoreDamagedError
    from lipstick.errors import CaptureDamagedError

    return isinstance(error, (CaptureDamagedError, GraphDataError, StoreDamagedError))
