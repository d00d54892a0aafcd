"""Worlds of a database, and what a query answers in each, by DuckDB."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

import duckdb
import pyarrow as pa
from sqlglot import exp

from semiring.token import Token
from tests.oracle.database import Database, Relation
from tests.oracle.duck import connected_duck, create_table, loosened
from tests.oracle.duck_sql import parsed, tables_of, to_duckdb
from tests.oracle.rows import Row, difference, from_arrow

World: TypeAlias = frozenset[Token]
"""A world of a database: the database without these tuples."""

ALL_OF: Final = 12
"""Of so many tuples all subsets are worlds; of more, some."""

Rows: TypeAlias = tuple[Row, ...]

_FEW: Final = 3
"""A query of so few relations needs no optimizer, which takes longer than the query then."""
_KEPT: Final = (0.9, 0.75, 0.5, 0.25, 0.1)
"""The share of tuples that are there, in random worlds."""
_OF_ORDER: Final = (
    exp.AnyValue,
    exp.ArgMax,
    exp.ArgMin,
    exp.ArrayAgg,
    exp.First,
    exp.GroupConcat,
    exp.Last,
    exp.Limit,
    exp.Mode,
    exp.Offset,
    exp.Window,
)
"""What may depend on the order of rows."""


def relations_read(sql: str, database: Database) -> list[Relation]:
    """Return the relations of a database that a query names."""
    named = tables_of(sql)
    return [relation for name, relation in database.relations.items() if name.lower() in named]


def tuples_of(relations: Iterable[Relation]) -> list[Token]:
    """Return the tokens of all tuples of some relations."""
    return [Token(relation.name, key) for relation in relations for key in relation.row_keys()]


def worlds_of(tuples: Sequence[Token], rng: random.Random, most: int = 256) -> list[World]:
    """Return worlds: all subsets where there are few tuples, else some.

    Parameters
    ----------
    most
        How many worlds, where there are too many tuples for all.

    Returns
    -------
    list
        The database as it is comes first, and of others those with fewer deletions. Of some worlds
        these are one for each tuple that is deleted alone, as far as they go, and random ones.
    """
    count = len(tuples)
    if count <= ALL_OF and 2**count <= most:
        return sorted(map(frozenset, _subsets(tuples)), key=len)
    singles = [frozenset([token]) for token in tuples]
    if len(singles) > most // 2:
        singles = rng.sample(singles, most // 2)
    worlds: dict[World, None] = dict.fromkeys([frozenset(), *singles, frozenset(tuples)])
    while len(worlds) < min(most, 2**count):
        kept = rng.choice(_KEPT)
        worlds[frozenset(token for token in tuples if rng.random() >= kept)] = None
    return sorted(worlds, key=len)


def _subsets(tuples: Sequence[Token]) -> list[list[Token]]:
    return [
        [token for bit, token in enumerate(tuples) if number >> bit & 1]
        for number in range(2 ** len(tuples))
    ]


class WorldAnswers:
    """The answers of a query in worlds, each asked for once.

    Where the query depends on the order of rows it is asked over tables in the reverse order too:
    where that has another answer, the query leaves open which it is.

    Parameters
    ----------
    database
        All its relations are there; those that the query does not read are as they are.

    Raises
    ------
    duckdb.Error, sqlglot.errors.SqlglotError
        DuckDB does not know something in the query, or it fails over the whole database.
    """

    def __init__(self, sql: str, database: Database) -> None:
        self.relations = relations_read(sql, database)
        self.tuples = tuples_of(self.relations)
        self._engines = [_Engine(sql, database, self.relations)]
        if _depends_on_order(sql):
            self._engines.append(_Engine(sql, database, self.relations, backwards=True))
        self.present = self._engines[0].answer(frozenset())
        self._known: dict[World, Rows | None] = {}

    def rows(self, world: World) -> Rows | None:
        """Return the rows of the answer in a world, loosened.

        None where the query fails, and where there are several answers.
        """
        if world not in self._known:
            try:
                answer, *other_answers = (engine.answer(world) for engine in self._engines)
            except duckdb.Error:
                self._known[world] = None
            else:
                differ = any(difference(answer, other) for other in other_answers)
                self._known[world] = None if differ else answer
        return self._known[world]

    def ask(self, worlds: Iterable[World]) -> None:
        """Ask for many worlds, in an order in which neighbours have tables in common."""
        order = {token: number for number, token in enumerate(self.tuples)}
        for world in sorted(worlds, key=lambda world: sorted(order[token] for token in world)):
            self.rows(world)


class _Engine:
    """DuckDB over the relations of a query."""

    def __init__(
        self,
        sql: str,
        database: Database,
        relations: Sequence[Relation],
        *,
        backwards: bool = False,
    ) -> None:
        self._relations = relations
        self._order = "ORDER BY _place DESC" if backwards else "ORDER BY _place"
        self._sql = to_duckdb(sql)
        self._connection = connected_duck()
        self._connection.execute("SET TimeZone = 'UTC'")
        self._connection.execute("CREATE MACRO raise_error(message) AS error(message)")
        if len(relations) <= _FEW:
            self._connection.execute("PRAGMA disable_optimizer")
        self._gone: dict[str, World] = {}
        for relation in database.relations.values():
            create_table(self._connection, relation.name, relation.data)
        for relation in relations:
            places = pa.array(range(relation.data.num_rows), pa.int64())
            numbered = relation.data.append_column("_place", places)
            create_table(self._connection, _whole(relation), numbered)

    def answer(self, world: World) -> Rows:
        """Return the rows of the answer in a world, loosened."""
        for relation in self._relations:
            gone = frozenset(token for token in world if token.relation == relation.name)
            if self._gone.get(relation.name) != gone:
                self._leave(relation, gone)
                self._gone[relation.name] = gone
        result: Any = self._connection.execute(self._sql)
        return loosened(from_arrow(result.fetch_arrow_table())).rows

    def _leave(self, relation: Relation, gone: World) -> None:
        """Make a relation what it is without some tuples."""
        keys = enumerate(relation.row_keys())
        places = [str(row) for row, key in keys if Token(relation.name, key) in gone]
        # A table, not a view: the plans are then those of the query itself.
        self._connection.execute(
            f'CREATE OR REPLACE TABLE "{relation.name}" AS SELECT * EXCLUDE (_place)'
            f' FROM "{_whole(relation)}" WHERE _place NOT IN ({", ".join(places) or "-1"})'
            f" {self._order}"
        )


def _depends_on_order(sql: str) -> bool:
    return any(isinstance(node, _OF_ORDER) for node in parsed(sql).walk())


def _whole(relation: Relation) -> str:
    """Return the table that has all rows of a relation, numbered."""
    return f"_whole_{relation.name}"
