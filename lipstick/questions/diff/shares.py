"""The change of an aggregate of one group, divided among the changed rows of the relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.questions.diff.changes import ChangedRows
from lipstick.questions.why.measure import as_numbers
from rewriter.interpret import AggregateCall, UninterpretableError
from semiring.arrays.arrow import decoded
from semiring.arrays.segments import ascending
from semiring.base import Array

_WHOLE = 1 << 53
"""Sums of whole numbers below it are exact as float64."""


@dataclass(frozen=True)
class DividedChange:
    """The change of a number, divided among changed rows.

    Attributes
    ----------
    before, after
        The number; 0 where it is NULL or its row is not there.
    shares
        By relation, a share per changed row, in whole numbers of `unit`.
    unchanged
        The part that no changed row has.
    """

    before: Fraction
    after: Fraction
    unit: Fraction
    shares: Mapping[str, Array]
    unchanged: Fraction = Fraction(0)

    @property
    def shared(self) -> Fraction:
        """The sum of all shares."""
        return self.unit * sum((_total(each) for each in self.shares.values()), Fraction(0))

    @property
    def lost(self) -> Fraction:
        """The part that float64 loses of the shares."""
        return self.after - self.before - self.shared - self.unchanged


def _total(values: Array) -> Fraction:
    return Fraction(float(values.sum()))


@dataclass(frozen=True)
class SideMembers:
    """The members of a row of the answer in one version, with the rows that each is made of.

    Attributes
    ----------
    rows
        The rows of their block; None: the answer has no such row in this version.
    sources
        A column per scan: the row of the relation, numbered alike in both versions; -1: none.
    changed
        A column per scan: the changed row of the relation, -1 for an unchanged one.
    """

    rows: GroupRows | MemberRows | None
    positions: Array
    relations: tuple[str, ...]
    sources: Array
    changed: Array

    @cached_property
    def counts(self) -> Array:
        """The number of changed rows of each member."""
        counts: Array = (self.changed >= 0).sum(axis=1)
        return counts

    def __len__(self) -> int:
        return len(self.positions)

    def arguments(self, call: AggregateCall) -> list[pa.Array]:
        """Return the values of a call's arguments."""
        assert self.rows is not None
        members = self.rows.members
        resolve = members.resolve(self.positions, members.base)
        return [
            decoded(each.evaluate(resolve).to_arrow(len(self.positions))) for each in call.arguments
        ]


def side_members(
    rows: GroupRows | MemberRows,
    position: int | None,
    changes: Mapping[str, ChangedRows],
    side: int,
) -> SideMembers:
    """Return the members of a row of the answer.

    Parameters
    ----------
    position
        The row's position in its block; None: it is not there.
    side
        0 before, 1 after.
    """
    members = rows.members
    tokens = members.block.tokens
    relations = tuple(token.relation for token in tokens)
    if position is None:
        nothing = np.zeros((0, len(tokens)), dtype=np.int64)
        return SideMembers(None, nothing[:, :0].ravel(), relations, nothing, nothing)
    if isinstance(rows, GroupRows):
        positions, _ = rows.grouping.present_members(np.array([position]))
    else:
        positions = np.array([position])
    sources = np.full((len(positions), len(tokens)), -1, dtype=np.int64)
    changed = sources.copy()
    for scan, relation in enumerate(relations):
        of_relation = changes.get(relation)
        if of_relation is None:
            continue
        source = of_relation.new if side else of_relation.old
        own = source.rows_of(members, scan)[positions]
        known = own >= 0
        sources[known, scan] = of_relation.numbering[side][own[known]]
        changed[known, scan] = of_relation.numbers[side][own[known]]
    return SideMembers(rows, positions, relations, sources, changed)


@dataclass(frozen=True)
class Sides:
    """The members of a row of the answer before and after."""

    before: SideMembers
    after: SideMembers
    changes: Mapping[str, ChangedRows]

    @property
    def known(self) -> list[tuple[int, SideMembers]]:
        """The sides on which the row is there, with their numbers: 0 before, 1 after."""
        both = enumerate((self.before, self.after))
        return [(number, side) for number, side in both if side.rows is not None]

    def __getitem__(self, number: int) -> SideMembers:
        return self.after if number else self.before

    def no_shares(self) -> dict[str, Array]:
        """Return shares of 0."""
        return {name: np.zeros(len(each)) for name, each in self.changes.items()}

    @cached_property
    def replaced(self) -> tuple[Array, Array, Array, Array]:
        """The unmatched rows of outer joins that have partners in the other version.

        Returns
        -------
        tuple
            Side, member, scan and changed row: such a member, and a row of its partners. The
            member itself has no changed row.
        """
        found = [np.zeros((0, 4), dtype=np.int64)]
        for number, side in self.known:
            other = self[1 - number]
            absent = side.sources < 0
            suspects = np.flatnonzero((side.counts == 0) & absent.any(axis=1) & ~absent.all(axis=1))
            if not len(suspects) or not len(other):
                continue
            for pattern in np.unique(absent[suspects], axis=0):
                own = suspects[(absent[suspects] == pattern).all(axis=1)]
                found.append(_partners(number, side, other, own, pattern))
        table = np.concatenate(found)
        return table[:, 0], table[:, 1], table[:, 2], table[:, 3]


