"""The operations written plainly on networkx, from their definitions; slow and easy to check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import networkx as nx

from graphquery.model import Port

JOINT = ("·", "⊗")


def facts(graph: Any) -> tuple[dict[str, tuple[str, str]], Counter[tuple[str, str, int]]]:
    """What two graphs have in common iff they are the same: nodes, and edges with their number."""
    reference = graph if isinstance(graph, nx.MultiDiGraph) else graph.to_networkx()
    nodes = {name: (data["kind"], data["label"]) for name, data in reference.nodes(data=True)}
    return nodes, Counter((a, b, data["port"]) for a, b, data in reference.edges(data=True))


def deleted(graph: nx.MultiDiGraph, seeds: Iterable[str]) -> set[str]:
    """What Definition 4.2 removes, looking at every node each time."""
    left = graph.copy()
    before = {node: _operands(graph, node) for node in graph}
    left.remove_nodes_from(list(seeds))
    while True:
        now = {node: _operands(left, node) for node in left}
        dead = [
            node
            for node, count in now.items()
            if count < before[node] and (count == 0 or left.nodes[node]["label"] in JOINT)
        ]
        if not dead:
            return set(graph) - set(left)
        left.remove_nodes_from(dead)


def delete(graph: nx.MultiDiGraph, seeds: Iterable[str]) -> nx.MultiDiGraph:
    """What is left."""
    left = graph.copy()
    left.remove_nodes_from(deleted(graph, seeds))
    return left


def _operands(graph: nx.MultiDiGraph, node: str) -> int:
    edges = graph.in_edges(node, data=True)
    return sum(data["port"] != Port.SUBTRAHEND for _, _, data in edges)


def ancestors(graph: nx.MultiDiGraph, seeds: Iterable[str]) -> set[str]:
    """All nodes with a path to one of some nodes."""
    return set().union(*(nx.ancestors(graph, seed) for seed in seeds))


def descendants(graph: nx.MultiDiGraph, seeds: Iterable[str]) -> set[str]:
    """All nodes with a path from one of some nodes."""
    return set().union(*(nx.descendants(graph, seed) for seed in seeds))


def subgraph(graph: nx.MultiDiGraph, seeds: Iterable[str]) -> nx.MultiDiGraph:
    """Nodes, their ancestors and descendants, and what shares a predecessor with a descendant."""
    seeds = set(seeds)
    below = descendants(graph, seeds)
    siblings = {
        sibling
        for node in below
        for parent in graph.predecessors(node)
        for sibling in graph.successors(parent)
    }
    return graph.subgraph(seeds | ancestors(graph, seeds) | below | siblings).copy()


def zoom_out(graph: nx.MultiDiGraph, modules: Iterable[str]) -> nx.MultiDiGraph:
    """Section 4.1, step by step."""
    modules = set(modules)
    result = graph.copy()

    def of(kind: str) -> list[str]:
        return [
            node
            for node, data in graph.nodes(data=True)
            if data.get("module") in modules and _type(data) == kind
        ]

    inputs, states, outputs = set(of("i")), set(of("s")), set(of("o"))
    intermediate: set[str] = set()
    inner = graph.subgraph([n for n, data in graph.nodes(data=True) if _type(data) != "o"])
    for start in inputs | states:
        intermediate |= nx.descendants(inner, start)
    removed = (intermediate - inputs) | states
    for state in states:
        removed |= {n for n in graph.predecessors(state) if graph.nodes[n]["kind"] == "token"}
    for node, data in graph.nodes(data=True):
        unused = data["kind"] == "token" and "execution" not in data and not graph.out_degree(node)
        if unused and data.get("module") in modules:
            removed.add(node)
    while True:
        constants = {
            node
            for node, data in graph.nodes(data=True)
            if node not in removed
            and (
                (_type(data) in ("v", "p") and data.get("module") in modules)
                or (data["kind"] == "v" and "module" not in data)
            )
            and graph.out_degree(node)
            and not any(
                next_ in result and next_ not in removed for next_ in graph.successors(node)
            )
        }
        if not constants:
            break
        removed |= constants
    result.remove_nodes_from(removed)
    for node in of("m"):
        data = graph.nodes[node]
        zoomed = f"{node}[zoomed]"
        result.add_node(zoomed, **{**data, "kind": "zoomed", "label": data["module"]})
        for other in inputs | outputs:
            if graph.nodes[other].get("invocation") != data["invocation"]:
                continue
            if graph.nodes[other]["module"] != data["module"]:
                continue
            edge = (other, zoomed) if other in inputs else (zoomed, other)
            result.add_edge(*edge, port=0)
    return result


def _type(data: dict[str, Any]) -> str:
    """The kind of a node; of a v-node beside an input, output or state tuple, that one's."""
    copies = data["kind"] == "v" and data["label"] in ("i", "o", "s")
    return str(data["label"] if copies else data["kind"])


def paths(graph: nx.MultiDiGraph, source: str, target: str) -> list[tuple[str, ...]]:
    """All paths of at least one edge, each once."""
    if source == target:
        return []
    return sorted({tuple(path) for path in nx.all_simple_paths(graph, source, target)})


def count(graph: nx.MultiDiGraph, given: dict[str, int]) -> dict[str, int]:
    """Annotations in N."""
    annotations: dict[str, int] = {}
    for node in nx.topological_sort(graph):
        edges = [(annotations[a], data["port"]) for a, _, data in graph.in_edges(node, data=True)]
        label = graph.nodes[node]["label"]
        if not edges:
            annotations[node] = given.get(node, 1)
        elif label in JOINT:
            annotations[node] = 1
            for value, _ in edges:
                annotations[node] *= value
        elif label == "⊖":
            left = [value for value, port in edges if port != Port.SUBTRAHEND]
            right = [value for value, port in edges if port == Port.SUBTRAHEND]
            annotations[node] = max((sum(left) if left else 1) - sum(right), 0)
        else:
            total = sum(value for value, _ in edges)
            annotations[node] = total if label == "+" else int(total > 0)
    return annotations
