"""The engine that runs the queries of a replay, and rows looked up by their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rewriter.statements import Bags, TableShape, rows_of, within


class SqlEngine(Protocol):
    """Runs the queries of a replay, given as Spark SQL."""

    def view(self, query: str) -> str:
        """Return the name of a view of a query."""

    def store(self, query: str) -> str | None:
        """Compute a query and return a view of its rows; None: it has none."""

    def differences(self, left: str, right: str) -> tuple[str | None, str | None]:
        """Return views of the rows of each of two queries that the other has not, as bags."""

    def literals(self, view: str) -> Sequence[Sequence[str | None] | None]:
        """Return the values of the columns of a stored view as literals of SQL, None for NULL.

        None: the values are many, or their type has no literal that reads the same everywhere.
        """

    def shape(self, query: str) -> TableShape:
        """Return the columns of a query."""


@dataclass(frozen=True, slots=True)
class ConcernedRows:
    """The rows of a version that a difference concerns.

    Attributes
    ----------
    keys
        A stored view of their keys, as :func:`rewriter.statements.keys_of` gives them.
    alias, expressions
        The expressions of the keys over a version, and the alias that they know it by.
    expected
        The query of the rows that a statement makes of them; None: no row.
    """

    keys: str
    alias: str
    expressions: Sequence[str]
    expected: str | None

    def are_in(self, engine: SqlEngine, real: str) -> bool:
        """Return True if a version has just the expected rows with these keys, as bags."""
        values = engine.literals(self.keys)
        near = within(rows_of(real), self.alias, self.expressions, self.keys, values)
        if self.expected is None:
            return engine.store(near) is None
        return engine.differences(near, self.expected) == (None, None)


@dataclass(frozen=True, slots=True)
class ReplayedRows:
    """The difference after a statement, and the rows that it rests on; None: the whole version."""

    bags: Bags
    concerned: Sequence[ConcernedRows] | None
