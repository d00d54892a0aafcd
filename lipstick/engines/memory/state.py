"""The rows of a block without deletion and in scenarios, their order, and values of scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.engines.memory import order
from lipstick.engines.memory.places import (
    NOTHING,
    contains,
    everywhere,
    matches,
    pack,
    positions_of,
    scenarios_of,
)
from lipstick.engines.memory.store import OPEN_WITH_SPARK
from lipstick.errors import CapabilityError, CaptureError, NeedsSparkError
from rewriter.blocks import Block, Kind
from rewriter.interpret import (
    FailedError,
    Interpreted,
    Resolve,
    UninterpretableError,
    Vector,
    cast,
    from_arrow,
)
from semiring.arrays.ranks import ranked
from semiring.arrays.segments import ascending, expand, union
from semiring.base import Array

Take: TypeAlias = Callable[[str, Array], pa.Array]
"""From the name of a column of a block's rows, and places, to values."""

SparkScalar: TypeAlias = Callable[
    [str, Mapping[tuple[str, str], pa.Array], int, Array | None], pa.Array
]
"""Compute a text of Spark SQL over columns, by alias and name, of so many rows.

Given the group of each row, the text is an aggregate, and the number is that of groups.
"""

spark_scalar: ContextVar[SparkScalar | None] = ContextVar("spark_scalar", default=None)
"""The session that computes scalars which have no rule here; None: they are refused."""

SORT = "_o"

COPIES = "_c"
"""Columns of a block's rows that say how often each is there: their product."""


class State:
    """The rows of one block without deletion.

    Rows have positions: the captured potential tuples first, the same in every scenario, then
    tuples that only deletions make.

    Attributes
    ----------
    size
        The number of positions.
    present
        Boolean array: the tuples that the block yields, after HAVING and LIMIT.
    before_limit
        Boolean array: the tuples that it yields after HAVING.
    changed
        Sorted places whose values or presence may differ from the state without deletion.
    flipped
        Sorted places whose presence differs.
    """

    changed: Array = NOTHING
    flipped: Array = NOTHING

    def __init__(self, block: Block, size: int, present: Array, take: Take) -> None:
        self.block = block
        self.size = size
        self._take = take
        self.before_limit = present
        if block.limited:
            present = np.zeros(size, dtype=np.bool_)
            stop = None if block.limit is None else block.offset + block.limit
            present[self.sequence[block.offset : stop]] = True
        self._present = present

    @property
    def present(self) -> Array:
        """See the class."""
        return self._present

    def there(self, places: Array) -> Array:
        """Boolean array: the tuples at some places that the block yields."""
        there: Array = self._present[positions_of(places)]
        return there

    def flips(self, places: Array, there: Array) -> Array:
        """Return the places whose presence before LIMIT is another one, given what it is now."""
        was = np.append(self.before_limit, False)[np.minimum(positions_of(places), self.size)]
        flipped: Array = places[was != there]
        return flipped

    def take(self, name: str, places: Array) -> pa.Array:
        """Return values of an identity column, an output or a sort key (``_o0``...) at some places.

        They are known for tuples that are there before LIMIT cuts them.
        """
        return self._take(name, positions_of(places))

    @cached_property
    def ordered(self) -> Array:
        """The positions of the rows that the block yields, in its order."""
        block = self.block
        if not block.limited:
            rows = np.flatnonzero(self.present)
            return self._sorted(rows) if block.order else rows
        stop = None if block.limit is None else block.offset + block.limit
        return self.sequence[block.offset : stop]

    @cached_property
    def sequence(self) -> Array:
        """The positions of the rows before LIMIT cuts them, in the order it does."""
        if not self.block.limited:
            return self.ordered
        return self._sorted(np.flatnonzero(self.before_limit))

    def _sorted(self, rows: Array) -> Array:
        keys = sort_keys(self.block, lambda name: self.take(name, rows))
        return rows[order.order(keys, len(rows))]

    def copies(self, places: Array) -> Array:
        """Return the number of copies of rows at some places: int64, 1 but for bag differences."""
        counts = np.ones(len(places), dtype=np.int64)
        # The groups of members that come several times are there once.
        repeated = () if self.block.kind is Kind.GROUP else self.block.copies
        for number in range(len(repeated)):
            times = self.take(f"{COPIES}{number}", places).cast(pa.int64())
            counts *= times.to_numpy(zero_copy_only=False)
        return counts

    @property
    def repeated(self) -> Array:
        """The positions of `ordered`, each as often as its row comes."""
        return np.repeat(self.ordered, self.copies(self.ordered))

    def single(self, name: str) -> pa.Array:
        """The single value of a block used as a scalar, as an array of length 1.

        Raises
        ------
        CaptureError
            When the block yields more than one row.
        """
        rows = np.flatnonzero(self.present)
        if len(rows) > 1:
            raise _several(self.block, len(rows))
        if len(rows):
            return self.take(name, rows)
        return pa.nulls(1, self.take(name, rows).type)

    def scalar(self, name: str, places: Array) -> pa.Array:
        """The value of a block used as a scalar in the scenario of each of some places.

        An array of length 1 where it is the same in all scenarios.
        """
        del places
        return self.single(name)

    def rescaled(self, name: str) -> Array:
        """The scenarios, sorted, in which the value of a block used as a scalar is another one."""
        del name
        return NOTHING


