"""The blocks of a capture, as the formal annotations and values of other blocks refer to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.formal.conditions import Conditions
from lipstick.engines.memory.formal.scopes import Column
from lipstick.engines.memory.formal.tokens import TokenNumbers
from rewriter.blocks import Block
from semiring.arrays.segments import ascending, bounds
from semiring.base import Array
from semiring.circuit.circuit import AnnotationCircuit
from semiring.circuit.reading import CircuitReading

K = TypeVar("K")


class TupleGates(Protocol):
    """The annotations of tuples of every block."""

    def of(self, name: str, positions: Array) -> Array:
        """Return the annotations of tuples of a block."""

    def uncut(self, name: str, positions: Array) -> Array:
        """Return the annotations of tuples of a block before LIMIT."""

    def members(self, name: str, chosen: Array, matched: dict[str, bool] | None = None) -> Array:
        """Return the annotations of members of a block."""


class ColumnValues(Protocol):
    """The columns of the tuples of every block."""

    def type(self, name: str, column: str) -> pa.DataType:
        """Return the type of a column."""

    def column(self, name: str, column: str, positions: Array) -> Column:
        """Return a column of tuples of a block."""


class FormalBlocks(Protocol):
    """All blocks of a capture, by name."""

    engine: Engine
    tokens: TokenNumbers
    circuit: AnnotationCircuit
    reading: CircuitReading
    conditions: Conditions

    @property
    def tuples(self) -> TupleGates:
        """The annotations of tuples."""

    @property
    def columns(self) -> ColumnValues:
        """The columns of tuples."""

    def size(self, name: str) -> int:
        """Return the number of positions of a block's tuples."""

    def scalar(self, block: Block, name: str) -> int:
        """Return the gate of a scalar subquery's value."""


def segments(owners: Array, count: int) -> Array:
    """Return the CSR offsets of the members of each group; ``owners`` are sorted."""
    return bounds(np.bincount(owners, minlength=count))


def remembered(
    known: dict[K, Array], key: K, positions: Array, make: Callable[[Array], Array]
) -> Array:
    """Return the gates at some positions, cached."""
    size = int(positions.max(initial=-1)) + 1
    before = known.get(key)
    if before is None or len(before) < size:
        grown = np.full(size, -1, dtype=np.int32)
        if before is not None:
            grown[: len(before)] = before
        known[key] = grown
    new = positions[known[key][positions] < 0]
    if len(new):
        new = ascending(new)
        made = make(new)
        known[key][new] = made
    found: Array = known[key][positions]
    return found
