"""The vectorised evaluator: typed annotations, as nested Arrow arrays, under valuations.

Nested lists of structs are a topologically layered circuit whose list offsets are CSR, so every
operator is one pass of numpy over Arrow buffers, without a loop over rows for numeric semirings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from semiring.aggregates import aggregate, distinct_members
from semiring.annotation import (
    Alt,
    AnnotationType,
    BlackBox,
    Compare,
    Delta,
    Literal,
    Monus,
    One,
    Ref,
    Scalar,
    Sum,
    TensorOf,
    Times,
    TokenOf,
)
from semiring.array_comparison import compare_arrays
from semiring.base import Array, Semiring
from semiring.errors import AnnotationError, CapabilityError, ValuationError
from semiring.expression import delta as delta_of
from semiring.monoid import Monoid
from semiring.segments import list_layout
from semiring.tensor import Tensor
from semiring.valuation import Valuation

K = TypeVar("K")

__all__ = [
    "ScalarLookup",
    "Valuation",
    "evaluate_nested",
    "evaluate_tensor",
    "fold",
    "group",
    "product",
]

ScalarLookup: TypeAlias = Callable[[Sequence[pa.Array], int], pa.Array]
"""From a block's key columns and the number of rows to the scalar's values; NULL where none."""


def product(semiring: Semiring[K], factors: Sequence[Array], length: int | None = None) -> Array:
    """The elementwise product of annotation arrays; ones of `length` if there are none."""
    if not factors:
        return semiring.ones(length or 0)
    result = factors[0]
    for factor in factors[1:]:
        result = semiring.times_array(result, factor)
    return result


def fold(semiring: Semiring[K], values: Array, offsets: Array) -> Array:
    """Sums over CSR segments; an empty segment gives 0. See `Semiring.sum_segments`."""
    return semiring.sum_segments(values, offsets)


def group(codes: Array, count: int) -> tuple[Array | None, Array]:
    """A stable CSR grouping of rows by their group's code.

    Parameters
    ----------
    codes
        Integers from 0 to ``count - 1``, one per row.

    Returns
    -------
    order
        The permutation that brings rows of a group together; None if they are so already.
    offsets
        int64 of length ``count + 1``: group g is ``order[offsets[g]:offsets[g + 1]]``.
    """
    offsets = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(codes, minlength=count), out=offsets[1:])
    if len(codes) < 2 or bool((codes[1:] >= codes[:-1]).all()):
        return None, offsets
    return np.argsort(codes, kind="stable"), offsets


def evaluate_nested(
    semiring: Semiring[K],
    array: pa.Array | None,
    annotation_type: AnnotationType,
    valuations: Mapping[str, Valuation[K]],
    length: int | None = None,
    scalars: Mapping[str, ScalarLookup] | None = None,
) -> Array:
    """The annotations of an array of type ⟦τ⟧, as an array of the semiring.

    Parameters
    ----------
    array
        The annotation column, at any depth of nesting; None if `annotation_type` carries no data.
    valuations
        By name, of every relation and block that occurs.
    length
        The number of rows, needed if `array` is None.
    scalars
        By ``block.column``, of every scalar subquery that occurs.

    Raises
    ------
    AnnotationError
        The array is not of the type.
    ValuationError
        A relation, block or scalar without a valuation.
    CapabilityError
        An operation that the semiring lacks.

    Cost: linear in the number of members for semirings with a numeric dtype.
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if array is None and (length is None or annotation_type.carries_data):
        raise AnnotationError(f"no data for an annotation of type {annotation_type}")
    size = len(array) if array is not None else int(length or 0)
    return _Evaluation(semiring, valuations, scalars or {}).annotations(
        annotation_type, array, size
    )


