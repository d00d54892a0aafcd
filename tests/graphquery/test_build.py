"""Building: the whole graph, the part around nodes, and stores that make no graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from graphquery import (
    Around,
    EdgeSet,
    Kind,
    Ordinals,
    ProvenanceGraph,
    Segment,
    UnknownNameError,
)
from graphquery.errors import StoreDamagedError
from tests.graphquery.builder import Builder
from tests.graphquery.dealership import FINE, dealership
from tests.graphquery.reference import facts


def chain() -> Builder:
    """Two nodes, each with an edge to each of two."""
    b = Builder()
    b.add("a", Kind.TOKEN, "", 2)
    b.add("b", Kind.DERIVED, "+", 2)
    b.edges("a", "b", [(1, 0), (0, 1)], implied=False)
    return b


def test_values_are_read_when_asked_for() -> None:
    """Building reads ordinals only; a value is read once."""
    b = dealership()
    graph = ProvenanceGraph.build(*b.data)
    assert {column for _, column in b.reads} <= {"source", "target"}
    b.reads.clear()
    assert graph.value("dealer1#1/CalcBid") == 20_000
    assert graph.value("dealer1#1/CalcBid") == 20_000
    assert b.reads == [("dealer1#1/CalcBid.parquet", "value")]


def test_around_a_module() -> None:
    """What dealer1 computes is made of nothing of the aggregator's, and that is not read."""
    b = dealership()
    part = ProvenanceGraph.build(*b.data, around=Around(modules=["dealer1"]))
    names = {name for name in FINE if not name.startswith("agg")}
    assert set(part.names(part.ids)) == names
    whole = ProvenanceGraph.build(*dealership().data)
    assert facts(part) == facts(whole.to_networkx().subgraph(names))


def test_around_a_relation() -> None:
    """Conditions hold together; the ancestors of what meets them are built."""
    b = dealership()
    around = Around(modules=["dealer1"], executions=[0], relations=["Inventory"])
    part = ProvenanceGraph.build(*b.data, around=around)
    whole = ProvenanceGraph.build(*dealership().data)
    inventory = whole.select(relation="Inventory")
    assert {"dealer1#1/CarsByModel", "agg#1"}.isdisjoint(part.names(part.ids))
    behind = inventory.ancestors().names()
    assert set(behind) <= set(part.names(part.ids))
    assert part.depends("dealer1#1/Inventory:C2", "dealer1/Cars:C2")


@pytest.mark.parametrize(
    ("around", "message"),
    [
        (
            Around(modules=["dealer"]),
            "The graph has no module 'dealer'.\nDid you mean dealer1?",
        ),
        (Around(executions=[7]), "The graph has no execution 7.\nThere are 0."),
        (
            Around(modules=["agg"], relations=["Cars"]),
            "No nodes meet all conditions at once.\nLeave one out.",
        ),
    ],
)
def test_around_nothing(around: Around, message: str) -> None:
    """What is not there is an error that says what is."""
    with pytest.raises(UnknownNameError) as error:
        ProvenanceGraph.build(*dealership().data, around=around)
    assert str(error.value) == message


def test_files_shared_by_segments_and_edges() -> None:
    """Several segments and edge sets in one file are parts of it, from their offsets."""
    stored: dict[tuple[str, str], Any] = {
        ("values", "k"): pa.chunked_array([["x", "y"], ["z"]]),
        ("edges", "source"): np.array([9, 1, 0], dtype=np.int64),
        ("edges", "target"): pa.array([9, 0, 0], pa.int32()),
    }
    segments = [
        Segment("a", Kind.TOKEN, "", 2, key=("k",), file="values", offset=0),
        Segment("b", Kind.DERIVED, "+", 1, key=("k",), file="values", offset=2),
    ]
    edges = [EdgeSet("a", "b", 2, file="edges", offset=1)]
    graph = ProvenanceGraph.build(segments, edges, lambda file, column: stored[file, column])
    assert graph.names(graph.ids) == ["a:x", "a:y", "b:z"]
    assert graph.ancestors("b:z").names() == ["a:x", "a:y"]


def failure(b: Builder) -> str:
    """The message of building."""
    with pytest.raises(StoreDamagedError) as error:
        ProvenanceGraph.build(*b.data)
    return str(error.value)


def test_segment_twice() -> None:
    """Names of segments are unique."""
    b = chain()
    b.add("a", Kind.TOKEN)
    assert failure(b) == ("Two segments have the name a.\nGive each segment its own name.")


def test_edges_to_nowhere() -> None:
    """Edges join segments that are there."""
    b = chain()
    b.edges("a", "c")
    assert failure(b) == (
        "Edges from a to c: there is no segment c.\nThe store is damaged: check it."
    )


@pytest.mark.parametrize("ordinal", [-1, 2])
def test_ordinals_out_of_range(ordinal: int) -> None:
    """An ordinal that is not a node."""
    b = chain()
    b.files["edges0.parquet"]["target"] = pa.array([0, ordinal])
    assert failure(b) == (
        f"Edges from a to b: ordinal {ordinal} in column 'target' of edges0.parquet is not a node;"
        " there are 2.\nThe store is damaged: check it."
    )


def test_columns_too_short() -> None:
    """A column with fewer rows than edges."""
    b = chain()
    b.files["edges0.parquet"]["source"] = pa.array([0])
    assert failure(b) == (
        "Column 'source' of edges0.parquet has 1 rows, and Edges from a to b needs rows 0 to 2.\n"
        "The store is damaged: check it."
    )


def test_ordinals_of_another_type() -> None:
    """Ordinals are integers and never NULL."""
    b = chain()
    b.files["edges0.parquet"]["source"] = pa.array([0.0, 1.0])
    assert "has type float64; ordinals are integers" in failure(b)
    b.files["edges0.parquet"]["source"] = pa.array([0, None])
    assert "has NULLs" in failure(b)


def test_implied_ends_that_are_not_there() -> None:
    """More edges than nodes, one at each; an edge at the first of none."""
    b = chain()
    b.edge_sets[0] = EdgeSet("a", "b", 3, Ordinals.ALL, Ordinals.ONE)
    assert "3 edges at 2 nodes of the source, one at each" in failure(b)
    b.segments[1] = replace(b.segments[1], count=0)
    b.edge_sets[0] = EdgeSet("a", "b", 1, Ordinals.ALL, Ordinals.ONE)
    assert "the target has no node" in failure(b)


def test_cycles() -> None:
    """A cycle is an error once an order is needed, and names nodes that are on it."""
    b = chain()
    b.edges("b", "a", [(0, 0)], implied=False)
    b.edges("a", "b", [(0, 0)], implied=False)
    graph = ProvenanceGraph.build(*b.data)
    from semiring.semirings import Counting

    with pytest.raises(StoreDamagedError, match=r"^Edges form a cycle that a\[0\], b\[0\]"):
        graph.evaluate(Counting())
