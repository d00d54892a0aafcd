"""Aggregates of groups that lost or gained members.

SUM, COUNT and AVG of exact types are the stored values less the values of lost members; MIN and MAX
are looked for again only where a member with the stored value is lost; sums of floats, DISTINCT and
aggregates without a tensor are computed again from the members left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.order import Key, order
from lipstick.engines.memory.state import (
    as_type,
    known_values,
    needs_spark,
    overlay,
    same,
    spark_scalar,
)
from lipstick.errors import CapabilityError, CaptureError
from rewriter.emit import MEMBERS
from rewriter.interpret import (
    AggregateCall,
    Anew,
    FailedError,
    Interpreted,
    Resolve,
    UninterpretableError,
    Vector,
    cast,
    divide_half_up,
    from_arrow,
    is_exact,
    rescale,
)
from semiring.arrays.aggregates import aggregate, distinct_members, subtract_members
from semiring.arrays.arrow import decoded, normal
from semiring.arrays.decimals import decimal_to_integers
from semiring.arrays.exact import magnitude
from semiring.arrays.ranks import ranked
from semiring.arrays.segments import bounds, lists_of, mask_of, owners_of
from semiring.base import Array
from semiring.errors import AnnotationError

COUNT_SUFFIX = "__count"
SUM_SUFFIX = "__sum"


MANY = 1 << 16
"""More members than these in touched groups: distinct values are counted without these members."""


_BY_SPARK = 1 << 22
"""Members of scenarios that the session aggregates together, at most."""


@dataclass(frozen=True, slots=True)
class TouchedMembers:
    """Some members: the touched group of each, and their columns."""

    groups: Array
    resolve: Resolve

    def values(self, scalar: Interpreted) -> pa.Array:
        """A scalar's values over the members.

        Raises
        ------
        CaptureError
            When only Spark can compute it.
        """
        return known_values(scalar, self.resolve, len(self.groups))


@dataclass(frozen=True, eq=False)
class Touched:
    """Groups with changed members; one and the same may be there once per scenario.

    Parameters
    ----------
    count
        The number of groups.
    lost, gained
        The members that the groups lose and gain, by the groups' places; lost ones in their order.
    stored
        From the name of an aggregate to its stored values, one per group; None where the capture
        stores none.
    survivors
        From places of groups to the members left in these groups, group by group; their groups are
        places among the places.
    sums
        From an aggregate of floats and places of groups to the places for which it is faster to add
        up sums of chunks, and these sums over the groups' remaining members.
    whole
        The members of the groups without deletion, of each group once however many scenarios it is
        there for, and the number of each group among these.
    """

    count: int
    lost: TouchedMembers
    gained: TouchedMembers
    stored: Callable[[str], pa.Array | None]
    survivors: Callable[[Array], TouchedMembers]
    sums: Callable[[str, Array], tuple[Array, Array]]
    whole: Callable[[], tuple[TouchedMembers, Array]]

    @cached_property
    def members(self) -> Array:
        """The number of members that each group has left."""
        stored = self.stored(MEMBERS)
        assert stored is not None
        return self._less(stored, *self._ones())

    def recompute(self, name: str, call: AggregateCall) -> pa.Array:
        """The values of an aggregate, one per group.

        Raises
        ------
        CaptureError
            When only Spark can compute it, or its values are not in the capture.
        """
        stored = self.stored(name)
        assert stored is not None
        if call.function is None:
            return self._anew(call, stored)
        if call.function == "COUNT" and not call.arguments:
            return pa.array(self._less(stored, *self._ones()), pa.int64())
        lost = [self.lost.values(argument) for argument in call.arguments]
        gained = [self.gained.values(argument) for argument in call.arguments]
        try:
            return self._from_values(name, call, stored, lost, gained)
        except FailedError as error:
            raise CaptureError(f"{call.text} fails on these rows: {error}") from error

    def _anew(self, call: AggregateCall, stored: pa.Array) -> pa.Array:
        """An aggregate without a tensor, of every group that loses or gains members."""
        touched = [np.ones(len(part.groups), dtype=np.bool_) for part in (self.lost, self.gained)]
        places = self._involved(*touched)
        try:
            if call.anew is None:
                raise UninterpretableError(call.text)
            return self._again(call, stored, places)
        except UninterpretableError as error:
            return self._by_spark(call, stored, places, error)

    def _by_spark(
        self, call: AggregateCall, stored: pa.Array, places: Array, cause: UninterpretableError
    ) -> pa.Array:
        """An aggregate of the members left in some groups as the session computes it.

        Raises
        ------
        NeedsSparkError
            There is none, or it fails.
        CapabilityError
            The groups have more than `_BY_SPARK` members in all scenarios.
        """
        compute = spark_scalar.get()
        if compute is None:
            raise needs_spark(call.text) from cause
        part = self.survivors(places)
        if len(part.groups) > _BY_SPARK:
            raise CapabilityError(
                f"Spark alone computes {call.text}, here over {len(part.groups):,} rows in "
                f"{len(places):,} scenarios, which is too much.\nAsk about fewer rows, "
                "q.filter(condition), or what_if() of one scenario."
            )
        try:
            names = dict.fromkeys(name for each in call.arguments for name in each.columns)
            columns = {name: part.resolve(*name).to_arrow(len(part.groups)) for name in names}
            found = compute(call.text, columns, len(places), part.groups)
            return overlay(stored, places, found.cast(stored.type))
        except (CapabilityError, FailedError, UninterpretableError, pa.ArrowException) as error:
            raise needs_spark(call.text) from error

    def _ones(self) -> tuple[Array, Array]:
        lost, gained = len(self.lost.groups), len(self.gained.groups)
        return np.ones(lost, dtype=np.int64), np.ones(gained, dtype=np.int64)

    def _from_values(
        self,
        name: str,
        call: AggregateCall,
        stored: pa.Array,
        lost: list[pa.Array],
        gained: list[pa.Array],
    ) -> pa.Array:
        counted = _valid(lost), _valid(gained)
        if call.function == "COUNT":
            # Groups that are not captured have no stored value: theirs is that of no members.
            stored = stored.fill_null(0)
        if call.distinct:
            involved = self._involved(*counted)
            if call.function != "COUNT" or self._size(involved) < MANY:
                return self._again(call, stored, involved)
            return self._distinct_counts(stored, call, lost, gained, counted)
        if call.function == "COUNT":
            less = self._less(stored, *(mask.astype(np.int64) for mask in counted))
            return pa.array(less, pa.int64())
        if call.function in ("MIN", "MAX"):
            extreme = same(lost[0], stored.take(pa.array(self.lost.groups)))
            return self._again(call, stored, self._involved(counted[0] & extreme, counted[1]))
        counts = self.stored(name + COUNT_SUFFIX)
        if not is_exact(lost[0].type):
            involved = self._involved(*counted)
            if counts is None:
                return self._again(call, stored, involved)
            chosen, rest = self.sums(name, involved)
            if len(chosen):
                numbers = self._less(counts, *(mask.astype(np.int64) for mask in counted))
                stored = self._floats(call, stored, chosen, rest, numbers, gained[0])
            return self._again(call, stored, np.setdiff1d(involved, chosen, assume_unique=True))
        sums = stored if call.function == "SUM" else self.stored(name + SUM_SUFFIX)
        if counts is None or sums is None:
            return self._again(call, stored, self._involved(*counted))
        left = self._less(counts, *(mask.astype(np.int64) for mask in counted))
        scale = sums.type.scale if pa.types.is_decimal(sums.type) else 0
        total = self._less(sums, *(_unscaled(part[0], scale) for part in (lost, gained)))
        null = left == 0
        if call.function == "SUM":
            return Vector(sums.type, total, null).to_arrow(self.count)
        averages = _average(total, left, scale, stored.type)
        return self._beyond_sums(call, averages, stored, sums, self._involved(*counted))

    def _size(self, places: Array) -> int:
        """The number of members that groups have without deletion."""
        sizes = self.stored(MEMBERS)
        return 0 if sizes is None else pc.sum(sizes.take(pa.array(places))).as_py() or 0

    def _distinct_counts(
        self,
        stored: pa.Array,
        call: AggregateCall,
        lost: list[pa.Array],
        gained: list[pa.Array],
        counted: tuple[Array, Array],
    ) -> pa.Array:
        """COUNT(DISTINCT): less the values that groups lose altogether, and those they gain."""
        whole, of_groups = self.whole()
        every = [whole.values(argument) for argument in call.arguments]
        columns = [
            normal(decoded(pa.concat_arrays([a, as_type(b, a.type), as_type(c, a.type)])))
            for a, b, c in zip(every, lost, gained, strict=True)
        ]
        values, first = distinct(columns, len(columns[0]))
        ends = np.cumsum([len(every[0]), len(lost[0])])
        known, gone, new = np.split(values, ends)
        # Per group, without deletion, how often it has each value.
        keys = whole.groups * len(first) + known
        cells, numbers = np.unique(keys[_valid(every)], return_counts=True)

        def had(groups: Array, codes: Array) -> Array:
            wanted = of_groups[groups] * len(first) + codes
            index = np.minimum(np.searchsorted(cells, wanted), max(len(cells) - 1, 0))
            return np.where(cells[index] == wanted, numbers[index], 0) if len(cells) else wanted * 0

        lost_keys = self.lost.groups[counted[0]] * len(first) + gone[counted[0]]
        lost_cells, lost_counts = np.unique(lost_keys, return_counts=True)
        new_cells = np.unique(self.gained.groups[counted[1]] * len(first) + new[counted[1]])
        emptied = lost_cells[had(*np.divmod(lost_cells, len(first))) == lost_counts]
        begun = new_cells[had(*np.divmod(new_cells, len(first))) == 0]
        emptied = np.setdiff1d(emptied, new_cells, assume_unique=True)
        counts = stored.to_numpy(zero_copy_only=False).astype(np.int64)
        counts = counts - np.bincount(emptied // len(first), minlength=self.count)
        return pa.array(counts + np.bincount(begun // len(first), minlength=self.count))

    def _beyond_sums(
        self,
        call: AggregateCall,
        averages: pa.Array,
        stored: pa.Array,
        sums: pa.Array,
        involved: Array,
    ) -> pa.Array:
        """Return averages, computed from members for groups whose sum did not fit its type."""
        if not sums.null_count:
            return averages
        unknown = np.flatnonzero(pc.and_(sums.is_null(), stored.is_valid()))
        averages = overlay(averages, unknown, stored.take(pa.array(unknown)))
        return self._again(call, averages, np.intersect1d(unknown, involved, assume_unique=True))

    def _floats(
        self,
        call: AggregateCall,
        stored: pa.Array,
        places: Array,
        left: Array,
        counts: Array,
        gained: pa.Array,
    ) -> pa.Array:
        """SUM or AVG of floats in some groups, from the sums left there and what is gained."""
        sums = np.zeros(self.count)
        sums[places] = left
        arrived = gained.fill_null(0.0).to_numpy(zero_copy_only=False)
        np.add.at(sums, self.gained.groups, arrived)
        null = counts == 0
        if call.function == "AVG":
            sums = sums / np.where(null, 1, counts)
        changed = pa.array(sums[places], stored.type, mask=null[places])
        return overlay(stored, places, changed)

    def _less(self, stored: pa.Array, lost: Array, gained: Array) -> Array:
        """Exact stored totals, unscaled, without the lost members and with the gained ones."""
        totals: Array = from_arrow(stored).values
        if len(lost):
            totals = subtract_members(totals, self.lost.groups, lost)
        if len(gained):
            totals = subtract_members(totals, self.gained.groups, -gained)
        return totals

    def _involved(self, lost: Array, gained: Array) -> Array:
        """The places of the groups of some lost and gained members, given by Boolean arrays."""
        groups = mask_of(self.lost.groups[lost], self.count)
        groups[self.gained.groups[gained]] = True
        return np.flatnonzero(groups)

    def _again(self, call: AggregateCall, stored: pa.Array, places: Array) -> pa.Array:
        """Compute an aggregate anew in some groups, keeping the stored values of the others."""
        if not len(places):
            return stored
        sizes = self.stored(MEMBERS)
        assert sizes is not None
        numbers = sizes.fill_null(0).to_numpy(zero_copy_only=False)[places]
        parts = [self._computed(call, part, stored.type) for part in cut(places, numbers)]
        return overlay(stored, places, pa.concat_arrays(parts))

    def _computed(self, call: AggregateCall, places: Array, kind: pa.DataType) -> pa.Array:
        """An aggregate from the members left in some groups."""
        part = self.survivors(places)
        offsets = bounds(np.bincount(part.groups, minlength=len(places)))
        columns = [part.values(argument) for argument in call.arguments]
        array = reaggregate(call, columns, offsets)
        return array if array.type == kind else cast(from_arrow(array), kind).to_arrow(len(array))


def cut(places: Array, sizes: Array, most: int = 1 << 22) -> list[Array]:
    """Places in pieces whose sizes add up to `most`, or of one place that is larger."""
    ends = np.cumsum(sizes)
    pieces, start = [], 0
    while start < len(places):
        before = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, before + most, side="right")), start + 1)
        pieces.append(places[start:stop])
        start = stop
    return pieces


def reaggregate(call: AggregateCall, columns: list[pa.Array], offsets: Array) -> pa.Array:
    """An aggregate over CSR segments of its arguments' values.

    Raises
    ------
    NeedsSparkError
        For values of a type that only Spark so aggregates.
    """
    if call.anew is not None:
        return computed_anew(call.anew, columns, offsets)
    assert call.function is not None
    values = decoded(columns[0])
    if len(columns) > 1:
        # COUNT of several arguments counts the rows, or distinct rows, without a NULL.
        codes, _ = distinct(columns, len(values))
        values = pa.array(codes, mask=~_valid(columns))
    ones = np.ones(len(values), dtype=np.int64)
    if call.distinct:
        ones, values, offsets = distinct_members(ones, normal(values), offsets)
    try:
        return aggregate(call.function, ones, values, offsets)
    except AnnotationError as error:
        raise needs_spark(call.text) from error


def _valid(columns: list[pa.Array]) -> Array:
    valid = np.ones(len(columns[0]), dtype=np.bool_)
    for column in columns:
        if column.null_count:
            valid &= column.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _unscaled(column: pa.Array, scale: int) -> Array:
    """The unscaled values at a scale, NULLs as 0."""
    vector = from_arrow(column)
    numbers = np.where(vector.null, 0, vector.values) if vector.null is not None else vector.values
    return rescale(numbers, scale - vector.scale)


def _average(totals: Array, counts: Array, scale: int, kind: pa.DataType) -> pa.Array:
    null = counts == 0
    divisors = np.where(null, 1, counts)
    unit = 10**scale
    if pa.types.is_decimal(kind):
        rounded = divide_half_up(rescale(totals, kind.scale - scale), divisors)
        return Vector(kind, rounded, null).to_arrow(len(counts))
    if totals.dtype == np.dtype(object):
        pairs = zip(totals.tolist(), divisors.tolist(), strict=True)
        return pa.array([total / count / unit for total, count in pairs], pa.float64(), mask=null)
    return pa.array(totals / divisors / unit, kind, mask=null)


_EXACT_INTEGER, _EXACT_POWER = 2**53, 22
"""Up to these, integers and powers of ten are doubles: the quotient of two is rounded once."""
SPREADS = {"stddev_samp", "stddev_pop", "var_samp", "var_pop"}
"""Aggregates of deviations from a mean."""
_BITS = {"bit_and": np.bitwise_and, "bit_or": np.bitwise_or, "bit_xor": np.bitwise_xor}


def computed_anew(call: Anew, columns: list[pa.Array], offsets: Array) -> pa.Array:
    """An aggregate over segments of its arguments' values.

    Raises
    ------
    UninterpretableError
        For a type whose aggregate only Spark knows.
    """
    values = columns[0]
    if call.name in ("collect_list", "collect_set"):
        return _collected(call, columns, offsets)
    owners = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    if call.name in ("max_by", "min_by"):
        return values.take(_extremes(call, columns[1:], owners, len(offsets) - 1))
    if call.name == "mode":
        return values.take(_modes(call, values, owners, len(offsets) - 1))
    if call.name == "percentile":
        return _percentiles(call, values, owners, len(offsets) - 1)
    if call.name in SPREADS:
        return _spreads(call, values, owners, len(offsets) - 1)
    if call.name in _BITS:
        return _bits(call, values, owners, len(offsets) - 1)
    ones = np.ones(len(values), dtype=np.int64)
    if call.name == "count_if":
        held = pc.if_else(values.fill_null(False), pa.scalar(1), pa.scalar(None, pa.int64()))
        return aggregate("COUNT", ones, held, offsets)
    return aggregate("MAX" if call.name == "bool_or" else "MIN", ones, values, offsets)


def _collected(call: Anew, columns: list[pa.Array], offsets: Array) -> pa.Array:
    """The values of every group that are not NULL, as an array; of a set each once."""
    values, *keys = columns
    owners = owners_of(offsets)
    rows = np.arange(len(values), dtype=np.int64)
    if keys:
        pairs = zip(keys, call.order, strict=True)
        sorted_by = [Key(pa.array(owners)), *(Key(key, *flags) for key, flags in pairs)]
        rows = order(sorted_by, len(values))
    rows = rows[values.is_valid().to_numpy(zero_copy_only=False)[rows]]
    if call.name == "collect_set":
        rows = rows[_first_alike(values.take(pa.array(rows)), owners[rows])]
    sizes = np.bincount(owners[rows], minlength=len(offsets) - 1)
    return lists_of(bounds(sizes), values.take(pa.array(rows)))


def _first_alike(values: pa.Array, owners: Array) -> Array:
    """The places, ascending, of the first of equal values of each owner."""
    if pa.types.is_nested(values.type) or pa.types.is_floating(values.type):
        raise UninterpretableError(f"which values of {values.type} are equal")
    _, first = np.unique(np.stack([owners, ranked(values)]), axis=1, return_index=True)
    return np.sort(first)


def _bits(call: Anew, values: pa.Array, owners: Array, groups: int) -> pa.Array:
    """The bits of every group's values that are not NULL, taken together; NULL: none."""
    if not pa.types.is_signed_integer(values.type):
        raise UninterpretableError(f"bits of {values.type}")
    rows = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
    known = values.take(pa.array(rows)).to_numpy(zero_copy_only=False)
    there, starts = np.unique(owners[rows], return_index=True)
    bits = np.zeros(groups, dtype=known.dtype)
    mask = ~mask_of(there, groups)
    if len(rows):
        bits[there] = _BITS[call.name].reduceat(known, starts)
    return pa.array(bits, values.type, mask=mask)


