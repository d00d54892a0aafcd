"""Valuations compiled for whole key columns."""

from __future__ import annotations

import pickle
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from semiring import Token, ValuationError
from semiring.encodings.valuation import Valuation
from semiring.semirings import Boolean, Counting, Tropical, Viterbi, Why


def compiled(spec, semiring=None, **options):
    return Valuation.compile(semiring or Counting(), "r", spec, **options)


def test_default_does_not_look():
    """Without a valuation Counting gives ones whatever the keys."""
    v = compiled(None)
    assert v.constant_one
    assert v.lookup([pa.array(["a", None])]).tolist() == [1, 1]
    assert v.lookup([], length=3).tolist() == [1, 1, 1]


def test_default_by_token():
    """Without a valuation Why gives every token itself, and 1 to an absent factor."""
    v = compiled(None, Why())
    elements = v.lookup([pa.array([1, None, 1]), pa.array(["x", None, None])])
    assert elements.tolist() == [
        {frozenset({Token("r", (1, "x"))})},
        {frozenset()},
        {frozenset({Token("r", (1, None))})},
    ]


def test_mapping():
    """A mapping gives its keys' values, the others the default, absent factors 1."""
    v = compiled({"a": 0, "b": 5})
    keys = pa.array(["b", "a", None, "c"])
    assert v.lookup([keys]).tolist() == [5, 0, 1, 1]
    assert v.lookup([keys.slice(1)]).tolist() == [0, 1, 1]
    assert v.lookup([keys.dictionary_encode()]).tolist() == [5, 0, 1, 1]
    assert v.lookup([pa.chunked_array([["b"], ["a"]])]).tolist() == [5, 0]
    assert compiled({"a": 2}, default=0).lookup([keys]).tolist() == [0, 2, 1, 0]
    assert compiled({}).lookup([keys]).tolist() == [1, 1, 1, 1]
    assert v.lookup([pa.array([], pa.string())]).tolist() == []


def test_token_keys():
    """Tokens of other relations are passed over."""
    v = compiled({Token("r", "a"): 0, Token("s", "b"): 0})
    assert v.lookup([pa.array(["a", "b"])]).tolist() == [0, 1]


def test_composite_keys():
    """Composite keys match as a whole, NULL parts included."""
    v = compiled({(1, "x"): 2, (2, "y"): 3, (1, None): 4, (7, "x"): 5})
    first = pa.array([1, 1, 2, 2, 1, None, 3, None])
    second = pa.array(["x", "y", "y", "x", None, "x", "z", None])
    assert v.lookup([first, second]).tolist() == [2, 1, 3, 1, 4, 1, 1, 1]
    again = v.lookup([first.dictionary_encode(), second.dictionary_encode()])
    assert again.tolist() == [2, 1, 3, 1, 4, 1, 1, 1]


def test_three_columns_match_python():
    """Lookup agrees with a dictionary on many random composite keys."""
    rng = np.random.default_rng(7)
    rows = [tuple(map(int, row)) for row in rng.integers(0, 8, (500, 3))]
    mapping = {row: n for n, row in enumerate(dict.fromkeys(rows[:200]))}
    columns = [pa.array([row[i] for row in rows]) for i in range(3)]
    assert compiled(mapping).lookup(columns).tolist() == [mapping.get(row, 1) for row in rows]


def test_absent_is_told():
    """A NULL key is a value where the caller says which factors are absent."""
    v = compiled({(None,): 7})
    absent = np.array([False, True])
    assert v.lookup([pa.array([None, None], pa.int64())], absent=absent).tolist() == [7, 1]


def test_typed_keys():
    """Keys are taken in the column's type; floats in normal form."""
    assert compiled({5: 0}).lookup([pa.array([5], pa.decimal128(10, 2))]).tolist() == [0]
    assert compiled({Decimal("1.5"): 0}).lookup([pa.array([Decimal("1.50")])]).tolist() == [0]
    assert compiled({date(2024, 1, 2): 0}).lookup([pa.array([date(2024, 1, 2)])]).tolist() == [0]
    assert compiled({0.0: 2, float("nan"): 3}).lookup(
        [pa.array([-0.0, float("nan")])]
    ).tolist() == [2, 3]
    with pytest.raises(ValuationError, match="not of the key column's type int64"):
        compiled({"a": 0}).lookup([pa.array([5])])


