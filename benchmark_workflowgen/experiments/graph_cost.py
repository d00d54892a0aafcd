"""The cost of operations on a large provenance graph, in memory and on networkx.

Another process generates a graph and writes it to Parquet; this one reads, builds and queries it.
Every question is asked several times, and medians of wall and processor time are reported: on a
busy machine processor time is closer to the wall time on an idle one. Bytes count the adjacency
that a question reads and the masks that it writes. networkx gets a smaller graph, on which both are
measured. Spark computes each question once, as jobs that write their results, and the answers
are checked against the engine in memory.

    python -m benchmark_workflowgen graph-cost --nodes 10000000 --output results.json
    python -m benchmark_workflowgen graph-cost --nodes 10000000 --engine spark --driver-memory 5g
"""

from __future__ import annotations

import multiprocessing
import pickle
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import click
import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from benchmark_workflowgen.environment import environment
from benchmark_workflowgen.generated_graphs import generate
from benchmark_workflowgen.harness import Row, output_option, timed, write_results
from benchmark_workflowgen.measure.graphs import questions
from benchmark_workflowgen.sessions import Sparks
from graphquery import EdgeSet, GraphEngine, ProvenanceGraph, Segment, arrays
from graphquery import csr as adjacency
from graphquery.distributed.graph import SparkGraph
from graphquery.protocol import Nodes
from semiring.base import Array
from semiring.semirings import Counting

T = TypeVar("T")
_PAGE = resource.getpagesize()


@click.command()
@click.option("--nodes", default=10_000_000, show_default=True)
@click.option("--modules", default=10, show_default=True)
@click.option("--executions", default=25, show_default=True)
@click.option("--networkx", "plain", default=500_000, show_default=True, help="Nodes; 0: none.")
@click.option("--repetitions", default=5, show_default=True)
@click.option("--engine", type=click.Choice(["memory", "spark"]), default="memory")
@click.option("--driver-memory", default="4g", show_default=True, help="Of Spark.")
@output_option
def main(
    nodes: int,
    modules: int,
    executions: int,
    plain: int,
    repetitions: int,
    engine: str,
    driver_memory: str,
    output: Path | None,
) -> None:
    """Measure building, zooming, deletion and traversal of generated graphs."""
    console = Console()
    document: dict[str, Any] = {"environment": environment(None)}
    if engine == "spark":
        document["spark"] = measure_on_spark(nodes, modules, executions, driver_memory)
        console.print(spark_table(document["spark"]))
    else:
        document["graph"] = measure(nodes, modules, executions, repetitions)
        console.print(table(document["graph"]))
    if plain and engine == "memory":
        document["networkx"] = compare(plain, modules, executions, repetitions)
        console.print(comparison(document["networkx"]))
    write_results(output, document)


@contextmanager
def written(nodes: int, modules: int, executions: int) -> Iterator[Path]:
    """Yield a temporary folder with a graph of about `nodes` nodes."""
    with tempfile.TemporaryDirectory(prefix="lipstick-graph-") as name:
        folder = Path(name)
        writing = multiprocessing.get_context("spawn").Process(
            target=write, args=(folder, nodes, modules, executions)
        )
        writing.start()
        writing.join()
        if writing.exitcode:
            raise click.ClickException("the graph could not be generated; is there memory for it?")
        yield folder


def measure_on_spark(
    nodes: int, modules: int, executions: int, driver_memory: str
) -> dict[str, Any]:
    """Time the operations that the engine on Spark has."""
    with written(nodes, modules, executions) as folder:
        _, edge_sets = stored(folder)
        return spark_times(load(folder), edge_sets, folder, driver_memory)


def measure(nodes: int, modules: int, executions: int, repetitions: int) -> dict[str, Any]:
    """Time all operations on a graph of about so many nodes, and count bytes."""
    with written(nodes, modules, executions) as folder:
        before = resident()
        times, graph = repeated(lambda: load(folder), min(repetitions, 3))
        memory = resident() - before
    rows: Row = {"load and build": times}
    for operation, run in questions(graph).items():
        rows[operation] = question_times(graph, run, repetitions)
    return {
        "nodes": graph.node_count,
        "edges": graph.edge_count,
        "segments": len(graph.segments),
        "bytes_of_adjacency": graph.storage.nbytes,
        "resident_bytes_after_build": memory,
        "peak_resident_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "operations": rows,
    }


def write(folder: Path, nodes: int, modules: int, executions: int) -> None:
    """Generate a graph and write it: ordinals to Parquet, the rest pickled."""
    generated = generate(nodes, modules, executions)
    for name, parts in generated.ordinals.items():
        with pq.ParquetWriter(
            folder / f"{name}.parquet", pa.schema([(name, pa.int32())]), use_dictionary=False
        ) as writer:
            writer.write_table(pa.table({name: pa.chunked_array([pa.array(p) for p in parts])}))
    (folder / "graph.pickle").write_bytes(pickle.dumps((generated.segments, generated.edge_sets)))


