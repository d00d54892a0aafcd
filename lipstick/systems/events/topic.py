"""The reduction of one topic in one process, from messages to final edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction import Final, Partial, Reducer, ReductionCycleError, Report
from graphquery.reduction.late import repair
from lipstick.systems.events.attempts import OVERLAP, Attempts
from lipstick.systems.events.message import EDGES, SEALED
from lipstick.systems.events.partials import partial_of
from lipstick.systems.events.watermark import Watermark
from semiring.arrays.segments import mask_of
from semiring.base import Array, Semiring


@dataclass(frozen=True, slots=True)
class Mended:
    """The result of repairing late messages.

    Parameters
    ----------
    added
        Edges for the reducer; None if no messages are late.
    late
        The messages that are late, each once.
    repeated, abandoned
        The numbers of messages that had counted before, and of messages of superseded attempts.
    cyclic
        Whether the late ones closed a cycle.
    """

    added: Partial | None
    late: pa.Table
    repeated: int
    abandoned: int
    cyclic: bool = False


def mend(
    late: pa.Table,
    raw: pa.Table,
    still_open: pa.Array | None,
    stored: Callable[[pa.Array], Array] | None,
    semiring: Semiring[Any] | None,
) -> Mended:
    """Join late messages with the remaining graph; see `graphquery.reduction.late.repair`.

    Parameters
    ----------
    raw
        All messages that counted or were repaired.
    still_open
        Keys of open vertices; None once the topic is sealed.
    stored
        As for `TopicReducer`.
    """
    raw = edges_in(raw)
    late, repeated, abandoned = _unknown(edges_in(late), raw)
    late = _once(late)
    if not len(late):
        return Mended(None, late, repeated, abandoned)
    before = partial_of(raw, semiring)
    waiting = None
    if still_open is not None:
        # What is sent without attempts has no end that closes it: more of it may come.
        single = late.filter(late.column("attempt").is_null()).column("exec")
        new = single.filter(pc.invert(pc.is_in(single, before.keys)))
        waiting = pa.concat_arrays([still_open, new.combine_chunks()])
    after = _bare(partial_of(late, semiring))
    live = None
    if stored is not None:
        # An entity that was taken for an input or output stays one, and paths go on from it.
        keys = pa.concat_arrays([before.keys, after.keys])
        live = keys.filter(pa.array(stored(keys)))
    cyclic = False
    try:
        repaired = repair(before, after, live, waiting, semiring)
    except ReductionCycleError:
        cyclic = True
        repaired = repair(before, after, live, waiting, semiring, break_cycles=True)
    return Mended(repaired, late, repeated, abandoned, cyclic)


def _unknown(late: pa.Table, raw: pa.Table) -> tuple[pa.Table, int, int]:
    """Return the late messages that have not counted, and the numbers of repeated and abandoned
    ones.
    """
    told = pc.is_in(_keys(late), _keys(raw))
    attempted = raw.filter(raw.column("attempt").is_valid())
    other = pc.is_in(_keys(late, seq=False), _keys(attempted, seq=False))
    retried = pc.and_(pc.is_in(late.column("exec"), attempted.column("exec")), pc.invert(other))
    new = late.filter(pc.invert(pc.or_(told, retried))).combine_chunks()
    return new, int(pc.sum(told).as_py() or 0), int(pc.sum(retried).as_py() or 0)


def _once(late: pa.Table) -> pa.Table:
    """Return each message once, and of each execution only the first attempt that occurs."""
    if not len(late):
        return late
    codes = _codes(_keys(late))
    first = mask_of(np.unique(codes, return_index=True)[1], len(late))
    _, where, execution = np.unique(
        _codes(late.column("exec")), return_index=True, return_inverse=True
    )
    attempt = np.asarray(pc.fill_null(late.column("attempt"), -1))
    chosen = (attempt == -1) | (attempt == attempt[where][execution])
    return late.filter(pa.array(first & chosen)).combine_chunks()


def _codes(column: pa.ChunkedArray) -> Array:
    indices = column.combine_chunks().dictionary_encode().indices
    codes: Array = indices.to_numpy(zero_copy_only=False)
    return codes


def _keys(messages: pa.Table, *, seq: bool = True) -> pa.ChunkedArray:
    """Return execution, attempt and number of messages as one text each."""
    names = ["exec", "attempt", "seq"] if seq else ["exec", "attempt"]
    texts = [pc.fill_null(messages.column(name).cast(pa.string()), "") for name in names]
    return pc.binary_join_element_wise(*texts, "\n")


def edges_in(messages: pa.Table) -> pa.Table:
    """Return the messages with edges."""
    return messages.filter(pc.equal(messages.column("kind"), EDGES))


def _bare(partial: Partial) -> Partial:
    """Return a partial graph without functions, whose totals do not include late edges."""
    scope = np.full(len(partial.keys), -1, dtype=np.int64)
    return replace(partial, vertices=replace(partial.vertices, scope=scope), functions={})


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a topic so far.

    Parameters
    ----------
    report
        Of the reducer.
    messages
        Messages that count.
    repeated, abandoned
        Messages dropped since they came again, and since another attempt counts.
    late, repaired
        Messages that came when what they belong to was over, and how many of these were repaired
        from raw edges. If some were not, pairs may be lacking.
    waiting
        Messages of attempts that have not ended.
    sealed
        Whether the topic is over.
    refused
        Lines of the whole input, of any topic, that could not be read.
    """

    report: Report
    messages: int
    repeated: int
    abandoned: int
    late: int
    repaired: int
    waiting: int
    sealed: bool
    refused: int = 0

    @property
    def exact(self) -> bool:
        """True if nothing was lost.

        Nothing was refused, edges were as declared and on no cycle, and all late ones were
        repaired.
        """
        return self.report.exact and self.late == self.repaired and not self.refused


