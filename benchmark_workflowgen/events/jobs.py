"""The paper's computation as executions: hashtag count by map, combine and reduce."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from graphquery.reduction import EdgeType, Partial
from graphquery.reduction.partial import VertexDeclarations
from lipstick.systems.events import hashtags
from semiring.base import Array

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class JobExecution:
    """An execution of a function.

    Parameters
    ----------
    function, name
        The function, and the name of the execution.
    worker
        The number of the worker that ran it.
    uses, generates
        The entities that it uses and generates.
    readers
        The number of executions that use each generated entity.
    inputs
        Whether the used entities are inputs.
    """

    function: str
    name: str
    worker: int
    uses: tuple[str, ...]
    generates: tuple[str, ...]
    readers: int
    inputs: bool = False

    @property
    def used(self) -> list[Pair]:
        """Its edges of type used."""
        return [(self.name, entity) for entity in self.uses]

    @property
    def generated(self) -> list[Pair]:
        """Its edges of type wasGeneratedBy."""
        return [(entity, self.name) for entity in self.generates]


def hashtag_count(
    tweets: int, workers: int, seed: int = 0, bare: float = 0.25
) -> list[JobExecution]:
    """Return executions in the order they run: mappers and combiners of all workers in turns."""
    table = hashtags.tweets(tweets, seed, bare=bare).to_pylist()
    jobs: list[JobExecution] = []
    groups: dict[str, list[str]] = {}
    size = hashtags.BLOCK
    for start in range(0, len(table), size):
        worker = start // size % workers
        by_tag: dict[str, list[str]] = {}
        for row in table[start : start + size]:
            tags = [word for word in row["text"].split() if word.startswith("#")]
            records = tuple(f"{row['tweet']}/{tag}" for tag in tags)
            for tag, record in zip(tags, records, strict=True):
                by_tag.setdefault(tag, []).append(record)
            name = f"map/{row['tweet']}"
            jobs.append(JobExecution("map", name, worker, (row["tweet"],), records, 1, inputs=True))
        for tag, several in by_tag.items():
            name = f"{start}/{tag}"
            groups.setdefault(tag, []).append(name)
            uses = tuple(several)
            jobs.append(JobExecution("combine", f"combine/{name}", worker, uses, (name,), 1))
    for number, (tag, names) in enumerate(groups.items()):
        uses = tuple(names)
        jobs.append(JobExecution("reduce", f"reduce/{tag}", number % workers, uses, (tag,), 0))
    return jobs


def edges_of(executions: Sequence[JobExecution]) -> list[Pair]:
    """Return all edges, in order."""
    return [edge for each in executions for edge in (*each.used, *each.generated)]


def ends_of(executions: Sequence[JobExecution]) -> tuple[list[str], list[str]]:
    """Return outputs and inputs."""
    outputs = [entity for each in executions if not each.readers for entity in each.generates]
    inputs = [entity for each in executions if each.inputs for entity in each.uses]
    return outputs, inputs


def partial_of(executions: Sequence[JobExecution]) -> Partial:
    """Return executions as a partial graph, with the numbers of edges that they declare."""
    sources: list[str] = []
    dests: list[str] = []
    kinds: list[int] = []
    declared: list[tuple[int, int, int, int]] = []
    for each in executions:
        uses, generations = len(each.uses), len(each.generates)
        sources += [each.name] * uses
        dests += each.uses
        kinds += [EdgeType.USED] * uses
        declared += [(generations, uses, -1, 0 if each.inputs else -1)] * uses
        sources += each.generates
        dests += [each.name] * generations
        kinds += [EdgeType.GENERATED] * generations
        declared += [(each.readers, 1, generations, uses)] * generations
    columns: Array = np.array(declared, dtype=np.int64).reshape(-1, 4)
    return Partial.of_edges(
        pa.array(sources, pa.string()),
        pa.array(dests, pa.string()),
        np.array(kinds, dtype=np.int64),
        declared=(
            VertexDeclarations(columns[:, 0], columns[:, 1]),
            VertexDeclarations(columns[:, 2], columns[:, 3]),
        ),
    )


def bytes_of(pairs: Sequence[Pair]) -> int:
    """Return the bytes of edges as lines of two identifiers."""
    return sum(len(source.encode()) + len(dest.encode()) + 2 for source, dest in pairs)


def batches(executions: Sequence[JobExecution], size: int) -> Iterator[Sequence[JobExecution]]:
    """Yield executions in groups of about `size` edges."""
    edges = np.cumsum([len(each.uses) + len(each.generates) for each in executions])
    group = edges // size
    for places in np.split(np.arange(len(executions)), np.flatnonzero(np.diff(group)) + 1):
        if len(places):
            yield executions[places[0] : places[-1] + 1]
