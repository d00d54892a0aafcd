"""Boundary graphs say exactly which crossing rows lead to which, at every later version too."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from graphquery import ProvenanceGraph
from graphquery.federation.crossings.boundary import BoundaryGraph, sketches_of
from graphquery.federation.crossings.crossing import stored_sketches
from graphquery.federation.crossings.hashing import row_hashes
from graphquery.federation.crossings.offer import offer_of
from graphquery.federation.crossings.relation import BoundaryRelation, contract, relation_of
from graphquery.store import Snapshot, Store
from graphquery.store.crossing import exports, imports
from tests.graphquery.federation.oracle import federation_of
from tests.graphquery.federation.stores import random_stores

SEEDS = range(200, 203)


@pytest.mark.parametrize("seed", range(40))
def test_elimination_keeps_what_reaches_what_and_adds_no_edges(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(2, 40))
    edges = random.integers(0, count, (int(random.integers(1, 120)), 2))
    edges = np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1)
    kept = random.random(count) < 0.4
    sources, targets = contract(count, kept, edges[:, 0], edges[:, 1])
    before, after = nx.DiGraph(edges.tolist()), nx.DiGraph()
    after.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    for graph in (before, after):
        graph.add_nodes_from(range(count))
    for node in np.flatnonzero(kept).tolist():
        of_kept = {other for other in nx.descendants(before, node) if kept[other]}
        assert {o for o in nx.descendants(after, node) if kept[o]} == of_kept, f"seed {seed}"
    assert after.number_of_edges() <= before.number_of_edges()
    degrees = [after.in_degree(n) * after.out_degree(n) for n in np.flatnonzero(~kept).tolist()]
    sums = [after.degree(n) for n in np.flatnonzero(~kept).tolist()]
    assert all(product > total or not total for product, total in zip(degrees, sums, strict=True))


def _snapshots(paths: dict[str, Path]) -> dict[str, Snapshot]:
    return {alias: Store.open(path).snapshot() for alias, path in paths.items()}


def _relations(snapshots: dict[str, Snapshot]) -> dict[str, BoundaryRelation]:
    relations_by_channel = {}
    for snapshot in snapshots.values():
        for channel in exports(snapshot.records):
            relation = offer_of(snapshot, channel).relation
            assert relation is not None
            relations_by_channel[channel] = relation
    return relations_by_channel


def _ends(
    graph: ProvenanceGraph, snapshots: dict[str, Snapshot]
) -> tuple[dict[tuple[str, int], int], dict[tuple[str, int], list[int]]]:
    """By crossing row, the node that makes it and the tokens that it was imported as."""
    makers: dict[tuple[str, int], int] = {}
    tokens: dict[tuple[str, int], list[int]] = {}
    storage = graph.storage
    for alias, snapshot in snapshots.items():
        for channel, export in exports(snapshot.records).items():
            base = int(storage.bases[storage.position[f"{alias}::{export.segment}"]])
            makers |= {(channel, row): base + row for row in range(export.count)}
        for channel, imported in imports(snapshot.records).items():
            for part in imported.parts:
                segment = snapshot.segment(part.segment)
                base = int(storage.bases[storage.position[f"{alias}::{part.segment}"]])
                rows = range(segment.count)
                if part.rows is not None:
                    rows = snapshot.values(segment).column(part.rows).to_pylist()
                for ordinal, row in enumerate(rows):
                    tokens.setdefault((channel, row), []).append(base + ordinal)
    return makers, tokens


@pytest.mark.parametrize("seed", SEEDS)
def test_boundary_graph_and_stores_agree_on_all_crossing_rows(seed: int, tmp_path: Path) -> None:
    paths = random_stores(tmp_path, seed, 6)
    snapshots = _snapshots(paths)
    graph = federation_of(paths).merged()
    boundary = BoundaryGraph(_relations(snapshots).values())
    makers, tokens = _ends(graph, snapshots)
    sketches = {
        channel: column
        for snapshot in snapshots.values()
        for channel, column in stored_sketches(snapshot, exports(snapshot.records)).items()
    }
    told = 0
    for (channel, row), maker in makers.items():
        behind = boundary.reached({channel: np.array([row])}, forwards=False)
        rows_behind = {(c, int(r)) for c, rows in behind.items() for r in rows}
        ancestors = set(graph.ancestors(np.array([maker])).ids.tolist()) | {maker}
        through = {
            r
            for r, copies_of_row in tokens.items()
            if r in makers and not ancestors.isdisjoint(copies_of_row)
        }
        assert through <= rows_behind, f"seed {seed}, {channel} {row}"
        assert {makers[r] for r in rows_behind} <= ancestors, f"seed {seed}, {channel} {row}"
        for c, rows in behind.items():
            forwards = boundary.reached({c: rows[:1]}, forwards=True)
            assert row in forwards[channel].tolist()
        own_sketch = sketches[channel].take(np.array([row]))
        for other, number in rows_behind:
            assert own_sketch.may_contain(row_hashes(other, np.array([number]))).all()
        told += len(rows_behind)
    assert told > 20


@pytest.mark.parametrize("seed", SEEDS)
def test_summaries_are_those_of_any_later_version(seed: int, tmp_path: Path) -> None:
    for snapshot in _snapshots(random_stores(tmp_path, seed)).values():
        for channel, export in exports(snapshot.records).items():
            offered = offer_of(snapshot, channel)
            again = relation_of(snapshot, export.segment, channel)
            assert offered.relation is not None
            assert offered.relation.channels == again.channels
            for name in ("source_channels", "sources", "targets"):
                assert getattr(offered.relation, name).tolist() == getattr(again, name).tolist()
            known = stored_sketches(snapshot, again.channels[:-1])
            column = sketches_of(again, known, export.blocks)
            assert offered.sketches is not None
            assert column.to_arrow().equals(offered.sketches.to_arrow())
