"""Replay: the graph run again over recorded sources, unchanged or with changes.

Source: the thesis, section 4.2 (``replayExec``). Outputs get the delays recorded for their
triggers, so that they have the recorded keys. The thesis feeds the source ancestors of one result;
here all recorded events are fed from the first to the last behind the results
(`lipstick.systems.streams.prefix`), so that all other outputs of filters and windows in between are
reproduced, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.batch import Batch
from lipstick.systems.streams.changes import Changes, changed_batch, first_change
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.delays import Recorded
from lipstick.systems.streams.differences import differing_content, matched
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.events import Events, Found, resolve
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.ingest import Ingested, SourceStage
from lipstick.systems.streams.keys import INFINITE, NEVER, Keys, search
from lipstick.systems.streams.operators.base import Fired, Stage
from lipstick.systems.streams.operators.merge import trigger_rank
from lipstick.systems.streams.prefix import Prefix, prefix_of, whole
from lipstick.systems.streams.recording import InMemory, Recording
from lipstick.systems.streams.source import Disorder, EventSource
from semiring.base import Array
from semiring.support.door import checked


class _RecordedSource(SourceStage):
    """A source that feeds its recorded events unchanged."""

    def __init__(self, sid: str, source: EventSource, codes: KeyCodes, batch: Batch) -> None:
        super().__init__(sid, source, codes, lambda: 0)
        self._batch = batch

    def take(self, table: pa.Table | None, watermark: int | None, final: bool) -> Ingested:
        """Return all events at once; see
        :meth:`lipstick.systems.streams.ingest.SourceStage.take`.
        """
        return Ingested(self._batch, INFINITE, Disorder())


@dataclass(frozen=True, slots=True)
class ReplayedSpan:
    """The span of a replay: from the beginning of a prefix up to a time."""

    prefix: Prefix
    until: int

    def first_trigger(self, sid: str) -> int:
        """Return the trigger time from which a stream is replayed; `INFINITE` if it is not."""
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
        """Return the recorded keys before the span, including every key's last: counts continue
        from it.
        """
        first = self.first_trigger(sid)
        keyed = recording.graph.node(sid).keyed
        if first in (NEVER, INFINITE):
            return Keys.empty(keyed)
        earlier = np.flatnonzero(recording.parts(sid).first_trigger < first)
        keys = recording.load(sid, earlier if keyed else earlier[-1:])
        return keys.take(np.flatnonzero(keys.trigger < first))

    def replayed(self, recording: Recording, sid: str) -> Keys:
        """Return the keys of outputs whose triggers are in the span."""
        keys = self.keys(recording, sid)
        trigger = keys.trigger
        there = (trigger >= self.first_trigger(sid)) & (trigger <= self.until)
        return keys.take(np.flatnonzero(there))


class Replayer(Runner):
    """A runner over recorded events, from the beginning of a prefix."""

    def __init__(
        self,
        graph: Graph,
        recording: Recording,
        span: ReplayedSpan,
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
        """Leave out outputs before the prefix, whose ancestors are incomplete."""
        first = self._span.first_trigger(sid)
        if first == INFINITE:
            batches = [batch.take(np.zeros(0, dtype=np.int64)) for batch in batches]
        fired = super()._fired(sid, stage, batches, upto)
        if len(fired.trigger) and int(fired.trigger.min()) < first:
            fired = fired.take(np.flatnonzero(fired.trigger >= first))
        if self._kept is not None:
            self._kept[sid] = fired
        return fired


def read_sources(graph: Graph, recording: Recording, span: ReplayedSpan) -> dict[str, Batch]:
    """Return the recorded events of the sources in a span."""
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
    span: ReplayedSpan,
    changes: Changes | None,
    read: Mapping[str, Batch] | None = None,
    fired: dict[str, Fired] | None = None,
) -> InMemory:
    """Run a graph over a span of its recorded sources, with optional changes.

    Parameters
    ----------
    read
        What :func:`read_sources` returned, if it was called.
    fired
        Collects the outputs of every operator, if given.
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


