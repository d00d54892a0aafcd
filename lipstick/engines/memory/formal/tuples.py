"""Annotations of tuples and of members as gates, each built once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from lipstick.engines.memory.elements import ElementRows
from lipstick.engines.memory.formal.scopes import GroupScope, MemberScope, UnionScope, values_of
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.unions import UnionRows
from rewriter.analysis.data_flow import dependent
from rewriter.interpret import interpret
from semiring.arrays.segments import ascending, bounds
from semiring.base import Array

if TYPE_CHECKING:
    from lipstick.engines.memory.formal import Formal

K = TypeVar("K")


class Tuples:
    """The annotations of tuples of every block."""

    def __init__(self, formal: Formal) -> None:
        self._formal = formal
        self._uncut: dict[str, Array] = {}
        self._tuples: dict[str, Array] = {}
        self._members: dict[tuple[str, tuple[tuple[str, bool], ...]], Array] = {}

    def of(self, name: str, positions: Array) -> Array:
        """Return the annotations of tuples of a block."""
        if not self._formal.engine.blocks[name].limited:
            return self.uncut(name, positions)

        def make(new: Array) -> Array:
            factors = self._formal.cuts.factors(name, new)
            return self._formal.circuit.times(self.uncut(name, new), factors)

        return remembered(self._tuples, name, positions, make)

    def uncut(self, name: str, positions: Array) -> Array:
        """Return the annotations of tuples of a block before LIMIT."""
        return remembered(self._uncut, name, positions, lambda new: self._make(name, new))

    def _make(self, name: str, positions: Array) -> Array:
        rows = self._formal.engine.rows(name)
        if isinstance(rows, UnionRows):
            return self._union(rows, positions)
        if isinstance(rows, GroupRows):
            return self._groups(rows, positions)
        if isinstance(rows, ElementRows):
            return self._formal.elements.annotations(rows, positions)
        return self.members(name, positions)

    def _union(self, rows: UnionRows, positions: Array) -> Array:
        branches, inside = self._formal.domains.branches(rows)
        gates = self._formal.circuit.zeros(len(positions))
        for number, branch in enumerate(rows.block.branches):
            in_branch = np.flatnonzero(branches[positions] == number)
            gates[in_branch] = self.of(branch.name, inside[positions[in_branch]])
        if not rows.block.having:
            return gates
        scope = UnionScope(self._formal, rows, positions)
        held = self._formal.conditions.all_true(scope, rows.block.having)
        return self._formal.circuit.times(gates, held)

    def _groups(self, rows: GroupRows, positions: Array) -> Array:
        block, circuit = rows.block, self._formal.circuit
        if block.difference is not None:
            return self._differences(rows, positions)
        gates = circuit.ones(len(positions))
        if block.keys:
            annotations, owners = self.of_groups(rows, positions)
            gates = circuit.delta(circuit.sum(annotations, segments(owners, len(positions))))
        if not block.having:
            return gates
        scope = GroupScope(self._formal, rows, positions)
        return circuit.times(gates, self._formal.conditions.all_true(scope, block.having))

    def of_groups(self, rows: GroupRows, positions: Array) -> tuple[Array, Array]:
        """Return the annotations of the members of some groups, and the index of each one's
        group.
        """
        grouped = self._formal.domains.grouped(rows, positions)
        annotations = self.members(rows.block.name, grouped.members)
        if grouped.factors is not None:
            annotations = self._formal.circuit.times(annotations, grouped.factors)
        return annotations, grouped.owners

    def _differences(self, rows: GroupRows, positions: Array) -> Array:
        """Return the annotations of EXCEPT ALL and INTERSECT ALL: differences of two sums of
        members.
        """
        difference, circuit = rows.block.difference, self._formal.circuit
        assert difference is not None
        annotations, owners = self.of_groups(rows, positions)
        members = self._formal.domains.grouped(rows, positions).members
        scope = MemberScope(self._formal, self._formal.domains.members(rows.block.name), members)
        sides = self._formal.reading.listed(values_of(scope, interpret(difference.side)))
        side = np.array(sides, dtype=np.int64)
        left, right = (
            circuit.sum(annotations[side == of], segments(owners[side == of], len(positions)))
            for of in (0, 1)
        )
        less = circuit.monus(left, right)
        return circuit.monus(left, less) if difference.common else less

    # -- members ---------------------------------------------------------------------------

    def members(self, name: str, chosen: Array, matched: dict[str, bool] | None = None) -> Array:
        """Return the annotations of members of a block: the products of their factors.

        ``matched`` as in :class:`MemberScope`.
        """
        choice = matched or {}
        key = (name, tuple(sorted(choice.items())))
        return remembered(
            self._members, key, chosen, lambda new: self._make_members(name, new, choice)
        )

    def _make_members(self, name: str, chosen: Array, matched: dict[str, bool]) -> Array:
        formal, circuit = self._formal, self._formal.circuit
        members = formal.domains.members(name)
        block = members.block
        columns = [
            circuit.tokens(formal.tokens.of_members(members, number, chosen))
            for number in range(len(block.tokens))
        ]
        for lookup in members.joined:
            positions = formal.domains.refer(members, lookup, chosen)
            there = np.flatnonzero(positions >= 0)
            factors = circuit.zeros(len(chosen))
            factors[there] = self.of(lookup.block.name, positions[there])
            columns.append(factors)
        products = circuit.product(columns, len(chosen))
        captured = chosen < members.count if members.dataset is not None else chosen < 0
        captured_places = np.flatnonzero(captured)
        products[captured_places[~members.fixed(chosen[captured_places])]] = 0
        if not (block.probes or block.conditions):
            return products
        places = np.flatnonzero(products)
        rest = chosen[places]
        parts = [
            products[places],
            formal.matches.memberships(members, rest),
            formal.matches.outer_joins(members, rest, matched),
        ]
        conditions = [
            condition
            for condition in block.conditions
            if members.dataset is None or dependent(condition, block)
        ]
        if conditions:
            scope = MemberScope(formal, members, rest, matched=matched)
            parts.append(formal.conditions.all_true(scope, conditions))
        products[places] = circuit.product(parts, len(rest))
        return products


def segments(owners: Array, count: int) -> Array:
    """Return the CSR offsets of the members of each group; ``owners`` are sorted."""
    return bounds(np.bincount(owners, minlength=count))


def remembered(
    known: dict[K, Array], key: K, positions: Array, make: Callable[[Array], Array]
) -> Array:
    """Return the gates at some positions, cached."""
    size = int(positions.max(initial=-1)) + 1
    before = known.get(key)
    if before is None or len(before) < size:
        grown = np.full(size, -1, dtype=np.int32)
        if before is not None:
            grown[: len(before)] = before
        known[key] = grown
    new = positions[known[key][positions] < 0]
    if len(new):
        new = ascending(new)
        made = make(new)
        known[key][new] = made
    found: Array = known[key][positions]
    return found
