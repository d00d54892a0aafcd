"""Statements as values, before any table is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from sqlglot import exp

Name: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table that a statement changes.

    Parameters
    ----------
    type
        Its type, as SQL writes it.
    default
        The text of its DEFAULT; None: it has none, and is filled with NULL.
    computed
        The table numbers its rows (identity).
    generated
        The expression over other columns that is always its value (GENERATED ALWAYS AS); None: it
        is not a generated column.
    field
        The number that the table's format gives the column, which renaming keeps; None: unknown.
    """

    name: str
    type: str
    default: str | None = None
    computed: bool = False
    generated: str | None = None
    field: int | None = None


@dataclass(frozen=True, slots=True)
class TableShape:
    """The columns of a relation, and the names of its partition columns."""

    columns: tuple[TableColumn, ...]
    partitions: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def alike(self, other: TableShape) -> bool:
        """Return True if another relation has columns of the same names and types."""
        numbered = self._numbered and other._numbered
        own, its = (
            [(c.name.lower(), c.type, c.field if numbered else None) for c in shape.columns]
            for shape in (self, other)
        )
        return own == its

    def evolved(self, later: TableShape) -> bool:
        """Return True if a later relation has other columns that follow from these."""
        return not self.alike(later) and self.columns_in(later) is not None

    def columns_in(self, later: TableShape) -> Mapping[str, TableColumn] | None:
        """Return the columns that a later relation still has, by their names there in lower case.

        None: it is not known. A column may have another type. Where the format does not number
        columns, and some were added while others were dropped, one may have been renamed.
        """
        numbered = self._numbered and later._numbered
        own: dict[str | int | None, TableColumn] = {
            column.field if numbered else column.name.lower(): column for column in self.columns
        }
        found = {}
        for column in later.columns:
            before = own.get(column.field if numbered else column.name.lower())
            if before is not None and before.type != column.type:
                return None
            if before is not None:
                found[column.name.lower()] = before
        subset = len(found) in (len(self.columns), len(later.columns))
        return found if numbered or subset else None

    @property
    def _numbered(self) -> bool:
        return all(column.field is not None for column in self.columns)

    @property
    def by_name(self) -> Mapping[str, TableColumn]:
        """The columns by their names in lower case."""
        return {column.name.lower(): column for column in self.columns}


@dataclass(frozen=True, slots=True)
class Assignment:
    """A column and its new value; None: its DEFAULT."""

    column: Name
    value: exp.Expr | None


class Matching(Enum):
    """The rows that a clause of MERGE is about."""

    MATCHED = "MATCHED"
    BY_TARGET = "NOT MATCHED"
    BY_SOURCE = "NOT MATCHED BY SOURCE"


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of MERGE.

    Parameters
    ----------
    condition
        What it demands beside the match; None: nothing.
    assignments
        The columns it sets (UPDATE) or fills (INSERT); None: all that the source has, by name
        (``*``).
    deletes
        The row goes.
    """

    matching: Matching
    condition: exp.Expr | None
    assignments: tuple[Assignment, ...] | None = ()
    deletes: bool = False


@dataclass(frozen=True, slots=True)
class Update:
    """UPDATE ... SET ... WHERE."""

    text: str
    table: Name
    alias: str | None
    assignments: tuple[Assignment, ...]
    condition: exp.Expr | None


@dataclass(frozen=True, slots=True)
class Delete:
    """DELETE FROM ... WHERE."""

    text: str
    table: Name
    alias: str | None
    condition: exp.Expr | None


@dataclass(frozen=True, slots=True)
class Truncate:
    """TRUNCATE TABLE, or a partition of it."""

    text: str
    table: Name
    partition: tuple[Assignment, ...] = ()


@dataclass(frozen=True, slots=True)
class Insert:
    """INSERT INTO, INSERT OVERWRITE, and INSERT INTO ... REPLACE WHERE.

    Parameters
    ----------
    columns
        The columns that it lists; None: none.
    partition
        The columns of its PARTITION clause; the value None is given by the query.
    replaced
        The condition of REPLACE WHERE; None: it has none.
    """

    text: str
    table: Name
    query: exp.Query
    columns: tuple[str, ...] | None = None
    by_name: bool = False
    partition: tuple[Assignment, ...] = ()
    overwrites: bool = False
    replaced: exp.Expr | None = None


@dataclass(frozen=True, slots=True)
class Replace:
    """CREATE TABLE AS, and CREATE OR REPLACE TABLE AS: the rows of a query in place of all."""

    text: str
    table: Name
    query: exp.Query


@dataclass(frozen=True, slots=True)
class MergeInto:
    """MERGE INTO ... USING ... ON, and its clauses in their order.

    Parameters
    ----------
    source
        A table or a query in brackets, without its alias.
    evolves
        WITH SCHEMA EVOLUTION.
    """

    text: str
    table: Name
    alias: str | None
    source: exp.Query
    source_alias: str | None
    condition: exp.Expr
    clauses: tuple[Clause, ...]
    evolves: bool = False

    def of(self, matching: Matching) -> tuple[Clause, ...]:
        """Return the clauses about some rows, in their order."""
        return tuple(clause for clause in self.clauses if clause.matching is matching)


Statement: TypeAlias = Update | Delete | Truncate | Insert | Replace | MergeInto
