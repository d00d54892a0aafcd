"""Annotations evaluated in a semiring, block by block, over whole columns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.elements import ElementRows
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.formal import Formal
from lipstick.engines.memory.formal.checked import check_values, switched_on
from lipstick.engines.memory.formal.functions import typed
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.member_valuations import sources_of, token_values
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.reach import Reached, Referred, members_of, reach, references, tokens
from lipstick.engines.memory.scenarios import alone
from lipstick.engines.memory.sparse import sparse
from lipstick.engines.memory.unions import UnionRows
from rewriter.analysis.conditional import conditional, has_difference, limits_inside, shown_joins
from rewriter.blocks import Kind
from rewriter.emit import VALUE
from semiring.base import Array, Semiring
from semiring.columns import Columns, Source, columns_of
from semiring.columns.arrays import ArrayColumns
from semiring.folds import group
from semiring.possible_worlds import PossibleWorlds
from semiring.segments import bounds
from semiring.token import Token
from semiring.valuation import Valuation
from semiring.value import Value


def evaluate(
    engine: Engine,
    formal: Formal,
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
        Where the semiring has no monus and there is a difference, or a condition that a deletion
        may decide is on tuples valued neither 0 nor 1.
    """
    state = engine.base(engine.root.name)
    answer = engine.columns(state, state.ordered)
    columns: Columns[Any]
    if conditional(engine.root):
        array = conditional_values(engine, formal, semiring, valuations, state.ordered)
        columns, values = ArrayColumns(semiring, {}), array
    else:
        if has_difference(engine.root) and not semiring.has_monus:
            semiring.monus(semiring.one, semiring.one)
        columns, values = _annotations(engine, semiring, valuations, state.ordered)
    if merged:
        codes, first = distinct(answer, len(state.ordered))
        answer = [column.take(pa.array(first)) for column in answer]
        order, offsets = group(codes, len(first))
        values = columns.fold(values if order is None else columns.take(values, order), offsets)
    value_column = columns.to_arrow(values)
    return pa.Table.from_arrays([*answer, value_column], names=[*engine.manifest.names, VALUE])


def conditional_values(
    engine: Engine,
    formal: Formal,
    semiring: Semiring[Any],
    valuations: Mapping[str, Valuation[Any]],
    ordered: Array,
) -> Array:
    """The annotations of rows of a query with conditions.

    Where every token is 0 or 1 they say what is in the answer without the tuples valued 0.
    """
    gone = valued_zero(engine, semiring, valuations)
    if gone is not None:
        annotations_now = _in_world(engine, semiring, gone, ordered)
        if switched_on():
            value = token_values(engine, valuations)
            check_values(formal, semiring, value, ordered, semiring.unpack(annotations_now))
        return annotations_now
    return formal.evaluate(semiring, valuations, formal.gates(ordered))


def valued_zero(
    engine: Engine, semiring: Semiring[Any], valuations: Mapping[str, Valuation[Any]]
) -> dict[str, pa.Table] | None:
    """Per relation the tokens that are valued 0; None where some are neither 0 nor 1."""
    zeros = {}
    for name, record in engine.manifest.relations.items():
        if not record.token or valuations[name].constant_one:
            continue
        table = tokens(engine, name)
        values = valuations[name].lookup(
            [column.combine_chunks() for column in table.columns], table.num_rows
        )
        ones = np.array([value == semiring.one for value in semiring.unpack(values)], np.bool_)
        zero = ~semiring.nonzero_array(values)
        if not (ones | zero).all():
            return None
        zeros[name] = table.filter(pa.array(zero))
    return zeros


def evaluate_potential(
    engine: Engine,
    formal: Formal,
    semiring: Semiring[Any],
    valuations: Mapping[str, Valuation[Any]],
) -> pa.Table:
    """The rows of the answers of all worlds, then ``_value``: see :class:`Memory`.

    Raises
    ------
    CapabilityError
        As :func:`evaluate`.
    """
    value = token_values(engine, valuations)
    rows = list(formal.rows())
    gates = np.array([row.gate for row in rows], dtype=np.int64)
    values = formal.evaluate(semiring, valuations, gates)
    occurring = frozenset[Token]().union(
        *(part.tokens for row in rows for part in row.values if isinstance(part, Value))
    )
    there = {token: np.array([not semiring.is_zero(value(token))], np.bool_) for token in occurring}
    world = PossibleWorlds(there, 1)
    columns = []
    for number, output in enumerate(engine.root.outputs):
        kind = formal.columns.type(engine.root.name, output.name)
        columns.append(typed([world.values(row.values[number])[0] for row in rows], kind))
    value_column = semiring.to_arrow(values)
    return pa.Table.from_arrays([*columns, value_column], names=[*engine.manifest.names, VALUE])


def _in_world(
    engine: Engine, semiring: Semiring[Any], gone: Mapping[str, pa.Table], ordered: Array
) -> Array:
    states = engine.states({name: alone(table) for name, table in gone.items()})
    state = states[engine.root.name]
    counts = np.zeros(len(ordered), dtype=np.int64)
    there = np.flatnonzero(state.present[ordered])
    counts[there] = state.copies(ordered[there])
    members = members_of(engine.rows(engine.root.name))
    for alias in shown_joins(engine.root):
        # A row with its partner is another one than the row without.
        assert members is not None
        lookup = members.outer_lookups[alias]
        before = lookup.find(ordered[there], members.base)
        counts[there[lookup.find(ordered[there], states.__getitem__) != before]] = 0
    return semiring.pack([semiring.from_int(count) for count in counts.tolist()])


