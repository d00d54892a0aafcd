"""The precedence of two rows in an order, as a function of their sort keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.functions import Case, typed
from lipstick.engines.memory.order import Key, order
from rewriter.algebra import SortKey


class Precedes:
    """The function that is true if a row comes before another: of its sort keys, then the other's.

    Parameters
    ----------
    keys
        How they are sorted.
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
