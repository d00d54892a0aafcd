"""Tokens numbered from whole columns, in their order."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from semiring.encodings.vocabulary import TokenScan, number_tokens
from semiring.token import Token


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
    values = zip(column.to_pylist(), second.to_pylist(), strict=True)
    tokens = [Token("r", key) for key in values]
    other_tokens = [
        tokens[1],
        Token("r", (7, 1)),
        Token("r", ("b", 0)),
        Token("r", 1),
        Token("q", 1),
    ]
    scan = TokenScan("r", [column, second], len(column))
    for given in ((), other_tokens[:2], other_tokens):
        (codes,), numbers, vocabulary = number_tokens([scan], given)
        ordered = sorted({*tokens, *given})
        assert codes.tolist() == [ordered.index(token) for token in tokens]
        assert numbers == {token: ordered.index(token) for token in given}
        assert vocabulary.texts.to_pylist() == [str(token) for token in ordered]


def test_the_only_token_of_a_key_of_no_columns() -> None:
    codes, _, vocabulary = number_tokens(
        [TokenScan("r", [], 2), TokenScan("q", [], 2, np.array([True, False]))]
    )
    assert [code.tolist() for code in codes] == [[1, 1], [-1, 0]]
    assert vocabulary.texts.to_pylist() == ["q:()", "r:()"]


def test_wide_keys_are_numbered_in_steps() -> None:
    wide = pa.array([2**61, 0, 5], pa.int64())
    (codes,), _, vocabulary = number_tokens([TokenScan("r", [wide, wide, wide], 3)])
    assert codes.tolist() == [2, 0, 1]
    assert vocabulary.texts[0].as_py() == "r:0|0|0"
