"""Partial aggregates by group and code, and the aggregates without the members of codes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from semiring.arrays.segments import mask_of
from semiring.base import Array

_EXTREMES = 10_000
"""Least or greatest members of a group that a sample has."""


@dataclass(frozen=True)
class GroupCells:
    """Members of codes, by the cell of group and code that they are in.

    Attributes
    ----------
    items
        The coded members.
    cells
        The cell of each: the group's number times `count`, plus the code.
    owner
        The group of all members.
    """

    items: Array
    cells: Array
    owner: Array
    groups: int
    count: int

    @cached_property
    def outside(self) -> Array:
        """Boolean array over all members: those without a code."""
        return ~mask_of(self.items, len(self.owner))


@dataclass(frozen=True)
class MemberSample:
    """Members that stand for others.

    Attributes
    ----------
    items
        Their places among all members.
    weights
        The number of members that each stands for; None: each for itself.
    owner, groups
        The group of all members, and the number of groups.
    """

    items: Array
    weights: Array | None
    owner: Array
    groups: int

    @cached_property
    def others(self) -> Array:
        """The places of the members that are not in it."""
        return np.delete(np.arange(len(self.owner)), self.items)


class PartialAggregate(ABC):
    """An aggregate of members in groups."""

    def of_groups(self, owner: Array, groups: int) -> PartialAggregate:
        """Return the aggregate with the groups' own values, given the group of all members."""
        return self

    def influence(self, owner: Array) -> Array | None:
        """Return how far each member moves its group, as a share; None: no sample will do."""
        return None

    @abstractmethod
    def sampled(self, sample: MemberSample) -> PartialAggregate:
        """Return the aggregate of the members of a sample."""

    @abstractmethod
    def singles(self, cells: GroupCells) -> Array:
        """Return its values per group and code, without the members of the code."""

    @abstractmethod
    def runs(self, cells: GroupCells, first: Array, last: Array) -> Array:
        """Return its values per group and run of codes, without the members of the run."""


@dataclass(frozen=True)
class PartialSum(PartialAggregate):
    """SUM, COUNT or AVG.

    Attributes
    ----------
    weights
        The values, 0 for NULL.
    valid
        1 for values that are not NULL, 0 for others; of a sample, times the number of members
        that each stands for, as `weights` are.
    whole
        The sums of `parts` per group; None: computed from the members here.
    """

    function: str
    weights: Array
    valid: Array
    whole: Array | None = None

    def totals(self, places: Array, count: int) -> Array:
        """Return sums by place: of the values, but for COUNT, and of their numbers."""
        parts = [self.valid] if self.function == "COUNT" else [self.weights, self.valid]
        return np.array([np.bincount(places, part, minlength=count) for part in parts])

    def of_groups(self, owner: Array, groups: int) -> PartialSum:
        return replace(self, whole=self.totals(owner, groups))

    def sampled(self, sample: MemberSample) -> PartialSum:
        few, weights = self.subset(sample.items), sample.weights
        if weights is None:
            return replace(few, whole=self.whole)
        return PartialSum(self.function, few.weights * weights, few.valid * weights, self.whole)

    def subset(self, items: Array) -> PartialSum:
        """Return the aggregate of some members."""
        return PartialSum(self.function, self.weights[items], self.valid[items])

    def value(self, sums: Array) -> Array:
        """Return the values, given `totals` of the members that are left; NULL is NaN."""
        counts: Array = sums[-1]
        if self.function == "COUNT":
            return counts
        with np.errstate(divide="ignore", invalid="ignore"):
            values = sums[0] / counts if self.function == "AVG" else sums[0]
        return np.where(counts > 0.5, values, np.nan)

    def influence(self, owner: Array) -> Array | None:
        assert self.whole is not None
        if self.function == "COUNT":
            return self.valid / max(float(self.valid.sum()), 1.0)
        moved = self.weights
        if self.function == "AVG":
            means = self.whole[0] / np.maximum(self.whole[1], 1.0)
            moved = np.where(self.valid > 0, self.weights - means[owner], 0.0)
        moved = np.abs(moved)
        total = float(moved.sum())
        return moved / total if 0 < total < np.inf else None

    def without(self, lost: Array) -> Array:
        """Return the values per group, given the lost `totals` by sum and group."""
        assert self.whole is not None
        return self.value(self.whole[:, :, None] - lost.reshape(*self.whole.shape, -1))

    def _lost(self, cells: GroupCells) -> Array:
        lost = self.subset(cells.items).totals(cells.cells, cells.groups * cells.count)
        return lost.reshape(-1, cells.groups, cells.count)

    def singles(self, cells: GroupCells) -> Array:
        return self.without(self._lost(cells))

    def runs(self, cells: GroupCells, first: Array, last: Array) -> Array:
        ends = np.cumsum(np.pad(self._lost(cells), ((0, 0), (0, 0), (1, 0))), axis=2)
        return self.without(ends[:, :, last + 1] - ends[:, :, first])


