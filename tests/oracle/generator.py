"""Random databases and valid Spark SQL over them, replayable from a seed.

``python -m tests.oracle.generator SEED`` prints the database and the query of a seed, and
``--conditional SEED`` those of one whose rows depend on aggregated values.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import duckdb
import sqlglot

from tests.oracle.database import Database
from tests.oracle.duck import Duck
from tests.oracle.queries.conditional import ConditionalStatements
from tests.oracle.queries.databases import few_tuples, random_database
from tests.oracle.queries.statements import Statements
from tests.oracle.rows import OrderKey

_ATTEMPTS: Final = 3
_CONDITIONAL: Final = 0.85
"""The share of conditional queries among those that are asked for as such."""


@dataclass(frozen=True, slots=True)
class Case:
    """A database and a query over it.

    ``exact`` is true where nothing in the query can make a row appear when inputs are deleted:
    there are no comparisons on aggregated values, no LIMIT, and nothing asks for the absence of
    rows. None: not known from the text. ``compared`` are the relations that may feed compared
    aggregates, ``subtracted`` those of whose rows the absence is asked for.
    """

    seed: int
    database: Database
    sql: str
    exact: bool | None
    grouping: bool
    order: tuple[OrderKey, ...]
    compared: tuple[str, ...]
    subtracted: tuple[str, ...]
    conditional: bool = False

    @property
    def replay(self) -> str:
        """The command that shows this case."""
        word = "--conditional " if self.conditional else ""
        return f"python -m tests.oracle.generator {word}{self.seed}"

    def __str__(self) -> str:
        return f"-- seed {self.seed}: {self.replay}\n{self.sql}"


def generate(seed: int, *, conditional: bool = False) -> Case:
    """Return the case of a seed.

    Parameters
    ----------
    conditional
        Whether it is one of a dozen tuples at most, with a query in which something is decided by
        aggregated values.

    The first of a few queries over the database that returns rows; DuckDB is asked, which is only
    a matter of which queries are drawn, so that it may be wrong or not understand one.
    """
    rng = random.Random(seed)
    database = few_tuples(rng) if conditional else random_database(rng)
    duck = Duck(database)
    for _ in range(_ATTEMPTS - 1):
        case = _case(rng, database, seed, conditional)
        try:
            if len(duck.answer(case.sql)) > 0:
                return case
        except (duckdb.Error, sqlglot.errors.SqlglotError):
            return case
    return _case(rng, database, seed, conditional)


def _case(rng: random.Random, database: Database, seed: int, conditional: bool) -> Case:
    if conditional and rng.random() < _CONDITIONAL:
        statement = ConditionalStatements(rng, database).conditional()
    else:
        statement = Statements(rng, database).statement()
    return Case(
        seed,
        database,
        statement.sql,
        statement.exact,
        statement.grouping,
        statement.order,
        statement.compared,
        statement.subtracted,
        conditional,
    )


def main(arguments: Sequence[str]) -> None:
    """Print the database and the query of each seed given."""
    conditional = "--conditional" in arguments
    for argument in arguments:
        if argument == "--conditional":
            continue
        case = generate(int(argument), conditional=conditional)
        print(case.database)
        print()
        print(case.sql)


if __name__ == "__main__":
    main(sys.argv[1:])
