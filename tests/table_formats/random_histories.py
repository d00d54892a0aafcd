"""Random histories on real tables, held against DuckDB; goes on where it was stopped.

``LIPSTICK_TABLE_FORMATS=JARS python -m tests.table_formats.random_histories 0-100 --output FILE``
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import lipstick
from lipstick.errors import LipstickError, StatementError, UnsupportedError
from lipstick.histories.history import TableHistory
from lipstick.tracking.formats.probe import versioned_table
from tests.oracle.histories.draw import COLUMNS, SOURCES, TYPES, Drawn, Row, draw, statement
from tests.oracle.histories.really import AmbiguousMergeError, Tables
from tests.table_formats.conftest import lake_session

FORMATS = ("delta", "iceberg")
_PROPERTIES = {
    "delta": (
        "'delta.enableDeletionVectors' = 'false'",
        "'delta.enableDeletionVectors' = 'true'",
        "'delta.enableChangeDataFeed' = 'true'",
        "'delta.columnMapping.mode' = 'name'",
    ),
    "iceberg": (
        "'format-version' = '2'",
        "'write.merge.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read'",
        "'write.delete.mode' = 'merge-on-read', 'format-version' = '3'",
    ),
}
_ARROW = {"INT": pa.int32(), "STRING": pa.string()}
_NULLS = "NULL, which SQL keeps and Iceberg may remove"
_GONE = ("k = 2", "a > 1", "c = 'x'", "b IS NULL OR k < 3", "a = b")


def check_format_history(
    lake: SparkSession, table: str, format: str, seed: int, statements: int
) -> str:
    """Hold the history of a seed, and one question about it; return how it was followed.

    Iceberg may remove rows with NULL that SQL keeps, or write a row twice that several rows of
    the source match: such histories, and answers over such rows, are refused.

    Raises
    ------
    AssertionError
        For a hypothetical table that differs from the one that there would really be.
    """
    random = Random(f"{seed}{format}")
    drawn = draw(random.randint(0, 10**6))
    while not drawn.tables["t"]:
        drawn = draw(random.randint(0, 10**6))
    live = bool(random.getrandbits(1))
    outcome = "followed" if live else "reenacted"
    with lipstick.session(lake) as ls:
        for name in SOURCES:
            ls.track(name, lake.createDataFrame(_arrow(drawn.tables[name])), key="*")
        lake.createDataFrame(_arrow(drawn.tables["t"])).createOrReplaceTempView("first_rows")
        properties = random.choice(_PROPERTIES[format])
        lake.sql(
            f"CREATE TABLE {table} USING {format} TBLPROPERTIES ({properties}) "
            "AS SELECT * FROM first_rows"
        )
        found = versioned_table(lake, table)
        assert found is not None
        first = found[0].current()
        if live:
            ls.track(table, table, key="*")
        really = Tables(drawn.tables)
        problem: tuple[type[LipstickError], str, str] | None = None
        kept = list[Drawn]()
        ran = list[lipstick.ExecutedStatement]()
        for _ in range(20 * statements):
            one = statement(random)
            if len(kept) == statements or one.table != "t" or re.search(r"\bu\b", one.text):
                continue
            text, before = re.sub(r"\bt\b", table, one.text), found[0].current()
            try:
                (ls.sql if live else lake.sql)(text)
            except (LipstickError, PySparkException, Py4JError):
                assert found[0].current() == before, text
                continue  # the format has not this form, or several rows match one
            if live or (after := found[0].current()) != before:
                kept.append(one)
                ran.append(lipstick.ExecutedStatement(text, version=None if live else after))
                try:
                    really.run(one)
                except AmbiguousMergeError:
                    problem = (StatementError, "Several rows of the source", "written twice")
                    break
                now = Counter(map(tuple, lake.table(table).collect()))
                if now != Counter(really.rows("t")):
                    problem = problem or (UnsupportedError, _NULLS, "removed with NULL")
        if not live and format == "delta":
            lake.sql(f"OPTIMIZE {table}")
        if problem is not None:
            assert format == "iceberg"
            error, match, outcome = problem
            with pytest.raises(error, match=match):
                (ls.history if live else ls.reenact({table: table}, ran, key="*")).check()
            return outcome
        history = ls.history if live else ls.reenact({table: table}, ran, key="*")
        if random.getrandbits(1):
            # Rows are looked up by a key, which several of them have.
            history._keys[history._name_of(table)] = "k"
        try:
            _ask(history, random, drawn.tables, kept, f"{table}@{first}")
        except UnsupportedError as error:
            if format == "delta" or not re.search(_NULLS, str(error)):
                raise
            outcome = "refused for NULL"
        _check_rows(history, written=bool(random.getrandbits(1)))
        history.check()
    return outcome


def _check_rows(history: TableHistory, *, written: bool) -> None:
    """Hold the rows of all versions, which follow from commits, against the versions."""
    (table,) = history.tables
    chain = history._chains[history._name_of(table)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lipstick.histories.changes._FEW_VERSIONS", 0 if written else 100)
        found = history._found(chain, F.lit(True))
    for number, rows in found.items():
        assert Counter(rows) == Counter(history.version(table, number).collect()), number


def _ask(
    history: TableHistory,
    random: Random,
    rows: dict[str, list[Row]],
    kept: list[Drawn],
    first: str,
) -> None:
    """Hold the table without rows and statements that are drawn."""
    names = {"r": "r", "s": "s", "t": first}
    gone = {name: random.choice(_GONE) for name in names if random.random() < 0.6}
    undone = [name for name in history.statements if random.random() < 0.2]
    really, fails = Tables(rows), False
    for name, condition in gone.items():
        really.database.execute(f"DELETE FROM {name} WHERE {condition}")
    read = {name: c for name, c in gone.items() if names[name] in history._sources}
    for name, one in zip(history.statements, kept, strict=True):
        try:
            if name not in undone:
                really.run(one)
        except AmbiguousMergeError:
            fails = True
            break
    delete = {names[name]: condition for name, condition in read.items()}
    if fails:
        with pytest.raises(StatementError, match="would fail"):
            history.what_if(delete=delete, undo=undone)
        return
    (table,) = history.tables
    found = history.what_if(delete=delete, undo=undone).table(table).collect()
    assert Counter(map(tuple, found)) == Counter(really.rows("t")), (delete, undone)


def _arrow(rows: list[Row]) -> pa.Table:
    return pa.table(
        {
            column: pa.array([row[number] for row in rows], _ARROW[TYPES[number]])
            for number, column in enumerate(COLUMNS)
        }
    )


def main() -> None:
    """Hold the histories of seeds, and append what became of each to a file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seeds", help="such as 0-100")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--statements", type=int, default=5)
    given = parser.parse_args()
    first, _, last = given.seeds.partition("-")
    lines = given.output.read_text().splitlines() if given.output.exists() else []
    done = {tuple(line.split()[:2]) for line in lines}
    with tempfile.TemporaryDirectory() as home, lake_session(Path(home)) as lake:
        for seed in range(int(first), int(last or first) + 1):
            for format in FORMATS:
                if (str(seed), format) in done:
                    continue
                table = f"{'ice.db.' if format == 'iceberg' else ''}random_{seed}"
                try:
                    outcome = check_format_history(lake, table, format, seed, given.statements)
                except Exception as error:
                    shown = " ".join(str(error).split())
                    outcome = f"failed {type(error).__name__}: {shown}"
                with given.output.open("a") as file:
                    file.write(f"{seed} {format} {outcome}\n")
                lake.sql(f"DROP TABLE IF EXISTS {table}")


if __name__ == "__main__":
    main()
