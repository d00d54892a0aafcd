"""Reduced graphs in a store, and their index: one commit per batch, with the batch's number.

Inputs become tokens, outputs and hubs p-nodes, and edges are reversed: in a store they lead from a
used entity to its result. Reduced graphs of several topics join by the identifiers of their
entities. A node is written once and never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.model import EdgeSet, Kind, Segment
from graphquery.reduced_nodes import REDUCED
from graphquery.reduction import Final, VertexRole
from graphquery.reduction.hashing import hashed
from graphquery.reduction.reducer import final_table
from graphquery.store import Snapshot, Transaction, Writer
from lipstick.systems.events.errors import EventsError
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class _Run:
    """Hashes in ascending order, and the number of the node of each."""

    hashes: Array
    nodes: Array


class NodeIndex:
    """Numbers of nodes by identifier, for arrays of identifiers at a time.

    Nodes are numbered in the order they are added. Hashes only find candidates: identifiers are
    compared, so that two with one hash stay distinct. Runs of hashes are merged as they grow, so
    that there are O(log nodes) of them. About 40 bytes a node, and its identifier.
    """

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._keys: list[pa.Array] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, keys: pa.Array) -> None:
        """Number new distinct identifiers, continuing the existing numbers."""
        if not len(keys):
            return
        hashes = hashed(keys)
        order = np.argsort(hashes)
        self._runs.append(_Run(hashes[order], order + self._count))
        self._keys.append(keys)
        self._count += len(keys)
        while len(self._runs) > 1 and len(self._runs[-2].hashes) < 2 * len(self._runs[-1].hashes):
            self._merge()

    def find(self, keys: pa.Array) -> Array:
        """Return the number of each identifier, or -1."""
        numbers = np.full(len(keys), -1, dtype=np.int64)
        if not len(keys) or not self._runs:
            return numbers
        hashes = hashed(keys)
        stored = pa.chunked_array(self._keys, pa.string())
        for run in self._runs:
            at = np.searchsorted(run.hashes, hashes)
            waiting = np.flatnonzero(numbers < 0)
            while len(waiting):
                indices = at[waiting]
                inside = indices < len(run.hashes)
                waiting, indices = waiting[inside], indices[inside]
                same = run.hashes[indices] == hashes[waiting]
                waiting, indices = waiting[same], indices[same]
                if not len(waiting):
                    break
                nodes = run.nodes[indices]
                equal = pc.equal(stored.take(pa.array(nodes)), keys.take(pa.array(waiting)))
                hit = np.asarray(equal)
                numbers[waiting[hit]] = nodes[hit]
                waiting = waiting[~hit]
                at[waiting] += 1
        return numbers

    def _merge(self) -> None:
        last, before = self._runs.pop(), self._runs.pop()
        hashes = np.concatenate([before.hashes, last.hashes])
        order = np.argsort(hashes, kind="stable")
        nodes = np.concatenate([before.nodes, last.nodes])
        self._runs.append(_Run(hashes[order], nodes[order]))


RECORD = "events"
"""The record of the topics in a store, and of their progress."""

FORMAT = 1
LABEL = REDUCED
"""The label of p-nodes of reduced graphs, whose operations were dropped."""

INPUTS, OUTPUTS, HUBS = "inputs", "outputs", "hubs"
_KINDS = {INPUTS: Kind.TOKEN, OUTPUTS: Kind.DERIVED, HUBS: Kind.DERIVED}


class ReducedWriter:
    """Writes final edges into a store.

    Parameters
    ----------
    writer
        Of the store, entered.

    Raises
    ------
    EventsError
        The store has other content than reduced graphs, or a different format.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._index = NodeIndex()
        self._names: list[str] = []
        self._bases = [0]
        snapshot = writer.snapshot()
        check_reduced(snapshot, empty=True)
        for segment in entities(snapshot):
            keys = snapshot.values(segment, ["id"]).column("id").combine_chunks()
            self._enter(segment.name, keys)

    @property
    def topics(self) -> dict[str, Any]:
        """The store's record of every topic, by name."""
        record: Any = self._writer.record(RECORD, None) or {}
        topics: dict[str, Any] = record.get("topics", {})
        return topics

    def topic(self, name: str) -> dict[str, Any]:
        """Return the store's record of a topic, empty if it has none."""
        known: dict[str, Any] = self.topics.get(name, {})
        return known

    @property
    def stream(self) -> dict[str, Any] | None:
        """The store's record of the job that writes it, or None."""
        record: Any = self._writer.record(RECORD, None) or {}
        stream: dict[str, Any] | None = record.get("stream")
        return stream

    def has(self, keys: pa.Array) -> Array:
        """Return a Boolean array of the entities that are nodes of the store."""
        known: Array = self._index.find(keys) >= 0
        return known

    def write(
        self,
        topic: str,
        finals: Sequence[Final],
        *,
        batch: int | None = None,
        told: Mapping[str, Any] | None = None,
    ) -> bool:
        """Write a batch in one commit.

        Parameters
        ----------
        batch
            Its number; a batch whose number does not exceed the last one's is already stored, and
            nothing is written.
        told
            Further fields of the topic's record, as JSON.

        Returns
        -------
        bool
            Whether it was written.
        """
        known = self.topic(topic)
        if batch is not None and known.get("batch") is not None and known["batch"] >= batch:
            return False
        self.write_all({topic: (finals, {**(told or {}), "batch": batch})})
        return True

    def write_all(
        self,
        topics: Mapping[str, tuple[Sequence[Final], Mapping[str, Any]]],
        stream: Mapping[str, Any] | None = None,
    ) -> None:
        """Write final edges of several topics in one commit.

        Parameters
        ----------
        topics
            By topic, its final edges, and its record as JSON.
        stream
            The record of the job that writes all of them.
        """
        added: list[str] = []
        with self._writer.transaction() as transaction:
            record: Any = self._writer.record(RECORD, None) or {"format": FORMAT, "topics": {}}
            noted = dict(record["topics"])
            try:
                for topic, (finals, told) in topics.items():
                    known = noted.get(topic, {})
                    table = final_table(list(finals))
                    if len(table):
                        added += self._add_nodes(transaction, topic, finals)
                        self._add_edges(transaction, table)
                    noted[topic] = {
                        **known,
                        **told,
                        "edges": known.get("edges", 0) + len(table),
                        "labels": known.get("labels", []) + _labels(transaction, table),
                    }
                document = {"format": FORMAT, "topics": noted}
                before = record.get("stream") if stream is None else stream
                if before is not None:
                    document["stream"] = before
                transaction.put(RECORD, document)
                transaction.commit()
            except BaseException:
                self._forget(added)
                raise

    def _add_nodes(
        self, transaction: Transaction, topic: str, finals: Sequence[Final]
    ) -> list[str]:
        """Add vertices that are not stored yet; return the names of their segments."""
        number = self._writer.version + 1
        keys, kinds = _kinds(finals)
        new = self._index.find(keys) < 0
        added = []
        for part, kind in _KINDS.items():
            chosen = keys.filter(pa.array(new & (kinds == part)))
            if not len(chosen):
                continue
            name = f"{topic}/{part}.{number}"
            transaction.add_segment(
                Segment(
                    name,
                    kind,
                    "" if kind is Kind.TOKEN else LABEL,
                    len(chosen),
                    relation=topic,
                    key=("id",),
                    file="",
                ),
                pa.table({"id": chosen}),
            )
            self._enter(name, chosen)
            added.append(name)
        return added

    def _add_edges(self, transaction: Transaction, table: pa.Table) -> None:
        effect = self._index.find(table.column("source").combine_chunks())
        cause = self._index.find(table.column("dest").combine_chunks())
        bases = np.array(self._bases, dtype=np.int64)
        targets = np.searchsorted(bases, effect, side="right") - 1
        sources = np.searchsorted(bases, cause, side="right") - 1
        pair = sources * len(self._names) + targets
        order = np.argsort(pair, kind="stable")
        distinct_pairs, starts = np.unique(pair[order], return_index=True)
        for code, places in zip(distinct_pairs.tolist(), np.split(order, starts[1:]), strict=True):
            source, target = divmod(code, len(self._names))
            transaction.add_edges(
                EdgeSet(self._names[source], self._names[target], len(places), file=""),
                cause[places] - bases[source],
                effect[places] - bases[target],
            )

    def _enter(self, name: str, keys: pa.Array) -> None:
        self._index.add(keys)
        self._names.append(name)
        self._bases.append(self._bases[-1] + len(keys))

    def _forget(self, added: list[str]) -> None:
        """Rebuild the index after a failed commit."""
        if added:
            fresh = ReducedWriter(self._writer)
            self._index, self._names, self._bases = fresh._index, fresh._names, fresh._bases


