"""The intake of a source: rows get times and numbers, and disorder is handled by its policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.batch import Batch
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.keys import (
    INFINITE,
    NEVER,
    Keys,
    first_of_code,
    rank_in_code,
    segment_starts,
    whole_order,
)
from lipstick.systems.streams.operator_state import StageState
from lipstick.systems.streams.source import Disorder, EventSource, ticks_of
from semiring.arrays.segments import mask_of
from semiring.base import Array

_LEAST = np.iinfo(np.int64).min // 4


class Numbering:
    """The time and number of the last event of each code of a stream."""

    def __init__(self) -> None:
        self._last_t = np.zeros(0, dtype=np.int64)
        self._last_n = np.zeros(0, dtype=np.int64)

    def keys(self, trigger: Array, code: Array | None, n: Array | None, delays: Array) -> Keys:
        """Return the keys of outputs.

        Parameters
        ----------
        trigger
            Times of triggers, ascending for every code.
        code
            Of the outputs, ascending; None without key.
        n
            Their numbers; None: counted on.
        delays
            In ticks, 0 or more: lengthened where times would not increase.
        """
        count = len(trigger)
        if not count:
            return Keys.empty(code is not None)
        starts = segment_starts(code, count)
        codes = np.zeros(1, dtype=np.int64) if code is None else code[starts]
        self._grow(int(codes.max()) + 1)
        t = _increasing(trigger + delays, code, starts, self._last_t[codes])
        if n is None:
            before = self._last_n[codes]
            sizes = np.diff(np.append(starts, count))
            n = rank_in_code(code, count) + 1 + np.repeat(before, sizes)
        ends = np.append(starts[1:], count) - 1
        self._last_t[codes] = t[ends]
        self._last_n[codes] = n[ends]
        return Keys(t, n, t - trigger, code)

    def resume(self, keys: Keys) -> None:
        """Continue after recorded events of the stream."""
        starts = segment_starts(keys.code, len(keys))
        if not len(starts):
            return
        ends = np.append(starts[1:], len(keys)) - 1
        codes = np.zeros(1, dtype=np.int64) if keys.code is None else keys.code[ends]
        self._grow(int(codes.max()) + 1)
        self._last_t[codes] = keys.t[ends]
        self._last_n[codes] = keys.n[ends]

    def last(self, codes: Array) -> tuple[Array, Array]:
        """Return the time and number of the last event of each code; far back and 0 if there is
        none.
        """
        self._grow(int(codes.max(initial=-1)) + 1)
        return self._last_t[codes], self._last_n[codes]

    def save(self) -> pa.Table:
        """Return the counters as a table."""
        return pa.table({"t": self._last_t, "n": self._last_n})

    def load(self, table: pa.Table) -> None:
        """Continue from saved counters."""
        self._last_t = table.column("t").to_numpy().copy()
        self._last_n = table.column("n").to_numpy().copy()

    def _grow(self, size: int) -> None:
        missing = size - len(self._last_t)
        if missing > 0:
            missing = max(missing, len(self._last_t))
            self._last_t = np.append(self._last_t, np.full(missing, _LEAST))
            self._last_n = np.append(self._last_n, np.zeros(missing, dtype=np.int64))


def _increasing(t: Array, code: Array | None, starts: Array, last: Array) -> Array:
    """Return, per code, the least strictly increasing times that are not before `t`."""
    good = bool((t[starts] > last).all())
    if good and len(t) > 1:
        rising = t[1:] > t[:-1]
        if code is not None:
            rising |= code[1:] != code[:-1]
        good = bool(rising.all())
    if good:
        return t
    t = t.copy()
    t[starts] = np.maximum(t[starts], last + 1)
    # Without its rank, a time that must be increased by one a step is the maximum so far.
    flat = t - rank_in_code(code, len(t))
    low = int(flat.min())
    width = int(flat.max()) - low + 1
    if code is not None and width * len(starts) >= 1 << 62:
        for start, stop in zip(starts, np.append(starts[1:], len(t)), strict=True):
            flat[start:stop] = np.maximum.accumulate(flat[start:stop])
    else:
        segment = np.zeros(len(t), dtype=np.int64)
        segment[starts] = 1
        shift = (np.cumsum(segment) - 1) * width
        flat = np.maximum.accumulate(flat - low + shift) - shift + low
    result: Array = flat + (np.arange(len(t)) - first_of_code(code, len(t)))
    return result


_TIME, _CODE = "__time", "__code"


@dataclass(frozen=True, slots=True, eq=False)
class Ingested:
    """The events of a source that are next in order.

    Parameters
    ----------
    batch
        With their keys.
    frontier
        The time up to which the source is complete.
    disorder
        The counts of irregular events.
    """

    batch: Batch
    frontier: int
    disorder: Disorder


class SourceStage:
    """The intake of one source."""

    def __init__(
        self, sid: str, source: EventSource, codes: KeyCodes, clock: Callable[[], int]
    ) -> None:
        self._sid = sid
        self._source = source
        self._codes = codes
        self._clock = clock
        self._numbering = Numbering()
        self._frontier = NEVER
        self._last = NEVER
        self._held: pa.Table | None = None
        self._seen: pa.Table | None = None
        self._sequence = np.zeros(0, dtype=np.int64)

    def take(self, table: pa.Table | None, watermark: int | None, final: bool) -> Ingested:
        """Take rows in, and return the events that are next in order.

        Parameters
        ----------
        table
            New rows; None: no new ones.
        watermark
            A time before which nothing comes any more, if it is known.
        final
            Whether nothing comes any more at all.

        Raises
        ------
        StreamError
            A column is missing, or a time is NULL or of a wrong type.
        """
        late = duplicates = 0
        if table is not None and table.num_rows:
            table = self._prepared(table)
            table, duplicates = self._without_duplicates(table)
            table, late = self._without_late(table)
            if self._held is not None:
                table = pa.concat_tables([self._held, table])
        else:
            table = self._held
        released = self._release(table, watermark, final)
        if released is None:
            empty = Batch(Keys.empty(self._source.key is not None), pa.table({_TIME: [0]})[:0])
            return Ingested(empty, self._operators_frontier(final), Disorder(late, duplicates))
        batch, collisions, missing = self._numbered(released)
        frontier = self._operators_frontier(final)
        return Ingested(batch, frontier, Disorder(late, duplicates, collisions, missing))

    def _prepared(self, table: pa.Table) -> pa.Table:
        source = self._source
        for column in (source.time, source.key, source.identity, source.sequence):
            if column is not None and column not in table.column_names:
                raise StreamError(
                    f"Source {self._sid}: its events have no column {column!r}, but "
                    f"{', '.join(table.column_names)}."
                )
        if source.time is None:
            # A clock that is set back does not make events late.
            now = max(self._clock(), self._frontier)
            times = np.full(table.num_rows, now, dtype=np.int64)
        else:
            times = ticks_of(table.column(source.time), self._sid)
        if source.key is not None:
            codes = self._codes.encode(table.column(source.key))
            table = table.append_column(_CODE, pa.array(codes))
        return table.append_column(_TIME, pa.array(times))

    def _without_duplicates(self, table: pa.Table) -> tuple[pa.Table, int]:
        identity = self._source.identity
        if identity is None:
            return table, 0
        column = table.column(identity).combine_chunks()
        first = pc.index_in(column, value_set=pc.unique(column)).to_numpy(zero_copy_only=False)
        _, places = np.unique(first, return_index=True)
        mask = mask_of(places, table.num_rows)
        if self._seen is not None:
            known = pc.is_in(column, value_set=self._seen.column("id").combine_chunks())
            mask &= ~known.to_numpy(zero_copy_only=False)
        kept = table.filter(pa.array(mask))
        fresh = pa.table({"id": kept.column(identity), "time": kept.column(_TIME)})
        self._seen = fresh if self._seen is None else pa.concat_tables([self._seen, fresh])
        return kept, table.num_rows - kept.num_rows

    def _without_late(self, table: pa.Table) -> tuple[pa.Table, int]:
        times = table.column(_TIME).to_numpy()
        late = times < self._frontier
        count = int(np.count_nonzero(late))
        if not count:
            return table, 0
        if self._source.late == "drop":
            return table.filter(pa.array(~late)), count
        moved = pa.array(np.where(late, self._frontier, times))
        return table.set_column(table.column_names.index(_TIME), _TIME, moved), count

    def _release(
        self, table: pa.Table | None, watermark: int | None, final: bool
    ) -> pa.Table | None:
        if table is not None and table.num_rows:
            latest = int(pc.max(table.column(_TIME)).as_py())
            self._frontier = max(self._frontier, latest - self._source.disorder)
        if watermark is not None:
            self._frontier = max(self._frontier, watermark)
        self._forget()
        self._held = None
        if table is None or not table.num_rows:
            return None
        if final:
            return table
        due = table.column(_TIME).to_numpy() <= self._frontier
        if bool(due.all()):
            return table
        self._held = table.filter(pa.array(~due))
        return table.filter(pa.array(due)) if bool(due.any()) else None

    def _forget(self) -> None:
        """Drop identities that are too old to be delivered again."""
        if self._seen is not None:
            times = self._seen.column("time").to_numpy()
            bound = max(self._frontier, NEVER + self._source.disorder) - self._source.disorder
            self._seen = self._seen.filter(pa.array(times >= bound))

    @property
    def frontier(self) -> int:
        """The time before which events are late."""
        return self._frontier

    def advance(self, frontier: int) -> None:
        """Take over the frontier of a source, for an intake of a part of its keys."""
        self._frontier = max(self._frontier, frontier)
        self._forget()

    def _numbered(self, table: pa.Table) -> tuple[Batch, int, int]:
        times = table.column(_TIME).to_numpy()
        keyed = self._source.key is not None
        code = table.column(_CODE).to_numpy() if keyed else None
        if keyed or bool((times[1:] < times[:-1]).any()):
            order = whole_order(code, times)
            table = table.take(pa.array(order))
            times = times[order]
            code = None if code is None else code[order]
        keys = self._numbering.keys(times, code, None, np.zeros(len(times), dtype=np.int64))
        collisions = int(np.count_nonzero(keys.d))
        keys = Keys(keys.t, keys.n, np.zeros(len(times), dtype=np.int64), code)
        self._last = max(self._last, int(keys.t.max()))
        missing = self._missing(table, code)
        content = table.drop_columns([_TIME, _CODE] if keyed else [_TIME])
        return Batch(keys, content), collisions, missing

    def _missing(self, table: pa.Table, code: Array | None) -> int:
        """Return the number of gaps in the sender's numbers up to these."""
        if self._source.sequence is None:
            return 0
        numbers = table.column(self._source.sequence).cast(pa.int64()).to_numpy()
        codes = np.zeros(len(numbers), dtype=np.int64) if code is None else code
        size = int(codes.max()) + 1
        if size > len(self._sequence):
            grown = np.full(size, NEVER)
            grown[: len(self._sequence)] = self._sequence
            self._sequence = grown
        order = np.lexsort((numbers, codes))
        numbers, codes = numbers[order], codes[order]
        before = np.empty(len(numbers), dtype=np.int64)
        before[1:] = numbers[:-1]
        first = np.ones(len(numbers), dtype=np.bool_)
        first[1:] = codes[1:] != codes[:-1]
        before[first] = self._sequence[codes[first]]
        known = before != NEVER
        gaps = np.where(known, numbers - np.where(known, before, 0) - 1, 0)
        np.maximum.at(self._sequence, codes, numbers)
        return int(np.maximum(gaps, 0).sum())

    def _operators_frontier(self, final: bool) -> int:
        if final:
            return INFINITE
        if self._frontier == NEVER:
            return NEVER
        before = self._frontier - 1  # more events may still come at the frontier itself
        return before if self._source.key is not None else max(before, self._last)

    def held(self) -> int:
        """Return the number of events that wait to be put in order."""
        return 0 if self._held is None else self._held.num_rows

    def save(self) -> StageState:
        """Return the state, to continue from after a restart."""
        tables = {
            "numbering": self._numbering.save(),
            "times": pa.table({"frontier": [self._frontier], "last": [self._last]}),
            "sequence": pa.table({"n": self._sequence}),
        }
        if self._held is not None:
            tables["held"] = self._held
        if self._seen is not None:
            tables["seen"] = self._seen
        return StageState(tables)

    def load(self, state: StageState) -> None:
        """Continue from a saved state."""
        self._numbering.load(state.tables["numbering"])
        times = state.tables["times"].to_pylist()[0]
        self._frontier, self._last = times["frontier"], times["last"]
        self._sequence = state.tables["sequence"].column("n").to_numpy().copy()
        self._held = state.tables.get("held")
        self._seen = state.tables.get("seen")
