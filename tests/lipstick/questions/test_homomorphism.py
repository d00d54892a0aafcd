"""Specialising captured annotations is the query over the specialised database, in every K."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lipstick import semirings
from lipstick.capture.capture import Capture
from semiring import MAX, MIN, SUM, CapabilityError, Token
from semiring.base import Semiring
from tests.oracle.database import Database, Relation
from tests.oracle.k_relations import KRelation
from tests.oracle.written import write_capture

K = KRelation[Any]
SAMPLES: dict[str, list[Any]] = {
    "Counting": [0, 1, 2, 3],
    "Boolean": [False, True],
    "Integers": [-1, 0, 1, 2],
    "Tropical": [0, 1, 4, float("inf")],
    "MaxPlus": [-2, 0, 3, -float("inf")],
    "Viterbi": [0, 0.5, 0.25, 1],
    "Fuzzy": [0, 0.5, 0.25, 1],
    "Lukasiewicz": [0, 0.5, 0.75, 1],
    "AccessControl": ["PUBLIC", "SECRET", "NEVER"],
    "Validity": [(1, 4), (2, None), [], [(None, 2), (3, 5)]],
    "Worlds": [0, 5, 2**64 - 1, 1 << 63],
    "Sensitivity": [0, 1.0, 2.5, semirings.Sensitivity.of(Token("z", 1), 0.5)],
}
"""Values of tokens; where there are none, tokens are themselves or other tokens."""


@dataclass(frozen=True)
class Query:
    """A query in SQL, and in the algebra of K-relations over r(id, a, b) and s(id, a, c)."""

    sql: str
    algebra: Callable[[K, K], K]
    positive: bool = True
    """Whether a row is in the answer wherever it may be annotated other than 0."""
    whole: bool = True
    """Whether all that the algebra computes goes into the annotation of some row."""


QUERIES = {
    "selection": Query(
        "SELECT a, b FROM r WHERE b > 1",
        lambda r, s: r.select(lambda row: (row[2] or 0) > 1).project(lambda row: row[1:]),
    ),
    "projection": Query("SELECT a FROM r", lambda r, s: r.project(lambda row: row[1:2])),
    "join": Query(
        "SELECT r.a, s.c FROM r JOIN s ON r.a = s.a",
        lambda r, s: r.join(s, _same_a).project(lambda row: (row[1], row[5])),
    ),
    "self join": Query(
        "SELECT x.b FROM r x JOIN r y ON x.a = y.a",
        lambda r, s: r.join(r, _same_a).project(lambda row: row[2:3]),
    ),
    "union": Query(
        "SELECT a FROM r UNION ALL SELECT a FROM s",
        lambda r, s: r.union(s).project(lambda row: row[1:2]),
    ),
    "distinct": Query(
        "SELECT DISTINCT r.a FROM r JOIN s ON r.a = s.a",
        lambda r, s: r.join(s, _same_a).project(lambda row: row[1:2]).distinct(),
    ),
    "distinct of distinct": Query(
        "SELECT DISTINCT b FROM (SELECT DISTINCT a, b FROM r)",
        lambda r, s: (
            r.project(lambda row: row[1:]).distinct().project(lambda row: row[1:]).distinct()
        ),
    ),
    "grouping sets": Query(
        "SELECT a, b FROM r WHERE a = 1 GROUP BY GROUPING SETS ((a), (a, b))",
        lambda r, s: _grouping_sets(r.select(lambda row: row[1] == 1)),
    ),
    "membership": Query(
        "SELECT b FROM r WHERE a IN (SELECT a FROM s)",
        lambda r, s: r.matching(s, _same_a).project(lambda row: row[2:3]),
    ),
    "join with groups": Query(
        "SELECT r.b, g.a FROM r JOIN (SELECT a FROM s GROUP BY a) g ON r.a = g.a",
        lambda r, s: _with_groups(r, s).project(lambda row: (row[2], row[3])),
        whole=False,
    ),
    "groups of a join with groups": Query(
        "SELECT r.b FROM r JOIN (SELECT a FROM s GROUP BY a) g ON r.a = g.a GROUP BY r.b",
        lambda r, s: _with_groups(r, s).project(lambda row: row[2:3]).distinct(),
        whole=False,
    ),
    "groups with a member": Query(
        "SELECT a FROM (SELECT a FROM r GROUP BY a) g WHERE a IN (SELECT a FROM s)",
        lambda r, s: (
            r.project(lambda row: (None, row[1]))
            .distinct()
            .matching(s, _same_a)
            .project(lambda row: row[1:])
        ),
        whole=False,
    ),
    "difference": Query(
        "SELECT a FROM r EXCEPT ALL SELECT a FROM s",
        lambda r, s: r.project(lambda row: row[1:2]).minus(s.project(lambda row: row[1:2])),
        positive=False,
    ),
    "groups of an absence": Query(
        "SELECT b FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.a = r.a) GROUP BY b",
        lambda r, s: r.matching(s, _same_a, absent=True).project(lambda row: row[2:3]).distinct(),
        positive=False,
    ),
    "absence": Query(
        "SELECT id FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.a = r.a)",
        lambda r, s: r.matching(s, _same_a, absent=True).project(lambda row: row[:1]),
        positive=False,
    ),
}


def _grouping_sets(r: K) -> K:
    whole = r.project(lambda row: (row[1], None)).distinct()
    return whole.union(r.project(lambda row: row[1:]).distinct())


def _with_groups(r: K, s: K) -> K:
    return r.join(s.project(lambda row: row[1:2]).distinct(), lambda a, b: a[1] == b[0] is not None)


def _same_a(left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
    return left[1] is not None and left[1] == right[1]


def _database(rng: random.Random) -> Database:
    def relation(name: str, last: str) -> Relation:
        count = rng.randint(0, 6)
        data = pa.table(
            {
                "id": pa.array(range(count), pa.int32()),
                "a": pa.array([rng.choice([1, 2, None]) for _ in range(count)], pa.int32()),
                last: pa.array([rng.choice([0, 1, 2, 3]) for _ in range(count)], pa.int32()),
            }
        )
        return Relation(name, ("id",), f"id int, a int, {last} int", data)

    return Database({"r": relation("r", "b"), "s": relation("s", "c")})


def _valued(
    rng: random.Random, semiring: Semiring[Any], database: Database
) -> tuple[dict[str, Any], list[K]]:
    """A valuation for the capture, and the specialised database."""
    valuation: dict[str, Any] = {}
    relations: list[K] = []
    for name, relation in database.relations.items():
        rows = [tuple(row.values()) for row in relation.data.to_pylist()]
        if semiring.name in SAMPLES:
            values = [semiring.check(rng.choice(SAMPLES[semiring.name])) for _ in rows]
            given = dict(zip((row[0] for row in rows), values, strict=True))
            # By a table, or key by key: of all tuples, or of those that are not 1.
            valuation[name] = {k: v for k, v in given.items() if v != semiring.one or k % 2}
        else:
            values = [semiring.default(Token(name, (row[0],))) for row in rows]
            if rng.random() < 0.5:
                values = [_other(rng, semiring, value) for value in values]
                valuation[name] = dict(zip((row[0] for row in rows), values, strict=True))
        relations.append(KRelation(semiring, tuple(zip(rows, values, strict=True))))
    return valuation, relations


def _other(rng: random.Random, semiring: Semiring[Any], value: Any) -> Any:
    """The value of a token that is deleted, as it is, or renamed."""
    renamed = semiring.default(Token("q", rng.randint(0, 1)))
    return rng.choice([semiring.zero, value, renamed, semiring.plus(value, renamed)])


def _in_every_semiring(
    capture: Capture, query: Query, database: Database, rng: random.Random
) -> None:
    for semiring in semirings.ALL:
        valuation, (r, s) = _valued(rng, semiring, database)
        valuation = {k: v for k, v in valuation.items() if k in capture.manifest.relations}
        try:
            expected = query.algebra(r, s).table()
            whole = capture.algebra.k_relation(semirings.Counting())
            answer = set(zip(*(c.to_pylist() for c in whole.columns[:-1]), strict=True))
            if not query.positive:
                expected = {row: value for row, value in expected.items() if row in answer}
            evaluated = capture.algebra.k_relation(semiring, valuation or None)
        except CapabilityError:
            if query.whole:
                with pytest.raises(CapabilityError):
                    capture.algebra.k_relation(semiring, valuation or None)
            continue
        column = evaluated.column("_value").to_pylist()
        rows = zip(*(c.to_pylist() for c in evaluated.columns[:-1]), strict=True)
        shown = dict(zip(rows, column, strict=True))
        zero = semiring.to_arrow(semiring.zeros(1)).to_pylist()[0]
        assert {row: value for row, value in shown.items() if value != zero} == {
            row: semiring.to_arrow(semiring.pack([value])).to_pylist()[0]
            for row, value in expected.items()
        }, f"{semiring.name}: {query.sql}\n{database}\n{valuation}"


@pytest.mark.many(3)
@pytest.mark.parametrize("name", QUERIES)
def test_specialisation_commutes_with_the_query(name: str, tmp_path: Path) -> None:
    rng = random.Random(name)
    for number in range(2):
        database = _database(rng)
        capture = write_capture(QUERIES[name].sql, database, tmp_path / str(number))
        _in_every_semiring(capture, QUERIES[name], database, rng)


def test_aggregates_commute_with_the_query(tmp_path: Path) -> None:
    """Tensors, where the semiring gives them values."""
    rng = random.Random(7)
    sql = "SELECT r.a, sum(b) s, min(b) lo, max(b) hi FROM r JOIN s ON r.a = s.a GROUP BY r.a"
    compared = 0
    for number in range(6):
        database = _database(rng)
        capture = write_capture(sql, database, tmp_path / str(number))
        for semiring in semirings.ALL:
            valuation, (r, s) = _valued(rng, semiring, database)
            joined = r.join(s, _same_a)
            tokens = {
                Token(name, (key,)): valuation.get(name, {}).get(key, semiring.one)
                for name, relation in database.relations.items()
                for (key,) in relation.row_keys()
            }
            for column, monoid in (("s", SUM), ("lo", MIN), ("hi", MAX)):
                if monoid.name not in semiring.capabilities:
                    continue
                expected = joined.aggregate(lambda row: row[1:2], monoid, lambda row: row[2])
                for row, tensor in capture.algebra.tensors(column):
                    if (row["a"],) in expected:
                        value = tensor.evaluate(semiring, tokens if valuation else None)
                        assert value == expected[(row["a"],)], (semiring.name, column, database)
                        compared += 1
    assert compared > 50
