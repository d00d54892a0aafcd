"""OpenLineage events, by their meaning and against the classes of the specification."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from openlineage.client import event_v2
from openlineage.client.facet_v2 import column_lineage_dataset, parent_run
from openlineage.client.serde import Serde

from graphquery import ProvenanceGraph
from graphquery.exchange import ExchangeError, to_openlineage
from graphquery.model import Kind
from tests.graphquery.builder import Builder

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def times(name: str) -> tuple[datetime, datetime]:
    return START, START + timedelta(seconds=len(name))


def datasets(event: dict[str, Any], side: str) -> list[str]:
    return [each["name"] for each in event[side]]


def official(event: dict[str, Any]) -> event_v2.RunEvent:
    """An event as the specification's own classes, which check it."""
    facets = {}
    for name, facet in event["run"].get("facets", {}).items():
        assert name == "parent"
        facets[name] = parent_run.ParentRunFacet(
            run=parent_run.Run(**facet["run"]),
            job=parent_run.Job(**facet["job"]),
            producer=facet["_producer"],
        )
    outputs = []
    for dataset in event["outputs"]:
        lineage = dataset.get("facets", {}).get("columnLineage")
        outputs.append(
            event_v2.OutputDataset(
                dataset["namespace"],
                dataset["name"],
                facets={} if lineage is None else {"columnLineage": _lineage(lineage)},
            )
        )
    return event_v2.RunEvent(
        eventType=event_v2.RunState[event["eventType"]],
        eventTime=event["eventTime"],
        producer=event["producer"],
        run=event_v2.Run(event["run"]["runId"], facets=facets),
        job=event_v2.Job(**event["job"]),
        inputs=[event_v2.InputDataset(**dataset) for dataset in event["inputs"]],
        outputs=outputs,
    )


def _lineage(facet: dict[str, Any]) -> column_lineage_dataset.ColumnLineageDatasetFacet:
    fields = {
        column: column_lineage_dataset.Fields(
            inputFields=[
                column_lineage_dataset.InputField(
                    source["namespace"],
                    source["name"],
                    source["field"],
                    [column_lineage_dataset.Transformation(**t) for t in source["transformations"]],
                )
                for source in lineage["inputFields"]
            ]
        )
        for column, lineage in facet["fields"].items()
    }
    return column_lineage_dataset.ColumnLineageDatasetFacet(fields, producer=facet["_producer"])


def without_empty(document: Any) -> Any:
    """A document without the empty parts that the classes write."""
    if isinstance(document, dict):
        inner = {name: without_empty(value) for name, value in document.items()}
        return {name: value for name, value in inner.items() if value not in ({}, [], None)}
    if isinstance(document, list):
        return [without_empty(value) for value in document]
    return document


def test_empty(empty: ProvenanceGraph) -> None:
    """Without invocations there are no events."""
    assert to_openlineage(empty, times) == []


def test_example(fine: ProvenanceGraph) -> None:
    """Two events for each of three invocations, with what they read and wrote."""
    events = to_openlineage(fine, times)
    assert [(each["job"]["name"], each["eventType"]) for each in events] == [
        ("and", "START"),
        ("and", "COMPLETE"),
        ("dealer1", "START"),
        ("dealer1", "COMPLETE"),
        ("agg", "START"),
        ("agg", "COMPLETE"),
    ]
    done = {each["job"]["name"]: each for each in events if each["eventType"] == "COMPLETE"}
    assert datasets(done["and"], "inputs") == ["Requests"]
    assert datasets(done["and"], "outputs") == ["and.Requests"]
    assert datasets(done["dealer1"], "inputs") == ["and.Requests", "dealer1.Cars"]
    assert datasets(done["dealer1"], "outputs") == ["dealer1.Bids"]
    assert datasets(done["agg"], "inputs") == ["dealer1.Bids"]
    assert datasets(done["agg"], "outputs") == ["agg.Best"]
    assert done["agg"]["eventTime"] == "2026-01-02T03:04:10+00:00"
    runs = {each["run"]["runId"] for each in events}
    assert len(runs) == 3
    parents = {each["run"]["facets"]["parent"]["run"]["runId"] for each in events}
    assert len(parents) == 1
    assert not parents & runs
    assert to_openlineage(fine, times) == events
    assert to_openlineage(fine, times, namespace="b")[0]["run"] != events[0]["run"]


