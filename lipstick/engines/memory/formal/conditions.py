"""Conditions as gates: products and alternatives of comparisons, for whole columns of operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard, cast

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
from semiring.circuit import AnnotationCircuit
from semiring.circuit.reading import CircuitTensor
from semiring.circuit.values import CircuitChoice
from semiring.comparison import FLIPPED, compare_values
from semiring.expression import compare, condition
from semiring.value import Operand, Value


class Conditions:
    """Conditions over the rows of scopes."""

    def __init__(self, circuit: AnnotationCircuit) -> None:
        self._circuit = circuit

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
        held = [condition(values[place]) for place in places]
        gates[places] = self._circuit.of_expressions(held)
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
        whole = self._of_tensors(op, lefts, rights)
        if whole is None:
            whole = self._of_tensors(FLIPPED[op], rights, lefts)
        if whole is not None:
            return circuit.absent(whole) if negated else whole
        gates = circuit.zeros(len(lefts))
        opposite = np.full(len(lefts), negated)
        others: list[int] = []
        tensors: dict[str, tuple[list[int], list[int], list[Operand]]] = {}
        for place, (left, right) in enumerate(zip(lefts, rights, strict=True)):
            if not isinstance(left, Value):
                if not isinstance(right, Value):
                    gates[place] = compare_values(op, left, right) != negated
                    opposite[place] = False
                    continue
                if isinstance(right, CircuitTensor) and left is not None:
                    at, of, values = tensors.setdefault(FLIPPED[op], ([], [], []))
                    at.append(place)
                    of.append(right.gate)
                    values.append(left)
                    continue
            elif isinstance(left, CircuitTensor) and not isinstance(right, Value):
                if right is not None:
                    at, of, values = tensors.setdefault(op, ([], [], []))
                    at.append(place)
                    of.append(left.gate)
                    values.append(right)
                    continue
            elif op == "<=>" and right is None and _is_present(left):
                # The value is NULL where no alternative is there.
                columns = [left.gates[[number]] for number in range(len(left.gates))]
                present = circuit.any_of(columns, 1)
                gates[place] = (present if negated else circuit.absent(present))[0]
                opposite[place] = False
                continue
            others.append(place)
        for operator, (at, of, values) in tensors.items():
            gates[at] = circuit.compare(operator, np.array(of, dtype=np.int32), values)
        if others:
            compared = [compare(op, lefts[place], rights[place]) for place in others]
            gates[others] = circuit.of_expressions(compared)
        chosen = np.flatnonzero(opposite)
        if len(chosen):
            gates[chosen] = circuit.absent(gates[chosen])
        return gates

    def _of_tensors(
        self, op: str, tensors: Sequence[Operand], values: Sequence[Operand]
    ) -> Array | None:
        """[tensor op value], row by row, of a column of tensors; None: these are others."""
        if set(map(type, tensors)) != {CircuitTensor}:
            return None
        kinds = set(map(type, values))
        if type(None) in kinds or any(issubclass(kind, Value) for kind in kinds):
            return None
        gates = np.array([cast(CircuitTensor, tensor).gate for tensor in tensors], dtype=np.int32)
        one = len(set(map(id, values))) == 1
        return self._circuit.compare(op, gates, values[:1] if one else values)

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
        return self.of_values(of_rows(function, list(zip(lefts, rights, strict=True))))


def _is_present(value: Value) -> TypeGuard[CircuitChoice]:
    """Return True if every alternative of a choice has a plain value that is not NULL."""
    return isinstance(value, CircuitChoice) and not any(
        isinstance(operand, Value) or operand is None for operand in value.operands
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
