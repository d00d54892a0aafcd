"""Blocks with window functions: one tuple per member, its values from other members too."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.state import (
    NOTHING,
    SORT,
    Context,
    Take,
    contains,
    needs_spark,
    values,
)
from lipstick.engines.memory.store import Dataset
from lipstick.engines.memory.window_frames import Placed, Ranges
from lipstick.engines.memory.windows import computed, extent, placed
from rewriter.blocks import Block
from rewriter.interpret import (
    WINDOW,
    AggregateCall,
    UninterpretableError,
    Vector,
    WindowCall,
    Windowed,
    from_arrow,
    windowed,
)
from semiring.base import Array

_COUNTED = ("row_number", "rank")
_ADDING = ("AVG", "SUM")
_COUNT = AggregateCall("COUNT(*)", "COUNT", False, ())


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
        by_name = {name: windowed(scalar) for name, scalar in scalars.items()}
        self.windowed: Mapping[str, Windowed] = {n: w for n, w in by_name.items() if w.calls}
        """The outputs and sort keys with window functions."""

    def _base_take(self, name: str, positions: Array) -> pa.Array:
        if name not in self.windowed:
            return super()._base_take(name, positions)
        if self._stored is None or not self.block.unique_identity:
            # There are no captured rows, or which of them is whose is not known.
            return self._base_computed(name, positions)
        there = self.members.was_alive(positions)
        taken = super()._base_take(name, positions[there])
        return taken.take(pa.array(np.cumsum(there) - 1, mask=~there))

    @cached_property
    def _base_computed(self) -> Take:
        return self._under(self._base, self.base_present())

    def _affected(self, suspects: Array, was: Array, now: Array, present: Array) -> Array:
        """Any value of a window function may be another one."""
        del suspects, was, now
        there = present.copy()
        there[np.flatnonzero(self.base_present())] = True
        return np.flatnonzero(there)

    def _under(self, context: Context, present: Array) -> Take:
        plain = super()._under(context, present)
        rows = np.flatnonzero(present)
        known: dict[str, pa.Array] = {}

        def take(name: str, positions: Array) -> pa.Array:
            if name not in self.windowed:
                return plain(name, positions)
            if name not in known:
                known[name] = self._computed(name, rows, context)
            there = contains(rows, positions)
            return known[name].take(pa.array(np.searchsorted(rows, positions), mask=~there))

        return take

    def check(self) -> None:
        """Check the sums of floats; see :class:`lipstick.engines.memory.state.Rows`."""
        if self._stored is None and self._adds_floats():
            raise needs_spark(f"Spark adds up floats of {self.block.name}, in an order of its own.")
        super().check()

    def _adds_floats(self) -> bool:
        """Whether some value depends on the order in which numbers are added up."""
        resolve = self.members.resolve(NOTHING, self._base)
        calls = (call.aggregate for windows in self.windowed.values() for call in windows.calls)
        return any(
            call.function in _ADDING and _is_rounded(values(argument, resolve, 0, None).type, call)
            for call in calls
            if call is not None
            for argument in call.arguments
        )

    # -- what values are made of -----------------------------------------------------------

    def deciding(self, positions: Array) -> Array:
        """Positions, sorted: the given ones, and those whose rows their values come from.

        Raises
        ------
        NeedsSparkError
            When only Spark knows them.
        """
        rows = np.flatnonzero(self.base_present())
        chosen = np.searchsorted(rows, positions)
        wanted = np.zeros(len(rows), dtype=np.bool_)
        wanted[chosen] = True
        for windows in self.windowed.values():
            for call in windows.calls:
                placement = self._placed(call, rows)
                ranges = extent(call, placement)
                at = placement.place[chosen]
                begun = np.zeros(len(rows) + 1, dtype=np.int64)
                np.add.at(begun, ranges.start[at], 1)
                np.add.at(begun, ranges.stop[at], -1)
                wanted[placement.rows[np.cumsum(begun)[:-1] > 0]] = True
        return rows[wanted]

    def aggregated(self, name: str) -> AggregateCall | None:
        """The aggregate that an output is, over the rows of its frame; None for other outputs.

        ROW_NUMBER and RANK count the rows before, and the row itself.
        """
        call = self._only_call(name)
        if call is None:
            return None
        return _COUNT if call.function in _COUNTED else call.aggregate

    def seen(self, name: str, positions: Array, rows: Array) -> tuple[Array, Array]:
        """The members that an aggregate over a window sees at some positions, and their owners.

        Parameters
        ----------
        rows
            The positions, sorted, of the rows that the window is over.

        Raises
        ------
        NeedsSparkError
            When only Spark knows them.
        """
        call = self._only_call(name)
        assert call is not None
        rows = np.union1d(rows, positions)
        placement = self._placed(call, rows)
        at = placement.place[np.searchsorted(rows, positions)]
        ranges = extent(call, placement)
        if call.function == "rank":
            # Rows that tie are not counted, but for the row itself: it is the last of the range.
            first = placement.peers()[1]
            ranges = Ranges(ranges.start, first + 1)
        places, offsets = Ranges(ranges.start[at], ranges.stop[at]).expanded()
        seen = rows[placement.rows[places]]
        if call.function == "rank":
            seen[offsets[1:] - 1] = positions
        return seen, np.repeat(np.arange(len(positions)), np.diff(offsets))

    def follows_deletions(self, name: str) -> bool:
        """Whether a deletion is known to only take members away from the frames of an aggregate.

        Not so where rows are counted, and where they are partitioned or sorted by values that a
        deletion may change.
        """
        call = self._only_call(name)
        if call is None or call.extent is None:
            return False
        bounds = (call.extent.start, call.extent.end)
        counted = call.extent.rows and any(bound not in (None, 0) for bound in bounds)
        scalars = [*call.partition, *(key.scalar for key in call.order)]
        computable = all(scalar.run is not None for scalar in scalars)
        return not counted and computable and all(map(self.members.is_stable, scalars))

    def _only_call(self, name: str) -> WindowCall | None:
        """The window function that an output is, if it is nothing else."""
        window = self.windowed.get(name)
        if window is None or window.scalar.column != (WINDOW, "0"):
            return None
        (call,) = window.calls
        return call

    def _placed(self, call: WindowCall, rows: Array) -> Placed:
        return placed(call, self.members.resolve(rows, self._base), len(rows))

    # -- values under a deletion -----------------------------------------------------------

    def _computed(self, name: str, rows: Array, context: Context) -> pa.Array:
        """The values of an output over the rows that are there."""
        window = self.windowed[name]
        resolve = self.members.resolve(rows, context)
        columns = [computed(call, resolve, len(rows)) for call in window.calls]

        def column(alias: str, of: str) -> Vector:
            return from_arrow(columns[int(of)]) if alias == WINDOW else resolve(alias, of)

        try:
            return values(window.scalar, column, len(rows), self.type(name))
        except UninterpretableError as error:
            raise needs_spark(str(error)) from error


def _is_rounded(kind: pa.DataType, call: AggregateCall) -> bool:
    """Whether sums are of floats, in which Spark adds up AVG of integers too."""
    return pa.types.is_floating(kind) or (call.function == "AVG" and pa.types.is_integer(kind))
