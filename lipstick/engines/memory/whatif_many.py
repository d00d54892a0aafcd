"""The answers in many scenarios, as tables."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.many import Changes, merged_answers
from lipstick.engines.memory.places import positions_of, scenarios_of
from lipstick.engines.memory.state import same
from lipstick.engines.memory.whatif import CHANGE
from semiring.base import Array
from semiring.door import checked

SCENARIO = "scenario"


@checked
class WhatIfMany:
    """The hypothetical answer in each of many scenarios.

    Attributes
    ----------
    method
        ``annotations``: from the captured annotations, exactly.
    """

    method = "annotations"

    def __init__(self, engine: Engine, labels: pa.Array, changes: Changes) -> None:
        self._engine = engine
        self._labels = labels
        self._found = changes

    def __len__(self) -> int:
        return len(self._labels)

    def __repr__(self) -> str:
        touched = len(np.unique(scenarios_of(self._found.places)))
        return f"WhatIfMany({len(self)} scenarios, {touched} of them touch the answer)"

    @property
    def scenarios(self) -> pa.Array:
        """The labels of the scenarios in the tables."""
        return self._labels

    @cached_property
    def changes(self) -> pa.Table:
        """The rows that differ from the answer: ``scenario``, the answer's columns, ``_change``.

        ``_change`` is changed, deleted or added; a row that is deleted shows what it was. By
        scenario, then in the order of the answer, rows added last.
        """
        changes, base = self._found, self._engine.base(self._engine.root.name)
        positions = positions_of(changes.places)
        captured = np.minimum(positions, base.size)
        was = np.append(base.present, False)[captured]
        before, now = np.zeros(len(positions), dtype=np.int64), changes.copies
        before[was] = base.copies(positions[was])
        index = np.cumsum(changes.present) - 1
        both, fewer = np.flatnonzero(was & changes.present), np.flatnonzero(before > now)
        differs = np.zeros(len(positions), dtype=np.bool_)
        columns = []
        for output in self._engine.root.outputs:
            old = base.take(output.name, positions[fewer])
            new = changes.columns[output.name]
            same_column = base.take(output.name, positions[both])
            taken = new.take(pa.array(index[both])).cast(same_column.type)
            differs[both] |= ~same(same_column, taken)
            columns.append(pa.concat_arrays([new.cast(old.type), old]))
        changed, more = np.flatnonzero(differs), np.flatnonzero(now > before)
        # Of each kind of change its rows, where their values are, and how often they are shown.
        parts = [
            (fewer, int(changes.present.sum()) + np.arange(len(fewer)), (before - now)[fewer]),
            (changed, index[changed], np.minimum(before, now)[changed]),
            (more, index[more], (now - before)[more]),
        ]
        rows, places = (
            np.concatenate([np.repeat(part[at], part[2]) for part in parts]) for at in (0, 1)
        )
        kinds = np.repeat([0, 1, 2], [int(part[2].sum()) for part in parts])
        scenarios = scenarios_of(changes.places)[rows]
        order = np.lexsort([self._rank(positions[rows]), scenarios])
        chosen = pa.array(places[order])
        words = pa.array(["deleted", "changed", "added"]).take(pa.array(kinds[order]))
        return self._table(scenarios[order], [c.take(chosen) for c in columns], words)

    def _rank(self, positions: Array) -> Array:
        """Return the places of rows in the answer; past its end for rows that are not in it."""
        base = self._engine.base(self._engine.root.name)
        rank = len(base.ordered) + np.arange(max(base.size, int(positions.max(initial=-1)) + 1))
        rank[base.ordered] = np.arange(len(base.ordered))
        ranks: Array = rank[positions]
        return ranks

    @cached_property
    def df(self) -> pa.Table:
        """The hypothetical answers: ``scenario``, then the answer's columns.

        By scenario, each in the answer's order. It has as many rows as all these answers together;
        `changes` has the differing ones.
        """
        merged = merged_answers(self._engine, len(self), self._found)
        columns = [merged.columns[output.name] for output in self._engine.root.outputs]
        return self._table(merged.scenarios, columns)

    def _table(
        self, scenarios: Array, columns: list[pa.Array], change: pa.Array | None = None
    ) -> pa.Table:
        names = [SCENARIO, *self._engine.manifest.names]
        arrays = [self._labels.take(pa.array(scenarios)), *columns]
        if change is not None:
            names.append(CHANGE)
            arrays.append(change)
        return pa.Table.from_arrays(arrays, names=names)
