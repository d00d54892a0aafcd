"""The recording of a run: keys of all streams in parts, content of sources."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.batch import Batch, Lists, concat_batches, is_each
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.engine import Pushed
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.keys import Keys, concat_keys, search
from lipstick.systems.streams.layout import ranges_of
from lipstick.systems.streams.operator_state import StageState
from lipstick.systems.streams.source import Disorder
from semiring.arrays.segments import ascending
from semiring.base import Array
from semiring.support.door import checked


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parts in which a stream was recorded, with one array element per part.

    Parameters
    ----------
    rows
        How many events.
    first_t, last_t, first_trigger, last_trigger, first_n, last_n, first_code, last_code
        The least and greatest time, trigger's time, number and code of the key among them; without
        a key codes are 0.
    """

    rows: Array
    first_t: Array
    last_t: Array
    first_trigger: Array
    last_trigger: Array
    first_n: Array
    last_n: Array
    first_code: Array
    last_code: Array

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, positions: Array) -> Parts:
        """Return the parts at positions."""
        return Parts(*(getattr(self, each.name)[positions] for each in fields(Parts)))

    @staticmethod
    def of(ranges: Iterable[Mapping[str, int]]) -> Parts:
        """Return parts from the numbers above, by name, for each part; missing codes are 0."""
        names = [each.name for each in fields(Parts)]
        rows = [[given.get(name) or 0 for name in names] for given in ranges]
        array = np.array(rows, dtype=np.int64).reshape(-1, len(names))
        return Parts(*array.T)

    def within(
        self, low: Array, high: Array, codes: Array | None = None, *, of: str = "t"
    ) -> Array:
        """Return the ascending indices of the parts that may have a time in some closed intervals.

        Parameters
        ----------
        codes
            The possible key codes of such an event; None: any.
        of
            ``t``, ``trigger`` or ``n``: the quantity that the intervals are about.
        """
        met = self._meet(of, *_united(low, high))
        if codes is not None:
            met &= self.has_code(codes)
        return np.flatnonzero(met)

    def has_code(self, codes: Array) -> Array:
        """Return the mask of the parts that may have an event with some codes."""
        codes = ascending(codes)
        return self._meet("code", codes, codes)

    def _meet(self, of: str, starts: Array, ends: Array) -> Array:
        """Return the mask of the parts with a range that meets some disjoint ascending
        intervals.
        """
        first = getattr(self, f"first_{of}")
        last = getattr(self, f"last_{of}")
        index = np.searchsorted(ends, first, "left")
        met: Array = index < len(starts)
        met[met] = starts[index[met]] <= last[met]
        return met


def _united(low: Array, high: Array) -> tuple[Array, Array]:
    """Return the union of closed intervals, as disjoint ones in order."""
    order = np.argsort(low, kind="stable")
    low, high = low[order], np.maximum.accumulate(high[order])
    fresh = np.ones(len(low), dtype=np.bool_)
    fresh[1:] = low[1:] > high[:-1]
    starts = np.flatnonzero(fresh)
    return low[starts], high[np.append(starts[1:], len(low)) - 1] if len(low) else high


@checked
class Recording(ABC):
    """A recorded run: the input of questions and replays.

    Attributes
    ----------
    graph
        The graph, or of a store the part of it that ancestor functions need.
    codes
        The values of keys met so far.
    """

    graph: Graph
    codes: KeyCodes

    @abstractmethod
    def parts(self, sid: str) -> Parts:
        """Return the parts of a stream."""

    @abstractmethod
    def load(self, sid: str, parts: Array) -> Keys:
        """Return the keys in some parts of a stream."""

    @abstractmethod
    def load_content(self, sid: str, parts: Array) -> Batch:
        """Return the events in some parts of a stream, with content.

        Raises
        ------
        StreamError
            When the stream's content was not recorded: replay it.
        """

    @abstractmethod
    def has_content(self, sid: str) -> bool:
        """Return True if the content of a stream was recorded."""

    @abstractmethod
    def disorder(self) -> Mapping[str, Disorder]:
        """Return, by source, the counts of irregular events in all batches together."""

    def whole(self, sid: str) -> Keys:
        """Return all keys of a stream; raises as `Graph.stream`."""
        sid = self.graph.original(sid)
        return self.load(sid, np.arange(len(self.parts(sid))))

    def content(self, sid: str, keys: Keys) -> pa.Table:
        """Return the content of recorded events, a row for each key; raises as `load_content`."""
        sid = self.graph.original(sid)
        batch = self.load_content(sid, self.parts(sid).within(keys.t, keys.t, keys.code))
        index = search(batch.keys.code, batch.keys.t, keys.code, keys.t)
        table = batch.table()
        return table if is_each(index, table.num_rows) else table.take(pa.array(index))

    def notes(self) -> tuple[str, ...]:
        """Return sentences about the differences between the sent and the recorded events."""
        notes = []
        for sid, disorder in self.disorder().items():
            policy = self.graph.node(sid).source
            admitted = policy is not None and policy.late == "admit"
            if disorder.late and admitted:
                notes.append(
                    f"{sid}: {disorder.late:,} late events were taken as of the time they came."
                )
            elif disorder.late:
                notes.append(
                    f"{sid}: {disorder.late:,} late events were dropped; no result has them."
                )
            if disorder.collisions:
                notes.append(
                    f"{sid}: {disorder.collisions:,} events have a later tick than they were sent "
                    "with, which was taken."
                )
            if disorder.missing:
                notes.append(f"{sid}: {disorder.missing:,} numbers of the sender did not come.")
            if disorder.duplicates:
                notes.append(f"{sid}: {disorder.duplicates:,} events that came again were dropped.")
        return tuple(notes)


