"""Queries of a module: SQL over its relations, alone or as a chain of named relations."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import cleandoc
from types import MappingProxyType
from typing import Any

from lipstick.workflow.errors import QueryError

BEFORE = "before_"
"""Q_out reads the state as it was before the invocation under this prefix: ``before_Cars``."""

_SELECTS = re.compile(r"[\s(]*(?:select|with|values|from|table)\b", re.IGNORECASE)

_NAME = r"(?P<name>[A-Za-z_]\w*|`[^`]+`)"
_INSERTS = re.compile(
    rf"\s*insert\s+into\s+(?:table\s+)?{_NAME}\s+(?P<query>(?:select|with|values|from|table|\(\s*select)\b.*)",
    re.IGNORECASE | re.DOTALL,
)
_DELETES = re.compile(
    rf"\s*delete\s+from\s+{_NAME}\s+where\s+(?P<query>.*)", re.IGNORECASE | re.DOTALL
)


class Query(ABC):
    """What defines one relation from others; SQL is the only kind so far."""

    __slots__ = ()

    @property
    @abstractmethod
    def text(self) -> str:
        """The query as it is shown."""


@dataclass(frozen=True, slots=True)
class Sql(Query):
    """A query in Spark SQL.

    Parameters
    ----------
    sql
        Its text; indentation that all lines have is taken away, so that it reads well in files.

    Raises
    ------
    QueryError
        For an empty text.
    """

    sql: str

    def __post_init__(self) -> None:
        if not self.sql.strip():
            raise QueryError("A query is empty: write a SELECT.")
        object.__setattr__(self, "sql", _unindented(self.sql))

    @property
    def text(self) -> str:
        """The SQL."""
        return self.sql

    @property
    def selects(self) -> bool:
        """Whether this is a query; else it is a predicate."""
        return _SELECTS.match(self.sql) is not None


def _unindented(sql: str) -> str:
    """A text from the margin, as it is if it has quotes, between which every space counts."""
    if any(quote in sql for quote in "'\"`"):
        return sql.strip()
    return "\n".join(line.rstrip() for line in cleandoc(sql).splitlines())


def as_query(given: Any, where: str) -> Sql:
    """Take SQL text, or a query in SQL, for a query.

    Raises
    ------
    QueryError
        For anything else; functions from data frames to data frames are not annotated yet.
    """
    if isinstance(given, Sql):
        return given
    if isinstance(given, str):
        return Sql(given)
    if callable(given):
        name = getattr(given, "__qualname__", repr(given))
        raise QueryError(
            f"{where} is the function {name}: modules are written in SQL, functions of data frames "
            "are not annotated.\nWrite it as a SELECT, or as a chain of named SELECTs."
        )
    raise QueryError(f"{where} is {given!r}, which is no query.\nWrite a SELECT.")


def _changes(given: Any, statement: re.Pattern[str], example: str) -> Mapping[str, Any]:
    """Changes of state relations by their name, which statements have in their text.

    Raises
    ------
    QueryError
        For other statements, and two about one relation.
    """
    if given is None or isinstance(given, Mapping):
        return given or {}
    found: dict[str, str] = {}
    for text in [given] if isinstance(given, str) else given:
        match = statement.fullmatch(text.rstrip().rstrip(";"))
        if match is None:
            raise QueryError(f"{text.strip()!r} is no statement of the form: {example}.")
        name = match["name"].strip("`")
        if name in found:
            raise QueryError(
                f"There are two statements about {name}.\nMake one of them: UNION ALL, or OR."
            )
        found[name] = match["query"]
    return found


def frozen(given: Mapping[str, Any], where: str) -> Mapping[str, Sql]:
    """Return named queries that cannot be changed, in their order."""
    return MappingProxyType({name: as_query(q, f"{where} {name}") for name, q in given.items()})


@dataclass(frozen=True, slots=True)
class StateQuery:
    """Q_state: a chain of named relations, and what becomes of the state relations.

    Parameters
    ----------
    relations
        Temporary relations, in order, each over the input, the state and those before it. Q_out
        sees them too.
    delete
        Per state relation a predicate over it, or a query of the keys (without a key: the rows)
        that leave it.
    insert
        Per state relation a query of its new tuples. They come after the deletions, so that an
        update is a deletion and an insertion with the same key.
        Both may be statements, one or a list of them, with the relation in their text:
        ``DELETE FROM Cars WHERE ...``, ``INSERT INTO Cars SELECT ...``.
    replace
        Per state relation a query of all its tuples. Those equal to an old tuple are that tuple:
        it keeps its identity and gets no new derivation.

    Raises
    ------
    QueryError
        When a relation is both replaced and changed by insertions or deletions.
    """

    relations: Mapping[str, Sql]
    delete: Mapping[str, Sql]
    insert: Mapping[str, Sql]
    replace: Mapping[str, Sql]

    def __init__(
        self,
        relations: Mapping[str, Any] | None = None,
        *,
        delete: Mapping[str, Any] | str | Sequence[str] | None = None,
        insert: Mapping[str, Any] | str | Sequence[str] | None = None,
        replace: Mapping[str, Any] | None = None,
    ) -> None:
        deletions = _changes(delete, _DELETES, "DELETE FROM name WHERE predicate")
        insertions = _changes(insert, _INSERTS, "INSERT INTO name SELECT ...")
        object.__setattr__(self, "relations", frozen(relations or {}, "Relation"))
        object.__setattr__(self, "delete", frozen(deletions, "The deletion from"))
        object.__setattr__(self, "insert", frozen(insertions, "The insertion into"))
        object.__setattr__(self, "replace", frozen(replace or {}, "The replacement of"))
        both = sorted(set(self.replace) & (set(self.insert) | set(self.delete)))
        if both:
            raise QueryError(
                f"Q_state replaces {both[0]} and inserts into or deletes from it as well.\n"
                "Say one or the other."
            )

    @property
    def changed(self) -> tuple[str, ...]:
        """The state relations that may change, in the order of the query."""
        return tuple(dict.fromkeys([*self.replace, *self.delete, *self.insert]))

    def __bool__(self) -> bool:
        return bool(self.relations or self.changed)


NO_STATE = StateQuery()
