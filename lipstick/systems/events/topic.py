"""The reduction of one topic in one process, from messages to final edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction import Final, Reducer, Report
from graphquery.reduction.reducer import BATCH
from lipstick.systems.events.attempts import OVERLAP, Attempts
from lipstick.systems.events.mending import edges_in, mend
from lipstick.systems.events.message import SEALED
from lipstick.systems.events.partials import partial_of
from lipstick.systems.events.watermark import Watermark
from semiring.base import Array, Semiring


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
        """Return True if nothing was lost.

        Nothing was refused, edges were as declared and on no cycle, and all late ones repaired.
        """
        return self.report.exact and self.late == self.repaired and not self.refused


class TopicReducer:
    """Takes messages of one topic in any order, each any number of times, and reduces them.

    Parameters
    ----------
    semiring, hubs, batch
        As for `graphquery.reduction.Reducer`.
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
        semiring: Semiring[Any] | None = None,
        *,
        hubs: bool = True,
        batch: int = BATCH,
        watermark: Watermark | None = None,
        overlap: int = OVERLAP,
        raw: Callable[[], pa.Table] | None = None,
        stored: Callable[[pa.Array], Array] | None = None,
    ) -> None:
        self._semiring = semiring
        self._reducer = Reducer(semiring, hubs=hubs, batch=batch, break_cycles=True)
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
        """Messages that came again with other edges."""
        self.late: list[pa.Table] = []
        """Late messages that were not repaired."""

    def add(self, messages: pa.Table) -> pa.Table:
        """Take checked messages of the topic in.

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
            part = partial_of(counting, self._semiring)
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
        """Say that nothing more is to come, whether or not the topic was sealed."""
        if not self._sealed:
            self._sealed = True
            self._reducer.seal()
        if self._late_after_seal:
            late, self._late_after_seal = pa.concat_tables(self._late_after_seal), []
            self._mend(late, late.slice(0, 0))

    def take_final(self) -> list[Final]:
        """Take out the final edges that there are."""
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
        """Close everything when the topic is sealed, and as many edges came as its seal declares.

        A seal without totals does not count messages on their way in other partitions or files:
        everything is closed at the end of the stream then (`close`).
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
        """Repair late messages now, or, where the topic is sealed, all of them at the end."""
        late = edges_in(late)
        if self._raw is None:
            self._late += len(late)
            self.late.append(late)
        elif self._sealed:
            self._late_after_seal.append(late)
        else:
            self._mend(late, counting)

    def _mend(self, late: pa.Table, counting: pa.Table) -> None:
        """Repair messages that came with others that count."""
        assert self._raw is not None
        raw = pa.concat_tables([self._raw(), counting])
        still_open = None if self._sealed else self._reducer.state.keys
        mended = mend(late, raw, still_open, self._stored, self._semiring)
        self._repeated += mended.repeated
        self._abandoned += mended.abandoned
        self._late += len(mended.late)
        self._repaired += len(mended.late)
        if mended.cyclic:
            report = self._reducer.report
            self._reducer.report = replace(report, cyclic=report.cyclic + 1)
        if mended.added is not None:
            self._reducer.mend(mended.added)
