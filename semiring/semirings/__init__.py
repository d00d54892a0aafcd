"""Semirings in which annotations are evaluated, one per file."""

from __future__ import annotations

from typing import Any

from semiring.base import Semiring
from semiring.semirings.access import AccessControl, Clearance
from semiring.semirings.boolean import Boolean
from semiring.semirings.boolean_polynomials import BooleanPolynomials
from semiring.semirings.counting import Counting
from semiring.semirings.expressions import Expressions
from semiring.semirings.formula import Formula
from semiring.semirings.fuzzy import Fuzzy
from semiring.semirings.integers import Integers
from semiring.semirings.lukasiewicz import Lukasiewicz
from semiring.semirings.max_plus import MaxPlus
from semiring.semirings.polynomials import Polynomials
from semiring.semirings.posbool import PosBool
from semiring.semirings.sensitivity import Sensitivity, Weight
from semiring.semirings.sorp import Sorp
from semiring.semirings.trio import Trio
from semiring.semirings.tropical import Tropical
from semiring.semirings.user_defined import SemiringDefinition, define
from semiring.semirings.validity import Validity
from semiring.semirings.viterbi import Viterbi
from semiring.semirings.which import Which
from semiring.semirings.why import Why
from semiring.semirings.worlds import Worlds

Lineage = Which
MinPlus = Tropical

ALL: tuple[Semiring[Any], ...] = (
    Counting(),
    Boolean(),
    Integers(),
    Why(),
    Which(),
    PosBool(),
    BooleanPolynomials(),
    Trio(),
    Sorp(),
    Tropical(),
    MaxPlus(),
    Viterbi(),
    Fuzzy(),
    Lukasiewicz(),
    AccessControl(),
    Validity(),
    Worlds(),
    Sensitivity(),
    Polynomials(),
)
"""One instance of every semiring whose laws hold as equality."""


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    known = sorted(type(each).__name__ for each in ALL)
    raise AttributeError(f"There is no semiring {name!r}. There are: {', '.join(known)}.")


__all__ = [
    "ALL",
    "AccessControl",
    "Boolean",
    "BooleanPolynomials",
    "Clearance",
    "Counting",
    "Expressions",
    "Formula",
    "Fuzzy",
    "Integers",
    "Lineage",
    "Lukasiewicz",
    "MaxPlus",
    "MinPlus",
    "Polynomials",
    "PosBool",
    "Semiring",
    "SemiringDefinition",
    "Sensitivity",
    "Sorp",
    "Trio",
    "Tropical",
    "Validity",
    "Viterbi",
    "Weight",
    "Which",
    "Why",
    "Worlds",
    "define",
]
