"""The versions of a row, and the statements that made them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Row


@dataclass(frozen=True, slots=True)
class RowVersion:
    """A row of a table after a statement changed it.

    Attributes
    ----------
    version
        The number of the table's version.
    statement
        The name of the statement that made it; None: the row was there when the history begins.
    change
        ``inserted``, ``updated`` or ``deleted``; ``there`` of the first version.
    old, new
        The values before and after; None: the row was not there.
    """

    version: int
    statement: str | None
    change: str
    old: Row | None
    new: Row | None


@dataclass(frozen=True, slots=True)
class CellOrigin:
    """The statement that last changed a cell.

    Attributes
    ----------
    statement
        Its name; None: the value was there when the history begins.
    version
        The number of the table's version that it made.
    """

    column: str
    value: Any
    statement: str | None
    version: int


def changed_versions(
    found: Mapping[int, Sequence[Row]], made_by: Mapping[int, str]
) -> Iterator[RowVersion]:
    """Yield the versions that changed a row, of its rows by version."""
    old: Row | None = None
    for place, (number, rows) in enumerate(found.items()):
        new = rows[0] if rows else None
        if not same_values(old, new):
            change = "updated"
            if place == 0:
                change = "there"
            elif old is None:
                change = "inserted"
            elif new is None:
                change = "deleted"
            yield RowVersion(number, made_by.get(number), change, old, new)
        old = new


def same_values(left: Any, right: Any) -> bool:
    """Return True if two values are one, NaN with NaN too."""
    if isinstance(left, Row) and isinstance(right, Row):
        same_fields = left.asDict().keys() == right.asDict().keys()
        return same_fields and all(map(same_values, left, right))
    return left is right or left == right or (left != left and right != right)
