"""A query's records in a store: its topology, its batches, each stored once, and its state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from graphquery.store import Store, Transaction
from graphquery.store.format import FORMAT_FILE
from graphquery.store.streams import (
    BLOCK,
    VERSION,
    BatchPart,
    QueryRecord,
    batch_record,
    checked,
    part_document,
    query_record,
    state_files,
    state_record,
)
from lipstick.systems.errors import StreamError
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.source import Disorder
from semiring.support.door import checked as checked_arguments


@checked_arguments
class RecordedQuery:
    """The records of one graph in a store, to be used as a context; it continues existing ones.

    Parameters
    ----------
    path
        Of the store: made if it is not there.
    full
        Whether to record the content of all streams, not only of sources.
    block
        Events of a part: what is read at least for a question.

    Attributes
    ----------
    offsets
        A checksum of the offsets of the batch that is appended next, of a query that has such.
    """

    def __init__(self, path: str | Path, *, full: bool = False, block: int = BLOCK) -> None:
        self.path = Path(path)
        self.full = full
        self.block = block
        there = (self.path / FORMAT_FILE).exists()
        self._store = Store.open(self.path) if there else Store.create(self.path)
        self._writer = self._store.writer()
        self._open = False
        self._graph: Graph | None = None
        self._origin: str | None = None
        self.offsets: str | None = None

    def __enter__(self) -> RecordedQuery:
        self._writer.__enter__()
        self._open = True
        return self

    def __exit__(self, *error: object) -> None:
        self._open = False
        self._writer.__exit__(*error)

    def register(self, graph: Graph, partitions: int | None = None) -> Mapping[str, Any] | None:
        """Register the query, and return the record of its state, if it has any batch.

        Parameters
        ----------
        partitions
            Into how many parts its keys are divided; None: they are not.

        Raises
        ------
        StreamError
            Outside the recorder's block; when the store has a query of this name with another
            topology, amount of content or number of partitions, or one that has ended.
        """
        if not self._open:
            raise StreamError("The recorder is not open: use it as `with Assertions(path) as ...`.")
        self._graph = graph
        name = query_record(graph.name)
        records = self._store.snapshot().records
        document = {
            "format": VERSION,
            "topology": graph.topology(),
            "order": list(graph.nodes),
            "fingerprint": graph.fingerprint(),
            "full": self.full,
            "partitions": partitions,
        }
        if name not in records:
            with self._writer.transaction() as transaction:
                transaction.put(name, document)
                transaction.commit()
            return None
        known = checked(records[name], f"Record {name}", QueryRecord)
        if (known["fingerprint"], known["full"]) != (document["fingerprint"], self.full):
            raise StreamError(
                f"Store {self.path} has another query {graph.name!r}: its operators, parameters or "
                "full= differ.\nGive the graph another name."
            )
        if known["partitions"] != partitions:
            raise StreamError(
                f"Query {graph.name!r} in {self.path} has {known['partitions']} partitions, and "
                f"{partitions} were asked for.\nIts state is divided so: go on with as many."
            )
        state: Mapping[str, Any] | None = records.get(state_record(graph.name))
        if state is not None and state["ended"]:
            raise StreamError(
                f"Query {graph.name!r} in {self.path} has ended: its input was closed.\nGive the "
                "graph another name to run it again."
            )
        return state

    def bind(self, origin: str) -> None:
        """Bind the records to an origin of batches, such as the identity of a checkpoint.

        Raises
        ------
        StreamError
            The batches in the store have a different origin.
        """
        self._origin = origin
        assert self._graph is not None
        self._check_origin(self._writer.record(state_record(self._graph.name), None))

    def check_last(self, number: int) -> None:
        """Check that a repeated batch is the last one stored.

        Raises
        ------
        StreamError
            It is an earlier batch, or has different `offsets`.
        """
        assert self._graph is not None
        state = self._writer.record(state_record(self._graph.name), None)
        if state["next"] == number + 1 and state["offsets"] == self.offsets:
            return
        raise StreamError(
            f"Batch {number} of {self._graph.name} comes again, but store {self.path} has "
            f"{state['next']} batches, and this one is not the last of them, or has other input.\n"
            "The checkpoint is of an earlier time than the store: restore that which belongs to it."
        )

    def transaction(self) -> Transaction:
        """Begin a transaction.

        Raises
        ------
        StreamError
            When the recorder was closed.
        """
        if self._graph is None or not self._open:
            raise StreamError("The recorder was closed; nothing of this batch was stored.")
        return self._writer.transaction()

    def append(
        self,
        transaction: Transaction,
        number: int,
        parts: Iterable[BatchPart],
        disorder: Mapping[str, Disorder],
        state: Mapping[str, Any],
    ) -> None:
        """Store a batch, and the state after it, atomically.

        Parameters
        ----------
        state
            The fields of the state's record, beside the number of the next batch.

        Raises
        ------
        StreamError
            When a batch of that number is stored already, or batches of another origin are.
        """
        assert self._graph is not None
        query = self._graph.name
        name = batch_record(query, number)
        if transaction.get(name) is not None:
            raise StreamError(f"Batch {number} of {query} is stored already.")
        before = transaction.get(state_record(query))
        self._check_origin(before)
        for file in state_files(before or {}):
            transaction.remove_file(file)
        counts = {sid: asdict(each) for sid, each in disorder.items() if each}
        documents = [part_document(part) for part in parts]
        transaction.put(name, {"format": VERSION, "parts": documents, "disorder": counts})
        following = {"next": number + 1, "origin": self._origin, "offsets": self.offsets, **state}
        transaction.put(state_record(query), {"format": VERSION, **following})
        transaction.commit()

    def paths(self, files: Iterable[str]) -> list[Path]:
        """Return the paths of files of the store, each checked against its checksum."""
        snapshot = self._store.snapshot()
        return [snapshot.path(file).absolute() for file in files]

    def keeps_content(self, sid: str) -> bool:
        """Return True if the content of a stream is recorded."""
        assert self._graph is not None
        return self.full or self._graph.node(sid).source is not None

    def _check_origin(self, state: Mapping[str, Any] | None) -> None:
        if state is None or state["origin"] == self._origin:
            return
        assert self._graph is not None
        raise StreamError(
            f"Store {self.path} has {state['next']} batches of query {self._graph.name!r} that came"
            " from elsewhere: a run without Spark, or another checkpoint.\nGo on with that, or give"
            " the graph another name."
        )
