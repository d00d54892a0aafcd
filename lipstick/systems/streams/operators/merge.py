"""Merge: the events of several streams as one, by time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.batch import Batch, concat_batches
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.keys import INFINITE, NEVER, Keys, search
from lipstick.systems.streams.operator_state import StageState, batch_of_table, batch_to_table
from lipstick.systems.streams.operators.base import Fired, Operator, Parents, Reach, Spans, Stage
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Merge(Operator):
    """All events of streams with equal columns, by time; at equal times in the order of inputs.

    Notes
    -----
    Outputs at one trigger time differ by their order: the r-th is of the r-th of the
    inputs that have an event at that time, since each has one at most.
    """

    kind: ClassVar[str] = "merge"
    inputs: ClassVar[int] = -1

    def spans(
        self, outputs: Keys, inputs: Sequence[Keys], which: int, rank: Array | None = None
    ) -> Spans:
        """Return the event at the trigger's time, if the output's rank selects this input."""
        trigger = outputs.trigger
        rank = trigger_rank(outputs) if rank is None else rank
        there = np.zeros(len(outputs), dtype=np.int64)
        for number in range(which + 1):
            keys = inputs[number]
            low = search(keys.code, keys.t, outputs.code, trigger, "left")
            high = search(keys.code, keys.t, outputs.code, trigger, "right")
            if number < which:
                there += high - low
        is_own = (high > low) & (rank == there)
        return low, np.where(is_own, high, low)

    def reach(self, which: int) -> Reach:
        return Reach()

    def stage(self, keyed: bool, codes: KeyCodes) -> Stage:
        return _MergeStage()


def trigger_rank(outputs: Keys) -> Array:
    """Return, for each output, the number of outputs before it with the same trigger."""
    trigger = outputs.trigger
    rank: Array = np.arange(len(outputs)) - search(
        outputs.code, trigger, outputs.code, trigger, "left"
    )
    return rank


class _MergeStage(Stage):
    def __init__(self) -> None:
        self._held: list[Batch] = []

    def push(self, batches: Sequence[Batch], frontiers: Sequence[int]) -> Fired:
        sides = [
            concat_batches([self._held[i], batch]) if self._held else batch.rows()
            for i, batch in enumerate(batches)
        ]
        safe = min(frontiers)
        due = [
            np.arange(len(side)) if safe == INFINITE else np.flatnonzero(side.keys.t <= safe)
            for side in sides
        ]
        self._held = [
            side.take(np.flatnonzero(side.keys.t > safe)) if safe != NEVER else side
            for side in sides
        ]
        ready = [side.take(positions) for side, positions in zip(sides, due, strict=True)]
        return _merged(ready)

    def save(self) -> StageState:
        return StageState({str(i): batch_to_table(held) for i, held in enumerate(self._held)})

    def load(self, state: StageState) -> None:
        self._held = [batch_of_table(state.tables[str(i)]) for i in range(len(state.tables))]

    def held(self) -> int:
        return sum(map(len, self._held))


def _merged(ready: Sequence[Batch]) -> Fired:
    tables = [batch.table() for batch in ready if len(batch)] or [ready[0].table()]
    if any(table.schema.names != tables[0].schema.names for table in tables):
        names = "; ".join(", ".join(table.column_names) for table in tables)
        raise StreamError(
            f"A merge has inputs with other columns: {names}.\nMap them to the same ones first."
        )
    t = np.concatenate([batch.keys.t for batch in ready])
    source = np.repeat(np.arange(len(ready)), [len(batch) for batch in ready])
    row = np.concatenate([np.arange(len(batch)) for batch in ready])
    codes = [batch.keys.code for batch in ready if batch.keys.code is not None]
    code: Array | None = np.concatenate(codes) if codes else None
    order = np.lexsort((source, t)) if code is None else np.lexsort((source, t, code))
    source, row = source[order], row[order]
    content = pa.concat_tables(tables, promote_options="default").take(pa.array(order))
    parents = [
        Parents(batch.properties, low, np.where(source == i, low + 1, low))
        for i, batch in enumerate(ready)
        for low in (np.where(source == i, row, 0),)
    ]
    return Fired(t[order], None, content, parents, code=None if code is None else code[order])
