"""Formal values of circuits, made of objects one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from semiring.base import Array
from semiring.circuit.writing import CircuitWriting
from semiring.token import tokens_of
from semiring.value import Operand


def applied(function: Any, operands: Sequence[Operand]) -> Operand:
    """A function of operands."""
    writing = CircuitWriting(tokens_of(operands))
    columns = [writing.gates([operand]) for operand in operands]
    return _read(writing, writing.circuit.operands.applied(function, columns))


def choice(alternatives: Iterable[tuple[Any, Operand]]) -> Operand:
    """The first alternative that is there."""
    writing, annotations, columns = _rows([(k, [value]) for k, value in alternatives])
    offsets = np.array([0, len(annotations)])
    return _read(writing, writing.circuit.operands.choices(annotations, columns[0], offsets))


def aggregated(function: Any, rows: Iterable[tuple[Any, Sequence[Operand]]]) -> Operand:
    """An aggregate of annotated rows."""
    writing, annotations, columns = _rows(rows)
    offsets = np.array([0, len(annotations)])
    made = writing.circuit.operands.aggregated(function, annotations, columns, offsets)
    return _read(writing, made)


def windowed(function: Any, rows: Iterable[tuple[Any, Sequence[Operand]]], place: int) -> Operand:
    """A window function's value for one of some rows, which are in some world."""
    writing, annotations, columns = _rows(rows)
    made = writing.circuit.operands.windowed(function, annotations, columns)
    return _read(writing, made[[place]])


def _rows(
    annotated: Iterable[tuple[Any, Sequence[Operand]]],
) -> tuple[CircuitWriting, Array, list[Array]]:
    listed = list(annotated)
    writing = CircuitWriting(tokens_of(part for k, row in listed for part in (k, *row)))
    annotations = writing.gates(k for k, _ in listed)
    operands = [writing.gates(column) for column in zip(*(row for _, row in listed), strict=True)]
    return writing, annotations, operands


def _read(writing: CircuitWriting, gates: Array) -> Operand:
    return writing.reading.operand(int(gates[0]))