def entities(snapshot: Snapshot) -> list[Segment]:
    """Return the segments with entities; others have the rows of exported datasets."""
    return [
        segment
        for segment in snapshot.segments.values()
        if segment.kind is Kind.TOKEN or segment.label == LABEL
    ]


def check_reduced(snapshot: Snapshot, *, empty: bool = False) -> Mapping[str, Any]:
    """Return the store's record of every topic, by name.

    Parameters
    ----------
    empty
        Whether an empty store is accepted.

    Raises
    ------
    EventsError
        It has other content.
    """
    record: Any = snapshot.records.get(RECORD)
    if record is None:
        if empty and not snapshot.segments:
            return {}
        raise EventsError(
            f"The store {snapshot.root} has no reduced events.\n"
            "Give one that `lipstick events reduce` made, or an empty folder."
        )
    if record["format"] != FORMAT:
        raise EventsError(
            f"The events in {snapshot.root} have format {record['format']}; this version of "
            f"lipstick reads {FORMAT}.\nUse the version that wrote them."
        )
    topics: Mapping[str, Any] = record["topics"]
    return topics


def _kinds(finals: Sequence[Final]) -> tuple[pa.Array, Array]:
    """Return the distinct vertices of some final edges, and the kind of each."""
    chunks = [final.keys for final in finals]
    encoding = pa.chunked_array(chunks, pa.string()).dictionary_encode().combine_chunks()
    keys, places = encoding.dictionary, encoding.indices.to_numpy(zero_copy_only=False)
    is_effect = np.zeros(len(keys), dtype=np.bool_)
    is_hub = np.zeros(len(keys), dtype=np.bool_)
    start = 0
    for final in finals:
        own_places = places[start : start + len(final.keys)]
        start += len(final.keys)
        is_effect[own_places[final.edges.source]] = True
        is_hub[own_places] |= (final.roles & np.uint8(VertexRole.HUB)) > 0
        # Kept vertices may have causes that come later; repaired edges mark all their ends.
        kept = final.roles & np.uint8(VertexRole.KEPT | VertexRole.EXCESS)
        is_effect[own_places] |= kept == np.uint8(VertexRole.KEPT)
    kinds = np.where(is_effect, OUTPUTS, INPUTS)
    return keys, np.where(is_hub, HUBS, kinds)


def _labels(transaction: Transaction, table: pa.Table) -> list[str]:
    """Add the labels of edges as a table, if there are any; return the name of its file."""
    if "label" not in table.column_names:
        return []
    return [transaction.add_table(table, "labels")]
