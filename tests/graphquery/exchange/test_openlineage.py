"""OpenLineage events, by their meaning and against the published schemas."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from graphquery import ProvenanceGraph, exchange
from graphquery.errors import GraphError
from graphquery.exchange.openlineage import Times
from graphquery.exchange.openlineage_events import PRODUCER, parent_from_environment
from graphquery.model import Kind
from tests.graphquery.builder import Builder
from tests.openlineage_schemas import validated

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def times(name: str) -> tuple[datetime, datetime]:
    return START, START + timedelta(seconds=len(name))


def datasets(event: dict[str, Any], side: str) -> list[str]:
    return [each["name"] for each in event[side]]


def to_openlineage(graph: ProvenanceGraph, times: Times, **named: str) -> list[dict[str, Any]]:
    """The events of a graph as JSON, which the published schemas allow."""
    return [validated(event) for event in exchange.to_openlineage(graph, times, **named)]


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
    assert not bids["facets"]


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


def test_producer(variant: ProvenanceGraph) -> None:
    """The events, and all of their facets, name the system that ran the modules."""
    events = to_openlineage(variant, times, producer="urn:example:producer")
    assert {each["producer"] for each in events} == {"urn:example:producer"}
    assert PRODUCER not in json.dumps(events)


def test_times_refused(fine: ProvenanceGraph) -> None:
    """Times without a zone, and ends before starts."""
    with pytest.raises(GraphError, match=r"times of and have no time zone\.\nGive them in UTC"):
        to_openlineage(fine, lambda name: (datetime(2026, 1, 1), START))
    early = START.astimezone(timezone(timedelta(hours=2))) - timedelta(seconds=1)
    with pytest.raises(GraphError, match=r"and ended at .*, before it started at"):
        to_openlineage(fine, lambda name: (START, early))


RUN, ROOT = "f99310b4-3c3c-4a1a-8b2b-c1b95c24ff11", "ea445b5c-1a1a-4b2b-8c3c-01c7c52b6e54"


@pytest.mark.parametrize(
    "environment",
    [
        {
            "OPENLINEAGE_PARENT_ID": f"https://air/flow/dag.task/{RUN}",
            "OPENLINEAGE_ROOT_PARENT_ID": f"https://air/flow/dag/{ROOT}",
        },
        {
            "OPENLINEAGE_PARENT_ID": "not read beside a context",
            "OPENLINEAGE_CONTEXT": json.dumps(
                {
                    "parent": {
                        "run": {"runId": RUN},
                        "job": {"namespace": "https://air/flow", "name": "dag.task"},
                        "root": {
                            "run": {"runId": ROOT},
                            "job": {"namespace": "https://air/flow", "name": "dag"},
                        },
                    }
                }
            ),
        },
    ],
)
def test_parent(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The run that an orchestrator names, and the one at the root."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    parent = parent_from_environment()
    assert parent is not None
    assert (parent.job.namespace, parent.job.name, parent.run.runId) == (
        "https://air/flow",
        "dag.task",
        RUN,
    )
    assert parent.root is not None
    assert (parent.root.job.name, parent.root.run.runId) == ("dag", ROOT)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENLINEAGE_PARENT_ID", RUN),
        ("OPENLINEAGE_PARENT_ID", "airflow/dag/first"),
        ("OPENLINEAGE_CONTEXT", "{"),
        ("OPENLINEAGE_CONTEXT", '{"parent": {"run": {"runId": "1"}}}'),
    ],
)
def test_parent_refused(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables of another form."""
    monkeypatch.setenv(name, value)
    with pytest.raises(GraphError, match=f"^{name} is not"):
        parent_from_environment()
