"""Annotations of tuples and of members as gates, each built once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.elements import ElementRows
from lipstick.engines.memory.formal.aggregates import Aggregates
from lipstick.engines.memory.formal.blocks import FormalBlocks, remembered, segments
from lipstick.engines.memory.formal.cuts import Cuts
from lipstick.engines.memory.formal.domains import Domains
from lipstick.engines.memory.formal.elements import FormalElements
from lipstick.engines.memory.formal.matches import Matches, MemberScope, refer
from lipstick.engines.memory.formal.scopes import Column, assembled, values_of
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.unions import UnionRows
from rewriter.analysis.data_flow import dependent
from rewriter.blocks import GROUP
from rewriter.interpret import interpret, unify
from semiring.base import Array


class Tuples:
    """The annotations of tuples of every block."""

    def __init__(
        self, formal: FormalBlocks, aggregates: Aggregates, elements: FormalElements
    ) -> None:
        self._formal = formal
        self._aggregates = aggregates
        self._domains = aggregates.domains
        self._elements = elements
        self._matches = Matches(formal)
        self._cuts = Cuts(formal)
        self._uncut: dict[str, Array] = {}
        self._tuples: dict[str, Array] = {}
        self._members: dict[tuple[str, tuple[tuple[str, bool], ...]], Array] = {}

    def of(self, name: str, positions: Array) -> Array:
        """Return the annotations of tuples of a block."""
        if not self._formal.engine.blocks[name].limited:
            return self.uncut(name, positions)

        def make(new: Array) -> Array:
            factors = self._cuts.factors(name, new)
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
            return self._elements.annotations(rows, positions)
        return self.members(name, positions)

    def _union(self, rows: UnionRows, positions: Array) -> Array:
        branches, inside = self._domains.branches(rows)
        gates = self._formal.circuit.zeros(len(positions))
        for number, branch in enumerate(rows.block.branches):
            in_branch = np.flatnonzero(branches[positions] == number)
            gates[in_branch] = self.of(branch.name, inside[positions[in_branch]])
        if not rows.block.having:
            return gates
        scope = UnionScope(self._formal, self._domains, rows, positions)
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
        scope = GroupScope(self._formal, self._aggregates, rows, positions)
        return circuit.times(gates, self._formal.conditions.all_true(scope, block.having))

    def of_groups(self, rows: GroupRows, positions: Array) -> tuple[Array, Array]:
        """Return the annotations of the members of some groups, and the index of each one's
        group.
        """
        grouped = self._domains.grouped(rows, positions)
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
        members = self._domains.grouped(rows, positions).members
        scope = MemberScope(self._formal, self._domains.members(rows.block.name), members)
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
        members = self._domains.members(name)
        block = members.block
        columns = [
            circuit.tokens(formal.tokens.of_members(members, number, chosen))
            for number in range(len(block.tokens))
        ]
        for lookup in members.joined:
            positions = refer(members, lookup, chosen)
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
            self._matches.memberships(members, rest),
            self._matches.outer_joins(members, rest, matched),
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


class GroupScope:
    """The columns of some groups: keys, aggregates, and values of scalar subqueries."""

    def __init__(
        self, formal: FormalBlocks, aggregates: Aggregates, rows: GroupRows, positions: Array
    ) -> None:
        self._formal = formal
        self._aggregates = aggregates
        self.reading = formal.reading
        self._rows = rows
        self._positions = positions
        self._subqueries = rows.block.by_alias

    @property
    def length(self) -> int:
        """See :class:`Scope`."""
        return len(self._positions)

    def column(self, alias: str, name: str) -> Column:
        """See :class:`Scope`."""
        if alias != GROUP:
            return np.repeat(self._formal.scalar(self._subqueries[alias].block, name), self.length)
        if name in self._rows.calls:
            return self._aggregates.values(self._rows.block.name, name, self._positions)
        return self._aggregates.domains.keys(self._rows, name, self._positions)

    def type(self, alias: str, name: str) -> pa.DataType:
        """See :class:`Scope`."""
        if alias == GROUP:
            return self._rows.type(name)
        return self._formal.columns.type(self._subqueries[alias].block.name, name)


class UnionScope:
    """The columns of some tuples of a union."""

    def __init__(
        self, formal: FormalBlocks, domains: Domains, rows: UnionRows, positions: Array
    ) -> None:
        self._formal = formal
        self.reading = formal.reading
        self._rows = rows
        branches, inside = domains.branches(rows)
        self._branches, self._inside = branches[positions], inside[positions]
        self._subqueries = rows.block.by_alias
        first = rows.block.branches[0]
        self._places = {output.name: number for number, output in enumerate(first.outputs)}

    @property
    def length(self) -> int:
        """See :class:`Scope`."""
        return len(self._branches)

    def column(self, alias: str, name: str) -> Column:
        """See :class:`Scope`."""
        if alias in self._subqueries:
            return np.repeat(self._formal.scalar(self._subqueries[alias].block, name), self.length)
        parts = []
        for number, branch in enumerate(self._rows.block.branches):
            in_branch = np.flatnonzero(self._branches == number)
            output = branch.outputs[self._places[name]].name
            taken = self._formal.columns.column(branch.name, output, self._inside[in_branch])
            parts.append((in_branch, taken))
        return assembled(self.reading, self.length, parts)

    def type(self, alias: str, name: str) -> pa.DataType:
        """See :class:`Scope`."""
        if alias in self._subqueries:
            return self._formal.columns.type(self._subqueries[alias].block.name, name)
        kinds = []
        for branch in self._rows.block.branches:
            output = branch.outputs[self._places[name]]
            null = pa.null() if output.always_null else None
            kinds.append(null or self._formal.columns.type(branch.name, output.name))
        return unify(*kinds)
