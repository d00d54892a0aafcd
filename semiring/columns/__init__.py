"""Columns of annotations: the representation in which evaluation computes, by semiring."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from semiring.base import Semiring
from semiring.columns.arrays import ArrayColumns
from semiring.columns.base import Columns
from semiring.columns.derivations import DerivationColumns
from semiring.columns.formulas import FormulaColumns
from semiring.columns.intervals import IntervalColumns
from semiring.columns.numbered import NumberedColumns
from semiring.columns.token_sets import TokenSetColumns
from semiring.columns.token_sources import ValuedScan
from semiring.columns.weights import WeightColumns
from semiring.encodings.quotients import Quotient
from semiring.encodings.valuation import Valuation
from semiring.semirings.formula import Formula
from semiring.semirings.sensitivity import Sensitivity
from semiring.semirings.validity import Validity
from semiring.semirings.which import Which

__all__ = ["Columns", "Travel", "ValuedScan", "columns_of"]


def columns_of(semiring: Semiring[Any], sources: Mapping[Hashable, ValuedScan]) -> Columns[Any]:
    """Return the columns that compute annotations of a semiring, over the tokens of all sources.

    They compute on token numbers if elements are built from tokens, else on arrays of elements.
    """
    kind = _kind(semiring)
    return ArrayColumns(semiring, sources) if kind is None else kind(semiring, sources)


class Travel:
    """The transport of annotations from one pass of an evaluation to the next.

    They travel as columns, or as objects if elements are built from tokens whose keys cannot
    travel.

    Parameters
    ----------
    valuations
        By relation.
    keys
        The types of the key columns of each relation; None where keys cannot travel.
    """

    def __init__(
        self,
        semiring: Semiring[Any],
        valuations: Mapping[str, Valuation[Any]],
        keys: Mapping[str, Sequence[pa.DataType]] | None,
    ) -> None:
        self._semiring = semiring
        kind = _kind(semiring)
        self._shared: Any = None
        if kind is not None:
            self._shared = kind.shared(semiring, tuple(valuations.values()), keys)
        self._kind = kind if self._shared is not None else None

    @property
    def carrier(self) -> pa.DataType:
        """The type in which annotations travel."""
        if self._kind is None:
            return ArrayColumns.carrier(self._semiring)
        return self._kind.carrier(self._shared)

    def columns(
        self, sources: Mapping[Hashable, ValuedScan], travelled: Mapping[Any, pa.Array]
    ) -> Columns[Any]:
        """Return the columns that compute annotations in one pass.

        Parameters
        ----------
        travelled
            Columns of annotations from other passes.
        """
        if self._kind is None:
            return ArrayColumns(self._semiring, sources, travelled)
        return self._kind(self._semiring, sources, travelled, self._shared)


_Kind: TypeAlias = type[NumberedColumns[Any]] | type[IntervalColumns]

_KINDS: tuple[tuple[type[Semiring[Any]], _Kind], ...] = (
    (Quotient, DerivationColumns),
    (Formula, FormulaColumns),
    (Which, TokenSetColumns),
    (Sensitivity, WeightColumns),
    (Validity, IntervalColumns),
)
"""The columns of semirings whose elements are built from tokens."""


def _kind(semiring: Semiring[Any]) -> _Kind | None:
    return next((columns for kind, columns in _KINDS if isinstance(semiring, kind)), None)
