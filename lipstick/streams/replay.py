"""Replay: the graph run again over recorded sources, as they were or with changes.

Source: the thesis, section 4.4 (``replayExec``). Outputs get the delays that were recorded for
their triggers, so that they have the recorded keys. Where it feeds the source ancestors of one
result, here all recorded events up to the last one asked about are fed: what else would have come
out of filters and windows in between then comes out as it did.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.streams.batch import Batch
from lipstick.streams.changes import Changes, changed_batch
from lipstick.streams.codes import KeyCodes
from lipstick.streams.delays import Recorded
from lipstick.streams.differences import differing_rows, matched
from lipstick.streams.engine import Runner
from lipstick.streams.errors import ReplayError
from lipstick.streams.events import Events, Found, resolve
from lipstick.streams.graph import Graph
from lipstick.streams.ingest import Ingested, SourceStage
from lipstick.streams.keys import INFINITE, Keys
from lipstick.streams.recording import InMemory, Recording
from lipstick.streams.source import Disorder, Source


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """What a replay found, by stream.

    Parameters
    ----------
    same, changed, gone
        Recorded events: with the same content and key, with another, and those that no longer are.
    appeared
        Events that were not recorded, with the keys of the replay.
    not_deterministic
        The streams whose operator gave something else for the same input: what is said of them,
        and of what is made of them, has no other cause that is known.
    results
        The replayed run, with all content.
    """

    same: Found
    changed: Found
    gone: Found
    appeared: Found
    not_deterministic: tuple[str, ...]
    results: InMemory

    @property
    def identical(self) -> bool:
        """Whether all that was asked about came out as it was recorded."""
        return not (len(self.changed) or len(self.gone) or len(self.appeared))


def replay(
    graph: Graph,
    recording: Recording,
    *,
    events: Events | None = None,
    period: tuple[int, int] | None = None,
    changes: Changes | None = None,
) -> Replayed:
    """Run a graph again over what was recorded of its sources, and compare.

    Parameters
    ----------
    graph
        The one that was run.
    events
        The results to compare; None: all of the streams that nothing is made of.
    period
        The times from and to, both closed, of the results to compare, instead.
    changes
        What is different in the sources; None: nothing is.

    Raises
    ------
    ReplayError
        When the graph is another one, or both events and a period are given.
    UnknownStreamError
        When there are no such events, or a change is of an event that there is not.

    Notes
    -----
    Time and memory are those of a run over the sources up to the last result asked about, two or
    three times: what is unchanged is replayed as well, to know what is not deterministic.
    """
    if graph.fingerprint() != recording.graph.fingerprint():
        raise ReplayError(
            f"Graph {graph.name} is not the one that was recorded: streams, operators or parameters"
            " differ.\nGive the graph that was run."
        )
    if events is not None and period is not None:
        raise ReplayError("A replay is of events or of a period: give one of them.")
    asked = _asked(recording, events, period)
    until = max((int(keys.t.max()) for keys in asked.values() if len(keys)), default=INFINITE)
    if period is not None:
        until = period[1]
    elif events is None:
        until = INFINITE
    before = _run(graph, recording, until, None)
    again = recording if _has_all(recording) else _run(graph, recording, until, None)
    unsure = _not_deterministic(graph, recording, before, again, until)
    after = before if changes is None else _run(graph, recording, until, changes)
    compared = {sid: _compare(before, after, sid, keys) for sid, keys in asked.items()}
    if events is None:  # else other results of the stream were not asked about
        appeared = {sid: _appeared(recording, after, sid, until, period) for sid in asked}
    else:
        appeared = {}
    same, changed, gone = ({sid: each[i] for sid, each in compared.items()} for i in range(3))
    return Replayed(
        Found(recording, same),
        Found(recording, changed),
        Found(recording, gone),
        Found(after, appeared),
        unsure,
        after,
    )


def _asked(
    recording: Recording, events: Events | None, period: tuple[int, int] | None
) -> dict[str, Keys]:
    if events is not None:
        return {recording.graph.original(events.sid): resolve(recording, events)}
    graph = recording.graph
    ends = [sid for sid in graph.recorded if not graph.consumers(sid)]
    return {sid: resolve(recording, Events(sid, t=period)) for sid in ends}


def _has_all(recording: Recording) -> bool:
    return all(recording.has_content(sid) for sid in recording.graph.recorded)


class _RecordedSource(SourceStage):
    """Gives the engine the recorded events of a source, as they are."""

    def __init__(self, sid: str, source: Source, codes: KeyCodes, batch: Batch) -> None:
        super().__init__(sid, source, codes, lambda: 0)
        self._batch = batch

    def take(self, table: pa.Table | None, watermark: int | None, final: bool) -> Ingested:
        """All events at once; see :meth:`lipstick.streams.ingest.SourceStage.take`."""
        return Ingested(self._batch, INFINITE, Disorder())


class _Replayer(Runner):
    """A runner over recorded events."""

    def __init__(self, graph: Graph, recording: Recording, results: InMemory) -> None:
        recorded = {sid: recording.whole(sid) for sid in graph.recorded}
        super().__init__(graph, delays=Recorded(recorded), recorders=[results])
        self.codes.restore(recording.codes.values)

    def feed(self, sources: Mapping[str, Batch]) -> None:
        """Run over all events of the sources."""
        for sid, batch in sources.items():
            source = self.graph.node(sid).source
            assert source is not None
            self._sources[sid] = _RecordedSource(sid, source, self.codes, batch)
        self.push(final=True)


def _run(graph: Graph, recording: Recording, until: int, changes: Changes | None) -> InMemory:
    results = InMemory(full=True)
    replayer = _Replayer(graph, recording, results)
    sources = {}
    for sid in graph.sources:
        parts = recording.parts(sid)
        which = parts.within(np.array([np.iinfo(np.int64).min]), np.array([until]))
        batch = recording.load_content(sid, which)
        if len(batch):
            batch = batch.take(np.flatnonzero(batch.keys.t <= until))
        if changes is not None:
            batch = changed_batch(changes, sid, batch, graph, replayer.codes, until)
        sources[sid] = batch
    if changes is not None:
        changes.check(graph)
    replayer.feed(sources)
    return results


def _compare(before: InMemory, after: InMemory, sid: str, asked: Keys) -> tuple[Keys, Keys, Keys]:
    """Which of the recorded events are the same, changed and gone."""
    place, there = matched(asked, after.whole(sid))
    gone = asked.take(np.flatnonzero(~there))
    kept = asked.take(np.flatnonzero(there))
    if not len(kept):
        return kept, kept, gone
    found = after.whole(sid).take(np.sort(place[there]))
    origin, known = matched(kept, before.whole(sid))
    differs = ~known | (found.d != kept.d) | (found.t != kept.t)
    old = before.whole(sid).take(np.sort(origin[known]))
    rows = differing_rows(
        before.content(sid, old), after.content(sid, found.take(np.flatnonzero(known)))
    )
    differs[np.flatnonzero(known)] |= rows
    return kept.take(np.flatnonzero(~differs)), kept.take(np.flatnonzero(differs)), gone


def _appeared(
    recording: Recording, after: InMemory, sid: str, until: int, period: tuple[int, int] | None
) -> Keys:
    made = after.whole(sid)
    _, there = matched(made, recording.whole(sid))
    fresh = ~there & (made.t <= until)
    if period is not None:
        fresh &= made.t >= period[0]
    return made.take(np.flatnonzero(fresh))


def _not_deterministic(
    graph: Graph, recording: Recording, run: InMemory, other: Recording, until: int
) -> tuple[str, ...]:
    """The streams that differ between runs or from the recording, while their inputs do not."""
    differing: set[str] = set()
    causes = []
    for sid, node in graph.nodes.items():
        if node.twin is not None or node.operator is None:
            continue
        differs = any(
            _differs(run, each, sid, until, content)
            for each, content in ((recording, False), (other, True))
        )
        if differs:
            differing.add(sid)
            if not differing.intersection(node.inputs):
                causes.append(sid)
    return tuple(causes)


def _differs(run: InMemory, other: Recording, sid: str, until: int, content: bool) -> bool:
    # What has its trigger by then was fed all that it was made of.
    keys, others = (
        each.take(np.flatnonzero(each.trigger <= until))
        for each in (run.whole(sid), other.whole(sid))
    )
    pairs: Iterable[tuple[Any, Any]] = ((keys.t, others.t), (keys.n, others.n), (keys.d, others.d))
    if len(keys) != len(others) or not all(bool((a == b).all()) for a, b in pairs):
        return True
    if not content or not len(keys):
        return False
    return bool(differing_rows(run.content(sid, keys), other.content(sid, others)).any())
