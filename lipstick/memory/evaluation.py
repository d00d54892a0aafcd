"""Annotations evaluated in a semiring, block by block, over whole columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.errors import CapabilityError
from lipstick.memory.aggregates import MEMBERS
from lipstick.memory.derivations import written
from lipstick.memory.engine import Engine
from lipstick.memory.groups import GroupRows
from lipstick.memory.keys import distinct
from lipstick.memory.members import Members
from lipstick.memory.reach import Reached, Referred, members_of, reach, references
from lipstick.memory.state import NOTHING
from lipstick.memory.unions import UnionRows
from rewriter.blocks import Kind
from rewriter.emit import VALUE
from rewriter.statements import compares_aggregates, has_difference, limits_inside
from semiring.base import Array, Semiring
from semiring.evaluator import fold, group, product
from semiring.valuation import Valuation

_CONDITIONAL = ("Counting", "Boolean")
"""Semirings in which a comparison of aggregates that holds is 1 when every token is."""

_DENSE = 8
"""Where a valuation names more than one in so many members, all members are valued in one pass."""


def evaluate(
    engine: Engine,
    semiring: Semiring[Any],
    valuations: Mapping[str, Valuation[Any]],
    *,
    merged: bool = False,
) -> pa.Table:
    """The answer's columns, then ``_value``: the annotation of each row in a semiring.

    Parameters
    ----------
    merged
        Rows that are equal are one, annotated with their sum, in the order of the first of each.

    Raises
    ------
    CapabilityError
        When the query compares aggregated values, unless every token is 1 in Counting or Boolean.
    """
    state = engine.base(engine.root.name)
    evaluation = _Evaluation(engine, semiring, valuations)
    columns = engine.columns(state, state.ordered)
    codes = None
    if merged:
        numbers, first = distinct(columns, len(state.ordered))
        codes = (numbers, len(first))
        columns = [column.take(pa.array(first)) for column in columns]
    found = written(engine, semiring, valuations, state.ordered, codes)
    if found is None:
        values = evaluation.run(state.ordered)
        if codes is not None:
            order, offsets = group(*codes)
            values = fold(semiring, values if order is None else values[order], offsets)
        found = semiring.to_arrow(values)
    return pa.Table.from_arrays([*columns, found], names=[*engine.manifest.names, VALUE])


def _is_sum(rows: GroupRows) -> bool:
    """Whether the annotations are δ of the sums of products of the members' own tokens."""
    block = rows.block
    return bool(block.keys) and rows.members.alone and block.difference is None


