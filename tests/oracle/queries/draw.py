"""What is drawn while a query is made: its parts, and what they say about deletions."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.oracle.database import Database
from tests.oracle.expressions import Column, Term

SMALL = 1_500.0
"""So many rows a join may have."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query expression: its text, its columns by name, an estimate of its rows.

    ``grouping`` says that its outermost operator groups: each of its rows counts 1. ``bag`` says
    that it is EXCEPT ALL or INTERSECT ALL, which LIMIT does not cut.
    """

    sql: str
    columns: tuple[Column, ...]
    size: float
    grouping: bool = False
    bag: bool = False


@dataclass(frozen=True, slots=True)
class From:
    """A FROM clause and the columns it puts in scope.

    ``conjuncts`` are for WHERE; ``views`` are the LATERAL VIEWs that follow the relations;
    ``partial`` says that there are columns beside those of the scope.
    """

    sql: str
    scope: tuple[Column, ...]
    size: float
    conjuncts: tuple[str, ...] = ()
    views: str = ""
    partial: bool = False

    @property
    def text(self) -> str:
        """The whole clause."""
        return self.sql + self.views


@dataclass(frozen=True, slots=True)
class Table:
    """A table expression with an alias, its columns under that alias, and what it reads.

    ``partial`` says that there are columns beside those of the scope.
    """

    sql: str
    scope: tuple[Column, ...]
    size: float
    reads: frozenset[str]
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Cte:
    """A named query, and the relations it reads."""

    name: str
    query: Query
    reads: frozenset[str]


class Draw(ABC):
    """One random query; what is noted on the way says whether deletion can make rows appear.

    Attributes
    ----------
    exact
        Whether nothing so far can make a row appear when inputs are deleted.
    subtracted
        The relations of whose rows the absence is asked for.
    """

    def __init__(self, rng: random.Random, database: Database) -> None:
        self.rng = rng
        self.database = database
        self.exact = True
        self.subtracted: set[str] = set()
        self.ctes: list[Cte] = []
        self.read: list[str] = []
        """The relations read so far, in order and with repetitions."""
        self._count = 0

    def fresh(self, prefix: str) -> str:
        """Return a name that is used nowhere else."""
        self._count += 1
        return f"{prefix}{self._count}"

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.rng.random() < probability

    def decides(self, *terms: Term) -> None:
        """Note that these terms decide which rows or groups there are."""
        if any(term.aggregated for term in terms):
            self.exact = False

    def subtracts(self, relations: Iterable[str]) -> None:
        """Note that there are rows which need that some rows of these relations are absent."""
        self.exact = False
        self.subtracted.update(relations)

    # The parts of a query that contain each other

    @abstractmethod
    def query(self, depth: int, top: bool = False) -> Query:
        """Return a query: a SELECT or a set operation."""

    @abstractmethod
    def table(self, depth: int) -> Table:
        """Return a relation, a CTE or a derived table, with an alias."""

    @abstractmethod
    def pair(self, left: Sequence[Column], right: Sequence[Column]) -> tuple[Term, Term] | None:
        """Return two columns to equate."""

    @abstractmethod
    def from_clause(self, depth: int, count: int) -> From:
        """Return a FROM clause of about so many relations."""

    @abstractmethod
    def where(self, source: From, depth: int) -> str:
        """Return a WHERE clause, or nothing."""

    @abstractmethod
    def grouped(self, source: From, where: str, depth: int) -> Query:
        """Return a SELECT with GROUP BY."""

    @abstractmethod
    def aggregate(self, scope: Sequence[Column], stable_only: bool = False) -> Term:
        """Return an aggregate call over a scope."""

    @abstractmethod
    def scalar_subquery(self) -> Term:
        """Return a subquery of one row: an aggregate without GROUP BY."""
