"""The search for predicates whose tuples explain a measure: a bounded lattice of conjunctions.

A predicate is scored by what deleting its tuples gains beyond deleting as many at random, for what
is removed: divided by the root of their number, to which the deviation of a random gain is
proportional. This is the influence of Scorpion with the exponent ½, less what chance gains.
Conditions come first, each column at once; conjunctions of two and three extend the best ones. Of
predicates that explain the same, the simplest stays: after each choice, the others are scored by
what they gain in addition. Beyond a bound that is wanted gains count on, or a part of a cause
that just reaches the bound would explain more than the cause; predicates that reach it are shown
first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lipstick.questions.why.columns import (
    BINS,
    ColumnBins,
    ColumnCondition,
    NumberColumn,
    Predicate,
    RelationColumns,
    ValueColumn,
    row_predicate,
)
from lipstick.questions.why.deletions import Codes, SearchEffects, Without, pairs_of
from lipstick.questions.why.few_rows import FEW, FewRows
from lipstick.questions.why.measure import Measure
from semiring.arrays.segments import index_of, mask_of
from semiring.base import Array
from semiring.support.budget import spent
from semiring.support.chance import random_numbers

_PER_COLUMN = 4
"""Conditions of a column that are looked at further."""

_BEAM = 16
"""Predicates that are extended by a further condition."""

_BETTER = 1.03
"""A simpler predicate with nearly the same rows is shown up to this ratio of scores."""

_MARGIN = 3.0
"""Nats by which the evidence for a predicate exceeds its length, or it is chance."""

_FEW = 100
"""Rows up to which the gains of all choices of as many rows are counted."""

_TILTS = np.geomspace(0.05, 50.0, 24)
"""Exponents at which these are bounded, in gains of the usual size."""

_RATIO = 1.15
"""The least ratio of the scores of a conjunction and its parent where chance is not measured."""

_LITTLE = 0.5
"""The gain per row outside a condition, as a share of the gain per row inside, at most."""

_BLOCKS = 512
"""Parts of the rows by which chance is measured where an effect is a scenario."""

_PARTS = 32
"""Parts of the rows by which the effect of chance is known where half of them take the value.

Below LIMIT and HAVING the value is gone with many of its rows.
"""

_TOGETHER = 4
"""Values that hide one another, at most."""

_LISTED = 12
"""Values of a column among which lists are looked for."""

_SHARED = 2
"""Rows for each value of a column, at least, where lists are looked for: others list rows."""

_NEAR = 1e-3
"""The share of a gap that is as good as none."""

_FIT = 12.0
"""The nats for a condition by which rows come back at all, near to what is wanted or not."""

_ROUNDING = 1e-9
"""The share of a gap that is rounding."""

_KEY = 4.0
"""The nats that a condition on a key costs in addition: keys have no meaning."""

_MOST = 0.6
"""The share of the rows that an explanation may leave out."""

_LEAST = 0.05
"""The share of a gap that an explanation closes at least: less is not worth showing."""

_POOL = 60
"""Candidates for the list that is shown."""

_SMALLEST = 0.05
"""The score of a predicate that is shown, as a share of the best one's, at least."""

_ALTERNATIVE = 0.25
"""The same of a predicate that is shown though it gains nothing in addition to others."""

_ALIKE = 0.8
"""The share of common rows from which only the simpler of two predicates is shown."""


@dataclass(frozen=True)
class CandidatePredicate:
    """A predicate with its score.

    Attributes
    ----------
    rows
        Sorted positions of the rows of its relation that satisfy it.
    number, count
        The measure without them, and how many rows or members of the explained they are.
    complexity
        The length of its description in nats: of the columns, values and bounds that are chosen.
    evidence
        The nats by which chance alone would hardly have its gain.
    parent
        The predicate that this one extends by its last condition.
    run
        The first and the last of the bins in its last condition, if that is a range.
    """

    predicate: Predicate
    rows: Array = field(repr=False)
    number: float
    count: int
    score: float
    complexity: float
    evidence: float = np.inf
    gained: float = 0.0
    parent: CandidatePredicate | None = field(default=None, repr=False)
    run: tuple[ColumnBins, int, int] | None = field(default=None, repr=False)

    @property
    def worth(self) -> float:
        """The share of the evidence that its length leaves: 0 for chance, 1 for what is plain."""
        if self.evidence <= 0.0:
            return 0.0
        return max(1.0 - (self.complexity + _MARGIN) / self.evidence, 0.0)

    @property
    def rank(self) -> float:
        """The score, less what the length of the predicate takes from it."""
        return self.score * self.worth


