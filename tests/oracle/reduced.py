"""TPC-H and TPC-DS over a few dozen tuples, of which their queries still have answers.

``python -m tests.oracle.reduced tpch DIR`` chooses the tuples anew from tables at scale 0.01 and
writes ``reduced_tpch.json``: of every query the places of the rows that are kept, by relation.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final, TypeAlias

import duckdb
import numpy as np
import pyarrow as pa
import sqlglot

from semiring.errors import LipstickError
from tests.oracle.database import Database, Relation
from tests.oracle.duck import Duck
from tests.oracle.suites import TPCDS, TPCH, Suite
from tests.oracle.world_answers import relations_read
from tests.oracle.written import written

SUITES: Final = {suite.name: suite for suite in (TPCH, TPCDS)}

_ENOUGH: Final = 40
"""Once so few tuples are left, none is taken away."""
_MOST: Final = 90
_TRIES: Final = 12
_ROWS: Final = 4
"""Of so many rows of the answer the tuples are kept at first."""
_BESIDE: Final = 6
"""So many tuples are added that took part in the query and are in no lineage."""

Places: TypeAlias = Mapping[str, Sequence[int]]
"""The rows of relations that are kept, by their places in the tables at scale 0.01."""


def _file(suite: Suite) -> Path:
    return Path(__file__).parent / f"reduced_{suite.name}.json"


@cache
def kept(suite: str) -> Mapping[str, Places]:
    """Return the rows kept for the queries of a suite, by number."""
    rows_kept: Mapping[str, Places] = json.loads(_file(SUITES[suite]).read_text(encoding="utf-8"))
    return rows_kept


def reduced(suite: Suite, number: int, loaded: Database) -> Database:
    """Return the few tuples to ask a query over: of the relations that it reads.

    Raises
    ------
    KeyError
        No few tuples are known for this query.
    """
    return _of(suite.database(number, loaded), kept(suite.name)[str(number)])


def _of(database: Database, places: Places) -> Database:
    return Database(
        {name: _taken(database.relations[name], sorted(chosen)) for name, chosen in places.items()}
    )


def _taken(relation: Relation, places: Sequence[int]) -> Relation:
    data = relation.data.take(pa.array(places, pa.int64())).combine_chunks()
    return Relation(relation.name, relation.key, relation.schema, data)


def choose(sql: str, database: Database, rng: random.Random) -> dict[str, list[int]] | None:
    """Return rows of which a query has an answer still; None where they are too many.

    Starting from the lineage of some rows of the answer, random halves of relations are left out
    as long as there is an answer.
    """
    read = Database({relation.name: relation for relation in relations_read(sql, database)})
    with tempfile.TemporaryDirectory(prefix="reduced-") as directory:
        memory = written(sql, read, Path(directory))
        answer = memory.answer()
        first = np.arange(answer.num_rows) < _ROWS
        lineage = memory.lineage(first)
        tuples = {name: memory.tokens(name) for name in lineage}
    current: dict[str, list[int]] = {
        name: sorted(_places(relation, lineage.get(name)))
        for name, relation in read.relations.items()
    }
    candidates = {
        name: sorted(_places(relation, tuples.get(name)) - set(current[name]))
        for name, relation in read.relations.items()
    }
    for name, chosen_rows in current.items():
        if not chosen_rows:
            pool = candidates[name] or list(range(read.relations[name].data.num_rows))
            current[name] = rng.sample(pool, min(20, len(pool)))
    rows = min(2, answer.num_rows)
    tries = 0
    while sum(map(len, current.values())) > _ENOUGH and tries < _TRIES * len(current):
        sizes = {
            name: len(chosen_rows) for name, chosen_rows in current.items() if len(chosen_rows) > 1
        }
        name = rng.choices(list(sizes), list(sizes.values()))[0]
        share = rng.choice((0.5, 0.7, 0.9)) if tries > _TRIES else 0.5
        half = rng.sample(current[name], max(1, int(len(current[name]) * share)))
        smaller = {**current, name: half}
        tries += 1
        if _tells(sql, _of(read, smaller), rows):
            current, tries = smaller, 0
    if sum(map(len, current.values())) > _MOST:
        return None
    beside = [(name, row) for name, places in candidates.items() for row in places]
    for name, extra_row in rng.sample(beside, min(_BESIDE, len(beside))):
        current[name] = sorted({*current[name], extra_row})
    return {name: sorted(places) for name, places in current.items()}


def _places(relation: Relation, tokens: pa.Table | None) -> set[int]:
    if tokens is None or not tokens.num_rows:
        return set()
    keys = set(zip(*(column.to_pylist() for column in tokens.columns), strict=True))
    return {row for row, key in enumerate(relation.row_keys()) if key in keys}


def _tells(sql: str, database: Database, rows: int) -> bool:
    """Tell whether a query has rows over a database, with some value that is not NULL or zero."""
    try:
        answer = Duck(database).answer(sql)
    except duckdb.Error:
        return False
    return len(answer) >= rows and all(any(value for value in row) for row in answer.rows)


def main(name: str, folder: str, *numbers: str) -> None:
    """Choose tuples for the queries of a suite, or for some; print for which there are none."""
    suite = SUITES[name]
    loaded = suite.load(Path(folder))
    file = _file(suite)
    chosen_by_number = (
        json.loads(file.read_text(encoding="utf-8")) if numbers and file.exists() else {}
    )
    for number in map(int, numbers or suite.numbers):
        database = suite.database(number, loaded)
        try:
            chosen = choose(suite.query(number), database, random.Random(number))
        except (LipstickError, duckdb.Error, sqlglot.errors.SqlglotError) as error:
            print(f"{number}: {type(error).__name__}: {error}".split("\n")[0], flush=True)
            continue
        if chosen is None:
            print(f"{number}: too many tuples", flush=True)
        else:
            print(number, {relation: len(rows) for relation, rows in chosen.items()}, flush=True)
            chosen_by_number[str(number)] = chosen
            lines = (
                f'"{key}": {json.dumps(rows_of_query)}'
                for key, rows_of_query in chosen_by_number.items()
            )
            file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
