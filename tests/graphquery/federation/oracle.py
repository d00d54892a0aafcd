"""Holds a federation against the merged graph of its stores: the same questions to both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from graphquery import ProvenanceGraph
from graphquery.federation.federation import Federation
from graphquery.federation.questions.answer import NodesAnswer, Verdict
from graphquery.federation.questions.node_sets import StoredNodes
from graphquery.federation.questions.question import Options
from graphquery.federation.wire.transport import LocalTransport
from semiring import semirings

COUNTING = semirings.Counting()
TROPICAL = semirings.Tropical()
WHY = semirings.Why()
OPTIONS = {
    "all": Options(),
    "sketches": Options(boundary=False),
    "boundary": Options(sketches=False),
    "walks": Options(sketches=False, boundary=False),
}


def federation_of(paths: Mapping[str, Path], options: Options | None = None) -> Federation:
    """A federation of folders."""
    return Federation({a: LocalTransport(path) for a, path in paths.items()}, options=options)


def ids_of(graph: ProvenanceGraph, nodes: Mapping[str, StoredNodes]) -> list[int]:
    """Nodes of several stores as ids of the merged graph, ascending."""
    storage = graph.storage
    ids: list[int] = []
    for alias, each in nodes.items():
        for segment_number, ordinals in each.ordinals.items():
            base = int(storage.bases[storage.position[f"{alias}::{each.names[segment_number]}"]])
            for ordinal in ordinals.tolist():
                if ordinal >= 0:
                    ids.append(base + ordinal)
                else:
                    number = int(np.searchsorted(storage.invocations, base - 1 - ordinal))
                    ids.append(storage.count + number)
    return sorted(ids)


def drawn(graph: ProvenanceGraph, random: np.random.Generator, most: int) -> list[str]:
    """The names of one to so many random nodes."""
    ids = random.choice(graph.ids, min(most, len(graph.ids)), replace=False)
    return graph.names(ids[: random.integers(1, most + 1)])


def check_nodes(graph: ProvenanceGraph, answer: NodesAnswer, expected: object, what: str) -> None:
    """An answer has the nodes expected and is complete."""
    assert answer.missing == (), what
    assert ids_of(graph, answer.nodes) == sorted(np.asarray(expected).tolist()), what


def check_question(
    federation: Federation, graph: ProvenanceGraph, random: np.random.Generator, what: str
) -> int:
    """Ask one random question of every kind; return how many had more than a trivial answer."""
    nodes, other_nodes = drawn(graph, random, 3), drawn(graph, random, 2)
    what = f"{what}, nodes {nodes}, others {other_nodes}"
    telling = 0
    for distance in (None, int(random.integers(0, 6))):
        for direction in ("ancestors", "descendants"):
            answer = getattr(federation, direction)(nodes, distance)
            expected = getattr(graph, direction)(nodes, distance).ids
            check_nodes(graph, answer, expected, f"{what}, {direction} {distance}")
            telling += len(expected) > 0
    expected_paths = graph.paths(nodes, other_nodes, 1)
    flow = federation.flow(nodes, other_nodes)
    assert flow.verdict is (Verdict.YES if expected_paths else Verdict.NO), f"{what}, flow"
    assert flow.complete, what
    limit = int(random.integers(0, 8))
    paths_found = federation.paths(nodes, other_nodes, limit, 9)
    expected_names = [
        tuple(graph.names(path)) for path in graph.paths(nodes, other_nodes, limit, 9)
    ]
    assert list(paths_found.paths) == expected_names, f"{what}, paths"
    assert paths_found.verdict is flow.verdict or not limit, f"{what}, paths"
    telling += len(expected_paths) > 0
    gone = np.sort(np.setdiff1d(graph.ids, graph.delete(nodes).ids))
    check_nodes(graph, federation.delete(nodes), gone, f"{what}, delete")
    verdict = federation.depends(other_nodes, nodes).verdict
    expected = Verdict.YES if graph.depends(other_nodes, nodes) else Verdict.NO
    assert verdict is expected, f"{what}, depends"
    telling += len(gone) > len(nodes)
    return telling


def check_values(
    federation: Federation, graph: ProvenanceGraph, random: np.random.Generator, what: str
) -> None:
    """Evaluate random nodes in semirings, by columns and by fragments."""
    nodes = drawn(graph, random, 3)
    what = f"{what}, nodes {nodes}"
    leaves = graph.ids[graph.incoming(graph.ids).degrees == 0]
    chosen = random.choice(leaves, min(4, len(leaves)), replace=False)
    given = {name: int(random.integers(0, 4)) for name in graph.names(chosen)}
    for semiring, valuation in ((COUNTING, None), (COUNTING, given), (WHY, None)):
        if semiring is WHY and any(segment.label == "⊖" for segment in graph.segments):
            continue
        values = federation.evaluate(semiring, nodes, valuation)
        expected = graph.evaluate(semiring, valuation, nodes)
        assert values.complete, what
        for name in nodes:
            assert values.values[name] == expected.value(name), f"{what}, {semiring.name}, {name}"


def check_federation(paths: Mapping[str, Path], seed: int, questions: int) -> int:
    """Ask so many questions of every kind in every way; return how many were telling."""
    random = np.random.default_rng(seed)
    telling = 0
    for name, options in OPTIONS.items():
        federation = federation_of(paths, options)
        graph = federation.merged()
        for number in range(questions):
            what = f"seed {seed}, {name}, question {number}"
            telling += check_question(federation, graph, random, what)
            check_values(federation, graph, random, what)
    return telling


def check_zoomed(paths: Mapping[str, Path], seed: int, questions: int) -> None:
    """Zoom out of random modules and ask so many questions, each time anew."""
    random = np.random.default_rng(seed)
    federation = federation_of(paths)
    modules = list(federation.merged().modules)
    for number in range(questions):
        chosen = random.choice(modules, random.integers(1, len(modules) + 1), replace=False)
        zoomed = federation.zoom_out(*chosen.tolist())
        graph = zoomed.merged()
        assert graph.zoomed == set(chosen.tolist())
        what = f"seed {seed}, zoomed {sorted(chosen.tolist())}, question {number}"
        check_question(zoomed, graph, random, what)
        check_values(zoomed, graph, random, what)
        nodes = drawn(federation.merged(), random, 2)
        back = zoomed.zoom_in(*chosen.tolist())
        assert len(back.ancestors(nodes)) == len(federation.ancestors(nodes)), what
