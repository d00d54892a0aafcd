"""Annotations written from columns of tokens are those of the scalar operations."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring import CapabilityError, semirings
from semiring.base import Semiring
from semiring.derivation_texts import polynomials
from semiring.derivations import Derivations
from semiring.polynomial import Polynomial
from semiring.semirings import Formula, Polynomials, Sensitivity
from semiring.token import Token
from semiring.vocabulary import Scan, number_tokens

WRITERS = [one for one in semirings.ALL if one.writes_derivations]
Row = tuple[int | None, int | None, str | None, int]
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(-2, 2),
        st.none() | st.integers(-2, 2),
        st.none() | st.sampled_from(["a", "b", "1", "é"]),
        st.integers(0, 3),
    ),
    max_size=12,
)


def _derivations(rows: list[Row]) -> Derivations:
    """Products of two scans of r and one of s, in four segments."""
    first, second, third = (
        pa.array([row[place] for row in rows], kind)
        for place, kind in enumerate((pa.int64(), pa.int64(), pa.string()))
    )
    scans = [
        Scan(relation, [column], len(rows), column.is_null().to_numpy(zero_copy_only=False))
        for relation, column in (("r", first), ("r", second), ("a b", third))
    ]
    return Derivations.of(scans, np.array([row[3] for row in rows], dtype=np.int64), 4)


def _expected(semiring: Semiring[Any], rows: list[Row], delta: bool) -> list[str]:
    found = []
    for segment in range(4):
        products = [
            semiring.product(
                semiring.default(Token(relation, key))
                for relation, key in zip(("r", "r", "a b"), row, strict=False)
                if key is not None
            )
            for row in rows
            if row[3] == segment
        ]
        total = semiring.sum(products)
        found.append(semiring.render(semiring.delta(total) if delta else total))
    return found


@pytest.mark.parametrize("delta", [False, True])
@pytest.mark.parametrize("semiring", WRITERS, ids=lambda one: one.name)
@given(rows=ROWS)
def test_what_is_written_is_the_sum_of_the_products(
    semiring: Semiring[Any], delta: bool, rows: list[Row]
) -> None:
    try:
        expected = _expected(semiring, rows, delta)
    except CapabilityError:
        with pytest.raises(CapabilityError, match="is not a polynomial"):
            semiring.write(_derivations(rows), delta=delta)
        return
    found = semiring.write(_derivations(rows), delta=delta)
    if found is None:
        assert semiring == Sensitivity()
        assert not delta
        return
    assert found.type == pa.string()
    assert found.to_pylist() == expected


def test_terms_past_the_limit_are_counted() -> None:
    rows: list[Row] = [(i, None, None, i % 2) for i in range(9)]
    texts = polynomials(_derivations(rows).distinct(), 2).to_pylist()
    for segment in (0, 1):
        sums = Polynomial.sum(Polynomial.token(Token("r", i)) for i in range(segment, 9, 2))
        assert texts[segment] == sums.truncated(2)
    assert texts[2:] == ["0", "0"]


def test_a_semiring_without_columns_writes_nothing() -> None:
    assert not Formula.writes_derivations
    assert Formula().write(_derivations([]), delta=False) is None


@pytest.mark.parametrize(
    "column",
    [
        pa.array([3, 1, None, 2, 1], pa.int32()),
        pa.array([2**63 - 1, -(2**63), 0], pa.int64()),
        pa.array([2**64 - 1, 0, 5], pa.uint64()),
        pa.array(["b", "a", None, "10", "it's", "NULL"]),
        pa.array(["b", "a", "b", None]).dictionary_encode(),
        pa.array([0.5, -0.0, 0.0, float("nan"), None, -1.0]),
        pa.array([dt.date(2020, 1, 2), dt.date(1969, 1, 1), None]),
        pa.array([1, 25, None], pa.int64()).cast(pa.decimal128(25, 2)),
        pa.array([True, False, None]),
        pa.array([b"b", b"a", None]),
    ],
    ids=lambda column: str(column.type),
)
def test_tokens_are_numbered_in_their_order(column: pa.Array) -> None:
    second = pa.array([i % 2 for i in range(len(column))], pa.int8())
    (codes,), texts = number_tokens([Scan("r", [column, second], len(column))])
    values = zip(column.to_pylist(), second.to_pylist(), strict=True)
    tokens = [Token("r", key) for key in values]
    ordered = sorted(set(tokens))
    assert codes.tolist() == [ordered.index(token) for token in tokens]
    assert texts.to_pylist() == [str(token) for token in ordered]


def test_the_only_token_of_a_key_of_no_columns() -> None:
    codes, texts = number_tokens([Scan("r", [], 2), Scan("q", [], 2, np.array([True, False]))])
    assert [code.tolist() for code in codes] == [[1, 1], [-1, 0]]
    assert texts.to_pylist() == ["q:()", "r:()"]


def test_wide_keys_are_numbered_in_steps() -> None:
    wide = pa.array([2**61, 0, 5], pa.int64())
    (codes,), texts = number_tokens([Scan("r", [wide, wide, wide], 3)])
    assert codes.tolist() == [2, 0, 1]
    assert texts[0].as_py() == "r:0|0|0"


def test_delta_of_a_sum_of_ones_is_one() -> None:
    rows: list[Row] = [(None, None, None, 0), (None, None, None, 0)]
    assert Polynomials().write(_derivations(rows), delta=True).to_pylist() == ["1", "0", "0", "0"]
