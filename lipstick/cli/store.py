"""Looking after a store: ``lipstick fsck``, ``compact`` and ``vacuum``."""

from __future__ import annotations

import re
import sys
from datetime import timedelta
from pathlib import Path

import click

from lipstick.cli.errors import DAMAGED, reported
from lipstick.cli.opened import store_argument
from lipstick.cli.output import JSON, TABLE, answer, answer_options, counted

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
        raise click.BadParameter(f"{text!r} is no time.\nWrite a number and s, m, h or d: 12h.")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


@click.command()
@store_argument
@answer_options()
def fsck(store: Path, format: str | None, output: Path | None, limit: int | None) -> None:
    """Check all that is in a STORE, and name what is damaged.

    What is only left over from an interruption is named too, and is no damage: the exit code is 1
    for damage alone. Nothing is changed.
    """
    from graphquery.store import fsck as check

    told = answer(format, output, limit, (TABLE, JSON))
    with reported():
        found = check(store)
        rows = [
            {
                "where": each.where,
                "what": each.what,
                "remedy": each.remedy,
                "damage": "left over" if each.garbage else "damaged",
            }
            for each in found
        ]
        damaged = sum(not each.garbage for each in found)
        if told.format == JSON:
            told.send_json(rows[: told.rows])
        else:
            told.table(rows[: told.rows], len(rows))
            told.say(f"{damaged} damaged, {len(found) - damaged} left over" if found else "sound")
            told.send_table()
    if damaged:
        sys.exit(DAMAGED)


@click.command()
@store_argument
def compact(store: Path) -> None:
    """Merge the many small files of a STORE into few.

    The old files stay for those who read them, until vacuum.
    """
    from graphquery.store import Store

    with reported(), Store.open(store).writer() as writer:
        done = writer.compact()
    click.echo(f"{counted(done.before, 'file')} merged into {done.after:,}")


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
def vacuum(store: Path, older_than: timedelta) -> None:
    """Delete the files of a STORE that are out of use."""
    from graphquery.store import Store

    with reported(), Store.open(store).writer() as writer:
        deleted = writer.vacuum(older_than=older_than)
    click.echo(f"{counted(deleted, 'file')} deleted")
