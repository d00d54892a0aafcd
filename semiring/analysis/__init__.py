"""Analyses of annotations beyond evaluation in a semiring: probability, attribution, repairs."""

from __future__ import annotations

from semiring.analysis.attribution import banzhaf, sampled_banzhaf, sampled_shapley, shapley
from semiring.analysis.moments import Moments, moments
from semiring.analysis.probability import probability, sampled_probabilities
from semiring.analysis.responsibilities import (
    Responsibilities,
    bounded_responsibility,
    responsibility,
)
from semiring.analysis.sampled_moments import sampled_moments
from semiring.analysis.sampling import Estimate
from semiring.analysis.witnesses import (
    MinimalWitnesses,
    Repairs,
    found_repairs,
    found_witnesses,
    repairs,
    witnesses,
    wsms,
)
from semiring.boolean.circuit import Circuit
from semiring.boolean.compilation import compile_annotation

__all__ = [
    "Circuit",
    "Estimate",
    "MinimalWitnesses",
    "Moments",
    "Repairs",
    "Responsibilities",
    "banzhaf",
    "bounded_responsibility",
    "compile_annotation",
    "found_repairs",
    "found_witnesses",
    "moments",
    "probability",
    "repairs",
    "responsibility",
    "sampled_banzhaf",
    "sampled_moments",
    "sampled_probabilities",
    "sampled_shapley",
    "shapley",
    "witnesses",
    "wsms",
]
