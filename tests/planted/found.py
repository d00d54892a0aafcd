"""What explanations find of planted causes; each effect is carried out by DuckDB."""

from __future__ import annotations

import math
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from lipstick.questions.why.answer import Explanation
from tests.oracle.duck import connected_duck
from tests.oracle.duck_sql import to_duckdb
from tests.oracle.written import write_capture
from tests.planted.causes import (
    CLEAN,
    KINDS,
    Planted,
    PlantedCase,
    clean_case,
    planted_case,
)

ALIKE = 0.9
"""The Jaccard index of rows from which a suggestion is the planted cause."""

_COMPARED = re.compile(r"SELECT (\S+) (<=|>=) ([\d.e+-]+) AS v")


@dataclass(frozen=True)
class Found:
    """What became of a case.

    Attributes
    ----------
    first, among
        Whether the planted cause is said first, and whether all are among the first three; of a
        clean case, whether nothing is said.
    said
        The suggestions, for people.
    checked
        The number of effects that DuckDB confirmed.
    """

    case: PlantedCase
    first: bool
    among: bool
    said: tuple[str, ...]
    checked: int
    seconds: float


def find(case: PlantedCase) -> Found:
    """Ask for the explanation of a case, and carry out all that it says.

    Raises
    ------
    AssertionError
        Where an effect is not as said.
    """
    with tempfile.TemporaryDirectory() as folder:
        capture = write_capture(case.sql, case.database, Path(folder) / "capture")
        tables = {name: relation.data for name, relation in case.database.relations.items()}
        tables = {n: t for n, t in tables.items() if n in capture.manifest.relations}
        start = time.monotonic()
        explanation = capture.why(**case.ask, sources=tables, limit=3)
        seconds = time.monotonic() - start
    checked = check(case, explanation)
    said = tuple(str(explanation).splitlines()[1:])
    if case.kind == "clean":
        quiet = not (explanation.causes or explanation.lost or explanation.fan_out)
        return Found(case, quiet, quiet, said, checked, seconds)
    if case.multiplied is not None:
        repeated = explanation.fan_out
        told = repeated is not None and repeated.relation == case.multiplied
        return Found(case, told, told, said, checked, seconds)
    suggested = [(each.relation, each.keys) for each in explanation.causes]
    suggested += [(each.relation, each.keys) for each in explanation.lost]
    hits = [
        {number for number, each in enumerate(case.planted) if _same(case, each, *suggestion)}
        for suggestion in suggested[:3]
    ]
    first = bool(hits and hits[0])
    among = bool(case.planted) and set().union(*hits) == set(range(len(case.planted)))
    return Found(case, first, among, said, checked, seconds)


def _same(case: PlantedCase, planted: Planted, relation: str, keys: pa.Table) -> bool:
    if relation != planted.relation:
        return False
    table = case.database.relations[relation]
    (key,) = table.key
    rows = np.isin(table.data.column(key).to_numpy(), keys.column(key).to_numpy())
    among = np.ones(len(rows), dtype=np.bool_) if planted.among is None else planted.among
    either = int(((rows | planted.rows) & among).sum())
    return either > 0 and int((rows & planted.rows & among).sum()) >= ALIKE * either


def check(case: PlantedCase, explanation: Explanation) -> int:
    """Delete by each suggestion in DuckDB, and return the number of effects that hold.

    Raises
    ------
    AssertionError
        Where the number of rows or the number without them is another one.
    """
    checked = 0
    with connected_duck() as connection:
        for name, relation in case.database.relations.items():
            connection.register(f"_{name}", relation.data)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM _{name}")
        assert close(_number(connection, case), explanation.before), (case.name, "before")
        for cause in explanation.causes:
            connection.execute("BEGIN")
            gone = connection.execute(_delete(cause.relation, cause.sql)).fetchall()
            assert gone[0][0] == cause.rows, (case.name, cause.sql, gone, cause.rows)
            number = _number(connection, case)
            connection.execute("ROLLBACK")
            assert close(number, cause.after), (case.name, cause.sql, number, cause.after)
            checked += 1
        repeated = explanation.fan_out
        if repeated is not None:
            # Each row of the multiplied relation once, whatever its partners.
            assert case.multiplied is None or close(repeated.once, case.right), case.name
            checked += case.multiplied is not None
        checked += _check_lost(connection, case, explanation)
        gone_by = [_delete(cause.relation, cause.sql) for cause in explanation.causes]
        for statement, after in zip(
            gone_by, [None, *explanation.together], strict=bool(explanation.together)
        ):
            connection.execute(statement)
            if after is not None:
                assert close(_number(connection, case), after), (case.name, "together", after)
                checked += 1
    return checked