class Supposed(State):
    """The rows of one block in some scenarios.

    Parameters
    ----------
    base
        The rows without deletion.
    take
        The values at places that are present before LIMIT.
    changed, flipped
        See :class:`State`; before LIMIT.
    """

    def __init__(self, base: State, size: int, take: Take, changed: Array, flipped: Array) -> None:
        self.block = base.block
        self.size = size
        self.base = base
        self._take = take
        self._flipped_before_limit = flipped
        if base.block.limited:
            touched = union(changed, flipped)
            flipped = self._cut(touched, flipped)
            changed = union(touched, flipped)
        self.changed = changed
        self.flipped = flipped
        self._singles: dict[str, tuple[Array, pa.Array]] = {}

    def _cut(self, touched: Array, flipped: Array) -> Array:
        """The places whose presence LIMIT makes another one, or leaves so.

        In each scenario the rows kept are among those touched, and the first of the others in the
        captured order: as many as LIMIT keeps and rows may have gone.
        """
        block, base = self.block, self.base
        sequence = base.sequence
        stop = len(sequence) if block.limit is None else block.offset + block.limit
        numbers, counts = np.unique(scenarios_of(touched), return_counts=True)
        stops = np.minimum(stop + counts, len(sequence))
        first, owners = expand(np.zeros(len(numbers), dtype=np.int64), stops)
        candidates = union(touched, pack(numbers[owners], sequence[first]))
        shown = candidates[_there(base.before_limit, flipped, candidates)]
        keys = [order.Key(pa.array(scenarios_of(shown)))]
        keys += sort_keys(block, lambda name: self._take(name, shown))
        ordered = order.order(keys, len(shown))
        by_scenario = scenarios_of(shown)[ordered]
        rank = np.arange(len(ordered)) - np.searchsorted(by_scenario, by_scenario)
        last = np.inf if block.limit is None else block.offset + block.limit
        kept = np.sort(shown[ordered[(rank >= block.offset) & (rank < last)]])
        was = _there(base.present, NOTHING, candidates)
        cut: Array = candidates[was != contains(kept, candidates)]
        return cut

    @cached_property
    def present(self) -> Array:
        """The tuples that the block yields in the scenario 0."""
        present = np.zeros(self.size, dtype=np.bool_)
        present[: self.base.size] = self.base.present
        flipped = self.flipped[scenarios_of(self.flipped) == 0]
        present[flipped] = ~present[flipped]
        return present

    @cached_property
    def sequence(self) -> Array:
        """The positions of the rows before LIMIT cuts them in the scenario 0, in its order."""
        there = _there(self.base.before_limit, self._flipped_before_limit, np.arange(self.size))
        return self._sorted(np.flatnonzero(there))

    @cached_property
    def ordered(self) -> Array:
        """The positions of the rows that the block yields in the scenario 0, in its order."""
        rows = np.flatnonzero(self.present)
        return self._sorted(rows) if self.block.limited or self.block.order else rows

    def there(self, places: Array) -> Array:
        """See :class:`State`."""
        return _there(self.base.present, self.flipped, places)

    def take(self, name: str, places: Array) -> pa.Array:
        """See :class:`State`."""
        return self._take(name, places)

    def scalar(self, name: str, places: Array) -> pa.Array:
        """See :class:`State`."""
        numbers, singles = self._scenario_values(name)
        index = np.zeros(len(places), dtype=np.int64)
        found, rows = matches(scenarios_of(places), numbers)
        index[found] = 1 + rows
        return singles.take(pa.array(index))

    def rescaled(self, name: str) -> Array:
        """See :class:`State`."""
        numbers, singles = self._scenario_values(name)
        before = singles.take(pa.array(np.zeros(len(numbers), dtype=np.int64)))
        return numbers[~same(before, singles.slice(1))]

    def _scenario_values(self, name: str) -> tuple[Array, pa.Array]:
        """Touched scenarios, and the single value without deletion, then that of each of them.

        Raises
        ------
        CaptureError
            When the block yields more than one row in a scenario.
        """
        if name not in self._singles:
            numbers = ascending(scenarios_of(union(self.changed, self.flipped)))
            before = np.flatnonzero(self.base.present)
            candidates = union(everywhere(numbers, before), self.flipped)
            rows = candidates[self.there(candidates)]
            owners, counts = np.unique(scenarios_of(rows), return_counts=True)
            if len(owners) < len(rows):
                raise _several(self.block, int(counts.max()))
            now = self.take(name, rows)
            singles = spread(now, np.searchsorted(numbers, owners), len(numbers))
            was = as_type(self.base.single(name), singles.type)
            self._singles[name] = numbers, pa.concat_arrays([was, singles])
        return self._singles[name]


