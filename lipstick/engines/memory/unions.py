"""Unions of blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.members import rescaled
from lipstick.engines.memory.memberships import all_hold
from lipstick.engines.memory.places import beside, everywhere, positions_of
from lipstick.engines.memory.rows import Rows
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.state import AskedValue, Context, State, Supposed, resolver, spread
from lipstick.engines.memory.store import Dataset, every
from rewriter.blocks import UNION, Block
from rewriter.emit import BRANCH
from rewriter.interpret import Resolve, cast, from_arrow, interpret, unify
from semiring.arrays.segments import union
from semiring.base import Array


class UnionRows(Rows):
    """The tuples of a union of blocks.

    Positions: the tuples of the branches without deletion, one branch after the other, then tuples
    that only a deletion makes.
    """

    def __init__(self, block: Block, stored: Dataset | None, context: Context) -> None:
        outputs = ((output.name, output.scalar) for output in block.outputs)
        super().__init__(block, stored, context, outputs)
        self._columns = {
            output.name: number for number, output in enumerate(block.branches[0].outputs)
        }
        self.identity = {
            f"_{number}_{name}": (number, name)
            for number, branch in enumerate(block.branches)
            for name in branch.identity
        }
        self._having = tuple(map(interpret, block.having))

    def places(self, context: Context) -> tuple[Array, Array]:
        """The branch of every position, and the position in the branch."""
        return self.places_of([context(branch.name).size for branch in self.block.branches])

    def places_of(self, grown: Sequence[int]) -> tuple[Array, Array]:
        """The same where branches have more positions than without deletion."""
        sizes = [self.context(branch.name).size for branch in self.block.branches]
        more = [after - before for before, after in zip(sizes, grown, strict=True)]
        numbers = np.arange(len(sizes), dtype=np.int64)
        branches = np.concatenate([np.repeat(numbers, sizes), np.repeat(numbers, more)])
        inside = [every(size) for size in sizes]
        inside += [np.arange(a, b) for a, b in zip(sizes, grown, strict=True)]
        return branches, np.concatenate(inside)

    def base_present(self) -> Array:
        """See :class:`Rows`."""
        context = self.context
        parts = [context(branch.name).present for branch in self.block.branches]
        present = np.concatenate(parts)
        if self._having:
            rows = np.flatnonzero(present)
            resolve = self._resolve(context, *self._split(context, rows))
            present[rows] = all_hold(self._having, resolve, len(rows))
        return present

    def evaluate(
        self, context: Context, deleted: Mapping[str, Deleted], asked: AskedValue | None = None
    ) -> State:
        """See :class:`Rows`."""
        del deleted, asked
        sizes, more = self._sizes(context)
        size = sum(sizes) + sum(more)
        touched = []
        for number, branch in enumerate(self.block.branches):
            state = context(branch.name)
            places = union(state.changed, state.flipped)
            positions = positions_of(places)
            new = positions >= sizes[number]
            shift = np.where(new, sum(sizes) + sum(more[:number]) - sizes[number], 0)
            touched.append(beside(places, positions + np.where(new, shift, sum(sizes[:number]))))
        scalars = rescaled(self.block, (*self._having, *self.outputs.values()), context)
        changed = union(*touched, everywhere(scalars, every(size)))
        if not len(changed):
            return self.base
        branches, inside = self._split(context, changed)
        now = np.zeros(len(changed), dtype=np.bool_)
        for number, branch in enumerate(self.block.branches):
            in_branch = branches == number
            now[in_branch] = context(branch.name).there(inside[in_branch])
        if self._having:
            rows = np.flatnonzero(now)
            resolve = self._resolve(context, branches[rows], inside[rows])
            now[rows] = all_hold(self._having, resolve, len(rows))
        take = partial(self._take, context)
        return Supposed(self.base, size, take, changed, self.base.flips(changed, now))

    def _sizes(self, context: Context) -> tuple[list[int], list[int]]:
        """Return the number of positions of each branch without deletion, and the number of
        positions that deletions add."""
        sizes = [self.context(branch.name).size for branch in self.block.branches]
        grown = [context(branch.name).size for branch in self.block.branches]
        return sizes, [after - before for before, after in zip(sizes, grown, strict=True)]

    def _split(self, context: Context, places: Array) -> tuple[Array, Array]:
        """The branches of tuples at some places, and their places in these."""
        sizes, more = self._sizes(context)
        ends = np.cumsum([*sizes, *more])
        positions = positions_of(places)
        part = np.searchsorted(ends, positions, side="right")
        branches = part % len(sizes)
        inside = positions - (ends - [*sizes, *more])[part]
        inside += np.where(part >= len(sizes), np.array(sizes)[branches], 0)
        return branches, beside(places, inside)

    # -- columns ---------------------------------------------------------------------------

    def _base_take(self, name: str, positions: Array) -> pa.Array:
        return self._take(self.context, name, positions)

    def _take(self, context: Context, name: str, at: Array) -> pa.Array:
        where, places = self._split(context, at)
        if name == BRANCH and name not in self.outputs:
            return pa.array(where, pa.int32())
        if name in self.identity and name not in self.outputs:
            number, column = self.identity[name]
            there = np.flatnonzero(where == number)
            branch = context(self.block.branches[number].name)
            return spread(branch.take(column, places[there]), there, len(where))
        before = None
        if context is not self.context:
            before = self._resolve(self.context, where, places)
        return self._output(name, at, self._resolve(context, where, places), before)

    def _resolve(self, context: Context, where: Array, places: Array) -> Resolve:
        def column(alias: str, name: str) -> pa.Array:
            if alias == UNION:
                return self._column(context, name, where, places)
            return context(self.block.by_alias[alias].block.name).scalar(name, places)

        return resolver(column)

    def _column(self, context: Context, name: str, where: Array, places: Array) -> pa.Array:
        """A column of the union: of every branch its own, in the type that holds them all."""
        parts, rows = [], []
        for number, branch in enumerate(self.block.branches):
            in_branch = np.flatnonzero(where == number)
            output = branch.outputs[self._columns[name]]
            if output.always_null:
                part = pa.nulls(len(in_branch))
            else:
                part = context(branch.name).take(output.name, places[in_branch])
            parts.append(from_arrow(part))
            rows.append(in_branch)
        kind = unify(*(part.type for part in parts))
        arrays = [cast(part, kind).to_arrow(len(part)) for part in parts]
        order = np.argsort(np.concatenate(rows), kind="stable")
        return pa.concat_arrays(arrays).take(pa.array(order))
