"""Random histories of OpenLineage, held against a reader that follows every read by itself.

``python -m tests.lipstick.systems.events.random_history 0-5000 --output FILE`` goes on where it was
stopped. The reader shares nothing with the code but the words of its documentation: it finds one
name for a dataset by going over all symlinks again and again, looks through all writes for every
read, and returns the inputs of a version as a set, without a graph.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lipstick.systems.events import ReducedGraph, Settings, reduce_files
from tests.lipstick.systems.events.reduced import edges_in

Name = tuple[str, str]
NAMES = [(space, f"n{number}") for space in ("d", "s3://b") for number in range(5)]
REPLACES = ("CREATE", "OVERWRITE", "TRUNCATE", "DROP")


@dataclass
class Written:
    """A dataset that a run wrote."""

    name: Name
    change: str | None = None
    previous: Name | None = None
    version: str | None = None
    columns: dict[str, list[tuple[Name, str]]] = field(default_factory=dict)
    sources: list[tuple[Name, str]] = field(default_factory=list)


@dataclass
class History:
    """Runs by name with their times, and what they read and wrote; jobs have no times."""

    times: dict[str, tuple[int, int]] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    reads: dict[str, list[tuple[Name, str | None]]] = field(default_factory=dict)
    writes: dict[str, list[Written]] = field(default_factory=dict)
    jobs: set[str] = field(default_factory=set)
    links: list[tuple[Name, Name]] = field(default_factory=list)


def history_of(rng: np.random.Generator) -> History:
    """A random history, in which no run reads what came of it."""

    def any_name() -> Name:
        return NAMES[int(rng.integers(len(NAMES)))]

    history = History()
    for _ in range(int(rng.integers(0, 4))):
        history.links.append((any_name(), any_name()))
    # Jobs without runs read what is before their output, by the least of its names.
    for number in range(int(rng.integers(0, 3))):
        job = f"job{number}"
        history.jobs.add(job)
        history.reads[job] = [(("static", str(number)), None)]
        history.writes[job] = [Written(("static", str(number + 1)))]
    for number in range(int(rng.integers(2, 16))):
        run = f"r{number}"
        start = int(rng.integers(0, 40))
        history.times[run] = start, start + int(rng.integers(1, 8))
        history.ends[run] = str(rng.choice(["COMPLETE"] * 6 + ["FAIL", "ABORT", ""]))
        reads: list[tuple[Name, str | None]] = []
        for _ in range(int(rng.integers(0, 3))):
            version = None
            ended = [r for r, (_, end) in history.times.items() if end <= start]
            if ended and rng.random() < 0.3:
                version = f"v{rng.choice(ended)[1:]}"
            reads.append((any_name(), version))
        if rng.random() < 0.2:
            reads.append((("static", str(rng.integers(0, 3))), None))
        history.reads[run] = reads
        history.writes[run] = [_written(any_name, run, rng) for _ in range(int(rng.integers(0, 3)))]
    return history


def _written(any_name: Any, run: str, rng: np.random.Generator) -> Written:
    written = Written(any_name())
    if rng.random() < 0.3:
        written.change = str(rng.choice([*REPLACES, "ALTER"]))
    elif rng.random() < 0.2:
        written.change, written.previous = "RENAME", any_name()
    if rng.random() < 0.5:
        written.version = f"v{run[1:]}"
    for column in "ab":
        if rng.random() < 0.3:
            written.columns[column] = [
                (any_name(), str(rng.choice(list("abc")))) for _ in range(int(rng.integers(0, 3)))
            ]
    if rng.random() < 0.2:
        written.sources = [(any_name(), str(rng.choice(list("abc"))))]
    return written


def events_of(history: History, rng: np.random.Generator) -> list[dict[str, Any]]:
    """The events of a history, each run's in a few parts, some of them twice, in any order."""
    events: list[dict[str, Any]] = []
    for run, writes in history.writes.items():
        inputs = [_dataset(name, version=version) for name, version in history.reads[run]]
        outputs = [_output(written) for written in writes]
        event: dict[str, Any] = {"job": {"namespace": "j", "name": run}}
        if run in history.jobs:
            time = {"eventTime": _time(0)}
            events.append(event | time | {"inputs": inputs, "outputs": outputs})
            continue
        event["run"] = {"runId": run}
        start, end = (_time(60 + minute) for minute in history.times[run])
        cut = int(rng.integers(0, len(inputs) + 1))
        events.append(event | {"eventType": "START", "eventTime": start, "inputs": inputs[:cut]})
        events.append(event | {"eventType": "RUNNING", "eventTime": start, "inputs": inputs[cut:]})
        last = {"eventTime": end, "outputs": outputs}
        kind = history.ends[run]
        events.append(event | last | ({"eventType": kind} if kind else {}))
    for first, second in history.links:
        facet = {"identifiers": [{"namespace": second[0], "name": second[1], "type": "TABLE"}]}
        events.append({"eventTime": _time(5), "dataset": _dataset(first, symlinks=facet)})
    events += [events[int(n)] for n in rng.integers(0, len(events), int(rng.integers(0, 4)))]
    return [events[int(n)] for n in rng.permutation(len(events))]