def _check_lost(
    connection: duckdb.DuckDBPyConnection, case: PlantedCase, explanation: Explanation
) -> int:
    """Count the lost rows in DuckDB, carry corrections of them out, and return their number."""
    if not explanation.lost:
        return 0
    fact = next(iter(case.database.relations))
    alias = "f" if f"{fact} f" in case.sql else fact
    there = f"SELECT {alias}.id FROM {case.sql.split(' FROM ', 1)[1]}"
    for each in explanation.lost:
        assert each.relation == fact, each
        where = to_duckdb(f"SELECT 1 FROM {fact} WHERE {each.sql}").split("WHERE", 1)[1]
        counted = connection.execute(
            f"SELECT count(*) FILTER ({where}), "
            f"count(*) FILTER (({where}) AND id NOT IN ({to_duckdb(there)})), "
            f"count(*) FILTER (id NOT IN ({to_duckdb(there)})) FROM {fact}"
        ).fetchall()[0]
        assert counted == (each.rows, each.lost, each.lost + each.others_lost), (case.name, each)

    def updated(values: dict[str, pa.Table]) -> Any:
        ((name, table),) = values.items()
        connection.register("_new", table)
        column = table.column_names[-1]
        connection.execute("BEGIN")
        connection.execute(
            f"UPDATE {name} SET {column} = _new.{column} FROM _new WHERE {name}.id = _new.id"
        )
        answer: Any = connection.execute(to_duckdb(case.sql)).fetch_arrow_table()
        connection.execute("ROLLBACK")
        return SimpleNamespace(df=answer)

    explanation._update = updated
    found = explanation.corrections()
    assert case.kind == "clean" or any(each.reached for each in found), (case.name, found)
    return len(explanation.lost) + len(found)


def _delete(relation: str, condition: str) -> str:
    where = to_duckdb(f"SELECT 1 FROM {relation} WHERE {condition}").split("WHERE", 1)[1]
    return f"DELETE FROM {relation} WHERE {where}"


def _number(connection: duckdb.DuckDBPyConnection, case: PlantedCase) -> float:
    """Return what is measured: a value, a difference, a distance, or a number of rows."""
    sql = _COMPARED.sub(
        lambda m: (
            f"SELECT {m[1]} - {m[3]} AS v" if m[2] == "<=" else f"SELECT {m[3]} - {m[1]} AS v"
        ),
        case.sql,
    )
    table: Any = connection.execute(to_duckdb(sql)).fetch_arrow_table()
    if "column" not in case.ask:
        return float(table.num_rows)
    number = _value(table, case.ask.get("where") or {})
    if isinstance(case.ask.get("than"), dict):
        number -= _value(table, case.ask["than"])
    return number if sql == case.sql else max(number, 0.0)


def _distance(match: re.Match[str]) -> str:
    left, right = (match[1], match[3]) if match[2] == "<=" else (match[3], match[1])
    return f"SELECT {left} - {right} AS v"


def _value(table: pa.Table, where: dict[str, Any]) -> float:
    rows = [r for r in table.to_pylist() if all(r[name] == v for name, v in where.items())]
    return float(rows[0]["v"]) if rows and rows[0]["v"] is not None else math.nan


def close(one: float, other: float) -> bool:
    """Return True if numbers are the same but for rounding."""
    both = math.isnan(one) and math.isnan(other)
    return both or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-6)


def report(seeds: Iterable[int], clean: Iterable[int], print_line: Callable[[str], None]) -> None:
    """Ask for all cases, and print a line for each and the shares by kind."""
    outcomes: list[Found] = []
    for case in (*map(planted_case, seeds), *map(clean_case, clean)):
        found = find(case)
        outcomes.append(found)
        mark = "first" if found.first else "among" if found.among else "MISSED"
        print_line(f"{case.name:28} {mark:6} {found.seconds:6.2f} s  {found.checked} effects hold")
        if not found.first:
            print_line(f"   planted: {'; '.join(p.text for p in case.planted) or 'nothing'}")
            for line in found.said:
                print_line(f"   said:    {line}")
    kinds = Counter(each.case.kind for each in outcomes)
    for kind, count in kinds.items():
        mine = [each for each in outcomes if each.case.kind == kind]
        first, among = sum(e.first for e in mine), sum(e.among or e.first for e in mine)
        print_line(f"{kind:14} first {first} of {count}, among three {among}")
    planted = [each for each in outcomes if each.case.kind != "clean"]
    quiet = [each for each in outcomes if each.case.kind == "clean"]
    first, among = (sum(getattr(e, name) for e in planted) for name in ("first", "among"))
    print_line(f"{first} of {len(planted)} planted causes first, {among} among three")
    print_line(f"nothing said in {sum(e.first for e in quiet)} of {len(quiet)} clean cases")
    print_line(f"{sum(each.checked for each in outcomes)} effects carried out by DuckDB, all exact")


def main(seeds: str) -> None:
    """Print what is found of planted causes: all of them, or those of some seeds."""
    first, last = map(int, seeds.split("-"))
    report(range(first, last), range(CLEAN) if last - first >= len(KINDS) else (), print)
