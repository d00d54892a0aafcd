"""LIMIT and OFFSET as factors: conditions on the number of present rows that come before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.blocks import FormalBlocks
from lipstick.engines.memory.formal.functions import Case, typed
from lipstick.engines.memory.formal.limits import MOST, too_many
from lipstick.engines.memory.formal.scopes import gates_of
from lipstick.engines.memory.formal.tokens import Annotation
from lipstick.engines.memory.order import Key, order
from lipstick.engines.memory.state import SORT
from lipstick.engines.memory.store import every
from rewriter.algebra import SortKey
from rewriter.analysis.conditional import conditional
from rewriter.blocks import Block
from semiring.arrays.segments import bounds
from semiring.base import Array
from semiring.circuit.gates import PLAIN
from semiring.circuit.ranges import range_tensors, row_count
from semiring.circuit.reading import CircuitReading
from semiring.circuit.scalars import is_simple
from semiring.circuit.values import CircuitTensor
from semiring.monoid import COUNT
from semiring.support.render import REPR_TERMS
from semiring.tensor import Tensor
from semiring.value import Operand, called

_NAMED = 3
"""Limit on the preceding rows, and on the terms of their sort keys, that a text names."""

_EDGES = 1 << 20
"""Number of preceding rows processed together."""

_KEPT = 200_000
"""Limit on the rows of a block that are sorted as formal rows."""


class Cuts:
    """The factors of tuples of blocks with LIMIT or OFFSET."""

    def __init__(self, formal: FormalBlocks) -> None:
        self._formal = formal
        self._sorted: dict[str, _Sorted] = {}

    def factors(self, name: str, positions: Array) -> Array:
        """Return [k < offset + limit]·[k >= offset] for some tuples; k counts the rows before."""
        engine = self._formal.engine
        if not conditional(engine.root) and engine.base(name).present[positions].all():
            # A deletion cuts none of the present rows: no sorting is needed.
            return self._formal.circuit.ones(len(positions))
        if name not in self._sorted:
            self._sorted[name] = _Sorted(self._formal, name)
        ordered = self._sorted[name]
        return ordered.factors(positions)


class RowsBefore(Tensor):
    """The COUNT of the rows before a row with some sort keys; its text names only the keys.

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
        return _called(self, self._sort_keys, limit, self.size)


class CircuitRowsBefore(CircuitTensor):
    """`RowsBefore` in a circuit.

    Parameters
    ----------
    counts
        A cache of numbers of rows, by tensor gate.
    """

    __slots__ = ("_counts", "_sort_keys")
    _counts: dict[int, int]
    _sort_keys: tuple[Operand, ...]

    def __init__(
        self, reading: CircuitReading, keys: Sequence[Operand], counts: dict[int, int], gate: int
    ) -> None:
        super().__init__(reading, gate)
        object.__setattr__(self, "_sort_keys", tuple(keys))
        object.__setattr__(self, "_counts", counts)

    def __reduce__(self) -> tuple[Any, ...]:
        return (RowsBefore, (self.terms, self._sort_keys))

    def called(self, limit: int | None = REPR_TERMS) -> str:
        count = row_count(self.reading.circuit, self.gate, self._counts)
        return _called(self, self._sort_keys, limit, count)


def _called(rows: Tensor, keys: Sequence[Operand], limit: int | None, count: int) -> str:
    if limit is None or count <= _NAMED:
        return Tensor.called(rows, limit)
    named = ", ".join(called(key, _NAMED) for key in keys)
    return f"rows before ({named}) among {count:,}"


