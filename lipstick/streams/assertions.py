"""Provenance assertions in a store: one append for each batch, exactly once, and no edge.

Recorded *optimised* a source's events have keys and content, all others keys alone; *full*, all
have content (thesis, section 4.3). What is constant or follows is not stored: numbers of a stream
without key are consecutive, and times are differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.store import Store, Transaction
from graphquery.store.format import FORMAT_FILE
from graphquery.store.streams import (
    BLOCK,
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
from lipstick.streams.keys import INFINITE, Keys, first_of_time
from lipstick.streams.recording import codes_of, ranges_of
from lipstick.streams.state import StageState
from semiring.base import Array


class Assertions:
    """A recorder into a store, to be used as a context; it goes on from what is there.

    Parameters
    ----------
    path
        Of the store: made if it is not there.
    full
        Keep the content of all streams, not of sources alone.
    block
        Events of a part: what is read at least for a question.
    """

    def __init__(self, path: str | Path, *, full: bool = False, block: int = BLOCK) -> None:
        self.path = Path(path)
        self._full = full
        self._block = block
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
                part_document(part)
                for sid, batch in pushed.streams.items()
                for part in self._added(transaction, sid, batch)
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

    def _added(self, transaction: Transaction, sid: str, batch: Batch) -> Iterator[Part]:
        assert self._graph is not None
        if not len(batch):
            return
        table, d = key_columns(batch.keys)
        file, offset = transaction.add_rows("keys", table)
        content, row = None, 0
        if self._full or self._graph.node(sid).source is not None:
            content, row = transaction.add_rows("content", batch.table())
        for part in parts_of(sid, batch.keys, d, file, offset, self._block):
            if content is None:
                yield part
            else:
                yield replace(part, content=content, content_offset=part.offset - offset + row)


def key_columns(keys: Keys) -> tuple[pa.Table, int | None]:
    """Keys as the columns that are stored, and the delay if it is one for all."""
    columns: dict[str, Array] = {"t": np.diff(keys.t, prepend=keys.t[:1])}
    constant = bool((keys.d == keys.d[0]).all())
    if not constant:
        columns["d"] = keys.d
    if keys.code is not None:
        columns |= {"n": keys.n, "code": keys.code}
    return pa.table(columns), int(keys.d[0]) if constant else None


def parts_of(
    sid: str, keys: Keys, d: int | None, file: str, offset: int, block: int
) -> Iterator[Part]:
    """The parts of a batch of a stream: each has the range of its keys, to be found by."""
    # Outputs of one trigger are told apart by their order: they stay together.
    groups = first_of_time(keys.code, keys.trigger)
    places = np.arange(0, len(keys), block)
    starts = np.unique(groups[np.searchsorted(groups, places, "right") - 1]).tolist()
    for start, stop in zip(starts, [*starts[1:], len(keys)], strict=True):
        here = keys.slice(start, stop)
        first_code, last_code = (None, None) if here.code is None else codes_of(here)
        rows, *ranges = ranges_of(here)
        first_t, last_t, first_trigger, last_trigger, first_n, last_n = ranges
        yield Part(
            sid,
            file,
            offset + start,
            rows,
            first_t,
            last_t,
            first_trigger,
            last_trigger,
            first_n,
            last_n,
            d=d,
            first_code=first_code,
            last_code=last_code,
        )


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
