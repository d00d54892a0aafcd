"""Which executions and messages count already: an index that grows without being written anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction.hashing import hashed, mixed
from semiring.base import Array

SINGLE = -1
"""The attempt of senders that never try again: their messages count at once."""
WHOLE = -1
"""The message number of an attempt as a whole."""


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
    name
        Where it is stored, if it is.
    """

    hashes: Array
    execs: pa.Array
    seq: Array
    attempt: Array
    messages: Array
    time: Array
    name: str | None = None

    def __len__(self) -> int:
        return len(self.hashes)

    def take(self, which: Array) -> Run:
        """The rows at some places, in ascending order, or where a Boolean array says so."""
        chosen = np.flatnonzero(which) if which.dtype == np.bool_ else which
        arrays = (self.seq, self.attempt, self.messages, self.time)
        seq, attempt, messages, time = (array[chosen] for array in arrays)
        execs = self.execs.take(pa.array(chosen))
        return Run(self.hashes[chosen], execs, seq, attempt, messages, time)

    def table(self) -> pa.Table:
        """The run as a table."""
        names = [each.name for each in fields(self) if each.name != "name"]
        return pa.table({name: getattr(self, name) for name in names})

    @classmethod
    def of_table(cls, table: pa.Table, name: str | None = None) -> Run:
        """The run that a table has, without copying it if it is of one piece."""
        columns = {each: table.column(each).combine_chunks() for each in table.column_names}
        execs = columns.pop("execs")
        return cls(
            execs=execs, name=name, **{each: column.to_numpy() for each, column in columns.items()}
        )


class Done:
    """Runs, each at least twice as long as the next, so that there are O(log executions).

    Identifiers are compared where hashes are equal, so that two of one hash stay two.
    """

    def __init__(self, runs: Sequence[Run] = ()) -> None:
        self.runs = list(runs)

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    def add(
        self, execs: pa.Array, seq: Array, attempt: Array, messages: Array, time: Array
    ) -> None:
        """Enter what is not there; see `Run`."""
        if not len(execs):
            return
        hashes = _hashes(execs, seq)
        order = np.argsort(hashes, kind="stable")
        self.runs.append(Run(hashes, execs, seq, attempt, messages, time).take(order))
        while len(self.runs) > 1 and len(self.runs[-2]) < 2 * len(self.runs[-1]):
            last, before = self.runs.pop(), self.runs.pop()
            self.runs.append(_merged(before, last))

    def find(self, execs: pa.Array, seq: Array) -> tuple[Array, Array]:
        """The attempt that counts, and how many messages it has, for every execution and message.

        Both are int64 arrays; of what is not there the number of messages is -1.
        """
        attempt = np.full(len(execs), SINGLE, dtype=np.int64)
        messages = np.full(len(execs), -1, dtype=np.int64)
        if not len(execs) or not self.runs:
            return attempt, messages
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
                waiting = waiting[~hit]
                at[waiting] += 1
        return attempt, messages

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
    arrays = [
        np.concatenate([getattr(first, name), getattr(second, name)])
        for name in ("hashes", "seq", "attempt", "messages", "time")
    ]
    execs = pa.concat_arrays([first.execs, second.execs])
    hashes, seq, attempt, messages, time = arrays
    order = np.argsort(hashes, kind="stable")
    return Run(hashes, execs, seq, attempt, messages, time).take(order)


def _hashes(execs: pa.Array, seq: Array) -> Array:
    return mixed(hashed(execs) + seq.astype(np.uint64))
