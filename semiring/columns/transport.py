"""The transport of tokens in columns of annotations between passes of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from semiring.arrays.segments import index_of
from semiring.base import Array
from semiring.columns.objects import pickled, unpickled
from semiring.encodings.vocabulary import TokenPart, TokenScan, Vocabulary
from semiring.token import Token

_NAMED = pa.field("named", pa.binary())

_NO_KEY = (pa.bool_(),)
"""The type in which the key of a relation of at most one tuple travels."""


@dataclass(frozen=True, slots=True)
class Received:
    """Tokens from another pass.

    Attributes
    ----------
    scans
        By relation, the keys of its tuples' tokens, and their places.
    named
        The tokens that values name, each once.
    numbers
        The place of each token among `named`; -1 for tokens of scans.
    """

    scans: Sequence[tuple[TokenScan, Array]]
    named: Sequence[Token]
    numbers: Array


@dataclass(frozen=True, slots=True)
class Transport:
    """The transport of tokens by their keys, since numbers are only valid in one batch.

    A token is a struct with a field per relation, and a first field for tokens that occur in values
    assigned to other tokens. Exactly one field is not NULL: the key, or the token as bytes.

    Parameters
    ----------
    keys
        The types of the key columns of each relation.
    """

    keys: Mapping[str, Sequence[pa.DataType]]

    @property
    def type(self) -> pa.DataType:
        """The type of a token."""
        return pa.struct(self._fields())

    def write(self, vocabulary: Vocabulary, numbers: Array) -> pa.Array:
        """Return tokens as structs, from their numbers."""
        size, start = len(vocabulary), 0
        named: list[bytes] = []
        places = np.full(size, -1, dtype=np.int64)
        fields = self._fields()
        columns = {
            relation: pa.nulls(size, field.type)
            for relation, field in zip(self.keys, fields[1:], strict=True)
        }
        for part in vocabulary.parts:
            own_numbers = np.arange(start, start + len(part))
            places[own_numbers[~part.scanned]] = len(named) + np.arange(len(part.given))
            named += map(pickled, part.given)
            if part.scanned.any():
                columns[part.relation] = self._keys_of(part, own_numbers[part.scanned], size)
            start += len(part)
        given = pa.array(named, _NAMED.type).take(pa.array(places, mask=places < 0))
        children = [given, *columns.values()]
        tokens = pa.StructArray.from_arrays(children, fields=fields)
        return tokens.take(pa.array(numbers))

    def read(self, tokens: pa.Array) -> Received:
        """Return tokens from structs."""
        given, *columns = tokens.flatten()
        named = given.dictionary_encode()
        scans = []
        for (relation, kinds), column in zip(self.keys.items(), columns, strict=True):
            places = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
            keys = column.take(pa.array(places)).flatten() if kinds else []
            scans.append((TokenScan(relation, keys, len(places)), places))
        numbers = named.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return Received(scans, [unpickled(text) for text in named.dictionary.to_pylist()], numbers)

    def _fields(self) -> list[pa.Field]:
        keys = [
            pa.struct([(f"k{number}", kind) for number, kind in enumerate(kinds or _NO_KEY)])
            for kinds in self.keys.values()
        ]
        return [_NAMED, *(pa.field(f"r{number}", key) for number, key in enumerate(keys))]

    def _keys_of(self, part: TokenPart, numbers: Array, size: int) -> pa.Array:
        """Return the keys of a part's tokens, indexed by number up to a size, else NULL."""
        kinds = self.keys[part.relation]
        columns = [column.cast(kind) for column, kind in zip(part.columns, kinds, strict=True)]
        if not kinds:
            columns = [pa.array(np.ones(len(numbers), dtype=np.bool_))]
        keys = pa.StructArray.from_arrays(columns, [f"k{n}" for n in range(len(columns))])
        places = index_of(numbers, size)
        return keys.take(pa.array(places, mask=places < 0))
