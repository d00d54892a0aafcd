"""Annotations of tuples and of members, each made once."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.elements import ElementRows
from lipstick.engines.memory.formal.algebra import ALGEBRA, Annotation, times
from lipstick.engines.memory.formal.conditions import all_true
from lipstick.engines.memory.formal.scopes import GroupScope, MemberScope, UnionScope
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.store import every
from lipstick.engines.memory.unions import UnionRows
from lipstick.tracking.naming import shown_key
from rewriter.analysis.data_flow import dependent
from semiring.base import Array
from semiring.polynomial import Polynomial
from semiring.token import Token

if TYPE_CHECKING:
    from lipstick.engines.memory.formal import Formal


class Tuples:
    """The annotations of tuples of every block."""

    def __init__(self, formal: Formal) -> None:
        self._formal = formal
        self._uncut: dict[str, dict[int, Annotation]] = {}
        self._tuples: dict[str, dict[int, Annotation]] = {}
        self._members: dict[tuple[str, tuple[tuple[str, bool], ...]], dict[int, Annotation]] = {}

    def of(self, name: str, positions: Array) -> list[Annotation]:
        """The annotations of tuples of a block."""
        block = self._formal.engine.blocks[name]
        if not block.limited:
            return self.uncut(name, positions)
        known = self._tuples.setdefault(name, {})
        new = _unknown(known, positions)
        if len(new):
            uncut = times(self.uncut(name, new), self._formal.cuts.factors(name, new))
            known.update(zip(new.tolist(), uncut, strict=True))
        return [known[position] for position in positions.tolist()]

    def uncut(self, name: str, positions: Array) -> list[Annotation]:
        """The annotations of tuples of a block before LIMIT."""
        known = self._uncut.setdefault(name, {})
        new = _unknown(known, positions)
        if len(new):
            known.update(zip(new.tolist(), self._make(name, new), strict=True))
        return [known[position] for position in positions.tolist()]

    def _make(self, name: str, positions: Array) -> list[Annotation]:
        rows = self._formal.engine.rows(name)
        if isinstance(rows, UnionRows):
            return self._union(rows, positions)
        if isinstance(rows, GroupRows):
            return self._groups(rows, positions)
        if isinstance(rows, ElementRows):
            return self._formal.elements.annotations(rows, positions)
        return self.members(name, positions)

    def _union(self, rows: UnionRows, positions: Array) -> list[Annotation]:
        branches, inside = self._formal.domains.branches(rows)
        union_annotations: list[Annotation] = [ALGEBRA.zero] * len(positions)
        for number, branch in enumerate(rows.block.branches):
            in_branch = np.flatnonzero(branches[positions] == number)
            branch_annotations = self.of(branch.name, inside[positions[in_branch]])
            for index, annotation in zip(in_branch.tolist(), branch_annotations, strict=True):
                union_annotations[index] = annotation
        if not rows.block.having:
            return union_annotations
        scope = UnionScope(self._formal, rows, positions)
        return times(union_annotations, all_true(scope, rows.block.having))

    def _groups(self, rows: GroupRows, positions: Array) -> list[Annotation]:
        block = rows.block
        if block.difference is not None:
            return self._differences(rows, positions)
        group_annotations: list[Annotation] = [ALGEBRA.one] * len(positions)
        if block.keys:
            annotations, owners = self.of_groups(rows, positions)
            group_annotations = [
                ALGEBRA.delta(ALGEBRA.sum(annotations[a:b]))
                for a, b in segments(owners, len(positions))
            ]
        if not block.having:
            return group_annotations
        scope = GroupScope(self._formal, rows, positions)
        return times(group_annotations, all_true(scope, block.having))

    def of_groups(self, rows: GroupRows, positions: Array) -> tuple[list[Annotation], Array]:
        """The annotations of the members of some groups, and the place of each one's group."""
        grouped = self._formal.domains.grouped(rows, positions)
        annotations = self.members(rows.block.name, grouped.members)
        if grouped.factors is not None:
            annotations = times(annotations, grouped.factors)
        return annotations, grouped.owners

    def _differences(self, rows: GroupRows, positions: Array) -> list[Annotation]:
        """The differences of the sums of two sides' members, of EXCEPT ALL and INTERSECT ALL."""
        difference = rows.block.difference
        assert difference is not None
        annotations, owners = self.of_groups(rows, positions)
        sides = rows.sides(self._formal.domains.grouped(rows, positions).members)
        differences = []
        for start, stop in segments(owners, len(positions)):
            pairs = list(zip(annotations[start:stop], sides[start:stop], strict=True))
            left, right = (ALGEBRA.sum([k for k, at in pairs if at == side]) for side in (0, 1))
            less = ALGEBRA.monus(left, right)
            differences.append(ALGEBRA.monus(left, less) if difference.common else less)
        return differences

    # -- members ---------------------------------------------------------------------------

    def members(
        self, name: str, chosen: Array, matched: dict[str, bool] | None = None
    ) -> list[Annotation]:
        """The annotations of members of a block: the products of their factors.

        ``matched`` as in :class:`MemberScope`.
        """
        key = (name, tuple(sorted((matched or {}).items())))
        known = self._members.setdefault(key, {})
        new = _unknown(known, chosen)
        if len(new):
            new_annotations = self._make_members(name, new, matched or {})
            known.update(zip(new.tolist(), new_annotations, strict=True))
        return [known[position] for position in chosen.tolist()]

    def _make_members(self, name: str, chosen: Array, matched: dict[str, bool]) -> list[Annotation]:
        formal = self._formal
        members = formal.domains.members(name)
        block = members.block
        columns = [self._tokens(members, number, chosen) for number in range(len(block.tokens))]
        for lookup in members.lookups:
            positions = formal.domains.refer(members, lookup, chosen)
            there = np.flatnonzero(positions >= 0)
            factors: list[Annotation] = [ALGEBRA.zero] * len(chosen)
            referred_annotations = self.of(lookup.block.name, positions[there])
            for index, annotation in zip(there.tolist(), referred_annotations, strict=True):
                factors[index] = annotation
            columns.append(factors)
        products: list[Annotation] = columns[0] if columns else [ALGEBRA.one] * len(chosen)
        for factors in columns[1:]:
            products = times(products, factors)
        captured = chosen < members.count if members.dataset is not None else chosen < 0
        captured_places = np.flatnonzero(captured)
        for index in captured_places[~members.fixed(chosen[captured_places])].tolist():
            products[index] = ALGEBRA.zero
        left = np.array([not annotation.is_zero for annotation in products], dtype=np.bool_)
        places = np.flatnonzero(left)
        rest = chosen[places]
        if not (block.semis or block.outer_lookups or block.conditions):
            return products
        factors = formal.matches.memberships(members, rest)
        factors = times(factors, formal.matches.outer_joins(members, rest, matched))
        conditions = [
            condition
            for condition in block.conditions
            if members.dataset is None or dependent(condition, block)
        ]
        if conditions:
            scope = MemberScope(formal, members, rest, matched=matched)
            factors = times(factors, all_true(scope, conditions))
        for index, factor in zip(places.tolist(), factors, strict=True):
            products[index] = ALGEBRA.times(products[index], factor)
        return products

    def _tokens(self, members: Members, number: int, chosen: Array) -> list[Annotation]:
        token = members.block.tokens[number]
        assert members.dataset is not None
        columns = [members.dataset.take(name, chosen) for name in token.columns]
        absent = members.tokens.index(number).absent
        naming = self._formal.engine.manifest.relations[token.relation].naming
        codes = first = every(len(chosen))
        if not any(pa.types.is_nested(column.type) for column in columns):
            codes, first = distinct(columns, len(chosen))
        keys = zip(*(column.take(pa.array(first)).to_pylist() for column in columns), strict=True)
        atoms: list[Annotation] = [
            Polynomial.token(Token(token.relation, shown_key(naming, key))) for key in keys
        ]
        if absent is not None:
            codes = np.where(absent[chosen], len(atoms), codes)
            atoms.append(ALGEBRA.one)
        return [atoms[code] for code in codes.tolist()]


def segments(owners: Array, count: int) -> list[tuple[int, int]]:
    """Return start and stop of the members of each group; ``owners`` are sorted."""
    bounds = np.searchsorted(owners, np.arange(count + 1))
    return list(pairwise(bounds.tolist()))


def _unknown(known: dict[int, Annotation], positions: Array) -> Array:
    distinct_positions = np.unique(positions)
    if not known:
        return distinct_positions
    new: Array = distinct_positions[[p not in known for p in distinct_positions.tolist()]]
    return new
