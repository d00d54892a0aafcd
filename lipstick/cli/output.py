"""Answers of commands: tables, JSON documents and pictures, on standard output or in a file."""

from __future__ import annotations

import io
import sys
import time
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from xml.etree import ElementTree

import click

from lipstick.cli.errors import Failure

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

    from graphquery import ProvenanceGraph

TABLE, JSON, CSV, SVG, HTML = "table", "json", "csv", "svg", "html"
ROWS = 50
"""Rows of a table that are shown by default."""

_UNBOUNDED = 10_000
_DATA = frozenset({"arrow", "avro", "csv", "json", "orc", "parquet", "tsv", "xls", "xlsx", "yaml"})
_OTHER_FILES = _DATA | {"html", "pdf", "png", "svg"}
"""Endings of files that hold something else than a drawn table."""
_SVG = "http://www.w3.org/2000/svg"
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title></head>
<body>{body}</body>
</html>
"""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(slots=True)
class Answer:
    """The answer of a command, put together and then sent at once.

    Parameters
    ----------
    format
        ``table``, ``json``, ``csv``, ``svg`` or ``html``.
    file
        Where it goes; None: standard output.
    limit
        Rows of a list at most; None: `ROWS` in a table, all in JSON and CSV.
    """

    format: str
    file: Path | None = None
    limit: int | None = None
    _parts: list[Any] = field(default_factory=list)

    @property
    def rows(self) -> int | None:
        """The largest number of rows to list; None: all."""
        return ROWS if self.limit is None and self.format == TABLE else self.limit

    # -- tables ----------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Add a line; control characters are escaped, since others may have written the text."""
        self._parts.append(printable(text))

    def say_lines(self, text: str) -> None:
        """Add the lines of a text."""
        for line in text.splitlines():
            self.say(line)

    def table(
        self,
        rows: Sequence[dict[str, Any]],
        total: int | None = None,
        styles: Sequence[str] = (),
    ) -> None:
        """Add rows under the names of their values; columns without any value are left out.

        Other forms than tables have them from elsewhere: then nothing is added.

        Parameters
        ----------
        total
            How many rows there are, if these are only the first.
        styles
            The colour of each row, where a terminal has colours.
        """
        from rich import box
        from rich.table import Table
        from rich.text import Text

        if self.format in (JSON, CSV):
            return
        names = list(dict.fromkeys(name for row in rows for name in row))
        names = [name for name in names if any(row.get(name) is not None for row in rows)]
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in names:
            given = [row[name] for row in rows if row.get(name) is not None]
            number = all(isinstance(v, int | float) and not isinstance(v, bool) for v in given)
            table.add_column(Text(name), justify="right" if number else "left")
        for row, style in zip_longest(rows, styles):
            texts = ("" if row.get(name) is None else said(row[name]) for name in names)
            table.add_row(*(Text(printable(text)) for text in texts), style=style)
        if names:
            self._parts.append(table)
        if total is not None and total > len(rows):
            self.say(f"{total - len(rows):,} more; --limit shows as many as it says.")

    def send_table(self) -> None:
        """Send the lines and tables."""
        from rich.console import Console

        if self.file is None:
            self._print(Console(width=None if sys.stdout.isatty() else _UNBOUNDED, highlight=False))
            return
        text = io.StringIO()
        self._print(Console(file=text, width=_UNBOUNDED, highlight=False))
        self.send(text.getvalue())

    def flush(self) -> None:
        """Show the lines and tables so far, unless the answer is a document or goes to a file."""
        if self.format == TABLE and self.file is None:
            self.send_table()

    def _print(self, console: Console) -> None:
        for part in self._parts:
            console.print(part, markup=False)
        self._parts.clear()

    def finish(self, document: Any, rows: pa.Table | None = None) -> None:
        """Send the answer in the form that is asked for.

        Parameters
        ----------
        document
            What JSON has in place of the lines and tables.
        rows
            What CSV has.
        """
        if self.format == JSON:
            self.send_json(document)
        elif self.format == CSV:
            self.send_csv(rows)
        else:
            self.send_table()

    # -- other forms -----------------------------------------------------------------------

    def send_json(self, document: Any) -> None:
        """Send a JSON document; what JSON does not have is text."""
        from lipstick.explorer.cells import json_text

        self.send(json_text(document, indent=1, default=str) + "\n")

    def send_csv(self, table: pa.Table) -> None:
        """Send a table as CSV, which a spreadsheet takes for nothing but values."""
        from lipstick.explorer.cells import csv_bytes

        self.send(csv_bytes(table).decode())

    def send_picture(self, graph: ProvenanceGraph) -> None:
        """Send a drawing of a graph, and say on standard error what it shows and leaves out."""
        from graphquery.draw import graph_html

        drawing = graph_html(graph)
        caption, svg = _taken_apart(drawing)
        click.echo(caption, err=True)
        page = _PAGE.format(title=escape(caption), body=drawing)
        self.send(page if self.format == HTML else svg)

    def send(self, text: str) -> None:
        """Send text as it is."""
        if self.file is None:
            click.echo(text, nl=False)
        else:
            self.file.write_text(text, encoding="utf-8")


