"""Two plain oracles of who came from whom: bitsets swept in reverse, and recursive SQL.

The third computes labels: the sum over all paths of the product of their edges' labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from semiring.base import Semiring
from tests.graphquery.reduction.jobs import Job, valued

Pair = tuple[str, str]


def swept(edges: Iterable[Pair], effects: frozenset[str], causes: frozenset[str]) -> set[Pair]:
    """Pairs (a, b) of an effect and a cause with a path of at least one edge from a to b."""
    onward: dict[str, set[str]] = {}
    for source, dest in edges:
        onward.setdefault(source, set()).add(dest)
    bit = {cause: 1 << number for number, cause in enumerate(sorted(causes))}

    @cache
    def reached(vertex: str) -> int:
        bits = 0
        for dest in onward.get(vertex, ()):
            bits |= bit.get(dest, 0) | reached(dest)
        return bits

    return {
        (effect, cause)
        for effect in effects
        for cause, mask in bit.items()
        if reached(effect) & mask
    }


def recursive(
    graphs: Sequence[tuple[Iterable[Pair], frozenset[str], frozenset[str]]],
) -> list[set[Pair]]:
    """What `swept` computes of each of many graphs, by one recursive query of DuckDB."""
    columns: dict[str, list[Any]] = {"g": [], "source": [], "dest": []}
    ends: dict[str, list[Any]] = {"g": [], "vertex": [], "effect": []}
    for number, (edges, effects, causes) in enumerate(graphs):
        for source, dest in edges:
            columns["g"].append(number)
            columns["source"].append(source)
            columns["dest"].append(dest)
        for vertices, is_effect in ((effects, True), (causes, False)):
            for vertex in vertices:
                ends["g"].append(number)
                ends["vertex"].append(vertex)
                ends["effect"].append(is_effect)
    with duckdb.connect() as connection:
        types = [("g", pa.int64()), ("source", pa.string()), ("dest", pa.string())]
        connection.register("edges", pa.table(columns, schema=pa.schema(types)))
        types = [("g", pa.int64()), ("vertex", pa.string()), ("effect", pa.bool_())]
        connection.register("ends", pa.table(ends, schema=pa.schema(types)))
        rows = connection.execute(
            """
            WITH RECURSIVE path AS (
                SELECT e.g, e.source, e.dest FROM edges e
                JOIN ends s ON s.g = e.g AND s.vertex = e.source AND s.effect
                UNION
                SELECT p.g, p.source, e.dest FROM path p
                JOIN edges e ON e.g = p.g AND e.source = p.dest
            )
            SELECT p.g, p.source, p.dest FROM path p
            JOIN ends t ON t.g = p.g AND t.vertex = p.dest AND NOT t.effect
            """
        ).fetchall()
    pairs: list[set[Pair]] = [set() for _ in graphs]
    for number, source, dest in rows:
        pairs[number].add((source, dest))
    return pairs


def labels(
    edges: Sequence[tuple[str, str, Any]],
    effects: frozenset[str],
    causes: frozenset[str],
    semiring: Semiring[Any],
) -> dict[Pair, Any]:
    """The label of every pair: Σ over paths of Π over edges, by scalar operations.

    Paths that go through another terminal count as well, as they do in the reduced graph.
    """
    onward: dict[str, list[tuple[str, Any]]] = {}
    for source, dest, label in edges:
        onward.setdefault(source, []).append((dest, label))

    @cache
    def reached(vertex: str) -> dict[str, Any]:
        sums: dict[str, Any] = {}

        def add(cause: str, label: Any) -> None:
            sums[cause] = semiring.plus(sums[cause], label) if cause in sums else label

        for dest, label in onward.get(vertex, ()):
            if dest in causes:
                add(dest, label)
            for cause, further in reached(dest).items():
                add(cause, semiring.times(label, further))
        return sums

    return {(o, i): label for o in effects for i, label in reached(o).items()}


def job_pairs(job: Job) -> set[Pair]:
    return swept([edge[:2] for edge in job.edges], job.effects, job.causes)


def job_labels(job: Job, semiring: Semiring[Any]) -> dict[Pair, Any]:
    edges = [
        (source, dest, valued(semiring, job, index))
        for index, (source, dest, _) in enumerate(job.edges)
    ]
    return labels(edges, job.effects, job.causes, semiring)
