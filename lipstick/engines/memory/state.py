"""The rows of a block under one deletion, and how rows are put in the block's order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.engines.memory import order
from lipstick.engines.memory.store import OPEN_WITH_SPARK
from lipstick.errors import CaptureError, NeedsSparkError
from rewriter.blocks import Block, Kind
from rewriter.interpret import FailedError, Interpreted, Resolve, UninterpretableError, cast
from semiring.base import Array
from semiring.ranks import ranked

Take: TypeAlias = Callable[[str, Array], pa.Array]
"""From the name of a column of a block's rows, and positions, to values."""

NOTHING: Array = np.zeros(0, dtype=np.int64)

SORT = "_o"

COPIES = "_c"
"""Columns of a block's rows that say how often each is there: their product."""


class State:
    """The rows of one block, under one deletion or none.

    Rows have positions: those of the captured potential tuples first, the same under every
    deletion, then tuples that only this deletion makes.

    Attributes
    ----------
    size
        The number of positions.
    present
        Boolean array: the tuples that the block yields, after HAVING and LIMIT.
    changed
        Sorted positions whose values or presence may differ from those without deletion.
    flipped
        Sorted positions whose presence differs.
    take
        Values of an identity column, an output or a sort key (``_o0``...) at positions that are
        present.
    """

    def __init__(
        self,
        block: Block,
        size: int,
        present: Array,
        take: Take,
        base: State | None = None,
        changed: Array = NOTHING,
    ) -> None:
        self.block = block
        self.size = size
        self.take = take
        self.present = present
        if block.limited:
            self.present = np.zeros(size, dtype=np.bool_)
            self._full = present
            self.present[self.ordered] = True
        self.changed = changed
        self.flipped = NOTHING
        if base is not None:
            before = np.zeros(size, dtype=np.bool_)
            before[: base.size] = base.present
            self.flipped = np.flatnonzero(before != self.present)
            if block.limited:
                self.changed = np.union1d(changed, self.flipped)

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
        return self._sorted(np.flatnonzero(self._full)) if self.block.limited else self.ordered

    def _sorted(self, rows: Array) -> Array:
        keys = sort_keys(self.block, lambda name: self.take(name, rows))
        return rows[order.order(keys, len(rows))]

    def copies(self, positions: Array) -> Array:
        """How often the rows at some positions are there: int64, 1 but for bag differences."""
        counts = np.ones(len(positions), dtype=np.int64)
        # The groups of members that come several times are there once.
        repeated = () if self.block.kind is Kind.GROUP else self.block.copies
        for number in range(len(repeated)):
            times = self.take(f"{COPIES}{number}", positions).cast(pa.int64())
            counts *= times.to_numpy(zero_copy_only=False)
        return counts

    def scalar(self, name: str) -> pa.Array:
        """The single value of a block used as a scalar, as an array of length 1.

        Raises
        ------
        CaptureError
            When the block yields more than one row.
        """
        rows = np.flatnonzero(self.present)
        if len(rows) > 1:
            raise CaptureError(
                f"The scalar subquery {self.block.name} would yield {len(rows)} rows instead of "
                "one: Spark refuses the query without the deleted rows."
            )
        if len(rows):
            return self.take(name, rows)
        return pa.nulls(1, self.take(name, rows).type)


def sort_keys(block: Block, column: Callable[[str], pa.Array]) -> list[order.Key]:
    """What a block's rows are ordered by, before their positions; `column` has the values."""
    keys = [
        order.Key(column(f"{SORT}{number}"), key.descending, key.nulls_first)
        for number, key in enumerate(block.order)
    ]
    if block.limited:
        keys += [order.Key(column(name)) for name in block.tie_break]
    return keys


Context: TypeAlias = Callable[[str], State]
"""From the name of a block to its rows."""


class Rows(ABC):
    """The captured rows of a block, and what becomes of them under a deletion."""

    block: Block
    outputs: dict[str, Interpreted]
    """The columns that are computed, sort keys among them."""

    @property
    @abstractmethod
    def base(self) -> State:
        """The rows without any deletion."""

    @abstractmethod
    def evaluate(self, context: Context, deleted: Mapping[str, pa.Table]) -> State:
        """The rows once tuples are deleted and other blocks are as `context` says.

        Raises
        ------
        CaptureError
            When an expression must be evaluated that only Spark can.
        """

    def check(self) -> None:
        """Compute every column of the rows without any deletion, also of those that LIMIT cuts.

        Raises
        ------
        CaptureError
            When that needs Spark, or fails.
        """
        for name in self.outputs:
            self.base.take(name, self.base.sequence)


def overlay(values: pa.Array, places: Array, patch: pa.Array) -> pa.Array:
    """`values` with those of `patch` put at some places."""
    if not len(places):
        return values
    index = np.arange(len(values), dtype=np.int64)
    index[places] = len(values) + np.arange(len(places))
    return pa.concat_arrays([values, patch.cast(values.type)]).take(pa.array(index))


def matches(positions: Array, among: Array) -> tuple[Array, Array]:
    """Where sorted distinct `among` occur in `positions`: places in both."""
    if not len(among) or not len(positions):
        return NOTHING, NOTHING
    index = np.minimum(np.searchsorted(among, positions), len(among) - 1)
    places = np.flatnonzero(among[index] == positions)
    return places, index[places]


def contains(among: Array, positions: Array) -> Array:
    """Boolean array: which positions are among some sorted ones."""
    result = np.zeros(len(positions), dtype=np.bool_)
    result[matches(positions, among)[0]] = True
    return result


def same(a: pa.Array, b: pa.Array) -> Array:
    """Where two columns have equal values: NULL equals NULL, NaN equals NaN, -0.0 equals 0.0."""
    if pa.types.is_nested(a.type) or pa.types.is_null(a.type):
        pairs = zip(a.to_pylist(), b.to_pylist(), strict=True)
        return np.array([x == y for x, y in pairs], dtype=np.bool_)
    null_a, null_b = (_nulls(column) for column in (a, b))
    equal = ranked(pa.concat_arrays([a, b.cast(a.type)]))
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
    """A scalar's values as an Arrow array, of the type that the capture stores.

    ``where`` says of which rows the values matter, as a Boolean array; None: of all.

    Raises
    ------
    UninterpretableError
        When only Spark can compute it.
    CaptureError
        When Spark would fail, of an overflow or a division by zero.
    """
    vector = scalar.evaluate(resolve)
    try:
        if kind is not None and vector.type != kind:
            vector = cast(vector, kind)
        return vector.to_arrow(length, where)
    except UninterpretableError as error:
        raise UninterpretableError(scalar.text) from error
    except FailedError as error:
        raise CaptureError(
            f"{scalar.text} fails without the deleted rows ({error}): so would the query in Spark."
        ) from error


def union(parts: Iterable[Array]) -> Array:
    """Positions that are in some arrays of them, sorted, each once."""
    kept = [part for part in parts if len(part)]
    if not kept:
        return NOTHING
    if len(kept) == 1:
        part = kept[0]
        return part if bool((part[1:] > part[:-1]).all()) else np.unique(part)
    return np.unique(np.concatenate(kept))


def needs_spark(text: str) -> NeedsSparkError:
    """The error for an expression that must be evaluated anew and that only Spark can."""
    return NeedsSparkError(
        f"The value of {text} changes with the deleted rows, and is not computed without Spark.\n"
        + OPEN_WITH_SPARK
    )


def equal_scalars(a: Any, b: Any) -> bool:
    """Whether two arrays of length 1 hold the same value."""
    return bool(same(a, b)[0])
