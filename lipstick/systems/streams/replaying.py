"""A graph run again over recorded sources: from where a prefix begins, up to a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lipstick.systems.streams.batch import Batch
from lipstick.systems.streams.changes import Changes, changed_batch
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.delays import Recorded
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.ingest import Ingested, SourceStage
from lipstick.systems.streams.keys import INFINITE, NEVER, Keys
from lipstick.systems.streams.operators.base import Fired, Stage
from lipstick.systems.streams.prefix import Prefix
from lipstick.systems.streams.recording import InMemory, Recording
from lipstick.systems.streams.source import Disorder, Source


class _RecordedSource(SourceStage):
    """Gives the engine the recorded events of a source, as they are."""

    def __init__(self, sid: str, source: Source, codes: KeyCodes, batch: Batch) -> None:
        super().__init__(sid, source, codes, lambda: 0)
        self._batch = batch

    def take(self, table: pa.Table | None, watermark: int | None, final: bool) -> Ingested:
        """All events at once; see :meth:`lipstick.systems.streams.ingest.SourceStage.take`."""
        return Ingested(self._batch, INFINITE, Disorder())


@dataclass(frozen=True, slots=True)
class Span:
    """The span of a replay: from the beginning of a prefix up to a time."""

    prefix: Prefix
    until: int

    def first_trigger(self, sid: str) -> int:
        """Return the trigger's time from which a stream is replayed; `INFINITE`: it is not."""
        return self.prefix.triggers[sid]

    def keys(self, recording: Recording, sid: str) -> Keys:
        """Return the recorded keys of a stream that are replayed, and some before and after."""
        first = self.first_trigger(sid)
        if first == INFINITE:
            return Keys.empty(recording.graph.node(sid).keyed)
        parts = recording.parts(sid)
        which = parts.within(np.array([first]), np.array([self.until]), of="trigger")
        return recording.load(sid, which)

    def before(self, recording: Recording, sid: str) -> Keys:
        """The recorded keys before, among them the last of every key: counts go on from them."""
        first = self.first_trigger(sid)
        keyed = recording.graph.node(sid).keyed
        if first in (NEVER, INFINITE):
            return Keys.empty(keyed)
        earlier = np.flatnonzero(recording.parts(sid).first_trigger < first)
        keys = recording.load(sid, earlier if keyed else earlier[-1:])
        return keys.take(np.flatnonzero(keys.trigger < first))

    def replayed(self, recording: Recording, sid: str) -> Keys:
        """The keys of outputs whose triggers are in what is replayed."""
        keys = self.keys(recording, sid)
        trigger = keys.trigger
        there = (trigger >= self.first_trigger(sid)) & (trigger <= self.until)
        return keys.take(np.flatnonzero(there))


class Replayer(Runner):
    """A runner over recorded events, from where a prefix begins."""

    def __init__(
        self,
        graph: Graph,
        recording: Recording,
        span: Span,
        results: InMemory,
        kept: dict[str, Fired] | None,
    ) -> None:
        recorded = {sid: span.keys(recording, sid) for sid in graph.recorded}
        super().__init__(graph, delays=Recorded(recorded), recorders=[results])
        self.codes.restore(recording.codes.values)
        self._span = span
        self._kept = kept
        for sid, at in self._streams.items():
            at.numbering.resume(span.before(recording, sid))

    def feed(self, sources: Mapping[str, Batch]) -> None:
        """Run over all events of the sources."""
        for sid, batch in sources.items():
            source = self.graph.node(sid).source
            assert source is not None
            self._sources[sid] = _RecordedSource(sid, source, self.codes, batch)
        self.push(final=True)

    def _fired(self, sid: str, stage: Stage, batches: Sequence[Batch], upto: list[int]) -> Fired:
        """Leave out outputs before the prefix: what they were made of is not all there."""
        first = self._span.first_trigger(sid)
        if first == INFINITE:
            batches = [batch.take(np.zeros(0, dtype=np.int64)) for batch in batches]
        fired = super()._fired(sid, stage, batches, upto)
        if len(fired.trigger) and int(fired.trigger.min()) < first:
            fired = fired.take(np.flatnonzero(fired.trigger >= first))
        if self._kept is not None:
            self._kept[sid] = fired
        return fired


def read_sources(graph: Graph, recording: Recording, span: Span) -> dict[str, Batch]:
    """Return what was recorded of the sources in a span."""
    sources = {}
    for sid in graph.sources:
        first, until = span.prefix.times[sid], span.until
        parts = recording.parts(sid)
        which = parts.within(np.array([first]), np.array([max(first, until)]))
        batch = recording.load_content(sid, which)
        if len(batch):
            keys = batch.keys
            batch = batch.take(np.flatnonzero((keys.t >= first) & (keys.t <= until)))
        sources[sid] = batch
    return sources


def run(
    graph: Graph,
    recording: Recording,
    span: Span,
    changes: Changes | None,
    read: Mapping[str, Batch] | None = None,
    fired: dict[str, Fired] | None = None,
) -> InMemory:
    """Run a graph over a span of its recorded sources, with changes if there are any.

    Parameters
    ----------
    read
        What :func:`read_sources` returned, if it was called.
    fired
        Gets what every operator made, if it is given.
    """
    results = InMemory(full=True)
    replayer = Replayer(graph, recording, span, results, fired)
    sources = dict(read_sources(graph, recording, span) if read is None else read)
    if changes is not None:
        for sid, batch in sources.items():
            sources[sid] = changed_batch(changes, sid, batch, graph, replayer.codes, span.until)
        changes.check(graph)
    replayer.feed(sources)
    return results
