"""The engine on Spark against the one in memory, which is held against networkx."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from pyspark.sql import SparkSession

from graphquery import (
    EdgeSet,
    GraphEngine,
    GraphError,
    Kind,
    Ordinals,
    Port,
    ProvenanceGraph,
    Segment,
    UnknownNameError,
)
from graphquery.distributed.graph import SparkGraph
from graphquery.distributed.levels import Levels
from graphquery.distributed.row_edges import placing
from graphquery.errors import StoreDamagedError, ValuesError
from graphquery.reduced_nodes import REDUCED
from semiring.errors import CapabilityError
from semiring.semirings import Boolean, Counting
from tests.graphquery import reference
from tests.graphquery.builder import Builder
from tests.graphquery.dealership import dealership
from tests.graphquery.strategies import any_graphs, workflows

Build = Callable[..., SparkGraph]


@pytest.fixture(scope="module")
def build(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Stores what a `Builder` has collected as Parquet, and builds a graph of it on Spark."""

    def built(builder: Builder, **options: Any) -> SparkGraph:
        folder = tmp_path_factory.mktemp("graph #1%20")
        for name, columns in builder.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.table(columns), path)
        segments, edge_sets, _ = builder.data
        files = {name: str(folder / name) for name in builder.files}
        work = str(folder / "work")
        return SparkGraph.build(spark, segments, edge_sets, files.__getitem__, work, **options)

    return built


def disjoint(builders: list[Builder]) -> Builder:
    """One graph of many, so that one question to Spark is many."""
    union = Builder()
    for number, b in enumerate(builders):
        at = f"g{number}."
        for file, columns in b.files.items():
            union.files[at + file] = columns
        for s in b.segments:
            module = None if s.module is None else at + s.module
            file = None if s.file is None else at + s.file
            union.segments.append(replace(s, name=at + s.name, module=module, file=file))
        for e in b.edge_sets:
            file = None if e.file is None else at + e.file
            ends = {"source": at + e.source, "target": at + e.target}
            union.edge_sets.append(replace(e, file=file, **ends))
    return union


def examples(strategy: Any, count: int) -> list[Builder]:
    """Graphs drawn from a strategy, the same ones every time."""
    builders: list[Builder] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(builder: Builder) -> None:
        builders.append(builder)

    collect()
    return builders


@pytest.fixture(
    scope="module", params=["few", pytest.param("many", marks=pytest.mark.slow)], ids=str
)
def pair(request: pytest.FixtureRequest, build: Build) -> tuple[ProvenanceGraph, SparkGraph]:
    """Random graphs side by side in one, in memory and on Spark."""
    count, size = {"few": (2, 14), "many": (25, 80)}[request.param]
    runs = workflows().filter(lambda b: len(b.segments) <= size)
    b = disjoint(examples(any_graphs(), count) + examples(runs, count))
    return ProvenanceGraph.build(*b.data), build(b)


@pytest.fixture(scope="module")
def bidding(build: Build) -> SparkGraph:
    """The example's graph: a request, a bid of dealer1, and the aggregator."""
    return build(dealership())


def some(graph: ProvenanceGraph, seed: int, share: float) -> list[int]:
    """Some nodes of a graph, the same ones every time."""
    ids = graph.ids.tolist()
    return sorted(random.Random(seed).sample(ids, max(int(len(ids) * share), 1)))


def same(memory: ProvenanceGraph, spark: SparkGraph) -> None:
    """Two graphs have the same nodes, and the same edges between them."""
    assert spark.everything.ids.tolist() == memory.ids.tolist()
    assert (spark.node_count, spark.edge_count) == (memory.node_count, memory.edge_count)
    assert reference.facts(spark.to_memory()) == reference.facts(memory)


def test_graph_is_what_was_stored(pair: tuple[ProvenanceGraph, SparkGraph]) -> None:
    """All nodes and edges are there, whether their ordinals are stored or implied."""
    memory, spark = pair
    same(memory, spark)
    assert (spark.modules, spark.executions) == (memory.modules, memory.executions)


def test_reach(pair: tuple[ProvenanceGraph, SparkGraph]) -> None:
    """Ancestors and descendants, all of them and near ones."""
    memory, spark = pair
    seeds = some(memory, 1, 0.1)
    for distance in (None, 2):
        for way in ("ancestors", "descendants"):
            expected = getattr(memory, way)(seeds, distance).ids.tolist()
            assert getattr(spark, way)(seeds, distance).ids.tolist() == expected
            assert expected