def _time(minute: int) -> str:
    return f"2026-01-01T{minute // 60:02}:{minute % 60:02}:00+00:00"


def _dataset(name: Name, version: str | None = None, **facets: Any) -> dict[str, Any]:
    if version is not None:
        facets["version"] = {"datasetVersion": version}
    return {"namespace": name[0], "name": name[1], "facets": facets}


def _output(written: Written) -> dict[str, Any]:
    def fields(columns: list[tuple[Name, str]]) -> list[dict[str, str]]:
        return [{"namespace": name[0], "name": name[1], "field": c} for name, c in columns]

    facets: dict[str, Any] = {}
    if written.change is not None:
        facets["lifecycleStateChange"] = {"lifecycleStateChange": written.change}
    if written.previous is not None:
        space, name = written.previous
        facets["lifecycleStateChange"]["previousIdentifier"] = {"namespace": space, "name": name}
    if written.columns or written.sources:
        columns = {column: {"inputFields": fields(c)} for column, c in written.columns.items()}
        facets["columnLineage"] = {"fields": columns, "dataset": fields(written.sources)}
    return _dataset(written.name, written.version, **facets)


class Reader:
    """Says of every version which inputs it came from, as sets of names."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.leaves = cache(self._leaves)
        self.column = cache(self._column)

    def name(self, name: Name) -> Name:
        """The least name of a dataset."""
        known = {name}
        while True:
            more = {n for link in self.history.links if known & set(link) for n in link}
            if more <= known:
                return min(known)
            known |= more

    def wrote(self, name: Name) -> list[str]:
        """The runs that completed and wrote a dataset, by their ends; jobs are none of them."""
        history = self.history
        runs = [
            run
            for run, writes in history.writes.items()
            if history.ends.get(run) == "COMPLETE"
            and any(self.name(written.name) == name for written in writes)
        ]
        return sorted(runs, key=lambda run: (history.times[run][1], f"run:{run}"))

    def read_by(self, run: str, name: Name, version: str | None = None) -> list[str]:
        """The runs or jobs whose version of a dataset a run reads."""
        history = self.history
        start = history.times.get(run, (-60, -60))[0]
        others = [other for other in self.wrote(name) if other != run]
        if version is not None:
            for other in others:
                parts = [w for w in history.writes[other] if self.name(w.name) == name]
                if version in {written.version for written in parts}:
                    return [other]
        before = [other for other in others if history.times[other][1] <= start]
        jobs = [
            job
            for job in history.jobs
            if job != run and any(self.name(w.name) == name for w in history.writes[job])
        ]
        return before[-1:] or jobs

    def before(self, run: str, name: Name) -> list[tuple[str, Name]]:
        """What a version was made of beside what its run read: runs, and datasets without any."""
        if run in self.history.jobs:
            return []
        parts = [w for w in self.history.writes[run] if self.name(w.name) == name]
        changes = {written.change for written in parts}
        found: list[tuple[str, Name]] = []

        def last(of: Name) -> list[tuple[str, Name]]:
            runs = self.wrote(of)
            end = self.history.times[run][1]
            earlier = [
                other for other in runs if (self.history.times[other][1], f"run:{other}")
                < (end, f"run:{run}")
            ]  # fmt: skip
            return [(other, of) for other in earlier[-1:]]

        if not changes & {*REPLACES, "RENAME"}:
            found += last(name)
        for written in parts:
            if written.previous is not None:
                of = self.name(written.previous)
                found += last(of) or ([] if of == name else [("", of)])
        return found

    def inputs(self, run: str) -> set[str]:
        """What a run read came from."""
        found: set[str] = set()
        for dataset, version in self.history.reads[run]:
            name = self.name(dataset)
            runs = self.read_by(run, name, version)
            found |= {called(name)} if not runs else set()
            for other in runs:
                found |= self.leaves(other, name)
        return found

    def _leaves(self, run: str, name: Name) -> frozenset[str]:
        found = self.inputs(run)
        for other, of in self.before(run, name):
            found |= self.leaves(other, of) if other else {called(of)}
        for written in self.history.writes[run]:
            if self.name(written.name) == name:
                for source in written.sources:
                    found |= self.source(run, source)
                for column in written.columns:
                    found |= self.column(run, name, column)
        return frozenset(found)

    def source(self, run: str, source: tuple[Name, str]) -> frozenset[str]:
        """What a column that a run read came from."""
        name, column = self.name(source[0]), source[1]
        runs = self.read_by(run, name)
        if not runs:
            return frozenset({f"{called(name)}#{column}"})
        return frozenset().union(*(self.column(other, name, column) for other in runs))

    def _column(self, run: str, name: Name, column: str) -> frozenset[str]:
        parts = [w for w in self.history.writes[run] if self.name(w.name) == name]
        found: set[str] = set()
        if not any(column in written.columns for written in parts):
            found |= self.inputs(run)
        for written in parts:
            for source in [*written.columns.get(column, []), *written.sources]:
                found |= self.source(run, source)
        for other, of in self.before(run, name):
            found |= self.column(other, of, column) if other else {f"{called(of)}#{column}"}
        return frozenset(found)

    @property
    def versions(self) -> dict[str, frozenset[str]]:
        """Every version with what it came from."""
        found = {}
        for run, writes in self.history.writes.items():
            if run in self.history.jobs or self.history.ends[run] == "COMPLETE":
                for written in writes:
                    name = self.name(written.name)
                    version = f"job=j|{run}" if run in self.history.jobs else run
                    found[f"{called(name)}@{version}"] = self.leaves(run, name)
        return found


def called(name: Name) -> str:
    return f"{name[0]}/{name[1]}"


def write(events: list[dict[str, Any]], folder: Path, rng: np.random.Generator) -> list[Path]:
    """The events in some files, in the forms that files have."""
    folder.mkdir()
    files = []
    for number, part in enumerate(np.array_split(np.arange(len(events)), rng.integers(1, 4))):
        own = [events[int(n)] for n in part]
        form = int(rng.integers(4))
        data = json.dumps(own, indent=int(rng.integers(0, 3)) or None).encode()
        if form:
            data = "\n".join(json.dumps(event) for event in own).encode()
        if form == 2:
            data = gzip.compress(data)
        if form == 3:
            data = data.decode().encode("utf-16")
        files.append(folder / f"{number}.json")
        files[-1].write_bytes(data)
    return files


def run(seed: int, folder: Path) -> int:
    """Reduce a random history and hold what comes out against the reader; return its pairs.

    Raises
    ------
    AssertionError
        Naming the seed.
    """
    rng = np.random.default_rng(seed)
    history = history_of(rng)
    files = write(events_of(history, rng), folder / "in", rng)
    settings = Settings(format="openlineage", hubs=bool(rng.random() < 0.5))
    outcome = reduce_files(files, folder / "store", settings)
    assert outcome.exact, f"seed {seed}: {outcome}"
    unfinished = {run for run, end in history.ends.items() if not end}
    assert set(outcome.unfinished) == unfinished, f"seed {seed}"
    expected = Reader(history).versions
    graph = ReducedGraph.open(folder / "store")
    found = {each: frozenset(graph.lineage(each)) for each in graph.effects}
    for each, causes in found.items():
        lacking, more = expected[each] - causes, causes - expected[each]
        assert not lacking | more, f"seed {seed}: {each} lacks {lacking}, and has {more}"
    edges = edges_in(folder / "store")
    inner = {cause for _, cause in edges}
    last = {name for name, causes in expected.items() if causes and name not in inner}
    unread = {name for name in last if name not in found}
    read = _read(history)
    assert unread <= read, f"seed {seed}: {unread - read} are not there"
    return sum(map(len, found.values()))


def _read(history: History) -> set[str]:
    """Versions that something was made of: they may be gone."""
    reader = Reader(history)
    found: set[str] = set()

    def note(runs: list[str], name: Name) -> None:
        for other in runs:
            version = f"job=j|{other}" if other in history.jobs else other
            found.add(f"{called(name)}@{version}")

    for run, writes in history.writes.items():
        if run in history.ends and history.ends[run] != "COMPLETE":
            continue
        for dataset, version in history.reads[run]:
            name = reader.name(dataset)
            note(reader.read_by(run, name, version), name)
        for written in writes:
            for other, of in reader.before(run, reader.name(written.name)):
                note([other] if other else [], of)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", help="FROM-TO")
    parser.add_argument("--output", type=Path, help="where to note what was done")
    given = parser.parse_args()
    first, last = map(int, given.seeds.split("-"))
    if given.output is not None and given.output.exists():
        first = max(first, int(given.output.read_text()))
    pairs = 0
    for seed in range(first, last):
        with tempfile.TemporaryDirectory() as folder:
            pairs += run(seed, Path(folder))
        if given.output is not None:
            given.output.write_text(str(seed + 1))
    print(f"{max(0, last - first):,} histories, {pairs:,} pairs: all as the reader says")


if __name__ == "__main__":
    main()
