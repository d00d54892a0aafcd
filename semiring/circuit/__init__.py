"""Annotations as circuits in arrays, and what is read from them."""

from __future__ import annotations

from semiring.circuit.circuit import Circuit
from semiring.circuit.evaluation import evaluate
from semiring.circuit.reading import Reading

__all__ = ["Circuit", "Reading", "evaluate"]
