"""The execution of a graph in memory, batch by batch: only the operators' own code."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.batch import Batch
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.delays import Delays, Fixed
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.ingest import Numbering, SourceStage
from lipstick.systems.streams.keys import INFINITE, NEVER, Keys
from lipstick.systems.streams.node import StreamNode
from lipstick.systems.streams.operator_state import StageState
from lipstick.systems.streams.operators.base import Fired, Stage
from lipstick.systems.streams.properties import Property, PropertyStep
from lipstick.systems.streams.source import Disorder
from semiring.support.door import checked

TICK = 1_000
"""Nanoseconds per tick of measured times: microseconds."""

CODES = "/codes"
"""The name of the key values in the state, which no stream can have."""


@checked
@dataclass(frozen=True, slots=True, eq=False)
class Pushed:
    """The results of one batch of input.

    Parameters
    ----------
    number
        The number of the batch, from 0.
    streams
        The new events of every stream that is recorded, sources included.
    disorder
        By source, the counts of irregular events.
    frontiers
        By stream, the time up to which it is complete.
    """

    number: int
    streams: Mapping[str, Batch]
    disorder: Mapping[str, Disorder]
    frontiers: Mapping[str, int]


class Recorder(Protocol):
    """A recorder of the events of a run."""

    def begin(self, graph: Graph, codes: KeyCodes) -> tuple[int, Mapping[str, StageState]]:
        """Prepare, and return the number of the next batch and the state before it."""

    def write(self, pushed: Pushed, state: Callable[[], Mapping[str, StageState]]) -> None:
        """Record the results of a batch."""


@dataclass(slots=True)
class _At:
    """One stream of a running graph."""

    node: StreamNode
    stage: Stage | None
    numbering: Numbering = field(default_factory=Numbering)


@checked
class Runner:
    """A running graph.

    Parameters
    ----------
    graph
        Not to be changed any more.
    delays
        The source of outputs' delays; by default 0, a logical clock.
    properties
        Properties that travel with the events.
    recorders
        Recorders of the events: none for a plain run, an `InMemory`, an `Assertions` of a store.
    clock
        The time of arrival in ticks, for sources without a time.

    Raises
    ------
    StreamError
        A graph without sources.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        delays: Delays | None = None,
        properties: Sequence[Property] = (),
        recorders: Iterable[Recorder] = (),
        clock: Callable[[], int] | None = None,
    ) -> None:
        if not graph.sources:
            raise StreamError(f"Graph {graph.name} has no source.\nAdd one: graph.source(name).")
        self.graph = graph
        self.codes = KeyCodes()
        self._delays = delays or Fixed()
        self._properties = tuple(properties)
        self._recorders = tuple(recorders)
        self._subscribers: list[tuple[str, Callable[[Batch], None]]] = []
        self._number = 0
        self._closed = False
        clock = clock or (lambda: time.time_ns() // TICK)
        self._sources = {
            sid: SourceStage(sid, node.source, self.codes, clock)
            for sid, node in graph.nodes.items()
            if node.source is not None
        }
        self._streams = {
            sid: _At(node, self._stage(node))
            for sid, node in graph.nodes.items()
            if node.twin is None and node.operator is not None
        }
        for recorder in self._recorders:
            self._number, state = recorder.begin(graph, self.codes)
            if state:
                self._load(state)

    def _stage(self, node: StreamNode) -> Stage | None:
        if node.operator is None:
            return None
        keyed = self.graph.node(node.inputs[0]).keyed
        return node.operator.stage(keyed, self.codes)

    def subscribe(self, sid: str, function: Callable[[Batch], None]) -> None:
        """Call a function with the new events of a stream, including their properties.

        Raises
        ------
        StreamError
            When there is no such stream.
        """
        self._subscribers.append((self.graph.original(sid), function))

    @property
    def number(self) -> int:
        """The number of the next batch; when a recording is continued, earlier batches are
        stored.
        """
        return self._number

    def push(
        self,
        inputs: Mapping[str, pa.Table] | None = None,
        *,
        watermark: int | None = None,
        final: bool = False,
    ) -> Pushed:
        """Process the next batch of input.

        Parameters
        ----------
        inputs
            By source, a table of new rows; sources may be left out.
        watermark
            A time before which all sources are complete.
        final
            Whether this is the end of the input: events held back are released.

        Raises
        ------
        StreamError
            The input has ended; a table does not fit its source; or a user's function returns a
            wrong result.
            The rows are for an unknown source.
        """
        if self._closed:
            raise StreamError(f"Graph {self.graph.name} was closed: make another Runner.")
        inputs = inputs or {}
        for sid in inputs:
            if sid not in self._sources:
                raise StreamError(
                    f"Graph {self.graph.name} has no source {sid!r}.\nIt has "
                    f"{', '.join(self._sources)}."
                )
        batches_made: dict[str, Batch] = {}
        frontiers: dict[str, int] = {}
        disorder: dict[str, Disorder] = {}
        for sid, source in self._sources.items():
            taken = source.take(inputs.get(sid), watermark, final)
            batches_made[sid] = self._with_properties_of_source(sid, taken.batch)
            frontiers[sid] = taken.frontier
            disorder[sid] = taken.disorder
        for sid, at in self._streams.items():
            self._fire(sid, at, batches_made, frontiers)
        pushed = Pushed(self._number, batches_made, disorder, frontiers)
        for recorder in self._recorders:
            recorder.write(pushed, self._save)
        self._number += 1
        self._closed = final
        for sid, function in self._subscribers:
            if len(batches_made[sid]):
                function(batches_made[sid])
        return pushed

    def close(self) -> Pushed:
        """End the input."""
        return self.push(final=True)

    def held(self) -> int:
        """Return the number of events that all operators and sources buffer."""
        return sum(self.held_by_stream().values())

    def held_by_stream(self) -> dict[str, int]:
        """Return, by stream, the number of events that its operator or source buffers."""
        held = {sid: source.held() for sid, source in self._sources.items()}
        return held | {
            sid: at.stage.held() for sid, at in self._streams.items() if at.stage is not None
        }

    @property
    def source_frontiers(self) -> dict[str, int]:
        """By source, the time before which its events are late."""
        return {sid: source.frontier for sid, source in self._sources.items()}

    def advance(self, frontiers: Mapping[str, int]) -> None:
        """Take over the frontiers of sources, for a run over a part of their keys.

        The next batch releases the events that are held back.
        """
        for sid, frontier in frontiers.items():
            self._sources[sid].advance(frontier)

    def _with_properties_of_source(self, sid: str, batch: Batch) -> Batch:
        if not self._properties or not len(batch):
            return batch
        step = PropertyStep(sid, "source", batch.keys, self.codes, content=batch.table())
        values = {each.name: each.of(step) for each in self._properties}
        return Batch(batch.keys, batch.content, values)

    def _fire(
        self, sid: str, at: _At, batches_made: dict[str, Batch], frontiers: dict[str, int]
    ) -> None:
        node, stage = at.node, at.stage
        assert stage is not None
        assert node.operator is not None
        batches = [batches_made[name] for name in node.inputs]
        before = [frontiers[name] for name in node.inputs]
        frontiers[sid] = min(before)
        if not any(map(len, batches)) and (len(batches) == 1 or not stage.held()):
            batches_made[sid] = Batch(Keys.empty(node.keyed), batches[0].table()[:0])
            return
        started = time.perf_counter_ns()
        fired = self._fired(sid, stage, batches, before)
        elapsed = (time.perf_counter_ns() - started) // TICK
        delays = self._delays.of(sid, fired.code, fired.trigger, elapsed)
        keys = at.numbering.keys(fired.trigger, fired.code, fired.n, delays)
        values = {}
        if self._properties and len(keys):
            step = PropertyStep(sid, node.operator.kind, keys, self.codes, fired)
            values = {each.name: each.of(step) for each in self._properties}
        batches_made[sid] = Batch(keys, fired.content, values)

    def _fired(self, sid: str, stage: Stage, batches: Sequence[Batch], upto: list[int]) -> Fired:
        """Fire an operator."""
        return stage.push(batches, upto)

    def _save(self) -> dict[str, StageState]:
        state = {sid: source.save() for sid, source in self._sources.items()}
        for sid, at in self._streams.items():
            assert at.stage is not None
            tables = dict(at.stage.save().tables)
            state[sid] = StageState({**tables, "numbering": at.numbering.save()})
        state[CODES] = StageState({"values": pa.table({"value": self.codes.values})})
        return state

    def _load(self, state: Mapping[str, StageState]) -> None:
        self.codes.restore(state[CODES].tables["values"].column("value").combine_chunks())
        for sid, source in self._sources.items():
            source.load(state[sid])
        for sid, at in self._streams.items():
            assert at.stage is not None
            tables = dict(state[sid].tables)
            at.numbering.load(tables.pop("numbering"))
            at.stage.load(StageState(tables))


__all__ = ["INFINITE", "NEVER", "Pushed", "Recorder", "Runner"]
