"""Valuations of one relation's tokens, compiled for lookup over whole Arrow columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from semiring.arrays.arrow import decoded, normal
from semiring.arrays.key_index import KeyIndex
from semiring.base import Array, Semiring
from semiring.encodings.vocabulary import all_null
from semiring.errors import ValuationError
from semiring.token import Token, normal_value

K = TypeVar("K")

Spec: TypeAlias = "Callable[[Token], K] | Mapping[Any, K] | pa.Table | None"

_UNSET: Any = "unset"

_PIECE = 1 << 15
"""Rows looked up at a time."""


class Valuation(Generic[K]):
    """A function from the tokens of one relation or block to a semiring.

    Built by `compile`; `lookup` values whole key columns at once.
    """

    def __init__(
        self,
        semiring: Semiring[K],
        relation: str,
        *,
        of_itself: bool = False,
        function: Callable[[Token], K] | None = None,
        keys: list[tuple[Any, ...]] | list[pa.Array] | None = None,
        values: Array | None = None,
    ) -> None:
        self.semiring = semiring
        self.relation = relation
        self.constant_one = function is None and keys is None
        self.of_itself = of_itself
        self._function = function
        self._keys = keys
        # The values of the keys, in their order, and then the value of all other keys.
        self._values = values
        self._indexed: dict[tuple[str, ...], KeyIndex] = {}

    @classmethod
    def compile(
        cls, semiring: Semiring[K], relation: str, spec: Spec[K] = None, default: Any = _UNSET
    ) -> Valuation[K]:
        """Return a valuation from any of the accepted forms.

        Parameters
        ----------
        spec
            None: ``semiring.default`` of every token. A function of the `Token`, called once per
            distinct key of a batch. A mapping from key (a value, a tuple of values, or a Token) to
            K. An Arrow table: the key columns, then a column of values of K.
        default
            For a mapping or table: the value of every other token; ``semiring.one`` unless given.

        Raises
        ------
        ValuationError
            A value outside the carrier, or a key twice.
        """
        if spec is None:
            if semiring.constant_default:
                return cls(semiring, relation)
            return cls(semiring, relation, of_itself=True, function=semiring.default)
        other = semiring.one if default is _UNSET else semiring.check(default)
        if isinstance(spec, (pa.Table, pa.RecordBatch)):
            if spec.num_columns < 2:
                raise ValuationError(
                    f"the valuation of {relation} needs its key columns and a column of values"
                )
            columns = [_flat(column) for column in spec.columns]
            values = semiring.from_arrow(columns[-1])
            values = _extend(semiring, values, other)
            return cls(semiring, relation, keys=columns[:-1], values=values)
        if isinstance(spec, Mapping):
            keys: list[tuple[Any, ...]] = []
            kept: list[K] = []
            for key, value in spec.items():
                if isinstance(key, Token):
                    if key.relation != relation:
                        continue
                    keys.append(key.key)
                else:
                    keys.append(tuple(key) if isinstance(key, (tuple, list)) else (key,))
                kept.append(semiring.check(value))
            values = semiring.pack(kept)
            return cls(semiring, relation, keys=keys, values=_extend(semiring, values, other))
        if callable(spec):
            return cls(semiring, relation, function=spec)
        raise ValuationError(
            f"a valuation of {relation} is a function of a token, a mapping, an Arrow table or"
            f" None, not {type(spec).__name__}"
        )

    @property
    def values(self) -> list[K] | None:
        """The values of a mapping or table, followed by the default value; else None."""
        return None if self._values is None else self.semiring.unpack(self._values)

    def keys(self, kinds: Sequence[pa.DataType]) -> list[pa.Array] | None:
        """Return the key columns of a mapping or table, as columns of these types; else None.

        Raises
        ------
        ValuationError
            As `lookup`.
        """
        return None if self._values is None else self._typed_keys(list(kinds))

    def exceptions(self, kinds: Sequence[pa.DataType]) -> list[pa.Array] | None:
        """Return the keys, as columns, of the tokens that may not be 1, or None if any token may.

        Parameters
        ----------
        kinds
            The types of the key columns.

        Raises
        ------
        ValuationError
            As `lookup`.
        """
        if self._values is None or self._values[-1] != self.semiring.pack([self.semiring.one])[0]:
            return None
        keys = self._typed_keys(list(kinds))
        self._indexed.setdefault(tuple(map(str, kinds)), self._distinct(keys))
        return keys

    def lookup(
        self,
        key_columns: Sequence[pa.Array],
        length: int | None = None,
        absent: Array | None = None,
    ) -> Array:
        """Return the values of the tokens with these keys.

        Parameters
        ----------
        key_columns
            One Arrow array per key column, of equal length.
        length
            The number of rows; needed for a key without columns.
        absent
            Boolean array of the rows whose factor is absent; they get 1. None: the rows whose key
            columns are all NULL.

        Raises
        ------
        ValuationError
            The valuation's keys have another width or type than the columns.
        """
        columns = [_flat(column) for column in key_columns]
        size = len(columns[0]) if columns else length
        if size is None:
            raise ValuationError("the number of rows must be given for a key of no columns")
        if self.constant_one:
            return self.semiring.ones(size)
        if absent is None:
            absent = all_null(columns)
        if self._function is not None:
            values, places = self._call(self._function, columns, size, absent)
            elements = self.semiring.pack(values)[places]
        else:
            elements = self._find(columns, size)
        if absent is not None and absent.any():
            elements = self.semiring.take_where(absent, self.semiring.ones(size), elements)
        return elements

    def places(
        self, key_columns: Sequence[pa.Array], length: int, absent: Array | None = None
    ) -> tuple[list[K], Array]:
        """Return the distinct values of tokens, and each token's index among them.

        Parameters and errors are as for `lookup`.
        """
        columns = [_flat(column) for column in key_columns]
        if absent is None:
            absent = all_null(columns)
        if self.constant_one:
            values, places = [self.semiring.one], np.zeros(length, dtype=np.int64)
        elif self._function is not None:
            values, places = self._call(self._function, columns, length, absent)
        else:
            values = self.values or []
            places = self._index(columns).find(columns, length) % len(values)
        if absent is not None and absent.any():
            values, places = [*values, self.semiring.one], np.where(absent, len(values), places)
        return values, places

    def _find(self, columns: list[pa.Array], size: int) -> Array:
        assert self._values is not None
        index = self._index(columns)
        result: Array = np.empty(size, dtype=self._values.dtype)
        # In pieces that fit a processor's cache, several times faster than in one.
        for start in range(0, size, _PIECE):
            length = min(_PIECE, size - start)
            piece = [column.slice(start, length) for column in columns]
            np.take(self._values, index.find(piece, length), out=result[start : start + length])
        return result

    def _call(
        self,
        function: Callable[[Token], K],
        columns: list[pa.Array],
        size: int,
        absent: Array | None,
    ) -> tuple[list[K], Array]:
        codes = np.zeros(size, dtype=np.int64)
        columns = [normal(decoded(column)) for column in columns]
        for column in columns:
            encoded = column.dictionary_encode(null_encoding="encode")
            inner = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
            codes = _dense(codes * max(len(encoded.dictionary), 1) + inner)
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        chosen = pa.array(first)
        keys = [column.take(chosen).to_pylist() for column in columns]
        skipped = np.zeros(len(first), bool) if absent is None else absent[first]
        values: list[K] = []
        for position, skip in enumerate(skipped):
            if skip:
                values.append(self.semiring.one)
                continue
            token = Token(self.relation, tuple(key[position] for key in keys))
            try:
                value = function(token)
            except Exception as error:
                raise ValuationError(
                    f"The valuation of {self.relation!r} fails at the token {token}: "
                    f"{type(error).__name__}: {error}"
                ) from error
            values.append(self.semiring.check(value))
        return values, inverse

    def _index(self, columns: list[pa.Array]) -> KeyIndex:
        types = [
            column.type.value_type if pa.types.is_dictionary(column.type) else column.type
            for column in columns
        ]
        name = tuple(map(str, types))
        if name not in self._indexed:
            self._indexed[name] = self._distinct(self._typed_keys(types))
        return self._indexed[name]

    def _distinct(self, keys: list[pa.Array]) -> KeyIndex:
        index = KeyIndex(keys, often=True)
        if not index.is_distinct:
            raise ValuationError(f"the valuation of {self.relation} gives a key twice")
        return index

    def _typed_keys(self, types: list[pa.DataType]) -> list[pa.Array]:
        keys: list[Any] = self._keys or []
        by_row = not keys or isinstance(keys[0], tuple)
        width = len(keys[0]) if by_row and keys else len(types) if by_row else len(keys)
        if width != len(types) or (by_row and any(len(key) != width for key in keys)):
            raise ValuationError(
                f"the valuation of {self.relation} has keys of another width than the relation's"
                f" {len(types)} key columns"
            )
        typed: list[pa.Array] = []
        for position, kind in enumerate(types):
            try:
                if by_row:
                    items = [normal_value(key[position]) for key in keys]
                    typed.append(pa.array(items, type=kind))
                else:
                    typed.append(keys[position].cast(kind))
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                raise ValuationError(
                    f"a key in the valuation of {self.relation} is not of the key column's type"
                    f" {kind}: {error}"
                ) from error
        return typed

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_indexed": {}}


def _flat(column: Any) -> pa.Array:
    """Return an array as a single chunk."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column


def _dense(codes: Array) -> Array:
    result: Array = np.unique(codes, return_inverse=True)[1]
    return result


def _extend(semiring: Semiring[K], values: Array, other: K) -> Array:
    last = semiring.pack([other])
    if values.dtype != last.dtype:
        values, last = values.astype(object), last.astype(object)
    return np.concatenate([values, last])
