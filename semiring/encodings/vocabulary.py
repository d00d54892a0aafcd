"""Tokens as numbers in their order, numbered from whole key columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from semiring.arrays.arrow import decoded, normal
from semiring.base import Array
from semiring.token import Token, format_relation, format_value, normal_value, order_key

ABSENT = -1
"""The number of an absent factor."""

_LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class TokenScan:
    """The tokens that one scan of a relation contributes, row by row.

    Attributes
    ----------
    columns
        The key columns.
    length
        The number of rows, for a key of no columns.
    absent
        Boolean array: rows without a factor of this scan. None: there are none.
    """

    relation: str
    columns: Sequence[pa.Array]
    length: int
    absent: Array | None = None

    @classmethod
    def of(cls, relation: str, columns: Sequence[pa.Array], length: int) -> TokenScan:
        """Return a scan without factors in the rows whose key columns are all NULL."""
        return cls(relation, columns, length, all_null(columns))


@dataclass(frozen=True, slots=True)
class TokenPart:
    """The tokens of one relation with keys of one width, in order.

    Attributes
    ----------
    scanned
        Boolean array: True for tokens of scans, False for tokens of `given`.
    columns
        The key columns of the tokens of scans.
    given
        The other tokens.
    """

    relation: str
    scanned: Array
    columns: Sequence[pa.Array]
    given: Sequence[Token]

    def __len__(self) -> int:
        return len(self.scanned)

    def texts(self) -> pa.Array:
        """Return the texts of the tokens, as large strings."""
        words = pa.array(map(str, self.given), pa.large_string())
        if self.columns:
            parts = [part for column in self.columns for part in ("|", _texts(column))]
            scanned_texts = glue("", f"{format_relation(self.relation)}:", *parts[1:])
        else:
            word = str(Token(self.relation, ()))
            scanned_texts = pa.array([word] * int(self.scanned.sum()), words.type)
        if not len(words):
            return scanned_texts
        order = np.argsort(np.argsort(~self.scanned, kind="stable"))
        return pa.concat_arrays([scanned_texts, words]).take(pa.array(order))


class Vocabulary:
    """Tokens by number.

    Parameters
    ----------
    parts
        Their numbers go on from one part to the next.
    """

    def __init__(self, parts: Sequence[TokenPart]) -> None:
        self.parts = parts
        self._length = sum(map(len, parts))
        self._texts: pa.Array | None = None

    def __len__(self) -> int:
        return self._length

    @property
    def texts(self) -> pa.Array:
        """The text of every token, as large strings; written lazily."""
        if self._texts is None:
            none = pa.array([], pa.large_string())
            self._texts = pa.concat_arrays([none, *(part.texts() for part in self.parts)])
        return self._texts


def number_tokens(
    scans: Sequence[TokenScan], given: Iterable[Token] = ()
) -> tuple[list[Array], dict[Token, int], Vocabulary]:
    """Number the tokens of scans, and further tokens.

    Returns
    -------
    codes
        Per scan an int32 array, `ABSENT` where the row has no factor. Numbers are in the order of
        tokens, and are equal iff the tokens are.
    numbers
        The numbers of the given tokens.
    vocabulary
        The tokens by number.

    Cost: O(n log n) in the number of rows, and a Python call per given token and per distinct value
    of a key column, except in columns of integers.
    """
    alike: dict[tuple[str, int], tuple[list[int], list[Token]]] = {}
    for number, scan in enumerate(scans):
        alike.setdefault((scan.relation, len(scan.columns)), ([], []))[0].append(number)
    for token in sorted(set(given)):
        alike.setdefault((token.relation, len(token.key)), ([], []))[1].append(token)
    codes: dict[int, Array] = {}
    numbers: dict[Token, int] = {}
    parts: list[TokenPart] = []
    count = 0
    for (relation, _), (places, other_tokens) in sorted(alike.items(), key=lambda item: item[0]):
        own_scans = [scans[number] for number in places]
        own_numbers, part = _numbered(relation, own_scans, other_tokens)
        for number, scan in zip(places, own_scans, strict=True):
            scan_codes, own_numbers = (
                (own_numbers[: scan.length] + count).astype(np.int32),
                own_numbers[scan.length :],
            )
            codes[number] = (
                scan_codes if scan.absent is None else np.where(scan.absent, ABSENT, scan_codes)
            )
        numbers.update(zip(other_tokens, (own_numbers + count).tolist(), strict=True))
        parts.append(part)
        count += len(part)
    return [codes[number] for number in range(len(scans))], numbers, Vocabulary(parts)


def _numbered(
    relation: str, scans: Sequence[TokenScan], other_tokens: Sequence[Token]
) -> tuple[Array, TokenPart]:
    """Return the numbers of all scanned rows of one relation, then of its other tokens."""
    if not scans:
        part = TokenPart(relation, np.zeros(len(other_tokens), dtype=np.bool_), (), other_tokens)
        return np.arange(len(other_tokens)), part
    columns = [
        _plain(parts[0] if len(parts) == 1 else pa.concat_arrays(map(_plain, parts)))
        for parts in zip(*(scan.columns for scan in scans), strict=True)
    ]
    length = sum(scan.length for scan in scans)
    numbers, first = _dense(_combined(columns, other_tokens, length))
    scanned = first < length
    chosen = pa.array(first[scanned])
    given = [other_tokens[row - length] for row in first[~scanned]]
    return numbers, TokenPart(relation, scanned, [column.take(chosen) for column in columns], given)


def _combined(columns: Sequence[pa.Array], other_tokens: Sequence[Token], length: int) -> Array:
    """Return an integer per key, ordered as the keys: rows first, then other tokens."""
    combined, total = np.zeros(length + len(other_tokens), dtype=np.int64), 1
    for number, column in enumerate(columns):
        ranks, width = _ranks(column, [token.key[number] for token in other_tokens])
        if total * width >= _LARGEST:
            combined, kept = _dense(combined)
            total = len(kept)
        combined = combined * width + ranks
        total *= width
    return combined


def _dense(values: Array) -> tuple[Array, Array]:
    """Return each value's index among the distinct values, and a row of each distinct value."""
    if bool((values[1:] >= values[:-1]).all()):
        new = np.ones(len(values), dtype=np.bool_)
        new[1:] = values[1:] != values[:-1]
        return np.cumsum(new) - 1, np.flatnonzero(new)
    _, first, places = np.unique(values, return_index=True, return_inverse=True)
    return places, first


