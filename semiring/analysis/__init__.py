"""Questions to annotations beyond their evaluation in a semiring."""

from __future__ import annotations

from semiring.analysis.attribution import banzhaf, sampled_shapley, shapley
from semiring.analysis.circuit import Circuit
from semiring.analysis.compilation import compile_annotation
from semiring.analysis.moments import Moments, moments
from semiring.analysis.probability import probability, sampled_probability
from semiring.analysis.sampled_moments import sampled_moments
from semiring.analysis.sampling import Estimate
from semiring.analysis.witnesses import repairs, responsibility, witnesses, wsms

__all__ = [
    "Circuit",
    "Estimate",
    "Moments",
    "banzhaf",
    "compile_annotation",
    "moments",
    "probability",
    "repairs",
    "responsibility",
    "sampled_moments",
    "sampled_probability",
    "sampled_shapley",
    "shapley",
    "witnesses",
    "wsms",
]