def test_delete(pair: tuple[ProvenanceGraph, SparkGraph]) -> None:
    """Deletion is that of Definition 4.2."""
    memory, spark = pair
    seeds = some(memory, 2, 0.15)
    gone = spark.dependents(seeds)
    assert gone.ids.tolist() == memory.dependents(seeds).ids.tolist()
    assert spark.depends(seeds, gone)
    memory, spark = memory.delete(seeds), spark.delete(seeds)
    same(memory, spark)
    assert spark.stale().ids.tolist() == memory.stale().ids.tolist()
    assert len(memory.stale())
    aggregates = memory.select(label=["COUNT", "SUM", "MIN", "MAX"]).ids.tolist()
    values = memory.values(aggregates, stale="null")
    assert spark.values(aggregates, stale="null").equals(values)


@pytest.mark.slow
def test_delete_again(pair: tuple[ProvenanceGraph, SparkGraph]) -> None:
    """Deletion from what was deleted from before."""
    memory, spark = pair
    seeds = some(memory, 2, 0.15)
    memory, spark = memory.delete(seeds), spark.delete(seeds)
    again = some(memory, 3, 0.1)
    same(memory.delete(again), spark.delete(again))


@pytest.mark.slow
def test_subgraph(pair: tuple[ProvenanceGraph, SparkGraph]) -> None:
    """A subgraph, and what a deletion leaves of it."""
    memory, spark = pair
    seeds = some(memory, 4, 0.05)
    memory, spark = memory.subgraph(seeds), spark.subgraph(seeds)
    same(memory, spark)
    assert len(memory) < len(memory.storage.joint)
    seeds = some(memory, 5, 0.1)
    assert spark.dependents(seeds).ids.tolist() == memory.dependents(seeds).ids.tolist()


