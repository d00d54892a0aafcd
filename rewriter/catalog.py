"""What a front end must know about the relations a query names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class TrackedRelation:
    """A relation whose rows have tokens, and its columns in order."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class View:
    """A view: its text, and its column names where they are not those of the text's answer."""

    name: str
    text: str
    columns: tuple[str, ...] | None = None


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
    """Resolves the name of a relation as Spark does, without regard to case."""

    def resolve(self, parts: tuple[str, ...]) -> TrackedRelation | View | None:
        """Return what the name, of one to three parts, stands for; None if it is unknown."""
        ...


class MemoryCatalog:
    """A catalog of given relations, found by their last name part whatever qualifies it."""

    def __init__(self, relations: Iterable[TrackedRelation | View]) -> None:
        self._relations = {relation.name.lower(): relation for relation in relations}

    def resolve(self, parts: tuple[str, ...]) -> TrackedRelation | View | None:
        return self._relations.get(parts[-1].lower())
