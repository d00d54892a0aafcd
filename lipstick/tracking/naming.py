"""Names: of tuples without a declared key, by a file and the row in it; and names that are free."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

ROW_BITS = 40
"""A row token is ``file number << ROW_BITS | row number``: 8 million files of 10^12 rows."""

ROWS = "rows"
"""The naming of relations whose tuples are named so."""


def shown_key(naming: str, key: tuple[Any, ...]) -> tuple[Any, ...]:
    """A token's key as people see it: file number and row number apart."""
    if naming != ROWS:
        return key
    (packed,) = key
    return (packed >> ROW_BITS, packed & ((1 << ROW_BITS) - 1))


def stored_key(naming: str, key: tuple[Any, ...]) -> tuple[Any, ...]:
    """A shown token's key as members store it."""
    return (key[0] << ROW_BITS | key[1],) if naming == ROWS else key


def free_name(taken: Container[str], wanted: str) -> str:
    """A name that is not taken, as near to one as there is."""
    names = (wanted if number == 1 else f"{wanted}~{number}" for number in range(1, 1 << 31))
    return next(name for name in names if name not in taken)
