"""Events of questions and of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.keys import Keys, search
from semiring.arrays.segments import ascending
from semiring.base import Array
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.systems.streams.recording import Recording


@checked
@dataclass(frozen=True, slots=True)
class Events:
    """Events of a stream.

    Parameters
    ----------
    sid
        The stream.
    n
        A number, or several; None: all, or all in `t`.
    key
        Of a stream with a key, its value: one for all of `n`, or a list, one for each.
    t
        The times from and to, both closed, instead of numbers.
    """

    sid: str
    n: int | Sequence[int] | Array | None = None
    key: Any = None
    t: tuple[int, int] | None = None


def resolve(recording: Recording, events: Events) -> Keys:
    """Return the recorded keys of events, ascending.

    Raises
    ------
    StreamError
        When there is no such stream, or no event of a number.
    """
    sid = recording.graph.original(events.sid)
    keyed = recording.graph.node(sid).keyed
    if events.n is None:
        return _in_period(recording, sid, events)
    if keyed and events.key is None:
        raise StreamError(
            f"Stream {events.sid} has a key: each value has its own numbers.\n"
            "Name the value: key=..."
        )
    n = np.atleast_1d(np.asarray(events.n, dtype=np.int64))
    codes = _codes(recording, events, len(n)) if keyed else None
    parts = recording.parts(sid).within(n, n, codes, of="n")
    keys = recording.load(sid, parts)
    index = search(keys.code, keys.n, codes, n)
    there = index < len(keys)
    there[there] = keys.n[index[there]] == n[there]
    if codes is not None and keys.code is not None:
        there[there] &= keys.code[index[there]] == codes[there]
    if not bool(there.all()):
        raise StreamError(
            f"Stream {events.sid} has no event number {n[~there][0]}"
            + (f" of {events.key!r}" if keyed else "")
            + ".\nIts numbers start from 1; lipstick stream show prints how many there are."
        )
    return keys.take(ascending(index))


def _in_period(recording: Recording, sid: str, events: Events) -> Keys:
    parts = recording.parts(sid)
    if events.t is None:
        keys = recording.whole(sid)
        keep = np.ones(len(keys), dtype=np.bool_)
    else:
        low, high = events.t
        which = parts.within(np.array([low]), np.array([high]))
        keys = recording.load(sid, which)
        keep = (keys.t >= low) & (keys.t <= high)
    if events.key is not None and keys.code is not None:
        keep &= keys.code == _codes(recording, events, 1)[0]
    return keys if bool(keep.all()) else keys.take(np.flatnonzero(keep))


def _codes(recording: Recording, events: Events, count: int) -> Array:
    given = events.key if isinstance(events.key, list) else [events.key] * count
    codes = []
    for value in given:
        code = recording.codes.find(value)
        if code is None:
            raise StreamError(f"Stream {events.sid} has no events of key {value!r}.")
        codes.append(code)
    return np.array(codes, dtype=np.int64)


@checked
@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Events of some streams: the answer to a question.

    Parameters
    ----------
    recording
        The recording of the events.
    streams
        Their keys, by stream.
    notes
        Limitations of the answer, with reasons.
    """

    recording: Recording
    streams: Mapping[str, Keys]
    notes: tuple[str, ...] = ()

    def numbers(self, sid: str) -> list[Any]:
        """Return the sequence numbers of a stream's events; with a key, pairs of value and number.

        Raises
        ------
        StreamError
            When there is no such stream, or it was not looked in.
        """
        keys = self._keys(sid)
        if keys.code is None:
            return keys.n.tolist()  # type: ignore[no-any-return]
        values = self.recording.codes.decode(keys.code).to_pylist()
        return list(zip(values, keys.n.tolist(), strict=True))

    def content(self, sid: str) -> pa.Table:
        """Return the content of the events of a stream, if it was recorded.

        Raises as :meth:`numbers`.
        """
        return self.recording.content(sid, self._keys(sid))

    def _keys(self, sid: str) -> Keys:
        original = self.recording.graph.original(sid)
        keys = self.streams.get(sid, self.streams.get(original))
        if keys is None:
            scope = ", ".join(sorted(self.streams)) or "no stream"
            raise StreamError(
                f"This answer is of {scope}; {sid!r} was not asked about.\n"
                f"Ask for it: within=[{sid!r}] of ancestors and descendants; a replay compares the "
                "streams without consumers, or the streams of its events."
            )
        return keys

    def table(self) -> pa.Table:
        """Return all events as one table: stream, key (as text), n, t, d."""
        tables = [key_table(self.recording, sid, keys) for sid, keys in self.streams.items()]
        return pa.concat_tables(tables) if tables else _no_keys()

    def __len__(self) -> int:
        return sum(map(len, self.streams.values()))


def _no_keys() -> pa.Table:
    names = {"stream": pa.string(), "key": pa.string()}
    numbers = {name: pa.int64() for name in ("n", "t", "d")}
    return pa.schema(names | numbers).empty_table()


def key_table(recording: Recording, sid: str, keys: Keys) -> pa.Table:
    """Return keys as a table: stream, key (as text), n, t, d."""
    count = len(keys)
    values = pa.nulls(count, pa.string())
    if keys.code is not None and count:
        values = recording.codes.decode(keys.code).cast(pa.string())
    return pa.table(
        {
            "stream": pa.array([sid]).take(pa.array(np.zeros(count, dtype=np.int64))),
            "key": values,
            "n": keys.n,
            "t": keys.t,
            "d": keys.d,
        }
    )
