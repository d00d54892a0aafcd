"""Which plain values formal values may take, and when they are equal."""

from __future__ import annotations

import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lipstick.engines.memory.formal import checked
from lipstick.engines.memory.formal.conditions import Conditions
from lipstick.engines.memory.formal.possible import possible
from semiring.circuit.circuit import AnnotationCircuit
from semiring.circuit.gates import TENSOR
from semiring.circuit.reading import CircuitReading
from semiring.errors import ExactnessError
from semiring.monoid import AVG, COUNT, MIN, SUM, Monoid
from semiring.tensor import Tensor
from semiring.token import Token
from tests.oracle.conditions import DATABASE
from tests.oracle.database import Database
from tests.oracle.small import small, token
from tests.oracle.written import written

MANY = 14
"""More tokens than worlds are enumerated for."""


def tensor(monoid: Monoid, *values: int) -> Tensor:
    return Tensor(monoid, [(token("r", number), value) for number, value in enumerate(values)])


@pytest.mark.parametrize(
    ("monoid", "values", "expected"),
    [
        (COUNT, [1] * MANY, list(range(MANY + 1))),
        (MIN, [7] * MANY, [None, 7]),
        (SUM, [2] * MANY, [None, *range(2, 2 * MANY + 1, 2)]),
        (SUM, [2, 3], [None, 2, 3, 5]),
        (AVG, [4] * MANY, [None, 4]),
    ],
)
def test_values_of_tensors(monoid: Monoid, values: list[int], expected: list[Any]) -> None:
    """Every one, by the worlds of few tokens, and by what is added up of many."""
    found = possible(tensor(monoid, *values))
    assert sorted(found, key=lambda value: (value is not None, value)) == expected


def test_plain_values_are_themselves() -> None:
    assert possible(5) == [5]
    assert possible(None) == [None]


def test_sums_of_values_that_may_change_are_bounded(tmp_path: Path) -> None:
    """Numbers of sessions: of one user's rows, more than there are worlds to look at."""
    rows = [(number, number * 20) for number in range(1, MANY + 1)]
    database = Database({"e": small("e", "id int, ts int", rows)})
    sql = """WITH s AS (SELECT *, CASE WHEN ts - lag(ts) OVER (ORDER BY ts) <= 30 THEN 0 ELSE 1 END
        AS new FROM e) SELECT id, sum(new) OVER (ORDER BY ts) AS session FROM s ORDER BY id"""
    sessions = [value for _, value in written(sql, database, tmp_path).tensors("c1")]
    found = possible(sessions[-1])
    assert set(found) == {None, *range(MANY + 1)}


def test_values_that_are_many_are_refused() -> None:
    with pytest.raises(ExactnessError, match=r"⊗4 \+ … \(11 more terms\)\) may have 2,048 values"):
        possible(tensor(SUM, *(2**number for number in range(MANY))))
    with pytest.raises(ExactnessError, match="may have 2,002 values"):
        possible(tensor(COUNT, *[1] * 2_001))


@pytest.mark.parametrize(
    ("left", "right", "types", "null_safe", "expected"),
    [
        (1, Decimal("1.00"), (pa.int32(), pa.decimal128(5, 2)), False, True),
        (Decimal("0.1"), 0.1, (pa.decimal128(2, 1), pa.float64()), False, True),
        (float("nan"), float("nan"), (pa.float64(), pa.float64()), False, True),
        ("a", "b", (pa.string(), pa.string()), False, False),
        (None, None, (pa.int32(), pa.int32()), False, False),
        (None, None, (pa.int32(), pa.int32()), True, True),
        (None, 1, (pa.null(), pa.int32()), True, False),
    ],
)
def test_equality_is_that_of_spark(
    left: Any, right: Any, types: tuple[pa.DataType, pa.DataType], null_safe: bool, expected: bool
) -> None:
    conditions = Conditions(CircuitReading(AnnotationCircuit(0), lambda _: []))
    sides = (pa.array([side], kind) for side, kind in zip((left, right), types, strict=True))
    assert conditions.equal(*sides, types, null_safe=null_safe).tolist() == [expected]


