"""Properties that travel with events (thesis, chapter 5): known as soon as a result is.

An operator that buffers events for its windows also buffers their properties, separately for each
consumer, and releases both by the watermark.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.keys import Keys
from lipstick.systems.streams.operators.base import Fired, Parents
from semiring.base import Array
from semiring.support.door import checked

WINDOWS = ("time_window", "length_window")
JOINS = ("time_join", "length_join")


@dataclass(frozen=True, slots=True, eq=False)
class PropertyStep:
    """Outputs whose properties are to be computed.

    Parameters
    ----------
    sid, kind
        The stream, and the kind of operator that made it (``source`` for a source).
    keys
        Of the outputs.
    fired
        The fired outputs with their parents; None for a source.
    content
        Of the outputs of a source, else None.
    codes
        The values of keys.
    """

    sid: str
    kind: str
    keys: Keys
    codes: KeyCodes
    fired: Fired | None = None
    content: pa.Table | None = None

    @property
    def parents(self) -> Sequence[Parents]:
        """The parents of the outputs, for each input with any."""
        if self.fired is None:
            return ()
        return [
            each
            for each in self.fired.parents
            if each.aligned or bool((each.low < each.high).any())
        ]


@checked
class Property(ABC):
    """A property of events that combines the values of their ancestors."""

    name: str

    @abstractmethod
    def source(self, step: PropertyStep) -> Array:
        """Return the values of events of a source."""

    @abstractmethod
    def combine(self, step: PropertyStep) -> Array:
        """Return the values of outputs, from the values of their parents."""

    def of(self, step: PropertyStep) -> Array:
        """Return the values of the events of a step."""
        return self.source(step) if step.fired is None else self.combine(step)


def reduced(function: np.ufunc, start: int, parents: Parents, name: str) -> Array:
    """Return a reduction of the values in each output's range; `start` for empty ranges.

    Arrays of two dimensions are reduced along the first.
    """
    values = parents.properties[name]
    if parents.aligned:
        return values
    if bool((parents.high - parents.low == 1).all()):
        taken: Array = values[parents.low]
        return taken
    if function is np.add and values.dtype == np.int64 and not start:
        # Differences are exact also where the running total wraps around.
        none = np.zeros((1, *values.shape[1:]), dtype=np.int64)
        totals = np.concatenate((none, np.cumsum(values, axis=0)))
        sums: Array = totals[parents.high] - totals[parents.low]
        return sums
    shape = (len(parents.low), *values.shape[1:])
    result: Array = np.full(shape, start, dtype=values.dtype)
    there = np.flatnonzero(parents.low < parents.high)
    if len(there):
        bounds = np.empty(2 * len(there), dtype=np.int64)
        bounds[0::2], bounds[1::2] = parents.low[there], parents.high[there]
        padded = np.concatenate((values, values[:1]))
        result[there] = function.reduceat(padded, bounds, axis=0)[::2]
    return result


@checked
@dataclass(frozen=True, slots=True)
class TotalDelay(Property):
    """The ticks spent on an event: its own delay and the delays of its ancestors.

    For a join, the greatest delay of the ancestors counts, else their sum (thesis, section 5.4).
    """

    name: str = "total_delay"

    def source(self, step: PropertyStep) -> Array:
        return step.keys.d.copy()

    def combine(self, step: PropertyStep) -> Array:
        joined = step.kind in JOINS
        function = np.maximum if joined else np.add
        parts = [reduced(function, 0, parents, self.name) for parents in step.parents]
        return functools.reduce(function, parts) + step.keys.d


@checked
@dataclass(frozen=True, slots=True)
class Count(Property):
    """The number of derivations of an event from source events: one used twice counts twice."""

    name: str = "count"

    def source(self, step: PropertyStep) -> Array:
        return np.ones(len(step.keys), dtype=np.int64)

    def combine(self, step: PropertyStep) -> Array:
        parts = [reduced(np.add, 0, parents, self.name) for parents in step.parents]
        return functools.reduce(np.add, parts)


@checked
class _Names(Property):
    """Sets of stream names, a bit for each."""

    def __init__(self, name: str, streams: Sequence[str]) -> None:
        self.name = name
        self.streams = tuple(streams)
        self._words = (len(self.streams) + 63) // 64

    def _of_stream(self, step: PropertyStep) -> Array:
        bits = np.zeros((len(step.keys), self._words), dtype=np.uint64)
        if step.sid in self.streams:
            word, bit = divmod(self.streams.index(step.sid), 64)
            bits[:, word] = np.uint64(1) << np.uint64(bit)
        return bits

    def source(self, step: PropertyStep) -> Array:
        return self._of_stream(step)

    def combine(self, step: PropertyStep) -> Array:
        result = self._of_stream(step)
        for parents in step.parents:
            result |= reduced(np.bitwise_or, 0, parents, self.name)
        return result

    def decode(self, values: Array) -> list[tuple[str, ...]]:
        """Return the names in each set, in the order of the graph."""
        bits = np.unpackbits(
            np.ascontiguousarray(values).view(np.uint8), axis=1, bitorder="little"
        ).astype(np.bool_)
        return [
            tuple(sid for sid, there in zip(self.streams, row, strict=False) if there)
            for row in bits
        ]


@checked
class ProcessingPath(_Names):
    """The streams that an event passed through, including its own.

    Parameters
    ----------
    streams
        The streams to include, such as ``graph.recorded``.
    """

    def __init__(self, streams: Sequence[str]) -> None:
        super().__init__("path", streams)


@checked
class SourceSet(_Names):
    """The sources of an event.

    Parameters
    ----------
    streams
        Such as ``graph.sources``.
    """

    def __init__(self, streams: Sequence[str]) -> None:
        super().__init__("sources", streams)


@checked
@dataclass(frozen=True, slots=True)
class Custom(Property):
    """A property by a user's functions, one event at a time.

    Parameters
    ----------
    name
        Of the property.
    first
        Maps the stream, time and content (a dictionary) of a source event to its value.
    fold
        Maps the stream and delay of an output, and the values of its ancestors by time, the first
        input's before the second's, to its value.
    """

    name: str
    first: Callable[[str, int, dict[str, Any]], Any]
    fold: Callable[[str, int, list[Any]], Any]

    def source(self, step: PropertyStep) -> Array:
        assert step.content is not None
        rows = step.content.to_pylist()
        times = step.keys.t.tolist()
        return _objects([self.first(step.sid, t, row) for t, row in zip(times, rows, strict=True)])

    def combine(self, step: PropertyStep) -> Array:
        folded = []
        values = [parents.properties[self.name].tolist() for parents in step.parents]
        ranges = [(p.low.tolist(), p.high.tolist()) for p in step.parents]
        for i, d in enumerate(step.keys.d.tolist()):
            parts: list[Any] = []
            for items, (low, high) in zip(values, ranges, strict=True):
                parts += items[low[i] : high[i]]
            folded.append(self.fold(step.sid, d, parts))
        return _objects(folded)


@checked
def coverage(column: str, name: str = "coverage") -> Custom:
    """Return the distinct values of a column of the source events, in order, such as a covered
    area.
    """

    def first(sid: str, t: int, row: dict[str, Any]) -> tuple[Any, ...]:
        if column not in row:
            raise StreamError(f"Source {sid} has no column {column!r}, but {', '.join(row)}.")
        return (row[column],)

    def fold(sid: str, d: int, values: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        return tuple(sorted({item for value in values for item in value}))

    return Custom(name, first, fold)


def _objects(values: list[Any]) -> Array:
    packed: Array = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        packed[index] = value
    return packed
