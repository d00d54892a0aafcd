"""The engine that runs the queries of a replay, and rows looked up by their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import pyarrow as pa

from rewriter.statements import SINCE, UNTIL, Bags, TableShape, numbered, rows_of, union_all

if TYPE_CHECKING:
    from lipstick.histories.chain import Chain

_STATEMENT: Final = "_lipstick_statement"
_TOGETHER: Final = 40_000
"""Rows that are compared at once, at most."""


class SqlEngine(Protocol):
    """Runs the queries of a replay, given as Spark SQL."""

    def view(self, query: str) -> str:
        """Return the name of a view of a query, for queries of this engine."""

    def shown(self, query: str) -> str:
        """Return a query, or the name of a view, whose views the session has now."""

    def store(self, query: str, *, few: bool = False) -> str | None:
        """Compute a query and return a view of its rows; None: it has none.

        Parameters
        ----------
        few
            Rows that are many are not stored: the view computes them again.
        """

    def differences(self, left: str, right: str) -> tuple[str | None, str | None]:
        """Return views of the rows of each of two queries that the other has not, as bags."""

    def compared(self, left: str, right: str) -> tuple[str, str | None, str | None]:
        """Return a view of a query's rows, and what :meth:`differences` does of it and another."""

    def keys(self, queries: Sequence[tuple[str, str, Sequence[str]]]) -> str | None:
        """Return a view of keys, as ``keys_of`` selects them; None: none."""

    def is_held(self, query: str) -> bool:
        """Return True if a query reads few rows, and this process holds them all."""

    def count_here(self, query: str) -> int | None:
        """Return the number of rows of a query that is computed here; None: it is not."""

    def renew(self) -> None:
        """Answer by the settings and relations that the session has now."""

    def literals(self, view: str) -> Sequence[Sequence[str | None] | None]:
        """Return the values of the columns of a stored view as literals of SQL, None for NULL.

        None: the values are many, or their type has no literal that reads the same everywhere.
        """

    def held(self, view: str) -> pa.Table | None:
        """Return the rows of a stored view; None: they are not held in this process."""

    def shape(self, query: str) -> TableShape:
        """Return the columns of a query."""

    def lifetimes(
        self,
        chain: Chain,
        numbers: Sequence[int],
        select: Callable[[str], str],
        keys: pa.Table | None = None,
    ) -> str | None:
        """Return a view of rows of versions: SINCE, UNTIL, and their columns.

        None: it is not known what the commits between the versions changed, or the rows are many.

        Parameters
        ----------
        numbers
            Versions of the table that follow each other, with the same columns. SINCE and UNTIL
            are places among them.
        select
            Returns the query of the wanted rows, given a query of all.
        keys
            The values of some columns by which rows are wanted, where no others decide.
        """


def stored(engine: SqlEngine, query: str, *, few: bool = False) -> str:
    """Compute a query and return a view of its rows, also if it has none."""
    found = engine.store(query, few=few)
    return found or engine.view(f"{rows_of(engine.view(query))} WHERE FALSE")


def rows_of_versions(
    engine: SqlEngine,
    chain: Chain,
    numbers: Sequence[int],
    select: Callable[[str], str],
    keys: pa.Table | None = None,
) -> str:
    """Return a view of rows of versions: SINCE, UNTIL, and their columns; see :class:`SqlEngine`.

    Where it is not known what commits changed, each version is read.
    """
    view = engine.lifetimes(chain, numbers, select, keys)
    if view is not None:
        return view
    rows = (select(rows_of(chain.versions[number])) for number in numbers)
    alone = [numbered({SINCE: n, UNTIL: n + 1}, query) for n, query in enumerate(rows)]
    return stored(engine, union_all(alone))


@dataclass(frozen=True, slots=True)
class StatementEffect:
    """Queries of the rows that a statement touched, and of the rows that it made.

    Parameters
    ----------
    became
        The touched rows after it, and the inserted rows.
    ambiguous
        The touched rows that several rows of the source match; None: it is never so.
    """

    touched: str
    became: str
    ambiguous: str | None


@dataclass(frozen=True, slots=True)
class ConcernedRows:
    """The rows of a version that a difference concerns.

    Attributes
    ----------
    found
        The query of the rows of the version that have their keys.
    expected
        The query of the rows that a statement makes of them; None: no row.
    checked
        The statements whose versions are known to have the expected rows with these keys.
    """

    found: str
    expected: str | None
    checked: set[str]


Concerned: TypeAlias = Callable[[], Sequence[ConcernedRows] | None]
"""Looks rows up that a difference concerns; None: it is the whole version."""


def are_as_expected(engine: SqlEngine, concerned: Sequence[ConcernedRows]) -> bool:
    """Return True if all rows that were found, of the same columns, are the expected ones.

    They are compared together, as far as this process compares so many rows.
    """
    most = max((engine.count_here(rows.found) or 0 for rows in concerned), default=0)
    together = max(1, _TOGETHER // max(most, 1))
    parts = (concerned[n : n + together] for n in range(0, len(concerned), together))
    return all(_are_as_expected(engine, part) for part in parts)


def _are_as_expected(engine: SqlEngine, concerned: Sequence[ConcernedRows]) -> bool:
    found = [numbered({_STATEMENT: number}, rows.found) for number, rows in enumerate(concerned)]
    expected = [
        numbered({_STATEMENT: number}, rows.expected)
        for number, rows in enumerate(concerned)
        if rows.expected is not None
    ]
    if not expected:
        return not found or engine.store(union_all(found)) is None
    return engine.differences(union_all(found), union_all(expected)) == (None, None)


@dataclass(frozen=True, slots=True)
class ReplayedRows:
    """The difference after a statement, and the rows that it rests on."""

    bags: Bags
    concerned: Concerned
