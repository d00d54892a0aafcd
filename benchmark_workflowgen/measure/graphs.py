"""The cost of questions to a provenance graph, against its size.

The nodes of the questions are drawn with a seed. Times are of one process, without Spark.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmark_workflowgen.harness import seconds, timed
from benchmark_workflowgen.measure.rows import Measurement
from graphquery import GraphEngine, ProvenanceGraph
from semiring.semirings import Counting

FEW = 1_000
"""Limit on the nodes of a question about many."""


def questions(graph: GraphEngine[Any], seed: int = 1) -> dict[str, Callable[[], Any]]:
    """Return the questions by name.

    Parameters
    ----------
    seed
        Of the nodes that are drawn.
    """
    random = np.random.default_rng(seed)
    inputs = graph.select(kind="token").ids
    few = np.sort(random.choice(inputs, min(FEW, len(inputs)), replace=False))
    any_nodes = np.sort(random.choice(graph.everything.ids, min(FEW, len(graph)), replace=False))
    module = graph.modules[len(graph.modules) // 2]
    every = graph.zoom_out(graph.modules)
    return {
        "zoom out of one module": lambda: graph.zoom_out(module),
        "zoom out of all modules": lambda: graph.zoom_out(graph.modules),
        "zoom in on one of all": lambda: every.zoom_in(module),
        "delete 1 node": lambda: graph.delete(any_nodes[:1]),
        f"delete {FEW:,} nodes": lambda: graph.delete(any_nodes),
        f"delete {FEW:,} inputs": lambda: graph.delete(few),
        f"descendants of {FEW:,} nodes": lambda: graph.descendants(any_nodes),
        f"descendants of {FEW:,} inputs": lambda: graph.descendants(few),
        f"ancestors of {FEW:,} nodes": lambda: graph.ancestors(any_nodes),
        "subgraph of 1 node": lambda: graph.subgraph(any_nodes[:1]),
        "counting evaluation": lambda: graph.evaluate(Counting()),
    }


def measure_graph(
    load: Callable[[], ProvenanceGraph], repetitions: int, seed: int = 1
) -> Iterator[Measurement]:
    """Load a graph and ask all questions, each several times.

    Yields
    ------
    Measurement
        The median time of `load and build` and of each question, asked once before; `nodes` and
        `edges`.
    """
    loads = [timed(load) for _ in range(repetitions)]
    graph = loads[-1][1]
    yield Measurement("nodes", "graph", graph.node_count, "")
    yield Measurement("edges", "graph", graph.edge_count, "")
    yield Measurement(
        "load and build", "graph", statistics.median(taken for taken, _ in loads), "s"
    )
    for name, ask in questions(graph, seed).items():
        ask()
        times = [seconds(ask) for _ in range(repetitions)]
        yield Measurement(name, "graph", statistics.median(times), "s")
