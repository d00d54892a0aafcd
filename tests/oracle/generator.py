"""Random databases and valid Spark SQL over them, replayable from a seed.

``python -m tests.oracle.generator SEED`` prints the database and the query of a seed.
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
from tests.oracle.queries.databases import random_database
from tests.oracle.queries.statements import Statements
from tests.oracle.rows import OrderKey

_ATTEMPTS: Final = 3


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

    @property
    def replay(self) -> str:
        """The command that shows this case."""
        return f"python -m tests.oracle.generator {self.seed}"

    def __str__(self) -> str:
        return f"-- seed {self.seed}: {self.replay}\n{self.sql}"


def generate(seed: int) -> Case:
    """Return the case of a seed.

    The first of a few queries over the database that returns rows; DuckDB is asked, which is only
    a matter of which queries are drawn, so that it may be wrong or not understand one.
    """
    rng = random.Random(seed)
    database = random_database(rng)
    duck = Duck(database)
    for _ in range(_ATTEMPTS - 1):
        case = _case(rng, database, seed)
        try:
            if len(duck.answer(case.sql)) > 0:
                return case
        except (duckdb.Error, sqlglot.errors.SqlglotError):
            return case
    return _case(rng, database, seed)


def _case(rng: random.Random, database: Database, seed: int) -> Case:
    made = Statements(rng, database).statement()
    return Case(
        seed,
        database,
        made.sql,
        made.exact,
        made.grouping,
        made.order,
        made.compared,
        made.subtracted,
    )


def main(arguments: Sequence[str]) -> None:
    """Print the database and the query of each seed given."""
    for argument in arguments:
        case = generate(int(argument))
        print(case.database)
        print()
        print(case.sql)


if __name__ == "__main__":
    main(sys.argv[1:])