@dataclass(frozen=True)
class PartialExtreme(PartialAggregate):
    """MIN or MAX of numbers; NaN is NULL."""

    numbers: Array
    least: bool
    rest: Array | None = None

    def _ascending(self) -> Array:
        """Return the numbers, of MAX negated; NULL is infinite."""
        numbers = self.numbers if self.least else -self.numbers
        return np.where(np.isnan(numbers), np.inf, numbers)

    def influence(self, owner: Array) -> Array | None:
        numbers = self._ascending()
        few = min(_EXTREMES, len(numbers) - 1)
        share = np.zeros(len(numbers))
        for group in range(int(owner.max(initial=-1)) + 1):
            mine = np.flatnonzero(owner == group)
            order = np.argpartition(numbers[mine], min(few, len(mine) - 1))[:few]
            share[mine[order]] = 1.0  # All of them are taken: a maximum has no average.
        return share

    def sampled(self, sample: MemberSample) -> PartialExtreme:
        numbers = self._ascending()
        others = np.full(sample.groups, np.inf)
        np.minimum.at(others, sample.owner[sample.others], numbers[sample.others])
        return PartialExtreme(self.numbers[sample.items], self.least, others)

    def _parts(self, cells: GroupCells) -> tuple[Array, Array]:
        """Return the smallest numbers, of MAX negated, per cell and of members without code."""
        numbers = self._ascending()
        by_cell = np.full(cells.groups * cells.count, np.inf)
        np.minimum.at(by_cell, cells.cells, numbers[cells.items])
        rest = np.full(cells.groups, np.inf)
        np.minimum.at(rest, cells.owner[cells.outside], numbers[cells.outside])
        if self.rest is not None:
            rest = np.minimum(rest, self.rest)
        return by_cell.reshape(cells.groups, cells.count), rest[:, None]

    def _value(self, numbers: Array) -> Array:
        numbers = np.where(np.isinf(numbers), np.nan, numbers)
        return numbers if self.least else -numbers

    def singles(self, cells: GroupCells) -> Array:
        every = np.arange(cells.count)
        return self.runs(cells, every, every)

    def runs(self, cells: GroupCells, first: Array, last: Array) -> Array:
        by_cell, rest = self._parts(cells)
        pad = np.full((cells.groups, 1), np.inf)
        before = np.minimum.accumulate(np.hstack([pad, by_cell]), axis=1)
        after = np.minimum.accumulate(np.hstack([by_cell, pad])[:, ::-1], axis=1)[:, ::-1]
        left = np.minimum(before[:, first], after[:, last + 1])
        return self._value(np.minimum(left, rest))


@dataclass(frozen=True)
class DistinctCount(PartialAggregate):
    """COUNT(DISTINCT): members have the number of their value, -1 for NULL."""

    values: Array

    def sampled(self, sample: MemberSample) -> DistinctCount:
        assert sample.weights is None
        return DistinctCount(self.values[sample.items])

    def singles(self, cells: GroupCells) -> Array:
        every = np.arange(cells.count)
        least, most, total = self._spans(cells)
        counts = np.zeros((cells.groups, cells.count))
        for group in range(cells.groups):
            lost = least[group] == most[group]
            counts[group] = np.bincount(least[group][lost], minlength=cells.count)[every]
        return total[:, None] - counts

    def runs(self, cells: GroupCells, first: Array, last: Array) -> Array:
        least, most, total = self._spans(cells)
        counts = np.zeros((cells.groups, len(first)))
        for group in range(cells.groups):
            lost = most[group] < cells.count
            keys = least[group][lost] * cells.count + most[group][lost]
            table = np.bincount(keys, minlength=cells.count**2).reshape(cells.count, cells.count)
            # ValueColumn whose codes all lie within a run.
            table = np.cumsum(np.cumsum(table[::-1], axis=0)[::-1], axis=1)
            counts[group] = table[first, last]
        return total[:, None] - counts

    def _spans(self, cells: GroupCells) -> tuple[list[Array], list[Array], Array]:
        """Return the least and greatest code of each value of each group; without codes none."""
        size = int(self.values.max(initial=-1)) + 1
        least, most, totals = [], [], []
        for group in range(cells.groups):
            mine = (cells.owner == group) & (self.values >= 0)
            there = mask_of(self.values[mine], size)
            low = np.full(size, cells.count, dtype=np.int64)
            high = np.full(size, -1, dtype=np.int64)
            chosen = mine[cells.items]
            values = self.values[cells.items[chosen]]
            codes = cells.cells[chosen] % cells.count
            np.minimum.at(low, values, codes)
            np.maximum.at(high, values, codes)
            high[self.values[mine & cells.outside]] = cells.count
            touched = there & (high >= 0) & (low < cells.count)
            least.append(low[touched])
            most.append(high[touched])
            totals.append(int(there.sum()))
        return least, most, np.array(totals, dtype=np.float64)


