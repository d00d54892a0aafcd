"""The columns that scalars of a block read, as formal values, at some members, groups or tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.functions import ScalarFunction
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.places import NOTHING
from lipstick.engines.memory.state import needs_spark
from lipstick.engines.memory.unions import UnionRows
from lipstick.errors import CapabilityError
from rewriter.blocks import EXPANDED, GROUP, MEMBER, Lookup
from rewriter.interpret import Interpreted, UninterpretableError, unify
from semiring.base import Array
from semiring.circuit import CircuitReading
from semiring.segments import bounds
from semiring.value import Operand

if TYPE_CHECKING:
    from lipstick.engines.memory.formal import Formal


class Scope(Protocol):
    """The rows that scalars are computed over, one by one."""

    reading: CircuitReading

    @property
    def length(self) -> int:
        """The number of rows."""

    def column(self, alias: str, name: str) -> list[Operand]:
        """The values of a column."""

    def plain(self, alias: str, name: str) -> pa.Array | None:
        """The values of a column where they are known to be plain."""

    def type(self, alias: str, name: str) -> pa.DataType:
        """The type of a column."""


def operands(scope: Scope, scalar: Interpreted) -> list[Operand]:
    """A scalar row by row: plain values where all that it reads is plain.

    Raises
    ------
    NeedsSparkError
        Where only Spark knows a plain value.
    """
    values = plain_or_operands(scope, scalar)
    return values.to_pylist() if isinstance(values, pa.Array) else values


def plain_or_operands(scope: Scope, scalar: Interpreted) -> list[Operand] | pa.Array:
    """A scalar row by row: as one Arrow column where all that it reads is known to be plain.

    Raises
    ------
    NeedsSparkError
        Where only Spark knows a plain value.
    """
    plain = [scope.plain(*column) for column in scalar.columns]
    known = [column for column in plain if column is not None]
    if scalar.column is not None:
        return known[0] if known else scope.column(*scalar.column)
    function = ScalarFunction(scalar, [scope.type(*column) for column in scalar.columns])
    if len(known) == len(plain):
        try:
            return function.of_columns(known, scope.length)
        except CapabilityError as error:
            raise needs_spark(function.sql) from error
    columns = [scope.column(*column) for column in scalar.columns]
    return of_rows(scope.reading, function, list(zip(*columns, strict=True)))


def of_rows(
    reading: CircuitReading, function: ScalarFunction, rows: Sequence[tuple[Operand, ...]]
) -> list[Operand]:
    """Return the values of a function of rows of operands.

    Raises
    ------
    NeedsSparkError
        Where only Spark knows a plain value.
    """
    try:
        return reading.applied(function, rows)
    except CapabilityError as error:
        raise needs_spark(function.sql) from error


def scalar_type(scope: Scope, scalar: Interpreted) -> pa.DataType:
    """The type of a scalar.

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
        Their positions.
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
        self._lookups = {
            lookup.alias: lookup for lookup in members.block.lookups if not lookup.scalar
        }
        self._scalars = {lookup.alias: lookup for lookup in members.block.lookups if lookup.scalar}
        self._known: dict[tuple[str, str], list[Operand]] = {}

    @property
    def length(self) -> int:
        """See :class:`Scope`."""
        return len(self._chosen)

    def column(self, alias: str, name: str) -> list[Operand]:
        """See :class:`Scope`."""
        if (alias, name) not in self._known:
            self._known[alias, name] = self._column(alias, name)
        return self._known[alias, name]

    def plain(self, alias: str, name: str) -> pa.Array | None:
        """A column as plain values, where no deletion changes the value of a row that is there."""
        members = self._members
        if alias == EXPANDED:
            return None if self._sets is None else pa.array(self._sets, pa.int32())
        if alias == MEMBER:
            return members.resolve(self._chosen, members.base)(alias, name).to_arrow(self.length)
        lookup = self._lookups.get(alias)
        if lookup is None or not members.is_stable_column(alias, name):
            return None
        positions = self._formal.domains.refer(members, lookup, self._chosen)
        base = self._formal.engine.base(lookup.block.name)
        if len(positions) and (positions.min() < 0 or positions.max() >= base.size):
            return None
        return base.take(name, positions) if base.before_limit[positions].all() else None

    def _column(self, alias: str, name: str) -> list[Operand]:
        formal, members = self._formal, self._members
        if alias in (MEMBER, EXPANDED):
            column = self.plain(alias, name)
            assert column is not None
            values: list[Operand] = column.to_pylist()
            return values
        if alias in self._scalars:
            return [formal.scalar(self._scalars[alias].block, name)] * self.length
        if alias in self._lookups:
            lookup = self._lookups[alias]
            positions = formal.domains.refer(members, lookup, self._chosen)
            there = np.flatnonzero(positions >= 0)
            results: list[Operand] = [None] * self.length
            taken = formal.columns.column(lookup.block.name, name, positions[there])
            for index, value in zip(there.tolist(), taken, strict=True):
                results[index] = value
            return results
        return self._looked_up(alias, name)

    def _looked_up(self, alias: str, name: str) -> list[Operand]:
        """Return a column of the partners that an outer lookup finds."""
        if self._matched.get(alias) is False:
            return [None] * self.length
        membership = self._members.outer_lookups[alias]
        formal = self._formal
        partners = formal.matches.partners(self._members, membership, self._chosen)
        values = formal.columns.column(membership.asked.block.name, name, partners.positions)
        offsets = bounds(np.bincount(partners.owners, minlength=self.length))
        if self._matched.get(alias) is True and bool((np.diff(offsets) == 1).all()):
            return values
        looked_up = formal.reading.choices(partners.gates, values, offsets)
        if self._matched.get(alias) is True:
            for owner in np.flatnonzero(np.diff(offsets) == 1).tolist():
                looked_up[owner] = values[offsets[owner]]
        return looked_up

    def type(self, alias: str, name: str) -> pa.DataType:
        """See :class:`Scope`."""
        members = self._members
        if alias == EXPANDED:
            return pa.int32()
        if alias in self._lookups or alias in self._scalars or alias in members.outer_lookups:
            return self._formal.columns.type(self._block(alias), name)
        return members.resolve(NOTHING, members.base)(alias, name).type

    def _block(self, alias: str) -> str:
        lookup: Lookup | None = self._lookups.get(alias) or self._scalars.get(alias)
        if lookup is not None:
            return lookup.block.name
        return self._members.outer_lookups[alias].asked.block.name


