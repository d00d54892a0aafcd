"""Columns of a block's tuples as formal values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.elements import ElementRows
from lipstick.engines.memory.formal.scopes import (
    Column,
    FormalScope,
    GroupScope,
    MemberScope,
    UnionScope,
    assembled,
    gates_of,
    values_of,
)
from lipstick.engines.memory.formal.tuples import remembered
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.places import NOTHING
from lipstick.engines.memory.unions import UnionRows
from lipstick.engines.memory.window_rows import WindowRows
from lipstick.errors import NeedsSparkError
from rewriter.blocks import GROUP
from rewriter.emit import BRANCH
from rewriter.interpret import WINDOW, Windowed
from semiring.base import Array

if TYPE_CHECKING:
    from lipstick.engines.memory.formal import Formal


class FormalColumns:
    """The columns of the tuples of every block, including their sort keys."""

    def __init__(self, formal: Formal) -> None:
        self._formal = formal
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
            return self._formal.elements.column(rows, column, positions)
        if isinstance(rows, GroupRows):
            groups = GroupScope(self._formal, rows, positions)
            if column in rows.calls or column in dict(rows.block.keys):
                return groups.column(GROUP, column)
            return self._computed(name, column, groups, positions)
        members = self._formal.domains.members(name)
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
        if self._formal.aggregates.over_window(rows, column):
            return self._formal.aggregates.values(name, column, positions)
        window = rows.windowed[column]
        over = _WindowScope(self._formal, rows, window, scope, positions)
        return values_of(over, window.scalar)

    def _of_union(self, rows: UnionRows, column: str, positions: Array) -> Column:
        if column in rows.outputs:
            scope = UnionScope(self._formal, rows, positions)
            return self._computed(rows.block.name, column, scope, positions)
        branches, inside = self._formal.domains.branches(rows)
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
        formal: Formal,
        rows: WindowRows,
        window: Windowed,
        scope: MemberScope,
        positions: Array,
    ) -> None:
        self._formal = formal
        self.reading = formal.reading
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
        return self._formal.windows.values(self._rows, call, self._positions)

    def type(self, alias: str, name: str) -> pa.DataType:
        """See :class:`Scope`."""
        if alias != WINDOW:
            return self._scope.type(alias, name)
        return self._formal.windows.type(self._rows, self._found.calls[int(name)])
