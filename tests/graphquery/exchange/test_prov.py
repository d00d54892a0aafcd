"""W3C PROV: what is what, valid documents, and both notations read back."""

from __future__ import annotations

import builtins
import datetime
import io
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from prov.model import (
    ProvActivity,
    ProvDerivation,
    ProvDocument,
    ProvEntity,
    ProvGeneration,
    ProvUsage,
)

from graphquery import ProvenanceGraph
from graphquery.errors import GraphError
from graphquery.exchange import to_prov
from graphquery.model import Kind, Port
from tests.graphquery.builder import Builder
from tests.graphquery.exchange import constraints
from tests.graphquery.strategies import workflows


def pairs(document: ProvDocument, kind: type) -> list[tuple[str, str]]:
    """The first two arguments of relations, as local names."""
    return sorted(
        (record.args[0].localpart, record.args[1].localpart)
        for record in document.get_records(kind)
    )


def attribute(record: Any, name: str) -> Any:
    """The only value of an attribute; None if there is none."""
    attributes: Mapping[str, Any] = {str(key): value for key, value in record.extra_attributes}
    return attributes.get(name)


def check_notations(document: ProvDocument) -> None:
    """Check that PROV-JSON and PROV-N read back are the document."""
    for notation in ("json", "provn"):
        text = document.serialize(format=notation)
        assert ProvDocument.deserialize(io.StringIO(text), format=notation) == document


def test_empty(empty: ProvenanceGraph) -> None:
    """A document without records is valid."""
    document = to_prov(empty)
    assert document.records == []
    check_notations(document)


def test_example_zoomed_out(fine: ProvenanceGraph) -> None:
    """Every record of the coarse graph."""
    document = to_prov(fine.zoom_out(*fine.modules))
    activities = {record.identifier.localpart for record in document.get_records(ProvActivity)}
    assert activities == {"and#1", "dealer1#1", "agg#1"}
    assert pairs(document, ProvUsage) == [
        ("agg#1", "agg#1/Bids"),
        ("agg#1", "agg#1/Bids.Price"),
        ("and#1", "and#1/Requests"),
        ("dealer1#1", "dealer1#1/Requests"),
    ]
    assert pairs(document, ProvGeneration) == [
        ("agg#1/Best.out", "agg#1"),
        ("agg#1/Best.out.Price", "agg#1"),
        ("and#1/Requests.out", "and#1"),
        ("dealer1#1/Bids", "dealer1#1"),
        ("dealer1#1/Bids.Price", "dealer1#1"),
    ]
    assert pairs(document, ProvDerivation) == [
        ("agg#1/Bids", "dealer1#1/Bids"),
        ("agg#1/Bids.Price", "dealer1#1/Bids.Price"),
        ("and#1/Requests", "input0/Requests%3AB1"),
        ("and#1/Requests.out", "and#1/Requests"),
        ("dealer1#1/Requests", "and#1/Requests.out"),
    ]


def test_example(fine: ProvenanceGraph) -> None:
    """Entities, activities and what holds between them in the fine graph."""
    document = to_prov(fine)
    assert len(list(document.get_records(ProvActivity))) == 3
    assert len(list(document.get_records(ProvEntity))) == fine.node_count - 3
    used = pairs(document, ProvUsage)
    assert [entity for activity, entity in used if activity == "dealer1#1"] == [
        "dealer1#1/Cars%3AC2",
        "dealer1#1/Cars%3AC3",
        "dealer1#1/Requests",
    ]
    assert ("agg#1", "agg#1/Bids.Price") in used
    generated = pairs(document, ProvGeneration)
    assert ("dealer1#1/Bids", "dealer1#1") in generated
    assert ("dealer1#1/CalcBid", "dealer1#1") in generated
    assert ("dealer1#1/Inventory%3AC2", "dealer1#1") in generated
    assert not [entity for entity, _ in generated if entity.startswith(("dealer1/", "input0/"))]
    derived = pairs(document, ProvDerivation)
    assert ("dealer1#1/Cars%3AC2", "dealer1/Cars%3AC2") in derived
    (price,) = document.get_record("node:dealer1#1/CalcBid")
    assert price.value == {20_000}
    assert price.label == "dealer1#1/CalcBid"
    assert attribute(price, "lipstick:kind") == "v"
    assert attribute(price, "lipstick:execution") == 0


