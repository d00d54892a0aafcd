"""Windows into tables hold what a plain program finds."""

from __future__ import annotations

import datetime as dt
import itertools
import operator
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from lipstick.explorer.cells import cell, parsed
from lipstick.explorer.conditions import read_condition
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from lipstick.explorer.table_windows import TableWindows

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
        window = TableWindows(table).window(Params(question))
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
    windows = TableWindows(pa.table({"t": ["Civic", None, "civil", "x"], "n": [1, 22, None, 12]}))
    assert windows.window(Params({"filters": {"0": "CIVI"}}))["places"] == [0, 2]
    assert windows.window(Params({"filters": {"0": "null"}}))["places"] == [1]
    assert windows.window(Params({"filters": {"1": "not null"}}))["places"] == [0, 1, 3]
    assert windows.window(Params({"filters": {"1": "2"}}))["places"] == [1, 3]


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"0": "> zwölf"}, "n is BIGINT: 'zwölf' is no such value."),
        ({"1": "= 2024-13-01"}, "t is DATE: '2024-13-01' is no such value."),
        ({"0": "= "}, "a value is missing"),
    ],
)
def test_a_value_of_another_type_is_refused(filters: dict[str, str], message: str) -> None:
    windows = TableWindows(pa.table({"n": [1], "t": [dt.date(2024, 1, 1)]}))
    with pytest.raises(ExploreError, match=re.escape(message)):
        windows.window(Params({"filters": filters}))


CONDITIONS: dict[str, Callable[[int | None, str | None], bool | None]] = {
    "n = 2 or t = 'b'": lambda n, t: _either(_is(n, lambda: n == 2), _is(t, lambda: t == "b")),
    "not n in (1,2, 30)": lambda n, t: _is(n, lambda: n not in (1, 2, 30)),
    "n not in (1)": lambda n, t: _is(n, lambda: n != 1),
    "N between 2 and 1,000": lambda n, t: _is(n, lambda: 2 <= n <= 1000),
    "n = 2..30": lambda n, t: _is(n, lambda: 2 <= n <= 30),
    "n >= 1,000": lambda n, t: _is(n, lambda: n >= 1000),
    "n > 1.5 and not (t like 'a%' or t is null)": lambda n, t: _both(
        _is(n, lambda: n > 1.5), t is not None and not t.startswith("a")
    ),
    "t is not null and n is null": lambda n, t: t is not None and n is None,
    "t = a b and n <> 2": lambda n, t: _both(_is(t, lambda: t == "a b"), _is(n, lambda: n != 2)),
    "`t` in ('it''s', 'b')": lambda n, t: _is(t, lambda: t in ("it's", "b")),
}


def _is(value: Any, holds: Callable[[], bool]) -> bool | None:
    return None if value is None else holds()


def _either(first: bool | None, second: bool | None) -> bool | None:
    return True if first or second else (None if None in (first, second) else False)


def _both(first: bool | None, second: bool | None) -> bool | None:
    return False if False in (first, second) else (None if None in (first, second) else True)


@pytest.mark.parametrize("text", CONDITIONS)
def test_conditions_hold_as_in_sql(text: str) -> None:
    pairs = list(itertools.product([None, 1, 2, 30, 1000], [None, "a b", "b", "it's", "ab"]))
    table = pa.table({"n": [n for n, _ in pairs], "t": [t for _, t in pairs]})
    read = read_condition(text, "r", ["n", "t"])
    found = read.mask(lambda name: table.column(name).combine_chunks())
    assert found.to_pylist() == [CONDITIONS[text](n, t) for n, t in pairs]
    kept = table.filter(eval(read.python(table.schema), {"pc": pc, "Decimal": Decimal}))
    assert kept.to_pylist() == table.filter(found).to_pylist()


def test_filters_of_a_column_may_leave_its_name_out() -> None:
    windows = TableWindows(pa.table({"t": ["in a", None, "b", "x"], "n": [1, 2200, None, 12_345]}))
    for column, text, places in [
        ("0", "in ('b', 'x')", [2, 3]),
        ("0", "in a", [0]),
        ("0", "not null", [0, 2, 3]),
        ("1", "1..3,000", [0, 1]),
        ("1", "12,345", [3]),
        ("1", "not in (1)", [1, 3]),
        ("1", "< 2 or null", [0, 2]),
    ]:
        assert windows.window(Params({"filters": {column: text}}))["places"] == places, text


def test_keys_are_read_back_as_they_were_written() -> None:
    for name, values in VALUES.items():
        array = pa.array(values, TYPES[name])
        assert parsed([cell(value) for value in values], TYPES[name]).equals(array)
    data = pa.array([b"\x00\xff", None, b""])
    assert parsed([cell(v) for v in data.to_pylist()], pa.binary()).equals(data)
