"""Provenance assertions in a store: one append for each batch, exactly once, and no edge.

Recorded *optimised* a source's events have keys and content, all others keys alone; *full*, all
have content (thesis, section 4.3). What is constant or follows is not stored: numbers of a stream
without key are consecutive, and times are differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.store import Store, Transaction
from graphquery.store.format import FORMAT_FILE
from graphquery.store.streams import (
    VERSION,
    Part,
    batch_record,
    checked,
    part_document,
    query_record,
    state_record,
)
from lipstick.streams.batch import Batch
from lipstick.streams.codes import KeyCodes
from lipstick.streams.engine import Pushed
from lipstick.streams.errors import StreamError
from lipstick.streams.graph import Graph
from lipstick.streams.keys import INFINITE
from lipstick.streams.recording import ranges_of
from lipstick.streams.state import StageState
from semiring.base import Array

CONTENT = "content."
"""Before the names of columns of content."""


class Assertions:
    """A recorder into a store, to be used as a context; it goes on from what is there.

    Parameters
    ----------
    path
        Of the store: made if it is not there.
    full
        Keep the content of all streams, not of sources alone.
    """

    def __init__(self, path: str | Path, *, full: bool = False) -> None:
        self.path = Path(path)
        self._full = full
        there = (self.path / FORMAT_FILE).exists()
        self._store = Store.open(self.path) if there else Store.create(self.path)
        self._writer = self._store.writer()
        self._open = False
        self._graph: Graph | None = None

    def __enter__(self) -> Assertions:
        self._writer.__enter__()
        self._open = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open = False
        self._writer.__exit__(kind, error, trace)

    def begin(self, graph: Graph, codes: KeyCodes) -> tuple[int, Mapping[str, StageState]]:
        """See `lipstick.streams.engine.Recorder`.

        Raises
        ------
        StreamError
            Outside the recorder's block; when the store has a query of this name with another
            topology or amount of content, or one that has ended.
        """
        if not self._open:
            raise StreamError("The recorder is not open: use it as `with Assertions(path) as ...`.")
        self._graph = graph
        name = query_record(graph.name)
        snapshot = self._store.snapshot()
        document = {
            "format": VERSION,
            "topology": graph.topology(),
            "order": list(graph.nodes),
            "fingerprint": graph.fingerprint(),
            "full": self._full,
        }
        if name not in snapshot.records:
            with self._writer.transaction() as transaction:
                transaction.put(name, document)
                transaction.commit()
            return 0, {}
        known = checked(snapshot.records[name], f"Record {name}")
        if (known["fingerprint"], known["full"]) != (document["fingerprint"], self._full):
            raise StreamError(
                f"Store {self.path} has another query {graph.name!r}: its operators, parameters or "
                "full= differ.\nGive the graph another name."
            )
        state = snapshot.records.get(state_record(graph.name))
        if state is None:
            return 0, {}
        if state["ended"]:
            raise StreamError(
                f"Query {graph.name!r} in {self.path} has ended: its input was closed.\nGive the "
                "graph another name to run it again."
            )
        return state["next"], unpacked(snapshot.read(state["file"]))

    def write(self, pushed: Pushed, state: Callable[[], Mapping[str, StageState]]) -> None:
        """See `lipstick.streams.engine.Recorder`; raises when a batch is stored already."""
        graph = self._graph
        if graph is None or not self._open:
            raise StreamError("The recorder was closed; nothing of this batch was stored.")
        with self._writer.transaction() as transaction:
            name = batch_record(graph.name, pushed.number)
            if transaction.get(name) is not None:
                raise StreamError(f"Batch {pushed.number} of {graph.name} is stored already.")
            parts = [
                part_document(_add(transaction, sid, batch, self._keeps_content(graph, sid)))
                for sid, batch in pushed.streams.items()
                if len(batch)
            ]
            disorder = {sid: asdict(found) for sid, found in pushed.disorder.items() if found}
            document = {"format": VERSION, "parts": parts, "disorder": disorder}
            transaction.put(name, document)
            before = transaction.get(state_record(graph.name))
            if before is not None:
                transaction.remove_file(before["file"])
            file = transaction.add_table(packed(state()), "state")
            ended = all(pushed.frontiers[sid] == INFINITE for sid in graph.sources)
            following = {"file": file, "next": pushed.number + 1, "ended": ended}
            transaction.put(state_record(graph.name), {"format": VERSION, **following})
            transaction.commit()

    def _keeps_content(self, graph: Graph, sid: str) -> bool:
        return self._full or graph.node(sid).source is not None


def _add(transaction: Transaction, sid: str, batch: Batch, content: bool) -> Part:
    keys = batch.keys
    columns: dict[str, Array] = {"t": np.diff(keys.t, prepend=keys.t[:1])}
    constant = bool((keys.d == keys.d[0]).all())
    if not constant:
        columns["d"] = keys.d
    if keys.code is not None:
        columns |= {"n": keys.n, "code": keys.code}
    table = pa.table(columns)
    if content:
        made = batch.table()
        for name, values in zip(made.column_names, made.columns, strict=True):
            table = table.append_column(CONTENT + name, values)
    file, offset = transaction.add_rows("events", table)
    d = int(keys.d[0]) if constant else None
    return Part(sid, file, offset, *ranges_of(keys), d=d)


def packed(state: Mapping[str, StageState]) -> pa.Table:
    """A state as one table: a row for each table in it."""
    rows: list[dict[str, Any]] = []
    for stream, stage in state.items():
        for name, table in stage.tables.items():
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            rows.append({"stream": stream, "name": name, "table": sink.getvalue().to_pybytes()})
    types = {"stream": pa.string(), "name": pa.string(), "table": pa.large_binary()}
    return pa.Table.from_pylist(rows, pa.schema(types))


def unpacked(table: pa.Table) -> dict[str, StageState]:
    """The inverse of `packed`."""
    tables: dict[str, dict[str, pa.Table]] = {}
    for row in table.to_pylist():
        with pa.ipc.open_stream(row["table"]) as reader:
            tables.setdefault(row["stream"], {})[row["name"]] = reader.read_all()
    return {stream: StageState(each) for stream, each in tables.items()}
