"""The columns read by scalars of a block, as formal values, for some members, groups or tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.functions import ScalarFunction, typed
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.places import NOTHING
from lipstick.engines.memory.state import needs_spark, spread
from lipstick.engines.memory.unions import UnionRows
from lipstick.errors import CapabilityError
from rewriter.blocks import EXPANDED, GROUP, MEMBER, MatchKind
from rewriter.interpret import Interpreted, UninterpretableError, unify
from semiring.arrays.segments import bounds
from semiring.base import Array
from semiring.circuit.gates import PLAIN
from semiring.circuit.reading import CircuitReading

if TYPE_CHECKING:
    from lipstick.engines.memory.formal import Formal


Column: TypeAlias = pa.Array | Array
"""Plain values, or an int32 array of the gates of values."""


class FormalScope(Protocol):
    """The rows over which scalars are computed."""

    reading: CircuitReading

    @property
    def length(self) -> int:
        """The number of rows."""

    def column(self, alias: str, name: str) -> Column:
        """Return the values of a column."""

    def type(self, alias: str, name: str) -> pa.DataType:
        """Return the type of a column."""


def values_of(scope: FormalScope, scalar: Interpreted) -> Column:
    """Return a scalar row by row, with plain values if all columns that it reads are plain.

    Raises
    ------
    NeedsSparkError
        Where only Spark knows a plain value.
    """
    columns = [scope.column(*column) for column in scalar.columns]
    if scalar.column is not None:
        return columns[0]
    types = [scope.type(*column) for column in scalar.columns]
    function = ScalarFunction(scalar, types)
    if all(isinstance(column, pa.Array) for column in columns):
        pairs = zip(columns, types, strict=True)
        plain = [of_type(scope.reading, column, kind) for column, kind in pairs]
        try:
            return function.of_columns(plain, scope.length)
        except CapabilityError as error:
            raise needs_spark(function.sql) from error
    return applied(scope.reading, function, columns)


def applied(reading: CircuitReading, function: ScalarFunction, columns: Sequence[Column]) -> Array:
    """Return the gates of a function applied to the rows of columns.

    Raises
    ------
    NeedsSparkError
        Where only Spark knows a plain value.
    """
    gates = [gates_of(reading, column) for column in columns]
    try:
        return reading.circuit.operands.applied(function, gates)
    except CapabilityError as error:
        raise needs_spark(function.sql) from error


def gates_of(reading: CircuitReading, column: Column) -> Array:
    """Return the gates of the values of a column."""
    return reading.circuit.operands.plain(column) if isinstance(column, pa.Array) else column


def of_type(reading: CircuitReading, column: Column, kind: pa.DataType) -> Column:
    """Return a column with its plain values converted to a type."""
    if isinstance(column, pa.Array):
        return column if column.type == kind else typed(column.to_pylist(), kind)
    operands, is_plain = reading.circuit.operands, reading.circuit.gates.kind[column] == PLAIN
    if is_plain.any():
        column = column.copy()
        column[is_plain] = operands.plain(typed(operands.listed(column[is_plain]), kind))
    return column


def assembled(
    reading: CircuitReading, length: int, parts: Sequence[tuple[Array, Column]]
) -> Column:
    """Return a column of some length from parts with the positions of their values; NULL
    elsewhere.
    """
    columns = [column for _, column in parts if len(column)]
    kinds = {column.type if isinstance(column, pa.Array) else None for column in columns}
    if len(kinds) == 1 and None not in kinds:
        where = np.concatenate([places for places, _ in parts])
        return spread(pa.concat_arrays(columns), where, length)
    gates = np.repeat(reading.circuit.operands.plain([None]), length)
    for places, column in parts:
        gates[places] = gates_of(reading, column)
    return gates


def scalar_type(scope: FormalScope, scalar: Interpreted) -> pa.DataType:
    """Return the type of a scalar.

    Raises
    ------
    NeedsSparkError
        When only Spark knows it.
    """
    if scalar.column is not None:
        return scope.type(*scalar.column)
    try:
        return ScalarFunction(scalar, [scope.type(*column) for column in scalar.columns]).type
    except UninterpretableError as error:
        raise needs_spark(scalar.text) from error


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
        formal: Formal,
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
        positions = formal.domains.refer(members, match, self._chosen)
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
        formal = self._formal
        partners = formal.matches.partners(self._members, membership, self._chosen)
        values = formal.columns.column(membership.asked.block.name, name, partners.positions)
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


class GroupScope:
    """The columns of some groups: keys, aggregates, and values of scalar subqueries."""

    def __init__(self, formal: Formal, rows: GroupRows, positions: Array) -> None:
        self._formal = formal
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
            return self._formal.aggregates.values(self._rows.block.name, name, self._positions)
        return self._formal.domains.keys(self._rows, name, self._positions)

    def type(self, alias: str, name: str) -> pa.DataType:
        """See :class:`Scope`."""
        if alias == GROUP:
            return self._rows.type(name)
        return self._formal.columns.type(self._subqueries[alias].block.name, name)


class UnionScope:
    """The columns of some tuples of a union."""

    def __init__(self, formal: Formal, rows: UnionRows, positions: Array) -> None:
        self._formal = formal
        self.reading = formal.reading
        self._rows = rows
        branches, inside = formal.domains.branches(rows)
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
