"""The measure without the rows of each of many codes, computed for all codes of a column at once.

SUM, COUNT, AVG, MIN, MAX, COUNT(DISTINCT) and what is computed from them have partial aggregates
by code: one pass over the members gives the measure without each code, and without each run of
codes. Other queries have a scenario per code, evaluated in bulk. Numbers here decide what is worth
showing; what is shown is measured by its own what-if.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.reach import lineage, tokens
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.route import if_here
from lipstick.questions.why.deletions import (
    AddedEffects,
    SearchEffects,
    Without,
    aggregate,
    drawn,
    formulas,
    pairs_of,
    simple_scan,
    single_codes,
)
from lipstick.questions.why.measure import Measure, as_numbers
from lipstick.questions.why.partials import (
    GroupCells,
    MemberSample,
    PartialAggregate,
    PartialSum,
)
from lipstick.questions.why.sources import SourceRows
from rewriter.blocks import GROUP, Block, MatchKind
from rewriter.interpret import FailedError, Interpreted, UninterpretableError, from_arrow, interpret
from semiring.arrays.segments import index_of, mask_of
from semiring.base import Array
from semiring.support.chance import random_numbers


def effects_on(measure: Measure, source: SourceRows) -> SearchEffects | None:
    """Return the effects of deleting rows of a relation; None: the query has no tuple of it."""
    # What partial aggregates do not have, scenarios do.
    if (effects := if_here(lambda: _by_partial_aggregates(measure, source))) is not None:
        return effects
    bulk = _Scenarios(measure, source)
    return bulk if len(bulk.tokens) else None


def _by_partial_aggregates(measure: Measure, source: SourceRows) -> SearchEffects | None:
    rows = measure.engine.rows(measure.engine.root.name)
    if (scan := simple_scan(measure, source)) is None:
        return None
    if isinstance(rows, GroupRows):
        if measure.is_check:
            return _CheckedGroups(measure, source, rows, scan)
        return _GroupValues(measure, source, rows, scan).among_all_rows()
    if isinstance(rows, MemberRows) and measure.is_check:
        return _checked_rows(measure, source, rows, scan)
    return None


# -- one value of a grouping, or two -------------------------------------------------------------


class _GroupValues(SearchEffects):
    """Effects on the value of one group, or on the difference of two, by partial aggregates."""

    def __init__(self, measure: Measure, source: SourceRows, rows: GroupRows, scan: int) -> None:
        self._measure = measure
        self._rows = rows
        self._source = source
        self._scan = scan
        assert measure.positions is not None
        self._groups = len(measure.positions)
        members, owners = rows.grouping.present_members(measure.positions)
        self._members, self._owner = members, owners
        self._source_row: Array | None = None
        self._weights: Array | None = None
        self.total = len(members)
        self._formulas = formulas(measure, rows)
        names = {name for f in self._formulas for alias, name in f.columns if alias == GROUP}
        every = np.ones(len(members))
        # The number of members is an aggregate without a name.
        self._aggregates: dict[str, PartialAggregate] = {"": PartialSum("COUNT", every, every)} | {
            name: aggregate(rows, name, members) for name in names if name in rows.calls
        }
        self._aggregates = {
            n: each.of_groups(owners, self._groups) for n, each in self._aggregates.items()
        }
        self._keys = {name: rows.base.take(name, measure.positions) for name in names} | {}
        none = np.zeros(0, dtype=np.int64)
        close = np.isclose(self._numbers(none, none, 1)[0], measure.before, 1e-6, equal_nan=True)
        if not (close or measure.sides is not None):
            raise UninterpretableError(str(measure.column))

    def sampled(self, most: int) -> tuple[Array, SearchEffects]:
        items, weights = np.arange(len(self._owner)), None
        influence = self._influence() if len(items) > most else None
        if influence is not None:
            items, weights = drawn(influence, most)
        found = self._rows_of(items)
        known = found >= 0
        if not known.all():
            items, found = items[known], found[known]
            weights = None if weights is None else weights[known]
        inside = mask_of(found, len(self._source))
        rows = np.flatnonzero(inside)
        few = copy(self)
        few._source_row = np.searchsorted(rows, found)
        few._owner, few._weights = self._owner[items], weights
        sample = MemberSample(items, weights, self._owner, self._groups)
        few._aggregates = {name: each.sampled(sample) for name, each in self._aggregates.items()}
        sums = few._sums(few._source_row, len(rows)) if len(rows) else None
        return rows, few if sums is None else AddedEffects(sums, self._without, None, self.total)

    def _influence(self) -> Array | None:
        """Return how far each member moves the measure, as a share; None: no sample will do."""
        shares = [each.influence(self._owner) for name, each in self._aggregates.items() if name]
        moved = [share for share in shares if share is not None]
        return np.mean(moved, axis=0) if moved and len(moved) == len(shares) else None

    def _sums(self, rows: Array, length: int) -> list[Array] | None:
        """Return what rows have of members and of all sums by group; None: not all are sums.

        Parameters
        ----------
        rows
            The row of each member.
        """
        cells = self._owner * length + rows
        sums = [np.bincount(rows, self._weights, length).astype(np.float64)]
        for each in self._aggregates.values():
            if not isinstance(each, PartialSum):
                return None
            sums += [*each.totals(cells, self._groups * length).reshape(-1, length)]
        return sums

    def _without(self, lost: Array) -> Array:
        """Return the measure, given what deletions take from `_sums`."""
        values, end = {}, 1
        for name, each in self._aggregates.items():
            assert isinstance(each, PartialSum)
            assert each.whole is not None
            start, end = end, end + each.whole.size
            values[name] = each.without(lost[start:end])
        return self._of(values)

    def among_all_rows(self) -> SearchEffects:
        """Return the effects where all rows may be chosen, if no member is as it should be.

        Then the measure is as wanted without any of them, and what they have in common is seen
        beside the other rows alone.
        """
        found = np.zeros(len(self._owner), dtype=np.int64)
        sums = self._sums(found, 1) if self._measure.has_goal else None
        try:
            if sums is None or not self._measure.reached(self._without(np.array(sums)))[0]:
                return self
        except UninterpretableError:
            return self  # Without members it fails.
        found, influence = self._rows_of(np.arange(len(found))), self._influence()
        sums = self._sums(found, len(self._source))
        if sums is None or influence is None or (found < 0).any():
            return self
        sums[0] = np.maximum(sums[0], 1.0)
        return AddedEffects(sums, self._without, np.bincount(found, influence, len(self._source)))

    def _rows_of(self, items: Array) -> Array:
        """Return the source's row of some members; -1: none."""
        members = self._rows.members
        if len(items) == len(self._members):
            return self._source.rows_of(members, self._scan)[self._members]
        return self._source.rows_of(members, self._scan, self._members[items])

    @cached_property
    def _places_of_members(self) -> Array:
        return index_of(self._members, self._rows.members.count)

    def _items(self, codes: Array, rows: Array | None) -> tuple[Array, Array]:
        """Return the members of coded rows, and their codes."""
        if self._source_row is None:
            tokens = (
                self._source.tokens if rows is None else self._source.tokens.take(pa.array(rows))
            )
            index = self._rows.members.tokens.index(self._scan)
            found, owners = index.pairs([column.combine_chunks() for column in tokens.columns])
            items, codes = self._places_of_members[found], codes[owners]
        else:
            if rows is not None:
                whole = np.full(int(self._source_row.max(initial=0)) + 1, -1, dtype=np.int64)
                whole[rows] = codes
                codes = whole
            items, codes = np.arange(len(self._source_row)), codes[self._source_row]
        chosen = (items >= 0) & (codes >= 0)
        return items[chosen], codes[chosen]

    def _numbers(self, items: Array, codes: Array, count: int, *runs: Array) -> Array:
        """Return the measure without the members of each code, or of runs from first to last."""
        cells = self._owner[items] * count + codes
        parts = GroupCells(items, cells, self._owner, self._groups, count)
        named = self._aggregates.items()
        return self._of({n: e.runs(parts, *runs) if runs else e.singles(parts) for n, e in named})

    def singles(self, codes: Array, count: int, rows: Array | None = None) -> Without:
        items, codes = self._items(codes, rows)
        return single_codes(self._numbers(items, codes, count), self._counted(items, codes, count))

    def _counted(self, items: Array, codes: Array, count: int) -> Array:
        weights = None if self._weights is None else self._weights[items]
        return np.bincount(codes, weights, minlength=count)

    def runs(self, codes: Array, count: int, rows: Array | None = None) -> Without:
        items, codes = self._items(codes, rows)
        first, last = pairs_of(count)
        ends = np.concatenate([[0], np.cumsum(self._counted(items, codes, count))])
        numbers = self._numbers(items, codes, count, first, last)
        return Without(numbers, ends[last + 1] - ends[first], first, last)

    def _of(self, values: dict[str, Array]) -> Array:
        """Return the measure, given aggregates per group and code."""
        members = values[""]
        parts = []
        for group in range(self._groups):
            length = members.shape[1]
            columns = {name: v[group] for name, v in values.items()}
            numbers = [self._evaluated(f, columns, group, length) for f in self._formulas]
            if len(numbers) == 2:
                number = self._measure.distance(numbers[0], numbers[1])
            elif self._measure.is_condition:
                number = 1.0 - np.nan_to_num(numbers[0])
            else:
                number = numbers[0]
            if self._rows.block.keys:
                number = np.where(members[group] > 0, number, np.nan)
            parts.append(number)
        return parts[0] if len(parts) == 1 else parts[0] - parts[1]

    def _evaluated(
        self, formula: Interpreted, columns: dict[str, Array], group: int, length: int
    ) -> Array:
        if formula.column is not None and formula.column[1] in columns:
            return columns[formula.column[1]]

        def resolve(_: str, name: str) -> object:
            if name in columns:
                values = columns[name]
                array = pa.array(values, mask=np.isnan(values)).cast(
                    self._rows.type(name), safe=False
                )
            else:
                array = self._keys[name].take(pa.array(np.full(length, group)))
            return from_arrow(array)

        try:
            return as_numbers(formula.evaluate(resolve).to_arrow(length))  # type: ignore[arg-type]
        except FailedError as error:
            raise UninterpretableError(formula.text) from error


