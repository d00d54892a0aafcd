"""Corpora for the worlds oracle: queries by name, each over a small database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import duckdb
import sqlglot

from rewriter.dialect import read_write
from rewriter.errors import QueryError
from tests.oracle import conditions
from tests.oracle.database import Database
from tests.oracle.duck import Duck
from tests.oracle.generator import generate
from tests.oracle.reduced import kept, reduced
from tests.oracle.suites import TPCDS, TPCH, Suite
from tests.oracle.world_databases import CARS, SUPPORT
from tests.oracle.world_statements import statements
from tests.rewriter.cases import ERROR, cases
from tests.support_page.constructs import CONSTRUCTS

T = TypeVar("T")

_CACHE: Final = Path(__file__).parents[2] / ".cache"
"""Where the tests keep the tables of suites; see ``tests/conftest.py``."""
_SOME: Final = 120
_FEW: Final = 3
_BY_QUOTIENTS: Final = (36, 49)
"""These group by quotients of decimals, which are doubles in captures that DuckDB writes."""
_OF_SEED: Final = 512
SEEDS: Final = 2000

RULES: Final = Path(__file__).parents[1] / "rewriter" / "lower" / "cases"


@dataclass(frozen=True, slots=True)
class Case:
    """A query over a database of few tuples.

    Attributes
    ----------
    most, analysed
        So many worlds are enough for it, and analyses of so many rows.
    """

    name: str
    sql: str
    database: Database
    most: int = 4096
    analysed: int = 12


Places: TypeAlias = range | None
"""The cases that are asked for, by place or seed; None: all."""


def conditions_cases(places: Places) -> Iterator[Case]:
    """Yield the conditions written by hand."""
    for name, sql in _among(conditions.QUERIES.items(), places):
        yield Case(name, sql, conditions.DATABASE)


def support_cases(places: Places) -> Iterator[Case]:
    """Yield the examples of the page on support; of statements that write, their queries."""
    examples = [sql for listed in CONSTRUCTS.values() for sql in listed]
    for sql in _among(examples, places):
        if "TABLESAMPLE" in sql:
            continue
        try:
            write = read_write(sql)
        except QueryError:
            write = None
        yield Case(sql, sql if write is None else write.query, SUPPORT)


def rules_cases(places: Places) -> Iterator[Case]:
    """Yield the cases of lowering, each over the first of a few databases that has rows for it."""
    rules = sorted(cases(RULES).values(), key=str)
    for rule in _among(rules, places):
        sql = rule.given
        if ERROR in rule.outcomes or "rand" in sql or "SAMPLE" in sql:
            continue
        yield Case(rule.title, sql, _with_rows(sql, CARS))


def _with_rows(sql: str, databases: Sequence[Database]) -> Database:
    """Return the first database over which a query has rows; else the first that it is known of."""
    known = None
    for database in databases:
        try:
            if len(Duck(database).answer(sql)) > 0:
                return database
        except (duckdb.Error, sqlglot.errors.SqlglotError):
            continue
        known = known or database
    return known or databases[0]


def suite_cases(suite: Suite, folder: Path, places: Places) -> Iterator[Case]:
    """Yield the queries of a suite over the few tuples that are known for them."""
    loaded = suite.load(folder)
    for number in map(int, _among(kept(suite.name), places)):
        if suite is TPCDS and number in _BY_QUOTIENTS:
            continue
        yield Case(
            f"{suite.name} {number}",
            suite.query(number),
            reduced(suite, number, loaded),
            _SOME,
            _FEW,
        )


def tpch_cases(places: Places) -> Iterator[Case]:
    """Yield the queries of TPC-H."""
    return suite_cases(TPCH, _CACHE / "tpch" / "scale-0.01", places)


def tpcds_cases(places: Places) -> Iterator[Case]:
    """Yield queries of TPC-DS."""
    return suite_cases(TPCDS, _CACHE / "tpcds" / "scale-0.01", places)


def generated_cases(places: Places) -> Iterator[Case]:
    """Yield conditional queries of seeds."""
    for seed in places or range(SEEDS):
        case = generate(seed, conditional=True)
        yield Case(f"seed {seed}", case.sql, case.database, _OF_SEED)


def statements_cases(places: Places) -> Iterator[Case]:
    """Yield the statements of the scoreboard."""
    for name, sql, database in _among(statements(), places):
        yield Case(name, sql, database, _SOME, _FEW)


def _among(cases: Iterable[T], places: Places) -> Iterator[T]:
    return (case for number, case in enumerate(cases) if places is None or number in places)


CORPORA: Final[dict[str, Callable[[Places], Iterator[Case]]]] = {
    "conditions": conditions_cases,
    "support": support_cases,
    "rules": rules_cases,
    "tpch": tpch_cases,
    "tpcds": tpcds_cases,
    "generated": generated_cases,
    "statements": statements_cases,
}
"""What yields the cases of a corpus, by its name."""
