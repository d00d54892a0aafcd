"""PROV documents and OpenLineage events through the streaming job, beside the files read whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from lipstick.cli import main
from lipstick.systems.events.commands import events
from lipstick.systems.events.dead_letters import read_letters
from lipstick.systems.events.files import reduce_files
from lipstick.systems.events.formats import FORMATS, MESSAGES
from lipstick.systems.events.run_settings import Settings
from lipstick.systems.events.stream.batches import Batches
from lipstick.systems.events.stream.openlineage_runs import unfinished
from lipstick.systems.events.stream.settings import StreamSettings
from lipstick.systems.events.stream.spark import StreamReduction
from lipstick.systems.events.stream.streaming_frames import files_of
from tests.lipstick.systems.events.inline import run_batch, stepped
from tests.lipstick.systems.events.reduced import edges_in

HOUR = 3_600_000_000


def files_as(batch: list[tuple[str, bytes]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "value": pa.array([data for _, data in batch], pa.binary()),
            "origin": [f"file:/in/{name}" for name, _ in batch],
            "line": pa.array([1] * len(batch), pa.int64()),
            "time": pa.nulls(len(batch), pa.int64()),
        }
    )


def streamed(
    files: list[tuple[str, bytes]], folder: Path, rng: np.random.Generator, **settings: Any
) -> Batches:
    """Reduce files in random order and batches, with restarts, and some of them delivered again."""
    order = [files[n] for n in rng.permutation(len(files))]
    order += [files[n] for n in rng.choice(len(files), len(files) // 4)]
    parts = np.array_split(np.arange(len(order)), rng.integers(1, 5))
    given = StreamSettings(**settings)
    for number, part in enumerate(parts):
        with Batches(folder / "store", given, folder / "own") as state:
            table = files_as([order[n] for n in part])
            run_batch(state, number, [table], rng)
    with Batches(folder / "store", given, folder / "own") as state:
        state.close(stepped)
    return state


def documents(rng: np.random.Generator) -> list[tuple[str, bytes]]:
    """Documents that share activities and entities, in which effects have greater numbers."""
    files = []
    for number in range(12):
        used, generated, derived = {}, {}, {}
        for each in range(rng.integers(1, 6)):
            cause, activity, effect = sorted(rng.choice(60, 3, replace=False))
            name = f"e:a{activity}-{cause}"
            used[f"_:{each}"] = {"prov:activity": name, "prov:entity": f"e:{cause}"}
            generated[f"_:{each}"] = {"prov:entity": f"e:{effect}", "prov:activity": name}
            if rng.random() < 0.3:
                derived[f"_:{each}"] = {
                    "prov:generatedEntity": f"e:{effect}", "prov:usedEntity": f"e:{cause}",
                }  # fmt: skip
        document = {
            "prefix": {"e": "http://e/"}, "used": used, "wasGeneratedBy": generated,
            "wasDerivedFrom": derived,
        }  # fmt: skip
        files.append((f"{number}.json", json.dumps(document).encode()))
    lines = b"\n".join(data for _, data in files[:2])
    return [*files[2:], ("more.jsonl", lines)]


BAD = [
    ("none.json", b'{"used": 1}'),
    ("notes.txt", b"no document"),
    ("cycle.json", b'{"wasDerivedFrom": {"_:1": {"prov:generatedEntity": "a", '
     b'"prov:usedEntity": "b"}, "_:2": {"prov:generatedEntity": "b", "prov:usedEntity": "a"}}}'),
]  # fmt: skip


def whole(files: list[tuple[str, bytes]], folder: Path, form: str) -> list[tuple[str, str]]:
    arriving = folder / "in"
    arriving.mkdir()
    for name, data in files:
        (arriving / name).write_bytes(data)
    reduce_files([arriving], folder / "whole", Settings(format=form, hubs=False))
    return sorted(edges_in(folder / "whole"))


@pytest.mark.parametrize("seed", range(4))
def test_documents_of_prov_in_any_order_and_batches(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    files = documents(rng)
    streamed([*files, *BAD], tmp_path, rng, format="prov", hubs=False)
    assert sorted(edges_in(tmp_path / "store")) == whole(files, tmp_path, "prov")
    letters = read_letters(tmp_path / "store.dead.jsonl")
    assert sorted(Path(each.origin).name for each in letters) == [
        "cycle.json", "none.json", "notes.txt",
    ]  # fmt: skip


def test_documents_that_close_a_cycle_with_others_are_refused_in_the_end(tmp_path: Path) -> None:
    def derived(effect: str, cause: str) -> bytes:
        edge = {"prov:generatedEntity": effect, "prov:usedEntity": cause}
        return json.dumps({"wasDerivedFrom": {"_:d": edge}}).encode()

    files = [("a.json", derived("a", "b")), ("b.json", derived("b", "c")),
             ("c.json", derived("c", "a")), ("d.json", derived("d", "a"))]  # fmt: skip
    settings = StreamSettings(format="prov")
    with Batches(tmp_path / "store", settings, tmp_path / "own") as state:
        for number, file in enumerate(files):
            run_batch(state, number, [files_as([file])], np.random.default_rng(number))
        state.close(stepped)
    (letter,) = read_letters(tmp_path / "store.dead.jsonl")
    assert letter.origin == "file:/in/c.json"
    assert letter.reason.startswith("with the files before it: The edges have a cycle")
    assert sorted(edges_in(tmp_path / "store")) == whole(files, tmp_path, "prov")


def event(kind: str, run: str, hour: float, reads: list[Any], writes: list[Any]) -> dict[str, Any]:
    time = f"2026-01-{1 + int(hour // 24):02}T{int(hour % 24):02}:{int(hour % 1 * 60):02}:00+00:00"
    return {
        "eventType": kind, "eventTime": time, "run": {"runId": run},
        "job": {"namespace": "n", "name": run}, "inputs": reads, "outputs": writes,
    }  # fmt: skip


def dataset(name: int, **facets: Any) -> dict[str, Any]:
    return {"namespace": "db", "name": str(name), "facets": facets}


def runs(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Runs of a few hours over a few datasets, some of which fail, or say columns or versions."""
    events = []
    for number in range(20):
        start = float(rng.integers(0, 80)) / 2
        end = start + float(rng.integers(1, 8)) / 2
        reads, writes = rng.choice(8, 2, replace=False), rng.choice(8, 1)
        facets: dict[str, Any] = {}
        if rng.random() < 0.4:
            source = {"namespace": "db", "name": str(reads[0]), "field": "x"}
            facets["columnLineage"] = {"fields": {"y": {"inputFields": [source]}}}
        if rng.random() < 0.2:
            facets["version"] = {"datasetVersion": f"v{number}"}
        run = f"r{number}"
        inputs = [dataset(int(name)) for name in reads]
        events.append(event("START", run, start, inputs, []))
        kind = str(rng.choice(["COMPLETE", "COMPLETE", "COMPLETE", "FAIL", "RUNNING"]))
        events.append(event(kind, run, end, inputs[:1], [dataset(int(writes[0]), **facets)]))
    return sorted(events, key=lambda each: str(each["eventTime"]))


