"""Columns of annotations: what an evaluation computes with, semiring by semiring."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from semiring.base import Semiring
from semiring.columns.arrays import ArrayColumns
from semiring.columns.base import Columns
from semiring.columns.derivations import DerivationColumns
from semiring.columns.sources import Source
from semiring.columns.token_sets import TokenSetColumns
from semiring.columns.weights import WeightColumns
from semiring.quotients import Quotient
from semiring.semirings.sensitivity import Sensitivity
from semiring.semirings.which import Which

__all__ = ["Columns", "Source", "columns_of"]


def columns_of(semiring: Semiring[Any], sources: Mapping[Hashable, Source]) -> Columns[Any]:
    """How annotations of a semiring are computed, over all tokens that some sources have.

    Where elements are made of tokens, on numbers of tokens; else on arrays of elements.
    """
    if isinstance(semiring, Quotient):
        return DerivationColumns(semiring, sources)
    if isinstance(semiring, Which):
        return TokenSetColumns(semiring, sources)
    if isinstance(semiring, Sensitivity):
        return WeightColumns(semiring, sources)
    return ArrayColumns(semiring, sources)