class _Evaluation:
    """One semiring and its valuations."""

    def __init__(
        self, engine: Engine, semiring: Semiring[Any], valuations: Mapping[str, Valuation[Any]]
    ) -> None:
        self._engine = engine
        self._semiring = semiring
        self._valuations = valuations
        self._compares = compares_aggregates(engine.root)
        if self._compares and semiring.name not in _CONDITIONAL:
            raise self._incapable()
        if has_difference(engine.root) and not semiring.has_monus:
            semiring.monus(semiring.one, semiring.one)

    def _incapable(self) -> CapabilityError:
        return CapabilityError(
            "The query compares aggregated values, and such a comparison has no value in "
            f"{self._semiring.name} under this valuation.\n"
            "Use what_if() for deletions, or polynomials() for the expressions."
        )

    def run(self, ordered: Array) -> Array:
        """The annotations of the rows of the answer at some positions."""
        rows = self._engine.rows(self._engine.root.name)
        if isinstance(rows, GroupRows) and _is_sum(rows):
            found = self._sparse(rows, ordered)
            if found is not None:
                return found
        potential = not (self._compares or limits_inside(self._engine.root))
        reached = reach(self._engine, ordered, potential=potential)
        values: dict[str, Array] = {}
        for name in reversed(reached):
            values[name] = self._block(reached, name, values)
        root = self._engine.root.name
        result: Array = values[root][reached[root].place(ordered)]
        return result

    def _sparse(self, rows: GroupRows, groups: Array) -> Array | None:
        """The annotations of groups most of whose members are 1; None where not known to be.

        The others are found by an index of tokens, so that it costs what valuations name.
        """
        members, named = rows.members, [NOTHING]
        for number, token in enumerate(members.block.tokens):
            valuation = self._valuations[token.relation]
            if valuation.constant_one:
                continue
            assert members.dataset is not None
            kinds = [members.dataset.type(name) for name in token.columns]
            keys = valuation.exceptions(kinds)
            if keys is None or _DENSE * len(keys[0]) > members.count:
                return None
            named.append(members.token(number).pairs(keys)[0])
        touched = np.unique(np.concatenate(named))
        factors = self._factors(members, touched)
        values = product(self._semiring, factors, len(touched))
        moved = rows.moved(touched, np.zeros(len(touched), dtype=np.int64))
        values = values[np.searchsorted(touched, moved.positions)]
        order, offsets = group(moved.groups, rows.base.size)
        sums = fold(self._semiring, values if order is None else values[order], offsets)
        counts = rows.stored(MEMBERS, groups)
        assert counts is not None
        others = counts.to_numpy(zero_copy_only=False) - np.diff(offsets)[groups]
        total = self._semiring.plus_array(self._semiring.repeat_array(others), sums[groups])
        return self._semiring.delta_array(total)

    def _block(
        self, reached: Mapping[str, Reached], name: str, values: Mapping[str, Array]
    ) -> Array:
        own, rows = reached[name], self._engine.rows(name)
        if isinstance(rows, UnionRows):
            branches, inside = rows.places(rows.context)
            result = self._semiring.zeros(len(own.positions))
            for number, branch in enumerate(own.block.branches):
                mine = np.flatnonzero(branches[own.positions] == number)
                if len(mine):
                    places = reached[branch.name].place(inside[own.positions[mine]])
                    result = _put(result, mine, values[branch.name][places])
            return result
        if own.block.kind is Kind.GROUP and not own.block.keys:
            if self._compares:
                self._members(own, members_of(rows), reached, values)
            return self._semiring.ones(len(own.positions))
        members = self._members(own, members_of(rows), reached, values)
        if own.block.kind is not Kind.GROUP:
            return members
        if own.block.difference is None:
            return self._semiring.delta_array(self._totals(own, members, None))
        assert isinstance(rows, GroupRows)
        sides = rows.sides(own.members)
        left, right = (self._totals(own, members, sides == side) for side in (0, 1))
        less = self._semiring.monus_array(left, right)
        common = own.block.difference.common
        return self._semiring.monus_array(left, less) if common else less

    def _totals(self, own: Reached, members: Array, chosen: Array | None) -> Array:
        """The sums of the annotations of each tuple's members, or of those chosen."""
        owners = own.owners
        if chosen is not None:
            members, owners = members[chosen], owners[chosen]
        offsets = np.zeros(len(own.positions) + 1, dtype=np.int64)
        np.cumsum(np.bincount(owners, minlength=len(own.positions)), out=offsets[1:])
        return fold(self._semiring, members, offsets)

    def _members(
        self,
        own: Reached,
        members: Members | None,
        reached: Mapping[str, Reached],
        values: Mapping[str, Array],
    ) -> Array:
        """The products of the factors of members."""
        assert members is not None
        factors = self._factors(members, own.members)
        for referred in references(members, own.members):
            factors.append(self._referred(referred, reached, values))
        found = product(self._semiring, factors, len(own.members))
        dropped = np.flatnonzero(~members.fixed(own.members))
        return _put(found, dropped, self._semiring.zeros(len(dropped))) if len(dropped) else found

    def _factors(self, members: Members, positions: Array) -> list[Array]:
        """The values of the tokens of some members, scan by scan."""
        factors = []
        for number, token in enumerate(members.block.tokens):
            valuation = self._valuations[token.relation]
            if valuation.constant_one:
                continue
            assert members.dataset is not None
            columns = [members.dataset.take(name, positions) for name in token.columns]
            absent = members.token(number).absent
            mask = None if absent is None else absent[positions]
            found = valuation.lookup(columns, len(positions), mask)
            if self._compares and not (found == self._semiring.one).all():
                raise self._incapable()
            factors.append(found)
        return factors

    def _referred(
        self, referred: Referred, reached: Mapping[str, Reached], values: Mapping[str, Array]
    ) -> Array:
        """The factors that are annotations of tuples of another block."""
        there = referred.positions >= 0
        factors = self._semiring.ones(len(there))
        if referred.block not in values or not there.any():
            return factors
        places = reached[referred.block].place(referred.positions[there])
        found = values[referred.block][places]
        if not referred.optional:
            return found
        if referred.negated:
            ones = self._semiring.ones(len(found))
            found = self._semiring.monus_array(ones, self._semiring.delta_array(found))
        return _put(factors, np.flatnonzero(there), found)


def _put(values: Array, places: Array, new: Array) -> Array:
    if values.dtype != new.dtype:
        values = values.astype(object)
    values[places] = new
    return values
