"""The columns read by scalars of a block, as formal values, for some members, groups or tuples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.functions import ScalarFunction, typed
from lipstick.engines.memory.state import needs_spark, spread
from lipstick.errors import CapabilityError
from rewriter.interpret import Interpreted, UninterpretableError
from semiring.base import Array
from semiring.circuit.gates import PLAIN
from semiring.circuit.reading import CircuitReading

Column: TypeAlias = pa.Array | Array
"""Plain values, or an int32 array of the gates of values."""


class FormalScope(Protocol):
    """The rows over which scalars are computed."""

    reading: CircuitReading

    @property
    def length(self) -> int:
        """The number of rows."""

    def column(self, alias: str, name: str) -> Column:
        """Return the values of a column."""

    def type(self, alias: str, name: str) -> pa.DataType:
        """Return the type of a column."""


def values_of(scope: FormalScope, scalar: Interpreted) -> Column:
    """Return a scalar row by row, with plain values if all columns that it reads are plain.

    Raises
    ------
    NeedsSparkError
        Where only Spark knows a plain value.
    """
    columns = [scope.column(*column) for column in scalar.columns]
    if scalar.column is not None:
        return columns[0]
    types = [scope.type(*column) for column in scalar.columns]
    function = ScalarFunction(scalar, types)
    if all(isinstance(column, pa.Array) for column in columns):
        pairs = zip(columns, types, strict=True)
        plain = [of_type(scope.reading, column, kind) for column, kind in pairs]
        try:
            return function.of_columns(plain, scope.length)
        except CapabilityError as error:
            raise needs_spark(function.sql) from error
    return applied(scope.reading, function, columns)


def applied(reading: CircuitReading, function: ScalarFunction, columns: Sequence[Column]) -> Array:
    """Return the gates of a function applied to the rows of columns.

    Raises
    ------
    NeedsSparkError
        Where only Spark knows a plain value.
    """
    gates = [gates_of(reading, column) for column in columns]
    try:
        return reading.circuit.operands.applied(function, gates)
    except CapabilityError as error:
        raise needs_spark(function.sql) from error


def gates_of(reading: CircuitReading, column: Column) -> Array:
    """Return the gates of the values of a column."""
    return reading.circuit.operands.plain(column) if isinstance(column, pa.Array) else column


def of_type(reading: CircuitReading, column: Column, kind: pa.DataType) -> Column:
    """Return a column with its plain values converted to a type."""
    if isinstance(column, pa.Array):
        return column if column.type == kind else typed(column.to_pylist(), kind)
    operands, is_plain = reading.circuit.operands, reading.circuit.gates.kind[column] == PLAIN
    if is_plain.any():
        column = column.copy()
        column[is_plain] = operands.plain(typed(operands.listed(column[is_plain]), kind))
    return column


def assembled(
    reading: CircuitReading, length: int, parts: Sequence[tuple[Array, Column]]
) -> Column:
    """Return a column of some length from parts with the positions of their values; NULL
    elsewhere.
    """
    columns = [column for _, column in parts if len(column)]
    kinds = {column.type if isinstance(column, pa.Array) else None for column in columns}
    if len(kinds) == 1 and None not in kinds:
        where = np.concatenate([places for places, _ in parts])
        return spread(pa.concat_arrays(columns), where, length)
    gates = np.repeat(reading.circuit.operands.plain([None]), length)
    for places, column in parts:
        gates[places] = gates_of(reading, column)
    return gates


def scalar_type(scope: FormalScope, scalar: Interpreted) -> pa.DataType:
    """Return the type of a scalar.

    Raises
    ------
    NeedsSparkError
        When only Spark knows it.
    """
    if scalar.column is not None:
        return scope.type(*scalar.column)
    try:
        return ScalarFunction(scalar, [scope.type(*column) for column in scalar.columns]).type
    except UninterpretableError as error:
        raise needs_spark(scalar.text) from error
