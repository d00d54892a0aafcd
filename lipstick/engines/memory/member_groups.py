"""The groups that the members of a block are in, and the members of groups."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.index import SortedIndex
from lipstick.engines.memory.keys import KeyTable, distinct
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.places import beside, positions_of
from lipstick.engines.memory.regroup import Moved
from lipstick.engines.memory.state import Context, known_values, needs_spark
from lipstick.engines.memory.store import Dataset, every
from lipstick.errors import NeedsSparkError
from rewriter.analysis.may_throw import may_raise
from rewriter.blocks import EXPANDED, MEMBER, Block
from rewriter.interpret import Resolve, Vector, from_arrow, interpret
from semiring.arrays.arrow import decoded, normal
from semiring.base import Array


def in_sets(resolve: Resolve, numbers: Array) -> Resolve:
    """The columns of members, and the numbers of the grouping sets that each is in."""

    def column(alias: str, name: str) -> Vector:
        if alias != EXPANDED:
            return resolve(alias, name)
        return from_arrow(pa.array(numbers, pa.int32()))

    return column


class MemberGroups:
    """The members of a grouping by their groups.

    A member is in a group of each grouping set. Groups consist of *entries*: a member's position,
    times the number of grouping sets, plus the number of one. Without grouping sets entries are
    members. Groups have positions: the captured ones first, then groups that have potential members
    but none that is there without deletion.
    """

    def __init__(self, block: Block, stored: Dataset, members: Members, base: Context) -> None:
        self.block = block
        self.members = members
        self._stored = stored
        self._base = base
        self.sets = max(block.sets, 1)
        self.keys = tuple((name, interpret(key)) for name, key in block.keys)
        self._may_fail = any(may_raise(key) for _, key in block.keys)

    def entries(self, members: Array) -> Array:
        """The entries of some members, member by member."""
        if self.sets == 1:
            return members
        entries = positions_of(members)[:, None] * self.sets + every(self.sets)
        return beside(np.repeat(members, self.sets), entries.ravel())

    def members_at(self, entries: Array) -> Array:
        """The member of each entry."""
        return entries if self.sets == 1 else beside(entries, positions_of(entries) // self.sets)

    def _resolve_entries(self, entries: Array, context: Context) -> Resolve:
        """The columns that keys read, at some entries."""
        resolve = self.members.resolve(self.members_at(entries), context)
        if not self.block.sets:
            return resolve
        return in_sets(resolve, positions_of(entries) % self.sets)

    def moved(self, members: Array) -> Moved:
        """Places of members, sorted, and the groups that they have without deletion."""
        entries = self.entries(members)
        return Moved(self.members_at(entries), beside(entries, self._group_of(entries)))

    @cached_property
    def _table(self) -> KeyTable:
        columns = [self._stored.column(name) for name, _ in self.keys]
        return KeyTable(columns, self._stored.count)

    @cached_property
    def _numbered(self) -> tuple[Array, list[pa.Array]]:
        """The group of every entry, -1: none; and the keys of groups that are not stored."""
        count = self.members.count * self.sets
        if not self.keys:
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
        """Return the entries whose keys are known without a deletion, and these keys.

        Where no deletion changes keys, they include entries of members that are not there: other
        blocks refer to such groups.
        """
        alive = self.members.base_alive
        if alive is None:
            rows = every(self.members.count * self.sets)
            return rows, self._key_values(rows, self._base)
        if self.keys_stable:
            rows = self.entries(np.flatnonzero(self.members.references.captured_alone))
            with suppress(NeedsSparkError):
                return rows, self._key_values(rows, self._base)
        rows = self.entries(np.flatnonzero(alive))
        return rows, self._key_values(rows, self._base)

    @cached_property
    def keys_stable(self) -> bool:
        """True if no deletion changes the keys of a member, or lets them fail."""
        return not self._may_fail and all(self.members.is_stable(key) for _, key in self.keys)

    def _key_values(self, entries: Array, context: Context) -> list[pa.Array]:
        dataset = self.members.dataset
        positions = positions_of(self.members_at(entries))
        resolve = self._resolve_entries(entries, context)
        columns = []
        for name, key in self.keys:
            if dataset is not None and key.column is not None and key.column[0] == MEMBER:
                column = dataset.column(key.column[1])
                whole = self.sets == 1 and len(positions) == len(column)
                columns.append(column if whole else column.take(pa.array(positions)))
                continue
            columns.append(known_values(key, resolve, len(positions), self._stored.type(name)))
        return columns

    @property
    def new_keys(self) -> list[pa.Array]:
        """The keys of groups that are not stored, none where every member is there."""
        return [] if self.members.base_alive is None else self._numbered[1]

    @property
    def size(self) -> int:
        """The number of groups without deletion, stored or not."""
        return self._stored.count + (len(self.new_keys[0]) if self.new_keys else 0)

    @cached_property
    def _new(self) -> KeyTable | None:
        """The groups that are not stored; None: there are none."""
        count = self.size - self._stored.count
        return KeyTable(self.new_keys, count) if count else None

    def _group_of(self, places: Array) -> Array:
        """The positions of some entries' groups; few entries are looked up alone."""
        entries = positions_of(places)
        few = 4 * len(entries) < self.members.count * self.sets
        alone = few and self.members.base_alive is None and bool(self.keys)
        if "_numbered" in self.__dict__ or not alone:
            return self.codes[entries].astype(np.int64)
        return self._table.find(self._key_values(entries, self._base), len(entries))

    @property
    def codes(self) -> Array:
        """The position of every entry's group, as int32; -1: the entry is in none."""
        return self._numbered[0]

    @cached_property
    def _index(self) -> SortedIndex:
        return SortedIndex(self.codes)

    def members_of(self, groups: Array) -> tuple[Array, Array]:
        """The members, there or not, of some groups, and the place of each one's group."""
        if not self.keys:
            owners = np.repeat(every(len(groups)), self.members.count)
            return np.tile(every(self.members.count), len(groups)), owners
        entries, owners = self._index.rows(groups)
        return self.members_at(entries), owners

    def present_members(self, groups: Array) -> tuple[Array, Array]:
        """The members of some groups that are there, and the place of each one's group."""
        members, owners = self.members_of(groups)
        alive = self.members.base_alive
        if alive is None:
            return members, owners
        return members[alive[members]], owners[alive[members]]

    def under(self, entries: Array, context: Context) -> tuple[Array, list[pa.Array]]:
        """The positions of entries' groups in scenarios, and the keys of groups that are new."""
        captured = positions_of(entries).max(initial=-1) < self.members.count * self.sets
        if captured and not (self._may_fail or self.members.dependent(k for _, k in self.keys)):
            codes = self._group_of(entries)
            if (codes >= 0).all():
                return codes, []
            # The keys of members that are not there were left to Spark.
        columns = self._key_values(entries, context)
        codes = self._table.find(columns, len(entries))
        if self._new is not None:
            places = self._new.find(columns, len(entries))
            codes = np.where(places >= 0, self._stored.count + places, codes)
        unknown = np.flatnonzero(codes < 0)
        if not len(unknown):
            return codes, []
        if self.keys_stable:
            raise needs_spark(f"a key of {self.block.name}")
        chosen = [column.take(pa.array(unknown)) for column in columns]
        numbers, first = distinct(chosen, len(unknown))
        codes[unknown] = self.size + numbers
        return codes, [_key(column).take(pa.array(first)) for column in chosen]


def _key(column: pa.Array) -> pa.Array:
    return normal(decoded(column))
