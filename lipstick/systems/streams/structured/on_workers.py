"""A worker's part of a micro-batch: the graph runs over some of the keys.

The code is sent to workers by value: they need numpy and pyarrow, but not this project.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.batch import Batch
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.delays import Delays
from lipstick.systems.streams.engine import Pushed, Runner
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.layout import blocks, key_columns, packed, unpacked
from lipstick.systems.streams.operator_state import StageState
from lipstick.systems.streams.properties import Property
from lipstick.systems.streams.structured.batch_rows import (
    ARRIVAL,
    PARTITION,
    by_source,
    result_table,
)
from semiring.arrays.segments import ascending

REPLY = "document string, results array<binary>"
"""The columns of the one row that a worker returns: JSON, and a table for each of `results`."""
_REPLY = pa.schema({"document": pa.string(), "results": pa.list_(pa.binary())})


class _Kept:
    """A recorder of one batch, and the state after it."""

    def __init__(self, number: int, state: Mapping[str, StageState]) -> None:
        self._before = number, state
        self.pushed: Pushed | None = None
        self.state: Mapping[str, StageState] = {}

    def begin(self, graph: Graph, codes: KeyCodes) -> tuple[int, Mapping[str, StageState]]:
        return self._before

    def write(self, pushed: Pushed, state: Callable[[], Mapping[str, StageState]]) -> None:
        self.pushed, self.state = pushed, state()


class _Files:
    """Parquet files being written into a folder, one per schema."""

    def __init__(self, folder: str, row_group: int) -> None:
        self._folder = folder
        self._row_group = row_group
        self._open: dict[tuple[str, str], tuple[str, pq.ParquetWriter, int]] = {}

    def path(self, stem: str) -> str:
        return f"{self._folder}/{stem}-{uuid.uuid4().hex}.parquet"

    def add(self, stem: str, table: pa.Table) -> tuple[str, int]:
        """Append a table, and return the path and its first row."""
        table = table.replace_schema_metadata(None)
        kind = (stem, table.schema.to_string())
        if kind not in self._open:
            path = self.path(stem)
            self._open[kind] = path, pq.ParquetWriter(path, table.schema, compression="zstd"), 0
        path, writer, rows = self._open[kind]
        writer.write_table(table, row_group_size=self._row_group)
        self._open[kind] = path, writer, rows + len(table)
        return path, rows

    def close(self) -> None:
        for _, writer, _ in self._open.values():
            writer.close()


@dataclass(frozen=True, slots=True)
class Work:
    """A function for ``mapInArrow`` that runs a batch over the keys of one partition.

    Parameters
    ----------
    graph, properties, delays
        As for a `Runner`.
    content
        The streams whose content is recorded.
    results
        The streams whose new events are returned.
    number
        Of the batch.
    final
        Whether this is the end of the input.
    folder
        The folder of written files, which all workers reach.
    states
        By partition, the file of the state before; empty at the beginning.
    frontiers
        Of the sources, over all partitions.
    now
        The time of arrival in ticks.
    block
        Events of a part.
    """

    graph: Graph
    properties: Sequence[Property]
    delays: Delays
    content: frozenset[str]
    results: Sequence[str]
    number: int
    final: bool
    folder: str
    states: Sequence[str]
    frontiers: Mapping[str, int]
    now: int
    block: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Run the batch of a partition, write the recorded data, and return its location."""
        given = list(batches)
        if not given:
            return
        table = pa.Table.from_batches(given)
        partitions = ascending(table.column(PARTITION).to_numpy())
        if len(partitions) != 1:
            raise StreamError(f"A task got rows of partitions {partitions.tolist()}, not of one.")
        try:
            document, results = self._run(int(partitions[0]), table)
        except StreamError as error:
            document, results = {"error": str(error)}, []
        reply = {"document": [json.dumps(document)], "results": [results]}
        yield pa.RecordBatch.from_pydict(reply, _REPLY)

    def _run(self, partition: int, table: pa.Table) -> tuple[dict[str, Any], list[bytes]]:
        table = table.sort_by(ARRIVAL)
        state = unpacked(pq.read_table(self.states[partition])) if self.states else {}
        kept = _Kept(self.number, state)
        runner = Runner(
            self.graph,
            delays=self.delays,
            properties=self.properties,
            recorders=[kept],
            clock=lambda: self.now,
        )
        runner.advance(self.frontiers)
        pushed = runner.push(by_source(table, self.graph.sources), final=self.final)
        files = _Files(self.folder, self.block)
        streams = [
            self._stream(files, sid, batch) for sid, batch in pushed.streams.items() if len(batch)
        ]
        files.close()
        path = files.path("state")
        pq.write_table(packed(kept.state), path, compression="zstd")
        document = {
            "partition": partition,
            "streams": streams,
            "state": path,
            "disorder": {sid: asdict(each) for sid, each in pushed.disorder.items() if each},
            "frontiers": runner.source_frontiers,
        }
        batches = [pushed.streams[self.graph.original(sid)] for sid in self.results]
        return document, [_as_bytes(result_table(batch, runner.codes)) for batch in batches]

    def _stream(self, files: _Files, sid: str, batch: Batch) -> dict[str, Any]:
        table, d = key_columns(batch.keys)
        file, offset = files.add("keys", table)
        document: dict[str, Any] = {"stream": sid, "file": file, "offset": offset, "d": d}
        if sid in self.content:
            content, row = files.add("content", batch.table())
            document |= {"content": content, "content_offset": row}
        cut = [{"start": each.start, **each.ranges} for each in blocks(batch.keys, self.block)]
        return document | {"blocks": cut}


def _as_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data
