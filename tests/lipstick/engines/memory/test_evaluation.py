"""Evaluation on columns of token numbers gives what evaluation on arrays of elements gives."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lipstick import LipstickError, semirings
from lipstick.capture.capture import Capture
from lipstick.engines.memory.formal import tokens
from semiring.base import Semiring
from semiring.columns.arrays import ArrayColumns
from semiring.encodings.quotients import Quotient
from semiring.token import Token
from tests.oracle.database import Database, Relation
from tests.oracle.generator import generate
from tests.oracle.written import write_capture

A = pa.table(
    {
        "id": pa.array([1, 2, 3, 4, 5], pa.int32()),
        "k": ["x", "x", None, "y", "y"],
        "x": pa.array([1, 2, 2, None, 1], pa.int32()),
    }
)
DATABASE = Database({"a": Relation("a", ("id",), "id int, k string, x int", A)})
QUERIES = {
    "rows of a self-join": "SELECT p.k, q.x FROM a p JOIN a q ON p.k = q.k",
    "groups of a self-join": "SELECT p.k, count(*) n FROM a p JOIN a q ON p.x = q.x GROUP BY p.k",
    "a union": "SELECT x FROM a UNION ALL SELECT p.x FROM a p JOIN a q ON p.id = q.x",
    "groups of a union": """SELECT x, count(*) n FROM
        (SELECT x FROM a UNION ALL SELECT p.x FROM a p JOIN a q ON p.id = q.x) u GROUP BY x""",
    "grouping sets": "SELECT k, x, count(*) n FROM a GROUP BY ROLLUP (k, x)",
    "one group": "SELECT count(*) n FROM a",
    "an inner grouping": "SELECT n FROM (SELECT k, count(*) n FROM a GROUP BY k) g",
    "EXCEPT ALL": "SELECT k FROM a EXCEPT ALL SELECT k FROM a WHERE x = 1",
    "no rows": "SELECT k, count(*) n FROM a WHERE x > 9 GROUP BY k",
    "ordered and limited": "SELECT k, count(*) n FROM a GROUP BY k ORDER BY n DESC, k LIMIT 2",
    "groups of groups": """SELECT n, count(*) m FROM
        (SELECT p.x, count(*) n FROM a p JOIN a q ON p.k = q.k GROUP BY p.x) g GROUP BY n""",
    "a join of groups": """SELECT a.k, g.n FROM a JOIN
        (SELECT k, count(*) n FROM a GROUP BY k) g ON a.k = g.k""",
    "EXISTS": "SELECT k FROM a WHERE EXISTS (SELECT 1 FROM a b WHERE b.x = a.x AND b.k = 'y')",
    "NOT EXISTS": "SELECT k FROM a WHERE NOT EXISTS (SELECT 1 FROM a b WHERE b.id = a.x + 3)",
    "groups of an outer join": """SELECT p.k, count(q.id) n FROM a p
        LEFT JOIN a q ON q.id = p.x + 3 GROUP BY p.k""",
    "a union of groups": """SELECT k FROM (SELECT k FROM a GROUP BY k)
        UNION ALL SELECT k FROM a WHERE k NOT IN (SELECT k FROM a WHERE x = 2)""",
    "INTERSECT": "SELECT k FROM a INTERSECT SELECT k FROM a WHERE x = 1",
    "INTERSECT ALL": "SELECT k FROM a INTERSECT ALL SELECT k FROM a WHERE x = 2",
    "HAVING": "SELECT k, count(*) n FROM a GROUP BY k HAVING count(*) > 1",
}
NUMBERED = [
    semiring
    for semiring in semirings.ALL
    if isinstance(semiring, Quotient | semirings.Which | semirings.Sensitivity)
]
SEEDS = [4012, 4016, 4043, 4090]
"""Generated queries of several blocks without conditions, which have values in all semirings."""


@pytest.mark.many(3)
@pytest.mark.parametrize("sql", QUERIES.values(), ids=QUERIES)
def test_values_and_refusals_are_those_of_elements_as_objects(
    sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = write_capture(sql, DATABASE, tmp_path / "c")
    _compare(capture, monkeypatch, random.Random(sql))


@pytest.mark.parametrize("seed", SEEDS)
def test_generated_queries_have_the_values_of_elements_as_objects(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = generate(seed)
    capture = write_capture(case.sql, case.database, tmp_path / "c")
    assert len(capture.memory.blocks) > 1
    assert capture.algebra.evaluate(semirings.Why()).num_rows
    _compare(capture, monkeypatch, random.Random(seed))


def _compare(capture: Capture, patch: pytest.MonkeyPatch, rng: random.Random) -> None:
    for semiring in NUMBERED:
        given = _given(capture, semiring, rng)
        for valuation, merged in ((None, True), (given, False), (given, True)):
            actual = _evaluated(capture, semiring, valuation, merged)
            with patch.context() as patched:
                patched.setattr(tokens, "columns_of", ArrayColumns)
                expected = _evaluated(capture, semiring, valuation, merged)
            assert actual == expected, (semiring.name, valuation)


def _given(capture: Capture, semiring: Semiring[Any], rng: random.Random) -> dict[str, Any]:
    """Values of some tokens: of deleted ones 0, of others sums and products of tokens."""
    values_by_relation: dict[str, Any] = {}
    for name, record in capture.manifest.relations.items():
        keys = [tuple(row.values()) for row in capture.memory.tokens(name).to_pylist()]
        if not record.token or not keys:
            continue
        values = {
            key: _value(semiring, name, keys, rng) for key in rng.sample(keys, len(keys) // 2)
        }
        values_by_relation[name] = values
        if rng.random() < 0.6:
            # Of the tokens that are left each is itself, in place of 1.
            values_by_relation[name] = partial(_or_itself, semiring, values)
    return values_by_relation


def _or_itself(semiring: Semiring[Any], values: dict[Any, Any], token: Token) -> Any:
    return values.get(token.key, semiring.default(token))


def _value(semiring: Semiring[Any], name: str, keys: list[Any], rng: random.Random) -> Any:
    if rng.random() < 0.4:
        return semiring.zero
    other = semiring.default(Token("other", rng.randint(0, 1)))
    a, b = (semiring.default(Token(name, rng.choice(keys))) for _ in range(2))
    return rng.choice([semiring.one, other, semiring.plus(a, semiring.times(a, b))])


def _evaluated(capture: Capture, semiring: Semiring[Any], given: Any, merged: bool) -> Any:
    ask = capture.algebra.k_relation if merged else capture.algebra.evaluate
    try:
        return [repr(row) for row in ask(semiring, given).to_pylist()]
    except LipstickError as error:
        return type(error)
