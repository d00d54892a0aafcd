"""Tokens as numbers in their order: many at once, from whole key columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from semiring.base import Array
from semiring.token import Token, format_relation, format_value, normal_value, order_key

ABSENT = -1
"""The number of a factor that is not there."""

_LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class Scan:
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


def number_tokens(scans: Sequence[Scan]) -> tuple[list[Array], pa.Array]:
    """Number the tokens of some scans.

    Returns
    -------
    codes
        Per scan an int64 array, `ABSENT` where the row has no factor. Numbers are in the order of
        tokens, and equal iff the tokens are.
    texts
        By number, the token's text, as large strings.

    Cost: O(n log n) in the number of rows, and a Python call per distinct value of a key column
    that is not of integers.
    """
    by_relation: dict[str, list[int]] = {}
    for place, scan in enumerate(scans):
        by_relation.setdefault(scan.relation, []).append(place)
    codes: dict[int, Array] = {}
    texts = [pa.array([], pa.large_string())]
    count = 0
    for relation, places in sorted(by_relation.items()):
        mine = [scans[place] for place in places]
        numbers, found = _numbered(relation, mine)
        for place, scan in zip(places, mine, strict=True):
            own, numbers = numbers[: scan.length] + count, numbers[scan.length :]
            codes[place] = own if scan.absent is None else np.where(scan.absent, ABSENT, own)
        texts.append(found)
        count += len(found)
    return [codes[place] for place in range(len(scans))], pa.concat_arrays(texts)


def _numbered(relation: str, scans: Sequence[Scan]) -> tuple[Array, pa.Array]:
    """The numbers of all rows of scans of one relation, and the texts by number."""
    length = sum(scan.length for scan in scans)
    columns = [
        pa.concat_arrays([_plain(part) for part in parts])
        for parts in zip(*(scan.columns for scan in scans), strict=True)
    ]
    combined, total = np.zeros(length, dtype=np.int64), 1
    for column in columns:
        ranks, width = _ranks(column)
        if total * width >= _LARGEST:
            kept, combined = np.unique(combined, return_inverse=True)
            total = len(kept)
        combined = combined * width + ranks
        total *= width
    _, first, numbers = np.unique(combined, return_index=True, return_inverse=True)
    if not columns:
        return numbers, pa.array([str(Token(relation, ()))] * len(first), pa.large_string())
    chosen = pa.array(first)
    keys = glue("|", *(_texts(column.take(chosen)) for column in columns))
    return numbers, glue("", f"{format_relation(relation)}:", keys)


def glue(separator: str, *parts: pa.Array | str) -> pa.Array:
    """Large strings joined row by row; a text is the same for every row."""
    texts = (*parts, separator)
    return pc.binary_join_element_wise(
        *(pa.scalar(text, pa.large_string()) if isinstance(text, str) else text for text in texts)
    )


def _plain(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        return pc.add(column, pa.scalar(0.0, column.type))
    return column


def _ranks(column: pa.Array) -> tuple[Array, int]:
    """The place of each value in the order of key values, and a bound of these places."""
    if pa.types.is_signed_integer(column.type) and not column.null_count and len(column):
        values = column.to_numpy(zero_copy_only=False).astype(np.int64)
        least, most = int(values.min()), int(values.max())
        if most - least < _LARGEST:
            return values - least, most - least + 1
    encoded = column.dictionary_encode(null_encoding="encode")
    keys = [order_key(normal_value(value)) for value in encoded.dictionary.to_pylist()]
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    ranks = np.array([places[key] for key in keys], dtype=np.int64)
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return ranks[codes], max(len(places), 1)


def _texts(column: pa.Array) -> pa.Array:
    """The values as `format_value` writes them."""
    if pa.types.is_integer(column.type):
        return column.cast(pa.large_string()).fill_null(format_value(None))
    encoded = column.dictionary_encode(null_encoding="encode")
    values = [format_value(normal_value(value)) for value in encoded.dictionary.to_pylist()]
    return pa.array(values, pa.large_string()).take(encoded.indices)