@dataclass(frozen=True)
class PartialPercentile(PartialAggregate):
    """A percentile of numbers, from their ranks in each group; NaN is NULL.

    Attributes
    ----------
    share
        From 0 to 1, as the numbers are ordered.
    descending
        The greatest number comes first.
    """

    numbers: Array
    share: float
    descending: bool = False

    def sampled(self, sample: MemberSample) -> PartialPercentile:
        assert sample.weights is None
        return replace(self, numbers=self.numbers[sample.items])

    def _codes(self, cells: GroupCells) -> Iterator[tuple[Array, Array]]:
        """Yield the sorted numbers of each group, and their codes; -1: they have none."""
        codes = np.full(len(self.numbers), -1, dtype=np.int64)
        codes[cells.items] = cells.cells % cells.count
        order = self._order
        owner = cells.owner[order]
        for group in range(cells.groups):
            mine = order[owner == group]
            yield self.numbers[mine], codes[mine]

    @cached_property
    def _order(self) -> Array:
        known = np.flatnonzero(~np.isnan(self.numbers))
        numbers = self.numbers[known]
        return known[np.argsort(-numbers if self.descending else numbers, kind="stable")]

    def _between(self, left: Array, number_at: Callable[[Array], Array]) -> Array:
        """Return percentiles, given how many numbers are left and the numbers at places."""
        position = np.maximum(left - 1, 0) * self.share
        lower, higher = np.floor(position), np.ceil(position)
        low, high = number_at(lower.astype(np.int64)), number_at(higher.astype(np.int64))
        between = (higher - position) * low + (position - lower) * high
        values = np.where((lower == higher) | (low == high), low, between)
        return np.where(left > 0, values, np.nan)

    def singles(self, cells: GroupCells) -> Array:
        values = np.zeros((cells.groups, cells.count))
        for group, (numbers, codes) in enumerate(self._codes(cells)):
            places = np.flatnonzero(codes >= 0)
            places = places[np.argsort(codes[places], kind="stable")]
            owners, size = codes[places], len(numbers) + 1
            counts = np.bincount(owners, minlength=cells.count)
            starts = np.cumsum(counts) - counts
            # A number that is left has as many lost ones before it as lie at or below its place.
            below = owners * size + places - (np.arange(len(places)) - starts[owners])
            every = np.arange(cells.count)

            def number_at(
                wanted: Array,
                numbers: Array = numbers,
                below: Array = below,
                starts: Array = starts,
                size: int = size,
                every: Array = every,
            ) -> Array:
                lost = np.searchsorted(below, every * size + wanted, side="right") - starts
                return _taken(numbers, wanted + lost)

            values[group] = self._between(len(numbers) - counts, number_at)
        return values

    def runs(self, cells: GroupCells, first: Array, last: Array) -> Array:
        values = np.zeros((cells.groups, len(first)))
        for group, (numbers, codes) in enumerate(self._codes(cells)):
            # Per number how many of lower codes there are up to it.
            table = np.zeros((len(numbers) + 1, cells.count + 1), dtype=np.int32)
            known = np.flatnonzero(codes >= 0)
            table[known + 1, codes[known] + 1] = 1
            np.cumsum(table, axis=0, out=table)
            np.cumsum(table, axis=1, out=table)

            def number_at(wanted: Array, numbers: Array = numbers, table: Array = table) -> Array:
                low, high = np.zeros_like(wanted), np.full_like(wanted, len(numbers))
                while (low < high).any():
                    middle = (low + high) // 2
                    above = np.minimum(middle + 1, len(numbers))
                    left = middle + 1 - (table[above, last + 1] - table[above, first])
                    enough = left > wanted
                    high = np.where(enough, middle, high)
                    low = np.where(enough, low, np.minimum(middle + 1, high))
                return _taken(numbers, low)

            lost = table[-1, last + 1] - table[-1, first]
            values[group] = self._between(len(numbers) - lost, number_at)
        return values


def _taken(numbers: Array, places: Array) -> Array:
    if not len(numbers):
        return np.full(len(places), np.nan)
    taken: Array = numbers[np.minimum(places, len(numbers) - 1)]
    return taken
