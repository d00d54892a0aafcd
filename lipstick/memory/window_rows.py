"""Blocks with window functions: one tuple per member, its values from other members too."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa

from lipstick.memory.members import Members
from lipstick.memory.rows import MemberRows
from lipstick.memory.state import SORT, Context, Take, needs_spark, values
from lipstick.memory.store import Dataset
from lipstick.memory.windows import computed
from rewriter.blocks import Block
from rewriter.interpret import WINDOW, UninterpretableError, Vector, Windowed, from_arrow, windowed
from semiring.base import Array


class WindowRows(MemberRows):
    """The tuples of a block with window functions.

    Under a deletion every value of a window function is computed anew, over the members that are
    left, when it is first asked for.
    """

    def __init__(
        self, block: Block, stored: Dataset | None, members: Members, base: Context
    ) -> None:
        super().__init__(block, stored, members, base)
        scalars = {output.name: output.scalar for output in block.outputs}
        scalars |= {f"{SORT}{number}": key.scalar for number, key in enumerate(block.order)}
        found = {name: windowed(scalar) for name, scalar in scalars.items()}
        self.windowed: Mapping[str, Windowed] = {n: w for n, w in found.items() if w.calls}
        """The outputs and sort keys with window functions."""

    def _base_take(self, name: str, positions: Array) -> pa.Array:
        if name in self.windowed and not self.block.unique_identity:
            # Which of the captured rows is whose is not known.
            return self._base_computed(name, positions)
        return super()._base_take(name, positions)

    @cached_property
    def _base_computed(self) -> Take:
        return self._under(self._base, self._base_present())

    def _affected(self, suspects: Array, was: Array, now: Array, present: Array) -> Array:
        """Any value of a window function may be another one."""
        del suspects, was, now
        there = present.copy()
        there[np.flatnonzero(self._base_present())] = True
        return np.flatnonzero(there)

    def _under(self, context: Context, present: Array) -> Take:
        plain = super()._under(context, present)
        rows = np.flatnonzero(present)
        made: dict[str, pa.Array] = {}

        def take(name: str, positions: Array) -> pa.Array:
            if name not in self.windowed:
                return plain(name, positions)
            if name not in made:
                made[name] = self._computed(name, rows, context)
            return made[name].take(pa.array(np.searchsorted(rows, positions)))

        return take

    def _computed(self, name: str, rows: Array, context: Context) -> pa.Array:
        """The values of an output over the rows that are there."""
        found = self.windowed[name]
        resolve = self.members.resolve(rows, context)
        columns = [computed(call, resolve, len(rows)) for call in found.calls]

        def column(alias: str, of: str) -> Vector:
            return from_arrow(columns[int(of)]) if alias == WINDOW else resolve(alias, of)

        try:
            return values(found.scalar, column, len(rows), self.type(name))
        except UninterpretableError as error:
            raise needs_spark(str(error)) from error
