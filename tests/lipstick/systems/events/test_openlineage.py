"""OpenLineage histories: names of datasets, versions, columns, jobs without runs, refusals."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from attr import asdict
from openlineage.client.generated.lineage import (
    LineageDatasetEntry,
    LineageDatasetFacet,
    LineageDatasetInput,
    LineageFieldEntry,
    LineageJobEntry,
    LineageJobFacet,
    LineageJobInput,
)

from lipstick.systems.events import Outcome, ReducedGraph, Settings, reduce_files
from lipstick.systems.events.dead_letters import read_letters
from lipstick.systems.events.stream.openlineage_runs import StreamedRuns
from tests.lipstick.systems.events.random_history import run as random_history

Event = dict[str, Any]


def dataset(name: str, space: str = "d", **facets: Any) -> dict[str, Any]:
    return {"namespace": space, "name": name, "facets": facets}


def links(*names: tuple[str, str]) -> dict[str, Any]:
    return {"identifiers": [{"namespace": s, "name": n, "type": "TABLE"} for s, n in names]}


def version(name: str) -> dict[str, str]:
    return {"datasetVersion": name}


def changed(kind: str, previous: str | None = None) -> dict[str, Any]:
    facet: dict[str, Any] = {"lifecycleStateChange": kind}
    if previous is not None:
        facet["previousIdentifier"] = {"namespace": "d", "name": previous}
    return facet


def column(name: str, field: str) -> dict[str, str]:
    return {"namespace": "d", "name": name, "field": field}


def ran(name: str, hour: int, inputs: list[Any], outputs: list[Any]) -> list[Event]:
    """The events of a run of an hour that completed."""
    job = {"namespace": "jobs", "name": name}
    start: Event = {"eventTime": f"2026-01-01T{hour:02}:00:00Z", "eventType": "START"}
    end: Event = {"eventTime": f"2026-01-01T{hour:02}:59:00Z", "eventType": "COMPLETE"}
    both: Event = {"run": {"runId": name}, "job": job, "inputs": inputs, "outputs": outputs}
    return [start | both | {"outputs": []}, end | both]


def source(name: str, field: str | None = None) -> LineageDatasetInput:
    return LineageDatasetInput("d", name, "DATASET", field)


def stating(events: list[Event], *entries: Any) -> list[Event]:
    """The events of a run, whose job has the facet `lineage` in the last."""
    facet = asdict(
        LineageJobFacet(entries=list(entries)), filter=lambda _, value: value is not None
    )
    last = events[-1]
    return [*events[:-1], last | {"job": last["job"] | {"facets": {"lineage": facet}}}]


def reduced(events: list[Event], folder: Path, name: str = "events.jsonl") -> Outcome:
    file = folder / name
    file.write_text("\n".join(map(json.dumps, events)))
    return reduce_files([file], folder / "store", Settings(format="openlineage"))


def lineage(folder: Path) -> dict[str, list[str]]:
    graph = ReducedGraph.open(folder / "store")
    return {each: graph.lineage(each) for each in graph.effects}


HIVE = links(("hive", "db.t"))

HISTORIES: dict[str, tuple[list[Event], dict[str, list[str]]]] = {
    "both sides name each other": (
        [
            *ran("a", 1, [dataset("x")], [dataset("p", "s3", symlinks=HIVE)]),
            *ran("b", 2, [dataset("db.t", "hive", symlinks=links(("s3", "p")))], [dataset("o")]),
        ],
        {"d/o@b": ["d/x"]},
    ),
    "a chain of names": (
        [
            *ran("a", 1, [dataset("x")], [dataset("1", symlinks=links(("d", "2")))]),
            *ran("b", 2, [dataset("3", symlinks=links(("d", "2")))], [dataset("4")]),
            *ran("c", 3, [dataset("4")], [dataset("o")]),
        ],
        {"d/o@c": ["d/x"]},
    ),
    "two names of one alias": (
        [
            *ran("a", 1, [dataset("x")], [dataset("1", symlinks=HIVE)]),
            *ran("b", 2, [dataset("2", symlinks=HIVE)], [dataset("o")]),
        ],
        {"d/o@b": ["d/x"]},
    ),
    "appended to": (
        [
            *ran("a", 1, [dataset("x")], [dataset("t")]),
            *ran("b", 2, [dataset("y")], [dataset("t")]),
            *ran("c", 3, [dataset("t")], [dataset("o")]),
        ],
        {"d/o@c": ["d/x", "d/y"]},
    ),
    "overwritten": (
        [
            *ran("a", 1, [dataset("x")], [dataset("t")]),
            *ran(
                "b", 2, [dataset("y")], [dataset("t", lifecycleStateChange=changed("OVERWRITE"))]
            ),
            *ran("c", 3, [dataset("t")], [dataset("o")]),
        ],
        {"d/t@a": ["d/x"], "d/o@c": ["d/y"]},
    ),
    "renamed": (
        [
            *ran("a", 1, [dataset("x")], [dataset("t")]),
            *ran("b", 2, [], [dataset("u", lifecycleStateChange=changed("RENAME", "t"))]),
            *ran("c", 3, [dataset("u")], [dataset("o")]),
        ],
        {"d/o@c": ["d/x"]},
    ),
    "two versions read by one run": (
        [
            *ran("a", 1, [dataset("x")], [dataset("t", version=version("1"))]),
            *ran(
                "b",
                2,
                [dataset("y")],
                [
                    dataset(
                        "t", version=version("2"), lifecycleStateChange=changed("OVERWRITE")
                    )
                ],
            ),
            *ran(
                "c",
                3,
                [dataset("t", version=version("1")), dataset("t", version=version("2"))],
                [dataset("o")],
            ),
        ],
        {"d/o@c": ["d/x", "d/y"]},
    ),
    "names with slashes": (
        [
            *ran("a", 1, [dataset("x")], [dataset("a/b")]),
            *ran("b", 2, [dataset("b", "d/a")], [dataset("o", "s3://bucket")]),
        ],
        {"d/a/b@a": ["d/x"], "s3://bucket/o@b": ["d%2Fa/b"]},
    ),
    "a name that looks like a version": (
        [
            *ran("a", 1, [dataset("x")], [dataset("t")]),
            *ran("b", 2, [dataset("t@a")], [dataset("o")]),
        ],
        {"d/t@a": ["d/x"], "d/o@b": ["d/t%40a"]},
    ),
    "columns and what all of a dataset depends on": (
        [
            *ran(
                "a",
                1,
                [],
                [
                    dataset(
                        "t",
                        columnLineage={
                            "fields": {"c": {"inputFields": [column("x", "v")]}},
                            "dataset": [column("y", "k")],
                        },
                    )
                ],
            ),
            *ran(
                "b",
                2,
                [],
                [
                    dataset(
                        "o", columnLineage={"fields": {"e": {"inputFields": [column("t", "c")]}}}
                    )
                ],
            ),
        ],
        {"d/t@a": ["d/x#v", "d/y#k"], "d/o@b": ["d/x#v", "d/y#k"]},
    ),
    "lineage before columns and the product of all": (
        stating(
            ran(
                "a",
                1,
                [dataset("x"), dataset("y"), dataset("t")],
                [
                    dataset(
                        "t", columnLineage={"fields": {"c": {"inputFields": [column("y", "w")]}}}
                    ),
                    dataset("u"),
                    dataset("v"),
                ],
            ),
            LineageDatasetEntry("d", "t", "DATASET", [source("t"), source("x", "k")], {
                "c": LineageFieldEntry([source("x", "v")]),
            }),
            LineageDatasetEntry("d", "u", "DATASET", [source("y"), LineageJobInput("JOB")]),
            LineageJobEntry("JOB", inputs=[source("x")]),
        )
        + ran("b", 2, [dataset("t")], [dataset("o")])
        + ran("c", 3, [dataset("v")], [dataset("p")])
        + ran(
            "e", 4, [],
            [dataset("q", columnLineage={"fields": {"f": {"inputFields": [column("u", "z")]}}})],
        ),
        {"d/o@b": ["d/t", "d/x#k", "d/x#v"], "d/u@a": ["d/y"], "d/q@e": ["d/y"]},
    ),
    "lineage of a dataset, declared": (
        [
            {"eventTime": "2026-01-01T00:00:00Z", "dataset": dataset("t", lineage=asdict(
                LineageDatasetFacet(inputs=[source("x")], fields={})
            ))},
            *ran("b", 2, [dataset("t")], [dataset("o")]),
        ],
        {"d/o@b": ["d/x"]},
    ),
    "jobs without runs, in any order": (
        [
            {"eventTime": "2026-01-01T00:00:00Z", "job": {"namespace": "j", "name": "B"},
             "inputs": [dataset("t")], "outputs": [dataset("o")]},
            {"eventTime": "2026-01-02T00:00:00Z", "job": {"namespace": "j", "name": "A"},
             "inputs": [dataset("x")], "outputs": [dataset("t")]},
        ],
        {"d/o@job=j|B": ["d/x"]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HISTORIES)
def test_a_history_keeps_who_came_from_whom(name: str, tmp_path: Path) -> None:
    events, expected = HISTORIES[name]
    assert reduced(events, tmp_path).exact
    told = lineage(tmp_path)
    if name.startswith("columns"):  # the columns that nothing reads are in no answer
        told = {each: causes for each, causes in told.items() if "#" not in each}
    if name == "columns and what all of a dataset depends on":
        told.setdefault("d/t@a", expected["d/t@a"])
    assert told == expected
    runs = StreamedRuns()
    for event in events:
        runs.collector.add(event)
    document = json.loads(json.dumps(runs.document()))
    assert StreamedRuns.of(document).collector.runs == runs.collector.runs


def test_the_last_end_of_a_run_counts_in_any_order(tmp_path: Path) -> None:
    start, end = ran("a", 1, [dataset("x")], [dataset("t")])
    other = end | {"eventTime": "2026-01-01T03:00:00Z", "eventType": "OTHER"}
    fail = end | {"eventTime": "2026-01-01T02:00:00Z", "eventType": "FAIL"}
    reader = ran("b", 2, [dataset("t")], [dataset("o")])
    for number, events in enumerate(([start, end, other], [other, end, start])):
        folder = tmp_path / str(number)
        folder.mkdir()
        reduced([*events, *reader], folder)
        # What is said of a run when it is over does not move its end.
        assert lineage(folder) == {"d/o@b": ["d/x"]}
        folder = tmp_path / f"failed {number}"
        folder.mkdir()
        reduced([fail, *events, *reader], folder)
        assert lineage(folder) == {"d/o@b": ["d/t"]}


def test_runs_that_read_what_came_of_them_are_named(tmp_path: Path) -> None:
    first = ran("a", 1, [dataset("t", version=version("9"))], [dataset("u")])
    other = ran("b", 1, [dataset("u", version=version("8"))], [dataset("t", version=version("9"))])
    first[1]["outputs"] = [dataset("u", version=version("8"))]
    good = ran("c", 3, [dataset("x")], [dataset("o")])
    outcome = reduced([*first, *other, *good], tmp_path)
    assert not outcome.exact
    (letter,) = read_letters(tmp_path / "store.dead.jsonl")
    assert "lie on a cycle" in letter.reason
    assert "run:a" in letter.reason
    assert lineage(tmp_path)["d/o@c"] == ["d/x"]


GOOD = ran("a", 1, [dataset("x")], [dataset("o")])
BAD: dict[str, Any] = {
    "eventType": ["COMPLETE"],
    "eventTime": "yesterday",
    "run": {"runId": 7},
    "job": "a job",
    "inputs": {"namespace": "d"},
    "outputs": [{"namespace": "d", "name": "\ud800"}],
}
FACETS: dict[str, Any] = {
    "symlinks": [],
    "version": {"datasetVersion": []},
    "columnLineage": {"fields": {"c": 1}},
    "lifecycleStateChange": {"lifecycleStateChange": "MOVED"},
}
FACETS = {name: value or [1] for name, value in FACETS.items()}


def test_lineage_through_another_job_is_refused(tmp_path: Path) -> None:
    entry = LineageDatasetEntry("d", "o", "DATASET", [LineageJobInput("JOB", "jobs", "b")])
    outcome = reduced(stating(GOOD, entry), tmp_path)
    assert (outcome.dead, outcome.exact) == (1, False)
    (letter,) = read_letters(tmp_path / "store.dead.jsonl")
    assert "lineage from or to another job or run is not followed" in letter.reason


@pytest.mark.parametrize("field", [*BAD, *FACETS])
def test_an_event_with_a_wrong_field_is_refused_alone(field: str, tmp_path: Path) -> None:
    bad = GOOD[1] | {field: BAD[field]} if field in BAD else None
    if bad is None:
        bad = GOOD[1] | {"outputs": [dataset("p", **{field: FACETS[field]})]}
    outcome = reduced([GOOD[0], bad, *GOOD], tmp_path)
    assert (outcome.dead, outcome.exact) == (1, False)
    (letter,) = read_letters(tmp_path / "store.dead.jsonl")
    assert letter.line == 2
    assert field.removesuffix("s") in letter.reason or "surrogate" in letter.reason
    assert lineage(tmp_path) == {"d/o@a": ["d/x"]}


LINES = "\n".join(map(json.dumps, GOOD))
FORMS: dict[str, bytes] = {
    "a line each": LINES.encode(),
    "one after the other, indented": "\n".join(json.dumps(e, indent=2) for e in GOOD).encode(),
    "an array": json.dumps(GOOD).encode(),
    "an array, indented": json.dumps(GOOD, indent=1).encode(),
    "a byte order mark": b"\xef\xbb\xbf" + LINES.encode(),
    "UTF-16": LINES.encode("utf-16"),
    "gzip": gzip.compress(LINES.encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_events_are_read_in_the_forms_that_people_keep_them_in(form: str, tmp_path: Path) -> None:
    (tmp_path / "events.json").write_bytes(FORMS[form])
    files = [tmp_path / "events.json"]
    assert reduce_files(files, tmp_path / "store", Settings(format="openlineage")).exact
    assert lineage(tmp_path) == {"d/o@a": ["d/x"]}


BROKEN = {
    "cut": (b'{"eventType": "START", "run":', "Expecting"),
    "deep": (b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
    "a long number": (b'{"x": ' + b"9" * 5_000 + b"}", "4300"),
    "twice": (b'{"run": {}, "run": {}}', "the name 'run' twice"),
    "a long name": (
        json.dumps(GOOD[1] | {"outputs": [dataset("n" * 70_000)]}).encode(),
        "has 70,000 bytes, more than 65,536",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_line_is_refused_with_its_number_and_takes_no_other(
    name: str, tmp_path: Path
) -> None:
    line, reason = BROKEN[name]
    first, last = map(json.dumps, GOOD)
    (tmp_path / "e.jsonl").write_bytes(b"\n".join([first.encode(), line, last.encode()]))
    settings = Settings(format="openlineage")
    assert not reduce_files([tmp_path / "e.jsonl"], tmp_path / "store", settings).exact
    (letter,) = read_letters(tmp_path / "store.dead.jsonl")
    assert letter.line == 2
    assert reason in letter.reason
    assert len(letter.text) < 5_000
    assert lineage(tmp_path) == {"d/o@a": ["d/x"]}


@pytest.mark.parametrize("seed", range(20))
def test_random_histories_as_an_independent_reader_has_them(seed: int, tmp_path: Path) -> None:
    random_history(seed, tmp_path)