def stored(folder: Path) -> tuple[list[Segment], list[EdgeSet]]:
    """Return the segments and edge sets of a graph that was written."""
    parts: tuple[list[Segment], list[EdgeSet]] = pickle.loads(
        (folder / "graph.pickle").read_bytes()
    )
    return parts


def load(folder: Path) -> ProvenanceGraph:
    """Read a graph and build it."""
    segments, edge_sets = stored(folder)
    return ProvenanceGraph.build(
        segments, edge_sets, lambda file, column: pq.read_table(folder / file)[column]
    )


def repeated(run: Callable[[], T], repetitions: int) -> tuple[Row, T]:
    """Return the times of some repetitions and their medians, and the last result."""
    times, busy = [], []
    for _ in range(repetitions):
        started, working = time.perf_counter(), time.process_time()
        result = run()
        times.append(time.perf_counter() - started)
        busy.append(time.process_time() - working)
    return {
        "seconds": statistics.median(times),
        "all_seconds": times,
        "processor_seconds": statistics.median(busy),
    }, result


def question_times(graph: ProvenanceGraph, run: Callable[[], Any], repetitions: int) -> Row:
    """Time a question, asked once before; count the nodes of the answer and the bytes."""
    with metered(graph) as read:
        answer = run()
    times, _ = repeated(run, repetitions)
    written = getattr(getattr(answer, "view", None), "visible", None)
    extent = graph.node_count - len(answer) if written is not None else None
    return {
        **times,
        "nodes": extent if extent is not None else _extent(answer, graph),
        "bytes_touched": read[0] + (0 if written is None else 2 * written.nbytes),
    }


def _extent(answer: Any, graph: ProvenanceGraph) -> int:
    return len(answer) if hasattr(answer, "__len__") else graph.node_count


@contextmanager
def metered(graph: ProvenanceGraph) -> Iterator[list[int]]:
    """Count the bytes of adjacency that are read meanwhile."""
    read = [0]

    def positions(csr: adjacency.Csr, ids: Array) -> tuple[slice | Array, Array]:
        adjacent = adjacency.positions(csr, ids)
        edges = int(adjacent[1].sum())
        read[0] += 2 * len(ids) * csr.offsets.itemsize + edges * csr.nodes.itemsize
        # What is found is looked up in a mask of a byte per node.
        read[0] += edges
        return adjacent

    with patch.object(arrays, "positions", positions):
        yield read


def compare(nodes: int, modules: int, executions: int, repetitions: int) -> dict[str, Any]:
    """Time the same on networkx and on the engine, interleaved, on a smaller graph."""
    generated = generate(nodes, modules, executions)
    columns = generated.columns()
    build, graph = timed(
        lambda: ProvenanceGraph.build(generated.segments, generated.edge_sets, columns)
    )
    sources, targets, _ = graph.edges()
    before = resident()
    started = time.perf_counter()
    plain = nx.MultiDiGraph()
    plain.add_nodes_from(graph.ids.tolist())
    plain.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    rows = {"build": {"networkx": time.perf_counter() - started, "arrays": build}}
    memory = resident() - before
    joint = graph.storage.joint.tolist()
    random = np.random.default_rng(1)
    chosen = np.sort(random.choice(graph.ids, 1_000, replace=False))
    listed = chosen.tolist()
    pairs: dict[str, tuple[Callable[[], set[int]], Callable[[], Array]]] = {
        "descendants of 1,000 nodes": (
            lambda: plain_descendants(plain, listed),
            lambda: graph.descendants(chosen).ids,
        ),
        "delete 1,000 nodes": (
            lambda: plain_deletion(plain, listed, joint),
            lambda: graph.dependents(chosen).ids,
        ),
    }
    for name, (slow, fast) in pairs.items():
        times: dict[str, list[float]] = {"networkx": [], "arrays": []}
        for _ in range(repetitions):
            taken, expected = timed(slow)
            times["networkx"].append(taken)
            taken, ids = timed(fast)
            times["arrays"].append(taken)
            if set(ids.tolist()) != expected:
                raise click.ClickException(f"{name}: networkx and the engine disagree")
        rows[name] = {engine: statistics.median(values) for engine, values in times.items()}
    return {
        "nodes": graph.node_count,
        "edges": graph.edge_count,
        "networkx_bytes": memory,
        "arrays_bytes": graph.storage.nbytes,
        "seconds": rows,
    }


def plain_descendants(graph: nx.MultiDiGraph, seeds: Iterable[int]) -> set[int]:
    """Return all descendants of some nodes, by one traversal."""
    reached: set[int] = set()
    waiting = list(seeds)
    while waiting:
        for node in graph.successors(waiting.pop()):
            if node not in reached:
                reached.add(node)
                waiting.append(node)
    return reached