def all_null(columns: Sequence[pa.Array]) -> Array | None:
    """Return a Boolean array of the rows whose columns are all NULL, or None if there are none."""
    if not columns or any(column.null_count == 0 for column in columns):
        return None
    masks = [column.is_null().to_numpy(zero_copy_only=False) for column in columns]
    absent: Array = np.logical_and.reduce(masks)
    return absent


def glue(separator: str, *parts: pa.Array | str) -> pa.Array:
    """Return large strings joined row by row; a text is repeated in every row."""
    texts = (*parts, separator)
    return pc.binary_join_element_wise(
        *(pa.scalar(text, pa.large_string()) if isinstance(text, str) else text for text in texts)
    )


def _plain(column: pa.Array) -> pa.Array:
    return normal(decoded(column))


def _ranks(column: pa.Array, other_values: Sequence[Any]) -> tuple[Array, int]:
    """Return the ranks of column values, then of other values, and an upper bound on ranks."""
    if pa.types.is_signed_integer(column.type) and not column.null_count and len(column):
        values = column.to_numpy(zero_copy_only=False).astype(np.int64)
        if all(type(value) is int and abs(value) < _LARGEST for value in other_values):
            values = np.concatenate([values, np.array(other_values, dtype=np.int64)])
            least, most = int(values.min()), int(values.max())
            if most - least < _LARGEST:
                return values - least, most - least + 1
    encoded = column.dictionary_encode(null_encoding="encode")
    known = [order_key(normal_value(value)) for value in encoded.dictionary.to_pylist()]
    more = [order_key(value) for value in other_values]
    places = {key: rank for rank, key in enumerate(sorted({*known, *more}))}
    ranks = np.array([places[key] for key in known], dtype=np.int64)
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    beyond = np.array([places[key] for key in more], dtype=np.int64)
    return np.concatenate([ranks[codes], beyond]), max(len(places), 1)


def _texts(column: pa.Array) -> pa.Array:
    """Return the values as `format_value` writes them."""
    if pa.types.is_integer(column.type):
        return column.cast(pa.large_string()).fill_null(format_value(None))
    encoded = column.dictionary_encode(null_encoding="encode")
    values = [format_value(normal_value(value)) for value in encoded.dictionary.to_pylist()]
    return pa.array(values, pa.large_string()).take(encoded.indices)
