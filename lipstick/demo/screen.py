"""The output of the demonstration: headings, tables, formulas, progress, and checks of answers."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from lipstick import display

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


T = TypeVar("T")

PLAIN_WIDTH = 110
CELL_WIDTH = 60
_TOKEN_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")


class Screen:
    """Standard output, for a person or for a file."""

    def __init__(self, console: Console | None = None) -> None:
        if console is None:
            width = None if sys.stdout.isatty() else PLAIN_WIDTH
            console = Console(width=width, highlight=False, soft_wrap=False)
        self.console = console
        self._errors = Console(stderr=True, highlight=False)

    def heading(self, text: str) -> None:
        """Begin a part."""
        self.console.print()
        self.console.print(Text(text, style="bold"))
        self.console.print(Text("─" * len(text), style="dim"))

    def say(self, text: str, style: str = "") -> None:
        """Write a paragraph."""
        self.console.print(Text(text, style=style))

    def label(self, text: str) -> None:
        """Name what follows."""
        self.console.print()
        self.console.print(Text(text, style="bold blue"))

    def sql(self, text: str) -> None:
        """Write SQL."""
        if not self.console.is_terminal:
            self.put(Text(text))
            return
        shown = Syntax(text, "sql", theme="ansi_dark", background_color="default", word_wrap=True)
        self.put(shown)

    def formula(self, text: str, relations: Sequence[str]) -> None:
        """Write an annotation, the tokens of each relation in a colour of their own."""
        shown = Text(text)
        for number, relation in enumerate(relations):
            colour = _TOKEN_COLOURS[number % len(_TOKEN_COLOURS)]
            shown.highlight_regex(rf"\b{relation}:[^\s·⊗+()]+", colour)
        self.put(shown)

    def table(self, head: Sequence[str], rows: Iterable[Sequence[Any]], numbers: str = "") -> None:
        """Write rows; columns named in ``numbers``, words apart, stand to the right."""
        right = set(numbers.split())
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in head:
            table.add_column(Text(name), justify="right" if name in right else "left")
        for row in rows:
            table.add_row(
                *(
                    value if isinstance(value, Text) else Text(display.cell(value, CELL_WIDTH))
                    for value in row
                )
            )
        self.put(table)

    def put(self, shown: Any) -> None:
        """Write something that rich can draw, indented."""
        self.console.print(Padding(shown, (0, 0, 0, 2), expand=False))

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Say what is being done while it is done; one line to standard error without terminal."""
        if not self.console.is_terminal:
            self._errors.print(Text(f"{what} …"))
        with display.progress(console=self.console) as line:
            line(what)
            yield


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return what the work returns and the seconds it took."""
    started = time.perf_counter()
    done = work()
    return done, time.perf_counter() - started


def seconds(duration: float) -> str:
    """Return a duration in words."""
    return f"{duration * 1000:.0f} ms" if duration < 0.1 else f"{duration:.1f} s"


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one comparison, with the seconds that both sides took."""

    equal: bool
    answer: Counter[tuple[Any, ...]]
    answered: float
    rerun: float

    @property
    def rows(self) -> int:
        """The number of rows of the rerun."""
        return self.answer.total()

    def show(self, screen: Screen, method: str) -> None:
        """Write the outcome."""
        if self.equal:
            screen.say(
                f"  ✓ equal to a rerun ({display.counted(self.rows, 'row')}): answered from "
                f"{method} in {seconds(self.answered)}, run again in {seconds(self.rerun)}",
                "green",
            )
        else:
            screen.say("  ✗ NOT equal to the query run again on the reduced tables", "bold red")


def check(
    spark: SparkSession, what_if: Any, sql: str, reduced: Mapping[str, DataFrame], started: float
) -> Check:
    """Compare a what-if's answer with a plain run over reduced tables.

    Parameters
    ----------
    spark
        A session without lipstick's views, that ``reduced`` belong to.
    started
        Seconds that asking the what-if took before its rows are read here.
    """
    for name, frame in reduced.items():
        frame.createOrReplaceTempView(name)
    answered_rows, answered = timed(what_if.df.collect)
    rerun_rows, rerun = timed(spark.sql(sql).collect)
    answer: Counter[tuple[Any, ...]] = Counter(map(tuple, rerun_rows))
    return Check(Counter(map(tuple, answered_rows)) == answer, answer, started + answered, rerun)