def plain_deletion(graph: nx.MultiDiGraph, seeds: Iterable[int], joint: list[bool]) -> set[int]:
    """Return what a deletion removes, without changing the graph."""
    gone = set(seeds)
    lost: dict[int, int] = {}
    waiting = list(gone)
    while waiting:
        for _, node in graph.out_edges(waiting.pop()):
            if node in gone:
                continue
            lost[node] = lost.get(node, 0) + 1
            if joint[node] or lost[node] == graph.in_degree(node):
                gone.add(node)
                waiting.append(node)
    return gone


def table(results: dict[str, Any]) -> Table:
    """Return the results as a table."""
    shown = _table(
        f"{results['nodes']:,} nodes, {results['edges']:,} edges,"
        f" {results['segments']:,} segments; adjacency {_mega(results['bytes_of_adjacency'])},"
        f" peak memory {_mega(results['peak_resident_bytes'])}",
        ("ms", "processor ms", "nodes concerned", "touched"),
    )
    for name, row in results["operations"].items():
        nodes = row.get("nodes")
        touched = row.get("bytes_touched")
        shown.add_row(
            name,
            f"{row['seconds'] * 1e3:,.1f}",
            f"{row['processor_seconds'] * 1e3:,.1f}",
            "" if nodes is None else f"{nodes:,}",
            "" if touched is None else _mega(touched),
        )
    return shown


def comparison(results: dict[str, Any]) -> Table:
    """Return the comparison with networkx as a table."""
    shown = _table(
        f"{results['nodes']:,} nodes: networkx {_mega(results['networkx_bytes'])},"
        f" arrays {_mega(results['arrays_bytes'])}",
        ("networkx ms", "arrays ms", "ratio"),
    )
    for name, row in results["seconds"].items():
        plain, fast = row["networkx"], row["arrays"]
        shown.add_row(name, f"{plain * 1e3:,.1f}", f"{fast * 1e3:,.1f}", f"{plain / fast:,.0f}")
    return shown


def resident() -> int:
    """Return the memory that this process has in use, in bytes."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE


def _mega(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


# -- on Spark ----------------------------------------------------------------------------------


def spark_times(
    memory: ProvenanceGraph, edge_sets: Iterable[EdgeSet], folder: Path, driver_memory: str
) -> dict[str, Any]:
    """Time building and all operations over the same files.

    Parameters
    ----------
    memory, edge_sets
        The graph, whose files are in the folder, and its edges as they are stored.
    """
    with Sparks(None, None, driver_memory) as sparks:
        spark = sparks.get(None, 8)
        where = (lambda file: str(folder / file), str(folder / "work"))
        built, graph = timed(lambda: SparkGraph.build(spark, memory.segments, edge_sets, *where))
        rows: Row = {"read and store by level": {"seconds": built}}
        for name, ask in spark_questions(memory).items():
            taken, size = timed(partial(_asked, ask, graph))
            if size != _size(ask(memory)):
                raise click.ClickException(f"{name}: the engines disagree")
            rows[name] = {"seconds": taken, "nodes": size}
    return {
        "nodes": memory.node_count,
        "edges": memory.edge_count,
        "levels": graph.view.levels.count,
        "driver_memory": driver_memory,
        "operations": rows,
    }


def spark_questions(
    memory: ProvenanceGraph,
) -> dict[str, Callable[[GraphEngine[Any]], int | Sized]]:
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


def spark_table(results: dict[str, Any]) -> Table:
    """Return the results as a table."""
    shown = _table(
        f"On Spark: {results['nodes']:,} nodes, {results['edges']:,} edges,"
        f" {results['levels']:,} levels; driver {results['driver_memory']}",
        ("s", "nodes"),
    )
    for name, row in results["operations"].items():
        nodes = row.get("nodes")
        shown.add_row(name, f"{row['seconds']:,.1f}", "" if nodes is None else f"{nodes:,}")
    return shown


def _counted(graph: GraphEngine[Any], nodes: Nodes) -> int:
    """Evaluate everything, and return the sum of some counts as proof."""
    return int(graph.evaluate(Counting()).values(nodes).sum())


def _asked(ask: Callable[[GraphEngine[Any]], int | Sized], graph: GraphEngine[Any]) -> int:
    return _size(ask(graph))


def _size(answer: int | Sized) -> int:
    return answer if isinstance(answer, int) else len(answer)


def _table(title: str, numbers: Sequence[str]) -> Table:
    """Return a table without rows, whose columns are an operation and numbers."""
    table = Table("operation", title=title)
    for column in numbers:
        table.add_column(column, justify="right")
    return table
