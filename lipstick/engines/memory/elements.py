"""The rows that a generator makes: one for each element of an array, or entry of a map."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.places import beside, matches, pack, positions_of, scenarios_of
from lipstick.engines.memory.rows import Rows
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.state import AskedValue, Context, State, Supposed, as_type
from lipstick.engines.memory.store import OPEN_WITH_SPARK, every
from lipstick.errors import CaptureError, NeedsSparkError
from rewriter.blocks import Block, Generator
from rewriter.passes.split_generators import ARRAY
from semiring.arrays.arrow import decoded
from semiring.arrays.segments import bounds, entries_of, expand, list_layout, places_of, union
from semiring.base import Array


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
        """The number of elements of each row."""
        return np.diff(self.offsets)


class ElementRows(Rows):
    """The tuples of a block that is a generator over another one.

    Positions: the elements of the arrays that are there without deletion, row by row, then elements
    that only a deletion makes. A row and a place in its array identify an element. Where no
    deletion changes the arrays, the arrays of rows that are not there without deletion count, too.

    Parameters
    ----------
    rows
        The rows of the other block.

    Raises
    ------
    NeedsSparkError
        For a generator whose rows only Spark knows.
    """

    def __init__(self, block: Block, rows: Rows, context: Context) -> None:
        (generator,) = block.generators
        if generator.position is None or generator.function:
            raise NeedsSparkError(
                f"Spark alone calls {rows.outputs[ARRAY].text}, whose rows a deletion may change.\n"
                + OPEN_WITH_SPARK
            )
        super().__init__(block, None, context, ((o.name, o.scalar) for o in block.outputs))
        self.generator = generator
        self.inner = rows.block.name
        self._rows = rows
        made = [output.name for output in block.outputs[-len(generator.columns) - 1 :]]
        self.place, self.made = made[0], made[1:]
        """The names of the columns that the generator makes."""
        self.stable = next(output.stable for output in block.outputs if output.name == self.place)
        """True if no deletion changes the arrays."""
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
        inner = self.context(self.inner)
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

    def base_present(self) -> Array:
        """See :class:`Rows`."""
        present: Array = self.context(self.inner).present[self.owners]
        return present

    def _base_take(self, name: str, positions: Array) -> pa.Array:
        inner = self.context(self.inner)
        return self._take(inner, self.owners, self.known[1], None, name, positions)

    def _take(
        self,
        inner: State,
        owners: Array,
        elements: Elements,
        touched: tuple[Array, Array] | None,
        name: str,
        places: Array,
    ) -> pa.Array:
        """A column at some places.

        Parameters
        ----------
        owners
            The row of every position.
        touched
            Sorted places with another element than their position has, and the numbers of these
            elements; -1: none.
        """
        positions = positions_of(places)
        if name in self.passed:
            return inner.take(self.passed[name], beside(places, owners[positions]))
        chosen = positions
        if touched is not None:
            found, rows = matches(places, touched[0])
            chosen[found] = touched[1][rows]
        there = chosen >= 0
        if name != self.place:
            column = elements.columns[self.made.index(name)]
            return column.take(pa.array(chosen, mask=~there))
        numbers = np.append(elements.places, -1)[chosen]
        return pa.array(numbers, pa.int32(), mask=numbers < 0)

    # -- with a deletion -------------------------------------------------------------------

    def evaluate(
        self, context: Context, deleted: Mapping[str, Deleted], asked: AskedValue | None = None
    ) -> State:
        """See :class:`Rows`."""
        del deleted, asked
        inner, old = context(self.inner), self.context(self.inner)
        if inner is old:
            return self.base
        affected = union(inner.changed, inner.flipped)
        return self._under(inner, affected) if len(affected) else self.base

    def _under(self, inner: State, affected: Array) -> State:
        """The elements where some rows are others, or not there, or there."""
        rows, known = self.known
        there = inner.there(affected)
        now = self._taken_apart(inner, affected[there])
        sizes, first = np.zeros((2, len(affected)), dtype=np.int64)
        sizes[there] = now.sizes
        first[there] = len(known.places) + now.offsets[:-1]
        # Elements that were known: at the same place of the array that is there now.
        before = np.zeros(len(affected), dtype=np.int64)
        start = before.copy()
        at, index = matches(positions_of(affected), rows)
        before[at], start[at] = known.sizes[index], known.offsets[:-1][index]
        positions, owner = expand(start, start + before)
        number = positions - start[owner]
        kept = number < sizes[owner]
        old_places = beside(affected[owner], positions)
        old_index = np.where(kept, first[owner] + number, -1)
        # Elements that were not.
        new, maker = expand(np.minimum(before, sizes), sizes)
        identity = pack(positions_of(affected[maker]), new)
        distinct_new, codes = np.unique(identity, return_inverse=True)
        new_places = beside(affected[maker], len(known.places) + codes)
        touched = np.concatenate([old_places, new_places])
        index = np.concatenate([old_index, first[maker] + new])
        by_place = np.argsort(touched)
        touched, index = touched[by_place], index[by_place]
        owners = np.concatenate([self.owners, scenarios_of(distinct_new)])
        take = partial(self._take, inner, owners, _joined(known, now), (touched, index))
        flipped = self.base.flips(touched, index >= 0)
        return Supposed(self.base, len(owners), take, touched, flipped)


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
    """Return the elements of some rows, then the elements of others."""
    return Elements(
        np.concatenate([one.offsets, len(one.places) + other.offsets[1:]]),
        np.concatenate([one.places, other.places]),
        tuple(
            pa.concat_arrays([a, as_type(b, a.type)])
            for a, b in zip(one.columns, other.columns, strict=True)
        ),
    )