def _extremes(call: Anew, compared: list[pa.Array], owners: Array, groups: int) -> pa.Array:
    """The row of every group whose compared values are the greatest or least; NULL: none."""
    rows = np.arange(len(owners), dtype=np.int64)
    if not call.of_all:
        rows = rows[compared[0].is_valid().to_numpy(zero_copy_only=False)]
    largest = call.name == "max_by"
    keys = [Key(column.take(pa.array(rows)), largest, not largest) for column in compared]
    return _first_of_each(rows, [Key(pa.array(owners[rows])), *keys], owners, groups)


def _modes(call: Anew, values: pa.Array, owners: Array, groups: int) -> pa.Array:
    """A row of every group with its most frequent value, of several the first in their order."""
    if pa.types.is_floating(values.type):
        raise UninterpretableError("the mode of floating point numbers")
    rows = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
    known = values.take(pa.array(rows))
    codes, first = distinct([pa.array(owners[rows]), known], len(rows))
    counts = np.bincount(codes, minlength=len(first))
    keys = [
        Key(pa.array(owners[rows[first]])),
        Key(pa.array(counts), descending=True),
        Key(known.take(pa.array(first)), call.descending),
    ]
    return _first_of_each(rows[first], keys, owners, groups)


def _first_of_each(rows: Array, keys: list[Key], owners: Array, groups: int) -> pa.Array:
    """The first of some rows of every group, in an order by group, then by other keys."""
    ordered = rows[order(keys, len(rows))]
    hit, at = np.unique(owners[ordered], return_index=True)
    firsts = np.full(groups, -1, dtype=np.int64)
    firsts[hit] = ordered[at]
    return pa.array(firsts, mask=firsts < 0)


