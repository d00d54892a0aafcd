"""Messages taken once, and only of the attempt that counts.

Messages are delivered again, tasks are tried again and run twice at the same time. What an attempt
sent is held until its end and all messages before it have come; then it counts, and other attempts
of the execution do not. All of it is by arrays: no loop over messages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.events.message import EDGES, END, SCHEMA, SEALED
from semiring.base import Array

_DONE = pa.schema(
    [
        ("exec", pa.string()),
        ("attempt", pa.int64()),
        ("seq", pa.int64()),
        ("messages", pa.int64()),
        ("event_time", pa.int64()),
    ]
)
_SINGLE = -1
"""The attempt of senders that never try again: their messages count at once."""

OVERLAP = 600_000_000
"""Ten minutes, in microseconds."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of messages.

    Parameters
    ----------
    counting
        Those that count now, each once.
    late
        Those that would count, and come when what they belong to is over: the watermark has passed
        them, or the end of their attempt; or they are beyond the number that an end said.
    repeated
        How many were dropped since they had come before.
    abandoned
        How many were dropped since another attempt counts.
    """

    counting: pa.Table
    late: pa.Table
    repeated: int
    abandoned: int


class Attempts:
    """What has come of the executions of one topic.

    Parameters
    ----------
    held
        Messages of attempts that have not ended, or not arrived whole.
    done
        What counts already; forgotten once the watermark has passed it, by `overlap`.
    overlap
        In microseconds: how much later than the attempt of an execution that counts another may
        end. Later ones, which nothing tells from new executions, are the sender's mistake.
    """

    def __init__(
        self,
        held: pa.Table | None = None,
        done: pa.Table | None = None,
        overlap: int = OVERLAP,
    ) -> None:
        self._overlap = overlap
        self.held = SCHEMA.empty_table() if held is None else held
        self.done = _DONE.empty_table() if done is None else done
        self._watermark: int | None = None

    @property
    def open_attempts(self) -> int:
        """How many attempts are held."""
        both = self.held.select(["exec", "attempt"]).group_by(["exec", "attempt"]).aggregate([])
        return len(both)

    def take(self, messages: pa.Table) -> Taken:
        """Take messages in, in any order."""
        is_sealed = pc.equal(messages.column("kind"), SEALED)
        sealed = messages.filter(is_sealed)
        new = messages.filter(pc.invert(is_sealed))
        rows = pa.concat_tables([self.held, new]).combine_chunks()
        if not len(rows):
            return Taken(sealed, rows, 0, 0)
        columns = _Columns(rows, self.done)
        fresh = columns.first_of_each()
        repeated = len(rows) - int(fresh.sum())
        known = columns.places_in_done()
        over = (known >= 0) & fresh
        behind = columns.beyond(known, self.done)
        repeated += int((over & ~behind & columns.same_attempt(known, self.done)).sum())
        abandoned = int((over & ~behind & ~columns.same_attempt(known, self.done)).sum())
        left = fresh & ~over
        chosen, lost = columns.complete(left)
        self._remember(rows, chosen, columns)
        self.held = rows.filter(pa.array(left & ~chosen & ~lost))
        late = over & behind
        if self._watermark is not None:
            late |= chosen & columns.ended_before(self._watermark, chosen)
        counting = pa.concat_tables([rows.filter(pa.array(chosen & ~late)), sealed])
        return Taken(
            counting.combine_chunks(),
            rows.filter(pa.array(late)),
            repeated,
            abandoned + int(lost.sum()),
        )

    def forget(self, watermark: int) -> None:
        """Forget what was over before a time; what comes of it later is late."""
        self._watermark = watermark
        since = watermark - self._overlap
        self.done = self.done.filter(pc.greater_equal(self.done.column("event_time"), since))

    def _remember(self, rows: pa.Table, chosen: Array, columns: _Columns) -> None:
        """Keep one row for every execution that counts, and one for every message without end."""
        single = chosen & (columns.attempt == _SINGLE)
        ended = chosen & columns.is_end
        for where, beyond in ((single, False), (ended, True)):
            found = rows.filter(pa.array(where))
            nothing = pa.nulls(len(found), pa.int64())
            added = pa.table(
                {
                    "exec": found.column("exec"),
                    "attempt": pa.array(columns.attempt[where]),
                    "seq": nothing if beyond else found.column("seq"),
                    "messages": pa.array(columns.messages[where]) if beyond else nothing,
                    "event_time": found.column("event_time"),
                },
                schema=_DONE,
            )
            self.done = pa.concat_tables([self.done, added]).combine_chunks()


class _Columns:
    """Messages as arrays: executions numbered with those that are done."""

    def __init__(self, rows: pa.Table, done: pa.Table) -> None:
        executions = pa.chunked_array(
            [*done.column("exec").chunks, *rows.column("exec").chunks], pa.string()
        )
        numbers = executions.dictionary_encode().combine_chunks().indices
        numbered = numbers.to_numpy(zero_copy_only=False).astype(np.int64)
        self.done, self.execution = numbered[: len(done)], numbered[len(done) :]
        self.count = int(numbered.max(initial=-1)) + 1
        self.attempt = _filled(rows.column("attempt"), _SINGLE)
        self.seq = _filled(rows.column("seq"), -1)
        self.time = _filled(rows.column("event_time"), -1)
        self.is_end = np.asarray(pc.equal(rows.column("kind"), END))
        self.is_edges = np.asarray(pc.equal(rows.column("kind"), EDGES))
        counts = rows.column("counts").combine_chunks()
        self.messages = _filled(pc.struct_field(counts, "messages"), 0)
        self._done_attempt = _filled(done.column("attempt"), _SINGLE)
        self._done_seq = _filled(done.column("seq"), -1)

    def first_of_each(self) -> Array:
        """Boolean array: the first message of every key."""
        order = np.lexsort((self.is_end, self.seq, self.attempt, self.execution))
        columns = (self.is_end, self.seq, self.attempt, self.execution)
        first = np.ones(len(order), dtype=np.bool_)
        if len(order) > 1:
            same = [column[order][1:] == column[order][:-1] for column in columns]
            first[1:] = ~np.logical_and.reduce(same)
        fresh = np.zeros(len(order), dtype=np.bool_)
        fresh[order[first]] = True
        return fresh

    def places_in_done(self) -> Array:
        """Where each message is among what is done; -1 where it is not."""
        place = np.full(self.count, -1, dtype=np.int64)
        ended = self._done_attempt != _SINGLE
        place[self.done[ended]] = np.flatnonzero(ended)
        found = np.where(self.attempt == _SINGLE, -1, place[self.execution])
        singles = np.flatnonzero(~ended)
        if len(singles):
            own = self.attempt == _SINGLE
            span = int(max(self.seq.max(initial=0), self._done_seq.max(initial=0))) + 2
            keys = self.done[singles] * span + self._done_seq[singles]
            order = np.argsort(keys)
            asked = self.execution[own] * span + self.seq[own]
            at = np.minimum(np.searchsorted(keys[order], asked), len(keys) - 1)
            hit = keys[order][at] == asked
            found[own] = np.where(hit, singles[order][at], -1)
        return found

    def same_attempt(self, known: Array, done: pa.Table) -> Array:
        """Boolean array: messages of the attempt that counts."""
        same: Array = self._done_attempt[known] == self.attempt if len(done) else known >= 0
        return same

    def beyond(self, known: Array, done: pa.Table) -> Array:
        """Boolean array: messages past the number that their attempt's end said."""
        if not len(done):
            return np.zeros(len(known), dtype=np.bool_)
        limit = _filled(done.column("messages"), np.iinfo(np.int64).max)[known]
        past: Array = self.is_edges & (self.seq >= limit) & self.same_attempt(known, done)
        return past

    def ended_before(self, watermark: int, chosen: Array) -> Array:
        """Boolean array: messages that are over before a time, as their attempts are as a whole."""
        ended = np.full(self.count, -1, dtype=np.int64)
        ends = chosen & self.is_end
        ended[self.execution[ends]] = self.time[ends]
        over = np.where(self.attempt == _SINGLE, self.time, ended[self.execution])
        before: Array = over < watermark
        return before

    def complete(self, left: Array) -> tuple[Array, Array]:
        """The messages that count now, and those of attempts that lost.

        Of an execution's complete attempts the first counts.
        """
        attempts = int(self.attempt.max(initial=0)) + 2
        pair = self.execution * attempts + self.attempt + 1
        pairs, place = np.unique(pair, return_inverse=True)
        due = np.full(len(pairs), -1, dtype=np.int64)
        ends = left & self.is_end
        due[place[ends]] = self.messages[ends]
        counted = left & self.is_edges & (self.seq < due[place])
        sent = np.bincount(place[counted], minlength=len(pairs))
        whole = (due >= 0) & (sent >= due)
        winner = np.full(self.count, np.iinfo(np.int64).max, dtype=np.int64)
        np.minimum.at(winner, pairs[whole] // attempts, pairs[whole] % attempts)
        own = winner[self.execution] == self.attempt + 1
        single = self.attempt == _SINGLE
        chosen: Array = left & (own | single)
        lost: Array = left & ~chosen & (winner[self.execution] < np.iinfo(np.int64).max)
        return chosen, lost


def _filled(column: pa.Array | pa.ChunkedArray, missing: int) -> Array:
    values: Array = np.asarray(pc.fill_null(column, int(missing)))
    return values
