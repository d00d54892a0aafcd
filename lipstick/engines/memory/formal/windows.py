"""Window functions as formal values: of a row among the rows that may be there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.formal.limits import MOST, too_many
from lipstick.engines.memory.formal.over_rows import OverRows, operands_of
from lipstick.engines.memory.formal.scopes import MemberScope, operands, scalar_type
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.places import NOTHING
from lipstick.engines.memory.state import values
from lipstick.engines.memory.store import every
from lipstick.engines.memory.window_rows import WindowRows
from rewriter.interpret import UninterpretableError, WindowCall
from semiring.base import Array
from semiring.value import Operand

if TYPE_CHECKING:
    from lipstick.engines.memory.formal import Formal


class Windows:
    """The values of window functions, which share the rows that they are over."""

    def __init__(self, formal: Formal) -> None:
        self._formal = formal
        self._functions: dict[tuple[str, str], OverRows] = {}
        self._partitions: dict[tuple[str, str], Array | None] = {}
        self._among: dict[tuple[str, str, Any], dict[int, Operand]] = {}

    def type(self, rows: WindowRows, call: WindowCall) -> pa.DataType:
        """The type of a window function's values."""
        return self._function(rows, call).type

    def _function(self, rows: WindowRows, call: WindowCall) -> OverRows:
        key = (rows.block.name, call.text)
        if key not in self._functions:
            members = self._formal.domains.members(rows.block.name)
            scope = MemberScope(self._formal, members, NOTHING)
            types = [scalar_type(scope, scalar) for scalar in operands_of(call)]
            self._functions[key] = OverRows(call, types)
        return self._functions[key]

    def values(self, rows: WindowRows, call: WindowCall, positions: Array) -> list[Operand]:
        """The values of a window function for some rows of a block."""
        partitions = self._partition(rows, call)
        window_values: list[Operand] = []
        for position in positions.tolist():
            part = None if partitions is None else int(partitions[position])
            key = (rows.block.name, call.text, part)
            if key not in self._among:
                self._among[key] = self._made(rows, call, partitions, part)
            window_values.append(self._among[key].get(position))
        return window_values

    def _partition(self, rows: WindowRows, call: WindowCall) -> Array | None:
        """The number of every row's partition; None where a deletion may change it."""
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

    def _made(
        self, rows: WindowRows, call: WindowCall, partitions: Array | None, part: int | None
    ) -> dict[int, Operand]:
        name = rows.block.name
        chosen = every(self._formal.domains.size(name))
        if partitions is not None:
            chosen = np.flatnonzero(partitions == part)
        if len(chosen) > MOST:
            raise too_many(f"{call.text} in {name} is over {len(chosen):,} rows")
        gates = self._formal.tuples.members(name, chosen)
        kept, gates = chosen[gates != 0], gates[gates != 0]
        scope = MemberScope(self._formal, self._formal.domains.members(rows.block.name), kept)
        reading = self._formal.reading
        columns = [reading.gates_of(operands(scope, scalar)) for scalar in operands_of(call)]
        made = reading.circuit.operands.windowed(self._function(rows, call), gates, columns)
        return dict(zip(kept.tolist(), reading.operands(made), strict=True))
