"""Deduplication of messages and selection of the attempt that counts.

Messages are redelivered, and tasks are retried or run twice at the same time. The messages of an
attempt are held until its end and all messages before it have arrived; then it counts, and other
attempts of the execution do not. Everything is computed on arrays: no loop over messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction.hashing import hashed, mixed
from lipstick.systems.events.message import EDGES, END, SCHEMA, SEALED
from semiring.base import Array

SINGLE = -1
"""The attempt of senders that never retry: their messages count at once."""
WHOLE = -1
"""The message number of an attempt as a whole."""


_ARRAYS = ("hashes", "seq", "attempt", "messages", "time", "content")


@dataclass(frozen=True, slots=True)
class FinishedAttempts:
    """Finished executions and messages, in the order of their hashes.

    Parameters
    ----------
    hashes
        uint64, ascending: of execution and message.
    execs
        Identifiers of executions.
    seq
        int64: the number of a message that counts by itself; `WHOLE` for an attempt.
    attempt
        int64: the attempt that counts; `SINGLE` for messages by themselves.
    messages
        int64: the number of messages of an attempt.
    time
        int64: the end, in microseconds since 1970.
    content
        uint64: a digest of the edges of a message; 0 without edges.
    name
        The file in which it is stored, if any.
    """

    hashes: Array
    execs: pa.Array
    seq: Array
    attempt: Array
    messages: Array
    time: Array
    content: Array
    name: str | None = None

    def __len__(self) -> int:
        return len(self.hashes)

    def take(self, which: Array) -> FinishedAttempts:
        """Return the rows at some ascending places, or where a Boolean array is True."""
        chosen = np.flatnonzero(which) if which.dtype == np.bool_ else which
        arrays: Any = {name: getattr(self, name)[chosen] for name in _ARRAYS}
        return FinishedAttempts(execs=self.execs.take(pa.array(chosen)), **arrays)

    def table(self) -> pa.Table:
        """Return the run as a table."""
        names = [each.name for each in fields(self) if each.name != "name"]
        return pa.table({name: getattr(self, name) for name in names})

    @classmethod
    def of_table(cls, table: pa.Table, name: str | None = None) -> FinishedAttempts:
        """Read a run from a table; zero-copy for single-chunk tables."""
        columns = {each: table.column(each).combine_chunks() for each in table.column_names}
        execs = columns.pop("execs")
        arrays = {each: column.to_numpy() for each, column in columns.items()}
        # A release before this one knew of no digests.
        arrays.setdefault("content", np.zeros(len(execs), dtype=np.uint64))
        return cls(execs=execs, name=name, **arrays)


class Done:
    """Runs of finished attempts, each at least twice as long as the next: O(log executions) of
    them.

    Identifiers are compared if hashes are equal, so that two with one hash stay distinct.
    """

    def __init__(self, runs: Sequence[FinishedAttempts] = ()) -> None:
        self.runs = list(runs)

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    def add(
        self,
        execs: pa.Array,
        seq: Array,
        attempt: Array,
        messages: Array,
        time: Array,
        content: Array | None = None,
    ) -> None:
        """Add missing entries; see `FinishedAttempts`."""
        if not len(execs):
            return
        hashes = _hashes(execs, seq)
        order = np.argsort(hashes, kind="stable")
        content = np.zeros(len(execs), dtype=np.uint64) if content is None else content
        self.runs.append(
            FinishedAttempts(hashes, execs, seq, attempt, messages, time, content).take(order)
        )
        while len(self.runs) > 1 and len(self.runs[-2]) < 2 * len(self.runs[-1]):
            last, before = self.runs.pop(), self.runs.pop()
            self.runs.append(_merged(before, last))

    def find(self, execs: pa.Array, seq: Array) -> tuple[Array, Array, Array]:
        """Return the entry of every execution and message; see `FinishedAttempts`.

        Returns
        -------
        attempt, messages
            int64: the attempt that counts, and its number of messages; -1 where there is no entry.
        content
            uint64: the digest of the message; 0 where there is none.
        """
        attempt = np.full(len(execs), SINGLE, dtype=np.int64)
        messages = np.full(len(execs), -1, dtype=np.int64)
        content = np.zeros(len(execs), dtype=np.uint64)
        if not len(execs) or not self.runs:
            return attempt, messages, content
        hashes = _hashes(execs, seq)
        for run in self.runs:
            at = np.searchsorted(run.hashes, hashes)
            waiting = np.flatnonzero(messages < 0)
            while len(waiting):
                inside = at[waiting] < len(run)
                waiting = waiting[inside]
                position = at[waiting]
                same = run.hashes[position] == hashes[waiting]
                waiting, position = waiting[same], position[same]
                if not len(waiting):
                    break
                names = run.execs.take(pa.array(position))
                equal = np.asarray(pc.equal(names, execs.take(pa.array(waiting))))
                hit = equal & (run.seq[position] == seq[waiting])
                attempt[waiting[hit]] = run.attempt[position[hit]]
                messages[waiting[hit]] = run.messages[position[hit]]
                content[waiting[hit]] = run.content[position[hit]]
                waiting = waiting[~hit]
                at[waiting] += 1
        return attempt, messages, content

    def forget(self, since: int) -> None:
        """Forget entries that finished before a time; a run is rebuilt if these are half of it."""
        kept = []
        for run in self.runs:
            stays = run.time >= since
            if 2 * int(stays.sum()) > len(run):
                kept.append(run)
            elif stays.any():
                kept.append(run.take(stays))
        self.runs = kept


def _merged(first: FinishedAttempts, second: FinishedAttempts) -> FinishedAttempts:
    arrays: Any = {
        name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in _ARRAYS
    }
    execs = pa.concat_arrays([first.execs, second.execs])
    order = np.argsort(arrays["hashes"], kind="stable")
    return FinishedAttempts(execs=execs, **arrays).take(order)


def _hashes(execs: pa.Array, seq: Array) -> Array:
    return mixed(hashed(execs) + seq.astype(np.uint64))


OVERLAP = 600_000_000
"""Ten minutes, in microseconds."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The outcome of taking in messages.

    Parameters
    ----------
    counting
        The messages that count now, each once.
    late
        The messages that would count, but come too late: the watermark has passed them or the end
        of their attempt, or they are beyond the number of messages that this end declared.
    repeated
        The number of messages dropped since they had come before.
    abandoned
        The number of messages dropped since another attempt counts.
    differing
        The repeated messages that had other edges when they came before.
    """

    counting: pa.Table
    late: pa.Table
    repeated: int
    abandoned: int
    differing: pa.Table


class Attempts:
    """The messages of one topic's executions: held until their attempt is complete, or counted.

    Parameters
    ----------
    held
        Messages of attempts that have not ended, or are incomplete.
    done
        The messages and attempts that count already; forgotten once the watermark has passed them
        by `overlap`.
    overlap
        In microseconds: how much later than the attempt of an execution that counts another may
        end. Later ones cannot be distinguished from new executions: they are the sender's mistake.
    """

    def __init__(
        self, held: pa.Table | None = None, done: Done | None = None, overlap: int = OVERLAP
    ) -> None:
        self._overlap = overlap
        self.held = SCHEMA.empty_table() if held is None else held
        self.done = Done() if done is None else done
        self._watermark: int | None = None

    def take(self, messages: pa.Table) -> Taken:
        """Take messages in, in any order."""
        is_sealed = pc.equal(messages.column("kind"), SEALED)
        sealed = messages.filter(is_sealed)
        new = messages if not len(sealed) else messages.filter(pc.invert(is_sealed))
        rows = pa.concat_tables([self.held, new]) if len(self.held) else new
        rows = rows.combine_chunks()
        if not len(rows):
            return Taken(sealed, rows, 0, 0, rows)
        columns = _Columns(rows)
        first = columns.first_of_each()
        fresh = first == np.arange(len(rows))
        known, limit, before = columns.known_in(self.done)
        over = (limit >= 0) & fresh
        same = known == columns.attempt
        behind = columns.is_edges & same & (known != SINGLE) & (columns.seq >= limit)
        repeated = len(rows) - int(fresh.sum()) + int((over & ~behind & same).sum())
        abandoned = int((over & ~behind & ~same).sum())
        differs = ~fresh & (columns.content != columns.content[first])
        differs |= over & ~behind & same & (before != 0) & (columns.content != before)
        left = fresh & ~over
        chosen, lost = columns.complete(left)
        self._remember(rows, chosen, columns)
        self.held = _where(rows, left & ~chosen & ~lost)
        late = over & behind
        if self._watermark is not None:
            late |= chosen & columns.ended_before(self._watermark, chosen)
        counting = _where(rows, chosen & ~late)
        if len(sealed):
            counting = pa.concat_tables([counting, sealed])
        return Taken(
            counting.combine_chunks(),
            _where(rows, late),
            repeated,
            abandoned + int(lost.sum()),
            _where(rows, differs),
        )

    def forget(self, watermark: int) -> None:
        """Forget entries that finished before a time; later messages of them are late."""
        self._watermark = watermark
        self.done.forget(watermark - self._overlap)

    def _remember(self, rows: pa.Table, chosen: Array, columns: _Columns) -> None:
        """Record every attempt that counts, and every message with edges."""
        which = chosen & ((columns.attempt == SINGLE) | columns.is_end | columns.is_edges)
        is_end = columns.is_end[which]
        self.done.add(
            _where(rows, which).column("exec").combine_chunks(),
            np.where(is_end, WHOLE, columns.place[which]),
            columns.attempt[which],
            np.where(is_end, columns.messages[which], 0),
            columns.time[which],
            columns.content[which],
        )


class _Columns:
    """Messages as arrays, with numbered executions."""

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows
        self._content: Array | None = None
        self.execs = rows.column("exec").combine_chunks().dictionary_encode()
        self.execution = self.execs.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        self.count = len(self.execs.dictionary)
        self.attempt = _filled(rows.column("attempt"), SINGLE)
        self.seq = _filled(rows.column("seq"), -1)
        self.time = _filled(rows.column("event_time"), -1)
        self.is_end = np.asarray(pc.equal(rows.column("kind"), END))
        self.is_edges = np.asarray(pc.equal(rows.column("kind"), EDGES))
        counts = rows.column("counts").combine_chunks()
        self.messages = _filled(pc.struct_field(counts, "messages"), 0)

    @property
    def place(self) -> Array:
        """int64: the number of every message; numbers within attempts are offset below `WHOLE`."""
        return np.where(self.attempt == SINGLE, self.seq, -2 - self.seq)

    @property
    def content(self) -> Array:
        """uint64: for every message an order-independent digest of its edges, or of an end's
        count.
        """
        if self._content is not None:
            return self._content
        edges = self._rows.column("edges").combine_chunks()
        triples = pc.list_flatten(edges)
        strings = pc.list_flatten(triples).cast(pa.large_string())
        offsets = np.frombuffer(strings.buffers()[1], dtype=np.int64)[strings.offset :]
        whole = offsets[: len(strings) + 1 : 3]
        digests = np.zeros(0, dtype=np.uint64)
        if len(triples):
            each = pa.LargeStringArray.from_buffers(
                len(triples), pa.py_buffer(whole.tobytes()), strings.buffers()[2]
            )
            # Where one end stops and the next begins counts as well.
            lengths = np.diff(offsets[: len(strings) + 1])[::3]
            digests = mixed(hashed(each) ^ mixed(lengths.astype(np.uint64)))
        counts = np.asarray(pc.fill_null(pc.list_value_length(edges), 0))
        owner = np.repeat(np.arange(len(edges)), counts)
        labels = self._rows.column("labels").combine_chunks()
        labelled = np.asarray(labels.is_valid())[owner]
        if labelled.any():
            bits = pc.list_flatten(labels).to_numpy(zero_copy_only=False).view(np.uint64)
            digests[labelled] = mixed(digests[labelled] + mixed(bits))
        content = mixed(np.where(self.is_end, self.messages, counts).astype(np.uint64))
        np.add.at(content, owner, digests)
        self._content = np.maximum(content, np.uint64(1))
        return self._content

    def first_of_each(self) -> Array:
        """int64: for every message the index of the first one with its key."""
        columns = (self.execution, self.attempt + 1, self.seq + 1, self.is_end.astype(np.int64))
        spans = [int(column.max()) + 1 for column in columns]
        if np.prod([float(span) for span in spans]) < 2.0**62:
            key = np.zeros(len(self.execution), dtype=np.int64)
            for column, span in zip(columns, spans, strict=True):
                key = key * span + column
            order = np.argsort(key, kind="stable")
            differs = key[order][1:] != key[order][:-1]
        else:
            order = np.lexsort(columns[::-1])
            several = [column[order][1:] != column[order][:-1] for column in columns]
            differs = np.logical_or.reduce(several)
        group = np.cumsum(np.concatenate([[True], differs])) - 1
        starts = order[np.concatenate([[True], differs])]
        first = np.empty(len(order), dtype=np.int64)
        first[order] = starts[group]
        return first

    def known_in(self, done: Done) -> tuple[Array, Array, Array]:
        """Return, for every message, the attempt that counts, its number of messages, and a digest.

        See `Done.find`.
        """
        size = len(self.execution)
        if not len(done):
            nothing = np.full(size, -1, dtype=np.int64)
            return nothing, nothing, np.zeros(size, dtype=np.uint64)
        names = self.execs.dictionary.take(pa.array(self.execution))
        single = self.attempt == SINGLE
        attempt, messages, content = done.find(names, np.where(single, self.seq, WHOLE))
        again = np.flatnonzero(~single & self.is_edges & (messages >= 0))
        if len(again):
            content[again] = done.find(names.take(pa.array(again)), self.place[again])[2]
        return attempt, messages, content

    def ended_before(self, watermark: int, chosen: Array) -> Array:
        """Return a Boolean array of the messages whose attempts, or they alone, ended before a
        time.
        """
        ended = np.full(self.count, -1, dtype=np.int64)
        ends = chosen & self.is_end
        ended[self.execution[ends]] = self.time[ends]
        over = np.where(self.attempt == SINGLE, self.time, ended[self.execution])
        before: Array = over < watermark
        return before

    def complete(self, left: Array) -> tuple[Array, Array]:
        """Return, as Boolean arrays, the messages that count now and the ones of superseded
        attempts.

        The first complete attempt of an execution counts.
        """
        attempts = int(self.attempt.max(initial=0)) + 2
        pair = self.execution * attempts + self.attempt + 1
        pairs, pair_of = np.unique(pair, return_inverse=True)
        due = np.full(len(pairs), -1, dtype=np.int64)
        ends = left & self.is_end
        due[pair_of[ends]] = self.messages[ends]
        counted = left & self.is_edges & (self.seq < due[pair_of])
        sent = np.bincount(pair_of[counted], minlength=len(pairs))
        whole = (due >= 0) & (sent >= due)
        winner = np.full(self.count, np.iinfo(np.int64).max, dtype=np.int64)
        np.minimum.at(winner, pairs[whole] // attempts, pairs[whole] % attempts)
        wins = winner[self.execution] == self.attempt + 1
        single = self.attempt == SINGLE
        chosen: Array = left & (wins | single)
        lost: Array = left & ~chosen & (winner[self.execution] < np.iinfo(np.int64).max)
        return chosen, lost


def _where(rows: pa.Table, which: Array) -> pa.Table:
    return rows if which.all() else rows.filter(pa.array(which)).combine_chunks()


def _filled(column: pa.Array | pa.ChunkedArray, missing: int) -> Array:
    values: Array = np.asarray(pc.fill_null(column, int(missing)))
    return values
