"""The rows that a generator makes: one for each element of an array, or entry of a map."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.state import Context, Rows, State, contains
from lipstick.engines.memory.store import OPEN_WITH_SPARK, every
from lipstick.errors import CaptureError, NeedsSparkError
from rewriter.blocks import Block, Generator
from rewriter.interpret import interpret
from rewriter.passes.split_generators import ARRAY
from semiring.arrow import decoded
from semiring.base import Array
from semiring.segments import bounds, entries_of, list_layout, places_of


@dataclass(frozen=True, slots=True)
class Elements:
    """The arrays of some rows, taken apart.

    Attributes
    ----------
    offsets
        CSR offsets of the rows' elements; with OUTER a row without any has one.
    places
        Of every element its place in its array; -1 where there is none.
    columns
        What the elements are, by the columns of the generator.
    """

    offsets: Array
    places: Array
    columns: tuple[pa.Array, ...]

    @property
    def sizes(self) -> Array:
        """How many elements each row has."""
        return np.diff(self.offsets)


class ElementRows(Rows):
    """The tuples of a block that is a generator over another one.

    Positions: the elements of the arrays that are there without deletion, row by row, then those
    that only a deletion makes. An element is told by its row and its place in the array. Where no
    deletion changes the arrays, those of rows count that are not there without deletion, too.

    Parameters
    ----------
    rows
        The rows of the other block.

    Raises
    ------
    NeedsSparkError
        For a generator of which only Spark knows the rows.
    """

    def __init__(self, block: Block, rows: Rows, context: Context) -> None:
        (generator,) = block.generators
        if generator.position is None or generator.function:
            raise NeedsSparkError(
                f"Spark alone calls {rows.outputs[ARRAY].text}, whose rows a deletion may change.\n"
                + OPEN_WITH_SPARK
            )
        self.block = block
        self.generator = generator
        self.inner = rows.block.name
        self._rows = rows
        self._context = context
        self.outputs = {output.name: interpret(output.scalar) for output in block.outputs}
        made = [output.name for output in block.outputs[-len(generator.columns) - 1 :]]
        self.place, self.made = made[0], made[1:]
        """The names of the columns that the generator makes."""
        self.stable = next(output.stable for output in block.outputs if output.name == self.place)
        """Whether no deletion changes the arrays."""
        self.passed = {
            name: column[1]
            for name, scalar in self.outputs.items()
            if name not in made and (column := scalar.column) is not None
        }
        """By output, the columns of the other block that are passed on."""

    # -- without deletion ------------------------------------------------------------------

    @cached_property
    def known(self) -> tuple[Array, Elements]:
        """The rows whose arrays are known without deletion, and the elements of these."""
        inner = self._context(self.inner)
        if self.stable:
            with suppress(CaptureError):
                rows = self._potential(inner)
                return rows, self._taken_apart(inner, rows)
        rows = np.flatnonzero(inner.present)
        return rows, self._taken_apart(inner, rows)

    def _potential(self, inner: State) -> Array:
        """The rows whose columns are known, there or not."""
        rows = every(inner.size)
        if isinstance(self._rows, MemberRows):
            rows = rows[self._rows.members.references.captured_alone]
        return rows

    def _taken_apart(self, inner: State, rows: Array) -> Elements:
        return taken_apart(self.generator, inner.take(ARRAY, rows))

    @cached_property
    def owners(self) -> Array:
        """The row of every element."""
        rows, elements = self.known
        return np.repeat(rows, elements.sizes)

    @cached_property
    def base(self) -> State:
        """The elements without any deletion."""
        inner = self._context(self.inner)
        present = inner.present[self.owners]
        take = partial(self._take, inner, self.owners, self.known[1], every(len(self.owners)))
        return State(self.block, len(self.owners), present, take)

    def _take(
        self,
        inner: State,
        owners: Array,
        elements: Elements,
        index: Array,
        name: str,
        positions: Array,
    ) -> pa.Array:
        """A column at some positions, of which each has its owner, and an element or none: -1."""
        if name in self.passed:
            return inner.take(self.passed[name], owners[positions])
        chosen = index[positions]
        there = chosen >= 0
        if name != self.place:
            column = elements.columns[self.made.index(name)]
            return column.take(pa.array(chosen, mask=~there))
        places = np.append(elements.places, -1)[chosen]
        return pa.array(places, pa.int32(), mask=places < 0)

    # -- with a deletion -------------------------------------------------------------------

    def evaluate(self, context: Context, deleted: Mapping[str, pa.Table]) -> State:
        """See :class:`Rows`."""
        del deleted
        inner, old = context(self.inner), self._context(self.inner)
        if inner is old:
            return self.base
        affected = np.union1d(inner.changed, inner.flipped)
        if not len(affected):
            return self.base
        return self._under(inner, affected)

    def _under(self, inner: State, affected: Array) -> State:
        """The elements where some rows are others, or not there, or there."""
        rows, known = self.known
        now_rows = affected[inner.present[affected]]
        now = self._taken_apart(inner, now_rows)
        joined = _joined(known, now)
        shift = len(known.places)
        size = np.zeros(inner.size, dtype=np.int64)
        first = np.zeros(inner.size, dtype=np.int64)
        size[now_rows], first[now_rows] = now.sizes, shift + now.offsets[:-1]
        # Elements that were known: at the same place of the array that is there now.
        numbers = places_of(known.offsets)
        touched = contains(affected, self.owners)
        index = every(shift)
        there = touched & (numbers < size[self.owners])
        index[touched] = -1
        index[there] = first[self.owners[there]] + numbers[there]
        present = np.where(touched, there, inner.present[self.owners])
        # Elements that were not.
        before = np.zeros(inner.size, dtype=np.int64)
        before[rows] = known.sizes
        more = np.maximum(size[now_rows] - before[now_rows], 0)
        new_owners = np.repeat(now_rows, more)
        start = np.repeat(first[now_rows] + before[now_rows], more)
        new = start + places_of(bounds(more))
        owners, index = np.concatenate([self.owners, new_owners]), np.concatenate([index, new])
        present = np.concatenate([present, np.ones(len(new), dtype=np.bool_)])
        changed = np.concatenate([np.flatnonzero(touched), shift + every(len(new))])
        take = partial(self._take, inner, owners, joined, index)
        return State(self.block, len(owners), present, take, self.base, changed)


def taken_apart(generator: Generator, arrays: pa.Array) -> Elements:
    """Take arrays or maps apart, as a generator does."""
    arrays = decoded(arrays)
    if pa.types.is_null(arrays.type):
        arrays = arrays.cast(pa.list_(pa.null()))
    if pa.types.is_map(arrays.type):
        arrays = entries_of(arrays)
    offsets, members = list_layout(arrays)
    columns = (members,)
    if len(generator.columns) > 1 or generator.inline:
        columns = tuple(members.flatten())
    places = places_of(offsets)
    if not generator.outer:
        return Elements(offsets, places, columns)
    sizes = np.diff(offsets)
    kept = bounds(np.maximum(sizes, 1))
    index = np.full(kept[-1], -1, dtype=np.int64)
    at = np.repeat(kept[:-1], sizes) + places
    index[at] = every(len(members))
    taken = pa.array(index, mask=index < 0)
    there = np.full(len(index), -1, dtype=np.int64)
    there[at] = places
    return Elements(kept, there, tuple(column.take(taken) for column in columns))


def _joined(one: Elements, other: Elements) -> Elements:
    """The elements of some rows, then those of others."""
    return Elements(
        np.concatenate([one.offsets, len(one.places) + other.offsets[1:]]),
        np.concatenate([one.places, other.places]),
        tuple(
            pa.concat_arrays([a, b.cast(a.type)])
            for a, b in zip(one.columns, other.columns, strict=True)
        ),
    )