def evaluate_tensor(
    semiring: Semiring[K],
    array: pa.Array,
    tensor_type: TensorOf,
    valuations: Mapping[str, Valuation[K]],
) -> pa.Array:
    """The aggregated values of an array of type ⟦TensorOf⟧, in Spark's result type.

    Raises
    ------
    CapabilityError
        The semiring gives tensors over this monoid no value.
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    return _Evaluation(semiring, valuations, {}).values(tensor_type, array)


class _Evaluation:
    """One evaluation: a semiring and its valuations."""

    def __init__(
        self,
        semiring: Semiring[Any],
        valuations: Mapping[str, Valuation[Any]],
        scalars: Mapping[str, ScalarLookup],
    ) -> None:
        self.semiring = semiring
        self.valuations = valuations
        self.scalars = scalars

    def annotations(self, kind: AnnotationType, array: pa.Array | None, size: int) -> Array:
        if isinstance(kind, One):
            return self.semiring.ones(size)
        if isinstance(kind, (TokenOf, Ref)):
            return self._token(kind, array)
        if isinstance(kind, Times):
            return self._times(kind, array, size)
        if isinstance(kind, BlackBox):
            parts = self._parts(kind.inputs, array, size)
            return product(self.semiring, parts, size)
        if isinstance(kind, Sum):
            return self._sum(kind, array)
        if isinstance(kind, Delta):
            return self.semiring.delta_array(self.annotations(kind.operand, array, size))
        if isinstance(kind, Monus):
            left, right = self._parts((kind.left, kind.right), array, size)
            return self.semiring.monus_array(left, right)
        if isinstance(kind, Alt):
            return self._alt(kind, array, size)
        if isinstance(kind, Compare):
            return self._compare(kind, array, size, {})
        raise AnnotationError(f"{kind} is not a factor of an annotation")

    def _valuation(self, name: str) -> Valuation[Any]:
        if name not in self.valuations:
            raise ValuationError(f"no valuation is given for {name}")
        return self.valuations[name]

    def _token(self, kind: TokenOf | Ref, array: pa.Array | None) -> Array:
        name = kind.relation if isinstance(kind, TokenOf) else kind.block
        valuation = self._valuation(name)
        assert array is not None
        if not pa.types.is_struct(array.type):
            return valuation.lookup([array])
        absent = None
        if isinstance(kind, Ref):
            absent = array.is_null().to_numpy(zero_copy_only=False)
        return valuation.lookup(array.flatten(), len(array), absent)

    def _fields(
        self, kinds: Sequence[AnnotationType], array: pa.Array | None
    ) -> list[pa.Array | None]:
        wanted = [kind.carries_data for kind in kinds]
        if not any(wanted):
            return [None] * len(kinds)
        if array is None or not pa.types.is_struct(array.type):
            found = None if array is None else array.type
            raise AnnotationError(f"expected a struct of {sum(wanted)} fields, not {found}")
        if array.type.num_fields != sum(wanted):
            raise AnnotationError(f"expected a struct of {sum(wanted)} fields, not {array.type}")
        columns = iter(array.flatten())
        return [next(columns) if data else None for data in wanted]

    def _parts(
        self, kinds: Sequence[AnnotationType], array: pa.Array | None, size: int
    ) -> list[Array]:
        columns = self._fields(kinds, array)
        return [
            self.annotations(kind, column, size)
            for kind, column in zip(kinds, columns, strict=True)
        ]

    def _times(self, kind: Times, array: pa.Array | None, size: int) -> Array:
        columns = self._fields(kind.factors, array)
        shared = dict(enumerate(columns))
        parts = []
        for factor, column in zip(kind.factors, columns, strict=True):
            if isinstance(factor, Compare):
                parts.append(self._compare(factor, column, size, shared))
            elif not isinstance(factor, One):
                parts.append(self.annotations(factor, column, size))
        return product(self.semiring, parts, size)

    def _members(self, kind: Sum, array: pa.Array) -> tuple[Array, pa.Array | None, list[pa.Array]]:
        """Offsets, the members' annotation column and their value columns."""
        if not (hasattr(array, "value_lengths") and hasattr(array, "flatten")):
            raise AnnotationError(f"expected a list of members for {kind}, not {array.type}")
        offsets, members = list_layout(array)
        if not kind.values:
            return offsets, members, []
        width = len(kind.values) + int(kind.member.carries_data)
        if not pa.types.is_struct(members.type) or members.type.num_fields != width:
            raise AnnotationError(f"expected structs of {width} fields, not {members.type}")
        columns = members.flatten()
        if kind.member.carries_data:
            return offsets, columns[0], columns[1:]
        return offsets, None, columns

    def _sum(self, kind: Sum, array: pa.Array | None) -> Array:
        assert array is not None
        if not kind.values and not kind.member.carries_data:
            counts = array.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
            inner = self.annotations(kind.member, None, 1)
            one = self.semiring.ones(1)
            if (inner == one).all():
                return self.semiring.repeat_array(counts)
            values = np.repeat(inner, counts.sum())
            return fold(self.semiring, values, np.concatenate([[0], np.cumsum(counts)]))
        offsets, column, _ = self._members(kind, array)
        if self._all_one(kind.member):
            return self.semiring.repeat_array(np.diff(offsets))
        members = self.annotations(kind.member, column, int(offsets[-1]))
        return fold(self.semiring, members, offsets)

    def _all_one(self, kind: AnnotationType) -> bool:
        """Whether every annotation of the type is 1 whatever the data are."""
        if isinstance(kind, (TokenOf, Ref)):
            name = kind.relation if isinstance(kind, TokenOf) else kind.block
            return self._valuation(name).constant_one
        if isinstance(kind, Times):
            return all(self._all_one(factor) for factor in kind.factors)
        return isinstance(kind, One)

    def _alt(self, kind: Alt, array: pa.Array | None, size: int) -> Array:
        assert array is not None
        width = 1 + sum(branch.carries_data for branch in kind.branches)
        if not pa.types.is_struct(array.type) or array.type.num_fields != width:
            raise AnnotationError(f"expected a struct of {width} fields for {kind}")
        columns = iter(array.flatten())
        chosen = next(columns).fill_null(-1).to_numpy(zero_copy_only=False)
        if len(chosen) and not -1 <= int(chosen.min()) <= int(chosen.max()) < len(kind.branches):
            raise AnnotationError(f"a branch outside 0..{len(kind.branches) - 1} of {kind}")
        result = self.semiring.ones(size)
        for position, branch in enumerate(kind.branches):
            column = next(columns) if branch.carries_data else None
            rows = np.flatnonzero(chosen == position)
            if len(rows) == 0:
                continue
            taken = None if column is None else column.take(pa.array(rows))
            values = self.annotations(branch, taken, len(rows))
            if values.dtype != result.dtype:
                result = result.astype(object)
            result[rows] = values
        return result

    # -- aggregated values ---------------------------------------------------------------------

    def _tensor_parts(
        self, kind: TensorOf, array: pa.Array
    ) -> tuple[Array, Array, pa.Array | None]:
        """Of a tensor: members' annotations, their offsets, their values."""
        members = kind.members
        if not members.values and not members.member.carries_data:
            counts = array.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
            offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
            return self.annotations(members.member, None, int(offsets[-1])), offsets, None
        offsets, column, values = self._members(members, array)
        annotations = self.annotations(members.member, column, int(offsets[-1]))
        if kind.value is None:
            return annotations, offsets, None
        return annotations, offsets, values[members.values.index(kind.value)]

    def values(self, kind: TensorOf, array: pa.Array) -> pa.Array:
        """The aggregated values, one per row."""
        self.semiring.require(kind.aggregate)
        if self.semiring.symbolic:
            raise CapabilityError(f"semiring {self.semiring.name} keeps {kind} a tensor")
        annotations, offsets, values = self._tensor_parts(kind, array)
        if kind.aggregate in ("MIN", "MAX"):
            copies = self.semiring.nonzero_array(annotations).astype(np.int64)
        else:
            copies = self.semiring.multiplicity_array(annotations)
        if kind.distinct and values is not None:
            copies, values, offsets = distinct_members(copies, values, offsets)
        return aggregate(kind.aggregate, copies, values, offsets)

    def tensors(self, kind: TensorOf, array: pa.Array) -> list[Any]:
        """The formal tensors, one per row; a loop over members, for symbolic semirings."""
        annotations, offsets, values = self._tensor_parts(kind, array)
        items = [1] * len(annotations) if values is None else values.to_pylist()
        monoid, bounds = Monoid(kind.aggregate), offsets.tolist()
        found = []
        for start, stop in pairwise(bounds):
            members = zip(annotations[start:stop], items[start:stop], strict=True)
            tensor = Tensor(monoid, members)
            if kind.distinct:
                tensor = Tensor(monoid, ((delta_of(k), v) for k, v in tensor.terms))
            found.append(tensor)
        return found

    def _operand(
        self,
        kind: AnnotationType,
        column: pa.Array | None,
        size: int,
        shared: Mapping[int, pa.Array | None],
    ) -> Any:
        if isinstance(kind, Literal):
            return kind.value
        if isinstance(kind, Scalar):
            name = f"{kind.block}.{kind.column}"
            if name not in self.scalars:
                raise ValuationError(f"no values are given for the scalar subquery {name}")
            keys: list[pa.Array] = []
            if column is not None:
                keys = column.flatten() if pa.types.is_struct(column.type) else [column]
            found = self.scalars[name](keys, size)
            return found if kind.over_empty is None else found.fill_null(kind.over_empty)
        assert isinstance(kind, TensorOf)
        if kind.sibling is not None:
            column = shared.get(kind.sibling)
        if column is None:
            raise AnnotationError(f"{kind} shares the list of a factor that is not there")
        if self.semiring.symbolic:
            return self.tensors(kind, column)
        return self.values(kind, column)

    def _compare(
        self,
        kind: Compare,
        array: pa.Array | None,
        size: int,
        shared: Mapping[int, pa.Array | None],
    ) -> Array:
        columns = self._fields((kind.left, kind.right), array)
        left, right = (
            self._operand(side, column, size, shared)
            for side, column in zip((kind.left, kind.right), columns, strict=True)
        )
        if self.semiring.symbolic:
            pairs = zip(_python(left, size), _python(right, size), strict=True)
            return self.semiring.pack([self.semiring.compare(kind.op, a, b) for a, b in pairs])
        true = compare_arrays(kind.op, left, right, size)
        return self.semiring.take_where(true, self.semiring.ones(size), self.semiring.zeros(size))


def _python(operand: Any, size: int) -> list[Any]:
    if isinstance(operand, list):
        return operand
    if isinstance(operand, (pa.Array, pa.ChunkedArray)):
        values: list[Any] = operand.to_pylist()
        return values
    return [operand] * size
