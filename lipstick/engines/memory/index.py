"""Finding rows by integers: by group, by reference, by token, without a pass over all rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.keys import KeyTable, distinct
from lipstick.errors import CaptureError
from semiring.arrays.segments import ascending, expand, mask_of
from semiring.base import Array

_LARGEST = 2**62

_UNSORTED = 1 << 12
"""So many tokens are sorted before they are searched for."""


class SortedIndex:
    """Rows by the integer they carry.

    Sorted codes are searched as they are; others are sorted once. Finding the rows of k codes
    costs O(k log n) and what is found; O(k) where sorted codes follow one another without gaps.
    """

    def __init__(self, codes: Array) -> None:
        self._order: Array | None = None
        self._sorted = codes
        if len(codes) > 1 and not bool((codes[1:] >= codes[:-1]).all()):
            self._order = argsort(codes)
            self._sorted = codes[self._order]
        self._is_dense = (
            self._order is None
            and len(codes) > 1
            and int(codes[-1]) - int(codes[0]) == len(codes) - 1
            and bool((codes[1:] > codes[:-1]).all())
        )

    def rows(self, wanted: Array) -> tuple[Array, Array]:
        """The rows that carry one of the wanted codes, and the place of that in `wanted`."""
        wanted = wanted.astype(self._sorted.dtype, copy=False)
        if self._is_dense:
            inside = np.flatnonzero((wanted >= self._sorted[0]) & (wanted <= self._sorted[-1]))
            return (wanted[inside] - self._sorted[0]).astype(np.int64, copy=False), inside
        starts = np.searchsorted(self._sorted, wanted, side="left")
        stops = np.searchsorted(self._sorted, wanted, side="right")
        positions, owners = expand(starts, stops)
        return (positions if self._order is None else self._order[positions]), owners


def argsort(codes: Array) -> Array:
    """A stable order of integers; several times faster where they fit 16 bits."""
    least, most = int(codes.min()), int(codes.max())
    if least >= -(2**15) and most < 2**15:
        codes = codes.astype(np.int16)
    return np.argsort(codes, kind="stable")


class TokenIndex:
    """Members by the token of one scan.

    Parameters
    ----------
    columns
        The members' token columns; all NULL in a member that did not use the scan.

    Composite integer keys are packed into one int64 by the ranges of their parts; other keys are
    numbered first.
    """

    def __init__(self, columns: Sequence[pa.Array]) -> None:
        self._columns = list(columns)

    @cached_property
    def _parts(self) -> list[_TokenPart]:
        return [_TokenPart(column) for column in self._columns]

    @cached_property
    def _packable(self) -> bool:
        return math.prod(part.width for part in self._parts) < _LARGEST

    @cached_property
    def packed(self) -> Array:
        """One integer per member, equal iff the tokens are; negative: the scan took no part."""
        codes: Array
        if self._packable:
            codes = self._pack([part.own for part in self._parts])
        else:
            codes, _ = self._numbered
        absent = self.absent
        if absent is not None:
            codes = np.where(absent, -1, codes)
        return codes

    @cached_property
    def absent(self) -> Array | None:
        """The members that did not use the scan; None if all did."""
        if any(column.null_count == 0 for column in self._columns):
            return None
        masks = [column.is_null().to_numpy(zero_copy_only=False) for column in self._columns]
        mask: Array = np.logical_and.reduce(masks)
        return mask

    @cached_property
    def _numbered(self) -> tuple[Array, Array]:
        return distinct(self._columns, len(self._columns[0]))

    @cached_property
    def _table(self) -> KeyTable:
        _, first = self._numbered
        return KeyTable([column.take(pa.array(first)) for column in self._columns], len(first))

    @cached_property
    def _index(self) -> SortedIndex:
        return SortedIndex(self.packed)

    def is_of(self, tokens: Sequence[pa.Array]) -> bool:
        """Return True if the members' tokens are these, each once and in this order."""
        pairs = zip(self._columns, tokens, strict=True)
        if not all(ours.type == theirs.type and ours.equals(theirs) for ours, theirs in pairs):
            return False
        return self._is_ascending

    @cached_property
    def _is_ascending(self) -> bool:
        """True if the tokens ascend, each once."""
        return _ascends(self.packed)

    def first(self, members: Array) -> Array:
        """Return the first of some members with each token, in the given order."""
        if "packed" not in self.__dict__ and 4 * len(members) < len(self._columns[0]):
            taken = TokenIndex([column.take(pa.array(members)) for column in self._columns])
            first = taken.first(np.arange(len(members)))
        elif self._is_ascending and _ascends(members):
            return members
        else:
            codes = self.packed[members]
            width = int(codes.max(initial=-1)) + 1
            if width > 8 * len(codes):
                first = np.sort(np.unique(codes, return_index=True)[1])
            else:
                places = np.arange(len(codes), dtype=np.int64)
                at = np.empty(width, dtype=np.int64)
                at[codes[::-1]] = places[::-1]
                first = np.flatnonzero(at[codes] == places)
        chosen: Array = members[first]
        return chosen

    def rows(self, tokens: Sequence[pa.Array]) -> Array:
        """The members whose token is one of these, sorted; see :meth:`pairs`."""
        wanted = self._codes(tokens)
        positions, _ = self._index.rows(ascending(wanted[wanted >= 0]))
        return np.sort(positions) if len(positions) else positions

    def pairs(self, tokens: Sequence[pa.Array]) -> tuple[Array, Array]:
        """The members of each token, and the place of that token; in no order.

        Parameters
        ----------
        tokens
            The key columns of the tokens.

        Raises
        ------
        CaptureError
            When a column is not of the key's type.

        Cost: O(d log d + d log n) for d tokens among n members; sorted tokens are found several
        times faster than others.
        """
        wanted = self._codes(tokens)
        known = np.flatnonzero(wanted >= 0)
        codes = wanted[known]
        if len(codes) > _UNSORTED and not bool((codes[1:] >= codes[:-1]).all()):
            order = np.argsort(codes)
            known, codes = known[order], codes[order]
        positions, owners = self._index.rows(codes)
        return positions, known[owners]

    def owners(self, tokens: Sequence[pa.Array]) -> Array:
        """Return the place of each member's token among distinct tokens; -1: it is not there."""
        packed = self.packed
        owners = np.full(len(packed), -1, dtype=np.int64)
        width = math.prod(part.width for part in self._parts)
        if not self._packable or width > 8 * (len(packed) + len(tokens[0])):
            positions, places = self.pairs(tokens)
            owners[positions] = places
            return owners
        codes = self._codes(tokens)
        if self._is_ascending and self.absent is None and _ascends(codes):
            there = mask_of(packed, width + 1)
            rows = np.flatnonzero(there[codes])
            if len(rows) == len(packed):
                return rows
        at = np.full(width + 1, -1, dtype=np.int32)
        at[codes] = np.arange(len(codes), dtype=np.int32)
        at[-1] = -1  # Tokens of no member, and members without a token, have the code -1.
        return at[packed].astype(np.int64)

    def _codes(self, tokens: Sequence[pa.Array]) -> Array:
        """The packed codes of tokens; -1: no member has it."""
        if self._packable:
            return self._pack([p.codes(t) for p, t in zip(self._parts, tokens, strict=True)])
        cast = [_cast(t, c.type) for t, c in zip(tokens, self._columns, strict=True)]
        return self._table.find(cast, len(tokens[0]))

    def _pack(self, codes: Sequence[Array]) -> Array:
        packed = codes[0]
        missing = packed < 0
        for part, code in zip(self._parts[1:], codes[1:], strict=True):
            missing = missing | (code < 0)
            packed = packed * part.width + code
        return np.where(missing, -1, packed) if missing.any() else packed


