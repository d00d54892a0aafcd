"""Queries of a module: SQL, or functions of data frames, alone or as a chain of relations."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import cleandoc, signature
from types import MappingProxyType
from typing import Any

from lipstick.workflow.definition.functions import check_reference, imported
from lipstick.workflow.errors import DefinitionError
from semiring.support.door import checked

BEFORE = "before_"
"""The prefix of state relations as they were before the invocation, for Q_out: ``before_Cars``."""

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
    """The definition of one relation in terms of others."""

    __slots__ = ()

    @property
    @abstractmethod
    def text(self) -> str:
        """The query as text for display."""

    @property
    @abstractmethod
    def selects(self) -> bool:
        """True if this is a query; else it is a predicate."""


@dataclass(frozen=True, slots=True)
class Sql(Query):
    """A query in Spark SQL.

    Parameters
    ----------
    sql
        Its text; indentation that all lines have is taken away, so that it reads well in files.

    Raises
    ------
    DefinitionError
        For an empty text.
    """

    sql: str

    def __post_init__(self) -> None:
        if not self.sql.strip():
            raise DefinitionError("A query is empty: write a SELECT.")
        object.__setattr__(self, "sql", _unindented(self.sql))

    @property
    def text(self) -> str:
        """The SQL."""
        return self.sql

    @property
    def selects(self) -> bool:
        """True if this is a query; else it is a predicate."""
        return _SELECTS.match(self.sql) is not None


@dataclass(frozen=True, slots=True)
class FrameFunction(Query):
    """A query that is a Python function from data frames to a data frame.

    Its parameters are named as the relations that it reads. It is called once for a run, with empty
    frames, to learn its plan; so it must not depend on their rows.

    Parameters
    ----------
    reference
        Where it is defined: ``package.module:function``.
    function
        The function itself; None: it is imported lazily.

    Raises
    ------
    DefinitionError
        For a reference that is not a place at the top of a module.
    """

    reference: str
    function: Callable[..., Any] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_reference("A query", "of data frames", self.reference)

    @classmethod
    def of(cls, function: Callable[..., Any], where: str) -> FrameFunction:
        """Return the query of a function; `where` is for messages.

        Raises
        ------
        DefinitionError
            For a function that has no name at the top of a module, by which a store could know it.
        """
        name = getattr(function, "__qualname__", "")
        if not name.isidentifier():
            raise DefinitionError(
                f"{where} is {name or function!r}, a function without a place of its own.\n"
                "Define it with def at the top of a module, so that it can be found again."
            )
        return cls(f"{function.__module__}:{name}", function)

    @property
    def text(self) -> str:
        """The reference of the function."""
        return self.reference

    @property
    def selects(self) -> bool:
        """True: it is never a predicate."""
        return True

    def reads(self, owner: str) -> tuple[str, ...]:
        """The relations that it reads.

        Raises
        ------
        DefinitionError
            When it is not found, or has parameters that are not names of relations.
        """
        parameters = signature(self._called_function(owner)).parameters.values()
        for each in parameters:
            if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD, each.POSITIONAL_ONLY):
                raise DefinitionError(
                    f"{owner}: the parameter {each} of {self.reference} names no relation.\n"
                    "Call the parameters as the relations that are read."
                )
        return tuple(each.name for each in parameters)

    def frame(self, owner: str, table: Callable[[str], Any]) -> Any:
        """Call the function with a frame for every relation."""
        return self._called_function(owner)(**{name: table(name) for name in self.reads(owner)})

    def _called_function(self, owner: str) -> Callable[..., Any]:
        if self.function is not None:
            return self.function
        function = imported(owner, "of a query", self.reference)
        if not callable(function):
            raise DefinitionError(f"{owner}: {self.reference} is not a function.\nName one.")
        return function  # type: ignore[no-any-return]


def _unindented(sql: str) -> str:
    """Return a text without common indentation; unchanged if it has quotes, where spaces count."""
    if any(quote in sql for quote in "'\"`"):
        return sql.strip()
    return "\n".join(line.rstrip() for line in cleandoc(sql).splitlines())


def as_query(given: Any, where: str) -> Query:
    """Return SQL text, or a function from data frames to a data frame, as a query.

    Raises
    ------
    DefinitionError
        For anything else.
    """
    if isinstance(given, Query):
        return given
    if isinstance(given, str):
        return Sql(given)
    if callable(given):
        return FrameFunction.of(given, where)
    raise DefinitionError(
        f"{where} is {given!r}, which is not a query.\n"
        "Write a SELECT, or a function from data frames to a data frame."
    )


def _changes(given: Any, statement: re.Pattern[str], example: str) -> Mapping[str, Any]:
    """Return changes of state relations by relation, which the statements name.

    Raises
    ------
    DefinitionError
        For other statements, and two about one relation.
    """
    if given is None or isinstance(given, Mapping):
        return given or {}
    changes: dict[str, str] = {}
    for text in [given] if isinstance(given, str) else given:
        match = statement.fullmatch(text.rstrip().rstrip(";"))
        if match is None:
            raise DefinitionError(f"{text.strip()!r} is not a statement of the form: {example}.")
        name = match["name"].strip("`")
        if name in changes:
            raise DefinitionError(
                f"There are two statements about {name}.\nCombine them, with UNION ALL or OR."
            )
        changes[name] = match["query"]
    return changes


def frozen(given: Mapping[str, Any], where: str) -> Mapping[str, Query]:
    """Return named queries as an immutable mapping, in their order."""
    return MappingProxyType({name: as_query(q, f"{where} {name}") for name, q in given.items()})


@checked
@dataclass(frozen=True, slots=True)
class StateQuery:
    """Q_state: a chain of named relations, and the changes of the state relations.

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
    DefinitionError
        When a relation is both replaced and changed by insertions or deletions.
    """

    relations: Mapping[str, Query]
    delete: Mapping[str, Query]
    insert: Mapping[str, Query]
    replace: Mapping[str, Query]

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
            raise DefinitionError(
                f"Q_state replaces {both[0]} and inserts into or deletes from it as well.\n"
                "Use one or the other."
            )

    @property
    def changed(self) -> tuple[str, ...]:
        """The state relations that may change, in the order of the query."""
        return tuple(dict.fromkeys([*self.replace, *self.delete, *self.insert]))

    def __bool__(self) -> bool:
        return bool(self.relations or self.changed)


NO_STATE = StateQuery()
