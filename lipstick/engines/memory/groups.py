"""Grouping blocks: aggregates of surviving members, then HAVING and the select list."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.aggregates import TouchedMembers
from lipstick.engines.memory.member_groups import MemberGroups
from lipstick.engines.memory.members import Members, rescaled
from lipstick.engines.memory.memberships import all_hold
from lipstick.engines.memory.patch import OnDemand, Patch, PatchedTake
from lipstick.engines.memory.places import beside, contains, everywhere, matches, positions_of
from lipstick.engines.memory.regroup import Moved, Regrouped, ResolveIn, regroup
from lipstick.engines.memory.rows import Rows
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.state import (
    AskedValue,
    Context,
    State,
    Supposed,
    Take,
    known_values,
    overlay,
    resolver,
    spread,
)
from lipstick.engines.memory.store import OPEN_WITH_SPARK, Dataset, every
from lipstick.engines.memory.sums import ChunkedSums
from lipstick.errors import NeedsSparkError
from rewriter.blocks import GROUP, Block
from rewriter.emit import PRESENT
from rewriter.interpret import Resolve, aggregate_call, from_arrow, interpret
from semiring.arrays.segments import union
from semiring.base import Array


class GroupRows(Rows):
    """The groups of a block.

    Positions: the captured rows, then groups that have potential members but none that is there
    without deletion, then groups that only a deletion makes. `grouping` has the group of each
    member.
    """

    _stored: Dataset

    def __init__(self, block: Block, stored: Dataset, members: Members, context: Context) -> None:
        names = {name for name, _ in (*block.keys, *block.aggregates)}
        outputs = ((o.name, o.scalar) for o in block.outputs if o.name not in names)
        super().__init__(block, stored, context, outputs)
        self.members = members
        self.grouping = MemberGroups(block, stored, members, context)
        self.calls = {name: aggregate_call(call) for name, call in block.aggregates}
        self._having = tuple(map(interpret, block.having))
        self._float_sums: dict[str, ChunkedSums] = {}

    def sides(self, members: Array) -> Array:
        """The side of some members of a difference, 0 or 1."""
        difference = self.block.difference
        assert difference is not None
        side = interpret(difference.side).evaluate(self.members.resolve(members, self.context))
        sides: Array = side.to_arrow(len(members)).to_numpy(zero_copy_only=False)
        return sides

    # -- without deletion ------------------------------------------------------------------

    def type(self, name: str) -> pa.DataType:
        """The type of a captured column."""
        return self._stored.type(name)

    def base_present(self) -> Array:
        """See :class:`Rows`."""
        present = np.zeros(self.grouping.size, dtype=np.bool_)
        stored = self._stored.column(PRESENT).to_numpy(zero_copy_only=False)
        present[: self._stored.count] = stored
        return present

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
        return known_values(output, lambda _, key: from_arrow(known[key]), len(positions), kind)

    # -- with a deletion -------------------------------------------------------------------

    def evaluate(
        self, context: Context, deleted: Mapping[str, Deleted], asked: AskedValue | None = None
    ) -> State:
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
        on_demand = asked is not None
        regrouped = regroup(self, lost, gained, context, on_demand=on_demand)
        return self._post(context, regrouped, new_keys, asked)

    def updated(self, moved: Moved, resolve: ResolveIn) -> State:
        """The groups once some members, all of them there, have other values in some scenarios.

        Parameters
        ----------
        resolve
            The columns of members with the new values.
        """
        return self._post(self.context, regroup(self, moved, moved, self.context, resolve), [])

    def stored(self, name: str, groups: Array) -> pa.Array | None:
        """The captured values of an aggregate, NULL for groups that are not captured.

        None: the capture has no such column.
        """
        if name not in self._stored.names:
            return None
        known = np.flatnonzero(groups < self._stored.count)
        taken = self._stored.take(name, groups[known])
        return taken if len(known) == len(groups) else spread(taken, known, len(groups))

    def chunked(self, name: str) -> ChunkedSums:
        """The sums of an aggregate of floats, by chunks of its members; not of grouping sets."""
        if name not in self._float_sums:
            every_one = every(self.members.count)
            part = TouchedMembers(every_one, self.members.resolve(every_one, self.members.base))
            column = part.values(self.calls[name].arguments[0]).fill_null(0.0)
            weights = column.to_numpy(zero_copy_only=False).astype(np.float64)
            codes = self.grouping.codes
            if self.members.base_alive is not None:
                codes = np.where(self.members.base_alive, codes, -1)
            self._float_sums[name] = ChunkedSums(weights, codes, self.base.size)
        return self._float_sums[name]

    def _post(
        self,
        context: Context,
        regrouped: Regrouped,
        new_keys: list[pa.Array],
        asked: AskedValue | None = None,
    ) -> State:
        base = self.base
        size = base.size + (len(new_keys[0]) if new_keys else 0)
        scalars = rescaled(self.block, (*self._having, *self.outputs.values()), context)
        rescaled_at = every(size) if asked is None else asked.positions
        affected = union(regrouped.places, everywhere(scalars, rescaled_at))
        if not len(affected):
            return base
        exists = positions_of(affected) < self._stored.count
        exists[matches(affected, regrouped.places)[0]] = regrouped.exists
        grouped = Patch(regrouped.places, regrouped.columns)
        take = PatchedTake(base, [name for name, _ in self.grouping.keys], grouped, new_keys)
        there = affected[exists]
        shown = there[all_hold(self._having, self._resolve(there, take, context), len(there))]
        resolve = self._resolve(shown, take, context)
        before = self._resolve(positions_of(shown), base.take, self.context)
        outputs = OnDemand(self.outputs, lambda name: self._output(name, shown, resolve, before))
        take.post = Patch(shown, dict(outputs) if asked is None else outputs)
        flipped = base.flips(affected, contains(shown, affected))
        return Supposed(base, size, take, affected, flipped)

    def _resolve(self, places: Array, take: Take, context: Context) -> Resolve:
        def column(alias: str, name: str) -> pa.Array:
            if alias == GROUP:
                return take(name, places)
            return context(self.block.by_alias[alias].block.name).scalar(name, places)

        return resolver(column)

    @cached_property
    def _captured_rows(self) -> Array:
        present = self.base_present()
        return np.where(present, every(len(present)), -1)
