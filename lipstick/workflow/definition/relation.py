"""Relations of a module's schemas: columns, key, and how they may arrive."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lipstick.workflow.errors import RelationError
from semiring.door import checked

_SYNONYMS = {
    "integer": "int",
    "long": "bigint",
    "short": "smallint",
    "byte": "tinyint",
    "real": "float",
    "dec": "decimal",
    "numeric": "decimal",
}
_NAME = re.compile(r"[A-Za-z_]\w*")


@checked
@dataclass(frozen=True, slots=True)
class Relation:
    """The schema of one relation.

    Parameters
    ----------
    columns
        Pairs of name and Spark type (``"decimal(10,2)"``), or a mapping, or DDL text
        (``"CarId string, Model string"``, for types without commas at their top level).
    key
        Columns that identify a tuple: unique and never NULL. They name its nodes to people.
        None: tuples are told apart by their place.
    union
        Several edges may lead into the relation: it is the bag union of what they bring.
    optional
        No edge need lead into the relation: it is empty then.

    Raises
    ------
    RelationError
        Without columns, for a column named twice, or a key that is none of the columns.
    """

    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...] = ()
    union: bool = False
    optional: bool = False

    def __init__(
        self,
        columns: str | Mapping[str, str] | Iterable[tuple[str, str]],
        key: str | Iterable[str] | None = None,
        *,
        union: bool = False,
        optional: bool = False,
    ) -> None:
        parsed = _columns(columns)
        names = [name for name, _ in parsed]
        keys = (key,) if isinstance(key, str) else tuple(key or ())
        if not names:
            raise RelationError("A relation has at least one column; none is given.")
        twice = sorted({n for n in names if [m.lower() for m in names].count(n.lower()) > 1})
        if twice:
            raise RelationError(f"Columns are given twice: {', '.join(twice)}.")
        unknown = [column for column in keys if column not in names]
        if unknown:
            raise RelationError(
                f"The key ({', '.join(keys)}) has no column {unknown[0]!r} to be made of.\n"
                f"The columns are: {', '.join(names)}."
            )
        object.__setattr__(self, "columns", parsed)
        object.__setattr__(self, "key", keys)
        object.__setattr__(self, "union", union)
        object.__setattr__(self, "optional", optional)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(name for name, _ in self.columns)

    @property
    def ddl(self) -> str:
        """The columns as Spark's DDL."""
        return ", ".join(f"`{name}` {kind}" for name, kind in self.columns)

    def difference(self, source: Relation) -> str | None:
        """Say in which column the relation differs from one that is carried to it; None: in none.

        Columns are compared by position; names and types as Spark reads them.
        """
        pairs = zip(source.columns, self.columns, strict=False)
        for number, (its, column) in enumerate(pairs, start=1):
            if its[0].lower() != column[0].lower() or _plain(its[1]) != _plain(column[1]):
                return (
                    f"column {number} is {its[0]} {its[1]} there and {column[0]} {column[1]} here"
                )
        if len(source.columns) != len(self.columns):
            return f"there are {len(source.columns)} columns there and {len(self.columns)} here"
        return None


def is_name(name: str) -> bool:
    """Whether a text can name a relation or column in SQL without quotes."""
    return _NAME.fullmatch(name) is not None


def _columns(
    given: str | Mapping[str, str] | Iterable[tuple[str, str]],
) -> tuple[tuple[str, str], ...]:
    if isinstance(given, Mapping):
        return tuple((str(name), str(kind)) for name, kind in given.items())
    if not isinstance(given, str):
        return tuple((str(name), str(kind)) for name, kind in given)
    columns = []
    for part in re.split(r",(?![^(<]*[)>])", given):
        name, _, kind = part.strip().partition(" ")
        if not name or not kind.strip():
            raise RelationError(
                f"{part.strip()!r} is not a column: write a name and a type, as in 'CarId string'."
            )
        columns.append((name.strip("`"), kind.strip()))
    return tuple(columns)


def _plain(kind: str) -> str:
    """A type's text in one spelling."""
    words = re.sub(r"\s+", "", kind.lower())
    return re.sub(r"[a-z_]+", lambda word: _SYNONYMS.get(word[0], word[0]), words)
