"""Inputs, differences, paths, annotations and exchange, on graphs written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest

from graphquery import GraphError, Kind, UnknownNameError
from semiring import Polynomial, Token, ValuationError
from semiring.semirings import Counting, Polynomials, Why
from tests.graphquery.builder import Builder


def test_inputs(bidding: Any) -> None:
    """Which inputs of which execution, and which tuples of the state."""
    inputs = bidding.inputs("agg#1/Best.out").drop_columns("id")
    assert inputs.to_pylist() == [
        {"node": "input0/Requests:B1", "execution": 0, "module": None, "relation": "Requests"},
        {"node": "dealer1/Cars:C2", "execution": None, "module": "dealer1", "relation": "Cars"},
        {"node": "dealer1/Cars:C3", "execution": None, "module": "dealer1", "relation": "Cars"},
    ]
    assert bidding.inputs("dealer1/Cars:C1")["node"].to_pylist() == ["dealer1/Cars:C1"]
    assert bidding.inputs([]).num_rows == 0
    coarse = bidding.zoom_out("dealer1").inputs("agg#1/Best.out")
    assert coarse["node"].to_pylist() == ["input0/Requests:B1"]


def executions() -> Builder:
    """Two executions of a module: the second takes c instead of b, and derives one tuple more."""
    b = Builder()
    for execution, keys in enumerate((["a", "b"], ["a", "c"])):
        at = {"module": "m", "invocation": execution + 4, "execution": execution}
        name = f"m#{execution + 4}"
        b.add(
            f"in{execution}", Kind.TOKEN, "", {"k": keys}, ("k",), execution=execution, relation="R"
        )
        b.add(name, Kind.INVOCATION, "m", **at)
        b.add(f"{name}/R", Kind.INPUT, "·", {"k": keys}, ("k",), **at)
        b.add(f"{name}/T", Kind.DERIVED, "+", 2 + execution, **at)
        b.edges(f"in{execution}", f"{name}/R", [(0, 0), (1, 1)])
    return b


def test_difference(engine: Callable[[Builder], Any]) -> None:
    """Nodes are matched by key, others by number, in corresponding invocations."""
    difference = engine(executions()).difference(0, 1)
    assert difference.only_left.names() == ["in0:b", "m#4/R:b"]
    assert difference.only_right.names() == ["in1:c", "m#5/R:c", "m#5/T[2]"]
    assert difference.summary.to_pylist() == [
        {
            "module": module,
            "invocation": invocation,
            "nodes": nodes,
            "kind": kind,
            "label": label,
            "left": 2,
            "right": right,
            "common": common,
        }
        for module, invocation, nodes, kind, label, right, common in [
            ("m", 1, "R", "i", "·", 2, 1),
            ("m", 1, "T", "p", "+", 3, 2),
            (None, 0, "R", "token", "", 2, 1),
        ]
    ]
    assert not difference.is_empty


def test_no_difference(engine: Callable[[Builder], Any]) -> None:
    """An execution does not differ from itself; one that is not there is an error."""
    graph = engine(executions())
    same = graph.difference(1, 1)
    assert same.is_empty
    assert same.summary.num_rows == 0
    with pytest.raises(UnknownNameError) as error:
        graph.difference(0, 2)
    assert str(error.value) == "The graph has no execution 2.\nIt has 2: 0, 1."


def test_paths(bidding: Any) -> None:
    """The shortest first, as many and as long as asked for."""
    paths = bidding.paths("dealer1#1/Requests", "dealer1#1/AllInfoByModel", limit=3)
    assert [len(path) for path in paths] == [2, 6, 6]
    assert bidding.names(paths[0]) == ["dealer1#1/Requests", "dealer1#1/AllInfoByModel"]
    assert len(bidding.paths("dealer1#1/Requests", "dealer1#1/AllInfoByModel", longest=4)) == 1
    assert bidding.paths("agg#1", "and#1") == []
    assert bidding.paths([], "and#1") == []
    assert bidding.paths("and#1", "agg#1/Bids", limit=0) == []
    with pytest.raises(GraphError, match="Limits of paths cannot be negative"):
        bidding.paths("and#1", "agg#1", limit=-1)
    with pytest.raises(GraphError, match="A distance cannot be -1 edges"):
        bidding.ancestors("and#1", -1)


def test_paths_where_there_are_very_many(engine: Callable[[Builder], Any]) -> None:
    """Of 2**60 paths the first few come at once."""
    b = Builder()
    b.add("s0", Kind.TOKEN)
    for number in range(60):
        size = 1 if number % 2 else 4
        b.add(f"s{number + 1}", Kind.DERIVED, "+", size)
        before = b.segments[number].count
        pairs = [(i, j) for i in range(before) for j in range(size)]
        b.edges(f"s{number}", f"s{number + 1}", pairs, implied=False)
    assert len(engine(b).paths("s0", "s60", limit=5)) == 5


def test_polynomials(bidding: Any) -> None:
    """Annotations in N[X], whose tokens are named by segment and key."""
    joined = "dealer1#1/Inventory:C2"
    evaluated = bidding.evaluate(Polynomials(), nodes=joined)
    polynomial = evaluated.value(joined)
    request, car = Token("input0/Requests", ("B1",)), Token("dealer1/Cars", ("C2",))
    assert polynomial == Polynomial.token(request) * Polynomial.token(car)
    assert evaluated.value("dealer1#1/CarsByModel") == Polynomial()
    witnesses = bidding.evaluate(Why()).value("dealer1#1/CarsByModel")
    assert len(witnesses) == 2


def test_valuations(bidding: Any) -> None:
    """By name, by id, by token, or a function of the token."""
    node = "dealer1#1/Inventory:C2"
    car = "dealer1/Cars:C2"
    token = Token("dealer1/Cars", ("C2",))
    for valuation in ({car: 3}, {bidding.node(car): 3}, {token: 3}):
        assert bidding.evaluate(Counting(), valuation).value(node) == 3
    by_function = bidding.evaluate(Counting(), lambda t: 3 if t == token else 1)
    assert by_function.values([node, "dealer1#1/Inventory:C3"]).tolist() == [3, 1]
    assert bidding.evaluate(Counting(), {"dealer1#1": 0}).value("dealer1#1/Bids") == 0


def test_valuations_that_do_not_fit(bidding: Any) -> None:
    """A value outside the semiring, and a node that is made of others."""
    with pytest.raises(ValuationError):
        bidding.evaluate(Counting(), {"dealer1/Cars:C2": -1})
    with pytest.raises(GraphError) as error:
        bidding.evaluate(Counting(), {"agg#1/Group": 1})
    assert str(error.value) == (
        "agg#1/Group derives from other nodes, as does its annotation.\nGive values to nodes"
        " without incoming edges, such as tokens."
    )


def test_counts_beyond_64_bits(engine: Callable[[Builder], Any]) -> None:
    """Counts are exact however large."""
    b = Builder()
    b.add("s0", Kind.TOKEN)
    for number in range(80):
        b.add(f"s{number + 1}", Kind.DERIVED, "+")
        b.edges(f"s{number}", f"s{number + 1}", [(0, 0), (0, 0)], implied=False)
    assert engine(b).evaluate(Counting()).value("s80") == 2**80


def test_networkx(bidding: Any) -> None:
    """Attributes of nodes and ports of edges; what there is none of is left out."""
    exported = bidding.to_networkx()
    assert isinstance(exported, nx.MultiDiGraph)
    assert exported.nodes["dealer1/Cars:C2"] == {
        "id": bidding.node("dealer1/Cars:C2"),
        "kind": "token",
        "label": "",
        "module": "dealer1",
        "relation": "Cars",
    }
    ports = {data["port"] for _, _, data in exported.edges(data=True)}
    assert ports == {0, 2}