@checked
@dataclass(frozen=True, slots=True, eq=False)
class ReplayOutcome:
    """The result of a replay, by stream.

    Parameters
    ----------
    same, changed, gone
        Recorded events: with the same content and key, with another, and no longer there.
    appeared
        Events that were not recorded, with the keys of the replay.
    not_deterministic
        The streams whose operator gave something else for the same input: differences of
        these streams, and of streams made of them, have no other cause that is known.
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
        """True if all results in question were reproduced exactly."""
        return not (len(self.changed) or len(self.gone) or len(self.appeared))


@checked
def replay(
    graph: Graph,
    recording: Recording,
    *,
    events: Events | None = None,
    period: tuple[int, int] | None = None,
    changes: Changes | None = None,
) -> ReplayOutcome:
    """Run a graph again over its recorded sources, and compare.

    Parameters
    ----------
    graph
        The recorded graph.
    events
        The results to compare; None: all events of streams without consumers.
    period
        The times from and to, both closed, of the results to compare, instead.
    changes
        Changes of the sources; None: no changes.

    Raises
    ------
    StreamError
        The graph is not the recorded one, or both events and a period are passed.
        There are no such events, or a change is of an unknown event.

    It takes two or three times the time and memory of a run over the sources from the first event
    that the results asked about can look back at, up to the last of these results: unchanged data
    is replayed as well, to know what is not deterministic. Where there are changes, windows of a
    length may have any event before them, and a graph with such is replayed from the beginning.
    """
    graph.check_recorded(recording.graph)
    if events is not None and period is not None:
        raise StreamError("A replay is of events or of a period: give one of them.")
    keys_asked = _keys_of(recording, events, period)
    prefix = _prefix(recording, keys_asked, period, events, changes)
    span = ReplayedSpan(prefix, _until(keys_asked, period, events))
    read = read_sources(graph, recording, span)
    before = run(graph, recording, span, None, read)
    again = recording if _has_all(recording) else run(graph, recording, span, None, read)
    unsure = _not_deterministic(graph, recording, before, again, span)
    after = before if changes is None else run(graph, recording, span, changes, read)
    compared = {
        sid: _compare(before, after, sid, keys, _rank(keys, span.keys(recording, sid)))
        for sid, keys in keys_asked.items()
    }
    appeared = {}
    if events is None:  # else other results of the stream were not asked about
        appeared = {sid: _appeared(recording, after, sid, span, period) for sid in keys_asked}
    same, changed, gone = ({sid: each[i] for sid, each in compared.items()} for i in range(3))
    return ReplayOutcome(
        Found(recording, same),
        Found(recording, changed),
        Found(recording, gone),
        Found(after, appeared),
        unsure,
        after,
    )


def _keys_of(
    recording: Recording, events: Events | None, period: tuple[int, int] | None
) -> dict[str, Keys]:
    if events is not None:
        return {recording.graph.original(events.sid): resolve(recording, events)}
    graph = recording.graph
    ends = [sid for sid in graph.recorded if not graph.consumers(sid)]
    return {sid: resolve(recording, Events(sid, t=period)) for sid in ends}


def _until(
    keys_asked: Mapping[str, Keys], period: tuple[int, int] | None, events: Events | None
) -> int:
    """Return the time of the last result that is asked about."""
    if period is not None:
        return period[1]
    if events is None:
        return INFINITE
    return max((int(keys.t.max()) for keys in keys_asked.values() if len(keys)), default=INFINITE)


def _prefix(
    recording: Recording,
    keys_asked: Mapping[str, Keys],
    period: tuple[int, int] | None,
    events: Events | None,
    changes: Changes | None,
) -> Prefix:
    """Return the beginning of the replay, early enough to have all changes in it."""
    if period is None and events is None:
        return whole(recording.graph, keys_asked)
    if period is not None:
        first = dict.fromkeys(keys_asked, period[0])
    else:
        first = {sid: int(keys.t.min(initial=INFINITE)) for sid, keys in keys_asked.items()}
    prefix = prefix_of(recording, first, counted=changes is None)
    if changes is None:
        return prefix
    changed = {sid: first_change(changes, recording, sid) for sid in recording.graph.sources}
    times = {sid: min(time, changed.get(sid, time)) for sid, time in prefix.times.items()}
    return Prefix(times, prefix.triggers)


def _has_all(recording: Recording) -> bool:
    return all(recording.has_content(sid) for sid in recording.graph.recorded)


def _rank(keys: Keys, recorded: Keys) -> Array:
    """Return the number of recorded events before each with the same trigger."""
    index = search(recorded.code, recorded.t, keys.code, keys.t)
    rank: Array = trigger_rank(recorded)[index]
    return rank


def _compare(
    before: InMemory, after: InMemory, sid: str, keys_asked: Keys, rank: Array
) -> tuple[Keys, Keys, Keys]:
    """Return the recorded events that are unchanged, changed and gone."""
    index, there = matched(keys_asked, after.whole(sid), rank)
    gone = keys_asked.take(np.flatnonzero(~there))
    kept = keys_asked.take(np.flatnonzero(there))
    if not len(kept):
        return kept, kept, gone
    if after is before:  # no changes: the recorded events are the result
        made = before.whole(sid).take(np.sort(index[there]))
        moved = (made.d != kept.d) | (made.t != kept.t)
        return kept.take(np.flatnonzero(~moved)), kept.take(np.flatnonzero(moved)), gone
    replayed_keys = after.whole(sid).take(np.sort(index[there]))
    origin, known = matched(kept, before.whole(sid), rank[there])
    differs = ~known | (replayed_keys.d != kept.d) | (replayed_keys.t != kept.t)
    old = before.whole(sid).take(np.sort(origin[known]))
    rows = differing_content(before, old, after, replayed_keys.take(np.flatnonzero(known)), sid)
    differs[np.flatnonzero(known)] |= rows
    return kept.take(np.flatnonzero(~differs)), kept.take(np.flatnonzero(differs)), gone


def _appeared(
    recording: Recording,
    after: InMemory,
    sid: str,
    span: ReplayedSpan,
    period: tuple[int, int] | None,
) -> Keys:
    replayed_keys = after.whole(sid)
    _, there = matched(replayed_keys, span.keys(recording, sid))
    fresh = ~there & (replayed_keys.t <= span.until)
    if period is not None:
        fresh &= replayed_keys.t >= period[0]
    return replayed_keys.take(np.flatnonzero(fresh))


def _not_deterministic(
    graph: Graph, recording: Recording, replayed: InMemory, other: Recording, span: ReplayedSpan
) -> tuple[str, ...]:
    """Return the streams that differ between runs or from the recording, with equal inputs."""
    differing: set[str] = set()
    causes = []
    for sid, node in graph.nodes.items():
        if node.twin is not None or node.operator is None or span.first_trigger(sid) == INFINITE:
            continue
        differs = any(
            _differs(replayed, each, sid, span, content)
            for each, content in ((recording, False), (other, True))
        )
        if differs:
            differing.add(sid)
            if not differing.intersection(node.inputs):
                causes.append(sid)
    return tuple(causes)


def _differs(
    replayed: InMemory, other: Recording, sid: str, span: ReplayedSpan, content: bool
) -> bool:
    # Events with a trigger in the span got all of their inputs.
    keys, other_keys = span.replayed(replayed, sid), span.replayed(other, sid)
    pairs: Iterable[tuple[Any, Any]] = (
        (keys.t, other_keys.t),
        (keys.n, other_keys.n),
        (keys.d, other_keys.d),
    )
    if len(keys) != len(other_keys) or not all(bool((a == b).all()) for a, b in pairs):
        return True
    if not content or not len(keys):
        return False
    return bool(differing_content(replayed, keys, other, other_keys, sid).any())
