"""Ancestors of all events of a stream as one job: range look-ups by the workers, block by block."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

import graphquery
import lipstick.systems.errors
import lipstick.systems.streams
import semiring
from graphquery.store.snapshot import read_rows
from lipstick.engines.spark.workers import check_workers
from lipstick.systems.streams.ancestors import EventRanges, Visited, walk_back
from lipstick.systems.streams.batch import Batch
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.keys import Keys, concat_keys
from lipstick.systems.streams.layout import column_names, keys_of
from lipstick.systems.streams.recording import Parts, Recording, no_content
from lipstick.systems.streams.source import Disorder
from lipstick.systems.streams.stored import Stored
from semiring.base import Array
from semiring.support.door import checked

for _module in (
    semiring,
    graphquery,
    lipstick.systems.errors,
    lipstick.systems.streams,
    sys.modules[__name__],
):
    cloudpickle.register_pickle_by_value(_module)  # type: ignore[no-untyped-call]

SCHEMA = "key string, n bigint, stream string, first_n bigint, last_n bigint"
_SCHEMA = pa.schema(
    {
        "key": pa.string(),
        "n": pa.int64(),
        "stream": pa.string(),
        "first_n": pa.int64(),
        "last_n": pa.int64(),
    }
)
BLOCKS = 8
"""Number of blocks of results that a worker traces back at once."""
TASKS = 1_000
"""Limit on the tasks of a job."""


@checked
def ancestors_frame(
    spark: SparkSession, recording: Stored, sid: str, within: Iterable[str] | None = None
) -> DataFrame:
    """Return the ancestors of every event of a stream, as a frame that workers compute.

    Parameters
    ----------
    recording
        A recording in a store that all workers reach.
    sid
        The stream.
    within
        The streams to search, as for `lipstick.systems.streams.ancestors`.

    Returns
    -------
    pyspark.sql.DataFrame
        For each event (`key` as text, and `n`) the closed ranges of numbers `first_n` to `last_n`
        of its ancestors in a `stream`; these have its key, if that stream has a key. Ranges of one
        event in one stream do not overlap.

    Raises
    ------
    StreamError
        When there is no such stream.
    LipstickError
        When Spark's workers cannot run functions of this process.

    Notes
    -----
    No shuffle: each task reads blocks of keys of the stream, and the blocks that they look back at.
    """
    graph = recording.graph
    scope = list(within or graph.sources)
    for name in scope:
        graph.node(name)
    check_workers(spark)
    sid = graph.original(sid)
    files = {
        name: [
            _File(path, part.offset, part.d, recording.first_code(part))
            for path, part in recording.placed(name)
        ]
        for name in _above(graph, sid)
    }
    parts = {name: recording.parts(name) for name in files}
    work = _Work(graph, recording.codes, parts, files, sid, scope)
    count = len(recording.parts(sid))
    tasks = max(1, min(-(-count // BLOCKS), TASKS))
    return spark.range(0, count, 1, tasks).mapInArrow(work, SCHEMA)


def _above(graph: Graph, sid: str) -> list[str]:
    """Return a stream and all of its ancestor streams."""
    names = {sid}
    for name in reversed(list(graph.nodes)):
        if name in names:
            names.update(graph.nodes[name].inputs)
    return sorted(names)


@dataclass(frozen=True, slots=True)
class _File:
    """The layout of the keys of a part in its file."""

    path: Path
    offset: int
    d: int | None
    codes: int


class _Files(Recording):
    """The keys of some streams, read from the files of a store."""

    def __init__(
        self,
        graph: Graph,
        codes: KeyCodes,
        parts: Mapping[str, Parts],
        files: Mapping[str, Sequence[_File]],
    ) -> None:
        self.graph = graph
        self.codes = codes
        self._parts = parts
        self._files = files

    def parts(self, sid: str) -> Parts:
        return self._parts[sid]

    def load(self, sid: str, parts: Array) -> Keys:
        keyed = self.graph.node(sid).keyed
        if not len(parts):
            return Keys.empty(keyed)
        return concat_keys([self._keys(sid, number, keyed) for number in parts.tolist()])[0]

    def load_content(self, sid: str, parts: Array) -> Batch:
        raise no_content(sid)

    def has_content(self, sid: str) -> bool:
        return False

    def disorder(self) -> Mapping[str, Disorder]:
        return {}

    def _keys(self, sid: str, number: int, keyed: bool) -> Keys:
        file, parts = self._files[sid][number], self._parts[sid]
        count = int(parts.rows[number])
        table = read_rows(file.path, column_names(keyed, file.d), file.offset, count)
        first_t, first_n = int(parts.first_t[number]), int(parts.first_n[number])
        return keys_of(table, first_t, first_n, file.d, file.codes)


@dataclass(frozen=True, slots=True)
class _Work:
    """A function for ``mapInArrow`` from block numbers to ranges of ancestors."""

    graph: Graph
    codes: KeyCodes
    parts: Mapping[str, Parts]
    files: Mapping[str, Sequence[_File]]
    sid: str
    within: Sequence[str]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        recording = _Files(self.graph, self.codes, self.parts, self.files)
        for batch in batches:
            numbers = batch.column(0).to_numpy()
            for first in range(0, len(numbers), BLOCKS):
                keys = recording.load(self.sid, numbers[first : first + BLOCKS])
                ranges_asked = EventRanges.of(keys, np.arange(len(keys), dtype=np.int64))
                _, visited = walk_back(recording, self.sid, ranges_asked, self.within)
                for stream, here in visited.items():
                    yield from self._table(keys, stream, here).to_batches()

    def _table(self, keys: Keys, stream: str, visited: Visited) -> pa.Table:
        owner = visited.owner
        values = pa.nulls(len(owner), pa.string())
        if keys.code is not None and len(owner):
            values = self.codes.decode(keys.code[owner]).cast(pa.string())
        columns = [
            values,
            pa.array(keys.n[owner]),
            pa.array([stream]).take(pa.array(np.zeros(len(owner), dtype=np.int64))),
            pa.array(visited.keys.n[visited.low]),
            pa.array(visited.keys.n[visited.high - 1]),
        ]
        return pa.Table.from_arrays(columns, schema=_SCHEMA)
