"""Columns of members, of the frames of windows, and of the rows that cores are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.state import same
from lipstick.engines.memory.window_frames import Ranges
from lipstick.engines.memory.window_rows import WindowRows
from lipstick.engines.memory.windows import MOST_IN_FRAMES, computed, placed, row_of_value
from lipstick.questions.why.sources import SourceRows
from rewriter.algebra import Scalar
from rewriter.analysis.column_lineage import (
    ColumnUse,
    captured_columns,
    elements,
    generated_uses,
    uses,
)
from rewriter.blocks import (
    MEMBER,
    Block,
    Core,
    Generator,
    ScanSource,
)
from rewriter.interpret import (
    UninterpretableError,
    WindowCall,
    from_arrow,
    interpret,
)
from semiring.arrays.arrow import decoded
from semiring.base import Array
from semiring.errors import CapabilityError

Column: TypeAlias = Callable[[str, str, Array], pa.Array]
"""Reads a column of an alias at some positions."""


class FrameReader:
    """A window function over the rows of a block that are there."""

    def __init__(self, rows: WindowRows, call: WindowCall) -> None:
        self.rows = rows
        self.call = call
        self._there = np.flatnonzero(rows.base_present())
        self._resolve = rows.members.resolve(self._there, rows.members.base)
        self.placement = placed(call, self._resolve, len(self._there))

    def values(self, positions: Array) -> pa.Array:
        """Return the values of some rows."""
        found = computed(self.call, self._resolve, len(self._there))
        return found.take(pa.array(np.searchsorted(self._there, positions)))

    def row_of_value(self, positions: Array) -> Array | None:
        """Return the rows whose values the given ones have, -1 for none; None: it computes."""
        found = row_of_value(self.call, self._resolve, len(self._there), self.placement)
        if found is None:
            return None
        own = found[np.searchsorted(self._there, positions)]
        return np.where(own < 0, -1, np.append(self._there, -1)[own])

    def partitions(self) -> Ranges:
        """Return the partition of each place."""
        return Ranges(self.placement.start, self.placement.stop)

    def frames(self) -> Ranges:
        """Return the frame of each place."""
        bounds = self.call.frame
        found = None if bounds is None else self.placement.ranges(bounds)
        if found is None:
            raise not_followed(f"{self.call.text}, whose frame only Spark knows")
        return found

    def rows_within(self, ranges: Ranges, positions: Array) -> Array:
        """Return the rows in the ranges of some rows."""
        return np.sort(self._there[self.placement.rows[self._own(ranges, positions).covered()]])

    def rows_of_each(self, ranges: Ranges, positions: Array) -> tuple[Array, Array]:
        """Return the rows in the range of each row, and for each the number of its owner."""
        own = self._own(ranges, positions)
        if int(own.sizes.sum()) > MOST_IN_FRAMES:
            raise not_followed(f"{self.call.text} of so many rows at once")
        places, _ = own.expanded()
        owners = np.repeat(np.arange(len(positions)), own.sizes)
        return self._there[self.placement.rows[places]], owners

    def _own(self, ranges: Ranges, positions: Array) -> Ranges:
        return ranges.of(self.placement.place[np.searchsorted(self._there, positions)])


class CoreReader:
    """The columns that scalars of a core read, for some members."""

    def __init__(
        self, sources: Callable[[str], SourceRows], block: Block, members: Members, core: Core
    ) -> None:
        self._sources = sources
        self._block = block
        self._members = members
        self._captured = captured_columns(core) if core is block.core else {}
        self.scans = {s.alias: s for s in core.sources if isinstance(s, ScanSource)}
        self._made: dict[str, list[Array]] = {}
        self.generators = {alias: each for each in core.generators for alias in each.aliases}

    def column(self, alias: str, its: str, at: Array) -> pa.Array:
        """Return a column, of the members or of the rows that they are made of."""
        generator = self.generators.get(alias)
        written = None if generator is None else elements(generator)
        if generator is not None and written is not None and its in generator.columns:
            place = generator.columns.index(its)
            value = pa.nulls(len(at))
            for scalars, held in zip(written, self._places(generator, at), strict=True):
                own = _evaluated(scalars[place], at, self.column)
                try:
                    value = pc.if_else(pa.array(held), own, value.cast(own.type))
                except pa.ArrowInvalid as error:
                    raise not_followed("an array of numbers of several types") from error
            return value
        if alias not in self.scans or (alias, its) in self._captured:
            return self._known(alias, its, at)
        source = self._sources(self.scans[alias].relation)
        rows = source.rows_of(self._members, scan_number(self._block, self.scans[alias]))[at]
        if not source.whole:
            raise CapabilityError(
                f"Which branch was taken depends on {source.name}, which cannot be read.\n"
                "Open the capture with Spark, or give the rows: sources={...}."
            )
        if its not in source.schema.names:
            raise not_followed(f"a condition on the nested column {its}")
        return decoded(source.column(its)).take(pa.array(rows, mask=rows < 0))

    def generated(self, use: ColumnUse, at: Array) -> Iterator[tuple[Iterator[ColumnUse], Array]]:
        """Yield the columns behind a column of a generator, and the members that they are of."""
        generator = self.generators[use.alias]
        written = elements(generator)
        if written is None:
            yield generated_uses(generator, use.name), at
        elif use.name in generator.columns:
            place = generator.columns.index(use.name)
            for scalars, held in zip(written, self._places(generator, at), strict=True):
                yield uses(scalars[place]), at[held]

    def _known(self, alias: str, its: str, at: Array) -> pa.Array:
        """Return a column that members have, or the rows that they refer to."""
        stored = self._captured.get((alias, its))
        if stored is None and alias not in self._block.lookups_by_alias:
            raise not_followed("a condition on values in FROM, or on a generator")
        read = (alias, its) if stored is None else (MEMBER, stored)
        return self._members.resolve(at, self._members.base)(*read).to_arrow(len(at))

    def _places(self, generator: Generator, at: Array) -> list[Array]:
        """Return, for each row of a constructor, a Boolean per member: it is made of this row."""
        if generator.alias not in self._made:
            every = np.arange(self._members.count)
            self._made[generator.alias] = self._rows_made(generator, every)
        return [held[at] for held in self._made[generator.alias]]

    def _rows_made(self, generator: Generator, at: Array) -> list[Array]:
        """Return the same of all members.

        By the place of the row if members have it, else by its values. Of rows with equal values
        each is there if the members are as many, and is given to one of them.
        """
        written = elements(generator) or []
        if generator.position is not None:
            with suppress(CapabilityError):
                place = self._known(generator.position_alias, generator.position, at)
                return [_equal(place, pa.scalar(number)) for number in range(len(written))]
        found = [np.ones(len(at), dtype=np.bool_) for _ in written]
        for number, name in enumerate(generator.columns):
            with suppress(CapabilityError):
                value = self._known(generator.alias, name, at)
                for row, scalars in enumerate(written):
                    made = _evaluated(scalars[number], at, self.column)
                    found[row] &= same(value, decoded(made).cast(value.type))
        dataset = self._members.dataset
        assert dataset is not None
        names = dict.fromkeys(name for token in self._block.tokens for name in token.columns)
        tokens = [dataset.take(name, at) for name in names]
        codes, _ = distinct([*tokens, *map(pa.array, found)], len(at))
        fitting = np.sum(found, axis=0)
        if ((fitting > 1) & (np.bincount(codes)[codes] != fitting)).any():
            raise not_followed("a generator whose rows the capture does not distinguish")
        order = np.argsort(codes, kind="stable")
        starts = np.cumsum(np.bincount(codes)) - np.bincount(codes)
        rank = np.empty(len(at), dtype=np.int64)
        rank[order] = np.arange(len(at)) - starts[codes[order]]
        # The rank-th of the members that are alike is made of the rank-th row that fits them.
        fits = np.cumsum(found, axis=0) - 1
        return [
            held & ((fitting == 1) | (nth == rank)) for held, nth in zip(found, fits, strict=True)
        ]


def scan_number(block: Block, scan: ScanSource) -> int:
    """Return the number of the tokens of a scan."""
    found = [n for n, t in enumerate(block.tokens) if t.relation == scan.relation]
    exact = [n for n in found if block.tokens[n].alias == scan.alias]
    if len(exact or found) != 1:
        raise not_followed("a relation that is read several times by branches of UNION")
    return (exact or found)[0]


def _equal(column: pa.Array, value: pa.Scalar) -> Array:
    held: Array = pc.equal(column, value).fill_null(False).to_numpy(zero_copy_only=False)
    return held


def taken(
    read: Iterator[ColumnUse], positions: Array, column: Column
) -> Iterator[tuple[ColumnUse, Array]]:
    """Yield the columns that are read, and the positions at which their guards hold."""
    for use in read:
        at = positions
        for condition, wanted in use.guards:
            at = at[_holds(condition, at, column) == wanted] if len(at) else at
        yield use, at


def _holds(condition: Scalar, at: Array, column: Column) -> Array:
    held = _evaluated(condition, at, column).fill_null(False).to_numpy(zero_copy_only=False)
    return np.asarray(held, dtype=np.bool_)


def _evaluated(scalar: Scalar, at: Array, column: Column) -> pa.Array:
    try:
        vector = interpret(scalar).evaluate(lambda alias, name: from_arrow(column(alias, name, at)))
    except UninterpretableError as error:
        raise not_followed(f"the condition {error}") from error
    return vector.to_arrow(len(at))


def not_followed(what: str) -> CapabilityError:
    return CapabilityError(
        f"Cells are not followed through {what}.\n"
        "column_lineage() has the columns that the value comes from, and lineage() the rows."
    )
