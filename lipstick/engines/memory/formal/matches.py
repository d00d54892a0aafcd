"""Lookups of members in other blocks, as annotations: memberships, partners of joins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.algebra import (
    ALGEBRA,
    Annotation,
    absent,
    matched_or_not,
    times,
)
from lipstick.engines.memory.formal.conditions import equal, truths
from lipstick.engines.memory.formal.limits import MOST, too_many
from lipstick.engines.memory.formal.scopes import MemberScope, operands, scalar_type
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.memberships import Membership
from lipstick.engines.memory.store import every
from semiring.base import Array
from semiring.value import Operand, Value

if TYPE_CHECKING:
    from lipstick.engines.memory.formal import Formal

Partner = tuple[int, Annotation]
"""The position of a tuple of another block, and that it is there and is the one that is found."""


class Matches:
    """The tuples that memberships and outer lookups find."""

    def __init__(self, formal: Formal) -> None:
        self._formal = formal

    def memberships(self, members: Members, chosen: Array) -> list[Annotation]:
        """The factors of members that semi joins and anti joins are."""
        factors_so_far: list[Annotation] = [ALGEBRA.one] * len(chosen)
        for membership in members.memberships:
            guard = self._guard(members, membership, chosen)
            factors = []
            for pairs, guard_annotation in zip(
                self._found(members, membership, chosen), guard, strict=True
            ):
                there = ALGEBRA.delta(ALGEBRA.sum([annotation for _, annotation in pairs]))
                factor = absent(there) if membership.negated else there
                factors.append(_guarded(factor, guard_annotation))
            factors_so_far = times(factors_so_far, factors)
        return factors_so_far

    def outer_joins(
        self, members: Members, chosen: Array, matched: dict[str, bool]
    ) -> list[Annotation]:
        """The factors of members that LEFT JOINs are.

        Parameters
        ----------
        matched
            By alias, whether the members have a partner, or have none; members of other lookups may
            have one or not.
        """
        products: list[Annotation] = [ALGEBRA.one] * len(chosen)
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
            products = times(products, factors)
        return products

    def partners(
        self, members: Members, membership: Membership, chosen: Array
    ) -> list[list[Partner]]:
        """The tuples that an outer lookup may find for members."""
        guard = self._guard(members, membership, chosen)
        partners = []
        for pairs, held in zip(self._found(members, membership, chosen), guard, strict=True):
            guarded = [(position, ALGEBRA.times(held, k)) for position, k in pairs]
            partners.append([(position, k) for position, k in guarded if not k.is_zero])
        return partners

    def _guard(self, members: Members, membership: Membership, chosen: Array) -> list[Annotation]:
        guard = membership.asked.guard
        if guard is None:
            return [ALGEBRA.one] * len(chosen)
        return truths(MemberScope(self._formal, members, chosen), guard)

    def _found(
        self, members: Members, membership: Membership, chosen: Array
    ) -> list[list[Partner]]:
        inner = membership.asked.block
        if self.is_direct(membership):
            positions = membership.refer(chosen, members.base)
            there = np.flatnonzero(positions >= 0)
            partners: list[list[Partner]] = [[] for _ in chosen]
            annotations = self._formal.tuples.of(inner.name, positions[there])
            for index, annotation in zip(there.tolist(), annotations, strict=True):
                if not annotation.is_zero:
                    partners[index].append((int(positions[index]), annotation))
            return partners
        return self._compared(members, membership, chosen, self._formal.domains.size(inner.name))

    def is_direct(self, membership: Membership) -> bool:
        """Return True if no deletion changes the compared values, so that the tuple found is the
        same in all worlds."""
        block = membership.asked.block
        stable = {output.name for output in block.outputs if output.stable} | set(block.identity)
        known = block.stable_identity and all(its in stable for _, its in membership.asked.pairs)
        return membership.stable and known

    def _compared(
        self, members: Members, membership: Membership, chosen: Array, domain: int
    ) -> list[list[Partner]]:
        """Every tuple that may be equal, with the condition that it is."""
        inner = membership.asked.block
        if domain * len(chosen) > MOST * 50:
            raise too_many(
                f"{len(chosen):,} rows of {members.block.name} are compared with {domain:,} of "
                f"{inner.name} by values that a deletion may change"
            )
        scope = MemberScope(self._formal, members, chosen)
        places = every(domain)
        annotations = self._formal.tuples.of(inner.name, places)
        lefts = [operands(scope, side) for side in membership.sides]
        kinds = [scalar_type(scope, side) for side in membership.sides]
        rights = [
            self._formal.columns.column(inner.name, its, places)
            for _, its in membership.asked.pairs
        ]
        types = [
            (kind, self._formal.columns.type(inner.name, its))
            for kind, (_, its) in zip(kinds, membership.asked.pairs, strict=True)
        ]
        right_rows = list(zip(*rights, strict=True)) if rights else [()] * domain
        left_rows = list(zip(*lefts, strict=True)) if lefts else [()] * len(chosen)
        known: dict[Any, list[Partner]] = {}
        partners = []
        for row in left_rows:
            plain = not any(isinstance(part, Value) for part in row)
            key = repr(row) if plain else None
            if key is None or key not in known:
                pairs = _pairs(row, right_rows, annotations, types, membership.asked.null_safe)
                if key is None:
                    partners.append(pairs)
                    continue
                known[key] = pairs
            partners.append(known[key])
        return partners


def _pairs(
    row: tuple[Operand, ...],
    other_rows: Sequence[tuple[Operand, ...]],
    annotations: Sequence[Annotation],
    types: Sequence[tuple[pa.DataType, pa.DataType]],
    null_safe: bool,
) -> list[Partner]:
    partners = []
    for index, (other, annotation) in enumerate(zip(other_rows, annotations, strict=True)):
        factor = annotation
        for value, its, kinds in zip(row, other, types, strict=True):
            if factor.is_zero:
                break
            factor = ALGEBRA.times(factor, equal(value, its, kinds, null_safe=null_safe))
        if not factor.is_zero:
            partners.append((index, factor))
    return partners


def _guarded(factor: Annotation, guard: Annotation) -> Annotation:
    """A factor of the rows for which a guard holds; 1 for others."""
    if guard == ALGEBRA.one:
        return factor
    if guard.is_zero:
        return ALGEBRA.one
    return ALGEBRA.plus(ALGEBRA.times(guard, factor), absent(guard))