@dataclass(frozen=True, slots=True)
class _GainSpread:
    """The gains of single rows beyond chance.

    Attributes
    ----------
    variance, most
        Of the gains, and the largest of them.
    tilts, choices
        Of few rows: exponents t, and per exponent and number k of rows the logarithm of the mean of
        exp(t * gain) over all choices of k rows; None: they are many.
    """

    variance: float
    most: float
    tilts: Array
    choices: Array | None

    @classmethod
    def of(cls, gains: Array) -> _GainSpread:
        if not len(gains):
            return cls(0.0, 0.0, _TILTS, None)
        variance = float(np.square(gains).mean())
        if len(gains) >= _FEW or variance <= 0:
            return cls(variance, float(np.abs(gains).max()), _TILTS, None)
        tilts = _TILTS / np.sqrt(variance)
        sums = np.full((len(tilts), len(gains) + 1), -np.inf)
        sums[:, 0] = 0.0
        for gain in gains:
            sums[:, 1:] = np.logaddexp(sums[:, 1:], sums[:, :-1] + tilts[:, None] * gain)
        ways = np.zeros(len(gains) + 1)
        ways[1:] = np.cumsum(np.log(np.arange(len(gains), 0, -1) / np.arange(1, len(gains) + 1)))
        return cls(variance, float(np.abs(gains).max()), tilts, sums - ways)


class ScoredDeletions(NamedTuple):
    """Deletions as in `Without`, with what each gains beyond chance, and its score."""

    numbers: Array
    counts: Array
    first: Array
    last: Array
    gained: Array
    scores: Array

    def at(self, place: int) -> ScoredDeletions:
        """Return one of the deletions alone."""
        return ScoredDeletions(*(each[[place]] for each in self))


