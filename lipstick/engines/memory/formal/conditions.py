"""Conditions as gates: products and alternatives of comparisons, for whole columns of operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.functions import ScalarFunction
from lipstick.engines.memory.formal.scopes import (
    Scope,
    of_rows,
    operands,
    plain_or_operands,
    scalar_type,
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
from semiring.circuit import CircuitReading
from semiring.circuit.values import CircuitChoice
from semiring.comparison import compare_values
from semiring.value import Operand, Value


class Conditions:
    """Conditions over the rows of scopes."""

    def __init__(self, reading: CircuitReading) -> None:
        self._reading = reading
        self._circuit = reading.circuit

    def truths(self, scope: Scope, written: Scalar) -> Array:
        """[φ] for every row of a scope: 1 or 0 where that is known."""
        return self._truths(scope, taken_apart(written))

    def all_true(self, scope: Scope, conditions: Sequence[Scalar]) -> Array:
        """[φ₁]·[φ₂]·… for every row of a scope."""
        columns = [self.truths(scope, written) for written in conditions]
        return self._circuit.product(columns, scope.length)

    def _truths(self, scope: Scope, wanted: Condition) -> Array:
        match wanted:
            case AllOf(parts):
                columns = [self._truths(scope, part) for part in parts]
                return self._circuit.product(columns, scope.length)
            case AnyOf(parts):
                columns = [self._truths(scope, part) for part in parts]
                return self._circuit.any_of(columns, scope.length)
            case Compared():
                return self._compared(scope, wanted)
        return self.of_values(plain_or_operands(scope, wanted.scalar))

    def of_values(self, values: Sequence[Operand] | pa.Array) -> Array:
        """[φ] for every truth value φ."""
        if isinstance(values, pa.Array):
            if not pa.types.is_boolean(values.type):
                return self._circuit.zeros(len(values))
            true: Array = values.fill_null(False).to_numpy(zero_copy_only=False)
            return true.astype(np.int32)
        gates = np.array([value is True for value in values], dtype=np.int32)
        places = [place for place, value in enumerate(values) if isinstance(value, Value)]
        operands = self._reading.gates_of([values[place] for place in places])
        gates[places] = self._circuit.operands.conditions(operands)
        return gates

    def _compared(self, scope: Scope, wanted: Compared) -> Array:
        sides = wanted.comparison.left, wanted.comparison.right
        try:
            lefts, rights = (operands(scope, side) for side in sides)
            alike = _alike(*(scalar_type(scope, side) for side in sides))
        except NeedsSparkError:
            alike, lefts, rights = False, [], []
        if not alike:
            return self.of_values(plain_or_operands(scope, wanted.whole))
        return self.compared(wanted.comparison.op, lefts, rights, negated=wanted.negated)

    def compared(
        self, op: str, lefts: Sequence[Operand], rights: Sequence[Operand], *, negated: bool = False
    ) -> Array:
        """[left op right], row by row; negated: that it is not so, or unknown."""
        circuit = self._circuit
        gates = circuit.zeros(len(lefts))
        opposite = np.full(len(lefts), negated)
        formal: list[int] = []
        for place, (left, right) in enumerate(zip(lefts, rights, strict=True)):
            if op == "<=>" and right is None and _is_present(left):
                # The value is NULL where no alternative is there.
                columns = [left.annotations[[number]] for number in range(len(left.annotations))]
                gates[place] = circuit.any_of(columns, 1)[0]
                opposite[place] = not negated
            elif isinstance(left, Value) or isinstance(right, Value):
                formal.append(place)
            else:
                gates[place] = compare_values(op, left, right)
        sides = ([column[place] for place in formal] for column in (lefts, rights))
        gates[formal] = circuit.operands.compared(op, *map(self._reading.gates_of, sides))
        if opposite.any():
            gates[opposite] = circuit.absent(gates[opposite])
        return gates

    def equal(
        self,
        lefts: Sequence[Operand],
        rights: Sequence[Operand],
        types: tuple[pa.DataType, pa.DataType],
        *,
        null_safe: bool,
    ) -> Array:
        """[left = right], or [left <=> right], row by row."""
        op = "<=>" if null_safe else "="
        if _alike(*types):
            return self.compared(op, lefts, rights)
        function = ScalarFunction(_EQUAL[op], types)
        rows = list(zip(lefts, rights, strict=True))
        return self.of_values(of_rows(self._reading, function, rows))


def _is_present(value: Operand) -> TypeGuard[CircuitChoice]:
    """Return True if every alternative of a choice has a plain value that is not NULL."""
    return isinstance(value, CircuitChoice) and not any(
        isinstance(operand, Value) or operand is None for _, operand in value.alternatives
    )


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
