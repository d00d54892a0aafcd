"""The cost of operations on a large provenance graph on Spark, with answers checked against the
engine in memory.

Each question is asked once: Spark computes it as jobs that write their results, so that no lazy
computation remains.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sized
from pathlib import Path
from typing import Any

import click
import numpy as np
from pyspark.sql import SparkSession
from rich.table import Table

from graphquery import EdgeSet, GraphEngine, ProvenanceGraph
from graphquery.distributed.graph import SparkGraph
from graphquery.protocol import Nodes
from lipstick.engines.spark.local_session import local_builder
from semiring.semirings import Counting


def session(folder: Path, memory: str) -> SparkSession:
    """Start a local Spark whose temporary files are in a folder."""
    settings: dict[str, Any] = {
        "spark.driver.memory": memory,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "8",
        "spark.local.dir": str(folder / "local"),
        "spark.log.level": "ERROR",
    }
    return local_builder("graph").config(map=settings).getOrCreate()


def measure(
    memory: ProvenanceGraph, edge_sets: Iterable[EdgeSet], folder: Path, driver_memory: str
) -> dict[str, Any]:
    """Time building and all operations over the same files.

    Parameters
    ----------
    memory, edge_sets
        The graph, whose files are in the folder, and its edges as they are stored.
    """
    spark = session(folder, driver_memory)
    try:
        started = time.perf_counter()
        graph = SparkGraph.build(
            spark,
            memory.segments,
            edge_sets,
            lambda file: str(folder / file),
            str(folder / "work"),
        )
        rows: dict[str, Any] = {"read and store by level": {"seconds": _since(started)}}
        for name, ask in questions(memory).items():
            started = time.perf_counter()
            size = _size(ask(graph))
            seconds = _since(started)
            if size != _size(ask(memory)):
                raise click.ClickException(f"{name}: the engines disagree")
            rows[name] = {"seconds": seconds, "nodes": size}
    finally:
        spark.stop()
    return {
        "nodes": memory.node_count,
        "edges": memory.edge_count,
        "levels": graph.view.levels.count,
        "driver_memory": driver_memory,
        "operations": rows,
    }


def questions(memory: ProvenanceGraph) -> dict[str, Callable[[GraphEngine[Any]], int | Sized]]:
    """Return the questions to either engine, on nodes drawn with a fixed seed."""
    random = np.random.default_rng(1)
    inputs = memory.select(kind="token", relation="R").ids
    few = np.sort(random.choice(inputs, min(1_000, len(inputs)), replace=False))
    any_nodes = np.sort(random.choice(memory.ids, 1_000, replace=False))
    single = any_nodes[:1]
    modules = memory.modules
    module = modules[len(modules) // 2]
    return {
        "descendants of 1 node": lambda graph: graph.descendants(single),
        "descendants of 1,000 inputs": lambda graph: graph.descendants(few),
        "ancestors of 1,000 nodes": lambda graph: graph.ancestors(any_nodes),
        "delete 1 node": lambda graph: graph.delete(single),
        "delete 1,000 nodes": lambda graph: graph.delete(any_nodes),
        "delete 1,000 inputs": lambda graph: graph.delete(few),
        "subgraph of 1 node": lambda graph: graph.subgraph(single),
        "zoom out of one module": lambda graph: graph.zoom_out(module),
        "zoom out of all modules": lambda graph: graph.zoom_out(modules),
        "counting evaluation": lambda graph: _counted(graph, any_nodes),
    }


def table(results: dict[str, Any]) -> Table:
    """Return the results as a table."""
    shown = Table(
        title=f"On Spark: {results['nodes']:,} nodes, {results['edges']:,} edges,"
        f" {results['levels']:,} levels; driver {results['driver_memory']}"
    )
    for column in ("operation", "s", "nodes"):
        shown.add_column(column, justify="left" if column == "operation" else "right")
    for name, row in results["operations"].items():
        nodes = row.get("nodes")
        shown.add_row(name, f"{row['seconds']:,.1f}", "" if nodes is None else f"{nodes:,}")
    return shown


def _counted(graph: GraphEngine[Any], nodes: Nodes) -> int:
    """Evaluate everything, and take some counts as proof: their sum."""
    return int(graph.evaluate(Counting()).values(nodes).sum())


def _size(answer: int | Sized) -> int:
    return answer if isinstance(answer, int) else len(answer)


def _since(started: float) -> float:
    return time.perf_counter() - started
