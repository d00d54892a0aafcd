"""Members of a block: their columns, and what their lookups find in other blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.blocks import FormalBlocks, segments
from lipstick.engines.memory.formal.limits import MOST, too_many
from lipstick.engines.memory.formal.scopes import (
    Column,
    assembled,
    gates_of,
    scalar_type,
    values_of,
)
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.memberships import Membership
from lipstick.engines.memory.places import NOTHING
from lipstick.engines.memory.store import every
from rewriter.blocks import EXPANDED, MEMBER, Match, MatchKind
from semiring.arrays.segments import bounds, expand
from semiring.base import Array


class Partners(NamedTuple):
    """The tuples of another block that members may match.

    Attributes
    ----------
    owners
        The index of each partner's member, ascending.
    positions
        The positions of the tuples.
    gates
        The condition that the tuple is present and matches.
    """

    owners: Array
    positions: Array
    gates: Array


class Matches:
    """The tuples that memberships and outer lookups match."""

    def __init__(self, formal: FormalBlocks) -> None:
        self._formal = formal

    def memberships(self, members: Members, chosen: Array) -> Array:
        """Return the factors of members for semi joins and anti joins."""
        circuit = self._formal.circuit
        factors = []
        for membership in members.memberships:
            there = circuit.delta(self._total(self._found(members, membership, chosen), chosen))
            factor = circuit.absent(there) if membership.negated else there
            factors.append(self._guarded(factor, self._guard(members, membership, chosen)))
        return circuit.product(factors, len(chosen))

    def _total(self, partners: Partners, chosen: Array) -> Array:
        """Return the sums of the annotations of each member's partners."""
        return self._formal.circuit.sum(partners.gates, segments(partners.owners, len(chosen)))

    def _guarded(self, factors: Array, guard: Array | None) -> Array:
        """Return factors of the rows for which a guard holds; 1 for others."""
        if guard is None:
            return factors
        circuit = self._formal.circuit
        either = circuit.plus(circuit.times(guard, factors), circuit.absent(guard))
        return np.where(guard == 1, factors, np.where(guard == 0, 1, either)).astype(np.int32)

    def outer_joins(self, members: Members, chosen: Array, matched: dict[str, bool]) -> Array:
        """Return the factors of members for LEFT JOINs.

        Parameters
        ----------
        matched
            By alias, whether the members have a partner; for lookups that are left out, both are
            possible.
        """
        circuit = self._formal.circuit
        factors = []
        for outer in members.block.lookups:
            if not outer.factor:
                continue
            wanted = matched.get(outer.alias)
            partners = self.partners(members, members.lookups[outer.alias], chosen)
            total = self._total(partners, chosen)
            if wanted is None:
                factors.append(circuit.matched_or_not(total))
            else:
                factors.append(total if wanted else circuit.absent(total))
        return circuit.product(factors, len(chosen))

    def partners(self, members: Members, membership: Membership, chosen: Array) -> Partners:
        """Return the tuples that an outer lookup may find for members."""
        partners = self._found(members, membership, chosen)
        guard = self._guard(members, membership, chosen)
        if guard is None:
            return partners
        gates = self._formal.circuit.times(guard[partners.owners], partners.gates)
        return _present(partners.owners, partners.positions, gates)

    def _guard(self, members: Members, membership: Membership, chosen: Array) -> Array | None:
        guard = membership.asked.guard
        if guard is None:
            return None
        return self._formal.conditions.truths(MemberScope(self._formal, members, chosen), guard)

    def _found(self, members: Members, membership: Membership, chosen: Array) -> Partners:
        inner = membership.asked.block
        if is_direct(membership):
            positions = membership.refer(chosen, members.base)
            there = np.flatnonzero(positions >= 0)
            gates = self._formal.tuples.of(inner.name, positions[there])
            return _present(there, positions[there], gates)
        return self._compared(members, membership, chosen, self._formal.size(inner.name))

    def _compared(
        self, members: Members, membership: Membership, chosen: Array, domain: int
    ) -> Partners:
        """Return every tuple that may match, with the condition that it does."""
        inner, null_safe = membership.asked.block, membership.asked.null_safe
        formal, conditions = self._formal, self._formal.conditions
        scope = MemberScope(formal, members, chosen)
        there = formal.tuples.of(inner.name, every(domain))
        places = np.flatnonzero(there)
        codes = [np.zeros(len(chosen) + len(places), dtype=np.int64)]
        undecided = []
        for side, (_, its) in zip(membership.sides, membership.asked.pairs, strict=True):
            left = gates_of(formal.reading, values_of(scope, side))
            right = gates_of(formal.reading, formal.columns.column(inner.name, its, places))
            types = scalar_type(scope, side), formal.columns.type(inner.name, its)
            known = conditions.equality_codes(left, right, types, null_safe=null_safe)
            if known is None:
                undecided.append((left, right, types))
            else:
                codes.append(known)
        low, high, order = _equal_columns(np.array(codes), len(chosen))
        if (high - low).sum() > MOST * 50:
            raise too_many(
                f"{len(chosen):,} rows of {members.block.name} are compared with "
                f"{len(places):,} of {inner.name} by values that a deletion may change"
            )
        entries, owners = expand(low, high)
        found = order[entries]
        held = there[places[found]]
        for left, right, types in undecided:
            same = conditions.equal(left[owners], right[found], types, null_safe=null_safe)
            held = formal.circuit.times(held, same)
            kept = held != 0
            owners, found, held = owners[kept], found[kept], held[kept]
        return Partners(owners, places[found], held)


