"""Annotations as circuits in arrays, and the canonical objects read from them."""

from __future__ import annotations

from semiring.circuit.circuit import AnnotationCircuit
from semiring.circuit.evaluation import ArrayValues, TokenValues, evaluate
from semiring.circuit.reading import CircuitReading

__all__ = ["AnnotationCircuit", "ArrayValues", "CircuitReading", "TokenValues", "evaluate"]
