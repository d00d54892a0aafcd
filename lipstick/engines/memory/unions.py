"""Unions of blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.member_rows import stored_rows
from lipstick.engines.memory.members import rescaled
from lipstick.engines.memory.memberships import all_hold
from lipstick.engines.memory.places import beside, everywhere, positions_of, union
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.state import (
    SORT,
    Context,
    Rows,
    State,
    Supposed,
    needs_spark,
    same,
    values,
)
from lipstick.engines.memory.store import Dataset, every
from rewriter.blocks import UNION, Block
from rewriter.emit import BRANCH
from rewriter.interpret import (
    Interpreted,
    Resolve,
    UninterpretableError,
    Vector,
    cast,
    from_arrow,
    interpret,
    unify,
)
from semiring.base import Array


class UnionRows(Rows):
    """The tuples of a union of blocks.

    Positions: the tuples of the branches without deletion, one branch after the other, then tuples
    that only a deletion makes.

    Parameters
    ----------
    stored
        The captured rows; None where all of their columns are computed here.
    """

    def __init__(self, block: Block, stored: Dataset | None, base: Context) -> None:
        self.block = block
        self._stored = stored
        self.context = base
        self._columns = {
            output.name: number for number, output in enumerate(block.branches[0].outputs)
        }
        self.identity = {
            f"_{number}_{name}": (number, name)
            for number, branch in enumerate(block.branches)
            for name in branch.identity
        }
        self.outputs = {output.name: interpret(output.scalar) for output in block.outputs}
        for number, key in enumerate(block.order):
            self.outputs[f"{SORT}{number}"] = interpret(key.scalar)
        self._having = tuple(map(interpret, block.having))
        self._scalars = {lookup.alias: lookup for lookup in block.lookups if lookup.scalar}

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

    @cached_property
    def base(self) -> State:
        """The captured tuples."""
        context = self.context
        parts = [context(branch.name).present for branch in self.block.branches]
        present = np.concatenate(parts)
        if self._having:
            rows = np.flatnonzero(present)
            resolve = self._resolve(context, *self._split(context, rows))
            present[rows] = all_hold(self._having, resolve, len(rows))
        return State(self.block, len(present), present, partial(self._take, context))

    def evaluate(self, context: Context, deleted: Mapping[str, Deleted]) -> State:
        """See :class:`Rows`."""
        del deleted
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
        scalars = rescaled(self._scalars, (*self._having, *self.outputs.values()), context)
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
        was = np.append(self.base.before_limit, False)[
            np.minimum(positions_of(changed), self.base.size)
        ]
        take = partial(self._take, context)
        return Supposed(self.base, size, take, changed, changed[was != now])

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

    def _take(self, context: Context, name: str, at: Array) -> pa.Array:
        where, places = self._split(context, at)
        if name == BRANCH and name not in self.outputs:
            return pa.array(where, pa.int32())
        if name in self.identity and name not in self.outputs:
            number, column = self.identity[name]
            return self._of_branch(context, number, column, where, places)
        scalar = self.outputs[name]
        try:
            resolve = self._resolve(context, where, places)
            kind = None if self._stored is None else self._stored.type(name)
            return values(scalar, resolve, len(at), kind)
        except UninterpretableError as error:
            known = self._stored is not None
            if not (known and self._unchanged(scalar, context, where, places, at)):
                raise needs_spark(str(error)) from error
            assert self._stored is not None
            return self._stored.take(name, self._stored_rows[positions_of(at)])

    def _unchanged(
        self,
        scalar: Interpreted,
        context: Context,
        where: Array,
        places: Array,
        at: Array,
    ) -> bool:
        """Return True if the stored values of an output hold at some places of the union."""
        positions = positions_of(at)
        if context is self.context:
            return bool((self._stored_rows[positions] >= 0).all())
        known = (positions < self.base.size).all() and self.base.present[positions].all()
        if not (known and self.block.unique_identity):
            return False
        old, new = (self._resolve(at, where, places) for at in (self.context, context))
        try:
            return all(
                same(old(*column).to_arrow(len(where)), new(*column).to_arrow(len(where))).all()
                for column in scalar.columns
            )
        except UninterpretableError:  # the branches' types have no common one here
            return False

    @cached_property
    def _stored_rows(self) -> Array:
        assert self._stored is not None
        take = partial(self._take, self.context)
        return stored_rows(self._stored, self.block, self.base.before_limit, take)

    def _resolve(self, context: Context, where: Array, places: Array) -> Resolve:
        taken: dict[tuple[str, str], Vector] = {}

        def column(alias: str, name: str) -> Vector:
            if (alias, name) not in taken:
                if alias == UNION:
                    taken[alias, name] = self._column(context, name, where, places)
                else:
                    scalar = context(self._scalars[alias].block.name).scalar(name, places)
                    taken[alias, name] = from_arrow(scalar)
            return taken[alias, name]

        return column

    def _column(self, context: Context, name: str, where: Array, places: Array) -> Vector:
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
        return from_arrow(pa.concat_arrays(arrays).take(pa.array(order)))

    def _of_branch(
        self, context: Context, number: int, name: str, where: Array, places: Array
    ) -> pa.Array:
        """An identity column of one branch, NULL for the tuples of the others."""
        in_branch = np.flatnonzero(where == number)
        branch = self.block.branches[number].name
        taken = context(branch).take(name, places[in_branch])
        index = np.full(len(where), -1, dtype=np.int64)
        index[in_branch] = np.arange(len(in_branch))
        return taken.take(pa.array(index, mask=index < 0))
