"""LIMIT and OFFSET as factors: how many of the rows that come before are there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory import order
from lipstick.engines.memory.formal.functions import typed
from lipstick.engines.memory.formal.limits import MOST, too_many
from lipstick.engines.memory.formal.precedence import Precedes
from lipstick.engines.memory.formal.tokens import Annotation
from lipstick.engines.memory.state import SORT
from lipstick.engines.memory.store import every
from rewriter.analysis.conditional import conditional
from rewriter.blocks import Block
from semiring.base import Array
from semiring.circuit import CircuitReading
from semiring.circuit.reading import CircuitTensor
from semiring.monoid import COUNT
from semiring.render import REPR_TERMS
from semiring.tensor import Tensor
from semiring.value import Operand, Value, called
from semiring.values import applied

if TYPE_CHECKING:
    from lipstick.engines.memory.formal import Formal

_NAMED = 3
"""So many rows before another one, and terms of its sort keys, are named in a text."""

_KEPT = 200_000
"""Blocks of more rows are not sorted as formal rows."""


class Cuts:
    """The factors of tuples of blocks with LIMIT or OFFSET."""

    def __init__(self, formal: Formal) -> None:
        self._formal = formal
        self._sorted: dict[str, _Sorted] = {}

    def factors(self, name: str, positions: Array) -> Array:
        """[k < offset + limit]·[k >= offset] for some tuples, where k counts the rows before."""
        engine = self._formal.engine
        if not conditional(engine.root) and engine.base(name).present[positions].all():
            # No deletion cuts what is shown now: rows need not be sorted to tell.
            return self._formal.circuit.ones(len(positions))
        if name not in self._sorted:
            self._sorted[name] = _Sorted(self._formal, name)
        ordered = self._sorted[name]
        return np.array([ordered.factor(p) for p in positions.tolist()], dtype=np.int32)


class RowsBefore(Tensor):
    """The number of rows before one of some sort keys: a COUNT, whose text names the keys alone.

    ``truncated(None)`` has all of the rows, as ``terms`` has.
    """

    __slots__ = ("_sort_keys",)
    _sort_keys: tuple[Operand, ...]

    def __init__(
        self, terms: Iterable[tuple[Annotation, Any]], keys: Sequence[Operand] = ()
    ) -> None:
        super().__init__(COUNT, terms)
        object.__setattr__(self, "_sort_keys", tuple(keys))

    def __reduce__(self) -> tuple[Any, ...]:
        return (RowsBefore, (self.terms, self._sort_keys))

    def called(self, limit: int | None = REPR_TERMS) -> str:
        return _called(self, self._sort_keys, limit)


class CircuitRowsBefore(CircuitTensor):
    """The same in a circuit."""

    __slots__ = ("_sort_keys",)
    _sort_keys: tuple[Operand, ...]

    def __init__(self, reading: CircuitReading, gate: int, keys: Sequence[Operand]) -> None:
        super().__init__(reading, gate)
        object.__setattr__(self, "_sort_keys", tuple(keys))

    def __reduce__(self) -> tuple[Any, ...]:
        return (RowsBefore, (self.terms, self._sort_keys))

    def called(self, limit: int | None = REPR_TERMS) -> str:
        return _called(self, self._sort_keys, limit)


def _called(rows: Tensor, keys: Sequence[Operand], limit: int | None) -> str:
    if limit is None or rows.size <= _NAMED:
        return Tensor.called(rows, limit)
    named = ", ".join(called(key, _NAMED) for key in keys)
    return f"rows before ({named}) among {rows.size:,}"


class _Sorted:
    """The rows of a block, before LIMIT cuts them, in its order as far as that is known."""

    def __init__(self, formal: Formal, name: str) -> None:
        self._formal = formal
        self._block: Block = formal.engine.blocks[name]
        size = formal.domains.size(name)
        if size > _KEPT:
            raise too_many(f"LIMIT cuts {size:,} rows of {name}")
        places = every(size)
        sorting = [
            (f"{SORT}{n}", k.descending, k.nulls_first) for n, k in enumerate(self._block.order)
        ]
        sorting += [(column, False, True) for column in self._block.tie_break]
        self._columns = [formal.columns.column(name, column, places) for column, _, _ in sorting]
        self._types = [formal.columns.type(name, column) for column, _, _ in sorting]
        self._directions = [(descending, nulls_first) for _, descending, nulls_first in sorting]
        if not self._block.unique_identity:
            # Rows that are equal in all of this come in the order of their positions.
            self._columns.append(places.tolist())
            self._types.append(pa.int64())
            self._directions.append((False, True))
        self._formal_order = any(isinstance(v, Value) for column in self._columns for v in column)
        if self._formal_order:
            if size > MOST:
                raise too_many(f"LIMIT cuts {size:,} rows of {name} in an order that may change")
            self._gates = formal.tuples.uncut(name, places)
            self._rows: list[tuple[Operand, ...]] = list(zip(*self._columns, strict=True))
            return
        keys = [
            order.Key(typed(column, kind), descending, nulls_first)
            for column, kind, (descending, nulls_first) in zip(
                self._columns, self._types, self._directions, strict=True
            )
        ]
        self._order = order.order(keys, size)
        self._place = np.empty(size, dtype=np.int64)
        self._place[self._order] = places

    def factor(self, position: int) -> int:
        """The factor of one tuple."""
        limit, circuit = self._block.limit, self._formal.circuit
        known = not (self._formal_order or self._block.offset)
        if known and limit is not None and self._place[position] < limit:
            # The first rows are in the answer in every world in which they are there.
            return 1
        earlier = self._before(position)
        own_keys = [column[position] for column in self._columns[: len(self._block.order)]]
        ones = pa.repeat(1, len(earlier))
        before = circuit.tensors(COUNT, earlier, ones, np.array([0, len(earlier)]))
        assert before is not None
        reading = self._formal.reading
        reading.shown_as[int(before[0])] = lambda gate: CircuitRowsBefore(reading, gate, own_keys)
        factor = circuit.ones(1)
        stop = None if limit is None else self._block.offset + limit
        if stop is not None and circuit.most(earlier).sum() >= stop:
            factor = circuit.compare("<", before, [stop])
        if self._block.offset:
            offset = circuit.compare(">=", before, [self._block.offset])
            factor = circuit.times(factor, offset)
        return int(factor[0])

    def _before(self, position: int) -> Array:
        """That rows are there and come before a tuple."""
        name = self._block.name
        if not self._formal_order:
            rank = int(self._place[position])
            if rank > MOST:
                raise too_many(f"LIMIT of {name} looks at {rank:,} rows before a row")
            return self._formal.tuples.uncut(name, self._order[:rank])
        precedes = Precedes(self._directions, self._types)
        own_keys = self._rows[position]
        others = np.flatnonzero(self._gates)
        others = others[others != position]
        before = [applied(precedes, [*self._rows[rank], *own_keys]) for rank in others.tolist()]
        return self._formal.circuit.times(
            self._gates[others], self._formal.conditions.of_values(before)
        )
