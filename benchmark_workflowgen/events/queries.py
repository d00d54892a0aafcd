"""Questions to a reduced graph and to the full one: times, and bytes of their stores."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmark_workflowgen.events.jobs import JobExecution, edges_of, partial_of
from graphquery.reduction import Final, Reducer
from graphquery.store import Store
from lipstick.systems.events.graph import ReducedGraph
from lipstick.systems.events.store import ReducedWriter


def measure(
    executions: Sequence[JobExecution], folder: Path, questions: int
) -> list[dict[str, Any]]:
    """Write the full graph and the reduced one into stores, and trace the same outputs in both."""
    whole = partial_of(executions)
    reducer = Reducer()
    reducer.add(whole)
    reducer.seal()
    graphs = {
        "full": [Final(whole.keys, whole.edges, whole.vertices.roles & np.uint8(0))],
        "reduced": reducer.take_final(),
    }
    outputs = [name for each in executions if not each.readers for name in each.generates]
    targets = outputs[:: max(1, len(outputs) // questions)][:questions]
    rows, answers = [], []
    for name, finals in graphs.items():
        path = folder / name
        with Store.create(path).writer() as writer:
            ReducedWriter(writer).write("job", finals, batch=0)
        began = time.perf_counter()
        graph = ReducedGraph.open(path)
        graph.node(targets[0])
        opened = time.perf_counter() - began
        began = time.perf_counter()
        answers.append([graph.lineage(each) for each in targets])
        took = time.perf_counter() - began
        edges = len(edges_of(executions)) if name == "full" else sum(len(f.edges) for f in finals)
        rows.append(
            {
                "graph": name,
                "edges": edges,
                "store bytes": sum(f.stat().st_size for f in path.rglob("*") if f.is_file()),
                "open seconds": round(opened, 3),
                "ms a question": round(1000 * took / len(targets), 2),
            }
        )
    assert answers[0] == answers[1], "the graphs have different inputs"
    return rows
