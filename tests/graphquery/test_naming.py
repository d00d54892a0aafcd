"""Names of nodes, there and back."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from graphquery import Kind, ProvenanceGraph, UnknownNameError
from graphquery.naming import key_texts
from semiring.token import format_value
from tests.graphquery.builder import Builder


def keyed(values: list[Any], kind: pa.DataType | None = None) -> Any:
    """A graph of one segment with a key."""
    b = Builder()
    b.add("d#1/Cars", Kind.TOKEN, "", {"k": values}, ("k",))
    if kind is not None:
        b.files["d#1/Cars.parquet"]["k"] = pa.array(values, kind)
    return ProvenanceGraph.build(*b.data)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["C2", "it's", "1", "1e5", "null", "TRUE", "-inf", "", "a:b", "ü", None], None),
        (["C2", "C2x"], pa.large_string()),
        (["C2", "C3", "C2x"], pa.dictionary(pa.int32(), pa.string())),
        ([1, -2, None], pa.int64()),
        ([True, False, None], None),
        ([date(2020, 1, 2), None], None),
        ([Decimal("1.50"), Decimal("-1.00"), None], None),
        ([1.5, float("inf"), float("nan")], None),
        ([b"ab", None], None),
    ],
)
def test_keys_as_tokens_are_written(values: list[Any], kind: pa.DataType | None) -> None:
    """Every type of key, as in the tokens of annotations, and found again by it."""
    graph = keyed(values, kind)
    expected = [f"d#1/Cars:{format_value(value)}" for value in values]
    assert graph.names(graph.ids) == expected
    assert [graph.node(name) for name in expected] == graph.ids.tolist()


def test_keys_of_several_columns() -> None:
    """Columns of a key are joined as in tokens."""
    b = Builder()
    b.add("s", Kind.TOKEN, "", {"a": [1, 2], "b": ["x|y", "z"]}, ("a", "b"))
    graph = ProvenanceGraph.build(*b.data)
    assert graph.names(graph.ids) == ["s:1|'x|y'", "s:2|z"]
    assert graph.node("s:2|z") == 1
    assert key_texts(graph.storage, graph.segments[0]).to_pylist() == ["1|'x|y'", "2|z"]


def test_names_in_any_order() -> None:
    """Names are in the order asked for, the same node as often as asked for."""
    graph = keyed(["a", "b", "c"])
    assert graph.names([2, 0, 2]) == ["d#1/Cars:c", "d#1/Cars:a", "d#1/Cars:c"]
    assert graph.names([]) == []


def test_numbers_always_do() -> None:
    """A node of a segment with a key also goes by its number."""
    graph = keyed(["a", "b"])
    assert graph.node("d#1/Cars[1]") == 1


def unknown(graph: Any, name: str) -> str:
    """The message of looking a name up."""
    with pytest.raises(UnknownNameError) as error:
        graph.node(name)
    return str(error.value)


def test_unknown_names() -> None:
    """An unknown name is answered with those like it."""
    graph = keyed(["C1", "C2"])
    assert unknown(graph, "d#1/Cars:C5") == (
        "There is no node d#1/Cars:C5.\nDid you mean d#1/Cars:C2 or d#1/Cars:C1?"
    )
    assert unknown(graph, "d#1/Car:C1") == ("There is no node d#1/Car:C1.\nDid you mean d#1/Cars?")
    assert unknown(graph, "zzz") == "There is no node zzz.\nThere are d#1/Cars."
    assert unknown(graph, "d#1/Cars[2]") == (
        "There is no node d#1/Cars[2].\nd#1/Cars has 2 nodes, from [0]."
    )
    assert unknown(graph, "d#1/Cars") == (
        "d#1/Cars is 2 nodes.\nSay which, such as d#1/Cars:C1 or d#1/Cars:C2, or"
        " select(segment='d#1/Cars') for all."
    )


def test_names_that_are_not_unique() -> None:
    """Nodes with one key are told apart by number."""
    graph = keyed(["C1", "C2", "C1"])
    assert unknown(graph, "d#1/Cars:C1") == (
        "2 nodes have the name d#1/Cars:C1.\nName one by its number: d#1/Cars[0] or d#1/Cars[2],"
        " for example."
    )


def test_names_without_key() -> None:
    """A segment of no nodes, of one, of several, and a key where there is none."""
    b = Builder()
    b.add("none", Kind.DERIVED, "+", 0)
    b.add("one", Kind.DERIVED, "+", 1)
    b.add("two", Kind.DERIVED, "+", 2)
    graph = ProvenanceGraph.build(*b.data)
    assert graph.names(graph.ids) == ["one", "two[0]", "two[1]"]
    assert "none has no nodes" in unknown(graph, "none")
    assert "The nodes of two have no key; they are two[0]" in unknown(graph, "two:x")
    assert "only invocations have zoomed nodes" in unknown(graph, "one[zoomed]")


def test_ids_out_of_range() -> None:
    """An id that no node has."""
    graph = keyed(["a"])
    with pytest.raises(UnknownNameError) as error:
        graph.name(1)
    assert str(error.value) == "There is no node 1.\nIds are from 0 to 0."
    with pytest.raises(UnknownNameError, match="There is no node -1"):
        graph.ancestors(-1)
