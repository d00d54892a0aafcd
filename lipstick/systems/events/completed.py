"""An index of the executions and messages that count, which grows without being written anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction.hashing import hashed, mixed
from semiring.base import Array

SINGLE = -1
"""The attempt of senders that never try again: their messages count at once."""
WHOLE = -1
"""The message number of an attempt as a whole."""


_ARRAYS = ("hashes", "seq", "attempt", "messages", "time", "content")


@dataclass(frozen=True, slots=True)
class Run:
    """Executions and messages that are over, in the order of their hashes.

    Parameters
    ----------
    hashes
        uint64, ascending: of execution and message.
    execs
        Identifiers of executions.
    seq
        int64: the number of a message that counts by itself; `WHOLE` for an attempt.
    attempt
        int64: which attempt counts; `SINGLE` for messages by themselves.
    messages
        int64: how many messages an attempt has.
    time
        int64: when it was over, in microseconds since 1970.
    content
        uint64: a digest of the edges of a message; 0 where there is none.
    name
        Where it is stored, if it is.
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

    def take(self, which: Array) -> Run:
        """Return the rows at some ascending places, or where a Boolean array is True."""
        chosen = np.flatnonzero(which) if which.dtype == np.bool_ else which
        arrays: Any = {name: getattr(self, name)[chosen] for name in _ARRAYS}
        return Run(execs=self.execs.take(pa.array(chosen)), **arrays)

    def table(self) -> pa.Table:
        """The run as a table."""
        names = [each.name for each in fields(self) if each.name != "name"]
        return pa.table({name: getattr(self, name) for name in names})

    @classmethod
    def of_table(cls, table: pa.Table, name: str | None = None) -> Run:
        """The run that a table has, without copying it if it is of one piece."""
        columns = {each: table.column(each).combine_chunks() for each in table.column_names}
        execs = columns.pop("execs")
        arrays = {each: column.to_numpy() for each, column in columns.items()}
        # A release before this one knew of no digests.
        arrays.setdefault("content", np.zeros(len(execs), dtype=np.uint64))
        return cls(execs=execs, name=name, **arrays)


class Done:
    """Runs, each at least twice as long as the next, so that there are O(log executions).

    Identifiers are compared where hashes are equal, so that two of one hash stay two.
    """

    def __init__(self, runs: Sequence[Run] = ()) -> None:
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
        """Enter what is not there; see `Run`."""
        if not len(execs):
            return
        hashes = _hashes(execs, seq)
        order = np.argsort(hashes, kind="stable")
        content = np.zeros(len(execs), dtype=np.uint64) if content is None else content
        self.runs.append(Run(hashes, execs, seq, attempt, messages, time, content).take(order))
        while len(self.runs) > 1 and len(self.runs[-2]) < 2 * len(self.runs[-1]):
            last, before = self.runs.pop(), self.runs.pop()
            self.runs.append(_merged(before, last))

    def find(self, execs: pa.Array, seq: Array) -> tuple[Array, Array, Array]:
        """Return the entry of every execution and message: see `Run`.

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
        """Forget what was over before a time; a run, when that is half of it."""
        kept = []
        for run in self.runs:
            stays = run.time >= since
            if 2 * int(stays.sum()) > len(run):
                kept.append(run)
            elif stays.any():
                kept.append(run.take(stays))
        self.runs = kept


def _merged(first: Run, second: Run) -> Run:
    arrays: Any = {
        name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in _ARRAYS
    }
    execs = pa.concat_arrays([first.execs, second.execs])
    order = np.argsort(arrays["hashes"], kind="stable")
    return Run(execs=execs, **arrays).take(order)


def _hashes(execs: pa.Array, seq: Array) -> Array:
    return mixed(hashed(execs) + seq.astype(np.uint64))
