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

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from lipstick.questions.why.columns import (
    ColumnBins,
    ColumnCondition,
    Predicate,
    RelationColumns,
    ValueColumn,
)
from lipstick.questions.why.deletions import SearchEffects, Without
from lipstick.questions.why.measure import Measure
from semiring.base import Array
from semiring.support.budget import spent

_PER_COLUMN = 4
"""Conditions of a column that are looked at further."""

_BEAM = 12
"""Predicates that are extended by a further condition."""

_BETTER = 1.15
"""A conjunction scores so much higher than what it extends, or it is left out."""

_MOST = 0.6
"""The share of the rows that an explanation may leave out."""

_LEAST = 0.01
"""The share of a gap that an explanation closes at least: less is chance among so many rows."""

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
        The number of conditions; those on keys, which say little, count for more.
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
    parent: CandidatePredicate | None = field(default=None, repr=False)
    run: tuple[ColumnBins, int, int] | None = field(default=None, repr=False)


class GainScores:
    """The scores of deletions from one relation, against random deletions of as many rows."""

    def __init__(self, measure: Measure, effects: SearchEffects, length: int) -> None:
        self._measure = measure
        self._effects = effects
        self._total = max(effects.total, 1)
        codes = np.random.default_rng(0).integers(0, 2, length) - 1
        without = effects.singles(codes, 1)
        share = without.counts[0] / self._total
        number = without.numbers[0]
        is_known = share > 0 and not np.isnan(number)
        self._slope = (number - measure.before) / share if is_known else 0.0

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
            without = replace(without, numbers=np.array([number]))
        return float(self.of(without)[0])

    def of(self, without: Without, before: float | None = None, taken: int = 0) -> Array:
        """Return scores; of deletions in addition to others, given the measure without these.

        Parameters
        ----------
        before, taken
            The measure without the rows that are deleted already, and their number.
        """
        base = self._measure.before if before is None else before
        gap = self._measure.gap
        total = self._total
        counts = without.counts - taken
        share = np.clip(counts / total, 0.0, 1.0)
        at_random = gap(base + self._slope * share)
        now = gap(np.array([base]))[0]
        gained = np.minimum(now, at_random) - gap(without.numbers)
        scores = gained * (1.0 - share) / np.sqrt(counts + 1.0)
        if self._measure.has_goal:
            least = _LEAST * gap(np.array([self._measure.before]))[0]
            scores = np.where(gained >= least, scores, -np.inf)
        usable = (counts > 0) & (without.counts <= _MOST * total) & ~np.isnan(scores)
        return np.where(usable, scores, -np.inf)


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
        self._deleted: tuple[tuple[int, ...], Array, Without] | None = None
        self.relation = columns.rows.name
        self.scores = GainScores(measure, effects, len(columns.rows))

    def run(self) -> list[CandidatePredicate]:
        """Return candidates, best first; fewer than all if the budget is spent."""
        found = self._extended(None)
        level = self._refined(_best(found, _BEAM))
        found += level
        for _ in range(1, self._conditions):
            more: list[CandidatePredicate] = []
            for parent in level:
                if spent():
                    break
                children = self._extended(parent)
                more += [c for c in children if c.score > parent.score * _BETTER]
            if not more:
                break
            level = self._refined(_best(more, _BEAM))
            found += [*more, *level]
        return _best(found, _POOL)

    def _extended(self, parent: CandidatePredicate | None) -> list[CandidatePredicate]:
        """Return the best predicates with one more condition than a parent has."""
        found: list[CandidatePredicate] = []
        used = {c.column for c in parent.predicate.conditions} if parent else set[str]()
        rows = None if parent is None else parent.rows
        for values in self._columns.equalities:
            if values.name not in used and not (found and spent()):
                found += self._equalities(values, parent, rows)
        for numbers in self._columns.ranges:
            if numbers.name in used or (found and spent()):
                continue
            bins = numbers.whole if rows is None else numbers.bins(rows)
            found += self._ranges(bins, parent, rows)
        if parent is None:
            columns = len(self._columns.equalities) + len(self._columns.ranges)
            self._progress(f"{self.relation}: {columns} columns, {len(found)} conditions")
        return found

    def _equalities(
        self, values: ValueColumn, parent: CandidatePredicate | None, rows: Array | None
    ) -> Iterator[CandidatePredicate]:
        codes = values.codes if rows is None else values.codes[rows]
        without = self._effects.singles(codes, values.count, rows)
        scores = self.scores.of(without)
        for code in _highest(scores):
            places = np.flatnonzero(codes == code)
            chosen = places if rows is None else rows[places]
            yield self._candidate(parent, values.condition(code), chosen, without, code, scores)

    def _ranges(
        self, bins: ColumnBins, parent: CandidatePredicate | None, rows: Array | None
    ) -> Iterator[CandidatePredicate]:
        if bins.count < 2:
            return
        without = self._effects.runs(bins.codes, bins.count, rows)
        scores = self.scores.of(without)
        for run in islice(_highest(scores), 2):
            first, last = int(without.first[run]), int(without.last[run])
            yield from self._range(bins, first, last, parent, rows, without, run, scores)

    def _range(
        self,
        bins: ColumnBins,
        first: int,
        last: int,
        parent: CandidatePredicate | None,
        rows: Array | None,
        without: Without,
        run: int,
        scores: Array,
    ) -> Iterator[CandidatePredicate]:
        places = np.flatnonzero((bins.codes >= first) & (bins.codes <= last))
        chosen = places if rows is None else rows[places]
        if len(chosen):
            condition = bins.numbers.condition(chosen)
            candidate = self._candidate(parent, condition, chosen, without, run, scores)
            yield replace(candidate, run=(bins, first, last))

    def _refined(self, level: list[CandidatePredicate]) -> list[CandidatePredicate]:
        """Return candidates whose last ranges end between finer bins where that scores higher."""
        return [max(self._finer(candidate), key=_score) for candidate in level]

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
        without = self._effects.runs(fine.codes, fine.count, rows)
        scores = self.scores.of(without)
        run = int(scores.argmax())
        first, last = int(without.first[run]), int(without.last[run])
        yield from self._range(fine, first, last, parent, rows, without, run, scores)

    def marginal(self, candidate: CandidatePredicate, chosen: list[CandidatePredicate]) -> float:
        """Return the score of a predicate in addition to others of its relation."""
        others = tuple(id(c) for c in chosen if c.predicate.relation == self.relation)
        if not others:
            return candidate.score
        if self._deleted is None or self._deleted[0] != others:
            rows = np.zeros(len(self._columns.rows), dtype=np.bool_)
            for each in chosen:
                if each.predicate.relation == self.relation:
                    rows[each.rows] = True
            self._deleted = others, rows, self._without(np.flatnonzero(rows))
        _, rows, first = self._deleted
        gone = rows.copy()
        gone[candidate.rows] = True
        both = self._without(np.flatnonzero(gone))
        if np.isnan(first.numbers[0]):
            return -np.inf
        added = float(self.scores.of(both, float(first.numbers[0]), int(first.counts[0]))[0])
        return min(added, candidate.score)

    def reaches(self, candidate: CandidatePredicate) -> bool:
        """Return True if the measure is as wanted without the rows of a predicate."""
        return bool(self._measure.reached(np.array([candidate.number]))[0])

    def _without(self, rows: Array) -> Without:
        return self._effects.singles(np.zeros(len(rows), dtype=np.int64), 1, rows)

    def _candidate(
        self,
        parent: CandidatePredicate | None,
        condition: ColumnCondition,
        rows: Array,
        without: Without,
        place: int,
        scores: Array,
    ) -> CandidatePredicate:
        before = () if parent is None else parent.predicate.conditions
        conditions = (*before, condition)
        keys = sum(each.column in self._columns.rows.record.token for each in conditions)
        return CandidatePredicate(
            Predicate(self.relation, conditions),
            rows,
            float(without.numbers[place]),
            int(without.counts[place]),
            float(scores[place]),
            len(conditions) + keys / 2,
            parent,
        )