class MemberScope:
    """The columns of some members of a block.

    Parameters
    ----------
    chosen
        The positions of the members.
    sets
        The numbers of the grouping sets that they take part in, if there are any.
    matched
        By alias of an outer lookup, whether the members have a partner: its columns are then the
        partner's values, or else NULLs. The values of other lookups are formal.
    """

    def __init__(
        self,
        formal: FormalBlocks,
        members: Members,
        chosen: Array,
        sets: Array | None = None,
        matched: Mapping[str, bool] | None = None,
    ) -> None:
        self._formal = formal
        self.reading = formal.reading
        self._members = members
        self._chosen = chosen
        self._sets = sets
        self._matched = matched or {}
        self._matches = members.block.by_alias
        self._known: dict[tuple[str, str], Column] = {}

    @property
    def length(self) -> int:
        """See :class:`Scope`."""
        return len(self._chosen)

    def column(self, alias: str, name: str) -> Column:
        """See :class:`Scope`."""
        if (alias, name) not in self._known:
            self._known[alias, name] = self._column(alias, name)
        return self._known[alias, name]

    def _column(self, alias: str, name: str) -> Column:
        formal, members = self._formal, self._members
        if alias == EXPANDED:
            return pa.array(self._sets, pa.int32())
        if alias == MEMBER:
            return members.resolve(self._chosen, members.base)(alias, name).to_arrow(self.length)
        match = self._matches[alias]
        if match.kind is MatchKind.ONE:
            return np.repeat(formal.scalar(match.block, name), self.length)
        if match.kind is MatchKind.AT_MOST_ONE:
            return self._looked_up(alias, name)
        positions = refer(members, match, self._chosen)
        there = np.flatnonzero(positions >= 0)
        base = formal.engine.base(match.block.name)
        captured = len(there) == len(positions) and bool((positions < base.size).all())
        stable = captured and members.is_stable_column(alias, name)
        if stable and base.before_limit[positions].all():
            # No deletion changes the value of a row that is there.
            return base.take(name, positions)
        taken = formal.columns.column(match.block.name, name, positions[there])
        return assembled(self.reading, self.length, [(there, taken)])

    def _looked_up(self, alias: str, name: str) -> Column:
        """Return a column of the partners that an outer lookup finds."""
        if self._matched.get(alias) is False:
            return pa.nulls(self.length, self.type(alias, name))
        membership = self._members.lookups[alias]
        partners = Matches(self._formal).partners(self._members, membership, self._chosen)
        values = self._formal.columns.column(membership.asked.block.name, name, partners.positions)
        offsets = bounds(np.bincount(partners.owners, minlength=self.length))
        sole = np.flatnonzero(np.diff(offsets) == 1)
        matched = self._matched.get(alias) is True
        if matched and len(sole) == self.length:
            return values
        gates = gates_of(self.reading, values)
        looked_up = self.reading.circuit.operands.choices(partners.gates, gates, offsets)
        if matched:
            looked_up[sole] = gates[offsets[sole]]
        return looked_up

    def type(self, alias: str, name: str) -> pa.DataType:
        """See :class:`Scope`."""
        members = self._members
        if alias == EXPANDED:
            return pa.int32()
        if alias in self._matches:
            return self._formal.columns.type(self._matches[alias].block.name, name)
        return members.resolve(NOTHING, members.base)(alias, name).type


def refer(members: Members, lookup: Match, chosen: Array) -> Array:
    """Return the positions of the tuples that members refer to through a lookup, or -1."""
    if members.dataset is None and lookup is members.references.free:
        return chosen
    return members.references.of(lookup, chosen)


def is_direct(membership: Membership) -> bool:
    """Return True if no deletion changes the compared values, so that the match is fixed."""
    block = membership.asked.block
    stable = {output.name for output in block.outputs if output.stable} | set(block.identity)
    known = block.stable_identity and all(its in stable for _, its in membership.asked.pairs)
    return membership.stable and known


def _equal_columns(codes: Array, count: int) -> tuple[Array, Array, Array]:
    """Match the first `count` columns of a matrix with equal columns after them.

    Returns
    -------
    low, high, order
        Per column before `count`: `order[low:high]` are the columns that equal it.
    """
    _, code = np.unique(codes, axis=1, return_inverse=True)
    code = code.reshape(-1)
    order = np.argsort(code[count:], kind="stable")
    ordered = code[count:][order]
    low, high = (np.searchsorted(ordered, code[:count], side) for side in ("left", "right"))
    return low, high, order


def _present(owners: Array, positions: Array, gates: Array) -> Partners:
    """Return the partners that are present in some world."""
    there = gates != 0
    if there.all():
        return Partners(owners, positions, gates)
    return Partners(owners[there], positions[there], gates[there])