@pytest.mark.slow
def test_zoom(pair: tuple[ProvenanceGraph, SparkGraph]) -> None:
    """Zooming out, a deletion that goes through zoomed nodes, and zooming in again."""
    memory, spark = pair
    modules = random.Random(6).sample(memory.modules, len(memory.modules) * 2 // 3)
    memory, spark = memory.zoom_out(modules), spark.zoom_out(modules)
    same(memory, spark)
    seeds = some(memory, 7, 0.15)
    memory, spark = memory.delete(seeds), spark.delete(seeds)
    same(memory, spark)
    same(memory.zoom_in(modules[::2]), spark.zoom_in(modules[::2]))


@pytest.mark.slow
def test_difference(build: Build) -> None:
    """Of executions that are whole, and of what a deletion leaves of them."""
    several = workflows().filter(
        lambda b: {s.execution for s in b.segments} >= {0, 1} and len(b.segments) <= 30
    )
    (b,) = examples(several, 1)
    memory, spark = ProvenanceGraph.build(*b.data), build(b)
    seeds = some(memory, 8, 0.2)
    for first, other in ((memory, spark), (memory.delete(seeds), spark.delete(seeds))):
        expected, actual = first.difference(0, 1), other.difference(0, 1)
        assert actual.only_left.ids.tolist() == expected.only_left.ids.tolist()
        assert actual.only_right.ids.tolist() == expected.only_right.ids.tolist()
        assert actual.summary.equals(expected.summary)
        assert not expected.is_empty
    with pytest.raises(UnknownNameError, match=r"^The graph has no execution 9"):
        spark.difference(0, 9)


def answers(graph: GraphEngine[Any]) -> dict[str, Any]:
    """What the example's graph answers, whichever engine holds it."""
    car, bids, best = "dealer1/Cars:C2", "dealer1#1/Bids", "agg#1/Best.out"
    ends = "dealer1#1/Requests", "dealer1#1/AllInfoByModel"
    count = "dealer1#1/NumCarsByModel.NumAvail"
    left, coarse = graph.delete(car), graph.zoom_out("dealer1", "agg")
    given = [best, bids, best, car]
    occurs = graph.subgraph(bids).evaluate(Counting(), {car: 2}, nodes=bids)
    return {
        "ids": [graph.node(car), *graph.ordered(given).tolist()],
        "counts": (len(graph), graph.edge_count, len(left), len(coarse), coarse.edge_count),
        "modules": (graph.modules, graph.executions, coarse.zoomed, car in coarse),
        "values": graph.values([count, "agg#1/Best.Price", count], stale="null").to_pylist(),
        "after a deletion": (graph.value(count), left.value(count), left.stale().names()),
        "zoomed in again": coarse.zoom_in("dealer1", "agg").everything.names(),
        "depends": (graph.depends(bids, "input0/Requests:B1"), graph.depends(bids, car)),
        "near": graph.select(segment="dealer1/Cars").successors().predecessors().names(),
        "either": (graph.select(kind="s") | graph.ancestors(bids, 1)).dependents().names(),
        "inputs": graph.inputs(best),
        "paths": [graph.paths(*ends), graph.paths(*ends, longest=4)],
        "occurs": [occurs.value(bids), *occurs.values(given[1:2] * 2 + [car]).tolist()],
        "segment": graph.segment(car),
    }


@pytest.mark.slow
def test_dealership(bidding: SparkGraph) -> None:
    """Both engines answer what examples 4.2 to 4.5 ask, and refuse the bid that is unknown."""
    memory = ProvenanceGraph.build(*dealership().data)
    expected = answers(memory)
    assert answers(bidding) == expected
    assert expected["after a deletion"][:2] == (2, 1)
    assert expected["depends"] == (True, False)
    for graph in (memory, bidding):
        with pytest.raises(ValuesError, match=r"^The value of agg#1/Best\.Price after"):
            graph.delete("dealer1/Cars:C2").value("agg#1/Best.Price")


def counted() -> Builder:
    """A module that joins its input with its state, and puts out sums, groups and differences."""
    b = Builder()
    at = {"module": "M", "invocation": 1, "execution": 0}
    b.add("t", Kind.TOKEN, "", 3)
    b.add("M#1", Kind.INVOCATION, "M", **at)
    b.add("M#1/R", Kind.INPUT, "·", 3, **at)
    for end in ("t", "M#1"):
        b.edges(end, "M#1/R", [(i if end == "t" else 0, i) for i in range(3)])
    b.add("M#1/join", Kind.DERIVED, "·", 2, **at)
    b.edges("M#1/R", "M#1/join", [(0, 0), (1, 0), (1, 1), (2, 1)])
    for label, name in (("+", "sum"), ("δ", "group"), ("⊖", "monus")):
        b.add(f"M#1/{name}", Kind.DERIVED, label, 1, **at)
        b.edges("M#1/join", f"M#1/{name}", [(0, 0)] if name == "monus" else [(0, 0), (1, 0)])
    b.edges("M#1/R", "M#1/monus", [(2, 0)], Port.SUBTRAHEND)
    b.add("M#1/O", Kind.OUTPUT, "·", 3, **at)
    for ordinal, name in enumerate(("sum", "group", "monus")):
        b.edges(f"M#1/{name}", "M#1/O", [(0, ordinal)])
    b.edges("M#1", "M#1/O", [(0, ordinal) for ordinal in range(3)])
    return b


@pytest.mark.slow
def test_counting(build: Build) -> None:
    """Annotations in N, of zoomed graphs too; other semirings and counts too large are refused."""
    graph, memory = build(counted()), ProvenanceGraph.build(*counted().data)
    given = {"t[0]": 3, "t[1]": 2}
    for modules in ([], ["M"]):
        fine, plain = graph.zoom_out(modules), memory.zoom_out(modules)
        counts = fine.evaluate(Counting(), given).values(fine.everything)
        expected = plain.evaluate(Counting(), given).values(plain.ids)
        assert counts.tolist() == expected.tolist()
    assert memory.evaluate(Counting(), given).values(["M#1/sum", "M#1/monus"]).tolist() == [8, 5]
    assert graph.evaluate(Counting(), given, nodes="M#1/join[0]").value("M#1/join[0]") == 6
    with pytest.raises(CapabilityError, match=r"^On Spark graphs are evaluated in Counting, not"):
        graph.evaluate(Boolean())
    with pytest.raises(GraphError, match=r"^M#1/group derives from other nodes"):
        graph.evaluate(Counting(), {"M#1/group": 1})
    with pytest.raises(GraphError, match=r"^Counts beyond 64 bits: 1 on one level\."):
        graph.evaluate(Counting(), {"t[0]": 2**62, "t[1]": 4})


def test_what_is_not_in_a_graph(bidding: SparkGraph) -> None:
    """Errors say which node is meant, and why it is not there."""
    coarse = bidding.zoom_out("dealer1")
    with pytest.raises(UnknownNameError) as error:
        coarse.delete("dealer1/Cars:C2")
    assert str(error.value) == (
        "dealer1/Cars:C2 is inside dealer1, which is zoomed out.\nzoom_in('dealer1') first."
    )
    with pytest.raises(
        UnknownNameError, match=r"which is not zoomed out here\.\nzoom_out\('agg'\)"
    ):
        coarse.node("agg#1[zoomed]")
    assert coarse.node("dealer1#1[zoomed]") in coarse
    with pytest.raises(UnknownNameError, match=r"^The graph has no module 'dealer'"):
        bidding.zoom_out("dealer")
    with pytest.raises(GraphError, match=r"^A distance cannot be -1 edges"):
        bidding.ancestors("agg#1", -1)
    with pytest.raises(GraphError, match=r"^Nodes are not selected by 'where' on Spark"):
        bidding.select(where={"Model": "Civic"})
    chosen = bidding.select(kind="s", module="dealer1")
    assert chosen.names() == ["dealer1#1/Cars:C2", "dealer1#1/Cars:C3"]
    gone = bidding.delete("dealer1/Cars:C1")
    with pytest.raises(UnknownNameError, match=r"^dealer1/Cars:C1 was deleted\."):
        gone.resolve(bidding.select(relation="Cars"))


def test_bounds(build: Build) -> None:
    """More rounds or nodes than allowed are errors that say what to change."""
    b = Builder()
    b.add("s0", Kind.TOKEN, "", 2)
    for number in range(4):
        b.add(f"s{number + 1}", Kind.DERIVED, "+", 2)
        b.edges(f"s{number}", f"s{number + 1}", [(0, 0), (1, 1)])
    graph = build(b, rounds=3, bring=4)
    with pytest.raises(GraphError) as error:
        graph.descendants("s0[0]")
    assert str(error.value) == (
        "The question needs more than 3 rounds over the edges.\nAsk about fewer executions, give"
        " the graph a greater `rounds`, or zoom out first."
    )
    below = graph.descendants(["s0[0]", "s0[1]"])
    assert len(below) == 8
    with pytest.raises(GraphError, match=r"^8 nodes are more than the 4 that are brought to"):
        below.names()
    with pytest.raises(GraphError, match=r"^10 nodes are more than the 4 that are brought into"):
        graph.to_memory()
    b.edges("s4", "s4", [(0, 1)])
    with pytest.raises(GraphError, match=r"^Counting on Spark goes from segment to segment, and"):
        build(b).evaluate(Counting())


@pytest.mark.parametrize("count", [0, 1])
def test_degenerate_graphs(build: Build, count: int) -> None:
    """A graph of no node, and of one."""
    b = Builder()
    b.add("s", Kind.DERIVED, "+", count)
    graph = build(b)
    assert len(graph) == count
    assert len(graph.ancestors(graph.everything)) == 0
    assert len(graph.delete(graph.everything)) == 0
    assert len(graph.subgraph(graph.everything)) == count
    assert graph.depends([], [])
    assert graph.zoom_out().zoom_in() is graph


def test_damaged_stores(build: Build) -> None:
    """Segments twice or missing, too few edges, ordinals that are not nodes."""
    b = Builder()
    b.add("s", Kind.TOKEN, "", 2)
    b.add("t", Kind.DERIVED, "+", 2)
    b.edges("s", "t", [(1, 0), (0, 1)])
    b.edge_sets[0] = replace(b.edge_sets[0], count=3)
    with pytest.raises(
        StoreDamagedError, match=r"^The files have 2 edges, and the graph should have 3"
    ):
        build(b)
    b.edge_sets[0] = replace(b.edge_sets[0], count=2)
    b.segments[0] = replace(b.segments[0], count=1)
    with pytest.raises(StoreDamagedError, match=r"^1 edges have ordinals that are not nodes"):
        build(b)
    b.segments[0] = replace(b.segments[0], name="t")
    with pytest.raises(StoreDamagedError, match=r"^Two segments have the name t"):
        build(b)
    b.segments[0] = replace(b.segments[0], name="u")
    with pytest.raises(StoreDamagedError, match=r"^Edges from s to t: there is no segment s"):
        build(b)


def test_what_a_reduction_dropped_is_refused(build: Build) -> None:
    """Ancestors and descendants are told of reduced nodes, deletions and annotations are not."""
    b = Builder()
    b.add("in", Kind.TOKEN, "", 2)
    b.add("out", Kind.DERIVED, REDUCED, 2)
    b.add("lone", Kind.DERIVED, REDUCED, 1)
    b.add("sum", Kind.DERIVED, "+", 1)
    b.edges("in", "out", [(0, 0)])
    b.edges("in", "sum", [(1, 0)])
    graph = build(b)
    assert graph.descendants("in[0]").names() == ["out[0]"]
    refused = r"^out\[0\] is in a reduced graph.*\nAsk for ancestors"
    for ask in (
        lambda: graph.delete("in[0]"),
        lambda: graph.delete("in[1]").delete("in[0]"),
        lambda: graph.dependents("in[0]"),
        lambda: graph.depends("out[0]", "in[0]"),
        lambda: graph.evaluate(Counting()),
        lambda: graph.evaluate(Counting(), nodes="out[0]"),
    ):
        with pytest.raises(GraphError, match=refused):
            ask()
    assert graph.dependents("in[1]").names() == ["in[1]", "sum"]
    assert graph.dependents(["out[0]", "lone"]).names() == ["out[0]", "lone"]
    assert graph.evaluate(Counting(), nodes=["sum", "out[1]", "lone"]).value("sum") == 1


def test_rows_that_several_edge_sets_share() -> None:
    """Rows of a file are edges of every set that they are in, those of other files of none."""
    segments = tuple(Segment(name, Kind.DERIVED, "+", 4) for name in "stu")
    column, every = Ordinals.COLUMN, Ordinals.ALL
    sets = (
        EdgeSet("s", "t", 3, column, every, "a b.parquet", offset=1),
        EdgeSet("s", "u", 2, column, every, "a b.parquet", offset=2),
        EdgeSet("t", "u", 2, every, Ordinals.ONE),
    )
    levels = Levels(segments, sets)
    place_edges = placing(levels, lambda file: f"/data/{file}")
    nothing = pa.nulls(4, pa.int64())
    rows = pa.array(range(4), pa.int64())
    stored = [pa.array([9, 3, 2, 1], pa.int64()), nothing]
    names = ["file", "row", "source", "target"]
    file = pa.array(["file:///data/a%20b.parquet"] * 4)
    edges = [
        (row["source"], row["target"])
        for batch in (
            pa.RecordBatch.from_arrays([file, rows, *stored], names),
            pa.RecordBatch.from_arrays([pa.array(["file:///b"] * 4), rows, *stored], names),
            pa.RecordBatch.from_arrays([pa.array([""] * 4), rows, nothing, nothing], names),
        )
        for placed in place_edges(iter([batch]))
        for row in placed.to_pylist()
        if not row["wrong"]
    ]
    assert sorted(edges) == [(1, 6), (1, 9), (2, 5), (2, 8), (3, 4), (4, 8), (5, 8)]


def test_levels() -> None:
    """Edges lead upwards, also those of zoomed nodes, but for segments that feed themselves."""
    b = dealership()
    levels = Levels(tuple(b.segments), b.edge_sets)
    links = {*levels.links, *levels.overlay_links}
    assert all(levels.level[source] < levels.level[target] for source, target in links)
    assert not levels.cyclic
    named = {s.name: n for n, s in enumerate(levels.segments)}
    zoomed = named["dealer1#1[zoomed]"]
    assert (named["dealer1#1/Requests"], zoomed) in levels.overlay_links
    assert (zoomed, named["dealer1#1/Bids.Price"]) in levels.overlay_links
    assert levels.links[named["dealer1#1"], named["dealer1#1/Cars"]].reaches_all
    assert not levels.links[named["dealer1/Cars"], named["dealer1#1/Cars"]].leaves_all
    looped = Builder()
    looped.add("s", Kind.DERIVED, "+", 2)
    looped.edges("s", "s", [(0, 1)])
    assert Levels(tuple(looped.segments), looped.edge_sets).cyclic == {0}