class GroupScope:
    """The columns of some groups: keys, aggregates, and values of scalar subqueries."""

    def __init__(self, formal: Formal, rows: GroupRows, positions: Array) -> None:
        self._formal = formal
        self.reading = formal.reading
        self._rows = rows
        self._positions = positions
        self._scalars = {lookup.alias: lookup for lookup in rows.block.lookups if lookup.scalar}

    @property
    def length(self) -> int:
        """See :class:`Scope`."""
        return len(self._positions)

    def column(self, alias: str, name: str) -> list[Operand]:
        """See :class:`Scope`."""
        if alias != GROUP:
            return [self._formal.scalar(self._scalars[alias].block, name)] * self.length
        if name in self._rows.calls:
            return self._formal.aggregates.values(self._rows.block.name, name, self._positions)
        return self._formal.domains.keys(self._rows, name, self._positions)

    def plain(self, alias: str, name: str) -> pa.Array | None:
        """See :class:`Scope`."""
        captured = bool((self._positions < self._rows.base.size).all())
        if alias != GROUP or name in self._rows.calls or not captured:
            return None
        return self._rows.base.take(name, self._positions)

    def type(self, alias: str, name: str) -> pa.DataType:
        """See :class:`Scope`."""
        if alias == GROUP:
            return self._rows.type(name)
        return self._formal.columns.type(self._scalars[alias].block.name, name)


class UnionScope:
    """The columns of some tuples of a union."""

    def __init__(self, formal: Formal, rows: UnionRows, positions: Array) -> None:
        self._formal = formal
        self.reading = formal.reading
        self._rows = rows
        branches, inside = formal.domains.branches(rows)
        self._branches, self._inside = branches[positions], inside[positions]
        self._scalars = {lookup.alias: lookup for lookup in rows.block.lookups if lookup.scalar}
        first = rows.block.branches[0]
        self._places = {output.name: number for number, output in enumerate(first.outputs)}

    @property
    def length(self) -> int:
        """See :class:`Scope`."""
        return len(self._branches)

    def column(self, alias: str, name: str) -> list[Operand]:
        """See :class:`Scope`."""
        if alias in self._scalars:
            return [self._formal.scalar(self._scalars[alias].block, name)] * self.length
        values: list[Any] = [None] * self.length
        for number, branch in enumerate(self._rows.block.branches):
            in_branch = np.flatnonzero(self._branches == number)
            output = branch.outputs[self._places[name]].name
            taken = self._formal.columns.column(branch.name, output, self._inside[in_branch])
            for index, value in zip(in_branch.tolist(), taken, strict=True):
                values[index] = value
        return values

    def plain(self, alias: str, name: str) -> None:
        """See :class:`Scope`: branches may have formal values."""

    def type(self, alias: str, name: str) -> pa.DataType:
        """See :class:`Scope`."""
        if alias in self._scalars:
            return self._formal.columns.type(self._scalars[alias].block.name, name)
        kinds = []
        for branch in self._rows.block.branches:
            output = branch.outputs[self._places[name]]
            null = pa.null() if output.always_null else None
            kinds.append(null or self._formal.columns.type(branch.name, output.name))
        return unify(*kinds)