class TopicReducer:
    """Takes messages of one topic in any order, possibly repeated, and reduces them.

    Parameters
    ----------
    reducer
        Breaks cycles.
    watermark
        By which executions are closed at their ends and what is over is forgotten; None: only
        declared numbers and seals close, and every execution is remembered.
    overlap
        See `Attempts`.
    raw
        Gives the messages that counted or were repaired before the ones being taken in, to repair
        late ones; once the topic is sealed, all that counted. None where they are not kept.
    stored
        Returns for keys a Boolean array, True for vertices of the reduced graph as it is stored.
    """

    def __init__(
        self,
        reducer: Reducer,
        *,
        watermark: Watermark | None = None,
        overlap: int = OVERLAP,
        raw: Callable[[], pa.Table] | None = None,
        stored: Callable[[pa.Array], Array] | None = None,
    ) -> None:
        self._reducer = reducer
        self._attempts = Attempts(overlap=overlap)
        self._watermark = watermark
        self._raw = raw
        self._stored = stored
        self._due: int | None = None
        self._edges = 0
        self._sealed = False
        self._messages = self._repeated = self._abandoned = 0
        self._late = self._repaired = 0
        self._late_after_seal: list[pa.Table] = []
        self.differing: list[pa.Table] = []
        """Repeated messages with different edges."""
        self.late: list[pa.Table] = []
        """Late messages that were not repaired."""

    def add(self, messages: pa.Table) -> pa.Table:
        """Take in checked messages of the topic.

        Returns
        -------
        pa.Table
            The messages that count now, each once over all calls: a raw log has to keep them.
        """
        taken = self._attempts.take(messages)
        self._repeated += taken.repeated
        self._abandoned += taken.abandoned
        if len(taken.differing):
            self.differing.append(taken.differing)
        counting, late = taken.counting, taken.late
        if self._sealed:
            late = pa.concat_tables([late, edges_in(counting)])
            counting = counting.slice(0, 0)
        self._messages += len(counting)
        if len(counting):
            part = partial_of(counting, self._reducer.semiring)
            self._edges += len(part.edges)
            self._reducer.add(part)
        if len(late):
            self._repair(late, counting)
        if self._watermark is not None:
            self._watermark.see(messages)
            time = self._watermark.time
            if time is not None:
                self._reducer.advance(time)
                self._attempts.forget(time)
        self._seal(counting)
        return counting

    def close(self) -> None:
        """End the input, whether or not the topic was sealed."""
        if not self._sealed:
            self._sealed = True
            self._reducer.seal()
        if self._late_after_seal:
            late, self._late_after_seal = pa.concat_tables(self._late_after_seal), []
            self._mend(late, late.slice(0, 0))

    def take_final(self) -> list[Final]:
        """Take out the final edges."""
        return self._reducer.take_final()

    @property
    def progress(self) -> Progress:
        """The progress of the topic so far."""
        return Progress(
            self._reducer.report,
            self._messages,
            self._repeated,
            self._abandoned,
            self._late,
            self._repaired,
            len(self._attempts.held),
            self._sealed,
        )

    def _seal(self, messages: pa.Table) -> None:
        """Close everything once the topic is sealed and as many edges arrived as its seal declares.

        A seal without totals does not cover messages in transit in other partitions or files: then
        everything is closed at the end of the stream (`close`).
        """
        seals = messages.filter(pc.equal(messages.column("kind"), SEALED))
        for row in seals.filter(seals.column("function").is_null()).to_pylist():
            counts = row["counts"] or {}
            used, generated = counts.get("used"), counts.get("generated")
            if used is not None and generated is not None:
                self._due = int(used + generated)
        if self._due is not None and not self._sealed and self._edges >= self._due:
            self.close()

    def _repair(self, late: pa.Table, counting: pa.Table) -> None:
        """Repair late messages now, or, if the topic is sealed, all of them at the end."""
        late = edges_in(late)
        if self._raw is None:
            self._late += len(late)
            self.late.append(late)
        elif self._sealed:
            self._late_after_seal.append(late)
        else:
            self._mend(late, counting)

    def _mend(self, late: pa.Table, counting: pa.Table) -> None:
        """Repair late messages that arrived together with ones that count."""
        assert self._raw is not None
        raw = pa.concat_tables([self._raw(), counting])
        still_open = None if self._sealed else self._reducer.state.keys
        mended = mend(late, raw, still_open, self._stored, self._reducer.semiring)
        self._repeated += mended.repeated
        self._abandoned += mended.abandoned
        self._late += len(mended.late)
        self._repaired += len(mended.late)
        if mended.cyclic:
            report = self._reducer.report
            self._reducer.report = replace(report, cyclic=report.cyclic + 1)
        if mended.added is not None:
            self._reducer.mend(mended.added)
