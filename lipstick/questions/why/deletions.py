"""Deletions from one relation: samples of rows, codes, and partial aggregates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.window_rows import WindowRows
from lipstick.questions.why.measure import Measure, as_numbers, is_measurable
from lipstick.questions.why.partials import (
    DistinctCount,
    PartialAggregate,
    PartialExtreme,
    PartialPercentile,
    PartialSum,
)
from lipstick.questions.why.sources import SourceRows
from rewriter.blocks import GROUP
from rewriter.interpret import Interpreted, UninterpretableError, interpret
from semiring.base import Array
from semiring.support.chance import random_numbers

_EVEN = 0.4
"""The part of a sample that is drawn evenly."""

Codes: TypeAlias = tuple[Array, int]
"""A code per row of a relation, or of some rows, -1 for none; and the number of codes."""


class Without(NamedTuple):
    """The measure without the rows of some codes, and how many rows these are.

    Attributes
    ----------
    numbers
        NaN where the value is gone.
    first, last
        The runs of codes.
    """

    numbers: Array
    counts: Array
    first: Array
    last: Array


def drawn(shares: Array, most: int) -> tuple[Array, Array]:
    """Draw about so many places with chances by their shares of the effect; return their weights.

    The estimate of a sum by the weights 1/p is unbiased (Horvitz, Thompson, *A Generalization of
    Sampling Without Replacement from a Finite Universe*, JASA 47, 1952); what moves much is drawn
    for certain, and a part is drawn evenly, so that numbers of rows are known too.
    """
    chances = np.maximum(_EVEN * most / len(shares), (1 - _EVEN) * most * shares)
    numbers = random_numbers(0).random(len(shares), dtype=np.float32)
    chosen = np.flatnonzero(numbers < chances)
    return chosen, 1.0 / np.minimum(chances[chosen], 1.0)


class SearchEffects(ABC):
    """Deletions of rows of one relation and their effects on a measure.

    Attributes
    ----------
    total
        The number of rows, or of members made of them, among which conditions choose.
    by_row
        True if the effects of all single rows are computed at once.
    by_column
        True if the effects of many columns take too long to be computed at once.
    restores
        True if rows of the answer may appear when rows of the relation are deleted.
    """

    _measure: Measure
    total: float
    by_row = True
    by_column = True
    restores = False

    @abstractmethod
    def sampled(self, most: int) -> tuple[Array, SearchEffects]:
        """Return the rows that conditions choose among, a sample where these are more than `most`.

        Returns
        -------
        tuple
            Their sorted positions, and the effects of deleting rows by their places among them.
        """

    @abstractmethod
    def singles(self, codes: Array, count: int, rows: Array | None = None) -> Without:
        """Return the effects of deleting the rows of each code.

        Parameters
        ----------
        codes
            Per row of the relation, or of `rows`; -1: no code.
        rows
            Sorted positions of the rows that may be deleted; None: all.
        """

    def runs(self, codes: Array, count: int, rows: Array | None = None) -> Without:
        """Return the effects of deleting the rows of each run of codes but the whole one.

        Where nothing else is known they are the sums of its codes' effects.
        """
        single, before = self.singles(codes, count, rows), self._measure.before
        first, last = pairs_of(count)
        moved = np.nan_to_num(single.numbers - before)
        n, m = (np.concatenate([[0], np.cumsum(each)]) for each in (single.counts, moved))
        return Without(before + (m[last + 1] - m[first]), n[last + 1] - n[first], first, last)

    def of_columns(self, columns: Sequence[Codes], rows: Array | None, *, runs: bool) -> Without:
        """Return the effects of deleting the rows of each code, or run, of some columns."""
        ask = self.runs if runs else self.singles
        parts = [ask(codes, count, rows) for codes, count in columns]
        return Without(*map(np.concatenate, zip(*parts, strict=True)))


def simple_scan(measure: Measure, source: SourceRows) -> int | None:
    """Return the one scan of a relation in a query of one block without lookups; None: others."""
    root = measure.engine.root
    rows = measure.engine.rows(root.name)
    scans = [number for number, token in enumerate(root.tokens) if token.relation == source.name]
    simple = (
        isinstance(rows, GroupRows | MemberRows)
        and not isinstance(rows, WindowRows)
        and rows.members.alone
        and len(scans) == 1
        and len(measure.engine.blocks) == 1
        and not (root.limited or root.copies or root.sets or root.difference)
    )
    return scans[0] if simple else None


@lru_cache(maxsize=256)
def pairs_of(count: int) -> tuple[Array, Array]:
    """Return the first and last codes of all runs of codes but the whole one."""
    first, last = np.triu_indices(count)
    keep = ~((first == 0) & (last == count - 1))
    return first[keep], last[keep]


def single_codes(numbers: Array, counts: Array) -> Without:
    every = np.arange(len(numbers))
    return Without(numbers, counts, every, every)


def formulas(measure: Measure, rows: GroupRows) -> list[Interpreted]:
    """Return the scalars over a group that a measure is computed from.

    Raises
    ------
    UninterpretableError
        Where they read other blocks.
    """
    if measure.sides is not None:
        return [measure.sides.left, measure.sides.right]
    formula = interpret(measure.scalar)
    if any(alias != GROUP for alias, _ in formula.columns):
        raise UninterpretableError(formula.text)
    return [formula]


def aggregate(rows: GroupRows, name: str, members: Array) -> PartialAggregate:
    """Return an aggregate of a grouping over some members.

    Raises
    ------
    UninterpretableError
        For aggregates without partial ones.
    """
    call = rows.calls[name]
    resolve = rows.members.resolve(members, rows.members.base)
    columns = [a.evaluate(resolve).to_arrow(len(members)) for a in call.arguments]
    if call.function == "COUNT":
        valid = np.ones(len(members), dtype=np.bool_)
        for column in columns:
            valid &= column.is_valid().to_numpy(zero_copy_only=False)
        if not call.distinct:
            return PartialSum("COUNT", valid.astype(np.float64), valid)
        codes, _ = distinct(columns, len(members))
        return DistinctCount(np.where(valid, codes, -1))
    anew = call.anew
    if anew is not None and anew.name == "count_if":
        holds = columns[0].fill_null(False).to_numpy(zero_copy_only=False)
        return PartialSum("COUNT", holds.astype(np.float64), holds)
    is_percentile = anew is not None and anew.name == "percentile"
    known = call.function is not None or is_percentile
    if not known or call.distinct or not is_measurable(columns[0].type):
        raise UninterpretableError(call.text)
    numbers = as_numbers(columns[0])
    if anew is not None:
        return PartialPercentile(numbers, anew.share, anew.descending)
    valid = ~np.isnan(numbers)
    if call.function in ("SUM", "AVG"):
        return PartialSum(call.function, np.where(valid, numbers, 0.0), valid)
    return PartialExtreme(numbers, least=call.function == "MIN")


@dataclass(frozen=True)
class PartMeasure(Measure):
    """A number that is the sum of parts of rows, to be brought down without them."""

    total: float = 0.0

    @cached_property
    def before(self) -> float:
        return self.total

    @cached_property
    def is_condition(self) -> bool:
        return False


class AddedEffects(SearchEffects):
    """Effects on a measure that is computed from sums over the rows.

    Parameters
    ----------
    weights
        By sum what each row adds to it; to the first the number of rows or members that it is.
    of
        From what deletions take from each sum to the measure.
    influence
        How far each row moves the measure, as a share; None: no sample will do.
    total
        As the attribute; None: the first sum.
    """

    by_column = False

    def __init__(
        self,
        weights: Sequence[Array],
        of: Callable[[Array], Array],
        influence: Array | None,
        total: float | None = None,
    ) -> None:
        # The numbers of rows may be those of members and of values, too.
        every, places = np.array(weights, dtype=np.float64), dict[bytes, int]()
        self._sums = [places.setdefault(each.tobytes(), len(places)) for each in every]
        self._weights = every[[self._sums.index(number) for number in places.values()]]
        self._of = of
        self._influence = influence
        self.total = float(self._weights[0].sum()) if total is None else total

    def sampled(self, most: int) -> tuple[Array, SearchEffects]:
        length = self._weights.shape[1]
        if length <= most or self._influence is None:
            return np.arange(length), self
        few = copy(self)
        rows, stand_for = drawn(self._influence, most)
        few._weights = self._weights[:, rows] * stand_for
        return rows, few

    def singles(self, codes: Array, count: int, rows: Array | None = None) -> Without:
        return self.of_columns([(codes, count)], rows, runs=False)

    def runs(self, codes: Array, count: int, rows: Array | None = None) -> Without:
        return self.of_columns([(codes, count)], rows, runs=True)

    def of_columns(self, columns: Sequence[Codes], rows: Array | None, *, runs: bool) -> Without:
        weights = self._weights if rows is None else self._weights[:, rows]
        parts = []
        for codes, count in columns:
            places = np.add(codes, 1, dtype=np.intp)
            sums = np.array([np.bincount(places, each, count + 1)[1:] for each in weights])
            first, last = pairs_of(count) if runs else (np.arange(count), np.arange(count))
            if runs:
                ends = np.cumsum(np.pad(sums, ((0, 0), (1, 0))), axis=1)
                sums = ends[:, last + 1] - ends[:, first]
            parts.append((sums, first, last))
        lost, *runs_of = (np.concatenate(each, axis=-1) for each in zip(*parts, strict=True))
        return Without(self._of(lost[self._sums]), lost[0], *runs_of)


def part_effects(parts: Array) -> AddedEffects:
    """Return the effects on a number that is the sum of parts of rows."""
    sizes, before = np.abs(parts), float(parts.sum())
    influence = sizes / max(float(sizes.sum()), 1e-300)
    return AddedEffects([np.ones(len(parts)), parts], lambda lost: before - lost[1], influence)
