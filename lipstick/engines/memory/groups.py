"""Grouping blocks: aggregates of surviving members, then HAVING and the select list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.aggregates import Part
from lipstick.engines.memory.member_groups import MemberGroups
from lipstick.engines.memory.members import Members, rescaled
from lipstick.engines.memory.memberships import all_hold
from lipstick.engines.memory.patch import Patch, PatchedTake
from lipstick.engines.memory.places import (
    beside,
    contains,
    everywhere,
    matches,
    positions_of,
    union,
)
from lipstick.engines.memory.regroup import Moved, Regrouped, ResolveIn, regroup
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.state import (
    SORT,
    Context,
    Rows,
    State,
    Supposed,
    needs_spark,
    overlay,
    same,
    values,
)
from lipstick.engines.memory.store import OPEN_WITH_SPARK, Dataset, every
from lipstick.engines.memory.sums import ChunkedSums
from lipstick.errors import NeedsSparkError
from rewriter.blocks import GROUP, Block
from rewriter.emit import PRESENT
from rewriter.interpret import (
    Interpreted,
    Resolve,
    UninterpretableError,
    Vector,
    aggregate_call,
    from_arrow,
    interpret,
)
from semiring.base import Array


class GroupRows(Rows):
    """The groups of a block.

    Positions: the captured rows, then groups that have potential members but none that is there
    without deletion, then groups that only a deletion makes. `grouping` has the group of each
    member.
    """

    def __init__(self, block: Block, stored: Dataset, members: Members, base: Context) -> None:
        self.block = block
        self.members = members
        self._stored = stored
        self._base = base
        self.grouping = MemberGroups(block, stored, members, base)
        self.calls = {name: aggregate_call(call) for name, call in block.aggregates}
        self._having = tuple(map(interpret, block.having))
        names = {name for name, _ in block.keys} | set(self.calls)
        self.outputs = {o.name: interpret(o.scalar) for o in block.outputs if o.name not in names}
        for number, key in enumerate(block.order):
            self.outputs[f"{SORT}{number}"] = interpret(key.scalar)
        self._scalars = {lookup.alias: lookup for lookup in block.lookups if lookup.scalar}
        self._float_sums: dict[str, ChunkedSums] = {}

    def sides(self, members: Array) -> Array:
        """The side of some members of a difference, 0 or 1."""
        difference = self.block.difference
        assert difference is not None
        side = interpret(difference.side).evaluate(self.members.resolve(members, self._base))
        sides: Array = side.to_arrow(len(members)).to_numpy(zero_copy_only=False)
        return sides

    # -- without deletion ------------------------------------------------------------------

    def type(self, name: str) -> pa.DataType:
        """The type of a captured column."""
        return self._stored.type(name)

    @cached_property
    def base(self) -> State:
        """The captured groups."""
        size = self.grouping.size
        present = np.zeros(size, dtype=np.bool_)
        stored = self._stored.column(PRESENT).to_numpy(zero_copy_only=False)
        present[: self._stored.count] = stored
        return State(self.block, size, present, self._base_take)

    def _base_take(self, name: str, positions: Array) -> pa.Array:
        beyond = np.flatnonzero(positions >= self._stored.count)
        if not len(beyond):
            return self._stored.take(name, positions)
        inside = np.where(positions >= self._stored.count, 0, positions)
        kind = self._stored.type(name)
        if self._stored.count:
            taken = self._stored.take(name, inside)
        else:
            taken = pa.nulls(len(positions), kind)
        return overlay(taken, beyond, self._take_extra(name, positions[beyond], kind))

    def _take_extra(self, name: str, positions: Array, kind: pa.DataType) -> pa.Array:
        """A column of groups that are not stored: what follows from their keys, else NULL."""
        rows = pa.array(positions - self._stored.count)
        keys = zip((key for key, _ in self.grouping.keys), self.grouping.new_keys, strict=True)
        known = {key: column.take(rows) for key, column in keys}
        if name in known:
            return known[name]
        output = self.outputs.get(name)
        if output is None or any(column not in known for _, column in output.columns):
            return pa.nulls(len(positions), kind)
        try:
            return values(output, lambda _, key: from_arrow(known[key]), len(positions), kind)
        except UninterpretableError as error:
            raise needs_spark(str(error)) from error

    # -- with a deletion -------------------------------------------------------------------

    def evaluate(self, context: Context, deleted: Mapping[str, Deleted]) -> State:
        """See :class:`Rows`."""
        if self.block.copies:
            raise NeedsSparkError(
                f"Block {self.block.name} groups the copies of rows of EXCEPT ALL or INTERSECT ALL,"
                " which is not done without Spark.\n" + OPEN_WITH_SPARK
            )
        members = self.members
        gone = members.tokens.losing(deleted)
        valued = [key for _, key in self.grouping.keys]
        valued += [argument for call in self.calls.values() for argument in call.arguments]
        suspects = members.suspects(context, gone, valued)
        was = members.was_alive(suspects)
        now = members.alive(suspects, context, gone)
        if not members.dependent(valued):
            was, now = was & ~now, now & ~was
        entries = self.grouping.entries(suspects[now])
        codes, new_keys = self.grouping.under(entries, context)
        gained = Moved(self.grouping.members_at(entries), beside(entries, codes))
        lost = self.grouping.moved(suspects[was])
        return self._post(context, regroup(self, lost, gained, context), new_keys)

    def updated(self, moved: Moved, resolve: ResolveIn) -> State:
        """The groups once some members, all of them there, have other values in some scenarios.

        Parameters
        ----------
        resolve
            The columns of members with the new values.
        """
        return self._post(self._base, regroup(self, moved, moved, self._base, resolve), [])

    def stored(self, name: str, groups: Array) -> pa.Array | None:
        """The captured values of an aggregate, NULL for groups that are not captured.

        None: the capture has no such column.
        """
        if name not in self._stored.names:
            return None
        known = groups < self._stored.count
        if known.all():
            return self._stored.take(name, groups)
        places = np.cumsum(known) - 1
        return self._stored.take(name, groups[known]).take(pa.array(places, mask=~known))

    def chunked(self, name: str) -> ChunkedSums:
        """The sums of an aggregate of floats, by chunks of its members; not of grouping sets."""
        if name not in self._float_sums:
            every_one = every(self.members.count)
            part = Part(every_one, self.members.resolve(every_one, self.members.base))
            column = part.values(self.calls[name].arguments[0]).fill_null(0.0)
            weights = column.to_numpy(zero_copy_only=False).astype(np.float64)
            codes = self.grouping.codes
            if self.members.base_alive is not None:
                codes = np.where(self.members.base_alive, codes, -1)
            self._float_sums[name] = ChunkedSums(weights, codes, self.base.size)
        return self._float_sums[name]

    def _post(self, context: Context, regrouped: Regrouped, new_keys: list[pa.Array]) -> State:
        base = self.base
        size = base.size + (len(new_keys[0]) if new_keys else 0)
        scalars = rescaled(self._scalars, (*self._having, *self.outputs.values()), context)
        affected = union(regrouped.places, everywhere(scalars, every(size)))
        if not len(affected):
            return base
        exists = positions_of(affected) < self._stored.count
        exists[matches(affected, regrouped.places)[0]] = regrouped.exists
        grouped = Patch(regrouped.places, regrouped.columns)
        take = PatchedTake(base, [name for name, _ in self.grouping.keys], grouped, new_keys)
        there = affected[exists]
        shown = there[all_hold(self._having, self._resolve(there, take, context), len(there))]
        resolve = self._resolve(shown, take, context)
        columns = {
            name: self._output(name, resolve, shown, lambda column: take(column, shown))
            for name in self.outputs
        }
        take.post = Patch(shown, columns)
        was = np.append(base.before_limit, False)[np.minimum(positions_of(affected), base.size)]
        return Supposed(base, size, take, affected, affected[was != contains(shown, affected)])

    def _resolve(self, places: Array, take: PatchedTake, context: Context) -> Resolve:
        taken: dict[tuple[str, str], Vector] = {}

        def column(alias: str, name: str) -> Vector:
            if (alias, name) not in taken:
                if alias == GROUP:
                    array = take(name, places)
                else:
                    array = context(self._scalars[alias].block.name).scalar(name, places)
                taken[alias, name] = from_arrow(array)
            return taken[alias, name]

        return column

    def _output(
        self, name: str, resolve: Resolve, places: Array, now: Callable[[str], pa.Array]
    ) -> pa.Array:
        """The values of an output or sort key of some groups.

        Parameters
        ----------
        resolve, now
            The new values of the columns that it reads, group by group.

        Raises
        ------
        CaptureError
            When only Spark can compute it, and something that it reads is not as it was.
        """
        scalar, groups = self.outputs[name], positions_of(places)
        try:
            return values(scalar, resolve, len(groups), self._stored.type(name))
        except UninterpretableError as error:
            if not self._unchanged(scalar, groups, now):
                raise needs_spark(str(error)) from error
            return self._stored.take(name, groups)

    def _unchanged(
        self, scalar: Interpreted, groups: Array, now: Callable[[str], pa.Array]
    ) -> bool:
        """Return True if the columns that a scalar reads, and so its stored values, still hold."""
        if not (groups < self._stored.count).all() or not self.base.before_limit[groups].all():
            return False
        return all(
            alias == GROUP and same(self._stored.take(name, groups), now(name)).all()
            for alias, name in scalar.columns
        )
