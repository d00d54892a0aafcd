"""The potential tuples of a block: captured ones, then groups under changing keys.

The first positions are the positions of the block's rows without deletion. If a deletion may change
grouping keys, the positions after these are the groups for the other values of the keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.elements import ElementRows
from lipstick.engines.memory.formal.blocks import FormalBlocks
from lipstick.engines.memory.formal.elements import FormalElements
from lipstick.engines.memory.formal.functions import typed, typed_values
from lipstick.engines.memory.formal.limits import MOST, too_many
from lipstick.engines.memory.formal.matches import MemberScope, is_direct, refer
from lipstick.engines.memory.formal.possible import covering, possible
from lipstick.engines.memory.formal.scopes import (
    gates_of,
    of_type,
    values_of,
)
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.places import NOTHING
from lipstick.engines.memory.reach import members_of
from lipstick.engines.memory.state import State, spread
from lipstick.engines.memory.store import every
from lipstick.engines.memory.unions import UnionRows
from rewriter.scalars.text import text
from semiring.base import Array
from semiring.circuit.values import CircuitTensor
from semiring.monoid import COUNT
from semiring.token import normal_value, order_key
from semiring.value import Operand, Value

Key = tuple[Any, ...]

_COUNTS = 64
"""Number of COUNTs from which all values up to the largest are taken as possible."""
_COMPARED = 20_000_000
"""Limit on comparisons of changing keys with keys of groups."""


class Grouped(NamedTuple):
    """The members of some groups.

    For each member: its position, the index of its group, and the condition that its keys equal the
    group's; None: they always do.
    """

    members: Array
    owners: Array
    factors: Array | None


class Domains:
    """The potential positions of tuples and members of every block."""

    def __init__(self, formal: FormalBlocks, elements: FormalElements) -> None:
        self._formal = formal
        self._elements = elements
        self._changing: dict[str, _Changing] = {}
        self._members: dict[str, Members] = {}

    def size(self, name: str) -> int:
        """Return the number of positions of a block's tuples."""
        rows = self._formal.engine.rows(name)
        if isinstance(rows, UnionRows):
            return sum(self.size(branch.name) for branch in rows.block.branches)
        if isinstance(rows, ElementRows):
            return self._elements.size(rows)
        if not isinstance(rows, GroupRows):
            return self.member_count(self.members(name))
        return rows.base.size + len(self._others(rows))

    def members(self, name: str) -> Members:
        """Return the members of a block other than a union, including combinations with new tuples.

        New tuples are present only after a deletion.
        """
        members = members_of(self._formal.engine.rows(name))
        assert members is not None
        if not members.references.combined:
            return members
        if name not in self._members:
            self._members[name] = self._with_others(members)
        return self._members[name]

    def _with_others(self, members: Members) -> Members:
        inner = {lookup.alias: lookup.block.name for lookup in members.references.combined}
        sizes = {alias: self._formal.engine.base(block).size for alias, block in inner.items()}
        if all(self.size(block) == sizes[alias] for alias, block in inner.items()):
            return members
        grown = Members(members.block, members.references.captured, self._grown)
        places = grown.references.places()
        known = np.ones(grown.count, dtype=np.bool_)
        for alias, size in sizes.items():
            known &= places[alias] < size
        order = np.concatenate([np.flatnonzero(known), np.flatnonzero(~known)])
        grown = Members(members.block, members.references.captured, self._grown)
        grown.references.set_places({alias: where[order] for alias, where in places.items()})
        return grown

    def _grown(self, name: str) -> State:
        """Return the rows of a block, followed by the keys of groups that appear only after a
        deletion.
        """
        base = self._formal.engine.base(name)
        size = self.size(name)
        if size == base.size:
            return base
        block = self._formal.engine.blocks[name]

        def take(column: str, positions: Array) -> pa.Array:
            rows = self._formal.engine.rows(name)
            if isinstance(rows, GroupRows) and column in dict(block.keys):
                return self.keys(rows, column, positions)
            inside = np.flatnonzero(positions < base.size)
            return spread(base.take(column, positions[inside]), inside, len(positions))

        present = np.zeros(size, dtype=np.bool_)
        return State(replace(block, limit=None, offset=0), size, present, take)

    def member_count(self, members: Members) -> int:
        """Return the number of positions of a block's members."""
        free = members.references.free
        if members.dataset is None and free is not None:
            return self.size(free.block.name)
        return members.count

    def branches(self, rows: UnionRows) -> tuple[Array, Array]:
        """Return the branch of every position of a union, and the position in the branch."""
        return rows.places_of([self.size(branch.name) for branch in rows.block.branches])

    # -- groups ----------------------------------------------------------------------------

    def grouped(self, rows: GroupRows, positions: Array) -> Grouped:
        """Return the potential members of some groups."""
        if self._changes(rows):
            return self._of(rows).grouped(positions)
        members, owners = rows.grouping.members_of(positions)
        possible = self.possible(self.members(rows.block.name), members)
        return Grouped(members[possible], owners[possible], None)

    def possible(self, members: Members, chosen: Array) -> Array:
        """Return a mask of the members that may be present in some world, ignoring conditions."""
        possible = np.ones(len(chosen), dtype=np.bool_)
        for lookup in members.joined:
            possible &= refer(members, lookup, chosen) >= 0
        for membership in members.memberships:
            if not membership.negated and is_direct(membership):
                there = membership.refer(chosen, members.base) >= 0
                possible &= membership.passed(there, chosen, members.base)
        return possible

    def keys(self, rows: GroupRows, name: str, positions: Array) -> pa.Array:
        """Return a key of some groups."""
        base = rows.base.size
        inside = positions < base
        taken = rows.base.take(name, positions[inside])
        if inside.all():
            return taken
        index = [key for key, _ in rows.block.keys].index(name)
        others = self._others(rows)
        keys = typed([others[at][index] for at in (positions[~inside] - base).tolist()], taken.type)
        places = np.argsort(np.argsort(~inside, kind="stable"), kind="stable")
        return pa.concat_arrays([taken, keys]).take(pa.array(places))

    def _changes(self, rows: GroupRows) -> bool:
        """Return True if a deletion may change the keys of members."""
        if not rows.block.keys:
            return False
        members = self.members(rows.block.name)
        if members is not rows.members or self.member_count(members) > members.count:
            return True
        if rows.grouping.keys_stable:
            return False
        stable = all(rows.members.is_stable(key) for _, key in rows.grouping.keys)
        return not stable or rows.members.base_alive is not None

    def _others(self, rows: GroupRows) -> list[Key]:
        return self._of(rows).others if self._changes(rows) else []

    def _of(self, rows: GroupRows) -> _Changing:
        name = rows.block.name
        if name not in self._changing:
            self._changing[name] = _Changing(self._formal, self, rows)
        return self._changing[name]


