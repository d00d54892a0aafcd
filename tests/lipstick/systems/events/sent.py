"""Random jobs as messages: attempts that fail or run twice, declarations, disorder, redelivery."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lipstick.systems.events.message import EDGES, END, SEALED, Counts, Message
from tests.graphquery.reduction.jobs import Edge, EdgeType, Job

NAMES = {
    EdgeType.USED: "used",
    EdgeType.GENERATED: "wasGeneratedBy",
    EdgeType.DERIVED: "wasDerivedFrom",
    EdgeType.MEMBER: "hadMember",
}
BAD = (
    b'{"version":1,"topic":"t","kind":"edges"',
    b'{"version":9,"topic":"t","kind":"sealed"}',
    b"[1, 2]",
    b'{"version":1,"topic":"t","kind":"edges","exec":"e","function":"f","seq":0,"event_time":1,'
    b'"edges":[["e","x","ate"]]}',
    b"\xff\xfe",
)


@dataclass(frozen=True)
class Sent:
    """Lines of messages in the order they arrive, and how many of them are bad."""

    lines: list[bytes]
    bad: int
    times: tuple[int, int]


def send(job: Job, rng: np.random.Generator, *, functions: bool, topic: str = "t") -> Sent:
    """The messages of a job.

    Parameters
    ----------
    functions
        Whether functions are sealed when they are over, and say who reads what they generate.
    """
    entering = Counter(dest for _, dest, _ in job.edges)
    leaving = Counter(source for source, _, _ in job.edges)
    told = float(rng.choice([0.0, 0.5, 1.0]))
    readers = _readers(job)
    messages: list[Message] = []
    clock = 1_000
    for function in sorted(set(job.functions.values())):
        latest = clock
        for activity in (a for a, f in job.functions.items() if f == function):
            own_edges = [e for e in job.edges if activity in (e[0], e[1]) or _maker(e) == activity]
            time = clock + int(rng.integers(0, 50))
            attempts = [None] if rng.random() < 0.3 else list(range(int(rng.integers(1, 4))))
            winners = [a for a in attempts if a is None or rng.random() < 0.5] or attempts[-1:]
            for attempt in attempts:
                sent = list(
                    _attempt(
                        topic,
                        function,
                        activity,
                        attempt,
                        own_edges,
                        time,
                        rng,
                        _Told(entering, leaving, told, readers.get(function), job.kept),
                    )
                )
                if attempt not in winners:  # it died on the way
                    sent = sent[: int(rng.integers(0, len(sent)))]
                messages += sent
                latest = max(latest, time)
                time += int(rng.integers(0, 5))
        clock = latest + 10
        if functions:
            messages.append(Message(topic, SEALED, function=function, event_time=clock))
            clock += 1
    lines = [message.line().encode() for message in messages]
    lines += [lines[int(n)] for n in rng.integers(0, len(lines), int(rng.integers(0, 6)))]
    bad = int(rng.integers(0, 3))
    lines += [BAD[int(n)] + b"\n" for n in rng.integers(0, len(BAD), bad)]
    disorder = float(rng.choice([0, 3, 1_000]))
    order = np.argsort(np.arange(len(lines)) + rng.random(len(lines)) * disorder, kind="stable")
    return Sent([lines[int(index)] for index in order], bad, (1_000, clock))


@dataclass(frozen=True)
class _Told:
    """What may be declared."""

    entering: Counter[str]
    leaving: Counter[str]
    share: float
    read_by: tuple[str, ...] | None
    kept: frozenset[str]


def _attempt(
    topic: str,
    function: str,
    activity: str,
    attempt: int | None,
    own_edges: list[Edge],
    time: int,
    rng: np.random.Generator,
    told: _Told,
):  # type: ignore[no-untyped-def]
    """The messages of an attempt, in their order."""
    groups: list[tuple[list[Edge], Counts]] = []
    for edge in (own_edges[int(index)] for index in rng.permutation(len(own_edges))):
        counts = _counts(edge, activity, told, rng)
        if groups and groups[-1][1] == counts and rng.random() < 0.6:
            groups[-1][0].append(edge)
        else:
            groups.append(([edge], counts))
    worker = f"w{rng.integers(2)}"
    for seq, (edges, counts) in enumerate(groups):
        triples = [(source, dest, NAMES[kind]) for source, dest, kind in edges]
        yield Message(
            topic, EDGES, activity, attempt, function, worker, seq, time, triples, counts=counts
        )
    if attempt is not None:
        counts = Counts(
            uses=told.leaving[activity], generations=told.entering[activity], messages=len(groups)
        )
        yield Message(
            topic, END, activity, attempt, function, worker, len(groups), time, counts=counts
        )


def _counts(edge: Edge, activity: str, told: _Told, rng: np.random.Generator) -> Counts:
    source, dest, kind = edge
    keep = True if kind is EdgeType.GENERATED and source in told.kept else None
    declared: dict[str, int] = {}
    if rng.random() < told.share:
        if kind is EdgeType.GENERATED:
            declared = {"readers": told.entering[source], "causes": told.leaving[source]}
        elif kind is EdgeType.USED:
            declared = {"used_causes": told.leaving[dest]}
    return Counts(**declared, keep=keep, read_by=told.read_by)


def _maker(edge: Edge) -> str:
    return edge[0].partition("/")[0]


def _readers(job: Job) -> dict[str, tuple[str, ...]]:
    """The functions that read what each generates; a derivation is by the function that made it."""
    readers_by_function: dict[str, set[str]] = {name: set() for name in job.functions.values()}
    for source, dest, kind in job.edges:
        if dest in job.makers and kind is not EdgeType.GENERATED:
            reader = job.functions.get(source) or job.makers[source]
            readers_by_function[job.makers[dest]].add(reader)
    return {name: tuple(sorted(readers)) for name, readers in readers_by_function.items()}


def write(lines: list[bytes], folder: Path, rng: np.random.Generator) -> list[Path]:
    """The lines in up to three files, in their order."""
    folder.mkdir(parents=True, exist_ok=True)
    cuts = sorted(int(n) for n in rng.integers(0, len(lines) + 1, int(rng.integers(0, 3))))
    paths = []
    for number, (start, stop) in enumerate(zip([0, *cuts], [*cuts, len(lines)], strict=True)):
        path = folder / f"part-{number}.jsonl"
        path.write_bytes(b"".join(lines[start:stop]))
        paths.append(path)
    return paths
