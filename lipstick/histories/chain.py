"""The versions of a table, and the statements between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise, takewhile
from typing import TypeVar

from pyspark.sql import DataFrame

from lipstick.errors import StatementError
from lipstick.histories.engine import SparkReplayEngine, shape_of
from lipstick.tracking.formats.versions import TableVersion, VersionedTable
from rewriter.statements import Statement, TableShape

T = TypeVar("T")
_DYNAMIC = ("isDynamicPartitionOverwrite", "replace-partitions")


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """A statement of a history.

    Parameters
    ----------
    name
        Its name, by which it is undone.
    table
        The table that it changes, by its dotted name in lower case.
    version
        The number of the table's version that it made.
    reads
        The relations that names in it stand for, where these are others.
    dynamic
        INSERT OVERWRITE replaced the partitions of its rows alone.
    unchanged
        It changed no row and made no version: `version` is also the one before it.
    columns
        The columns that the table had then, where no version has them; None: as of `version`.
    accepted
        Spark has run its text here: an error of Spark's is one of a text of ours.
    published
        The statement on a branch that this is, once the table has the version that it made there.
    """

    name: str
    statement: Statement
    table: str
    version: int
    reads: Mapping[str, str] = field(default_factory=dict)
    dynamic: bool = False
    unchanged: bool = False
    columns: TableShape | None = None
    accepted: bool = False
    published: str | None = None


def reads_in_place(reads: Mapping[str, str], table: str, other: str) -> dict[str, str]:
    """Return what the names in a statement stand for, with another table in the place of one."""
    return {name: other if read == table else read for name, read in reads.items()}


class VersionValues(Mapping[int, T]):
    """A value of each version of a table, computed when it is first asked for."""

    def __init__(self, numbers: Iterable[int], compute: Callable[[int], T]) -> None:
        self._numbers = dict.fromkeys(numbers)
        self._compute = compute
        self._known: dict[int, T] = {}

    def __getitem__(self, number: int) -> T:
        """Return the value of a version."""
        if number not in self._known:
            if number not in self._numbers:
                raise KeyError(number)
            self._known[number] = self._compute(number)
        return self._known[number]

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers of the versions, in their order."""
        return iter(self._numbers)

    def __len__(self) -> int:
        """Return the number of versions."""
        return len(self._numbers)


@dataclass(frozen=True, slots=True)
class Chain:
    """The versions of a table: views of the rows of each, and its columns.

    Parameters
    ----------
    versions
        Views of the versions by number, in their order.
    shapes
        The columns of each.
    table
        The table in its format; None: the versions are data frames, and any row may differ.
    """

    versions: Mapping[int, str]
    shapes: Mapping[int, TableShape]
    table: VersionedTable | None = None

    @staticmethod
    def of(
        engine: SparkReplayEngine,
        numbers: Iterable[int],
        read: Callable[[int], DataFrame],
        table: VersionedTable | None = None,
    ) -> Chain:
        """Return versions that are read when they are first asked for."""
        frames = VersionValues(numbers, read)

        @cache
        def alike() -> Mapping[int, int]:
            return {} if table is None else table.alike(frames)

        def shape(number: int) -> TableShape:
            other = alike().get(number, number)
            if other != number:
                return shapes[other]
            return shape_of(frames[number].schema, table, number)

        shapes = VersionValues(frames, shape)
        views = VersionValues(frames, lambda number: engine.named(frames[number]))
        return Chain(views, shapes, table)

    def changed(self, engine: SparkReplayEngine, before: int, after: int) -> tuple[str, str] | None:
        """Return views of the rows in files that one version has alone, and the other; None: all.

        All other rows are in both.
        """
        condition = None if self.table is None else self.table.changed(before, after)
        if self.table is None or condition is None:
            return None
        sides = (self.table.read(version).where(condition) for version in (before, after))
        first, second = map(engine.named, sides)
        return first, second

    @property
    def first(self) -> int:
        """The number of the version that the history begins with."""
        return next(iter(self.versions))

    @property
    def last(self) -> int:
        """The number of the version that the history ends with."""
        return list(self.versions)[-1]

    def after(self, version: int) -> tuple[int, ...]:
        """Return the numbers of the versions after another, in their order."""
        numbers = tuple(self.versions)
        return numbers[numbers.index(version) + 1 :]

    def alike_from(self, version: int) -> list[int]:
        """Return a version and the next ones, up to a change of columns."""
        shape, numbers = self.shapes[version], [version, *self.after(version)]
        numbers = list(takewhile(lambda number: self.shapes[number].alike(shape), numbers))
        known = {} if self.table is None else self.table.alike(numbers)
        own = known.get(version)
        return list(takewhile(lambda number: known.get(number) == own, numbers))

    def before(self, version: int) -> int:
        """Return the number of the version before another."""
        numbers = list(self.versions)
        return numbers[numbers.index(version) - 1]

    def evolutions(self, before: int, after: int) -> Iterator[tuple[TableShape, TableShape]]:
        """Yield the columns after and before each change of columns, up to a version.

        Raises
        ------
        StatementError
            Where it is not known what became of a column.
        """
        numbers = list(self.versions)
        for earlier, later in pairwise(numbers[numbers.index(before) : numbers.index(after) + 1]):
            own, its = self.shapes[earlier], self.shapes[later]
            if own.alike(its):
                continue
            if not own.evolved(its):
                raise StatementError(
                    f"Version {later} has the columns {', '.join(its.names)}, and version "
                    f"{earlier} {', '.join(own.names)}: some got other types, or were renamed "
                    "without a number that says so.\nFollow the table from there on."
                )
            yield its, own

    def before_step(self, step: HistoryStep) -> int:
        """Return the number of the version that a statement ran over."""
        return step.version if step.unchanged else self.before(step.version)


def replaces_partitions(commit: TableVersion) -> bool:
    """Return True if the log of Delta or Iceberg has a commit as one of replaced partitions."""
    return any(commit.parameters.get(name) == "true" for name in _DYNAMIC)
