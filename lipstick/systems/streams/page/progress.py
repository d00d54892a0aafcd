"""The progress of a recorded stream: the counts and commit times of its last batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from graphquery.store.log import read_entry
from graphquery.store.streams import batches, parts

KEPT = 120
"""Batches that are looked back at, at most."""

RATED = 30
"""Batches that rates are means of, at most."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch, as its commit has it.

    Attributes
    ----------
    number
        Of the batch.
    time
        Of its commit, in seconds since 1970.
    rows, last
        By stream, how many events, and the time of the latest in ticks.
    """

    number: int
    time: float
    rows: Mapping[str, int]
    last: Mapping[str, int]


class Progress:
    """The last batches of a query, read from the log of its store as it grows.

    Parameters
    ----------
    root
        The folder of the store.
    query
        The name of the graph that was run.
    """

    def __init__(self, root: Path, query: str) -> None:
        self._root = root
        self._query = query
        self._version = 0
        self.batches: deque[Batch] = deque(maxlen=KEPT)

    def read(self, version: int) -> None:
        """Read the commits up to a version, from `KEPT` before it at the first time.

        Raises
        ------
        StoreDamagedError
            Where one is not what was written.
        """
        for number in range(max(self._version, version - KEPT) + 1, version + 1):
            commit, _ = read_entry(self._root, number)
            time = datetime.fromisoformat(commit.time).timestamp()
            for batch, document in batches(commit.records, self._query).items():
                if commit.operation == "append":
                    self._add(batch, time, document)
        self._version = version

    def _add(self, number: int, time: float, document: Any) -> None:
        rows: dict[str, int] = {}
        last: dict[str, int] = {}
        for part in parts(document, f"Batch {number} of {self._query}"):
            rows[part.stream] = rows.get(part.stream, 0) + part.rows
            last[part.stream] = max(last.get(part.stream, part.last_t), part.last_t)
        self.batches.append(Batch(number, time, rows, last))

    def rate(self, stream: str) -> float | None:
        """Events of a stream a second, over the last batches; None where there is no time."""
        recent = list(self.batches)[-RATED:]
        if len(recent) < 2 or recent[-1].time <= recent[0].time:
            return None
        # What the first of them had came before its commit.
        count = sum(batch.rows.get(stream, 0) for batch in recent[1:])
        return count / (recent[-1].time - recent[0].time)
