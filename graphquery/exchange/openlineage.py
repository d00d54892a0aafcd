"""Invocations of modules as OpenLineage events: runs, their datasets, and lineage of columns.

A module is a job and an invocation of it a run, within the run of its execution. Datasets are the
relations that an invocation reads and writes: of a module, ``dealer1.Bids``; of the workflow's
input, ``Requests``.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from graphquery.exchange.openlineage_events import (
    PRODUCER,
    LineageRun,
    OutputLineage,
    Parts,
    parent_run,
    run_events,
)
from graphquery.graph import ProvenanceGraph
from graphquery.model import Kind, Segment
from graphquery.storage import role
from semiring.arrays.segments import ascending
from semiring.base import Array

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent

Times: TypeAlias = Callable[[str], tuple[datetime, datetime]]
"""Maps the name of an invocation, ``dealer1#3``, to its start and end."""


@dataclass(slots=True)
class _Run:
    """One invocation: its m-node's segment, and what it reads and writes."""

    invocation: Segment
    inputs: dict[str, None] = field(default_factory=dict)
    outputs: dict[str, None] = field(default_factory=dict)
    columns: dict[str, dict[str, set[tuple[str, str]]]] = field(default_factory=dict)


def to_openlineage(
    graph: ProvenanceGraph,
    times: Times,
    *,
    namespace: str = "lipstick",
    workflow: str = "workflow",
    producer: str = PRODUCER,
) -> list[RunEvent]:
    """Return a START and a COMPLETE event for every invocation, of ``openlineage-python``.

    Parameters
    ----------
    times
        The start and the end of invocations, with time zones.
    namespace
        The namespace of jobs and datasets. It and their names identify runs: the same graph gives
        the same events.
    workflow
        The name of the job whose runs are executions.
    producer
        A URI of the system that ran the modules.

    Returns
    -------
    list
        Events in the order of the invocations' ids. Outputs with computed values have the facet
        `columnLineage`, which names the columns of the inputs that they are computed from.

    Raises
    ------
    GraphError
        A time has no time zone, an end is before its start, or the package
        ``openlineage-python`` is missing.

    Notes
    -----
    Reads segments and the links between them, not the edges themselves.
    """
    events: list[RunEvent] = []
    for run in _runs(graph):
        name, execution = run.invocation.name, run.invocation.execution
        start, end = times(name)
        parent = None
        if execution is not None:
            identity = _identity(namespace, f"{workflow}/{execution}")
            parent = parent_run(namespace, workflow, identity, producer=producer)
        recorded = LineageRun(
            identity=_identity(namespace, name),
            job=_module(run.invocation),
            start=start,
            end=end,
            inputs={each: {} for each in run.inputs},
            outputs={each: OutputLineage(columns=_parts(run, each)) for each in run.outputs},
            parent=parent,
        )
        events += run_events(recorded, namespace, producer)
    return events


def _parts(run: _Run, name: str) -> dict[str, Parts]:
    return {
        column: dict.fromkeys(sorted(sources), (("DIRECT", None),))
        for column, sources in run.columns.get(name, {}).items()
    }


def _identity(namespace: str, name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{namespace}/{name}"))


def _module(segment: Segment) -> str:
    return segment.module or segment.label


class _Links:
    """The segments that a graph shows, and the predecessors of each."""

    def __init__(self, graph: ProvenanceGraph) -> None:
        storage = graph.storage
        ids = graph.ids[graph.ids < storage.count]
        shown: Array = ascending(storage.segment_of(ids))
        self.segments = {int(position): storage.segments[int(position)] for position in shown}
        self.before: dict[int, list[int]] = {position: [] for position in self.segments}
        for source, target in storage.links:
            if source in self.segments and target in self.segments:
                self.before[target].append(source)
        self._relations = {each.name: each.relation for each in storage.segments}

    def dataset(self, segment: Segment) -> str:
        """Return the dataset of a segment's tuples, or of the tuples that its values belong to."""
        relation = segment.relation
        if segment.kind is Kind.VALUE:
            relation = self._relations.get(segment.name.rpartition(".")[0])
        relation = relation or segment.name
        return relation if segment.module is None else f"{segment.module}.{relation}"

    def origins(self, position: int) -> list[str]:
        """Return the datasets that an input was copied from, or its own if the graph lacks them."""
        sources = [self.segments[source] for source in self.before[position]]
        origins = [self.dataset(each) for each in sources if each.kind is not Kind.INVOCATION]
        return origins or [self.dataset(self.segments[position])]

    def values_behind(self, position: int) -> set[int]:
        """Return the v-nodes of inputs and state behind v-nodes, within their invocation."""
        values, waiting, seen = set(), [position], {position}
        start = self.segments[position]
        while waiting:
            for source in self.before[waiting.pop()]:
                segment = self.segments[source]
                if source in seen or segment.kind is not Kind.VALUE or not _same(start, segment):
                    continue
                seen.add(source)
                if role(segment) in (Kind.INPUT, Kind.STATE):
                    values.add(source)
                else:
                    waiting.append(source)
        return values


def _runs(graph: ProvenanceGraph) -> list[_Run]:
    links = _Links(graph)
    storage = graph.storage
    invocations = [each for each in links.segments.values() if each.kind is Kind.INVOCATION]
    hidden = storage.invocations[graph.ids[graph.ids >= storage.count] - storage.count]
    invocations += [graph.segment(node) for node in hidden.tolist()]
    runs = {(each.module, each.invocation): _Run(each) for each in invocations}
    for position, segment in links.segments.items():
        run = runs.get((segment.module, segment.invocation))
        if run is None:
            continue
        if segment.kind is Kind.OUTPUT:
            run.outputs[links.dataset(segment)] = None
        elif segment.kind is Kind.INPUT:
            run.inputs.update(dict.fromkeys(links.origins(position)))
        elif segment.kind is Kind.STATE:
            run.inputs[links.dataset(segment)] = None
            _add_state(links, position, runs)
        elif segment.kind is Kind.VALUE and role(segment) is Kind.OUTPUT:
            _add_lineage(links, position, run)
    return list(runs.values())


def _same(left: Segment, other: Segment) -> bool:
    return (left.module, left.invocation) == (other.module, other.invocation)


def _add_state(links: _Links, position: int, runs: Mapping[Any, _Run]) -> None:
    """Add state that an invocation reads to the outputs of the invocations that made its tuples."""
    for source in links.before[position]:
        segment = links.segments[source]
        writer = runs.get((segment.module, segment.invocation))
        if writer is not None and segment.kind is not Kind.INVOCATION:
            writer.outputs[links.dataset(links.segments[position])] = None


def _add_lineage(links: _Links, position: int, run: _Run) -> None:
    """Add the computed columns of an output, with the input columns behind each."""
    segment = links.segments[position]
    sources: set[tuple[str, str]] = set()
    for source in links.values_behind(position):
        value = links.segments[source]
        datasets = [links.dataset(value)] if role(value) is Kind.STATE else links.origins(source)
        sources.update((dataset, _column(value)) for dataset in datasets)
    if sources:
        run.columns.setdefault(links.dataset(segment), {})[_column(segment)] = sources


def _column(segment: Segment) -> str:
    return segment.name.rpartition(".")[2]
