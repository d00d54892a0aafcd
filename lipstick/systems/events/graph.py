"""Queries on reduced graphs: inputs of outputs, and outputs of inputs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery import ProvenanceGraph
from graphquery.store import Snapshot, Store
from lipstick.systems.events.errors import ReducedAwayError
from lipstick.systems.events.store import check_reduced, entities
from semiring.support.door import checked


@checked
class ReducedGraph:
    """The reduced graph in a store.

    Parameters
    ----------
    snapshot
        Of the store.

    Raises
    ------
    EventsError
        When the store has no reduced events.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.topics: Mapping[str, Any] = check_reduced(snapshot)
        """The store's record of every topic, by name."""
        self.snapshot = snapshot

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> ReducedGraph:
        """Return the current reduced graph of the store in a folder."""
        return cls(Store.open(path).snapshot())

    @cached_property
    def graph(self) -> ProvenanceGraph:
        """The graph as a provenance graph, for paths, subgraphs, pictures and exchange."""
        segments = entities(self.snapshot)
        names = {segment.name for segment in segments}
        edges = [each for each in self.snapshot.edges if each.target in names]
        return ProvenanceGraph.build(segments, edges, self.snapshot.column)

    def node(self, entity: str) -> int:
        """Return the id of an entity's node.

        Raises
        ------
        ReducedAwayError
            The graph has no such node: an intermediate, or no entity of the stream.
        """
        keys, ids = self._entities
        position = pc.index(keys, entity).as_py()
        if position < 0:
            raise ReducedAwayError(
                f"{entity} is not in the reduced graph: it is an intermediate that was eliminated, "
                "has no inputs, or never came.\nDeclare what is to stay as kept (counts.keep) when "
                f"it is generated; the raw events have everything.{self._alike(entity)}"
            )
        return int(ids[position])

    def _alike(self, entity: str) -> str:
        """Return entities whose identifiers contain a name, such as dataset versions or full
        names.
        """
        keys, _ = self._entities
        last = re.escape(entity.rpartition(":")[2])
        found = keys.filter(pc.match_substring_regex(keys, f"{re.escape(entity)}|[/#:]{last}$"))
        names = ", ".join(found.slice(0, 3).to_pylist()) if entity else ""
        return f"\nThere is {names}{', ...' if len(found) > 3 else ''}." if names else ""

    def lineage(self, entity: str) -> list[str]:
        """Return the inputs behind an entity (backward provenance), ordered by name."""
        graph = self.graph
        reached = graph.ancestors([self.node(entity)])
        return self._ends(reached.ids, graph.storage.incoming.offsets)

    def descendants(self, entity: str) -> list[str]:
        """Return the outputs derived from an entity (forward provenance), ordered by name."""
        graph = self.graph
        reached = graph.descendants([self.node(entity)])
        return self._ends(reached.ids, graph.storage.outgoing.offsets)

    @property
    def effects(self) -> list[str]:
        """The outputs: derived entities from which nothing is derived."""
        storage = self.graph.storage
        has_cause = np.diff(storage.incoming.offsets) > 0
        is_last = np.diff(storage.outgoing.offsets) == 0
        names: list[str] = self._keys_of(np.flatnonzero(has_cause & is_last)).to_pylist()
        return names

    def paths(self, source: str, target: str, limit: int = 10) -> list[list[str]]:
        """Return paths from an entity to its descendants, the shortest first, as identifiers."""
        paths = self.graph.paths(self.node(source), self.node(target), limit)
        return [self._keys_of(np.asarray(path, dtype=np.int64)).to_pylist() for path in paths]

    def label(self, effect: str, cause: str) -> Any:
        """Return the label of the edge from a cause to an effect: the sum over all paths between
        them.

        Raises
        ------
        ReducedAwayError
            When the reduction was without labels, or there is no such edge.
        """
        total = None
        for topic in self.topics.values():
            for file in topic.get("labels", []):
                table = self.snapshot.read(file)
                where = pc.and_(
                    pc.equal(table.column("source"), effect), pc.equal(table.column("dest"), cause)
                )
                for value in table.filter(where).column("label").to_pylist():
                    total = value
        if total is None:
            raise ReducedAwayError(
                f"There is no label between {effect} and {cause}.\nReduce the events again with "
                "labels in the semiring that is asked for: `lipstick events reduce --labels`."
            )
        return total

    def delete(self, *entities: str) -> NoReturn:
        """Refuse: a deletion depends on the dropped operations.

        Raises
        ------
        ReducedAwayError
            Always.
        """
        raise ReducedAwayError(
            f"What remains without {', '.join(entities)} cannot be computed: a reduced graph "
            "records ancestry without operations.\nAsk `descendants` for what may be affected, "
            "or capture the queries with lipstick to delete exactly."
        )

    def evaluate(self, semiring: Any) -> NoReturn:
        """Refuse: the annotations in a semiring are the labels.

        Raises
        ------
        ReducedAwayError
            Always.
        """
        raise ReducedAwayError(
            f"Annotations in {semiring} cannot be evaluated over a reduced graph: the edges of a "
            "path are gone.\nReduce with labels in that semiring and ask `label`."
        )

    @cached_property
    def _entities(self) -> tuple[pa.ChunkedArray, Any]:
        keys: list[pa.Array] = []
        for segment in self.graph.storage.segments:
            keys += self.snapshot.values(segment, ["id"]).column("id").chunks
        return pa.chunked_array(keys, pa.string()), np.arange(self.graph.storage.count)

    def _keys_of(self, ids: Any) -> pa.Array:
        return self._entities[0].take(pa.array(ids))

    def _ends(self, ids: Any, offsets: Any) -> list[str]:
        """Return the identifiers of the nodes without edges on a side, in ascending order."""
        last = ids[offsets[ids + 1] == offsets[ids]]
        return sorted(self._keys_of(last).to_pylist())