def _annotations(
    engine: Engine,
    semiring: Semiring[Any],
    valuations: Mapping[str, Valuation[Any]],
    ordered: Array,
) -> tuple[Columns[Any], Any]:
    """The annotations of the rows of the answer at some positions, and their operations."""
    rows = engine.rows(engine.root.name)
    if isinstance(rows, GroupRows):
        evaluated = sparse(rows, semiring, valuations, ordered)
        if evaluated is not None:
            return evaluated
    reached = reach(engine, ordered, potential=not limits_inside(engine.root))
    sources: dict[Hashable, Source] = {}
    for name, reached_block in reached.items():
        members = members_of(engine.rows(name))
        if members is not None:
            sources |= sources_of(members, reached_block.members, valuations)
    columns = columns_of(semiring, sources)
    return columns, _Evaluation(engine, columns, sources, reached).run(ordered)


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
        tuples, rows, columns = self._reached[name], self._engine.rows(name), self._columns
        if isinstance(rows, UnionRows):
            return self._union(tuples, rows)
        if isinstance(rows, ElementRows):
            return self._at(rows.inner, rows.owners[tuples.positions])
        if tuples.block.kind is Kind.GROUP and not tuples.block.keys:
            return columns.ones(len(tuples.positions))
        members = self._members(tuples, members_of(rows))
        if tuples.block.kind is not Kind.GROUP:
            return members
        if tuples.block.difference is None:
            return columns.delta(self._totals(tuples, members, None))
        assert isinstance(rows, GroupRows)
        sides = rows.sides(tuples.members)
        left, right = (self._totals(tuples, members, sides == side) for side in (0, 1))
        less = columns.monus(left, right)
        return columns.monus(left, less) if tuples.block.difference.common else less

    def _union(self, tuples: Reached, rows: UnionRows) -> Any:
        branches, inside = rows.places(rows.context)
        chosen, parts = [], []
        for number, branch in enumerate(tuples.block.branches):
            in_branch = np.flatnonzero(branches[tuples.positions] == number)
            if len(in_branch):
                chosen.append(in_branch)
                parts.append(self._at(branch.name, inside[tuples.positions[in_branch]]))
        if not parts:
            return self._columns.zeros(0)
        order = np.argsort(np.concatenate(chosen))
        return self._columns.take(self._columns.concatenate(parts), order)

    def _totals(self, tuples: Reached, members: Any, chosen: Array | None) -> Any:
        """The sums of the annotations of each tuple's members, or of those chosen."""
        owners = tuples.owners
        if chosen is not None:
            places = np.flatnonzero(chosen)
            members, owners = self._columns.take(members, places), owners[places]
        offsets = bounds(np.bincount(owners, minlength=len(tuples.positions)))
        return self._columns.fold(members, offsets)

    def _members(self, tuples: Reached, members: Members | None) -> Any:
        """The products of the factors of members."""
        assert members is not None
        names = ((tuples.block.name, number) for number in range(len(tuples.block.tokens)))
        factors = [self._columns.tokens(name) for name in names if name in self._sources]
        root = tuples.block is self._engine.root
        shown = shown_joins(tuples.block) if root else frozenset()
        for referred in references(members, tuples.members):
            if referred.joined is None:
                factors.append(self._referred(referred))
            else:
                now = members.outer_lookups[referred.joined].find(tuples.members, members.base) >= 0
                factors.append(self._joined(referred, now if referred.joined in shown else None))
        product = self._columns.product(factors, len(tuples.members))
        dropped = np.flatnonzero(~members.fixed(tuples.members))
        if not len(dropped):
            return product
        return self._columns.put(
            product, len(tuples.members), dropped, self._columns.zeros(len(dropped))
        )

    def _referred(self, referred: Referred) -> Any:
        """The factors that are annotations of tuples of another block."""
        there = referred.positions >= 0
        columns, length = self._columns, len(there)
        if referred.block not in self._values or not there.any():
            return columns.ones(length)
        inner = self._at(referred.block, referred.positions[there])
        if not referred.optional:
            return inner
        return columns.factors(inner, there, negated=referred.negated)

    def _joined(self, referred: Referred, now: Array | None) -> Any:
        """The factors of rows of a LEFT JOIN: with the tuple where it is there now, else without;
        either where now is None."""
        there = referred.positions >= 0
        columns, length = self._columns, len(there)
        if referred.block not in self._values or not there.any():
            return columns.ones(length)
        inner = self._at(referred.block, referred.positions[there])
        if now is None:
            return columns.factors(columns.or_absent(inner, int(there.sum())), there, negated=False)
        with_it, without = there & now, there & ~now
        factors = columns.factors(
            columns.take(inner, np.flatnonzero(now[there])), with_it, negated=False
        )
        if not without.any():
            return factors
        absent = columns.take(inner, np.flatnonzero(~now[there]))
        return columns.product([factors, columns.factors(absent, without, negated=True)], length)
