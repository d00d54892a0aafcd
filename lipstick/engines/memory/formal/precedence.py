"""The precedence of two rows in an order, as a function of their sort keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.functions import Case, typed
from lipstick.engines.memory.order import Key, order
from rewriter.algebra import SortKey
from semiring.base import Array
from semiring.circuit.scalars import is_simple


class Precedes:
    """The function that is true if a row comes before another row, by the sort keys of both.

    Parameters
    ----------
    keys
        The directions of the sort keys.
    types
        The types of the keys.
    """

    def __init__(
        self, keys: Sequence[SortKey | tuple[bool, bool]], types: Sequence[pa.DataType]
    ) -> None:
        self._keys = tuple(
            key if isinstance(key, tuple) else (key.descending, key.nulls_first) for key in keys
        )
        self._types = tuple(types)
        self.name = f"before {self._keys} of {', '.join(map(str, types))}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Precedes, (self._keys, self._types))

    def text(self, operands: Sequence[str]) -> str:
        """See :class:`semiring.circuit.operands.Function`."""
        half = len(operands) // 2
        earlier, other = (", ".join(part) for part in (operands[:half], operands[half:]))
        return f"({earlier}) before ({other})"

    def __call__(self, cases: Sequence[Case]) -> list[Any]:
        """See :class:`semiring.circuit.operands.Function`."""
        count, half = len(cases), len(self._types)
        keys = [
            Key(
                typed(
                    [case[number] for case in cases] + [case[half + number] for case in cases], kind
                ),
                descending,
                nulls_first,
            )
            for number, (kind, (descending, nulls_first)) in enumerate(
                zip(self._types, self._keys, strict=True)
            )
        ]
        places = np.empty(2 * count, dtype=np.int64)
        places[order(keys, 2 * count)] = np.arange(2 * count)
        return [bool(a < b) for a, b in zip(places[:count], places[count:], strict=True)]

    def of_operands(self, column: Callable[[int], Array]) -> list[bool]:
        """Return its values for columns of operands, one key after another for the rows still
        tied.
        """
        half = len(self._types)
        left = np.arange(len(column(0)))
        result = np.zeros(len(left), dtype=np.bool_)
        for number, (kind, (descending, nulls_first)) in enumerate(
            zip(self._types, self._keys, strict=True)
        ):
            if not is_simple(kind) or pa.types.is_floating(kind):
                operands = [column(place)[left] for place in range(2 * half)]
                result[left] = self(list(zip(*operands, strict=True)))
                break
            a, b = column(number)[left], column(half + number)[left]
            null_a, null_b = map(_nulls, (a, b))
            before = (null_a & ~null_b) if nulls_first else (null_b & ~null_a)
            equal, both = null_a & null_b, ~null_a & ~null_b
            a, b = a[both], b[both]
            before[both] = (a > b) if descending else (a < b)
            equal[both] = a == b
            result[left], left = before, left[equal]
            if not len(left):
                break
        else:
            result[left] = True  # rows that are the same in all keys, as in a stable sort
        values: list[bool] = result.tolist()
        return values


def _nulls(values: Array) -> Array:
    return np.array([value is None for value in values.tolist()], dtype=np.bool_)