class GainScores:
    """The scores of deletions from one relation, against random deletions of as many rows.

    Where rows of the answer appear when others are deleted, each of them counts, and what is
    wanted is met by the fewest.
    """

    def __init__(self, measure: Measure, effects: SearchEffects, length: int) -> None:
        self._measure = measure
        self._effects = effects
        self._total = max(effects.total, 1)
        self.restores = effects.restores
        self._slope = 0.0 if self.restores else self._slope_of(length)
        is_few = length < FEW and not self.restores
        self._few = FewRows.of(measure, effects, length) if is_few else None
        self._influence = None if self._few else self._influences(length)
        self._spreads: dict[int, tuple[Array | None, _GainSpread]] = {}

    @property
    def are_few(self) -> bool:
        """True if so few rows are behind the measure that each is looked at."""
        return self._few is not None

    @property
    def least_ratio(self) -> float:
        """By how much a conjunction scores higher than what it extends, at least."""
        return _RATIO if self._few is None and self._influence is None else 1.0

    def _slope_of(self, length: int) -> float:
        """Return how much the measure moves where all rows go, as deletions at random have it."""
        half = random_numbers(0).integers(0, 2, length)
        slope = self._slope_by(self._effects.singles(half, 2))
        if slope is None:
            slope = self._slope_by(self._parts(length, _PARTS)[1])
        return slope or 0.0

    def _slope_by(self, without: Without) -> float | None:
        """Return the slope by some deletions; None: the measure is known after none of them."""
        is_known = (without.counts > 0) & np.isfinite(without.numbers)
        share = without.counts[is_known].sum() / self._total
        moved = without.numbers[is_known] - self._measure.before
        return float(moved.sum() / share) if share > 0 else None

    def _parts(self, length: int, count: int) -> tuple[Array, Without]:
        """Return the part of each row, drawn at random, and the measure without each part."""
        codes = random_numbers(1).permutation(length) % count
        return codes, self._effects.singles(codes, count)

    def _influences(self, length: int) -> Array | None:
        """Return what each row gains beyond chance; None: rows have no effects that add up."""
        if self.restores:
            return None
        blocks = length if self._effects.by_row else min(length, _BLOCKS)
        codes, without = self._parts(length, blocks)
        gained = np.nan_to_num(self._gained(without, self._measure.before, without.counts))
        if np.count_nonzero(gained) < min(8, blocks):
            return None
        size = length / blocks
        influence: Array = (gained / np.sqrt(size))[codes]
        return influence

    def fit(self, number: float) -> float:
        """Return the nats for a number that is near to the one that is wanted."""
        if not self._measure.has_goal or self._measure.is_check:
            return 0.0
        gap = np.abs(self._measure.gap(np.array([self._measure.before, number])))
        nearness = gap[0] / (gap[1] + _NEAR * gap[0])
        return float(np.log(nearness)) if nearness > 1.0 else 0.0

    def total(self, gained: float, rows: Array, length: int, number: float) -> float:
        """Return the nats for a predicate: by what rows gain, and by where the number is then."""
        if self.restores:
            return _FIT + 3.0 * self.fit(number) if self._measure.has_goal else np.inf
        share = len(rows) / max(length, 1)
        # An average without many rows moves further than their effects add up to.
        return self.evidence(gained * (1.0 - share), rows, None, number, share) + self.fit(number)

    def evidence(
        self, gained: float, chosen: Array, rows: Array | None, number: float, share: float
    ) -> float:
        """Return the nats by which chance hardly has a gain of so many rows.

        Among many rows by Bennett's bound; among some by Chernoff's over all choices of as many,
        who have the elementary symmetric polynomials of the exponentials of gains as their sum;
        among few by how far apart they are.

        Parameters
        ----------
        rows
            The rows among which others are chosen; None: all.
        number
            The measure without the chosen rows.
        share
            The part of these rows that the chosen ones are.
        """
        if self._few is not None:
            return self._few.evidence(chosen, rows, number)
        if self._influence is None:
            return np.inf
        count = len(chosen)
        spread = self._spread(rows)
        variance = spread.variance * count * max(1.0 - share, 0.0)
        if gained <= 0 or variance <= 0 or spread.most <= 0:
            return 0.0
        if spread.choices is not None:
            at = min(count, spread.choices.shape[1] - 1)
            return float((spread.tilts * gained - spread.choices[:, at]).max(initial=0.0))
        ratio = gained * spread.most / variance
        return float(variance / spread.most**2 * ((1.0 + ratio) * np.log1p(ratio) - ratio))

    def _spread(self, rows: Array | None) -> _GainSpread:
        """Return how the gains of single rows spread, among all or some of them."""
        known = self._spreads.get(id(rows))
        if known is None or known[0] is not rows:
            assert self._influence is not None
            among = self._influence if rows is None else self._influence[rows]
            known = rows, _GainSpread.of(among if rows is None else among - among.mean())
            self._spreads[id(rows)] = known
        return known[1]

    def over(self, effects: SearchEffects) -> GainScores:
        """Return scores of deletions from all rows, whose sample these are the scores of."""
        every = copy(self)
        every._effects, every._total = effects, max(effects.total, 1)
        return every

    def of_rows(self, rows: Array, number: float) -> float:
        """Return the score of deleting rows, given the measure without them, clipped at its bound.

        Beyond the bound it is estimated from partial aggregates.
        """
        without = self._effects.singles(np.zeros(len(rows), dtype=np.int64), 1, rows)
        if not self._measure.reached(np.array([number]))[0]:
            without = without._replace(numbers=np.array([number]))
        return float(self.of(without).scores[0])

    def of(self, without: Without, before: float | None = None, taken: int = 0) -> ScoredDeletions:
        """Return scores; of deletions in addition to others, given the measure without these.

        Parameters
        ----------
        before, taken
            The measure without the rows that are deleted already, and their number.
        """
        base = self._measure.before if before is None else before
        counts = without.counts - taken
        share = np.clip(counts / self._total, 0.0, 1.0)
        gained = self._gained(without, base, counts)
        scores = gained * (1.0 - share) / np.sqrt(counts + 1.0)
        if self._measure.has_goal:
            least = _LEAST * abs(self._measure.gap(np.array([self._measure.before]))[0])
            scores = np.where(gained >= least, scores, -np.inf)
        usable = (counts > 0) & ~np.isnan(scores) & np.isfinite(without.numbers)
        if not self.restores:
            usable &= without.counts <= _MOST * self._total
        scores = np.where(usable, scores, -np.inf)
        return ScoredDeletions(*without, np.nan_to_num(gained), scores)

    def _gained(self, without: Without, base: float, counts: Array) -> Array:
        """Return by how much numbers are nearer to what is wanted than random ones are."""
        gap = self._measure.gap
        now = gap(np.array([base]))[0]
        if self.restores:
            left = gap(without.numbers)
            restored: Array = now - (np.abs(left) if self._measure.has_goal else left)
            return restored
        share = np.clip(counts / self._total, 0.0, 1.0)
        at_random = gap(base + self._slope * share)
        gained = np.minimum(now, at_random) - gap(without.numbers)
        clear: Array = np.where(np.abs(gained) > _ROUNDING * max(abs(now), abs(base)), gained, 0.0)
        return clear


