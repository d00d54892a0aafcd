"""Annotations evaluated in a semiring, block by block, over whole columns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.errors import CapabilityError
from lipstick.memory.engine import Engine
from lipstick.memory.groups import GroupRows
from lipstick.memory.keys import distinct
from lipstick.memory.members import Members
from lipstick.memory.reach import Reached, Referred, members_of, reach, references
from lipstick.memory.sources import sources_of
from lipstick.memory.sparse import sparse
from lipstick.memory.unions import UnionRows
from rewriter.blocks import Kind
from rewriter.emit import VALUE
from rewriter.statements import compares_aggregates, has_difference, limits_inside
from semiring.base import Array, Semiring
from semiring.columns import Columns, Source, columns_of
from semiring.evaluator import group
from semiring.segments import bounds
from semiring.valuation import Valuation

_CONDITIONAL = ("Counting", "Boolean")
"""Semirings in which a comparison of aggregates that holds is 1 when every token is."""


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
    if compares_aggregates(engine.root) and semiring.name not in _CONDITIONAL:
        raise _incapable(semiring)
    if has_difference(engine.root) and not semiring.has_monus:
        semiring.monus(semiring.one, semiring.one)
    state = engine.base(engine.root.name)
    answer = engine.columns(state, state.ordered)
    columns, values = _annotations(engine, semiring, valuations, state.ordered)
    if merged:
        codes, first = distinct(answer, len(state.ordered))
        answer = [column.take(pa.array(first)) for column in answer]
        order, offsets = group(codes, len(first))
        values = columns.fold(values if order is None else columns.take(values, order), offsets)
    found = columns.to_arrow(values)
    return pa.Table.from_arrays([*answer, found], names=[*engine.manifest.names, VALUE])


def _annotations(
    engine: Engine,
    semiring: Semiring[Any],
    valuations: Mapping[str, Valuation[Any]],
    ordered: Array,
) -> tuple[Columns[Any], Any]:
    """The annotations of the rows of the answer at some positions, and their operations."""
    rows, compares = engine.rows(engine.root.name), compares_aggregates(engine.root)
    plain = not compares or all(one.constant_one for one in valuations.values())
    if isinstance(rows, GroupRows) and plain:
        found = sparse(rows, semiring, valuations, ordered)
        if found is not None:
            return found
    potential = not (compares or limits_inside(engine.root))
    reached = reach(engine, ordered, potential=potential)
    sources: dict[Hashable, Source] = {}
    for name, own in reached.items():
        members = members_of(engine.rows(name))
        if members is not None:
            sources |= sources_of(members, own.members, valuations)
    if compares:
        _require_ones(semiring, sources)
        sources = {}
    columns = columns_of(semiring, sources)
    return columns, _Evaluation(engine, columns, sources, reached).run(ordered)


def _require_ones(semiring: Semiring[Any], sources: Mapping[Hashable, Source]) -> None:
    for source in sources.values():
        scan = source.scan()
        found = source.valuation.lookup(scan.columns, scan.length, scan.absent)
        if not (found == semiring.one).all():
            raise _incapable(semiring)


def _incapable(semiring: Semiring[Any]) -> CapabilityError:
    return CapabilityError(
        "The query compares aggregated values, and such a comparison has no value in "
        f"{semiring.name} under this valuation.\n"
        "Use what_if() for deletions, or polynomials() for the expressions."
    )


class _Evaluation:
    """The annotations of all tuples that rows of the answer were made from."""

    def __init__(
        self,
        engine: Engine,
        columns: Columns[Any],
        sources: Mapping[Hashable, Source],
        reached: dict[str, Reached],
    ) -> None:
        self._engine = engine
        self._columns = columns
        self._sources = sources
        self._reached = reached
        self._values: dict[str, Any] = {}

    def run(self, ordered: Array) -> Any:
        """The annotations of the rows of the answer at some positions."""
        for name in reversed(self._reached):
            self._values[name] = self._block(name)
        return self._at(self._engine.root.name, ordered)

    def _at(self, block: str, positions: Array) -> Any:
        """The annotations of tuples of a block."""
        return self._columns.take(self._values[block], self._reached[block].place(positions))

    def _block(self, name: str) -> Any:
        own, rows, columns = self._reached[name], self._engine.rows(name), self._columns
        if isinstance(rows, UnionRows):
            return self._union(own, rows)
        if own.block.kind is Kind.GROUP and not own.block.keys:
            return columns.ones(len(own.positions))
        members = self._members(own, members_of(rows))
        if own.block.kind is not Kind.GROUP:
            return members
        if own.block.difference is None:
            return columns.delta(self._totals(own, members, None))
        assert isinstance(rows, GroupRows)
        sides = rows.sides(own.members)
        left, right = (self._totals(own, members, sides == side) for side in (0, 1))
        less = columns.monus(left, right)
        return columns.monus(left, less) if own.block.difference.common else less

    def _union(self, own: Reached, rows: UnionRows) -> Any:
        branches, inside = rows.places(rows.context)
        chosen, parts = [], []
        for number, branch in enumerate(own.block.branches):
            mine = np.flatnonzero(branches[own.positions] == number)
            if len(mine):
                chosen.append(mine)
                parts.append(self._at(branch.name, inside[own.positions[mine]]))
        if not parts:
            return self._columns.zeros(0)
        order = np.argsort(np.concatenate(chosen))
        return self._columns.take(self._columns.concatenate(parts), order)

    def _totals(self, own: Reached, members: Any, chosen: Array | None) -> Any:
        """The sums of the annotations of each tuple's members, or of those chosen."""
        owners = own.owners
        if chosen is not None:
            places = np.flatnonzero(chosen)
            members, owners = self._columns.take(members, places), owners[places]
        offsets = bounds(np.bincount(owners, minlength=len(own.positions)))
        return self._columns.fold(members, offsets)

    def _members(self, own: Reached, members: Members | None) -> Any:
        """The products of the factors of members."""
        assert members is not None
        names = ((own.block.name, number) for number in range(len(own.block.tokens)))
        factors = [self._columns.tokens(name) for name in names if name in self._sources]
        for referred in references(members, own.members):
            factors.append(self._referred(referred))
        found = self._columns.product(factors, len(own.members))
        dropped = np.flatnonzero(~members.fixed(own.members))
        if not len(dropped):
            return found
        return self._columns.put(
            found, len(own.members), dropped, self._columns.zeros(len(dropped))
        )

    def _referred(self, referred: Referred) -> Any:
        """The factors that are annotations of tuples of another block."""
        there = referred.positions >= 0
        columns, length = self._columns, len(there)
        if referred.block not in self._values or not there.any():
            return columns.ones(length)
        found = self._at(referred.block, referred.positions[there])
        if not referred.optional:
            return found
        return columns.factors(found, there, negated=referred.negated)
