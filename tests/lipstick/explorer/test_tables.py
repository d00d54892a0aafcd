"""Windows into tables hold what a plain program finds."""

from __future__ import annotations

import datetime as dt
import operator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lipstick.explorer.cells import cell, parsed
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from lipstick.explorer.table_windows import Windows

OPERATORS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
VALUES: dict[str, list[Any]] = {
    "whole": [None, -3, 0, 1, 2, 7, 100],
    "exact": [None, Decimal("-1.50"), Decimal("0.00"), Decimal("2.25"), Decimal("10.10")],
    "text": [None, "", "a", "Ab", "b%", "null", "ß", "<b>"],
    "day": [None, dt.date(1999, 1, 2), dt.date(2024, 2, 29)],
    "real": [None, -0.5, 0.0, 1.25, 1e9],
}
TYPES = {
    "whole": pa.int64(),
    "exact": pa.decimal128(10, 2),
    "text": pa.string(),
    "day": pa.date32(),
    "real": pa.float64(),
}


def drawn(seed: int) -> tuple[pa.Table, dict[str, Any], list[int]]:
    """A random table, a window of it, and the places that the window is to have."""
    random = np.random.default_rng(seed)

    def choose(options: list[Any]) -> Any:
        return options[int(random.integers(len(options)))]

    count = int(random.integers(0, 80))
    columns = {name: [choose(of) for _ in range(count)] for name, of in VALUES.items()}
    table = pa.table({name: pa.array(values, TYPES[name]) for name, values in columns.items()})
    places = list(range(count))
    filters = {}
    names = list(VALUES)
    for name in names:
        if random.random() < 0.3:
            sign, value = choose(list(OPERATORS)), choose(VALUES[name][1:])
            text = f"'{value}'" if name == "text" else cell(value)
            filters[str(names.index(name))] = f"{sign} {text}"
            places = [
                p
                for p in places
                if columns[name][p] is not None and OPERATORS[sign](columns[name][p], value)
            ]
    question: dict[str, Any] = {"filters": filters}
    if random.random() < 0.7:
        sort, descending = int(random.integers(len(names))), bool(random.random() < 0.5)
        question |= {"sort": sort, "descending": descending}
        there = [p for p in places if columns[names[sort]][p] is not None]
        there.sort(key=lambda p: columns[names[sort]][p], reverse=descending)
        places = there + [p for p in places if columns[names[sort]][p] is None]
    question |= {"offset": int(random.integers(0, 90)), "limit": int(random.integers(1, 60))}
    return table, question, places


def test_windows_are_what_sorting_and_filtering_row_by_row_gives() -> None:
    for seed in range(1_000):
        table, question, places = drawn(seed)
        window = Windows(table).window(Params(question))
        wanted = places[question["offset"] : question["offset"] + question["limit"]]
        values = table.to_pylist()
        assert window["total"] == len(places), seed
        # Rows that tie may stand in any order: they are compared by what is sorted by.
        if "sort" in question:
            name = table.column_names[question["sort"]]
            assert [values[p][name] for p in window["places"]] == [
                values[p][name] for p in wanted
            ], seed
        else:
            assert window["places"] == wanted, seed
        assert window["rows"] == [
            [cell(v) for v in values[p].values()] for p in window["places"]
        ], seed


def test_text_is_looked_for_and_null_is_asked_for() -> None:
    windows = Windows(pa.table({"t": ["Civic", None, "civil", "x"], "n": [1, 22, None, 12]}))
    assert windows.window(Params({"filters": {"0": "CIVI"}}))["places"] == [0, 2]
    assert windows.window(Params({"filters": {"0": "null"}}))["places"] == [1]
    assert windows.window(Params({"filters": {"1": "not null"}}))["places"] == [0, 1, 3]
    assert windows.window(Params({"filters": {"1": "2"}}))["places"] == [1, 3]


@pytest.mark.parametrize("condition", ["> zwölf", "= 2024-13-01"])
def test_a_value_of_another_type_is_refused(condition: str) -> None:
    windows = Windows(pa.table({"n": [1], "t": [dt.date(2024, 1, 1)]}))
    column = "0" if "zwölf" in condition else "1"
    with pytest.raises(ExploreError, match="no values of the type"):
        windows.window(Params({"filters": {column: condition}}))


def test_keys_are_read_back_as_they_were_written() -> None:
    for name, values in VALUES.items():
        array = pa.array(values, TYPES[name])
        assert parsed([cell(value) for value in values], TYPES[name]).equals(array)
    data = pa.array([b"\x00\xff", None, b""])
    assert parsed([cell(v) for v in data.to_pylist()], pa.binary()).equals(data)