class PredicateSearch:
    """A search in one relation.

    Parameters
    ----------
    conditions
        The number of conditions in a predicate at most.
    """

    def __init__(
        self,
        measure: Measure,
        columns: RelationColumns,
        effects: SearchEffects,
        conditions: int,
        progress: Callable[[str], None],
    ) -> None:
        self._measure = measure
        self._columns = columns
        self._effects = effects
        self._conditions = conditions
        self._progress = progress
        self._deleted: tuple[list[int], Array, Without] | None = None
        self.relation = columns.rows.name
        token = columns.rows.record.token
        self._has_key = len(token) == 1 and token[0] in columns.names
        self.scores = GainScores(measure, effects, len(columns.rows))

    def run(self) -> list[CandidatePredicate]:
        """Return candidates, best first; fewer than all if the budget is spent."""
        found = self._extended(None)
        level = self._refined(_extensible(found))
        found += level
        # Rows that are all alike have no third condition that more than fits by chance.
        most = min(self._conditions, 2) if self.scores.restores else self._conditions
        level = level[:4] if self.scores.restores else level
        for _ in range(1, most):
            more: list[CandidatePredicate] = []
            for parent in level:
                if spent():
                    break
                more += filter(self._is_tight, self._extended(parent))
            if not more:
                break
            level = self._refined(_extensible(more))
            found += [*more, *level]
        reaching = [c for c in found if self.reaches(c)]
        return [*_best(found, _POOL), *_best(reaching, _POOL // 4)]

    def _is_tight(self, candidate: CandidatePredicate) -> bool:
        """Return True if no condition leaves out rows that gain much."""
        source = self._columns.rows
        inside = [condition.mask(source) for condition in candidate.predicate.conditions]
        here = mask_of(candidate.rows, len(source))
        for dropped in range(len(inside)):
            others = [mask for place, mask in enumerate(inside) if place != dropped]
            rest = np.flatnonzero(np.logical_and.reduce(others) & ~here)
            gained = self.scores.of(self._without(rest)).gained[0] if len(rest) else 0.0
            if gained / max(len(rest), 1) > _LITTLE * candidate.gained / len(candidate.rows):
                return False
        return True

    def _extended(self, parent: CandidatePredicate | None) -> list[CandidatePredicate]:
        """Return the best predicates with one more condition than a parent has."""
        found: list[CandidatePredicate] = []
        used = {c.column for c in parent.predicate.conditions} if parent else set[str]()
        of_kinds: list[tuple[Callable[..., Iterator[CandidatePredicate]], list[Any]]] = [
            (
                self._equalities,
                [each for each in self._columns.equalities if each.name not in used],
            ),
            (self._ranges, [each for each in self._columns.ranges if each.name not in used]),
        ]
        for extend, columns in of_kinds:
            at_once = 1 if self._effects.by_column else max(len(columns), 1)
            for start in range(0, len(columns), at_once):
                if not (found and spent()):
                    found += extend(columns[start : start + at_once], parent)
        if parent is None:
            found += self._single_rows() if self.scores.are_few else ()
            number = self._columns.count
            self._progress(f"{self.relation}: {number} columns, {len(found)} conditions")
        return found

    def _scored(
        self, columns: Sequence[Codes], rows: Array | None, *, runs: bool = False
    ) -> Iterator[ScoredDeletions]:
        """Yield the deletions of the rows of each code, or run, of some columns, with scores."""
        if columns:
            every = self.scores.of(self._effects.of_columns(columns, rows, runs=runs))
        end = 0
        for _, count in columns:
            start, end = end, end + (len(pairs_of(count)[0]) if runs else count)
            yield ScoredDeletions(*(each[start:end] for each in every))

    def _equalities(
        self, columns: list[ValueColumn], parent: CandidatePredicate | None
    ) -> Iterator[CandidatePredicate]:
        """Yield conditions that columns have one of their values, a list of them, or another."""
        rows = None if parent is None else parent.rows
        codes = [each.codes if rows is None else each.codes[rows] for each in columns]
        asked = [(each, values.count) for each, values in zip(codes, columns, strict=True)]
        every = list(zip(columns, codes, self._scored(asked, rows), strict=True))
        for values, code_of, single in every:
            length = np.log(values.count + 1.0)
            for code in _highest(single.scores, above=self._least(parent)):
                chosen, condition = _chosen(code_of == code, rows), partial(values.condition, code)
                alone = single.at(code)
                yield from self._candidate(parent, values, condition, chosen, alone, length)
        yield from self._lists(every, parent, rows)
        if parent is not None:
            yield from self._others(every, parent)
        elif self._measure.has_goal and not (self._effects.by_row or self.scores.restores):
            for values, _, single in every:
                yield from self._hidden(values, single)

    def _least(self, parent: CandidatePredicate | None) -> float:
        """Return the score above which a further condition may pay."""
        return 0.0 if parent is None else parent.score * self.scores.least_ratio

    def _single_rows(self) -> Iterator[CandidatePredicate]:
        """Yield the row that gains most, named by its key: no other condition is as short."""
        if not self._has_key:
            return
        every = np.arange(len(self._columns.rows))
        (scored,) = self._scored([(every, len(every))], None)
        for row in _highest(scored.scores, 1):
            (condition,) = row_predicate(self._columns.rows, row).conditions
            yield from self._candidate(
                None, condition, partial(copy, condition), every[[row]], scored.at(row), 0.0
            )

    def _lists(
        self,
        columns: list[tuple[ValueColumn, Array, ScoredDeletions]],
        parent: CandidatePredicate | None,
        rows: Array | None,
    ) -> Iterator[CandidatePredicate]:
        """Yield of columns the best list of values that each gain, in the order of gain per row."""
        listed: list[tuple[ValueColumn, Array, list[int]]] = []
        for values, codes, single in columns:
            best = list(_highest(single.scores, _LISTED))
            if len(best) > 1 and _SHARED * values.count <= len(values.codes):
                per_row = single.gained[best] / (single.counts[best] + 1.0)
                order = [best[place] for place in np.argsort(-per_row, kind="stable").tolist()]
                listed.append((values, codes, order))
        asked = [(index_of(o, v.count + 1)[codes], len(o) + 1) for v, codes, o in listed]
        every = self._scored(asked, rows, runs=True)
        for (values, codes, order), scored in zip(listed, every, strict=True):
            starts = (scored.first == 0) & (scored.last > 0)
            run = int(np.where(starts, scored.scores, -np.inf).argmax())
            last = int(scored.last[run])
            if scored.scores[run] > self._least(parent) and starts[run] and last < len(order):
                some = order[: last + 1]
                chosen, condition = _chosen(np.isin(codes, some), rows), partial(values.among, some)
                length = len(some) * np.log(values.count + 1.0)
                best_run = scored.at(run)
                yield from self._candidate(parent, values, condition, chosen, best_run, length)

    def _hidden(self, values: ValueColumn, single: ScoredDeletions) -> Iterator[CandidatePredicate]:
        """Yield the values that only together bring the measure where it is wanted.

        Under a maximum each hides the next one: the value that gains most is taken out, then the
        one that gains most without it.
        """
        taken = [int(single.gained.argmax())]
        if values.count > BINS * 2 or values.among(taken) is None:
            return
        every = np.arange(len(values.codes))
        while len(taken) < _TOGETHER and not spent():
            gone = np.flatnonzero(np.isin(values.codes, taken))
            rows = np.concatenate([every, np.tile(gone, values.count)])
            owners = np.repeat(np.arange(values.count), len(gone))
            left = np.where(np.isin(values.codes, taken), -1, values.codes)
            (scored,) = self._scored([(np.concatenate([left, owners]), values.count)], rows)
            scored.gained[taken] = -np.inf
            taken.append(int(scored.gained.argmax()))
            if self._measure.reached(scored.numbers[taken[-1:]])[0]:
                if scored.scores[taken[-1]] > 0:
                    condition = partial(values.among, taken)
                    chosen = np.flatnonzero(np.isin(values.codes, taken))
                    length = len(taken) * np.log(values.count + 1.0)
                    last = scored.at(taken[-1])
                    yield from self._candidate(None, values, condition, chosen, last, length)
                return

    def _others(
        self,
        columns: list[tuple[ValueColumn, Array, ScoredDeletions]],
        parent: CandidatePredicate,
    ) -> Iterator[CandidatePredicate]:
        """Yield what a predicate narrows to without the value of a column that gains least."""
        left: list[tuple[ValueColumn, int, Array]] = []
        for values, codes, single in columns:
            there = np.flatnonzero(single.counts > 0)
            there = there[there != values.missing]
            if len(there) > 1:
                per_row = single.gained[there] / (single.counts[there] + 1.0)
                code = int(there[int(per_row.argmin())])
                kept = (codes >= 0) & (codes != code) & (codes != values.missing)
                left.append((values, code, kept))
        sets = [(kept.astype(np.intp) - 1, 1) for _, _, kept in left]
        for (values, code, kept), scored in zip(left, self._scored(sets, parent.rows), strict=True):
            if scored.scores[0] > self._least(parent):
                condition, chosen = partial(values.other_than, code), parent.rows[kept]
                length = np.log(values.count + 1.0)
                yield from self._candidate(parent, values, condition, chosen, scored, length)

    def _ranges(
        self, columns: list[NumberColumn], parent: CandidatePredicate | None
    ) -> Iterator[CandidatePredicate]:
        rows = None if parent is None else parent.rows
        binned = [each.whole if rows is None else each.bins(rows) for each in columns]
        binned = [bins for bins in binned if bins.count > 1]
        asked = [(bins.codes, bins.count) for bins in binned]
        for bins, scored in zip(binned, self._scored(asked, rows, runs=True), strict=True):
            for run in _highest(scored.scores, 2, above=self._least(parent)):
                yield from self._range(bins, parent, rows, scored.at(run))

    def _range(
        self,
        bins: ColumnBins,
        parent: CandidatePredicate | None,
        rows: Array | None,
        scored: ScoredDeletions,
    ) -> Iterator[CandidatePredicate]:
        first, last = int(scored.first[0]), int(scored.last[0])
        chosen = _chosen((bins.codes >= first) & (bins.codes <= last), rows)
        if len(chosen):
            length = 2 * np.log(bins.count + 1.0)
            condition = partial(bins.numbers.condition, chosen)
            found = self._candidate(parent, bins.numbers, condition, chosen, scored, length)
            yield from (replace(each, run=(bins, first, last)) for each in found)

    def _refined(self, level: list[CandidatePredicate]) -> list[CandidatePredicate]:
        """Return candidates whose last ranges end between finer bins where that scores higher."""
        return [max(self._finer(candidate), key=lambda each: each.score) for candidate in level]

    def _finer(self, candidate: CandidatePredicate) -> Iterator[CandidatePredicate]:
        """Yield a candidate, and the best one with a range between finer bins near the ends."""
        yield candidate
        if candidate.run is None or candidate.run[0].count < 20 or spent():
            return
        bins, first, last = candidate.run
        low = bins.cuts[first]
        high = bins.cuts[last + 1] if last + 1 < bins.count else bins.cuts[last]
        parent = candidate.parent
        rows = None if parent is None else parent.rows
        fine = bins.numbers.bins(rows, (float(low), float(high)))
        if fine.count < 2:
            return
        (scored,) = self._scored([(fine.codes, fine.count)], rows, runs=True)
        yield from self._range(fine, parent, rows, scored.at(int(scored.scores.argmax())))

    def marginal(self, candidate: CandidatePredicate, chosen: list[CandidatePredicate]) -> float:
        """Return the score of a predicate in addition to others of its relation."""
        others = {id(c): c.rows for c in chosen if c.predicate.relation == self.relation}
        if not others:
            return candidate.score
        if self._deleted is None or self._deleted[0] != [*others]:
            rows = mask_of(np.concatenate([*others.values()]), len(self._columns.rows))
            self._deleted = [*others], rows, self._without(np.flatnonzero(rows))
        _, rows, first = self._deleted
        gone = rows.copy()
        gone[candidate.rows] = True
        both = self._without(np.flatnonzero(gone))
        if np.isnan(first.numbers[0]):
            return -np.inf
        added = self.scores.of(both, float(first.numbers[0]), int(first.counts[0]))
        return min(float(added.scores[0]), candidate.score)

    def is_on_key(self, candidate: CandidatePredicate) -> bool:
        """Return True if a condition is on the key of the relation's rows."""
        token = self._columns.rows.record.token
        return any(each.column in token for each in candidate.predicate.conditions)

    def reaches(self, candidate: CandidatePredicate) -> bool:
        """Return True if the measure is as wanted without the rows of a predicate."""
        return bool(self._measure.reached(np.array([candidate.number]))[0])

    def _without(self, rows: Array) -> Without:
        return self._effects.singles(np.zeros(len(rows), dtype=np.int64), 1, rows)

    def _candidate(
        self,
        parent: CandidatePredicate | None,
        column: ValueColumn | NumberColumn | ColumnCondition,
        condition_of: Callable[[], ColumnCondition | None],
        rows: Array,
        scored: ScoredDeletions,
        length: float,
    ) -> Iterator[CandidatePredicate]:
        """Yield a predicate with a further condition, if that has words and is worth its length.

        It is if it gains more than as many random rows of the parent.
        """
        key = column.term.name in self._columns.rows.record.token
        gained, number = float(scored.gained[0]), float(scored.numbers[0])
        words = np.log(self._columns.count + 1.0)
        complexity = (0.0 if parent is None else parent.complexity) + length + words + key * _KEY
        if len(rows) == 1 and self.scores.are_few:
            # What is true of one row alone is a name of it, and its key is the plainest one.
            enough = self._measure.reached(scored.numbers)[0]
            name = np.log(len(self._columns.rows) + 1.0) + (not enough) * _KEY
            complexity = name if key else max(complexity, name + words * self._has_key)
        if parent is not None:
            share = len(rows) / max(len(parent.rows), 1)
            more = gained - share * parent.gained
            evidence = self.scores.evidence(more, rows, parent.rows, number, share)
            if evidence < complexity - parent.complexity + _MARGIN:
                return
        condition = condition_of()
        if condition is not None:
            yield CandidatePredicate(
                Predicate(
                    self.relation, (*(parent.predicate.conditions if parent else ()), condition)
                ),
                rows,
                number,
                int(scored.counts[0]),
                float(scored.scores[0]),
                complexity,
                self.scores.total(gained, rows, len(self._columns.rows), number),
                gained,
                parent,
            )


def _chosen(mask: Array, rows: Array | None) -> Array:
    places = np.flatnonzero(mask)
    return places if rows is None else rows[places]


def _highest(scores: Array, most: int = _PER_COLUMN, above: float = 0.0) -> Iterator[int]:
    """Yield the places of the highest scores above a bound."""
    few = min(most, len(scores))
    places = np.argpartition(-scores, few - 1)[:few]
    for place in places[np.argsort(-scores[places], kind="stable")].tolist():
        if scores[place] > above:
            yield place


def _best(candidates: list[CandidatePredicate], most: int) -> list[CandidatePredicate]:
    """Return the best candidates; only the simplest of several with the same rows."""
    ranked = sorted(candidates, key=lambda c: (-c.rank, -c.score, c.complexity))
    seen: set[tuple[int, int]] = set()
    best = []
    for candidate in sorted(ranked[: 4 * most], key=lambda c: c.complexity):
        signature = len(candidate.rows), hash(candidate.rows.tobytes())
        if signature not in seen:
            seen.add(signature)
            best.append(candidate)
    return sorted(best, key=lambda c: (-c.rank, -c.score, c.complexity))[:most]


def _extensible(candidates: list[CandidatePredicate]) -> list[CandidatePredicate]:
    """Return the predicates to be extended: the best, and the least likely by chance."""
    plainest = sorted(candidates, key=lambda c: (c.complexity - c.evidence, -c.score))
    chosen: list[CandidatePredicate] = []
    columns: Counter[tuple[str, ...]] = Counter()
    for candidate in (*_best(candidates, _BEAM // 2), *plainest):
        if len(chosen) == _BEAM:
            break
        names = tuple(sorted(each.column for each in candidate.predicate.conditions))
        if columns[names] < 2 and not any(candidate is each for each in chosen):
            columns[names] += 1
            chosen.append(candidate)
    return chosen


def choose(
    candidates: list[CandidatePredicate],
    searches: Mapping[str, PredicateSearch],
    limit: int,
    *,
    strict: bool = False,
) -> list[CandidatePredicate]:
    """Return those to be shown: each the best by what it gains beyond the ones before it.

    Where nothing gains any more, alternatives follow that have most rows of their own. The best
    that alone reaches what is wanted is among them.

    Parameters
    ----------
    strict
        True: none is shown for which the evidence is not more than its length.
    """
    usable = [c for c in candidates if c.worth > 0 or not strict]
    named = [len(c.rows) > 1 and searches[c.predicate.relation].is_on_key(c) for c in usable]
    others = max((c.rank for c, keyed in zip(usable, named, strict=True) if not keyed), default=0.0)
    # A range of keys has no meaning: it is left to where nothing else explains as much.
    usable = [c for c, keyed in zip(usable, named, strict=True) if not keyed or c.rank > 2 * others]
    reaching = _best([c for c in usable if searches[c.predicate.relation].reaches(c)], _POOL)
    left = _best(usable, _POOL)
    chosen: list[CandidatePredicate] = []
    while left and len(chosen) < limit:
        scored = [
            (searches[c.predicate.relation].marginal(c, chosen) * (c.worth if strict else 1.0), c)
            for c in left
        ]
        best_score, best = max(scored, key=lambda pair: pair[0])
        if not best_score > 0 or (chosen and best_score < chosen[0].score * _SMALLEST):
            break
        best = _simplest(best, best_score, scored)
        chosen.append(best)
        left = [c for c in left if c is not best and not _is_same(c, best)]
        if spent():
            break
    for candidate in left:
        if len(chosen) >= limit:
            break
        worth = not chosen or candidate.rank >= chosen[0].rank * _ALTERNATIVE
        if worth and all(_shared(candidate, other) < 0.5 for other in chosen):
            chosen.append(candidate)
    if reaching and not any(c is other for c in chosen for other in reaching):
        chosen = [*chosen[: limit - 1], reaching[0]]
    # Parts of a predicate that alone reaches what is wanted say nothing more.
    whole = [c for c in chosen if any(c is other for other in reaching)][:1]
    return [c for c in chosen if all(c is w or _shared(c, w) < 0.5 for w in whole)]


def _simplest(
    best: CandidatePredicate, score: float, scored: list[tuple[float, CandidatePredicate]]
) -> CandidatePredicate:
    """Return the simplest candidate with nearly the same rows and score."""
    alike = [
        (c.complexity, -each, number, c)
        for number, (each, c) in enumerate(scored)
        if each * _BETTER >= score and _is_same(c, best)
    ]
    return min(alike)[3] if alike else best


def _is_same(one: CandidatePredicate, other: CandidatePredicate) -> bool:
    """Return True if nearly all rows of two predicates are common."""
    small, large = sorted((len(one.rows), len(other.rows)))
    if small < _ALIKE * large:
        return False
    common = _common(one, other)
    return common >= _ALIKE * (small + large - common)


def _common(one: CandidatePredicate, other: CandidatePredicate) -> int:
    if one.predicate.relation != other.predicate.relation:
        return 0
    return len(np.intersect1d(one.rows, other.rows, assume_unique=True))


def _shared(one: CandidatePredicate, other: CandidatePredicate) -> float:
    """Return the number of common rows as a share of the rows of the smaller of two predicates."""
    return _common(one, other) / max(min(len(one.rows), len(other.rows)), 1)