def _there(present: Array, flipped: Array, places: Array) -> Array:
    """Boolean array: the tuples that are there, given those without deletion and what flips."""
    positions = positions_of(places)
    known = positions < len(present)
    there = np.zeros(len(places), dtype=np.bool_)
    there[known] = present[positions[known]]
    return there ^ contains(flipped, places)


def _several(block: Block, count: int) -> CaptureError:
    return CaptureError(
        f"The scalar subquery {block.name} would yield {count} rows instead of one: Spark refuses "
        "the query without the deleted rows."
    )


def sort_keys(block: Block, column: Callable[[str], pa.Array]) -> list[order.Key]:
    """Return the keys that order a block's rows before their positions; `column` has the values."""
    keys = [
        order.Key(column(f"{SORT}{number}"), key.descending, key.nulls_first)
        for number, key in enumerate(block.order)
    ]
    if block.limited:
        keys += [order.Key(column(name)) for name in block.tie_break]
    return keys


@dataclass(frozen=True, slots=True)
class AskedValue:
    """One value of a block that is asked for, in scenarios: of a row, by its position."""

    position: int
    output: str

    @property
    def positions(self) -> Array:
        """The position, as an array."""
        return np.array([self.position], dtype=np.int64)


Context: TypeAlias = Callable[[str], State]
"""From the name of a block to its rows."""


