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
from semiring.quotients import Quotient
from semiring.semirings.which import Which

__all__ = ["Columns", "Source", "columns_of"]


def columns_of(semiring: Semiring[Any], sources: Mapping[Hashable, Source]) -> Columns[Any]:
    """How annotations of a semiring are computed, over all tokens that some sources have.

    The free semirings are computed on numbers of tokens, the others on arrays of their elements.
    """
    if isinstance(semiring, Quotient):
        return DerivationColumns(semiring, sources)
    if isinstance(semiring, Which):
        return TokenSetColumns(semiring, sources)
    return ArrayColumns(semiring, sources)
