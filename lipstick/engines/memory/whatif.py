"""A hypothetical answer and what became of each row."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.places import contains
from lipstick.engines.memory.state import State, same
from semiring.base import Array

CHANGE = "_change"


class MemoryWhatIf:
    """The hypothetical answer without some inputs.

    Attributes
    ----------
    method
        ``annotations``: from the captured annotations, exactly.
    """

    method = "annotations"

    def __init__(self, engine: Engine, new: State) -> None:
        self._engine = engine
        self._old = engine.base(engine.root.name)
        self._new = new

    @cached_property
    def answer(self) -> pa.Table:
        """The hypothetical answer, with the columns and the order of the answer."""
        return self._engine.table(self._new)

    @property
    def df(self) -> pa.Table:
        """The hypothetical answer, by the name that it has with Spark."""
        return self.answer

    @cached_property
    def changes(self) -> pa.Table:
        """The change of each row: ``_change``, ``old``, ``new``.

        ``_change`` is unchanged, changed, deleted or added; ``old`` and ``new`` are structs of
        the answer's columns, NULL where there is no such row. Rows are matched by the grouping
        key or the members they are made of. Rows of the answer come first, in its order.
        """
        before, after = self._old.ordered, self._new.ordered
        was, remains = np.zeros((2, self._new.size), dtype=np.int64)
        was[before] = self._old.copies(before)
        remains[after] = self._new.copies(after)
        rows = np.concatenate([before, after[was[after] == 0]])
        # Of copies as many stay as are there before and after.
        copies = np.maximum(was, remains)[rows]
        number = np.arange(copies.sum()) - np.repeat(np.cumsum(copies) - copies, copies)
        rows = np.repeat(rows, copies)
        is_old, is_new = number < was[rows], number < remains[rows]
        old = self._side(self._old, rows, is_old)
        new = self._side(self._new, rows, is_new)
        kinds = np.where(~is_new, 1, np.where(~is_old, 2, 0))
        suspect = np.flatnonzero((kinds == 0) & contains(self._new.changed, rows))
        if len(suspect):
            chosen = pa.array(suspect)
            pairs = zip(old.flatten(), new.flatten(), strict=True)
            equal = np.ones(len(suspect), dtype=np.bool_)
            for left, right in pairs:
                equal &= same(left.take(chosen), right.take(chosen))
            kinds[suspect[~equal]] = 3
        words = pa.array(["unchanged", "deleted", "added", "changed"])
        return pa.table({CHANGE: words.take(pa.array(kinds)), "old": old, "new": new})

    def _side(self, state: State, rows: Array, there: Array) -> pa.StructArray:
        """The answer's columns at the rows that are there, as structs; NULL elsewhere."""
        names = list(self._engine.manifest.names)
        columns = self._engine.columns(state, rows[there])
        positions = np.cumsum(there) - 1
        indices = pa.array(positions, mask=~there)
        spread = [column.take(indices) for column in columns]
        fields = [pa.field(name, c.type) for name, c in zip(names, spread, strict=True)]
        return pa.StructArray.from_arrays(spread, fields=fields, mask=pa.array(~there))
