"""Window functions as formal values: of a row among the potential rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.limits import MOST, too_many
from lipstick.engines.memory.formal.over_rows import OverRows, operands_of
from lipstick.engines.memory.formal.scopes import MemberScope, gates_of, scalar_type, values_of
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.places import NOTHING
from lipstick.engines.memory.state import values
from lipstick.engines.memory.store import every
from lipstick.engines.memory.window_rows import WindowRows
from rewriter.interpret import UninterpretableError, WindowCall
from semiring.base import Array

if TYPE_CHECKING:
    from lipstick.engines.memory.formal import Formal


class FormalWindows:
    """The values of window functions, which share their rows."""

    def __init__(self, formal: Formal) -> None:
        self._formal = formal
        self._functions: dict[tuple[str, str], OverRows] = {}
        self._partitions: dict[tuple[str, str], Array | None] = {}
        self._values: dict[tuple[str, str], Array] = {}

    def type(self, rows: WindowRows, call: WindowCall) -> pa.DataType:
        """Return the type of a window function's values."""
        return self._function(rows, call).type

    def _function(self, rows: WindowRows, call: WindowCall) -> OverRows:
        key = (rows.block.name, call.text)
        if key not in self._functions:
            members = self._formal.domains.members(rows.block.name)
            scope = MemberScope(self._formal, members, NOTHING)
            types = [scalar_type(scope, scalar) for scalar in operands_of(call)]
            self._functions[key] = OverRows(call, types)
        return self._functions[key]

    def values(self, rows: WindowRows, call: WindowCall, positions: Array) -> Array:
        """Return the gates of a window function's values for some rows of a block."""
        name = rows.block.name
        domain = every(self._formal.domains.size(name))
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
        size = self._formal.domains.size(rows.block.name)
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
        members = self._formal.domains.members(name)
        scope = MemberScope(self._formal, members, chosen[there])
        columns = [gates_of(reading, values_of(scope, scalar)) for scalar in operands_of(call)]
        operands = reading.circuit.operands
        found = np.repeat(operands.plain([None]), len(chosen))
        found[there] = operands.windowed(self._function(rows, call), gates[there], columns)
        values[chosen] = found