# -- numbers of rows: all rows of the source may be chosen -------------------------------------


def _positions(measure: Measure) -> Array:
    """Return the positions of the rows that are counted."""
    root = measure.engine.base(measure.engine.root.name)
    return np.flatnonzero(root.present) if measure.positions is None else measure.positions


def _checked_rows(
    measure: Measure, source: SourceRows, rows: MemberRows, scan: int
) -> SearchEffects:
    """Return the effects on the number of members."""
    of_member = source.rows_of(rows.members, scan)[_positions(measure)]
    failing = np.bincount(of_member[of_member >= 0], minlength=len(source))
    # Of the failing ones a sample has all, or half of it is of them.
    influence = (failing > 0) / max(int((failing > 0).sum()), 1)
    sums = [np.ones(len(source)), failing]
    return AddedEffects(sums, lambda lost: measure.before - lost[1], influence)


class _CheckedGroups(SearchEffects):
    """Effects on the number of groups that pass HAVING."""

    def __init__(self, measure: Measure, source: SourceRows, rows: GroupRows, scan: int) -> None:
        self._measure = measure
        self._rows_weights = np.ones(len(source))
        self.total = len(source)
        self._positions = _positions(measure)
        self._rows = rows
        members, self._owner = rows.grouping.present_members(self._positions)
        self._source_row = source.rows_of(rows.members, scan)[members]
        self._length = len(source)
        self._each = 1.0
        self._having = tuple(map(interpret, rows.block.having))
        columns = {column for condition in self._having for column in condition.columns}
        if any(alias != GROUP for alias, _ in columns):
            raise UninterpretableError("HAVING")
        self._aggregates: dict[str, PartialSum] = {}
        for _, name in columns:
            if name in rows.calls:
                partial = aggregate(rows, name, members)
                if not isinstance(partial, PartialSum):
                    raise UninterpretableError(rows.calls[name].text)
                self._aggregates[name] = partial
        self._keys = {name: rows.base.take(name, self._positions) for _, name in columns}
        groups = len(self._positions)
        self._members = np.bincount(self._owner, minlength=groups)
        self._totals = {
            name: each.totals(self._owner, groups) for name, each in self._aggregates.items()
        }

    def singles(self, codes: Array, count: int, rows: Array | None = None) -> Without:
        weights = self._rows_weights if rows is None else self._rows_weights[rows]
        counts = np.bincount(codes + 1, weights, count + 1)[1:]
        return single_codes(self._measure.before - self._removed(codes, count, rows), counts)

    def sampled(self, most: int) -> tuple[Array, SearchEffects]:
        rng = random_numbers(0)
        order = rng.permutation(len(self._members))
        groups = int(np.searchsorted(np.cumsum(self._members[order]), most, side="right"))
        if self._length <= most or groups == 0:
            return np.arange(self._length), self
        known = self._source_row >= 0
        failing = mask_of(self._source_row[known], self._length)
        drawn_groups = mask_of(order[:groups], len(self._members))
        items = np.flatnonzero(known & drawn_groups[self._owner])
        among = mask_of(self._source_row[items], self._length)
        others = self._length - int(failing.sum())
        share = min(most / max(others, 1), 1.0)
        rows = np.flatnonzero(among | (~failing & (rng.random(self._length) < share)))
        stands_for = float(failing.sum()) / max(int(among.sum()), 1)
        few = copy(self)
        few._each = len(order) / groups
        few._length = len(rows)
        few._rows_weights = np.where(among[rows], stands_for, 1.0 / share)
        few._owner = self._owner[items]
        few._source_row = np.searchsorted(rows, self._source_row[items])
        few._aggregates = {n: each.subset(items) for n, each in self._aggregates.items()}
        return rows, few

    def _removed(self, codes: Array, count: int, rows: Array | None) -> Array:
        if rows is not None:
            whole = np.full(self._length, -1, dtype=np.int64)
            whole[rows] = codes
            codes = whole
        of_members = np.where(self._source_row >= 0, codes[self._source_row], -1)
        chosen = np.flatnonzero(of_members >= 0)
        keys = self._owner[chosen] * count + of_members[chosen]
        pairs, places = np.unique(keys, return_inverse=True)
        groups, lost_codes = pairs // count, pairs % count
        left = self._members[groups] - np.bincount(places, minlength=len(pairs))
        columns = {}
        for name, partial in self._aggregates.items():
            lost = partial.subset(chosen).totals(places, len(pairs))
            columns[name] = partial.value(self._totals[name][:, groups] - lost)

        def resolve(_: str, name: str) -> object:
            if name not in columns:
                return from_arrow(self._keys[name].take(pa.array(groups)))
            values = columns[name]
            array = pa.array(values, mask=np.isnan(values)).cast(self._rows.type(name), safe=False)
            return from_arrow(array)

        gone = left == 0 if self._rows.block.keys else np.zeros(len(pairs), dtype=np.bool_)
        for condition in self._having:
            vector = condition.evaluate(resolve)  # type: ignore[arg-type]
            holds = vector.to_arrow(len(pairs)).fill_null(False).to_numpy(zero_copy_only=False)
            gone |= ~holds
        return self._each * np.bincount(lost_codes[gone], minlength=count)


