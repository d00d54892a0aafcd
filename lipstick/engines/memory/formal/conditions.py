"""Conditions as gates: products and alternatives of comparisons, on whole columns of operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.functions import ScalarFunction
from lipstick.engines.memory.formal.scopes import (
    Column,
    FormalScope,
    applied,
    gates_of,
    scalar_type,
    values_of,
)
from lipstick.errors import NeedsSparkError
from rewriter.algebra import Scalar
from rewriter.interpret import (
    AllOf,
    AnyOf,
    Compared,
    Condition,
    interpret,
    is_exact,
    taken_apart,
)
from rewriter.scalars.text import scalar as parsed
from semiring.base import Array
from semiring.circuit.gates import CHOICE, PLAIN
from semiring.circuit.reading import CircuitReading
from semiring.token import normal_value


class Conditions:
    """Conditions over the rows of scopes."""

    def __init__(self, reading: CircuitReading) -> None:
        self._reading = reading
        self._circuit = reading.circuit

    def truths(self, scope: FormalScope, written: Scalar) -> Array:
        """Return [φ] for every row of a scope: 1 or 0 if it is known."""
        return self._truths(scope, taken_apart(written))

    def all_true(self, scope: FormalScope, conditions: Sequence[Scalar]) -> Array:
        """Return [φ₁]·[φ₂]·… for every row of a scope."""
        columns = [self.truths(scope, written) for written in conditions]
        return self._circuit.product(columns, scope.length)

    def _truths(self, scope: FormalScope, wanted: Condition) -> Array:
        match wanted:
            case AllOf(parts):
                columns = [self._truths(scope, part) for part in parts]
                return self._circuit.product(columns, scope.length)
            case AnyOf(parts):
                columns = [self._truths(scope, part) for part in parts]
                return self._circuit.any_of(columns, scope.length)
            case Compared():
                return self._compared(scope, wanted)
        return self.of_values(values_of(scope, wanted.scalar))

    def of_values(self, values: Column) -> Array:
        """Return [φ] for every truth value φ."""
        if not isinstance(values, pa.Array):
            return self._circuit.operands.conditions(values)
        if not pa.types.is_boolean(values.type):
            return self._circuit.zeros(len(values))
        true: Array = values.fill_null(False).to_numpy(zero_copy_only=False)
        return true.astype(np.int32)

    def _compared(self, scope: FormalScope, wanted: Compared) -> Array:
        sides = wanted.comparison.left, wanted.comparison.right
        try:
            left, right = (values_of(scope, side) for side in sides)
            alike = _alike(*(scalar_type(scope, side) for side in sides))
        except NeedsSparkError:
            alike = False
        if not alike:
            return self.of_values(values_of(scope, wanted.whole))
        return self.compared(wanted.comparison.op, left, right, negated=wanted.negated)

    def compared(self, op: str, left: Column, right: Column, *, negated: bool = False) -> Array:
        """Return [left op right], row by row; negated, the condition that it is false or NULL."""
        circuit, operands = self._circuit, self._circuit.operands
        lefts, rights = (gates_of(self._reading, side) for side in (left, right))
        gates, opposite = circuit.zeros(len(lefts)), np.full(len(lefts), negated)
        rest = np.ones(len(lefts), dtype=np.bool_)
        null, kinds = operands.plain([None])[0], circuit.gates.kind
        choices = (rights == null) & (kinds[lefts] == CHOICE) & (op == "<=>")
        for place in np.flatnonzero(choices).tolist():
            edges, _ = circuit.gates.edges_of(lefts[[place]])
            annotations, values = circuit.gates.child[edges].reshape(-1, 2).T
            if (kinds[values] == PLAIN).all() and (values != null).all():
                # The value is NULL where no alternative is there.
                gates[place] = circuit.any_of([*annotations[:, None]], 1)[0]
                opposite[place], rest[place] = not negated, False
        gates[rest] = operands.compared(op, lefts[rest], rights[rest])
        gates[opposite] = circuit.absent(gates[opposite])
        return gates

    def equal(
        self,
        left: Column,
        right: Column,
        types: tuple[pa.DataType, pa.DataType],
        *,
        null_safe: bool,
    ) -> Array:
        """Return [left = right], or [left <=> right], row by row."""
        op = "<=>" if null_safe else "="
        if _alike(*types):
            return self.compared(op, left, right)
        function = ScalarFunction(_EQUAL[op], types)
        return self.of_values(applied(self._reading, function, [left, right]))

    def equality_codes(
        self, left: Array, right: Array, types: tuple[pa.DataType, pa.DataType], *, null_safe: bool
    ) -> Array | None:
        """Return codes of plain values, left before right, that are equal iff the values are.

        None if some value is not plain, or if Python does not compare them as Spark does.
        """
        both = np.concatenate([left, right])
        if not _alike(*types) or (self._circuit.gates.kind[both] != PLAIN).any():
            return None
        distinct, which = np.unique(both, return_inverse=True)
        numbers: dict[Any, int] = {}
        values = map(normal_value, self._circuit.operands.listed(distinct))
        codes = np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)
        codes = codes[which]
        if not null_safe and None in numbers:
            codes[: len(left)][codes[: len(left)] == numbers[None]] = -1
        return codes


def _alike(a: pa.DataType, b: pa.DataType) -> bool:
    """Return True if Python compares values of two types as Spark does."""
    if pa.types.is_null(a) or pa.types.is_null(b):
        return True
    if is_exact(a) and is_exact(b):
        return True
    simple = bool(
        pa.types.is_boolean(a)
        or pa.types.is_string(a)
        or pa.types.is_date(a)
        or pa.types.is_timestamp(a)
        or pa.types.is_float64(a)
    )
    return simple and a == b


_EQUAL = {op: interpret(parsed(f"a.x {op} b.x")) for op in ("=", "<=>")}
