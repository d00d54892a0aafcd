"""Grouping blocks: aggregates of surviving members, then HAVING and the select list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.memory.aggregates import MEMBERS, Part, Touched
from lipstick.memory.index import SortedIndex
from lipstick.memory.keys import KeyTable, distinct, normal
from lipstick.memory.members import Members, holds, scalar_changed
from lipstick.memory.patch import Patch, PatchedTake
from lipstick.memory.state import (
    NOTHING,
    SORT,
    Context,
    Rows,
    State,
    needs_spark,
    overlay,
    same,
    values,
)
from lipstick.memory.store import Dataset, every
from lipstick.memory.sums import ChunkedSums
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
from semiring.base import Array

_MANY = 1 << 16


class GroupRows(Rows):
    """The groups of a block.

    Positions: the captured rows, then groups that have potential members but none that is there
    without deletion, then groups that only a deletion makes.

    A member is in a group of each grouping set. What groups are made of are *entries*: a member's
    position, times the number of grouping sets, plus the number of one. Without grouping sets
    entries are members.
    """

    def __init__(self, block: Block, stored: Dataset, members: Members, base: Context) -> None:
        self.block = block
        self.members = members
        self._stored = stored
        self._base = base
        self._keys = tuple((name, interpret(key)) for name, key in block.keys)
        self.calls = {name: aggregate_call(call) for name, call in block.aggregates}
        self._having = tuple(map(interpret, block.having))
        own = {name for name, _ in block.keys} | set(self.calls)
        self.outputs = {o.name: interpret(o.scalar) for o in block.outputs if o.name not in own}
        for number, key in enumerate(block.order):
            self.outputs[f"{SORT}{number}"] = interpret(key.scalar)
        self._scalars = {lookup.alias: lookup for lookup in block.lookups if lookup.scalar}
        self._float_sums: dict[str, ChunkedSums] = {}
        self._sets = max(block.sets, 1)

    # -- entries ---------------------------------------------------------------------------

    def _entries(self, members: Array) -> Array:
        """The entries of some members, member by member."""
        if self._sets == 1:
            return members
        entries: Array = (members[:, None] * self._sets + every(self._sets)).ravel()
        return entries

    def _members(self, entries: Array) -> Array:
        """The member of each entry."""
        return entries if self._sets == 1 else entries // self._sets

    def _resolve_entries(self, entries: Array, context: Context) -> Resolve:
        """The columns that scalars of the members, and keys, read at some entries."""
        resolve = self.members.resolve(self._members(entries), context)

        def column(alias: str, name: str) -> Vector:
            if alias != EXPANDED:
                return resolve(alias, name)
            return from_arrow(pa.array(entries % self._sets, pa.int32()))

        return column

    # -- without deletion ------------------------------------------------------------------

    def type(self, name: str) -> pa.DataType:
        """The type of a captured column."""
        return self._stored.type(name)

    @cached_property
    def _table(self) -> KeyTable:
        columns = [self._stored.column(name) for name, _ in self._keys]
        return KeyTable(columns, self._stored.count)

    @cached_property
    def _grouping(self) -> tuple[Array, list[pa.Array]]:
        """The group of every entry, -1: none; and the keys of groups that are not stored."""
        count = self.members.count * self._sets
        if not self._keys:
            return np.zeros(count, dtype=np.int32), []
        codes = np.full(count, -1, dtype=np.int64)
        rows = every(count)
        alive = self.members.base_alive
        if alive is not None and self.members.dependent(key for _, key in self._keys):
            rows = self._entries(np.flatnonzero(alive))
        columns = self._key_values(rows, self._base)
        codes[rows] = self._table.find(columns, len(rows))
        unknown = np.flatnonzero(codes[rows] < 0)
        extra: list[pa.Array] = []
        if len(unknown):
            chosen = [column.take(pa.array(unknown)) for column in columns]
            numbers, first = distinct(chosen, len(unknown))
            codes[rows[unknown]] = self._stored.count + numbers
            extra = [_key(column).take(pa.array(first)) for column in chosen]
        return codes.astype(np.int32), extra

    def _key_values(self, entries: Array, context: Context) -> list[pa.Array]:
        dataset = self.members.dataset
        positions = self._members(entries)
        resolve = self._resolve_entries(entries, context)
        columns = []
        for name, key in self._keys:
            if dataset is not None and key.column is not None and key.column[0] == MEMBER:
                column = dataset.column(key.column[1])
                whole = self._sets == 1 and len(positions) == len(column)
                columns.append(column if whole else column.take(pa.array(positions)))
                continue
            try:
                columns.append(values(key, resolve, len(positions), self._stored.type(name)))
            except UninterpretableError as error:
                raise needs_spark(str(error)) from error
        return columns

    def group_of(self, entries: Array) -> Array:
        """The positions of some entries' groups; of few entries without those of all."""
        if "_grouping" in self.__dict__ or self.members.base_alive is not None or not self._keys:
            return self.codes[entries].astype(np.int64)
        return self._table.find(self._key_values(entries, self._base), len(entries))

    @property
    def codes(self) -> Array:
        """The position of every entry's group, as int32; -1: the member is in none."""
        return self._grouping[0]

    @cached_property
    def _index(self) -> SortedIndex:
        return SortedIndex(self.codes)

    def members_of(self, groups: Array) -> tuple[Array, Array]:
        """The members, there or not, of some groups, and the place of each one's group."""
        entries, owners = self._entries_of(groups)
        return self._members(entries), owners

    def _entries_of(self, groups: Array) -> tuple[Array, Array]:
        if not self._keys:
            rows = every(self.members.count)
            if not len(groups):
                rows = NOTHING
            return rows, np.zeros(len(rows), dtype=np.int64)
        return self._index.rows(groups)

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
        names = [key for key, _ in self._keys]
        extra = pa.nulls(len(beyond), kind)
        if name in names:
            column = self._grouping[1][names.index(name)]
            extra = column.take(pa.array(positions[beyond] - self._stored.count))
        return overlay(taken, beyond, extra)

    # -- with a deletion -------------------------------------------------------------------

    def evaluate(self, context: Context, deleted: Mapping[str, pa.Table]) -> State:
        """See :class:`Rows`."""
        members = self.members
        gone = members.without(deleted)
        valued = [key for _, key in self._keys]
        valued += [argument for call in self.calls.values() for argument in call.arguments]
        suspects = members.suspects(context, gone, valued)
        was = members.was_alive(suspects)
        now = members.alive(suspects, context, gone)
        if not members.dependent(valued):
            was, now = was & ~now, now & ~was
        lost, gained = self._entries(suspects[was]), self._entries(suspects[now])
        grouped, groups = self._regroup(lost, gained, context)
        return self._post(context, grouped, groups)

    def _regroup(self, lost: Array, gained: Array, context: Context) -> tuple[Patch, _Groups]:
        """Aggregate the groups that lose or gain entries anew."""
        codes_lost = self.group_of(lost)
        codes_gained, new_keys = self._codes_under(gained, context)
        touched = np.unique(np.concatenate([codes_lost, codes_gained]))
        base = self.base
        stored_count = self._stored.count

        def stored(name: str) -> pa.Array | None:
            if name not in self._stored.names:
                return None
            inside = touched[touched < stored_count]
            column = self._stored.take(name, inside)
            missing = len(touched) - len(inside)
            return pa.concat_arrays([column, pa.nulls(missing, column.type)]) if missing else column

        def survivors(groups: Array) -> Part:
            entries, owners = self._entries_of(touched[groups])
            kept = np.ones(self.members.count, dtype=np.bool_)
            if self.members.base_alive is not None:
                kept &= self.members.base_alive
            kept[self._members(lost)] = False
            mine = kept[self._members(entries)]
            places = np.flatnonzero(groups)
            arrived = groups[np.searchsorted(touched, codes_gained)]
            every_one = np.concatenate([entries[mine], gained[arrived]])
            where = np.concatenate(
                [places[owners[mine]], np.searchsorted(touched, codes_gained[arrived])]
            )
            if arrived.any() or (where[1:] < where[:-1]).any():
                by_group = np.lexsort([every_one, where])
                every_one, where = every_one[by_group], where[by_group]
            return Part(where, self._resolve_entries(every_one, context))

        def sums(name: str, groups: Array) -> Array | None:
            chosen = touched[groups]
            if not self._many(chosen):
                return None
            mine = groups[np.searchsorted(touched, codes_lost)]
            return self._chunked(name).without(chosen, lost[mine])

        parts = Touched(
            len(touched),
            self._part(lost, touched, codes_lost, self._base),
            self._part(gained, touched, codes_gained, context),
            stored,
            survivors,
            sums,
        )
        columns: dict[str, pa.Array] = {}
        if len(touched):
            columns = {name: parts.recompute(name, call) for name, call in self.calls.items()}
        exists = parts.members > 0 if self._keys else np.ones(len(touched), dtype=np.bool_)
        size = base.size + (len(new_keys[0]) if new_keys else 0)
        return Patch(touched, columns), _Groups(size, exists, new_keys)

    def _part(self, entries: Array, touched: Array, codes: Array, context: Context) -> Part:
        places = np.searchsorted(touched, codes)
        return Part(places, self._resolve_entries(entries, context))

    def _many(self, groups: Array) -> bool:
        """Whether groups have so many members that their sums are worth keeping in chunks."""
        if len(groups) and groups[-1] >= self._stored.count:
            return False
        members = pc.sum(self._stored.take(MEMBERS, groups)).as_py() or 0
        return bool(members > _MANY)

    def _chunked(self, name: str) -> ChunkedSums:
        if name not in self._float_sums:
            every_one = every(self.members.count)
            part = Part(every_one, self.members.resolve(every_one, self._base))
            column = part.values(self.calls[name].arguments[0]).fill_null(0.0)
            weights = column.to_numpy(zero_copy_only=False).astype(np.float64)
            codes = self.codes
            if self.members.base_alive is not None:
                codes = np.where(np.repeat(self.members.base_alive, self._sets), codes, -1)
            weights = np.repeat(weights, self._sets)
            self._float_sums[name] = ChunkedSums(weights, codes, self.base.size)
        return self._float_sums[name]

    def _codes_under(self, entries: Array, context: Context) -> tuple[Array, list[pa.Array]]:
        """The groups of entries under a deletion, and the keys of groups that are new."""
        if not self.members.dependent(key for _, key in self._keys):
            return self.group_of(entries), []
        columns = self._key_values(entries, context)
        codes = self._table.find(columns, len(entries))
        unknown = np.flatnonzero(codes < 0)
        if not len(unknown):
            return codes, []
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
        take = PatchedTake(base, [name for name, _ in self._keys], grouped, groups.new_keys)
        there = affected[exists]
        resolve = self._resolve(there, take, context)
        kept = np.ones(len(there), dtype=np.bool_)
        for condition in self._having:
            kept &= holds(condition, resolve, len(there))
        present = np.zeros(groups.size, dtype=np.bool_)
        present[: base.size] = self._present
        present[affected] = False
        shown = there[kept]
        present[shown] = True
        resolve = self._resolve(shown, take, context)
        columns = {
            name: self._output(name, scalar, resolve, shown, take)
            for name, scalar in self.outputs.items()
        }
        take.post = Patch(shown, columns)
        return State(self.block, groups.size, present, take, base, affected)

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
        """All groups, and which of them have members."""
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

    def _output(
        self, name: str, scalar: Interpreted, resolve: Resolve, positions: Array, take: PatchedTake
    ) -> pa.Array:
        try:
            return values(scalar, resolve, len(positions), self._stored.type(name))
        except UninterpretableError as error:
            if not self._unchanged(scalar, positions, take):
                raise needs_spark(str(error)) from error
            return self._stored.take(name, positions)

    def _unchanged(self, scalar: Interpreted, positions: Array, take: PatchedTake) -> bool:
        """Whether the stored values of a scalar hold: those it reads are as they were."""
        if not (positions < self._stored.count).all() or not self._present[positions].all():
            return False
        return all(
            alias == GROUP and same(self._stored.take(name, positions), take(name, positions)).all()
            for alias, name in scalar.columns
        )


@dataclass(frozen=True, slots=True)
class _Groups:
    """How many positions there are, which touched groups have members, keys of new groups."""

    size: int
    exists: Array
    new_keys: list[pa.Array]


def _key(column: pa.Array) -> pa.Array:
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return normal(plain)