# -- any query -----------------------------------------------------------------------------------


def restores(
    block: Block, relation: str, under: bool = False, *, value_alone: bool = False
) -> bool:
    """Return True if rows may appear when tuples of a relation are deleted.

    They are then inputs though no row was made from them: on the negated side of NOT EXISTS,
    NOT IN, anti joins and EXCEPT, as partners of outer joins, below HAVING and LIMIT.

    Parameters
    ----------
    under
        True if rows may appear when tuples of the block do not.
    value_alone
        True if a value of one row of the block is asked about: whatever HAVING and LIMIT make of
        other rows does not change it.
    """
    cut = bool(block.difference or block.windowed)
    cut = cut or (not value_alone and bool(block.having or block.limited))
    if (under or cut) and any(token.relation == relation for token in block.tokens):
        return True
    for match in block.matches:
        decides = match.kind in (MatchKind.ABSENT, MatchKind.AT_MOST_ONE) or bool(block.conditions)
        if restores(match.block, relation, under or cut or decides):
            return True
    inner = (*block.branches, *(block.core.reads() if block.core else ()))
    return any(restores(each, relation, under or cut) for each in inner)


class _Scenarios(SearchEffects):
    """Effects on any query, by a scenario per code; a run has the sum of its codes' effects."""

    by_row = False

    def __init__(self, measure: Measure, source: SourceRows) -> None:
        self._measure = measure
        self._source = source
        engine = measure.engine
        captured = np.zeros(len(source), dtype=np.bool_)
        found = source.find(tokens(engine, source.name))
        captured[found[found >= 0]] = True
        self._captured = captured
        root = engine.base(engine.root.name)
        positions = np.flatnonzero(root.present) if measure.positions is None else measure.positions
        among = lineage(engine, positions).get(source.name)
        found = np.zeros(0, np.int64) if among is None else source.find(among)
        behind = mask_of(found[found >= 0], len(source))
        value_alone = measure.positions is not None
        may_restore = restores(engine.root, source.name, value_alone=value_alone)
        self.restores = may_restore and not behind.any()
        self._universe = captured if may_restore else behind
        if measure.is_check and not self.restores:
            self._universe = np.ones(len(source), dtype=np.bool_)
        self.total = int(self._universe.sum())
        self.tokens = np.flatnonzero(captured)

    def sampled(self, most: int) -> tuple[Array, SearchEffects]:
        rows = np.flatnonzero(self._universe)
        few = copy(self)
        few._source = self._source.subset(rows, ())
        few._captured = self._captured[rows]
        few._universe = self._universe[rows]
        return rows, few

    def singles(self, codes: Array, count: int, rows: Array | None = None) -> Without:
        rows = np.arange(len(self._source)) if rows is None else rows
        among = (codes >= 0) & self._universe[rows]
        counts = np.bincount(codes[among], minlength=count)
        deleted = (codes >= 0) & self._captured[rows] & self._universe[rows]
        order = np.argsort(codes[deleted], kind="stable")
        chosen = rows[deleted][order]
        gone = Deleted(
            self._source.tokens.take(pa.array(chosen)), codes[deleted][order].astype(np.int64)
        )
        numbers = self._measure.of_deletions({self._source.name: gone}, count)
        return single_codes(numbers, counts)
