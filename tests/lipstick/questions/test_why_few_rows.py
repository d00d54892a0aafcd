"""Explanations where a dozen rows are behind a value: causes that a person sees, and no others."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lipstick.questions.why.few_rows import FewRows
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

_KINDS = {pa.int64(): "bigint", pa.float64(): "double", pa.string(): "string"}


def _texts(tables: dict[str, dict[str, Any]], sql: str, folder: Path, **ask: Any) -> list[str]:
    """Return the conditions that explain a value over tables, whose first columns are keys."""
    data = {name: pa.table(columns) for name, columns in tables.items()}
    relations = {
        name: Relation(
            name,
            (rows.column_names[0],),
            ", ".join(f"{field.name} {_KINDS[field.type]}" for field in rows.schema),
            rows,
        )
        for name, rows in data.items()
    }
    capture = write_capture(sql, Database(relations), folder / "capture")
    return [cause.text for cause in capture.why(**ask, sources=data).causes]


_AMOUNTS = [20, 25, 18, 22, 24, 23, 21, 23, 20, 23, 22, 21, 19, 23, 21]

_SHOPS = {
    "id": list(range(15)),
    "shop": ["north", "south", "west"] * 5,
    "clerk": [f"clerk {number}" for number in range(15)],
    "day": [1 + number // 3 for number in range(15)],
    "amount": [float(amount) for amount in _AMOUNTS],
}

_CENTS = _SHOPS | {
    "amount": [a * (100.0 if number % 3 == 2 else 1.0) for number, a in enumerate(_AMOUNTS)]
}

_TYPED_WRONG = _SHOPS | {
    "amount": [a * (100.0 if number == 7 else 1.0) for number, a in enumerate(_AMOUNTS)]
}

_CUSTOMERS = {
    "cid": list(range(8)),
    "name": [f"Customer#{number}" for number in range(8)],
    "country": ["DE", "DE", "FR", "FR", "US", "US", "US", "DE"],
}


def _orders(factor: float) -> dict[str, Any]:
    """Return orders of which those of the US are some times as large as others."""
    customers = np.arange(24) % 8
    amounts = np.array([30, 32, 29, 31, 33, 28, 30, 31] * 3) + np.arange(24) % 5
    wrong = np.isin(customers, [4, 5, 6])
    return {
        "oid": list(range(24)),
        "cid": customers.tolist(),
        "amount": np.where(wrong, factor, 1.0) * amounts,
    }


_REFUNDS = {
    "id": list(range(21)),
    "channel": ["web", "app", "store"] * 7,
    "customer": [f"c{number:02}" for number in range(21)],
    "refund": [int(number % 3 == 1 or number == 0) for number in range(21)],
}

_JOINED = "SELECT sum(o.amount) AS v FROM o JOIN c ON o.cid = c.cid"


@pytest.mark.parametrize(
    ("tables", "sql", "ask", "cause"),
    [
        ({"s": _CENTS}, "SELECT sum(amount) AS v FROM s", {"too": "high"}, "shop = 'west'"),
        ({"s": _CENTS}, "SELECT avg(amount) AS v FROM s", {}, "shop = 'west'"),
        ({"s": _CENTS}, "SELECT max(amount) AS v FROM s", {"than": 30}, "shop = 'west'"),
        ({"s": _CENTS}, "SELECT avg(amount) < 30 AS v FROM s", {}, "shop = 'west'"),
        ({"s": _TYPED_WRONG}, "SELECT sum(amount) AS v FROM s", {"too": "high"}, "id = 7"),
        (
            {"s": _TYPED_WRONG},
            "SELECT shop, avg(amount) AS v FROM s GROUP BY shop HAVING count(*) > 2",
            {"where": {"shop": "south"}, "than": {"shop": "west"}},
            "id = 7",
        ),
        ({"o": _orders(10.0), "c": _CUSTOMERS}, _JOINED, {}, "country = 'US'"),
        ({"t": {"id": [1, 2], "v": [20, 40]}}, "SELECT sum(v) AS v FROM t", {"than": 20}, "id = 2"),
        ({"r": _REFUNDS}, "SELECT sum(refund) AS v FROM r", {}, "channel = 'app'"),
    ],
)
def test_a_cause_among_few_rows_is_the_condition_that_a_person_names(
    tables: dict[str, Any], sql: str, ask: dict[str, Any], cause: str, tmp_path: Path
) -> None:
    assert cause in _texts(tables, sql, tmp_path, column="v", **ask)


@pytest.mark.parametrize(
    ("tables", "sql", "ask"),
    [
        ({"s": _SHOPS}, "SELECT sum(amount) AS v FROM s", {"too": "high"}),
        ({"s": _SHOPS}, "SELECT avg(amount) AS v FROM s", {}),
        ({"s": _SHOPS}, "SELECT max(amount) AS v FROM s", {}),
        ({"s": _SHOPS}, "SELECT count(*) AS v FROM s", {}),
        ({"t": {"id": [1, 2], "v": [20, 40]}}, "SELECT sum(v) AS v FROM t", {"too": "high"}),
        (
            {"s": _SHOPS},
            "SELECT shop, avg(amount) AS v FROM s GROUP BY shop",
            {"where": {"shop": "south"}, "than": {"shop": "west"}},
        ),
        ({"o": _orders(1.0), "c": _CUSTOMERS}, _JOINED, {"too": "high"}),
        (
            {"r": _REFUNDS | {"refund": [int(n in (1, 4, 9, 15, 18)) for n in range(21)]}},
            "SELECT sum(refund) AS v FROM r",
            {"too": "high"},
        ),
    ],
)
def test_nothing_is_said_of_few_rows_that_are_alike(
    tables: dict[str, Any], sql: str, ask: dict[str, Any], tmp_path: Path
) -> None:
    assert _texts(tables, sql, tmp_path, column="v", **ask) == []


def test_of_equal_conditions_the_one_on_the_first_column_is_shown(tmp_path: Path) -> None:
    names = ["first", "second", "third", "fourth", "fifth"]
    rows = {"id": list(range(15)), **dict.fromkeys(names, _SHOPS["shop"]), "v": _CENTS["amount"]}
    data = {"t": rows}
    assert _texts(data, "SELECT sum(v) AS v FROM t", tmp_path, column="v") == ["first = 'west'"]


def test_what_many_rows_count_the_same_explains_nothing(tmp_path: Path) -> None:
    """Gains that are rounding alone are none: each row adds one to a count."""
    rows = {"id": list(range(123)), "nation": [n % 22 for n in range(123)]}
    sql = "SELECT count(*) AS v FROM t"
    assert _texts({"t": rows}, sql, tmp_path, column="v") == []


def test_evidence_is_of_students_t_and_bounded_by_the_choice() -> None:
    measure: Any = SimpleNamespace(
        any_move_counts=False, is_check=False, is_condition=False, is_low=False
    )
    parts = np.array([0.0, 1.0, 2.0, 3.0, 7.0, 8.0])
    few = FewRows(measure, parts)
    high = few.evidence(np.array([4, 5]), None, 0.0)
    # Means of 7.5 and 1.5, four degrees of freedom: t = 5.908, and p = 0.00206 on one side.
    assert high == pytest.approx(-np.log(0.00206), rel=0.01)
    assert few.evidence(np.array([0, 1]), None, 0.0) == 0.0
    assert few.evidence(np.arange(6), None, 0.0) == 0.0
    apart = FewRows(measure, np.array([0.0, 0.0, 0.0, 1.0]))
    assert apart.evidence(np.array([3]), None, 0.0) == pytest.approx(np.log(4) + 8.0)