def test_valid(variant: ProvenanceGraph) -> None:
    """Documents are valid, and the same in both notations."""
    document = to_prov(variant)
    constraints.check(document)
    check_notations(document)
    reference = variant.to_networkx()
    kinds = reference.nodes(data="kind")
    derived = [
        (target, source)
        for source, target in reference.edges()
        if not {kinds[source], kinds[target]} & {"m", "zoomed"}
    ]
    derivations = [tuple(map(unquote, pair)) for pair in pairs(document, ProvDerivation)]
    assert sorted(derivations) == sorted(derived)


@settings(max_examples=15)
@given(builder=workflows())
def test_random_workflows(builder: Builder) -> None:
    """State that goes from invocation to invocation keeps documents valid."""
    graph = ProvenanceGraph.build(*builder.data)
    constraints.check(to_prov(graph))
    constraints.check(to_prov(graph.zoom_out(*graph.modules)))


def test_checker_sees_violations(fine: ProvenanceGraph) -> None:
    """The checker of the tests does find what is wrong."""
    document = to_prov(fine)
    document.wasDerivedFrom("node:dealer1/Cars%3AC2", "node:dealer1#1/Inventory%3AC2")
    with pytest.raises(AssertionError):
        constraints.check(document)
    document = to_prov(fine)
    document.wasGeneratedBy("node:dealer1#1/Bids", "node:agg#1")
    with pytest.raises(AssertionError):
        constraints.check(document)
    document = to_prov(fine)
    document.entity("node:agg#1")
    with pytest.raises(AssertionError):
        constraints.check(document)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (True, True),
        (7, 7),
        (1.5, 1.5),
        ("δ", "δ"),
        (datetime.datetime(2026, 1, 2, 3, 4, 5), datetime.datetime(2026, 1, 2, 3, 4, 5)),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (b"x", "b'x'"),
    ],
)
def test_values(value: object, written: object) -> None:
    """Values keep their type where PROV has it, and are text otherwise."""
    b = Builder()
    b.add("c", Kind.VALUE, "c", {"value": [value]})
    document = to_prov(ProvenanceGraph.build(*b.data))
    (record,) = document.get_record("node:c")
    assert record.value == {written}
    check_notations(document)


def test_zoomed_without_its_invocation(fine: ProvenanceGraph) -> None:
    """Where the m-node was deleted, nothing of the invocation is left, and documents are valid."""
    document = to_prov(fine.zoom_out("agg").delete("and#1"))
    constraints.check(document)
    activities = [record.identifier.localpart for record in document.get_records(ProvActivity)]
    assert activities == ["dealer1#1", "agg#1"]


def test_names(fine: ProvenanceGraph) -> None:
    """Names with any characters, and several nodes of one name, are each an identifier."""
    b = Builder()
    keys = ["a b", "a b", "ü(%,;)", "1:2", "'", "-.", None]
    b.add("R", Kind.TOKEN, "", {"k": keys}, ("k",))
    b.add("S", Kind.DERIVED, "⊖")
    b.edges("R", "S", [(0, 0)], Port.OPERAND)
    b.edges("R", "S", [(1, 0)], Port.SUBTRAHEND)
    document = to_prov(ProvenanceGraph.build(*b.data), namespace="urn:example:run/1#")
    assert len(list(document.get_records(ProvEntity))) == 8
    constraints.check(document)
    check_notations(document)
    operands = [
        attribute(each, "lipstick:operand") for each in document.get_records(ProvDerivation)
    ]
    assert sorted(map(str, operands)) == ["None", "subtrahend"]
    prefixes = json.loads(document.serialize(format="json"))["prefix"]
    assert prefixes["node"] == "urn:example:run/1#"


def test_refused(fine: ProvenanceGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs over the limit, and an installation without the package."""
    with pytest.raises(GraphError, match="of 34 nodes is too large for a PROV document"):
        to_prov(fine, limit=10)
    original = builtins.__import__

    def without_prov(name: str, *args: Any) -> Any:
        if name == "prov.model":
            raise ImportError(name)
        return original(name, *args)

    monkeypatch.setattr(builtins, "__import__", without_prov)
    with pytest.raises(GraphError, match=r"need the package prov\.\nInstall lipstick-spark\[ex"):
        to_prov(fine)
