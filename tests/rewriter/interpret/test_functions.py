"""Every function of the interpreter over random rows: a value for each, or a named refusal."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewriter.interpret import (
    FailedError,
    UninterpretableError,
    Vector,
    from_arrow,
    in_time_zone,
)
from rewriter.interpret.functions import FUNCTIONS
from rewriter.interpret.vector import constant

INT, BIGINT, DOUBLE = pa.int32(), pa.int64(), pa.float64()
DECIMAL, TEXT, DATE = pa.decimal128(10, 2), pa.string(), pa.date32()
INSTANT, LOCAL = pa.timestamp("us", "UTC"), pa.timestamp("us")
PARTS = (
    *("year", "quarter", "month", "week", "weekofyear", "day", "dayofmonth", "dayofweek"),
    *("weekday", "dayofyear", "hour", "minute", "second"),
)
LIST = pa.list_(pa.field("element", INT))
TEXTS = pa.list_(pa.field("element", TEXT))
MAP = pa.map_(INT, TEXT)
ENTRIES = pa.list_(pa.field("element", pa.struct([("key", INT), ("value", TEXT)])))

_VALUES: Final[dict[pa.DataType, st.SearchStrategy[Any]]] = {
    INT: st.integers(-(2**31), 2**31 - 1) | st.integers(-3, 3),
    BIGINT: st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3),
    DOUBLE: st.floats() | st.sampled_from([0.5, 2.5, -1.5, 0.0]),
    DECIMAL: st.integers(-(10**10) + 1, 10**10 - 1).map(lambda n: Decimal(n).scaleb(-2)),
    TEXT: st.text(st.characters(codec="utf-8"), max_size=4) | st.sampled_from(["", " a ", "a"]),
    DATE: st.dates(date(1, 1, 1), date(9999, 12, 31)),
    INSTANT: st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),
    LOCAL: st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)),
    pa.bool_(): st.booleans(),
}

_NUMBERS = (INT, BIGINT, DOUBLE, DECIMAL)
_ANY = (*_NUMBERS, TEXT, DATE)

SIGNATURES: Final[dict[str, tuple[tuple[pa.DataType, ...], ...]]] = {
    **{name: tuple((kind,) for kind in _NUMBERS) for name in ("abs", "floor", "ceil", "ceiling")},
    "sqrt": tuple((kind,) for kind in _NUMBERS),
    "round": tuple((kind,) for kind in _NUMBERS),
    **dict.fromkeys(("add_months", "date_add", "date_sub"), ((DATE, INT),)),
    **dict.fromkeys(("datediff", "date_diff"), ((DATE, DATE), (INSTANT, DATE))),
    "date_format": ((INSTANT, TEXT),),
    "date_trunc": ((TEXT, INSTANT),),
    "trunc": ((DATE, TEXT),),
    "unix_timestamp": ((INSTANT,), (INSTANT, TEXT)),
    "nvl2": tuple((INT, kind, kind) for kind in _ANY),
    **dict.fromkeys(PARTS, ((DATE,), (INSTANT,), (LOCAL,))),
    **dict.fromkeys(("date", "to_date", "last_day"), ((DATE,), (INSTANT,), (LOCAL,))),
    **dict.fromkeys(("unix_seconds", "unix_millis"), ((INSTANT,),)),
    **{name: tuple((kind, kind) for kind in _ANY) for name in ("ifnull", "nvl")},
    **dict.fromkeys(
        [
            "upper",
            "ucase",
            "lower",
            "lcase",
            "length",
            "char_length",
            "md5",
            "sha",
            "sha1",
            "trim",
            "btrim",
            "ltrim",
            "rtrim",
        ],
        ((TEXT,),),
    ),
    "array": tuple((kind,) * 2 for kind in _ANY),
    **dict.fromkeys(("array_compact", "array_distinct", "sort_array"), ((LIST,), (TEXTS,))),
    **dict.fromkeys(("array_max", "array_min", "array_sort"), ((LIST,), (TEXTS,))),
    **dict.fromkeys(("cardinality", "size"), ((LIST,), (MAP,))),
    "array_contains": ((LIST, INT), (TEXTS, TEXT)),
    "concat": ((TEXT,), (TEXT, TEXT), (TEXT, TEXT, TEXT)),
    "concat_ws": ((TEXT,), (TEXT, TEXT), (TEXT, TEXT, TEXT), (TEXT, TEXT, TEXT, TEXT)),
    "get": ((LIST, INT), (TEXTS, INT)),
    **{name: tuple((kind,) * 3 for kind in _ANY) for name in ("greatest", "least")},
    "map": ((INT, TEXT), (INT, TEXT, INT, TEXT)),
    "map_from_entries": ((ENTRIES,),),
    **dict.fromkeys(("map_keys", "map_values"), ((MAP,),)),
    "sequence": ((INT, INT), (BIGINT, BIGINT), (BIGINT, INT)),
    "slice": ((LIST, INT, INT),),
    "unix_micros": ((INSTANT,),),
    "window": ((INSTANT, BIGINT, BIGINT, BIGINT),),
    "named_struct": ((TEXT, INT), (TEXT, INT, TEXT, TEXT)),
    "raise_error": ((TEXT,),),
    **dict.fromkeys(("timestamp_micros", "timestamp_millis"), ((BIGINT,), (INT,))),
    "replace": ((TEXT, TEXT, TEXT),),
    **dict.fromkeys(("startswith", "endswith", "contains"), ((TEXT, TEXT),)),
    "sha2": ((TEXT, INT),),
    **dict.fromkeys(("substring", "substr"), ((TEXT, INT), (TEXT, INT, INT))),
}
"""The types of arguments that Spark lets a function have, of which some are tried."""

_WITH_A_FLAG = {("round", 2): INT, ("sort_array", 2): pa.bool_()}
"""What stands behind the arguments of the shorter form."""


def _value(kind: pa.DataType) -> st.SearchStrategy[Any]:
    if pa.types.is_map(kind):
        entries = st.dictionaries(_value(kind.key_type), _value(kind.item_type) | st.none())
        return entries.map(lambda found: list(found.items()))
    if pa.types.is_list(kind):
        item = _value(kind.value_type)
        return st.lists(item if kind == ENTRIES else item | st.none(), max_size=3)
    if pa.types.is_struct(kind):
        return st.fixed_dictionaries({field.name: _value(field.type) for field in kind})
    return _VALUES[kind]


@st.composite
def _calls(draw: st.DrawFn, name: str, count: int | None) -> tuple[int, list[Vector]]:
    """Draw the number of rows and arguments, of which each is a column or one value for all."""
    flag = _WITH_A_FLAG.get((name, count or 0))
    wanted = count if flag is None else 1
    kinds = draw(st.sampled_from([s for s in SIGNATURES[name] if wanted in (None, len(s))]))
    rows = draw(st.integers(0, 5))
    arguments = []
    for place, kind in enumerate(kinds if flag is None else (*kinds, flag)):
        if name == "named_struct" and place % 2 == 0:
            arguments.append(constant(TEXT, draw(_value(TEXT))))
            continue
        values = _value(kind) | st.none()
        if draw(st.booleans()):
            arguments.append(constant(kind, draw(values)))
        else:
            drawn = draw(st.lists(values, min_size=rows, max_size=rows))
            arguments.append(from_arrow(pa.array(drawn, kind)))
    return rows, arguments


@pytest.mark.parametrize(("name", "count"), [key for key in FUNCTIONS if key[1] != 0])
def test_functions_have_a_value_for_each_row(name: str, count: int | None) -> None:
    """Whatever the rows are: no value, a NULL, NULLs alone, the ends of a type."""

    @given(_calls(name, count))
    def hold(call: tuple[int, list[Vector]]) -> None:
        rows, arguments = call
        try:
            with np.errstate(all="raise"), in_time_zone("UTC"):
                value = FUNCTIONS[name, count](arguments)
                array = value.to_arrow(rows)
        except (FailedError, UninterpretableError):
            return
        assert len(value) in (1, rows)
        assert len(array) == rows

    hold()


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([["a", None], ["b", None]], ["a-b", ""]),
        ([[None, None], [None, None]], ["", ""]),
        ([[None, "a"], ["", "b"], [None, "c"]], ["", "a-b-c"]),
        ([[None, "a"]], ["", "a"]),
    ],
)
def test_concat_ws_leaves_out_parts_and_no_rows(
    parts: list[list[str | None]], expected: list[str]
) -> None:
    columns = [from_arrow(pa.array(part, TEXT)) for part in parts]
    joined = FUNCTIONS["concat_ws", None]([constant(TEXT, "-"), *columns])
    assert joined.to_arrow(2).to_pylist() == expected