def _score(candidate: CandidatePredicate) -> float:
    return candidate.score


def _highest(scores: Array) -> Iterator[int]:
    """Yield the places of the highest scores that are gains."""
    few = min(_PER_COLUMN, len(scores))
    places = np.argpartition(-scores, few - 1)[:few]
    for place in places[np.argsort(-scores[places], kind="stable")].tolist():
        if scores[place] > 0:
            yield place


def _best(candidates: list[CandidatePredicate], most: int) -> list[CandidatePredicate]:
    """Return the best candidates; only the simplest of several with the same rows."""
    ranked = sorted(candidates, key=lambda c: (-c.score, c.complexity))
    seen: set[tuple[int, int]] = set()
    best = []
    for candidate in sorted(ranked[: 4 * most], key=lambda c: c.complexity):
        signature = len(candidate.rows), hash(candidate.rows.tobytes())
        if signature not in seen:
            seen.add(signature)
            best.append(candidate)
    return sorted(best, key=lambda c: (-c.score, c.complexity))[:most]


def choose(
    candidates: list[CandidatePredicate], searches: Mapping[str, PredicateSearch], limit: int
) -> list[CandidatePredicate]:
    """Return those to be shown: each the best by what it gains beyond the ones before it.

    Where nothing gains any more, alternatives follow that have most rows of their own. The best
    that alone reaches what is wanted is among them.
    """
    left = _best(candidates, _POOL)
    reaching = [c for c in left if searches[c.predicate.relation].reaches(c)]
    chosen: list[CandidatePredicate] = []
    while left and len(chosen) < limit:
        scored = [(searches[c.predicate.relation].marginal(c, chosen), c) for c in left]
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
        worth = not chosen or candidate.score >= chosen[0].score * _ALTERNATIVE
        if worth and all(_overlap(candidate, other) < 0.5 for other in chosen):
            chosen.append(candidate)
    if reaching and not any(c is other for c in chosen for other in reaching):
        others = [c for c in chosen if _overlap(c, reaching[0]) < 0.5]
        chosen = [*others[: limit - 1], reaching[0]]
    return chosen


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
    return _overlap(one, other) >= _ALIKE


def _overlap(one: CandidatePredicate, other: CandidatePredicate) -> float:
    """Return the number of common rows as a share of all rows of two predicates."""
    if one.predicate.relation != other.predicate.relation:
        return 0.0
    small, large = sorted((one.rows, other.rows), key=len)
    if not len(large) or len(small) < 0.4 * len(large):
        return 0.0
    common = len(np.intersect1d(small, large, assume_unique=True))
    return common / (len(small) + len(large) - common)