def _ascends(codes: Array) -> bool:
    """Return True if each code is larger than the one before."""
    return len(codes) < 2 or bool((codes[1:] > codes[:-1]).all())


class _TokenPart:
    """One column of a key as small non-negative integers; the last stands for NULL."""

    def __init__(self, column: pa.Array) -> None:
        self._type = column.type
        self._table: KeyTable | None = None
        self._least = 0
        self._nulls = column.null_count > 0
        integers = _integers(column)
        if integers is None:
            codes, first = distinct([column], len(column))
            self._table = KeyTable([column.take(pa.array(first))], len(first))
            self.own, self.width = codes, max(len(first), 1)
            return
        valid = integers
        if self._nulls:
            valid = integers[column.is_valid().to_numpy(zero_copy_only=False)]
        self._least = int(valid.min()) if len(valid) else 0
        self._most = int(valid.max()) if len(valid) else -1
        self.width = self._most - self._least + 1 + self._nulls
        self.own = self._shifted(column, integers) if self.width < _LARGEST else integers

    def _shifted(self, column: pa.Array, integers: Array) -> Array:
        shifted = integers - self._least if self._least else integers
        if column.null_count:
            null = column.is_null().to_numpy(zero_copy_only=False)
            shifted = np.where(null, self.width - 1 if self._nulls else -1, shifted)
        return shifted

    def codes(self, column: pa.Array) -> Array:
        """The codes of other values; -1 for values that the members do not have."""
        if self._table is not None:
            return self._table.find([_cast(column, self._type)], len(column))
        wanted = column
        if pa.types.is_integer(column.type) and pa.types.is_integer(self._type):
            wanted = _cast(column, pa.int64())
        else:
            wanted = _cast(column, self._type)
        integers = _integers(wanted)
        assert integers is not None
        ends = (int(f(integers, initial=self._least)) for f in (np.min, np.max))
        if not wanted.null_count and all(self._least <= end <= self._most for end in ends):
            return self._shifted(wanted, integers)
        null = wanted.is_null().to_numpy(zero_copy_only=False)
        outside = ((integers < self._least) | (integers > self._most)) & ~null
        shifted = self._shifted(wanted, np.where(outside, self._least, integers))
        return np.where(outside, -1, shifted)


def _integers(column: pa.Array) -> Array | None:
    """The values as int64, NULLs as 0; None for types that are not integers inside."""
    kind = column.type
    if pa.types.is_date32(kind):
        column = column.view(pa.int32())
    elif pa.types.is_timestamp(kind):
        column = column.view(pa.int64())
    elif not pa.types.is_signed_integer(kind):
        return None
    if column.null_count:
        column = column.fill_null(0)
    values: Array = column.to_numpy(zero_copy_only=False)
    return values.astype(np.int64, copy=False)


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    try:
        return column if column.type == kind else column.cast(kind)
    except pa.ArrowException as error:
        raise CaptureError(
            f"A key to delete is of type {column.type}, the relation's is {kind}: {error}"
        ) from error
