"""The rows of generators as formal values: an element is present if its array is long enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.elements import ElementRows
from lipstick.engines.memory.formal.blocks import FormalBlocks
from lipstick.engines.memory.formal.functions import Aggregation, Case, ScalarFunction
from lipstick.engines.memory.formal.limits import MOST, too_many
from lipstick.engines.memory.formal.possible import possible
from lipstick.engines.memory.formal.scopes import Column, gates_of
from lipstick.engines.memory.store import every
from rewriter.analysis.conditional import fixed_length
from rewriter.passes.split_generators import ARRAY
from semiring.arrays.segments import ascending, bounds, places_of
from semiring.base import Array
from semiring.boolean.events import most
from semiring.circuit.gates import ONE, PLAIN
from semiring.circuit.values import CircuitAggregated, CircuitApplied, CircuitChoice
from semiring.value import Operand, Value


class FormalElements:
    """The potential elements of generators: present ones first."""

    def __init__(self, formal: FormalBlocks) -> None:
        self._formal = formal
        self._known: dict[str, _Possible] = {}

    def _of(self, rows: ElementRows) -> _Possible:
        if rows.block.name not in self._known:
            self._known[rows.block.name] = _Possible(self._formal, rows)
        return self._known[rows.block.name]

    def size(self, rows: ElementRows) -> int:
        """Return the number of positions."""
        return len(self._of(rows).owners)

    def annotations(self, rows: ElementRows, positions: Array) -> Array:
        """Return the annotations of elements: the row's, times the condition on the array's
        length.
        """
        known = self._of(rows)
        owners, places = known.owners[positions], known.places[positions]
        of_rows = self._formal.tuples.of(rows.inner, owners)
        factors = known.longer(owners, places)
        return self._formal.circuit.times(of_rows, factors)

    def column(self, rows: ElementRows, name: str, positions: Array) -> Column:
        """Return a column of elements."""
        known = self._of(rows)
        owners, places = known.owners[positions], known.places[positions]
        if name in rows.passed:
            return self._formal.columns.column(rows.inner, rows.passed[name], owners)
        part = None if name == rows.place else rows.made.index(name)
        whole = len(rows.made) == 1 and not rows.generator.inline
        gates = self._formal.circuit.zeros(len(positions))
        for place in ascending(places).tolist():
            chosen = places == place
            function = Element(place, part, whole=whole)
            arrays = known.arrays[owners[chosen]]
            gates[chosen] = self._formal.circuit.operands.applied(function, [arrays])
        return gates


class _Possible:
    """The elements of every row of a block, and the arrays of potential rows."""

    def __init__(self, formal: FormalBlocks, rows: ElementRows) -> None:
        self._formal = formal
        self._rows = rows
        self._outer = rows.generator.outer
        self._fixed = fixed_length(rows.generator.argument, rows.block)
        count = formal.size(rows.inner)
        if count > MOST:
            raise too_many(f"The arrays of {count:,} rows are taken apart in {rows.block.name}")
        gates = formal.tuples.of(rows.inner, every(count))
        there = np.flatnonzero(gates)
        # The arrays of rows; NULL for rows that are in no world.
        self.arrays = np.repeat(formal.circuit.operands.plain([None]), count)
        column = formal.columns.column(rows.inner, ARRAY, there)
        self.arrays[there] = gates_of(formal.reading, column)
        known, elements = rows.known
        sizes = np.zeros(count, dtype=np.int64)
        sizes[known] = elements.sizes
        longest = sizes.copy()
        for index in there.tolist():
            longest[index] = max(sizes[index], self._longest(index, int(gates[index])))
        more = longest - sizes
        new = np.repeat(every(count), more)
        places = places_of(bounds(more)) + sizes[new]
        self.owners = np.concatenate([rows.owners, new])
        self.places = np.concatenate([places_of(elements.offsets), places])

    def _longest(self, owner: int, gate: int) -> int:
        array = self._formal.reading.operand(int(self.arrays[owner]))
        if not isinstance(array, Value):
            return self._size(array)
        length = self._fixed
        if length is None:
            length = _at_most(array)
        if length is None:
            there = self._formal.reading.annotation(gate)
            sizes = self._formal.circuit.operands.applied(Size(), [self.arrays[[owner]]])
            length = max(possible(self._formal.reading.operand(int(sizes[0])), there), default=0)
        return max(length, 1) if self._outer else length

    def _size(self, array: Sequence[Any] | None) -> int:
        size = 0 if array is None else len(array)
        return max(size, 1) if self._outer else size

    def longer(self, owners: Array, places: Array) -> Array:
        """Return the conditions that the arrays of rows have an element at some positions."""
        circuit, arrays = self._formal.circuit, self.arrays[owners]
        held = circuit.zeros(len(owners))
        fixed = (circuit.gates.kind[arrays] != PLAIN) & (self._fixed is not None)
        held[fixed] = places[fixed] < (self._fixed or 0)
        sizes = circuit.operands.applied(Size(), [arrays[~fixed]])
        at = pa.array(places[~fixed])
        held[~fixed] = self._formal.conditions.compared(">", sizes, at)
        if self._outer:
            held[places == 0] = ONE
        return held


def _at_most(array: Operand) -> int | None:
    """Return the largest possible length of an array, or None if only its values decide it."""
    if not isinstance(array, Value):
        return 0 if array is None else len(array)
    if isinstance(array, CircuitAggregated) and isinstance(array.function, Aggregation):
        return sum(most(k) for k, _ in array.terms) if array.function.collects else None
    parts: list[Operand] = []
    if isinstance(array, CircuitChoice):
        parts = [value for _, value in array.alternatives]
    elif isinstance(array, CircuitApplied) and isinstance(array.function, ScalarFunction):
        parts = list(array.operands[:1]) if array.function.lengthens_nothing else []
    lengths = [_at_most(part) for part in parts]
    known = [length for length in lengths if length is not None]
    return max(known) if known and len(known) == len(lengths) else None


class Size:
    """The number of elements of an array."""

    name = "elements"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Size, ())

    def text(self, operands: Sequence[str]) -> str:
        """See :class:`semiring.circuit.operands.Function`."""
        return f"size({operands[0]})"

    def __call__(self, cases: Sequence[Case]) -> list[Any]:
        """See :class:`semiring.circuit.operands.Function`."""
        return [0 if array is None else len(array) for (array,) in cases]


class Element:
    """The element at a position of an array, or a part of it.

    Parameters
    ----------
    place
        The place, from 0.
    part
        The number of the element's field, or of a map entry's key or value; None: the position
        itself. NULL if the array is shorter.
    whole
        Whether to return the element as a whole.
    """

    def __init__(self, place: int, part: int | None, *, whole: bool) -> None:
        self._place, self._part, self._whole = place, part, whole
        self.name = f"element {place}, {part}, {whole}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_element, (self._place, self._part, self._whole))

    def text(self, operands: Sequence[str]) -> str:
        """See :class:`semiring.circuit.operands.Function`."""
        if self._part is None:
            return f"place {self._place} of {operands[0]}"
        field = "" if self._whole else f".{self._part + 1}"
        return f"{operands[0]}[{self._place}]{field}"

    def __call__(self, cases: Sequence[Case]) -> list[Any]:
        """See :class:`semiring.circuit.operands.Function`."""
        return [self._of(array) for (array,) in cases]

    def _of(self, array: Sequence[Any] | None) -> Any:
        if array is None or len(array) <= self._place:
            return None
        if self._part is None:
            return self._place
        element = array[self._place]
        if self._whole or element is None:
            return element
        fields = list(element.values()) if isinstance(element, dict) else element
        return fields[self._part]


def _element(place: int, part: int | None, whole: bool) -> Element:
    return Element(place, part, whole=whole)