def _keys_shown(rows: GroupRows) -> str:
    """Return the keys of a grouping as SQL."""
    return ", ".join(text(scalar) for _, scalar in rows.block.keys)


class _Changing:
    """The members of a grouping by key values that a deletion may change."""

    def __init__(self, formal: FormalBlocks, domains: Domains, rows: GroupRows) -> None:
        self._formal = formal
        self._domains = domains
        self._rows = rows
        members = domains.members(rows.block.name)
        count = domains.member_count(members)
        chosen = every(count)
        chosen = chosen[domains.possible(members, chosen)]
        self._members = np.repeat(chosen, rows.grouping.sets)
        self._sets = np.tile(np.arange(rows.grouping.sets), len(chosen))
        scope = MemberScope(formal, members, self._members, self._sets)
        columns = [
            of_type(formal.reading, values_of(scope, scalar), rows.type(name))
            for name, scalar in rows.grouping.keys
        ]
        listed = map(formal.reading.listed, columns)
        self._keys: list[tuple[Operand, ...]] = list(zip(*listed, strict=True))
        self._by_key: dict[tuple[Any, ...], list[int]] = {}
        self._formal_keys: list[int] = []
        for index, key in enumerate(self._keys):
            if any(isinstance(part, Value) for part in key):
                self._formal_keys.append(index)
            else:
                self._by_key.setdefault(_normal(key), []).append(index)
        places = np.array(self._formal_keys, dtype=np.int64)
        self._formal_parts = [gates_of(formal.reading, column.take(places)) for column in columns]
        self._found: list[Key] | None = None

    @property
    def others(self) -> list[Key]:
        """The keys of groups that exist only in other worlds."""
        if self._found is None:
            self._found = list(self._possible())
        return self._found

    def _possible(self) -> Iterable[Key]:
        rows = self._rows
        captured = every(rows.base.size)
        columns = [rows.base.take(name, captured).to_pylist() for name, _ in rows.block.keys]
        known = {_normal(key) for key in zip(*columns, strict=True)}
        possible_keys: dict[tuple[Any, ...], Key] = {}
        for places in self._by_key.values():
            possible_keys.setdefault(_normal(self._keys[places[0]]), self._keys[places[0]])
        kinds = [rows.type(name) for name, _ in rows.block.keys]
        formal_keys, most = self._formal_keys, self._most_counted()
        if most is not None:
            if most > MOST:
                raise too_many(f"Rows of {rows.block.name} may have {most:,} keys and more")
            formal_keys = []
            for value in typed_values(range(most + 1), kinds[0]):
                possible_keys.setdefault(_normal((value,)), (value,))
        self._check(len(formal_keys), MOST)
        gates = self._formal.tuples.members(rows.block.name, self._members[formal_keys])
        annotations = self._formal.reading.annotations(gates)
        for index, annotation in zip(formal_keys, annotations, strict=True):
            own = list(zip(self._keys[index], kinds, strict=True))
            wide = [covering(part, annotation) for part, _ in own]
            some = [values for values in wide if values is not None]
            if len(some) == len(wide) and all(
                normal in known or normal in possible_keys
                for normal in map(_normal, product(*some))
            ):
                continue  # no world of its own needs to be looked at
            ranges = [typed_values(possible(part, annotation), kind) for part, kind in own]
            for key in product(*ranges):
                possible_keys.setdefault(_normal(key), key)
            if len(possible_keys) > MOST:
                raise too_many(
                    f"Rows of {rows.block.name} may have {len(possible_keys):,} keys and more"
                )
        new = (key for normal, key in possible_keys.items() if normal not in known)
        return sorted(new, key=lambda key: tuple(map(order_key, map(normal_value, key))))

    def _most_counted(self) -> int | None:
        """Return the largest key if many members have one COUNT each as their key, else None."""
        parts = [self._keys[index] for index in self._formal_keys]
        counts = [part for key in parts for part in key if isinstance(part, CircuitTensor)]
        if len(parts) < _COUNTS or len(counts) < len(parts) or len(self._rows.block.keys) > 1:
            return None
        if any(count.monoid != COUNT for count in counts):
            return None
        gates = np.array([count.gate for count in counts])
        return int(self._formal.circuit.most(gates).max())

    def grouped(self, positions: Array) -> Grouped:
        """See :meth:`Domains.grouped`."""
        rows = self._rows
        self._check(len(self._formal_keys) * len(positions), _COMPARED)
        columns = [
            self._domains.keys(rows, name, positions).to_pylist() for name, _ in rows.block.keys
        ]
        circuit = self._formal.circuit
        indices: list[Array] = [NOTHING]
        factors: list[Array] = [circuit.zeros(0)]
        sizes = []
        for key in zip(*columns, strict=True):
            plain = np.array(self._by_key.get(_normal(key), ()), dtype=np.int64)
            places, held = self._equal(key)
            indices += [plain, places]
            factors += [circuit.ones(len(plain)), held]
            sizes.append(len(plain) + len(places))
        owners = np.repeat(np.arange(len(sizes)), sizes)
        return Grouped(self._members[np.concatenate(indices)], owners, np.concatenate(factors))

    def _check(self, work: int, most: int) -> None:
        if work > most:
            raise too_many(
                f"{len(self._formal_keys):,} rows are grouped by {_keys_shown(self._rows)}, of "
                "which a deletion may change some values"
            )

    def _equal(self, key: Key) -> tuple[Array, Array]:
        """Return the members with changing keys that may equal a group's, and the condition that
        they do.
        """
        rest = every(len(self._formal_keys))
        held = self._formal.circuit.ones(len(rest))
        for part, value in zip(self._formal_parts, key, strict=True):
            op = "<=>" if value is None else "="
            values = np.repeat(self._formal.circuit.operands.plain([value]), len(rest))
            same = self._formal.conditions.compared(op, part[rest], values)
            held = self._formal.circuit.times(held, same)
            rest, held = rest[held != 0], held[held != 0]
        return np.array(self._formal_keys, dtype=np.int64)[rest], held


def _normal(key: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(order_key(normal_value(part)) for part in key)
