"""Catalogs: the meaning of the names of relations, functions and variables in a query."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol, TypeAlias

from sqlglot import exp

from rewriter.algebra import Iterated
from rewriter.scalars.comparable import Conversions

Type: TypeAlias = exp.DataType
"""A type of Spark SQL."""

WINDOW, SESSION = "window", "session_window"
"""The functions that give a row time windows, and the marks of their columns."""


@dataclass(frozen=True, slots=True)
class TrackedRelation:
    """A relation whose rows have tokens, and its columns in order.

    ``marks`` say of columns what Spark knows beyond their types: that they are session windows, or
    texts of a fixed length.
    """

    name: str
    columns: tuple[str, ...]
    marks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Deduplication:
    """Deduplication of a stream: the places of the columns that are compared.

    ``within``: for as long as the watermark has not passed a row's time and the delay.
    """

    keys: tuple[int, ...]
    within: bool = False


@dataclass(frozen=True, slots=True)
class EventTimeColumn:
    """Watermark of a stream: the place of its column, and its delay in milliseconds."""

    place: int
    delay: int


@dataclass(frozen=True, slots=True)
class ViewText:
    """A view: its text, and its column names where they differ from the names in the text's answer.

    ``distinct``: of a stream, whose duplicates are dropped from the text's answer. ``watermark``:
    of a stream, which has one by this column of the text's answer. ``once``: all references share
    the plan of the text. ``settings``: by which Spark reads the text, whatever the session has.
    """

    name: str
    text: str
    columns: tuple[str, ...] | None = None
    distinct: Deduplication | None = None
    watermark: EventTimeColumn | None = None
    once: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Variable:
    """The value that a session variable has: as text, None where it is NULL, and its type."""

    value: str | None
    type: str


@dataclass(frozen=True, slots=True)
class TableFunction:
    """A registered function that makes a table of a relation's rows.

    Parameters
    ----------
    carrier
        The name of a table function that makes the same of an array of the rows. Its arguments
        are the array, the place or the name of the relation among the function's arguments, and
        the others; before the columns of each row it yields the row's place, from 0.
    columns
        The names of the columns it makes.
    """

    carrier: str
    columns: tuple[str, ...]


class Catalog(Protocol):
    """Resolves the names of relations, variables and functions as Spark does, in any case."""

    def resolve(self, parts: tuple[str, ...]) -> TrackedRelation | ViewText | None:
        """Return what the name, of one to three parts, stands for; None if it is unknown."""
        ...

    def variable(self, parts: tuple[str, ...]) -> Variable | None:
        """Return the session variable of a name that is not a column's; None if there is none."""
        ...

    def made_columns(self, function: str) -> tuple[str, ...] | None:
        """Return the columns of the rows that a registered function makes; None if not known."""
        ...

    def column_type(self, relation: str, column: str) -> Type | None:
        """Return the type of a column of a tracked relation; None if it is not known."""
        ...

    def type_of(self, query: str) -> Type | None:
        """Return the type of the one column of a query that reads no relation; None if unknown."""
        ...


class MemoryCatalog:
    """A catalog in memory, whose relations and variables are found by the last part of a name."""

    def __init__(
        self,
        relations: Iterable[TrackedRelation | ViewText],
        variables: Mapping[str, Variable] | None = None,
        made_columns: Mapping[str, tuple[str, ...]] | None = None,
        types: Mapping[tuple[str, str], Type] | None = None,
    ) -> None:
        self._relations = {relation.name.lower(): relation for relation in relations}
        self._variables = dict(variables or {})
        self._made_columns = dict(made_columns or {})
        self._types = dict(types or {})

    def resolve(self, parts: tuple[str, ...]) -> TrackedRelation | ViewText | None:
        return self._relations.get(parts[-1].lower())

    def variable(self, parts: tuple[str, ...]) -> Variable | None:
        return self._variables.get(parts[-1].lower())

    def made_columns(self, function: str) -> tuple[str, ...] | None:
        return self._made_columns.get(function.lower())

    def column_type(self, relation: str, column: str) -> Type | None:
        return self._types.get((relation, column))

    def type_of(self, query: str) -> Type | None:
        """Return nothing: it takes Spark to know."""
        return None


@dataclass(frozen=True, slots=True)
class Environment:
    """The meaning of the names that a query may use.

    Parameters
    ----------
    catalog
        Resolves the names of relations.
    functions
        Names, in lower case, of functions beside Spark's own that are deterministic functions of
        one row, or in LATERAL make rows of one.
    aggregates
        The names of these functions that are functions of a group's bag instead.
    tables
        The functions among these, by name in lower case, that may be called over a relation.
    levels
        By recursive query, the number of levels after the first, or the view of its rows. Of a
        recursion without levels the start and a step are bound. None: recursions are refused.
    converted
        The types that columns of EXCEPT and INTERSECT are converted to on both sides.
    """

    catalog: Catalog
    functions: Container[str] = frozenset()
    aggregates: Container[str] = frozenset()
    tables: Mapping[str, TableFunction] = field(default_factory=lambda: MappingProxyType({}))
    levels: Mapping[str, int | Iterated] | None = None
    converted: Conversions = field(default_factory=lambda: MappingProxyType({}))
