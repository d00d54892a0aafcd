"""Values of v-nodes, and what deletions make of them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from graphquery import Kind, Port, ValuesError
from graphquery.values import aggregate_name
from semiring.errors import ArgumentError
from tests.graphquery.builder import Builder


def aggregation(label: str, values: list[Any], stored: Any, kind: pa.DataType) -> Builder:
    """Tuples t[i], one tensor each with its value, and an aggregate of them; then a copy."""
    b = Builder()
    size = range(len(values))
    b.add("t", Kind.TOKEN, "", len(values))
    b.add("v", Kind.VALUE, "constant", {"value": pa.array(values, kind)})
    b.add("x", Kind.VALUE, "⊗", len(values))
    b.add("a", Kind.VALUE, label, {"value": [stored]})
    b.add("o", Kind.VALUE, "o", {"value": [stored]})
    b.edges("t", "x", [(i, i) for i in size])
    b.edges("v", "x", [(i, i) for i in size], Port.VALUE)
    b.edges("x", "a", [(i, 0) for i in size])
    b.edges("a", "o")
    return b


MONEY = pa.decimal128(10, 2)


@pytest.mark.parametrize(
    ("label", "values", "kind", "stored", "expected"),
    [
        ("COUNT", [1, 2, 3, None], pa.int64(), 3, 2),
        ("sum", [1, 2, 3, None], pa.int64(), 6, 5),
        ("MIN", [1, 2, 3, None], pa.int32(), 1, 2),
        ("MAX", [1, 2, 3, None], pa.int32(), 3, 3),
        ("AVG", [1, 2, 3, None], pa.int64(), 2.0, 2.5),
        ("SUM DISTINCT", [1, 2, 3], pa.int64(), 6, 5),
        ("MAX", ["b", "a"], pa.string(), "b", "a"),
        ("SUM", [1, None], pa.int64(), 1, None),
        ("SUM", [0.5, 0.25], pa.float64(), 0.75, 0.25),
        (
            "SUM",
            [Decimal("0.10"), Decimal("0.20"), Decimal("99999999.99")],
            MONEY,
            Decimal("100000000.29"),
            Decimal("100000000.19"),
        ),
        (
            "AVG",
            [Decimal("1.00"), Decimal("0.10"), Decimal("0.10"), Decimal("0.11")],
            MONEY,
            Decimal("0.327500"),
            Decimal("0.103333"),
        ),
    ],
)
def test_aggregates_without_their_first_member(
    engine: Callable[[Builder], Any],
    label: str,
    values: list[Any],
    kind: pa.DataType,
    stored: Any,
    expected: Any,
) -> None:
    """Every aggregate, of every sort of values, exact where they are; and a copy of it."""
    graph = engine(aggregation(label, values, stored, kind))
    left = graph.delete("t[0]")
    assert graph.value("a") == graph.value("o") == stored
    assert left.value("a") == left.value("o") == expected
    assert left.values(["a"]).type == graph.values(["a"]).type


def test_no_tensor_left(engine: Callable[[Builder], Any]) -> None:
    """An aggregate without tensors is gone, and so is what copies it."""
    graph = engine(aggregation("SUM", [1, 2], 3, pa.int64()))
    left = graph.delete(["t[0]", "t[1]"])
    assert left.names(left.ids) == ["v[0]", "v[1]"]


def test_untouched_values_are_the_stored_ones(engine: Callable[[Builder], Any]) -> None:
    """Nothing is computed where nothing was deleted, not even what would come out otherwise."""
    b = aggregation("SUM", [1, 2], 17, pa.int64())
    b.add("u", Kind.TOKEN)
    assert engine(b).delete("u").value("a") == 17
    assert engine(b).delete("t[0]").value("a") == 2


def test_several_edges_count(engine: Callable[[Builder], Any]) -> None:
    """A tensor with two edges to an aggregate counts twice."""
    b = aggregation("SUM", [1, 2, 5], 10, pa.int64())
    b.edges("x", "a", [(1, 0)], implied=False)
    assert engine(b).delete("t[0]").value("a") == 9


def test_counts_without_values(engine: Callable[[Builder], Any]) -> None:
    """COUNT(*) needs no values; SUM does."""
    for label in ("COUNT", "SUM"):
        b = Builder()
        b.add("t", Kind.TOKEN, "", 3)
        b.add("x", Kind.VALUE, "⊗", 3)
        b.add("a", Kind.VALUE, label, {"value": [3]})
        b.edges("t", "x", [(i, i) for i in range(3)])
        b.edges("x", "a", [(i, 0) for i in range(3)])
        left = engine(b).delete("t[0]")
        if label == "COUNT":
            assert left.value("a") == 2
        else:
            with pytest.raises(ValuesError, match="its tensors have no values"):
                left.value("a")


def test_aggregates_of_aggregates(engine: Callable[[Builder], Any]) -> None:
    """A changed value that is aggregated again changes that aggregate too."""
    b = aggregation("COUNT", [1, 1, 1], 3, pa.int64())
    b.add("t2", Kind.TOKEN)
    b.add("x2", Kind.VALUE, "⊗")
    b.add("a2", Kind.VALUE, "SUM", {"value": [3]})
    b.edges("t2", "x2")
    b.edges("a", "x2", port=Port.VALUE)
    b.edges("x2", "a2")
    graph = engine(b)
    assert graph.delete("t[1]").value("a2") == 2
    assert graph.delete("t[1]").delete("t[0]").value("a2") == 1


def test_lost_subtrahends_are_stale(engine: Callable[[Builder], Any]) -> None:
    """`⊖` without its right operand stays and may have grown; without its left one it is gone."""
    b = Builder()
    for name in ("left", "right"):
        b.add(name, Kind.TOKEN)
    b.add("minus", Kind.DERIVED, "⊖")
    b.add("next", Kind.DERIVED, "+")
    b.edges("left", "minus")
    b.edges("right", "minus", port=Port.SUBTRAHEND)
    b.edges("minus", "next")
    graph = engine(b)
    assert graph.delete("right").stale().names() == ["minus", "next"]
    gone = graph.delete("left")
    assert gone.names(gone.ids) == ["right"]
    assert gone.stale().names() == []
    assert graph.stale().names() == []


def test_alternatives_change_nothing(engine: Callable[[Builder], Any]) -> None:
    """A `+` that lost a summand is the same tuple; a function of a group that lost one is stale."""
    b = Builder()
    b.add("t", Kind.TOKEN, "", 2)
    for label in ("+", "δ"):
        b.add(label, Kind.DERIVED, label)
        b.add(f"f{label}", Kind.VALUE, "f", {"value": [0]})
        b.edges("t", label, [(0, 0), (1, 0)])
        b.edges(label, f"f{label}")
    assert engine(b).delete("t[0]").stale().names() == ["fδ"]


def test_zoomed_invocations_are_black_boxes(bidding: Any) -> None:
    """One that lost an input is stale, with its outputs; stale outputs stay so, zoomed out."""
    from tests.graphquery.dealership import dealership

    b = dealership()
    b.add("input0/More", Kind.TOKEN, execution=0)
    b.add("agg#1/More", Kind.INPUT, "·", module="agg", invocation=1, execution=0)
    b.edges("input0/More", "agg#1/More")
    b.edges("agg#1", "agg#1/More")
    b.edges("agg#1/More", "agg#1/Group")
    from graphquery import ProvenanceGraph

    graph = ProvenanceGraph.build(*b.data)
    coarse = graph.zoom_out("agg").delete("input0/More")
    assert coarse.stale().names() == ["agg#1/Best.out", "agg#1/Best.out.Price", "agg#1[zoomed]"]
    left = bidding.delete("dealer1/Cars:C2").zoom_out("dealer1")
    assert left.stale().names()[0] == "dealer1#1/Bids.Price"
    assert "dealer1#1[zoomed]" in left.stale()
    again = left.zoom_in("dealer1")
    assert again.stale().names() == bidding.delete("dealer1/Cars:C2").stale().names()


def test_values_of_several_nodes(bidding: Any) -> None:
    """In the order given, of several segments; NULL for stale ones if asked for."""
    nodes = ["agg#1/Best.Price", "dealer1#1/NumCarsByModel.NumAvail", "agg#1/Best.Price"]
    assert bidding.values(nodes).to_pylist() == [20_000, 2, 20_000]
    left = bidding.delete("dealer1/Cars:C2")
    assert left.values(nodes, stale="null").to_pylist() == [None, 1, None]
    assert bidding.values([]).to_pylist() == []
    assert bidding.select(label="MIN").values().to_pylist() == [20_000]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (
            ["dealer1#1"],
            "The nodes of dealer1#1 have no value: they are of kind 'm', labelled 'dealer1'.\nAsk"
            " for constants, aggregates or functions' results.",
        ),
        (
            ["agg#1[zoomed]"],
            "agg#1[zoomed] has no value: it is an invocation.\nAsk for its outputs.",
        ),
        (
            ["dealer1#1/one", "text"],
            "The values are of types int64 and string.\nAsk for the values of one type at a time.",
        ),
    ],
)
def test_nodes_without_a_value(
    engine: Callable[[Builder], Any], nodes: list[str], message: str
) -> None:
    """What has no value, or not of the same type as others."""
    from tests.graphquery.dealership import dealership

    b = dealership()
    b.add("text", Kind.VALUE, "x", {"value": ["x"]})
    with pytest.raises(ValuesError) as error:
        engine(b).zoom_out("agg").values(nodes)
    assert str(error.value) == message


def test_unknown_treatment_of_stale_values(bidding: Any) -> None:
    """The two there are, are named."""
    with pytest.raises(
        ArgumentError, match=r"stale is 'ignore'.*\nIt should be: 'raise' or 'null'"
    ):
        bidding.values("agg#1/Best.Price", stale="ignore")


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("COUNT", "COUNT"),
        ("avg", "AVG"),
        ("sum distinct", "SUM"),
        ("sum(x) + 1", None),
        ("max_by", None),
        ("", None),
    ],
)
def test_labels_of_aggregates(label: str, name: str | None) -> None:
    """Names of aggregates are; expressions over them and other functions are not."""
    assert aggregate_name(label) == name


def test_expressions_over_aggregates_are_stale(engine: Callable[[Builder], Any]) -> None:
    """What is computed from a changed aggregate, other than by an aggregate, is not known."""
    b = aggregation("SUM", [1, 2], 3, pa.int64())
    b.add("e", Kind.VALUE, "sum(x) + 1", {"value": [4]})
    b.edges("a", "e")
    assert engine(b).delete("t[0]").stale().names() == ["e"]


def test_values_that_come_from_a_zoomed_module(engine: Callable[[Builder], Any]) -> None:
    """A tensor whose value is hidden has none, and the error says where it is."""
    b = aggregation("SUM", [1, 2], 3, pa.int64())
    b.add("m#1", Kind.INVOCATION, "m", module="m", invocation=1, execution=0)
    b.add("m#1/R", Kind.INPUT, "·", module="m", invocation=1, execution=0)
    b.add("m#1/f", Kind.VALUE, "f", {"value": [5]}, module="m", invocation=1, execution=0)
    b.add("u", Kind.TOKEN)
    b.add("x2", Kind.VALUE, "⊗")
    b.edges("m#1/R", "m#1/f")
    b.edges("m#1", "m#1/R")
    b.edges("u", "x2")
    b.edges("m#1/f", "x2", port=Port.VALUE)
    b.edges("x2", "a")
    graph = engine(b)
    assert graph.delete("t[0]").value("a") == 7
    with pytest.raises(ValuesError) as error:
        graph.zoom_out("m").delete("t[0]").value("a")
    assert str(error.value) == (
        "x2 is a tensor without exactly one value here.\nZoom in on the module that the value comes"
        " from; otherwise the store is damaged: check it."
    )


def test_values_ordered_part_by_part(engine: Callable[[Builder], Any]) -> None:
    """The least of structs, as Spark orders them."""
    kind = pa.struct([("n", pa.int64())])
    graph = engine(aggregation("MIN", [{"n": 1}, {"n": 2}], {"n": 1}, kind))
    assert graph.value("a") == {"n": 1}
    assert graph.delete("t[0]").value("a") == {"n": 2}


def test_values_without_an_order(engine: Callable[[Builder], Any]) -> None:
    """Maps have no least one; a group that loses none keeps its value."""
    kind = pa.map_(pa.string(), pa.int64())
    first, two = (pa.scalar([("n", n)], kind) for n in (1, 2))
    graph = engine(aggregation("MIN", [first, two], first, kind))
    assert graph.value("a") == [("n", 1)]
    with pytest.raises(ValuesError, match=r"^a cannot be computed here: MIN of values of type map"):
        graph.delete("t[0]").value("a")