def _partners(
    number: int, side: SideMembers, other: SideMembers, own: Array, absent: Array
) -> Array:
    """Return the changed partners of members without some scans: rows of `Sides.replaced`."""
    shared = np.concatenate([side.sources[own][:, ~absent], other.sources[:, ~absent]])
    _, codes = np.unique(shared, axis=0, return_inverse=True)
    codes = codes.ravel()
    mine, theirs = codes[: len(own)], codes[len(own) :]
    still = theirs[(other.sources[:, absent] < 0).all(axis=1)]
    first = np.full(int(codes.max()) + 1, -1, dtype=np.int64)
    first[mine] = np.arange(len(own))
    first[still] = -1  # Unmatched in both versions.
    parts = []
    for scan in np.flatnonzero(absent):
        row, member = other.changed[:, scan], first[theirs]
        chosen = (row >= 0) & (member >= 0)
        pairs = np.unique(np.stack([member[chosen], row[chosen]], axis=1), axis=0)
        places = np.full(len(pairs), number), own[pairs[:, 0]], np.full(len(pairs), scan)
        parts.append(np.stack([*places, pairs[:, 1]], axis=1))
    return np.concatenate(parts)


def divide(call: AggregateCall, sides: Sides) -> tuple[DividedChange, ...]:
    """Return the change of an aggregate, divided; of AVG that of its sum and of its count.

    Raises
    ------
    UninterpretableError
        For aggregates without a rule.
    """
    columns = [side.arguments(call) for _, side in sides.known]
    if call.function == "COUNT" and call.distinct:
        return (_distinct_count(columns, sides),)
    if call.function in ("MIN", "MAX"):
        return (_extreme(columns, sides, least=call.function == "MIN"),)
    if call.distinct or call.function not in ("SUM", "COUNT", "AVG"):
        raise UninterpretableError(call.text)
    valid = [
        _valid(its, len(side)).astype(np.float64)
        for its, (_, side) in zip(columns, sides.known, strict=True)
    ]
    count = divide_sum(valid, Fraction(1), sides)
    if call.function == "COUNT":
        return (count,)
    numbers, unit = whole_numbers([its[0] for its in columns])
    total = divide_sum(numbers, unit, sides)
    return (total,) if call.function == "SUM" else (total, count)


def _valid(columns: Sequence[pa.Array], count: int) -> Array:
    valid = np.ones(count, dtype=np.bool_)
    for column in columns:
        valid &= column.is_valid().to_numpy(zero_copy_only=False)
    return valid


def divide_sum(numbers: Sequence[Array], unit: Fraction, sides: Sides) -> DividedChange:
    """Return the change of a sum of numbers of members, of those sides that are known."""
    scans = len(sides.after.relations)
    parts = lcm(*range(1, scans + 1)) if scans else 1
    shares = sides.no_shares()
    totals = [Fraction(0), Fraction(0)]
    unchanged = Fraction(0)
    for (number, side), values in zip(sides.known, numbers, strict=True):
        sign = 1 if number else -1
        totals[number] = unit * _total(values)
        counts = side.counts.copy()
        its, member, scan, row = (each[sides.replaced[0] == number] for each in sides.replaced)
        if len(its):
            counts += np.bincount(member, minlength=len(side))
        unchanged += sign * unit * _total(values[counts == 0])
        each = sign * values * parts / np.maximum(counts, 1)
        scan = np.concatenate([np.repeat(np.arange(scans), len(side)), scan])
        row = np.concatenate([side.changed.T.ravel(), row])
        value = np.concatenate([np.tile(each, scans), each[member]])
        for place, relation in enumerate(side.relations):
            chosen = (scan == place) & (row >= 0)
            if chosen.any():
                shares[relation] += np.bincount(
                    row[chosen], value[chosen], minlength=len(shares[relation])
                )
    return DividedChange(totals[0], totals[1], unit / parts, shares, unchanged)


def whole_numbers(columns: Sequence[pa.Array]) -> tuple[list[Array], Fraction]:
    """Return columns as whole numbers of a unit, NULL as 0, exact as far as float64 is.

    Floating numbers have the unit 1.
    """
    scale = max((c.type.scale for c in columns if pa.types.is_decimal(c.type)), default=0)
    return [_scaled(column, scale) for column in columns], Fraction(1, 10**scale)


