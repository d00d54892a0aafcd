"""What a store of reduced events says, for comparison with the oracles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphquery.store import Store
from lipstick.systems.events.graph import ReducedGraph

Pair = tuple[str, str]


def edges_in(store: Path) -> list[Pair]:
    """Edges from effect to cause, as identifiers."""
    snapshot = Store.open(store).snapshot()
    names = {
        name: snapshot.values(segment, ["id"]).column("id").to_pylist()
        for name, segment in snapshot.segments.items()
    }
    edges_found = []
    for edges in snapshot.edges:
        sources, targets = snapshot.ordinals(edges)
        edges_found += [
            (names[edges.target][target], names[edges.source][source])
            for source, target in zip(sources.tolist(), targets.tolist(), strict=True)
        ]
    return edges_found


def labelled_in(store: Path) -> list[tuple[str, str, Any]]:
    """Edges from effect to cause with their labels, of all topics."""
    snapshot = Store.open(store).snapshot()
    labelled = []
    for topic in snapshot.records["events"]["topics"].values():
        for file in topic["labels"]:
            table = snapshot.read(file)
            columns = (table.column(name).to_pylist() for name in ("source", "dest", "label"))
            labelled += list(zip(*columns, strict=True))
    return labelled


def pairs_in(store: Path, effects: frozenset[str], causes: frozenset[str]) -> set[Pair]:
    """Pairs of the effects and causes that the store says came from each other."""
    from tests.graphquery.reduction.oracle import swept

    return swept(edges_in(store), effects, causes)


def asked(store: Path) -> set[Pair]:
    """Every output with its inputs, as `ReducedGraph.lineage` tells."""
    graph = ReducedGraph.open(store)
    effects = {effect for effect, _ in edges_in(store)}
    inner = {cause for _, cause in edges_in(store)}
    return {(each, cause) for each in effects - inner for cause in graph.lineage(each)}