@pytest.mark.parametrize("seed", range(4))
def test_events_of_openlineage_in_any_order_and_batches(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    lines = [json.dumps(each).encode() for each in runs(rng)]
    files = [
        (f"{n}.jsonl", b"\n".join(lines[i] for i in part))
        for n, part in enumerate(np.array_split(np.arange(len(lines)), 10))
    ]
    bad = ("bad.jsonl", b'{"eventTime": "?"}\n' + lines[0])
    state = streamed([*files, bad], tmp_path, rng, format="openlineage", hubs=False)
    assert sorted(edges_in(tmp_path / "store")) == whole(files, tmp_path, "openlineage")
    (letter,) = read_letters(tmp_path / "store.dead.jsonl")
    assert (letter.origin, letter.line) == ("file:/in/bad.jsonl", 1)
    running = {json.loads(line)["run"]["runId"] for line in lines if b"RUNNING" in line}
    assert set(unfinished(state.plan(state.batch))) == running


@pytest.mark.parametrize("seed", range(4))
def test_runs_are_told_while_events_come_and_late_ones_are_reported(
    seed: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    lines = [json.dumps(each).encode() for each in runs(rng)]
    settings = StreamSettings(format="openlineage", hubs=False, lateness=HOUR)
    told = []
    with Batches(tmp_path / "store", settings, tmp_path / "own") as state:
        for number, line in enumerate(lines):
            progress = run_batch(state, number, [files_as([(f"{number}.jsonl", line)])], rng)
            assert progress is not None
            told.append(progress.topics["events"].report.received)
        assert 0 < told[-10] < told[-1]
        assert state.close(stepped).topics["events"].exact
    assert sorted(edges_in(tmp_path / "store")) == whole(
        [("all.jsonl", b"\n".join(lines))], tmp_path, "openlineage"
    )
    late = event("COMPLETE", "late", 0.2, [], [dataset(int(n)) for n in range(8)])
    other = tmp_path / "other"
    other.mkdir()
    with Batches(other / "store", settings, other / "own") as state:
        for number, line in enumerate([*lines, json.dumps(late).encode()]):
            run_batch(state, number, [files_as([(f"{number}.jsonl", line)])], rng)
        progress = state.close(stepped)
        assert not progress.topics["events"].exact
    letters = read_letters(other / "store.dead.jsonl")
    assert letters
    assert all("came later than the lateness allows" in each.reason for each in letters)


@pytest.mark.spark
@pytest.mark.classic
@pytest.mark.slow
@pytest.mark.parametrize("form", ["openlineage", "prov"])
def test_files_that_arrive_in_a_folder(form: str, spark: SparkSession, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    if form == "prov":
        files, bad = documents(rng), 3
    else:
        never_ends = event("RUNNING", "flink", 1.0, [dataset(1)], [dataset(2)])
        events = [json.dumps(each).encode() for each in [*runs(rng), never_ends]]
        files, bad = [(f"{n}.jsonl", line) for n, line in enumerate(events)], 1
    arriving = tmp_path / "arriving"
    arriving.mkdir()
    settings = StreamSettings(format=form, hubs=False)
    half = len(files) // 2
    for part in (files[:half], [*files[half:], *BAD[:bad]]):
        for name, data in part:
            (arriving / name).write_bytes(data)
        with StreamReduction(tmp_path / "store", settings) as reduction:
            reduction.wait(reduction.start(files_of(spark, arriving)))
    command = ["events", "reduce", str(arriving), "--store", str(tmp_path / "store"), "--spark",
               "local[2]", "--format", form, "--no-hubs"]  # fmt: skip
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2, result.output  # some were refused
    assert ("runs that no event ends: flink" in result.output) == (form == "openlineage")
    assert len(read_letters(tmp_path / "store.dead.jsonl")) == bad
    assert sorted(edges_in(tmp_path / "store")) == whole(files, tmp_path, form)


@pytest.mark.parametrize("command", ["reduce", "serve"])
def test_the_command_line_has_the_formats_there_are(command: str) -> None:
    """It says them itself: it imports nothing of events before a command asks for it."""
    (option,) = [each for each in events.commands[command].params if each.name == "source"]
    assert isinstance(option.type, click.Choice)
    assert (tuple(option.type.choices), option.default) == (FORMATS, MESSAGES)