def no_content(sid: str) -> StreamError:
    """Return the error for content that was not recorded."""
    return StreamError(
        f"The content of stream {sid} was not recorded, only its keys.\nReplay it, or record with"
        " full=True."
    )


def added(total: Mapping[str, Disorder], new: Mapping[str, Disorder]) -> dict[str, Disorder]:
    """Return sums of counts by source."""
    result = dict(total)
    for sid, disorder in new.items():
        before = result.get(sid, Disorder())
        names = [each.name for each in fields(Disorder)]
        result[sid] = Disorder(**{n: getattr(before, n) + getattr(disorder, n) for n in names})
    return result


@checked
class InMemory(Recording):
    """A recorder in memory, for small data and tests.

    Parameters
    ----------
    full
        Keep the content of all streams, not of sources alone.
    """

    def __init__(self, *, full: bool = False) -> None:
        self._full = full
        self._batches: dict[str, list[Batch]] = {}
        self._whole: dict[str, tuple[int, Keys]] = {}
        self._disorder: dict[str, Disorder] = {}

    def begin(self, graph: Graph, codes: KeyCodes) -> tuple[int, Mapping[str, StageState]]:
        """See `lipstick.systems.streams.engine.Recorder`."""
        if self._batches:
            raise StreamError("This recorder already has a run: make a new recorder.")
        self.graph = graph
        self.codes = codes
        self._batches = {sid: [] for sid in graph.recorded}
        return 0, {}

    def write(self, pushed: Pushed, state: Callable[[], Mapping[str, StageState]]) -> None:
        """See `lipstick.systems.streams.engine.Recorder`."""
        for sid, batch in pushed.streams.items():
            if not len(batch):
                continue
            bare = Batch(batch.keys, pa.table({}), batch.properties)
            self._batches[sid].append(batch if self.has_content(sid) else bare)
        self._disorder = added(self._disorder, pushed.disorder)

    def parts(self, sid: str) -> Parts:
        return Parts.of(ranges_of(batch.keys) for batch in self._batches[sid])

    def load(self, sid: str, parts: Array) -> Keys:
        batches = self._batches[sid]
        if not len(parts):
            return Keys.empty(self.graph.node(sid).keyed)
        if len(parts) < len(batches):
            return concat_keys([batches[i].keys for i in parts.tolist()])[0]
        count, keys = self._whole.get(sid, (0, Keys.empty(False)))
        if count != len(batches):
            keys = concat_keys([batch.keys for batch in batches])[0]
            self._whole[sid] = (len(batches), keys)
        return keys

    def load_content(self, sid: str, parts: Array) -> Batch:
        if not self.has_content(sid):
            raise no_content(sid)
        batches = [self._batches[sid][i] for i in parts.tolist()]
        if not batches:
            return Batch(Keys.empty(self.graph.node(sid).keyed), pa.table({}))
        return concat_batches(batches)

    def lists(self, sid: str, keys: Keys) -> Lists | None:
        """Return the content of events as lists without expanding them, or None if it is no list.

        Content of several batches is expanded, see `content`.
        """
        sid = self.graph.original(sid)
        parts = self.parts(sid).within(keys.t, keys.t, keys.code)
        if len(parts) != 1:
            return None
        batch = self._batches[sid][int(parts[0])]
        if not isinstance(batch.content, Lists):
            return None
        return batch.content.take(search(batch.keys.code, batch.keys.t, keys.code, keys.t))

    def has_content(self, sid: str) -> bool:
        return self._full or self.graph.node(sid).source is not None

    def disorder(self) -> Mapping[str, Disorder]:
        return self._disorder

    def property(self, sid: str, name: str) -> Array:
        """Return the values of a property for all events of a stream, in the order of its keys.

        Raises
        ------
        StreamError
            The run did not compute it.
        """
        batches = self._batches[self.graph.original(sid)]
        if batches and name not in batches[0].properties:
            raise StreamError(f"Property {name!r} was not followed: give it to the Runner.")
        parts = [batch.properties[name] for batch in batches]
        _, order = concat_keys([batch.keys for batch in batches])
        values: Array = np.concatenate(parts)
        return values if order is None else values[order]
