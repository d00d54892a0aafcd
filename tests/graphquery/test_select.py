"""Selections: conditions, traversal, sets."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from graphquery.errors import GraphError


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"kind": "m"}, ["and#1", "dealer1#1", "agg#1"]),
        (
            {"kind": ["i", "s"], "module": "dealer1"},
            ["dealer1#1/Requests", "dealer1#1/Cars:C2", "dealer1#1/Cars:C3"],
        ),
        ({"label": "δ"}, ["dealer1#1/CarsByModel", "dealer1#1/AllInfoByModel", "agg#1/Group"]),
        ({"relation": "Inventory"}, ["dealer1#1/Inventory:C2", "dealer1#1/Inventory:C3"]),
        ({"execution": 0, "kind": "token"}, ["input0/Requests:B1"]),
        (
            {"invocation": 1, "kind": "o", "module": ["and", "agg"]},
            ["and#1/Requests.out", "agg#1/Best.out"],
        ),
        ({"segment": "dealer1/Cars"}, ["dealer1/Cars:C1", "dealer1/Cars:C2", "dealer1/Cars:C3"]),
        ({"module": "nobody"}, []),
        (
            {"where": {"CarId": "C3", "Model": "Civic"}},
            ["dealer1/Cars:C3", "dealer1#1/Cars:C3", "dealer1#1/Inventory:C3"],
        ),
        (
            {"where": {"CarId": (">", "C1")}, "kind": "token"},
            ["dealer1/Cars:C2", "dealer1/Cars:C3"],
        ),
        ({"where": {"CarId": lambda column: pc.match_substring(column, "1")}}, ["dealer1/Cars:C1"]),
        (
            {"where": {"value": (">=", 20_000)}, "module": "agg"},
            ["agg#1/Bids.Price", "agg#1/Best.Price", "agg#1/Best.out.Price"],
        ),
        ({"within": ["agg#1", "and#1"], "module": "agg"}, ["agg#1"]),
    ],
)
def test_conditions(bidding: Any, conditions: dict[str, Any], expected: list[str]) -> None:
    """All conditions hold of what is selected, and all of which they hold is."""
    assert bidding.select(**conditions).names() == expected


def test_everything(bidding: Any) -> None:
    """Without conditions, all nodes."""
    assert len(bidding.select()) == bidding.node_count
    assert len(bidding.delete("and#1").select()) == bidding.delete("and#1").node_count


def test_zoomed_nodes(bidding: Any) -> None:
    """Zoomed nodes have kind, label, module and invocation; what is hidden is not selected."""
    coarse = bidding.zoom_out("dealer1", "agg")
    assert coarse.select(kind="zoomed").names() == ["dealer1#1[zoomed]", "agg#1[zoomed]"]
    assert coarse.select(label="agg").names() == ["agg#1", "agg#1[zoomed]"]
    assert coarse.select(label="δ").names() == []
    assert bidding.select(kind="zoomed").names() == []


def test_conditions_on_aggregates_after_deletion(bidding: Any) -> None:
    """A value is what it is in this graph; one that is not known meets no condition."""
    count = "dealer1#1/NumCarsByModel.NumAvail"
    left = bidding.delete("dealer1/Cars:C2")
    assert bidding.select(label="COUNT", where={"value": 2}).names() == [count]
    assert left.select(label="COUNT", where={"value": 2}).names() == []
    assert left.select(label="COUNT", where={"value": 1}).names() == [count]
    assert left.select(label="CalcBid", where={"value": (">", 0)}).names() == []


def test_traversal(bidding: Any) -> None:
    """From an output back to the inputs it was made of, step by step."""
    bid = bidding.select(kind="o", module="dealer1", where={"Model": "Civic"})
    assert bid.ancestors().select(kind="token").names() == [
        "input0/Requests:B1",
        "dealer1/Cars:C2",
        "dealer1/Cars:C3",
    ]
    assert bid.predecessors().names() == ["dealer1#1", "dealer1#1/InventoryBids"]
    assert bid.successors().names() == ["agg#1/Bids"]
    assert bid.descendants().sinks().names() == ["agg#1/Best.out", "agg#1/Best.out.Price"]
    assert bidding.select().sources().select(kind="v").names() == ["dealer1#1/one"]
    assert bid.descendants(0).names() == []
    cars = bidding.select(kind="token", where={"CarId": "C2"})
    assert "dealer1#1/Inventory:C2" in cars.dependents()


def test_sets(bidding: Any) -> None:
    """Union, intersection, difference, membership."""
    tokens, module = bidding.select(kind="token"), bidding.select(module="dealer1")
    both = tokens & module
    assert both.names() == ["dealer1/Cars:C1", "dealer1/Cars:C2", "dealer1/Cars:C3"]
    assert (tokens - module).names() == ["input0/Requests:B1"]
    assert len(tokens | module) == len(tokens) + len(module) - len(both)
    assert list(tokens) == tokens.ids.tolist()
    assert tokens == bidding.select(kind="token")
    assert hash(tokens) == hash(bidding.select(kind="token"))
    assert tokens != module
    assert "agg#1" not in tokens


def test_selections_of_different_graphs(bidding: Any) -> None:
    """They do not mix."""
    other = bidding.zoom_out("agg").select(kind="m")
    with pytest.raises(GraphError) as error:
        assert bidding.select(kind="m") & other
    assert str(error.value) == (
        "The selections are of different graphs.\nSelect again in one of them, such as"
        " graph.select(within=other.names())."
    )


def test_table(bidding: Any) -> None:
    """Names and attributes as a table, of stored and zoomed nodes, and of none."""
    table = bidding.zoom_out("agg").select(module="agg", kind=["i", "zoomed"]).to_table()
    assert table.drop_columns("id").to_pylist() == [
        {
            "name": name,
            "kind": kind,
            "label": label,
            "module": "agg",
            "invocation": 1,
            "execution": 0,
            "relation": relation,
        }
        for name, kind, label, relation in [
            ("agg#1/Bids", "i", "·", "Bids"),
            ("agg#1[zoomed]", "zoomed", "agg", None),
        ]
    ]
    empty = bidding.select(module="nobody").to_table()
    assert empty.num_rows == 0
    assert empty.schema == table.schema


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"kind": "mm"}, "There is no kind of node 'mm'.\nDid you mean m?"),
        (
            {"where": {"Colour": "red"}},
            "None of the 34 nodes has a column 'Colour'.\nLook at the columns of the relation that"
            " is meant.",
        ),
        (
            {"where": {"CarId": ("like", "C%")}},
            "'like' is not a comparison.\nUse one of =, <>, <, <=, >, >=, <=>.",
        ),
        (
            {"segment": "dealer1/Cars", "where": {"CarId": lambda column: [1, 2, 3]}},
            "The condition on 'CarId' gives 3 values of int64 for 3 nodes.\nIt is called with a"
            " column and returns a Boolean array.",
        ),
    ],
)
def test_conditions_that_make_no_sense(
    bidding: Any, conditions: dict[str, Any], message: str
) -> None:
    """Errors say what is wrong with a condition."""
    with pytest.raises(GraphError) as error:
        bidding.select(**conditions)
    assert str(error.value) == message


def test_description(bidding: Any) -> None:
    """A few names, and how many more."""
    assert repr(bidding.select(kind="m")) == "<Selection of 3: and#1, dealer1#1, agg#1>"
    assert repr(bidding.select()).endswith(", and 14 more>")
    assert repr(bidding.select(module="nobody")) == "<Selection of 0>"


def test_nulls_meet_no_comparison(engine: Any) -> None:
    """As in SQL; `<=>` compares them."""
    from graphquery import Kind
    from tests.graphquery.builder import Builder

    b = Builder()
    b.add("s", Kind.TOKEN, "", {"a": [1, None, 3]})
    b.files["s.parquet"]["a"] = pa.array([1, None, 3])
    graph = engine(b)
    assert graph.select(where={"a": ("<>", 1)}).ids.tolist() == [2]
    assert graph.select(where={"a": ("<=>", None)}).ids.tolist() == [1]