def test_table():
    """An Arrow table gives keys and values."""
    table = pa.table({"k": ["a", "b"], "n": [1, 2], "v": [0.5, 3.0]})
    v = compiled(table, Tropical())
    assert v.lookup([pa.array(["b", "a"]), pa.array([2, 2])]).tolist() == [3.0, 0.0]
    assert compiled(table.select(["k", "n"])).lookup([pa.array(["b"])]).tolist() == [2]
    with pytest.raises(ValuationError, match="not a value of Viterbi"):
        compiled(table, Viterbi())
    with pytest.raises(ValuationError, match="not a value of Counting"):
        compiled(pa.table({"k": [1], "v": [-1]}))
    with pytest.raises(ValuationError, match="key columns and a column of values"):
        compiled(table.select(["k"]))


def test_function():
    """A function is called once per distinct key, and never for an absent factor."""
    seen = []

    def value(token):
        seen.append(token)
        return token.key[0] * 2

    assert compiled(value).lookup([pa.array([1, 2, None, 1])]).tolist() == [2, 4, 1, 2]
    assert sorted(seen) == [Token("r", 1), Token("r", 2)]
    assert compiled(value).lookup([pa.array([3, 3]).dictionary_encode()]).tolist() == [6, 6]
    assert compiled(value).lookup([pa.array([], pa.int64())]).tolist() == []


def test_errors():
    """Wrong values, keys and specifications are named."""
    with pytest.raises(ValuationError, match="not a value of Boolean"):
        compiled({"a": 5}, Boolean())
    with pytest.raises(ValuationError, match="a key twice"):
        compiled({"a": 5, ("a",): 6}).lookup([pa.array(["a"])])
    with pytest.raises(ValuationError, match="another width"):
        compiled({"a": 5}).lookup([pa.array(["a"]), pa.array(["b"])])
    with pytest.raises(ValuationError, match="not int"):
        compiled(3)
    with pytest.raises(ValuationError, match="number of rows"):
        compiled(None).lookup([])


def test_empty_key():
    """The relation of at most one tuple has the empty key."""
    assert compiled({(): 4}).lookup([], length=2).tolist() == [4, 4]


def test_big_values():
    """A count beyond int64 stays exact."""
    v = compiled({"a": 2**70})
    assert v.lookup([pa.array(["a", "b"])]).tolist() == [2**70, 1]


def test_pickle():
    """A valuation survives pickling after use."""
    v = compiled({"a": 3})
    v.lookup([pa.array(["a"])])
    assert pickle.loads(pickle.dumps(v)).lookup([pa.array(["a"])]).tolist() == [3]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint64()], ids=str)
@pytest.mark.parametrize("keys", [[3], [0, 5, 100], [127, 1]], ids=str)
def test_integer_range(kind, keys):
    """Integer keys in a narrow range are looked up right inside and outside it."""
    v = compiled({key: key + 2 for key in keys})
    column = pa.array([0, 1, 2, 3, 4, 5, 100, 101, 127], kind)
    expected = [k + 2 if k in keys else 1 for k in column.to_pylist()]
    assert v.lookup([column]).tolist() == expected


def test_integer_extremes():
    """The ends of int64 are keys like others."""
    low, high = -(2**63), 2**63 - 1
    column = pa.array([low, low + 1, high - 1, high, 0])
    assert compiled({low: 5}).lookup([column]).tolist() == [5, 1, 1, 1, 1]
    assert compiled({high: 5, high - 1: 6}).lookup([column]).tolist() == [1, 1, 6, 5, 1]
    assert compiled({low: 5, high: 6}).lookup([column]).tolist() == [5, 1, 1, 6, 1]


def test_wide_composite_keys():
    """Positions of many composite integer keys are combined without overflow."""
    first = np.arange(100_000, dtype=np.int32)
    table = pa.table({"a": first, "b": first[::-1], "v": np.arange(100_000)})
    values = compiled(table).lookup([pa.array(first), pa.array(first[::-1].copy())])
    assert values.tolist() == list(range(100_000))
    assert compiled(table).lookup([pa.array(first), pa.array(first)]).sum() == 100_000
