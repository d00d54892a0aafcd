"""Semirings in which annotations are evaluated, one per file."""

from __future__ import annotations

from typing import Any

from semiring.base import Semiring
from semiring.semirings.access import AccessControl, Clearance
from semiring.semirings.boolean import Boolean
from semiring.semirings.counting import Counting
from semiring.semirings.expressions import Expressions
from semiring.semirings.polynomials import Polynomials
from semiring.semirings.tropical import Tropical
from semiring.semirings.viterbi import Viterbi
from semiring.semirings.which import Which
from semiring.semirings.why import Why

Lineage = Which

ALL: tuple[Semiring[Any], ...] = (
    Counting(),
    Boolean(),
    Why(),
    Which(),
    Tropical(),
    Viterbi(),
    AccessControl(),
    Polynomials(),
)
"""One instance of every semiring whose laws hold as equality."""

__all__ = [
    "ALL",
    "AccessControl",
    "Boolean",
    "Clearance",
    "Counting",
    "Expressions",
    "Lineage",
    "Polynomials",
    "Semiring",
    "Tropical",
    "Viterbi",
    "Which",
    "Why",
]
