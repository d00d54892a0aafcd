"""Grouping blocks: aggregates of surviving members, then HAVING and the select list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from lipstick.errors import NeedsSparkError
from lipstick.memory.aggregates import Part
from lipstick.memory.index import SortedIndex
from lipstick.memory.keys import KeyTable, distinct
from lipstick.memory.members import Members, scalar_changed
from lipstick.memory.memberships import all_hold
from lipstick.memory.patch import Patch, PatchedTake
from lipstick.memory.regroup import Moved, ResolveIn, regroup
from lipstick.memory.state import (
    SORT,
    Context,
    Rows,
    State,
    needs_spark,
    overlay,
    same,
    values,
)
from lipstick.memory.store import OPEN_WITH_SPARK, Dataset, every
from lipstick.memory.sums import ChunkedSums
from rewriter.analysis.may_throw import may_raise
from rewriter.blocks import EXPANDED, GROUP, MEMBER, Block
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
from semiring.arrow import decoded, normal
from semiring.base import Array


class GroupRows(Rows):
    """The groups of a block.

    Positions: the captured rows, then groups that have potential members but none that is there
    without deletion, then groups that only a deletion makes.

    A member is in a group of each grouping set. What is found a group for are *entries*: a member's
    position, times the number of grouping sets, plus the number of one. Without grouping sets
    entries are members.
    """

    def __init__(self, block: Block, stored: Dataset, members: Members, base: Context) -> None:
        self.block = block
        self.members = members
        self._stored = stored
        self._base = base
        self.key_scalars = tuple((name, interpret(key)) for name, key in block.keys)
        self._may_fail = any(may_raise(key) for _, key in block.keys)
        self.calls = {name: aggregate_call(call) for name, call in block.aggregates}
        self._having = tuple(map(interpret, block.having))
        names = {name for name, _ in block.keys} | set(self.calls)
        self.outputs = {o.name: interpret(o.scalar) for o in block.outputs if o.name not in names}
        for number, key in enumerate(block.order):
            self.outputs[f"{SORT}{number}"] = interpret(key.scalar)
        self._scalars = {lookup.alias: lookup for lookup in block.lookups if lookup.scalar}
        self._float_sums: dict[str, ChunkedSums] = {}
        self.sets = max(block.sets, 1)

    # -- entries ---------------------------------------------------------------------------

    def _entries(self, members: Array) -> Array:
        """The entries of some members, member by member."""
        if self.sets == 1:
            return members
        entries: Array = (members[:, None] * self.sets + every(self.sets)).ravel()
        return entries

    def _members(self, entries: Array) -> Array:
        """The member of each entry."""
        return entries if self.sets == 1 else entries // self.sets

    def _resolve_entries(self, entries: Array, context: Context) -> Resolve:
        """The columns that keys read, at some entries."""
        resolve = self.members.resolve(self._members(entries), context)

        def column(alias: str, name: str) -> Vector:
            if alias != EXPANDED:
                return resolve(alias, name)
            return from_arrow(pa.array(entries % self.sets, pa.int32()))

        return column

    def sides(self, members: Array) -> Array:
        """The side of some members of a difference, 0 or 1."""
        difference = self.block.difference
        assert difference is not None
        side = interpret(difference.side).evaluate(self.members.resolve(members, self._base))
        sides: Array = side.to_arrow(len(members)).to_numpy(zero_copy_only=False)
        return sides

    def moved(self, members: Array, scenarios: Array) -> Moved:
        """Members, without deletion, and their groups: by scenario, then by position."""
        entries = self._entries(members)
        scenarios = np.repeat(scenarios, self.sets)
        return Moved(self._members(entries), scenarios, self._group_of(entries))

    # -- without deletion ------------------------------------------------------------------

    def type(self, name: str) -> pa.DataType:
        """The type of a captured column."""
        return self._stored.type(name)

    @cached_property
    def _table(self) -> KeyTable:
        columns = [self._stored.column(name) for name, _ in self.key_scalars]
        return KeyTable(columns, self._stored.count)

    @cached_property
    def _grouping(self) -> tuple[Array, list[pa.Array]]:
        """The group of every entry, -1: none; and the keys of groups that are not stored."""
        count = self.members.count * self.sets
        if not self.key_scalars:
            return np.zeros(count, dtype=np.int32), []
        codes = np.full(count, -1, dtype=np.int64)
        rows, columns = self._keyed()
        codes[rows] = self._table.find(columns, len(rows))
        unknown = np.flatnonzero(codes[rows] < 0)
        extra: list[pa.Array] = []
        if len(unknown):
            chosen = [column.take(pa.array(unknown)) for column in columns]
            numbers, first = distinct(chosen, len(unknown))
            codes[rows[unknown]] = self._stored.count + numbers
            extra = [_key(column).take(pa.array(first)) for column in chosen]
        return codes.astype(np.int32), extra

    def _keyed(self) -> tuple[Array, list[pa.Array]]:
        """The entries whose keys are known without a deletion, and these.

        Those of members that are not there too, where no deletion changes keys: other blocks refer
        to such groups.
        """
        alive = self.members.base_alive
        if alive is None:
            rows = every(self.members.count * self.sets)
            return rows, self._key_values(rows, self._base)
        if self.keys_stable:
            rows = self._entries(np.flatnonzero(self.members.referring))
            with suppress(NeedsSparkError):
                return rows, self._key_values(rows, self._base)
        rows = self._entries(np.flatnonzero(alive))
        return rows, self._key_values(rows, self._base)

    @cached_property
    def keys_stable(self) -> bool:
        """Whether no deletion changes the keys of a member, or lets them fail."""
        return not self._may_fail and all(
            self.members.is_stable(key) for _, key in self.key_scalars
        )

    def _key_values(self, entries: Array, context: Context) -> list[pa.Array]:
        dataset = self.members.dataset
        positions = self._members(entries)
        resolve = self._resolve_entries(entries, context)
        columns = []
        for name, key in self.key_scalars:
            if dataset is not None and key.column is not None and key.column[0] == MEMBER:
                column = dataset.column(key.column[1])
                whole = self.sets == 1 and len(positions) == len(column)
                columns.append(column if whole else column.take(pa.array(positions)))
                continue
            try:
                columns.append(values(key, resolve, len(positions), self._stored.type(name)))
            except UninterpretableError as error:
                raise needs_spark(str(error)) from error
        return columns

    @cached_property
    def _extra(self) -> KeyTable | None:
        """The groups that are not stored; None: there are none."""
        extra = self.base.size - self._stored.count
        return KeyTable(self._grouping[1], extra) if extra else None

    def _group_of(self, entries: Array) -> Array:
        """The positions of some entries' groups; few entries are looked up alone."""
        few = 4 * len(entries) < self.members.count * self.sets
        alone = few and self.members.base_alive is None and bool(self.key_scalars)
        if "_grouping" in self.__dict__ or not alone:
            return self.codes[entries].astype(np.int64)
        return self._table.find(self._key_values(entries, self._base), len(entries))

    @property
    def codes(self) -> Array:
        """The position of every entry's group, as int32; -1: the entry is in none."""
        return self._grouping[0]

    @cached_property
    def _index(self) -> SortedIndex:
        return SortedIndex(self.codes)

    def members_of(self, groups: Array) -> tuple[Array, Array]:
        """The members, there or not, of some groups, and the place of each one's group."""
        if not self.key_scalars:
            owners = np.repeat(every(len(groups)), self.members.count)
            return np.tile(every(self.members.count), len(groups)), owners
        entries, owners = self._index.rows(groups)
        return self._members(entries), owners

    @cached_property
    def base(self) -> State:
        """The captured groups."""
        # Where every member is there, every group is stored.
        extra = [] if self.members.base_alive is None else self._grouping[1]
        size = self._stored.count + (len(extra[0]) if extra else 0)
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
        keys = zip((key for key, _ in self.key_scalars), self._grouping[1], strict=True)
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

    def evaluate(self, context: Context, deleted: Mapping[str, pa.Table]) -> State:
        """See :class:`Rows`."""
        if self.block.copies:
            raise copies_need_spark(self.block)
        members = self.members
        gone = members.without(deleted)
        valued = [key for _, key in self.key_scalars]
        valued += [argument for call in self.calls.values() for argument in call.arguments]
        suspects = members.suspects(context, gone, valued)
        was = members.was_alive(suspects)
        now = members.alive(suspects, context, gone)
        if not members.dependent(valued):
            was, now = was & ~now, now & ~was
        grouped, groups = self._regroup(suspects[was], suspects[now], context)
        return self._post(context, grouped, groups)

    def _regroup(self, lost: Array, gained: Array, context: Context) -> tuple[Patch, _Groups]:
        """Aggregate the groups that lose or gain members anew."""
        entries = self._entries(gained)
        codes, new_keys = self._codes_under(entries, context)
        zeros = np.zeros(1, dtype=np.int64)
        regrouped = regroup(
            self,
            self.moved(lost, np.repeat(zeros, len(lost))),
            Moved(self._members(entries), np.repeat(zeros, len(entries)), codes),
            context,
        )
        size = self.base.size + (len(new_keys[0]) if new_keys else 0)
        return Patch(regrouped.groups, regrouped.columns), _Groups(size, regrouped.exists, new_keys)

    def updated(self, moved: Moved, resolve: ResolveIn) -> State:
        """The groups once some members, all of them there, have other values in one scenario.

        Parameters
        ----------
        resolve
            The columns of members with the new values.
        """
        regrouped = regroup(self, moved, moved, self._base, resolve)
        groups = _Groups(self.base.size, regrouped.exists, [])
        return self._post(self._base, Patch(regrouped.groups, regrouped.columns), groups)

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
            part = Part(every_one, every_one, self.members.resolve(every_one, self.members.base))
            column = part.values(self.calls[name].arguments[0]).fill_null(0.0)
            weights = column.to_numpy(zero_copy_only=False).astype(np.float64)
            codes = self.codes
            if self.members.base_alive is not None:
                codes = np.where(self.members.base_alive, codes, -1)
            self._float_sums[name] = ChunkedSums(weights, codes, self.base.size)
        return self._float_sums[name]

    def _codes_under(self, entries: Array, context: Context) -> tuple[Array, list[pa.Array]]:
        """The groups of entries under a deletion, and the keys of groups that are new."""
        captured = entries.max(initial=-1) < self.members.count * self.sets
        if captured and not (
            self._may_fail or self.members.dependent(k for _, k in self.key_scalars)
        ):
            codes = self._group_of(entries)
            if (codes >= 0).all():
                return codes, []
            # The keys of members that are not there were left to Spark.
        columns = self._key_values(entries, context)
        codes = self._table.find(columns, len(entries))
        if self._extra is not None:
            places = self._extra.find(columns, len(entries))
            codes = np.where(places >= 0, self._stored.count + places, codes)
        unknown = np.flatnonzero(codes < 0)
        if not len(unknown):
            return codes, []
        if self.keys_stable:
            raise needs_spark(f"a key of {self.block.name}")
        chosen = [column.take(pa.array(unknown)) for column in columns]
        numbers, first = distinct(chosen, len(unknown))
        codes[unknown] = self.base.size + numbers
        return codes, [_key(column).take(pa.array(first)) for column in chosen]

    def _post(self, context: Context, grouped: Patch, groups: _Groups) -> State:
        base = self.base
        affected = grouped.positions
        exists = groups.exists
        post_scalars = (*self._having, *self.outputs.values())
        if self._post_changed(context, post_scalars):
            affected, exists = self._everywhere(grouped, groups)
        if not len(affected):
            return base
        take = PatchedTake(base, [name for name, _ in self.key_scalars], grouped, groups.new_keys)
        there = affected[exists]
        resolve = self._resolve(there, take, context)
        present = np.zeros(groups.size, dtype=np.bool_)
        present[: base.size] = self._present
        present[affected] = False
        shown = there[self.having(resolve, len(there))]
        present[shown] = True
        resolve = self._resolve(shown, take, context)
        columns = {
            name: self.output(name, resolve, shown, lambda column: take(column, shown))
            for name in self.outputs
        }
        take.post = Patch(shown, columns)
        return State(self.block, groups.size, present, take, base, affected)

    def having(self, resolve: Resolve, length: int) -> Array:
        """Boolean array: the groups that HAVING keeps."""
        return all_hold(self._having, resolve, length)

    @cached_property
    def _present(self) -> Array:
        """The groups that HAVING keeps, before LIMIT."""
        present = np.zeros(self.base.size, dtype=np.bool_)
        stored = self._stored.column(PRESENT).to_numpy(zero_copy_only=False)
        present[: self._stored.count] = stored
        return present

    def _post_changed(self, context: Context, scalars: tuple[Interpreted, ...]) -> bool:
        return any(
            scalar_changed(self._scalars[alias], name, context, self._base)
            for scalar in scalars
            for alias, name in scalar.columns
            if alias in self._scalars
        )

    def _everywhere(self, grouped: Patch, groups: _Groups) -> tuple[Array, Array]:
        """All groups, with a mask of those that have members."""
        exists = np.zeros(groups.size, dtype=np.bool_)
        exists[: self._stored.count] = True
        exists[grouped.positions] = groups.exists
        return every(groups.size), exists

    def _resolve(self, positions: Array, take: PatchedTake, context: Context) -> Resolve:
        taken: dict[tuple[str, str], Vector] = {}

        def column(alias: str, name: str) -> Vector:
            if (alias, name) not in taken:
                if alias == GROUP:
                    array = take(name, positions)
                else:
                    array = context(self._scalars[alias].block.name).scalar(name)
                taken[alias, name] = from_arrow(array)
            return taken[alias, name]

        return column

    def output(
        self, name: str, resolve: Resolve, groups: Array, now: Callable[[str], pa.Array]
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
        scalar = self.outputs[name]
        try:
            return values(scalar, resolve, len(groups), self._stored.type(name))
        except UninterpretableError as error:
            if not self._unchanged(scalar, groups, now):
                raise needs_spark(str(error)) from error
            return self._stored.take(name, groups)

    def _unchanged(
        self, scalar: Interpreted, groups: Array, now: Callable[[str], pa.Array]
    ) -> bool:
        """Whether the stored values of a scalar hold: those it reads are as they were."""
        if not (groups < self._stored.count).all() or not self._present[groups].all():
            return False
        return all(
            alias == GROUP and same(self._stored.take(name, groups), now(name)).all()
            for alias, name in scalar.columns
        )


@dataclass(frozen=True, slots=True)
class _Groups:
    """How many positions there are, which touched groups have members, keys of new groups."""

    size: int
    exists: Array
    new_keys: list[pa.Array]


def copies_need_spark(block: Block) -> NeedsSparkError:
    """The error of a grouping whose members come several times each."""
    return NeedsSparkError(
        f"Block {block.name} groups the copies of rows of EXCEPT ALL or INTERSECT ALL, which is "
        "not done without Spark.\n" + OPEN_WITH_SPARK
    )


def _key(column: pa.Array) -> pa.Array:
    return normal(decoded(column))