def _scaled(column: pa.Array, scale: int) -> Array:
    kind = column.type
    if pa.types.is_decimal128(kind):
        low = np.frombuffer(column.buffers()[1], dtype=np.int64)
        places = slice(2 * column.offset, 2 * (column.offset + len(column)), 2)
        high = low[1:][places] if len(low) else low
        numbers = low[places].astype(np.float64)
        wide = high != low[places] >> 63
        if wide.any():
            numbers = np.where(wide, high * 2.0**64 + low[places].astype(np.uint64), numbers)
        if column.null_count:
            numbers = np.where(column.is_valid().to_numpy(zero_copy_only=False), numbers, 0.0)
        scaled: Array = numbers * 10.0 ** (scale - kind.scale)
        return scaled
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)):
        raise UninterpretableError(str(kind))
    return np.nan_to_num(as_numbers(column), nan=0.0) * 10.0**scale


def _extreme(columns: Sequence[Sequence[pa.Array]], sides: Sides, *, least: bool) -> DividedChange:
    extremes: list[float | None] = [None, None]
    values: list[Array] = [np.zeros(0), np.zeros(0)]
    for (number, _), its in zip(sides.known, columns, strict=True):
        own = values[number] = as_numbers(its[0])
        if not np.isnan(own).all():
            extremes[number] = float(np.nanmin(own) if least else np.nanmax(own))
    before, now = extremes
    beyond = before is None or (now is not None and (now < before if least else now > before))
    moved = unchanged = Fraction(now or 0.0) - Fraction(before or 0.0)
    shares = sides.no_shares()
    side = sides[beyond]
    having = (values[beyond] == extremes[beyond]) & (side.counts > 0)
    unit = Fraction(1)
    if moved and having.any():
        for scan, relation in enumerate(side.relations):
            row = side.changed[having, scan]
            shares[relation][row[row >= 0]] = 1.0
        unit = moved / sum((_total(each) for each in shares.values()), Fraction(0))
        unchanged = Fraction(0)
    return DividedChange(Fraction(before or 0.0), Fraction(now or 0.0), unit, shares, unchanged)


def _distinct_count(columns: Sequence[Sequence[pa.Array]], sides: Sides) -> DividedChange:
    arguments = len(columns[0]) if columns else 0
    whole = [
        pa.concat_arrays([its[n].cast(columns[0][n].type) for its in columns])
        for n in range(arguments)
    ]
    lengths = [len(side) for _, side in sides.known]
    codes, first = distinct(whole, sum(lengths))
    there = np.zeros((2, len(first)), dtype=np.bool_)
    values: list[Array] = [np.zeros(0, dtype=np.int64)] * 2
    start = 0
    for (number, side), its in zip(sides.known, columns, strict=True):
        valid = _valid(its, len(side))
        values[number] = np.where(valid, codes[start : start + len(side)], -1)
        there[number, values[number][valid]] = True
        start += len(side)
    having = np.zeros(len(first), dtype=np.int64)
    pairs: list[tuple[int, str, Array, Array]] = []
    for number, side in sides.known:
        moved = there[number] & ~there[1 - number]
        for relation in dict.fromkeys(side.relations):
            scans = [n for n, name in enumerate(side.relations) if name == relation]
            row = np.concatenate([side.changed[:, n] for n in scans])
            value = np.tile(values[number], len(scans))
            chosen = (row >= 0) & (value >= 0)
            chosen[chosen] = moved[value[chosen]]
            found = np.unique(np.stack([row[chosen], value[chosen]]), axis=1)
            having += np.bincount(found[1], minlength=len(first))
            pairs.append((number, relation, found[0], found[1]))
    unit = _common_multiple(having, len(codes))
    shares = sides.no_shares()
    for number, relation, row, value in pairs:
        share = unit / having[value] * (1 if number else -1)
        shares[relation] += np.bincount(row, share, minlength=len(shares[relation]))
    before, after = (int(each.sum()) for each in there)
    lost = int((there[0] & ~there[1] & (having == 0)).sum())
    gained = int((there[1] & ~there[0] & (having == 0)).sum())
    return DividedChange(
        Fraction(before), Fraction(after), Fraction(1, unit), shares, Fraction(gained - lost)
    )


def _common_multiple(numbers: Array, times: int) -> int:
    """Return a common multiple of numbers; 1 if so many of its parts are not exact float64."""
    unit = 1
    for number in ascending(numbers[numbers > 0]).tolist():
        unit = lcm(unit, number)
        if unit * times >= _WHOLE:
            return 1
    return unit
