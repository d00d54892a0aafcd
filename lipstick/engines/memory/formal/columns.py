"""Columns of a block's tuples as formal values, window functions included."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.elements import ElementRows
from lipstick.engines.memory.formal.aggregates import Aggregates
from lipstick.engines.memory.formal.blocks import FormalBlocks, remembered
from lipstick.engines.memory.formal.domains import Domains
from lipstick.engines.memory.formal.elements import FormalElements
from lipstick.engines.memory.formal.limits import MOST, too_many
from lipstick.engines.memory.formal.matches import MemberScope
from lipstick.engines.memory.formal.over_rows import OverRows, operands_of
from lipstick.engines.memory.formal.scopes import (
    Column,
    FormalScope,
    assembled,
    gates_of,
    scalar_type,
    values_of,
)
from lipstick.engines.memory.formal.tuples import GroupScope, UnionScope
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.places import NOTHING
from lipstick.engines.memory.state import values
from lipstick.engines.memory.store import every
from lipstick.engines.memory.unions import UnionRows
from lipstick.engines.memory.window_rows import WindowRows
from lipstick.errors import NeedsSparkError
from rewriter.blocks import GROUP
from rewriter.emit import BRANCH
from rewriter.interpret import WINDOW, UninterpretableError, WindowCall, Windowed
from semiring.base import Array


class FormalColumns:
    """The columns of the tuples of every block, including their sort keys."""

    def __init__(
        self, formal: FormalBlocks, aggregates: Aggregates, elements: FormalElements
    ) -> None:
        self._formal = formal
        self._aggregates = aggregates
        self._domains = aggregates.domains
        self._elements = elements
        self._windows = FormalWindows(formal, aggregates.domains)
        self._types: dict[tuple[str, str], pa.DataType] = {}
        self._known: dict[tuple[str, str], Array] = {}

    def type(self, name: str, column: str) -> pa.DataType:
        """Return the type of a column of a block's tuples."""
        if (name, column) not in self._types:
            kind = self._formal.engine.base(name).take(column, NOTHING).type
            self._types[name, column] = kind
        return self._types[name, column]

    def column(
        self, name: str, column: str, positions: Array, matched: dict[str, bool] | None = None
    ) -> Column:
        """Return a column of tuples of a block.

        ``matched`` as in :class:`MemberScope`, for a block without grouping.

        Raises
        ------
        NeedsSparkError, CapabilityError
            Where only Spark knows a value that no deletion changes.
        """
        kind, reading = self.type(name, column), self._formal.reading

        def make(new: Array) -> Column:
            made = self._make(name, column, new, matched or {})
            plain = isinstance(made, pa.Array) and made.type == kind
            return made if plain else gates_of(reading, made)

        if matched:
            return make(positions)
        key = (name, column)
        if key not in self._known:
            distinct, places = np.unique(positions, return_inverse=True)
            values = make(distinct) if len(distinct) else pa.array([], kind)
            if isinstance(values, pa.Array):
                return values.take(pa.array(places))
            remembered(self._known, key, distinct, lambda _: values)
        return remembered(self._known, key, positions, lambda new: gates_of(reading, make(new)))

    def _make(self, name: str, column: str, positions: Array, matched: dict[str, bool]) -> Column:
        rows = self._formal.engine.rows(name)
        if isinstance(rows, UnionRows):
            return self._of_union(rows, column, positions)
        if isinstance(rows, ElementRows):
            return self._elements.column(rows, column, positions)
        if isinstance(rows, GroupRows):
            groups = GroupScope(self._formal, self._aggregates, rows, positions)
            if column in rows.calls or column in dict(rows.block.keys):
                return groups.column(GROUP, column)
            return self._computed(name, column, groups, positions)
        members = self._domains.members(name)
        scope = MemberScope(self._formal, members, positions, matched=matched)
        if isinstance(rows, WindowRows) and column in rows.windowed:
            return self._windowed(rows, column, scope, positions)
        return self._computed(name, column, scope, positions)

    def _computed(self, name: str, column: str, scope: FormalScope, positions: Array) -> Column:
        rows = self._formal.engine.rows(name)
        try:
            return values_of(scope, rows.outputs[column])
        except NeedsSparkError:
            # The capture has the values that Spark computed for present tuples; they are valid
            # unless a deletion changes them.
            stable = any(o.stable for o in rows.block.outputs if o.name == column)
            captured = (positions < rows.base.size).all()
            if not (stable and captured and rows.base.present[positions].all()):
                raise
            return rows.base.take(column, positions)

    def _windowed(
        self, rows: WindowRows, column: str, scope: MemberScope, positions: Array
    ) -> Column:
        name = rows.block.name
        if self._aggregates.over_window(rows, column):
            return self._aggregates.values(name, column, positions)
        window = rows.windowed[column]
        over = _WindowScope(self._windows, rows, window, scope, positions)
        return values_of(over, window.scalar)

    def _of_union(self, rows: UnionRows, column: str, positions: Array) -> Column:
        if column in rows.outputs:
            scope = UnionScope(self._formal, self._domains, rows, positions)
            return self._computed(rows.block.name, column, scope, positions)
        branches, inside = self._domains.branches(rows)
        numbers, places = branches[positions], inside[positions]
        if column == BRANCH:
            return pa.array(numbers, pa.int64())
        number, identity = rows.identity[column]
        there = np.flatnonzero(numbers == number)
        taken = self.column(rows.block.branches[number].name, identity, places[there])
        return assembled(self._formal.reading, len(positions), [(there, taken)])