def test_equality_with_a_tensor_is_a_condition() -> None:
    circuit = AnnotationCircuit(2)
    reading = CircuitReading(
        circuit, lambda numbers: [Token("r", number) for number in numbers.tolist()]
    )
    conditions = Conditions(reading)
    gates = circuit.tokens(np.arange(2))
    types = (pa.int32(), pa.int32())
    of_circuit = circuit.tensors(MIN, gates, pa.array([3, 5], pa.int32()), np.array([0, 2]))
    for sides in (of_circuit, pa.array([3])), (pa.array([3]), of_circuit):
        (gate,) = conditions.equal(*sides, types, null_safe=False)
        assert str(reading.annotation(gate)) == "[MIN(r:0⊗3 + r:1⊗5) = 3]"
    least = circuit.tensors(MIN, gates, ["a", "b"], np.array([0, 2]))
    types = (pa.string(), pa.string())
    (gate,) = conditions.equal(least, pa.array(["a"]), types, null_safe=True)
    assert str(reading.annotation(gate)) == "[MIN(r:0⊗a + r:1⊗b) <=> a]"


def test_the_switch_finds_wrong_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that are not those of the tail are an error, with the world that shows it."""
    memory = written("SELECT k, max(x) AS m FROM r GROUP BY k", DATABASE, tmp_path)
    formal = memory.formally(lambda formal: formal)
    positions = memory._engine.base(memory._engine.root.name).ordered
    annotations = formal.shown(positions)
    checked.check(formal, positions, annotations)
    monkeypatch.setattr(formal.columns, "column", lambda *_: pa.repeat(77, len(positions)))
    with pytest.raises(AssertionError, match=r"A value is .* and its annotation gives 77"):
        checked.check(formal, positions, annotations)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM (SELECT id, sum(x) OVER (ORDER BY x, id) AS s FROM t) WHERE s > 2700",
        "SELECT id FROM (SELECT id, max(x) OVER (ORDER BY id) AS m FROM t) WHERE m > 9 AND id > 99",
        "SELECT id, count(*) OVER (ORDER BY x DESC) AS n FROM t ORDER BY x, id LIMIT 9 OFFSET 90",
        "SELECT sum(x) AS s, count(*) AS n FROM (SELECT x FROM t ORDER BY x, id LIMIT 70)",
    ],
)
def test_frames_and_rows_before_of_many_rows_are_those_of_the_tail(
    sql: str, tmp_path: Path
) -> None:
    rows = [(number, number * 7 % 50) for number in range(120)]
    memory = written(sql, Database({"t": small("t", "id int, x int", rows)}), tmp_path)
    formal = memory.formally(lambda formal: formal)
    positions = memory._engine.base(memory._engine.root.name).ordered
    checked.check(formal, positions, formal.shown(positions))
    store = formal.circuit.gates
    (tensors,) = np.nonzero(store.kind == TENSOR)
    inner = store.child[store.edges_of(tensors)[0]]
    # Some tensors are sums of others.
    assert not len(tensors) or (store.kind[inner] == TENSOR).any()


def test_what_limit_cuts_has_a_short_text_and_all_of_its_rows(tmp_path: Path) -> None:
    rows = [(number, number % 50) for number in range(200)]
    database = Database({"t": small("t", "id int, x int", rows)})
    sql = "SELECT x, count(*) AS n FROM t GROUP BY x ORDER BY n DESC, x LIMIT 10 OFFSET 10"
    [(_, annotation)] = written(sql, database, tmp_path).annotations(1)
    text = str(annotation)
    assert (
        "[rows before (COUNT(t:10⊗1 + t:60⊗1 + t:110⊗1 + … (1 more term)), 10) among 49 < 20]"
        in text
    )
    assert len(text) < 300
    whole = annotation.truncated(None)
    assert "rows before" not in whole
    assert all(f"t:{number}⊗1" in whole for number in range(200))
    copied = pickle.loads(pickle.dumps(annotation))
    assert copied == annotation
    assert str(copied) == text


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        (
            """SELECT n, count(*) AS groups FROM (SELECT k, count(*) AS n FROM t GROUP BY k)
            GROUP BY n HAVING count(*) < 3""",
            3,
        ),
        (
            """SELECT k FROM t GROUP BY k
            HAVING CASE WHEN count(*) < 3 THEN sum(x) ELSE 0 END > 1""",
            4,
        ),
    ],
)
def test_many_rows_are_possible_by_whole_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str, count: int
) -> None:
    """Keys that are COUNTs, and rows that are there in a few worlds, as one by one."""
    rows = [(number, number % 4, number % 3) for number in range(12)]
    database = Database({"t": small("t", "id int, k int, x int", rows)})
    expected = written(sql, database, tmp_path / "one").potential_rows()
    monkeypatch.setattr("lipstick.engines.memory.formal.domains._COUNTS", 1)
    monkeypatch.setattr("lipstick.engines.memory.formal._FEW", 1)
    found = written(sql, database, tmp_path / "all").potential_rows()
    assert len(found) == count
    assert set(found) == set(expected)