def test_lineage_of_columns(fine: ProvenanceGraph) -> None:
    """A computed column is made of the columns of inputs that values came from."""
    events = to_openlineage(fine, times)
    (output,) = events[-1]["outputs"]
    assert output["facets"]["columnLineage"]["fields"] == {
        "Price": {
            "inputFields": [
                {
                    "namespace": "lipstick",
                    "name": "dealer1.Bids",
                    "field": "Price",
                    "transformations": [{"type": "DIRECT"}],
                }
            ]
        }
    }
    # CalcBid takes tuples and a count of tuples: no value of an input.
    (bids,) = events[3]["outputs"]
    assert "facets" not in bids


def test_state() -> None:
    """State that an invocation wrote and a later one read is an output of the one, with columns."""
    b = Builder()
    for number in (1, 2):
        at = {"module": "m", "invocation": number, "execution": number - 1}
        b.add(f"m#{number}", Kind.INVOCATION, "m", **at)
        b.add(f"m#{number}/New", Kind.DERIVED, "+", relation="New", **at)
    second = {"module": "m", "invocation": 2, "execution": 1}
    b.add("m#2/S", Kind.STATE, "·", relation="S", **second)
    b.add("m#2/S.x", Kind.VALUE, "s", {"value": [1]}, **second)
    b.add("m#2/Out", Kind.OUTPUT, "·", relation="Out", **second)
    b.add("m#2/Out.y", Kind.VALUE, "o", {"value": [1]}, **second)
    b.edges("m#1/New", "m#2/S")
    b.edges("m#2", "m#2/S")
    b.edges("m#2/S", "m#2/Out")
    b.edges("m#2", "m#2/Out")
    b.edges("m#2/S.x", "m#2/Out.y")
    events = to_openlineage(ProvenanceGraph.build(*b.data), times)
    first, _, last, _ = events
    assert (datasets(first, "inputs"), datasets(first, "outputs")) == ([], ["m.S"])
    assert (datasets(last, "inputs"), datasets(last, "outputs")) == (["m.S"], ["m.Out"])
    fields = last["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert [(each["name"], each["field"]) for each in fields["y"]["inputFields"]] == [("m.S", "x")]


def test_zoomed(fine: ProvenanceGraph) -> None:
    """Zooming out hides what is inside, not the runs and their datasets."""
    coarse = to_openlineage(fine.zoom_out(*fine.modules), times)
    for event, wanted in zip(coarse, to_openlineage(fine, times), strict=True):
        assert event["run"] == wanted["run"]
        assert datasets(event, "outputs") == datasets(wanted, "outputs")
        assert set(datasets(event, "inputs")) <= set(datasets(wanted, "inputs"))


def test_specification(variant: ProvenanceGraph) -> None:
    """The specification's classes take every event and write the same one."""
    for event in to_openlineage(variant, times, producer="urn:example:producer"):
        again = json.loads(Serde.to_json(official(event)))
        assert without_empty(again) == without_empty(event)
        assert json.loads(json.dumps(event)) == event


def test_times_refused(fine: ProvenanceGraph) -> None:
    """Times without a zone, and ends before starts."""
    with pytest.raises(
        ExchangeError, match=r"times of and#1 have no time zone\.\nGive them in UTC"
    ):
        to_openlineage(fine, lambda name: (datetime(2026, 1, 1), START))
    early = START.astimezone(timezone(timedelta(hours=2))) - timedelta(seconds=1)
    with pytest.raises(ExchangeError, match=r"and#1 ended at .*, before it started at"):
        to_openlineage(fine, lambda name: (START, early))
