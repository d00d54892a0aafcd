"""Looking after what is stored: ``lipstick fsck``, ``compact`` and ``vacuum``."""

from __future__ import annotations

import re
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lipstick.cli.errors import DAMAGED, Failure
from lipstick.cli.opened import store_argument
from lipstick.cli.output import Answer, answer_options, counted, json_option

if TYPE_CHECKING:
    from graphquery.store import Damage

_RESTORE = "Restore it from a copy of the store."
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def duration(context: click.Context, option: click.Parameter, text: str) -> timedelta:
    """A time such as ``12h``: a number and s, m, h or d.

    Raises
    ------
    click.BadParameter
        For other text.
    """
    match = re.fullmatch(r"(\d+)([smhd])", text)
    if match is None:
        raise click.BadParameter(f"{text!r} is not a time.\nWrite a number and s, m, h or d: 12h.")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


_KINDS = {(False, False): "damaged", (True, False): "left over", (False, True): "not here"}
"""The words of fsck for damages, by whether they are garbage and whether absent."""


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@answer_options()
def fsck(path: Path, answer: Answer) -> None:
    """Check all that is in PATH, and name what is damaged.

    PATH is the folder of a store, of a capture, or of the provenance of a written table. All of it
    is read once, and held against the checksums that were written with it.

    What is only left over from an interruption is named too, and is not damage: the exit code is 1
    for damage, and for provenance upstream of a capture that is not here. Nothing is changed.
    """
    damages = sorted(_damages(path), key=lambda damage: damage.garbage)
    rows = [
        {
            "where": each.where,
            "what": each.what,
            "remedy": each.remedy,
            "damage": _KINDS[each.garbage, each.absent],
        }
        for each in damages
    ]
    absent = sum(each.absent for each in damages)
    damaged = sum(not (each.garbage or each.absent) for each in damages)
    answer.table(rows[: answer.rows], len(rows))
    answer.say(
        f"{damaged} damaged, {len(damages) - damaged - absent} left over"
        + (f", {absent} not here" if absent else "")
        if damages
        else "sound"
    )
    answer.finish(rows[: answer.rows])
    if damaged or absent:
        sys.exit(DAMAGED)


def _damages(path: Path) -> list[Damage]:
    """Return the damages of a store, a capture, or the provenance of a table."""
    from graphquery.store import (
        Damage,
        StoreDamagedError,
        StoreError,
        StoreFormatError,
    )
    from graphquery.store import fsck as check_store
    from graphquery.store.format import DATA, FORMAT_FILE, LOG

    has_log = (path / LOG).is_dir() and (path / DATA).is_dir()
    if not (path / FORMAT_FILE).exists():
        if has_log:
            return [Damage("The file is missing.", FORMAT_FILE, _RESTORE)]
        from lipstick.cli.table_damage import (
            check_capture,
            check_derivation,
            is_capture,
            is_derivation,
            told_quietly,
        )

        if is_capture(path) or is_derivation(path):
            with told_quietly() as warned:
                damages = (check_capture if is_capture(path) else check_derivation)(path)
            for each in warned:
                click.echo(str(each.message), err=True)
            return damages
        if path.is_dir():
            raise Failure(
                f"{path} is not a store: it has no {FORMAT_FILE}. Nor is it a capture or the "
                "provenance of a table.\nGive the folder of one of these."
            )
    try:
        return check_store(path)
    except (StoreDamagedError, StoreFormatError):
        raise
    except StoreError as error:
        if not has_log:
            raise
        return [Damage(str(error).partition("\n")[0], FORMAT_FILE, _RESTORE)]


@click.command()
@store_argument
@json_option
def compact(store: Path, answer: Answer) -> None:
    """Merge the many small files of a STORE into few.

    The old files stay for their readers, until vacuum.
    """
    from graphquery.store import Store

    with Store.open(store).writer() as writer:
        done = writer.compact()
    answer.say(f"{counted(done.before, 'file')} merged into {done.after:,}")
    answer.finish({"files_before": done.before, "files_after": done.after})


@click.command()
@store_argument
@click.option(
    "--older-than",
    callback=duration,
    metavar="TIME",
    default="1d",
    show_default=True,
    help="Keep files that came out of use later than this ago: a number and s, m, h or d.",
)
@json_option
def vacuum(store: Path, older_than: timedelta, answer: Answer) -> None:
    """Delete the files of a STORE that are out of use."""
    from graphquery.store import Store

    with Store.open(store).writer() as writer:
        deleted = writer.vacuum(older_than=older_than)
    answer.say(f"{counted(deleted, 'file')} deleted")
    answer.finish({"files_deleted": deleted})