def changed_rows(changes: pa.Table | None) -> list[dict[str, Any]]:
    """Return the rows that a deletion changes, with old and new values where they differ."""
    rows = []
    for row in [] if changes is None else changes.to_pylist():
        old, new = row["old"], row["new"]
        values = dict(new if old is None else old)
        if old is not None and new is not None:
            for name, value in new.items():
                if old[name] != value:
                    values[name] = f"{old[name]} → {value}"
        rows.append({"change": row["_change"], **values})
    return rows


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on the terminal of standard error that something is being done, until it is done."""
    from rich.console import Console

    context = click.get_current_context(silent=True)
    options = {} if context is None else context.find_root().params
    if options.get("quiet"):
        yield
    elif options.get("verbose"):
        started = time.perf_counter()
        yield
        click.echo(f"{what}: {time.perf_counter() - started:.1f} s", err=True)
    else:
        with Console(stderr=True).status(f"{what} …"):
            yield


def counted(number: int, noun: str) -> str:
    """A number of things, such as ``1 node`` and ``2,000 nodes``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def said(value: Any) -> str:
    """Return a value for people: doubles rounded, times as the session saw them."""
    if isinstance(value, float):
        from lipstick.display.number_text import spelled

        return spelled(value)
    from lipstick.explorer.cells import cell

    written = cell(value, None)
    return "NULL" if written is None else written


def printable(text: str) -> str:
    """Return a text with its control characters escaped, which a terminal would act on."""
    # For commands that answer: help needs no algebra.
    from semiring.support.render import escape_controls

    return escape_controls(text, kept="\n\t")


class CommandGroup(click.Group):
    """Commands whose summaries are listed whole."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary(each)) for name, each in commands.items() if each])


def summary(command: click.Command) -> str:
    """Return what a command does, in the first sentence of its help."""
    return command.get_short_help_str(limit=1_000)


def _taken_apart(drawing: str) -> tuple[str, str]:
    """A drawing's caption, and its SVG with the caption as its title."""
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(drawing)
    caption = "".join(root[0].itertext())
    svg = root[1]
    title = ElementTree.Element(f"{{{_SVG}}}title")
    title.text = caption
    svg.insert(0, title)
    return caption, ElementTree.tostring(svg, encoding="unicode") + "\n"


# -- options -----------------------------------------------------------------------------------


def answer_options(formats: Iterable[str] = (TABLE, JSON)) -> Callable[[F], F]:
    """Options ``--format``, ``--output`` and ``--limit``, for a command that takes an `answer`."""
    choices = list(formats)

    def check(context: click.Context, _: click.Parameter, output: Path | None) -> Path | None:
        ending = "" if output is None else _ending(output)
        chosen = context.params["format"] or context.params.get("as_json")
        if not chosen and ending in _OTHER_FILES.difference(choices):
            written = ", ".join(each for each in choices if each != TABLE)
            raise Failure(
                f"{output}: this command writes no {ending.upper()}, but text (.txt) and {written}."
                "\nName the file after one of these, or add --format."
            )
        return output

    def decorate(function: F) -> F:
        @wraps(function)
        def command(
            *args: Any,
            format: str | None,
            output: Path | None,
            limit: int | None,
            as_json: bool = False,
            **kwargs: Any,
        ) -> Any:
            answer = _answer(JSON if as_json else format, output, limit, choices)
            return function(*args, answer=answer, **kwargs)

        options = [
            click.option(
                "--limit",
                type=click.IntRange(min=0),
                help=f"Rows of a list at most.  [default: {ROWS} in a table, else all]",
            ),
            click.option(
                "--output",
                type=click.Path(dir_okay=False, path_type=Path),
                callback=check,
                help="Write to this file instead of standard output.",
            ),
            click.option(
                "--format",
                type=click.Choice(choices),
                is_eager=True,  # read before --output is checked
                help="The format of the answer.  [default: by the name of --output, else table]",
            ),
        ]
        if JSON in choices:
            # Read before --output is checked.
            as_json = click.option(
                "--json", "as_json", is_flag=True, is_eager=True, help="The same as --format json."
            )
            options.append(as_json)
        decorated = typing.cast("F", command)
        for option in options:
            decorated = option(decorated)
        return decorated

    return decorate


def json_option(function: F) -> F:
    """Option ``--json``, of a command that does something, and takes an `answer`."""

    @wraps(function)
    def command(*args: Any, as_json: bool, **kwargs: Any) -> Any:
        return function(*args, answer=Answer(JSON if as_json else TABLE), **kwargs)

    text = "Print one JSON document in place of the lines."
    return click.option("--json", "as_json", is_flag=True, help=text)(typing.cast("F", command))


def _ending(file: Path) -> str:
    return file.suffix.removeprefix(".").lower()


def _answer(
    format: str | None, output: Path | None, limit: int | None, formats: Iterable[str]
) -> Answer:
    if format is None:
        ending = "" if output is None else _ending(output)
        format = ending if ending in formats else TABLE
    return Answer(format, output, limit)
