"""The values of tensors in a circuit, by int64 labels."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

import numpy as np
import pyarrow as pa

from semiring.arrays.decimals import integers_to_decimal
from semiring.arrays.exact import INT64_MAX
from semiring.base import Array
from semiring.monoid import Monoid, exact_scale


@dataclass(frozen=True, slots=True)
class Scalars:
    """The scalar values of some tensors, with int64 labels.

    Attributes
    ----------
    kind
        The type of the values; None for a list of Python values.
    sample
        The values by label; None if a label is the value itself.
    """

    monoid: Monoid
    kind: pa.DataType | None
    sample: pa.Array | list[Any] | None

    @property
    def is_ordered(self) -> bool:
        """True if labels are ordered as the values."""
        return not isinstance(self.sample, list)

    @property
    def scale(self) -> int | None:
        """The number of fractional digits if labels are integers or unscaled decimals, else
        None.
        """
        if self.sample is not None or self.kind is None:
            return None
        if pa.types.is_decimal128(self.kind):
            return int(self.kind.scale)
        return 0 if pa.types.is_signed_integer(self.kind) else None

    def numbers(self, unscaled: list[int]) -> list[Any]:
        """Return sums of labels that are integers or unscaled decimals as numbers."""
        scale = self.scale
        if self.kind is None or not pa.types.is_decimal128(self.kind):
            return unscaled
        assert scale is not None
        return [exact_scale(number, Decimal(1).scaleb(-scale)) for number in unscaled]

    @property
    def are_numbers(self) -> bool:
        """True if all values have a numeric type."""
        kind = self.kind
        return (
            self.sample is None
            and kind is not None
            and (
                pa.types.is_integer(kind)
                or pa.types.is_decimal128(kind)
                or pa.types.is_floating(kind)
            )
        )

    def doubles(self, labels: Array) -> Array:
        """Return the numeric values of some labels, rounded to doubles."""
        if (scale := self.scale) is not None:
            return labels / 10.0**scale
        if self.sample is None and pa.types.is_floating(self.kind):
            return _floats(labels)
        return np.array([float(value) for value in self.values(labels)], dtype=np.float64)

    def values(self, labels: Array) -> list[Any]:
        """Return the values of some labels."""
        if isinstance(self.sample, list):
            return [self.sample[label] for label in labels.tolist()]
        if self.sample is not None:
            return cast(list[Any], self.sample.take(pa.array(labels)).to_pylist())
        kind = self.kind
        assert kind is not None
        if pa.types.is_decimal128(kind):
            integers = integers_to_decimal(labels, kind.precision, kind.scale)
            return cast(list[Any], integers.to_pylist())
        if pa.types.is_floating(kind):
            return cast(list[Any], _floats(labels).tolist())
        if pa.types.is_boolean(kind):
            return cast(list[Any], (labels != 0).tolist())
        if pa.types.is_date32(kind):
            return cast(list[Any], pa.array(labels.astype(np.int32)).view(kind).to_pylist())
        column = pa.array(labels)
        return cast(
            list[Any], (column.view(kind) if pa.types.is_timestamp(kind) else column).to_pylist()
        )


def _floats(labels: Array) -> Array:
    bits: Array = np.where(labels < 0, labels ^ np.int64(INT64_MAX), labels)
    return bits.view(np.float64)


def is_simple(kind: pa.DataType) -> bool:
    """Return True if Arrow orders values of a type as `order_key` does."""
    return bool(
        pa.types.is_signed_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal128(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_date32(kind)
        or pa.types.is_timestamp(kind)
    )
