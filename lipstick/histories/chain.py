"""The versions of a table, and the statements between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from lipstick.errors import StatementError
from rewriter.statements import Statement, TableShape


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
    """

    name: str
    statement: Statement
    table: str
    version: int
    reads: Mapping[str, str] = field(default_factory=dict)
    dynamic: bool = False
    unchanged: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """The versions of a table: views of the rows of each, and its columns.

    Parameters
    ----------
    versions
        Views of the versions by number, in their order.
    shapes
        The columns of each.
    changed
        Returns views of the rows in the files that one version has and another has not, and the
        other way round; None: not known, any row may differ.
    """

    versions: Mapping[int, str]
    shapes: Mapping[int, TableShape]
    changed: Callable[[int, int], tuple[str, str] | None] | None = None

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
