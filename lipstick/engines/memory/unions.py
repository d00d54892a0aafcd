"""Unions of blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.member_rows import stored_rows
from lipstick.engines.memory.members import scalar_changed
from lipstick.engines.memory.memberships import all_hold
from lipstick.engines.memory.state import SORT, Context, Rows, State, needs_spark, same, values
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

    Positions: those of the branches without deletion, one branch after the other, then tuples that
    only a deletion makes.

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
        return self._state(self.context, None)

    def _state(self, context: Context, changed: Array | None) -> State:
        branches, inside = self.places(context)
        take = partial(self._take, context, branches, inside)
        present = np.zeros(len(branches), dtype=np.bool_)
        for number, branch in enumerate(self.block.branches):
            in_branch = branches == number
            present[in_branch] = context(branch.name).present[inside[in_branch]]
        if self._having:
            rows = np.flatnonzero(present)
            resolve = self._resolve(context, branches[rows], inside[rows])
            present[rows] = all_hold(self._having, resolve, len(rows))
        if changed is None:
            self._before_limit = present.copy()
            return State(self.block, len(branches), present, take)
        return State(self.block, len(branches), present, take, self.base, changed)

    def evaluate(self, context: Context, deleted: Mapping[str, pa.Table]) -> State:
        """See :class:`Rows`."""
        branches, inside = self.places(context)
        if self._scalars_changed(context):
            return self._state(context, every(len(branches)))
        touched = np.zeros(len(branches), dtype=np.bool_)
        for number, branch in enumerate(self.block.branches):
            state = context(branch.name)
            differing = np.zeros(state.size, dtype=np.bool_)
            differing[state.changed] = True
            differing[state.flipped] = True
            rows = branches == number
            touched[rows] = differing[inside[rows]]
        changed = np.flatnonzero(touched)
        return self._state(context, changed) if len(changed) else self.base

    def _scalars_changed(self, context: Context) -> bool:
        return any(
            scalar_changed(self._scalars[alias], name, context, self.context)
            for scalar in (*self._having, *self.outputs.values())
            for alias, name in scalar.columns
            if alias in self._scalars
        )

    # -- columns ---------------------------------------------------------------------------

    def _take(
        self, context: Context, branches: Array, inside: Array, name: str, positions: Array
    ) -> pa.Array:
        where, places = branches[positions], inside[positions]
        if name == BRANCH and name not in self.outputs:
            return pa.array(where, pa.int32())
        if name in self.identity and name not in self.outputs:
            number, column = self.identity[name]
            return self._of_branch(context, number, column, where, places)
        scalar = self.outputs[name]
        try:
            resolve = self._resolve(context, where, places)
            kind = None if self._stored is None else self._stored.type(name)
            return values(scalar, resolve, len(positions), kind)
        except UninterpretableError as error:
            known = self._stored is not None
            if not (known and self._unchanged(scalar, context, where, places, positions)):
                raise needs_spark(str(error)) from error
            assert self._stored is not None
            return self._stored.take(name, self._stored_rows[positions])

    def _unchanged(
        self,
        scalar: Interpreted,
        context: Context,
        where: Array,
        places: Array,
        positions: Array,
    ) -> bool:
        """Whether the stored values of an output hold at some positions."""
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
        branches, inside = self.places(self.context)
        take = partial(self._take, self.context, branches, inside)
        return stored_rows(self._stored, self.block, self._before_limit, take)

    def _resolve(self, context: Context, where: Array, places: Array) -> Resolve:
        taken: dict[tuple[str, str], Vector] = {}

        def column(alias: str, name: str) -> Vector:
            if (alias, name) not in taken:
                if alias == UNION:
                    taken[alias, name] = self._column(context, name, where, places)
                else:
                    scalar = context(self._scalars[alias].block.name).scalar(name)
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
