"""Pictures of a graph say what the graph says: sizes, edges, marks, never too many boxes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark_workflowgen.generated_graphs import generate
from graphquery import ProvenanceGraph, Segment
from lipstick.explorer.budget import Budget
from lipstick.explorer.explorer import Explorer, open_source
from lipstick.explorer.graphs.boxes import MOST
from lipstick.explorer.graphs.node_values import changed
from lipstick.explorer.graphs.source import GraphSource, graph_source
from semiring.base import Array
from tests.lipstick.explorer.conftest import ask
from tests.lipstick.explorer.stores import store_generated

GRAPHS = [(3_000, 3, 4, 0), (2_500, 5, 2, 1), (60_000, 2, 90, 2)]


@pytest.fixture(scope="module", params=GRAPHS, ids=str)
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> GraphSource:
    """A generated graph in a store."""
    path = store_generated(generate(*request.param), tmp_path_factory.mktemp("stores") / "graph")
    opened_source = open_source(path)
    assert isinstance(opened_source, GraphSource)
    return opened_source


def graph_of(source: GraphSource) -> ProvenanceGraph:
    """The graph, when it has been built."""
    return source.graph(Budget())


def group(segment: Segment) -> str:
    return segment.module or segment.relation or segment.name


def test_all_modules_have_their_nodes_and_edges(source: GraphSource) -> None:
    graph = graph_of(source)
    picture = ask(source, "picture")
    names = [box["name"] for box in picture["boxes"]]
    sizes: Counter[str] = Counter()
    for segment in graph.segments:
        sizes[group(segment)] += segment.count
    told = {b["name"]: int(b["lines"][-1].split()[0].replace(",", "")) for b in picture["boxes"]}
    assert told == dict(sizes)
    starts, ends, _ = graph.edges()
    groups = [group(segment) for segment in graph.segments]
    pairs = Counter(
        (groups[a], groups[b])
        for a, b in zip(
            graph.storage.segment_of(starts), graph.storage.segment_of(ends), strict=True
        )
        if groups[a] != groups[b]
    )
    drawn = {(names[e["source"]], names[e["target"]]): e["count"] for e in picture["edges"]}
    assert drawn == dict(pairs)


@pytest.mark.parametrize("mode", ["ancestors", "descendants", "delete"])
def test_marks_are_the_graphs_own_answers(source: GraphSource, mode: str) -> None:
    graph = graph_of(source)
    random = np.random.default_rng(7)
    for node in random.integers(0, graph.node_count, 6).tolist():
        marks = {"mode": mode, "nodes": [node]}
        if mode == "delete":
            after = graph.delete([node])
            wanted: dict[str, Array] = {
                "gone": np.setdiff1d(graph.ids, after.ids),
                "stale": after.stale().ids,
                "changed": np.setdiff1d(changed(graph, after), after.stale().ids),
            }
        else:
            reached = getattr(graph, mode)([node]).ids
            wanted = {"lit": np.union1d(reached, [node])}
        picture = ask(source, "picture", marks=marks)
        assert picture["marked"] == {kind: len(ids) for kind, ids in wanted.items()}
        for kind, ids in wanted.items():
            places = graph.storage.segment_of(ids[ids < graph.storage.count])
            sizes = Counter(group(graph.segments[segment_number]) for segment_number in places)
            told = {
                box["name"]: box["marks"][kind][0]
                for box in picture["boxes"]
                if kind in box.get("marks", {})
            }
            assert told == dict(sizes)
        # The same around the node itself, node by node.
        around = ask(source, "picture", focus={"node": node}, marks=marks)
        for box in around["boxes"]:
            if box["kind"] == "node":
                marked = {kind for kind, ids in wanted.items() if box["node"] in ids}
                assert set(box.get("marks", {})) == marked


def test_steps_of_a_deletion_add_up_to_it(source: GraphSource) -> None:
    graph = graph_of(source)
    whole = ask(source, "picture", marks={"mode": "delete", "nodes": [0]})
    counts = [
        ask(source, "picture", marks={"mode": "delete", "nodes": [0], "step": step})["marked"]
        for step in range(whole["steps"] + 1)
    ]
    assert counts[0]["gone"] == 1
    assert counts[-1] == whole["marked"]
    gone = [each["gone"] for each in counts]
    assert gone == sorted(gone)
    assert gone[-1] == graph.node_count - graph.delete([0]).node_count


def test_every_focus_that_a_box_opens_is_a_picture_of_few_boxes(source: GraphSource) -> None:
    seen: set[str] = set()
    waiting: list[dict[str, Any]] = [{}]
    while waiting and len(seen) < 60:
        focus = waiting.pop()
        if str(focus) in seen:
            continue
        seen.add(str(focus))
        picture = ask(source, "picture", focus=focus)
        assert len(picture["boxes"]) <= MOST
        assert picture["shown"] <= picture["total"]
        for edge in picture["edges"]:
            assert 0 <= edge["source"] < len(picture["boxes"])
        inner = [box["focus"] for box in picture["boxes"] if box["focus"]]
        waiting += [each for each in inner if "search" not in each][:: max(1, len(inner) // 6)]
    assert any("node" in focus for focus in seen)


def test_many_invocations_are_shown_in_parts(source: GraphSource) -> None:
    count = len({s.invocation for s in graph_of(source).segments if s.module == "module0"} - {None})
    start, seen = 0, 0
    while True:
        focus = {"module": "module0", "start": start}
        picture = ask(source, "picture", focus=focus)
        seen += sum(1 for b in picture["boxes"] if b["kind"] == "invocation" and not b["whole"])
        after = [b for b in picture["boxes"] if b["kind"] == "bundle" and "after" in b["label"]]
        assert picture["total"] == count
        if not after:
            break
        start = after[0]["focus"]["start"]
    assert seen == count


def test_what_was_deleted_is_not_in_the_pictures_of_a_graph() -> None:
    generated = generate(3_000, 3, 4)
    graph = ProvenanceGraph.build(generated.segments, generated.edge_sets, generated.columns())
    left = graph.delete(graph.segment(0).name + "[0]")
    sizes = [
        sum(int(b["lines"][-1].split()[0].replace(",", "")) for b in picture["boxes"])
        for picture in (ask(graph_source("g", each), "picture") for each in (graph, left))
    ]
    assert sizes == [graph.node_count, left.node_count]


def test_names_of_the_dealership_are_found(stores: Path) -> None:
    source = open_source(stores / "dealership")
    matches = ask(source, "search", text="dealer1/Cars:C2")["found"]
    assert matches[0]["sort"] == "node"
    node = ask(source, "node", node="dealer1/Cars:C2")
    assert node["tuple"] == {"CarId": "C2", "Model": "Civic"}
    assert [each["name"] for each in node["makes"]["nodes"]] == ["dealer1#1/Cars:C2"]
    refused = Explorer([source]).ask({"view": "node", "params": {"node": "dealer1/Cars:C9"}})
    assert "dealer1/Cars:C" in refused["error"]["message"]
