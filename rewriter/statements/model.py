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
        is no generated column.
    """

    name: str
    type: str
    default: str | None = None
    computed: bool = False
    generated: str | None = None


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
        own, its = (
            [(column.name.lower(), column.type) for column in shape.columns]
            for shape in (self, other)
        )
        return own == its

    def evolved(self, later: TableShape) -> bool:
        """Return True if a later relation has more columns, or fewer, and the others as they are.

        False where both happened: a column may have been renamed.
        """
        own, its = (
            {column.name.lower(): column.type for column in shape.columns}
            for shape in (self, later)
        )
        return own != its and (own.items() <= its.items() or its.items() <= own.items())

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
