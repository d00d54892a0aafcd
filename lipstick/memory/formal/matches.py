"""What members look up in other blocks, as annotations: memberships, partners of joins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lipstick.memory.formal.algebra import ALGEBRA, Annotation, absent, matched_or_not, times
from lipstick.memory.formal.conditions import equal, truths
from lipstick.memory.formal.limits import MOST, too_many
from lipstick.memory.formal.scopes import MemberScope, operands, scalar_type
from lipstick.memory.members import Members
from lipstick.memory.memberships import Membership
from lipstick.memory.store import every
from semiring.base import Array
from semiring.value import Operand, Value

if TYPE_CHECKING:
    from lipstick.memory.formal import Formal

Partner = tuple[int, Annotation]
"""The position of a tuple of another block, and that it is there and is the one that is found."""


class Matches:
    """The tuples that memberships and outer lookups find."""

    def __init__(self, formal: Formal) -> None:
        self._formal = formal

    def memberships(self, members: Members, chosen: Array) -> list[Annotation]:
        """The factors of members that semi joins and anti joins are."""
        found: list[Annotation] = [ALGEBRA.one] * len(chosen)
        for one in members.memberships:
            guard = self._guard(members, one, chosen)
            factors = []
            for pairs, asked in zip(self._found(members, one, chosen), guard, strict=True):
                there = ALGEBRA.delta(ALGEBRA.sum([annotation for _, annotation in pairs]))
                factor = absent(there) if one.negated else there
                factors.append(_guarded(factor, asked))
            found = times(found, factors)
        return found

    def outer_joins(
        self, members: Members, chosen: Array, matched: dict[str, bool]
    ) -> list[Annotation]:
        """The factors of members that LEFT JOINs are.

        Parameters
        ----------
        matched
            By alias, whether the members are those with a partner, or those without; others are
            both.
        """
        found: list[Annotation] = [ALGEBRA.one] * len(chosen)
        for outer in members.block.outer_lookups:
            if not outer.factor:
                continue
            wanted = matched.get(outer.alias)
            factors = []
            for pairs in self.partners(members, members.outer_lookups[outer.alias], chosen):
                total = ALGEBRA.sum([annotation for _, annotation in pairs])
                if wanted is None:
                    factors.append(matched_or_not(total) if pairs else ALGEBRA.one)
                else:
                    factors.append(total if wanted else absent(total))
            found = times(found, factors)
        return found

    def partners(self, members: Members, asked: Membership, chosen: Array) -> list[list[Partner]]:
        """The tuples that an outer lookup may find for members."""
        guard = self._guard(members, asked, chosen)
        found = []
        for pairs, held in zip(self._found(members, asked, chosen), guard, strict=True):
            guarded = [(position, ALGEBRA.times(held, k)) for position, k in pairs]
            found.append([(position, k) for position, k in guarded if not k.is_zero])
        return found

    def _guard(self, members: Members, asked: Membership, chosen: Array) -> list[Annotation]:
        guard = asked.asked.guard
        if guard is None:
            return [ALGEBRA.one] * len(chosen)
        return truths(MemberScope(self._formal, members, chosen), guard)

    def _found(self, members: Members, asked: Membership, chosen: Array) -> list[list[Partner]]:
        inner = asked.asked.block
        if self.is_direct(asked):
            positions = asked.refer(chosen, members.base)
            there = np.flatnonzero(positions >= 0)
            found: list[list[Partner]] = [[] for _ in chosen]
            annotations = self._formal.tuples.of(inner.name, positions[there])
            for place, annotation in zip(there.tolist(), annotations, strict=True):
                if not annotation.is_zero:
                    found[place].append((int(positions[place]), annotation))
            return found
        return self._compared(members, asked, chosen, self._formal.domains.size(inner.name))

    def is_direct(self, asked: Membership) -> bool:
        """Whether no deletion changes what is compared, so that it is the same tuple in all
        worlds."""
        block = asked.asked.block
        stable = {output.name for output in block.outputs if output.stable} | set(block.identity)
        known = block.stable_identity and all(its in stable for _, its in asked.asked.pairs)
        return asked.stable and known

    def _compared(
        self, members: Members, asked: Membership, chosen: Array, domain: int
    ) -> list[list[Partner]]:
        """Every tuple that may be equal, with the condition that it is."""
        inner = asked.asked.block
        if domain * len(chosen) > MOST * 50:
            raise too_many(
                f"{len(chosen):,} rows of {members.block.name} are compared with {domain:,} of "
                f"{inner.name} by values that a deletion may change"
            )
        scope = MemberScope(self._formal, members, chosen)
        places = every(domain)
        annotations = self._formal.tuples.of(inner.name, places)
        lefts = [operands(scope, side) for side in asked.sides]
        kinds = [scalar_type(scope, side) for side in asked.sides]
        rights = [
            self._formal.columns.column(inner.name, its, places) for _, its in asked.asked.pairs
        ]
        types = [
            (kind, self._formal.columns.type(inner.name, its))
            for kind, (_, its) in zip(kinds, asked.asked.pairs, strict=True)
        ]
        right_rows = list(zip(*rights, strict=True)) if rights else [()] * domain
        left_rows = list(zip(*lefts, strict=True)) if lefts else [()] * len(chosen)
        known: dict[Any, list[Partner]] = {}
        found = []
        for row in left_rows:
            plain = not any(isinstance(part, Value) for part in row)
            key = repr(row) if plain else None
            if key is None or key not in known:
                pairs = _pairs(row, right_rows, annotations, types, asked.asked.null_safe)
                if key is None:
                    found.append(pairs)
                    continue
                known[key] = pairs
            found.append(known[key])
        return found


def _pairs(
    row: tuple[Operand, ...],
    others: Sequence[tuple[Operand, ...]],
    annotations: Sequence[Annotation],
    types: Sequence[tuple[pa.DataType, pa.DataType]],
    null_safe: bool,
) -> list[Partner]:
    found = []
    for place, (other, annotation) in enumerate(zip(others, annotations, strict=True)):
        factor = annotation
        for mine, its, kinds in zip(row, other, types, strict=True):
            if factor.is_zero:
                break
            factor = ALGEBRA.times(factor, equal(mine, its, kinds, null_safe=null_safe))
        if not factor.is_zero:
            found.append((place, factor))
    return found


def _guarded(factor: Annotation, guard: Annotation) -> Annotation:
    """A factor of the rows for which a guard holds; 1 for others."""
    if guard == ALGEBRA.one:
        return factor
    if guard.is_zero:
        return ALGEBRA.one
    return ALGEBRA.plus(ALGEBRA.times(guard, factor), absent(guard))