def as_type(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return a column as one of a type.

    To a struct of fields that are not NULL, as a variant is, Arrow casts no NULL: even to the
    column's own type.
    """
    return column if column.type == kind else column.cast(kind)


def overlay(values: pa.Array, places: Array, patch: pa.Array) -> pa.Array:
    """Return `values` with the values of `patch` put at some places."""
    if not len(places):
        return values
    index = np.arange(len(values), dtype=np.int64)
    index[places] = len(values) + np.arange(len(places))
    return pa.concat_arrays([values, as_type(patch, values.type)]).take(pa.array(index))


def spread(values: pa.Array, places: Array, length: int) -> pa.Array:
    """Return a column of a length that has `values` at some places, and NULL elsewhere."""
    index = np.full(length, -1, dtype=np.int64)
    index[places] = np.arange(len(values))
    return values.take(pa.array(index, mask=index < 0))


def resolver(take: Callable[[str, str], pa.Array]) -> Resolve:
    """Return the columns that scalars read, by alias and name; each is taken once."""
    taken: dict[tuple[str, str], Vector] = {}

    def column(alias: str, name: str) -> Vector:
        if (alias, name) not in taken:
            taken[alias, name] = from_arrow(take(alias, name))
        return taken[alias, name]

    return column


def same(a: pa.Array, b: pa.Array) -> Array:
    """Return a Boolean array: the rows with equal values; NULL = NULL, NaN = NaN, -0.0 = 0.0."""
    if pa.types.is_nested(a.type) or pa.types.is_null(a.type):
        pairs = zip(a.to_pylist(), b.to_pylist(), strict=True)
        return np.array([x == y for x, y in pairs], dtype=np.bool_)
    null_a, null_b = (_nulls(column) for column in (a, b))
    equal = ranked(pa.concat_arrays([a, as_type(b, a.type)]))
    values: Array = (equal[: len(a)] == equal[len(a) :]).astype(np.bool_)
    return np.where(null_a | null_b, null_a & null_b, values)


def _nulls(column: pa.Array) -> Array:
    mask: Array = column.is_null().to_numpy(zero_copy_only=False)
    return mask


def values(
    scalar: Interpreted,
    resolve: Resolve,
    length: int,
    kind: pa.DataType | None,
    where: Array | None = None,
) -> pa.Array:
    """Return a scalar's values as an Arrow array, of the type that the capture stores.

    ``where`` is a Boolean array of the rows whose values matter; None: all rows.

    Raises
    ------
    UninterpretableError
        When only Spark can compute it.
    CaptureError
        When Spark would fail, such as of an overflow, a division by zero or a wrong cast.
    """
    vector = scalar.evaluate(resolve)
    try:
        if kind is not None and vector.type != kind:
            vector = cast(vector, kind)
        return vector.to_arrow(length, where)
    except UninterpretableError as error:
        raise UninterpretableError(scalar.text) from error
    except FailedError as error:
        raise CaptureError(f"{scalar.text} fails on these rows, as in Spark.") from error


def known_values(
    scalar: Interpreted,
    resolve: Resolve,
    length: int,
    kind: pa.DataType | None = None,
    where: Array | None = None,
) -> pa.Array:
    """Return `values`; what only Spark can compute by the session, NeedsSparkError without one."""
    try:
        return values(scalar, resolve, length, kind, where)
    except UninterpretableError as error:
        return values_by_spark(scalar, resolve, length, kind, error)


def values_by_spark(
    scalar: Interpreted,
    resolve: Resolve,
    length: int,
    kind: pa.DataType | None,
    cause: UninterpretableError,
) -> pa.Array:
    """Return `values` as the session computes them.

    Raises
    ------
    NeedsSparkError
        There is none, or the scalar fails for a row.
    """
    compute = spark_scalar.get()
    if compute is None:
        raise needs_spark(str(cause)) from cause
    try:
        columns = {name: resolve(*name).to_arrow(length) for name in scalar.columns}
        computed = compute(scalar.text, columns, length, None)
        return computed if kind is None else computed.cast(kind)
    except (CapabilityError, FailedError, UninterpretableError, pa.ArrowException) as error:
        raise needs_spark(scalar.text) from error


def needs_spark(text: str) -> NeedsSparkError:
    """The error for an expression that must be evaluated anew and that only Spark can."""
    return NeedsSparkError(
        f"The value of {text} changes with the deleted rows, and is not computed without Spark.\n"
        + OPEN_WITH_SPARK
    )