class _Sorted:
    """The rows of a block before LIMIT, sorted as far as their order is known."""

    def __init__(self, formal: FormalBlocks, name: str) -> None:
        self._formal = formal
        self._counts: dict[int, int] = {}
        self._block: Block = formal.engine.blocks[name]
        size = formal.size(name)
        if size > _KEPT:
            raise too_many(f"LIMIT cuts {size:,} rows of {name}")
        places = every(size)
        sorting = [
            (f"{SORT}{n}", k.descending, k.nulls_first) for n, k in enumerate(self._block.order)
        ]
        sorting += [(column, False, True) for column in self._block.tie_break]
        columns = [formal.columns.column(name, column, places) for column, _, _ in sorting]
        self._types = [formal.columns.type(name, column) for column, _, _ in sorting]
        self._directions = [(descending, nulls_first) for _, descending, nulls_first in sorting]
        if not self._block.unique_identity:
            # Rows that are equal in all of this come in the order of their positions.
            columns.append(pa.array(places))
            self._types.append(pa.int64())
            self._directions.append((False, True))
        kinds = formal.circuit.gates.kind
        formal_ones = (column for column in columns if not isinstance(column, pa.Array))
        self._formal_order = any((kinds[gates] != PLAIN).any() for gates in formal_ones)
        self._columns = list(map(formal.reading.listed, columns))
        if self._formal_order:
            if size > MOST:
                raise too_many(f"LIMIT cuts {size:,} rows of {name} in an order that may change")
            self._gates = formal.tuples.uncut(name, places)
            self._keys = [gates_of(formal.reading, column) for column in columns]
            return
        keys = [
            Key(typed(column, kind), descending, nulls_first)
            for column, kind, (descending, nulls_first) in zip(
                self._columns, self._types, self._directions, strict=True
            )
        ]
        self._order = order(keys, size)
        self._place = np.empty(size, dtype=np.int64)
        self._place[self._order] = places

    def factors(self, positions: Array) -> Array:
        """Return the factors of tuples."""
        limit, circuit = self._block.limit, self._formal.circuit
        factors = circuit.ones(len(positions))
        chosen = np.arange(len(positions))
        if limit is not None and not (self._formal_order or self._block.offset):
            # The first rows are in the answer in every world in which they are there.
            chosen = np.flatnonzero(self._place[positions] >= limit)
        if self._formal_order:
            places = positions[chosen].tolist()
            start = 0
            while start < len(places):
                earlier = [self._before(places[start])]
                # As many at once as have about _EDGES edges.
                while start + len(earlier) < len(places) and sum(map(len, earlier)) < _EDGES:
                    earlier.append(self._before(places[start + len(earlier)]))
                stop = start + len(earlier)
                gates, offsets = np.concatenate(earlier), bounds(np.array([*map(len, earlier)]))
                before = circuit.tensors(COUNT, gates, pa.repeat(1, len(gates)), offsets)
                factors[chosen[start:stop]] = self._factors(places[start:stop], before)
                start = stop
        elif len(chosen):
            ranks = self._place[positions[chosen]]
            first = self._order[: int(ranks.max())]
            rows = self._formal.tuples.uncut(self._block.name, first)
            ones, none = pa.repeat(1, len(rows)), np.zeros(len(ranks), dtype=np.int64)
            before = range_tensors(circuit, COUNT, rows, ones, none, ranks)
            factors[chosen] = self._factors(positions[chosen].tolist(), before)
        return factors

    def _factors(self, positions: list[int], before: Array) -> Array:
        """Return the factors of tuples, given the COUNTs of present rows before them."""
        circuit, reading = self._formal.circuit, self._formal.reading
        for position, gate in zip(positions, before.tolist(), strict=True):
            keys = [column[position] for column in self._columns[: len(self._block.order)]]
            reading.shown_as[gate] = partial(CircuitRowsBefore, reading, keys, self._counts)
        factors, offset, limit = circuit.ones(len(positions)), self._block.offset, self._block.limit
        if limit is not None:
            cut = np.flatnonzero(circuit.most(before) >= offset + limit)
            factors[cut] = circuit.compare("<", before[cut], [offset + limit])
        if offset:
            factors = circuit.times(factors, circuit.compare(">=", before, [offset]))
        return factors

    def _before(self, position: int) -> Array:
        """Return, row by row, the condition of being present and before a tuple in a changing
        order.
        """
        precedes = Precedes(self._directions, self._types)
        others = np.flatnonzero(self._gates)
        others, circuit = others[others != position], self._formal.circuit
        own_keys = [np.repeat(key[position], len(others)) for key in self._keys]
        sides = [*(key[others] for key in self._keys), *own_keys]
        before = circuit.operands.conditions(circuit.operands.applied(precedes, sides))
        return circuit.times(self._gates[others], before)


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