class _WindowScope:
    """The columns of rows, with the values of window functions under the alias ``w``."""

    def __init__(
        self,
        windows: FormalWindows,
        rows: WindowRows,
        window: Windowed,
        scope: MemberScope,
        positions: Array,
    ) -> None:
        self._windows = windows
        self.reading = scope.reading
        self._rows = rows
        self._found = window
        self._scope = scope
        self._positions = positions

    @property
    def length(self) -> int:
        """See :class:`Scope`."""
        return self._scope.length

    def column(self, alias: str, name: str) -> Column:
        """See :class:`Scope`."""
        if alias != WINDOW:
            return self._scope.column(alias, name)
        call = self._found.calls[int(name)]
        return self._windows.values(self._rows, call, self._positions)

    def type(self, alias: str, name: str) -> pa.DataType:
        """See :class:`Scope`."""
        if alias != WINDOW:
            return self._scope.type(alias, name)
        return self._windows.type(self._rows, self._found.calls[int(name)])


class FormalWindows:
    """The values of window functions, which share their rows."""

    def __init__(self, formal: FormalBlocks, domains: Domains) -> None:
        self._formal = formal
        self._domains = domains
        self._functions: dict[tuple[str, str], OverRows] = {}
        self._partitions: dict[tuple[str, str], Array | None] = {}
        self._values: dict[tuple[str, str], Array] = {}

    def type(self, rows: WindowRows, call: WindowCall) -> pa.DataType:
        """Return the type of a window function's values."""
        return self._function(rows, call).type

    def _function(self, rows: WindowRows, call: WindowCall) -> OverRows:
        key = (rows.block.name, call.text)
        if key not in self._functions:
            members = self._domains.members(rows.block.name)
            scope = MemberScope(self._formal, members, NOTHING)
            types = [scalar_type(scope, scalar) for scalar in operands_of(call)]
            self._functions[key] = OverRows(call, types)
        return self._functions[key]

    def values(self, rows: WindowRows, call: WindowCall, positions: Array) -> Array:
        """Return the gates of a window function's values for some rows of a block."""
        name = rows.block.name
        domain = every(self._domains.size(name))
        known = self._values.setdefault((name, call.text), np.full(len(domain), -1, np.int32))
        partitions = self._partition(rows, call)
        while len(new := positions[known[positions] < 0]):
            among = domain if partitions is None else partitions == partitions[new[0]]
            self._compute(rows, call, domain[among], known)
        return known[positions]

    def _partition(self, rows: WindowRows, call: WindowCall) -> Array | None:
        """Return the number of every row's partition, or None if a deletion may change it."""
        key = (rows.block.name, call.text)
        if key not in self._partitions:
            self._partitions[key] = self._numbered(rows, call)
        return self._partitions[key]

    def _numbered(self, rows: WindowRows, call: WindowCall) -> Array | None:
        members = rows.members
        size = self._domains.size(rows.block.name)
        if size > rows.base.size or not all(map(members.is_stable, call.partition)):
            return None
        resolve = members.resolve(every(size), members.base)
        try:
            columns = [values(part, resolve, size, None) for part in call.partition]
        except UninterpretableError:
            return None
        return distinct(columns, size)[0]

    def _compute(self, rows: WindowRows, call: WindowCall, chosen: Array, values: Array) -> None:
        """Set the values of the rows of a partition; NULL for rows that are in no world."""
        name, reading = rows.block.name, self._formal.reading
        if len(chosen) > MOST:
            raise too_many(f"{call.text} in {name} is over {len(chosen):,} rows")
        gates = self._formal.tuples.members(name, chosen)
        there = gates != 0
        members = self._domains.members(name)
        scope = MemberScope(self._formal, members, chosen[there])
        columns = [gates_of(reading, values_of(scope, scalar)) for scalar in operands_of(call)]
        operands = reading.circuit.operands
        found = np.repeat(operands.plain([None]), len(chosen))
        found[there] = operands.windowed(self._function(rows, call), gates[there], columns)
        values[chosen] = found