def _percentiles(call: Anew, values: pa.Array, owners: Array, groups: int) -> pa.Array:
    """The percentile of every group, between two values in proportion."""
    rows = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
    known = values.take(pa.array(rows))
    keys = [Key(pa.array(owners[rows])), Key(known, call.descending)]
    numbers = _doubles(known)[order(keys, len(rows))]
    sizes = np.bincount(owners[rows], minlength=groups)
    starts = np.cumsum(sizes) - sizes
    there = sizes > 0
    position = (sizes[there] - 1) * call.share
    lower, higher = np.floor(position), np.ceil(position)
    low = numbers[starts[there] + lower.astype(np.int64)]
    high = numbers[starts[there] + higher.astype(np.int64)]
    with np.errstate(invalid="ignore"):
        between = (higher - position) * low + (position - lower) * high
    percentiles = np.zeros(groups)
    percentiles[there] = np.where((lower == higher) | (low == high), low, between)
    return pa.array(percentiles, mask=~there)


def _spreads(call: Anew, values: pa.Array, owners: Array, groups: int) -> pa.Array:
    """Variances and standard deviations: NULL of no value, and of a sample of one.

    By deviations from the mean, whose last bits depend on the order that Spark adds up in.
    """
    rows = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
    known_owners, numbers = owners[rows], _doubles(values.take(pa.array(rows)))
    sizes = np.bincount(known_owners, minlength=groups)
    with np.errstate(invalid="ignore"):
        means = np.bincount(known_owners, numbers, groups) / np.maximum(sizes, 1)
        squares = np.bincount(known_owners, (numbers - means[known_owners]) ** 2, groups)
    degrees = sizes - (1 if call.name.endswith("samp") else 0)
    spreads = squares / np.maximum(degrees, 1)
    if call.name.startswith("stddev"):
        spreads = np.sqrt(spreads)
    return pa.array(spreads, mask=degrees < 1)


def _doubles(values: pa.Array) -> Array:
    """Numbers as the doubles next to them.

    Raises
    ------
    UninterpretableError
        For other types, and for decimals that no one division of doubles gives.
    """
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        numbers: Array = values.to_numpy(zero_copy_only=False).astype(np.float64)
        return numbers
    if not pa.types.is_decimal128(values.type):
        raise UninterpretableError(f"a quotient of {values.type}")
    unscaled, scale = decimal_to_integers(values), values.type.scale
    if magnitude(unscaled) > _EXACT_INTEGER or not 0 <= scale <= _EXACT_POWER:
        raise UninterpretableError(f"a quotient of large {values.type}")
    quotients: Array = unscaled.astype(np.float64) / 10.0**scale
    return quotients
