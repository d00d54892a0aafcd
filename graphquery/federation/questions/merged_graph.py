"""The merged graph of stores that can all be read here: the reference for a federation's answers.

It is the disjoint union of all graphs, with an edge for every crossing row from the exported node
to each token imported as it. Names of segments and modules are ``alias::name``.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphquery.errors import FederationError
from graphquery.federation.crossings.relation import imported_rows
from graphquery.federation.serving.site import joined_segments
from graphquery.graph import ProvenanceGraph
from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.store.crossing import exports, imports
from graphquery.store.snapshot import Snapshot
from semiring.base import Array

if TYPE_CHECKING:
    from graphquery.distributed.graph import SparkGraph

SEPARATOR = "::"
_OUTSIDE = "\0out "


def merged_graph(
    snapshots: Mapping[str, Snapshot], zoomed: Collection[str] = ()
) -> ProvenanceGraph:
    """Return the merged graph of snapshots by alias, in their order.

    Tokens imported from a store that is not among them have no incoming edges.

    Parameters
    ----------
    zoomed
        Modules that are zoomed out. What is exported serves whoever may import it, and is not
        hidden as a constant that is used inside alone.

    Raises
    ------
    FederationError
        Two stores export one channel, or a row is imported that the channel does not have.
    """
    merged = merged_parts(snapshots)
    segments, edge_sets = list(merged.segments), list(merged.edges)
    for channel, (name, count) in merged.exporters.items() if zoomed else ():
        outside = f"{_OUTSIDE}{channel}"
        segments.append(Segment(outside, Kind.DERIVED, "+", count))
        edge_sets.append(EdgeSet(name, outside, count, Ordinals.ALL, Ordinals.ALL))

    def column(file: str, name: str) -> Any:
        if file in merged.crossing:
            return merged.crossing[file]
        alias, _, own_file = file.partition(SEPARATOR)
        return snapshots[alias].column(own_file, name)

    graph = ProvenanceGraph.build(segments, edge_sets, column)
    return _zoomed(graph, zoomed) if zoomed else graph


@dataclass(frozen=True, slots=True, eq=False)
class MergedParts:
    """The parts of the merged graph.

    Parameters
    ----------
    segments, edges
        Segments and edge sets of all stores, with files ``alias::file``, and an edge set for each
        part of an import.
    crossing
        By file of an edge set between stores, the channel's rows at which its edges start.
    exporters
        By channel, its segment and its number of rows.
    """

    segments: Sequence[Segment]
    edges: Sequence[EdgeSet]
    crossing: Mapping[str, Array]
    exporters: Mapping[str, tuple[str, int]]


def merged_parts(snapshots: Mapping[str, Snapshot]) -> MergedParts:
    """Return the parts of the merged graph of snapshots; raise as `merged_graph` does."""
    segments: list[Segment] = []
    edge_sets: list[EdgeSet] = []
    columns: dict[str, Array] = {}
    exporters: dict[str, tuple[str, int]] = {}
    for alias, snapshot in snapshots.items():
        for segment in joined_segments(snapshot, imports(snapshot.records)):
            segments.append(_prefixed(alias, segment))
        for edges in snapshot.edges:
            file = None if edges.file is None else f"{alias}{SEPARATOR}{edges.file}"
            source, target = _name(alias, edges.source), _name(alias, edges.target)
            edge_sets.append(replace(edges, source=source, target=target, file=file))
        for channel, export in exports(snapshot.records).items():
            if channel in exporters:
                raise FederationError(f"Two stores export channel {channel}, one of them {alias}.")
            exporters[channel] = (_name(alias, export.segment), export.count)
    for alias, snapshot in snapshots.items():
        for edges, numbers in _crossing_edges(alias, snapshot, exporters):
            if edges.file is not None:
                columns[edges.file] = numbers
            edge_sets.append(edges)
    return MergedParts(segments, edge_sets, columns, exporters)


def merged_on_spark(
    spark: Any, snapshots: Mapping[str, Snapshot], folder: str | os.PathLike[str]
) -> SparkGraph:
    """Return the merged graph as data frames; raise as `merged_graph` does.

    Parameters
    ----------
    spark
        A session whose workers all reach the stores.
    folder
        A new folder, which they reach too, for computed files.
    """
    from graphquery.distributed.graph import SparkGraph

    merged = merged_parts(snapshots)
    root = Path(folder)
    beside = root / "crossing"
    beside.mkdir(parents=True)
    files: dict[str, str] = {}
    for number, (file, rows) in enumerate(merged.crossing.items()):
        path = beside / f"{number}.parquet"
        pq.write_table(pa.table({"source": rows}), path)
        files[file] = str(path)

    def place(file: str) -> str:
        alias, _, own_file = file.partition(SEPARATOR)
        return files[file] if file in files else str(snapshots[alias].path(own_file))

    def column(file: str, name: str) -> Any:
        alias, _, own_file = file.partition(SEPARATOR)
        return snapshots[alias].read(own_file, [name]).column(name)

    work = str(root / "work")
    return SparkGraph.build(spark, merged.segments, merged.edges, place, work, columns=column)


def _zoomed(graph: ProvenanceGraph, modules: Collection[str]) -> ProvenanceGraph:
    """Return the graph with modules zoomed out, without the nodes that stand for what is
    outside.
    """
    zoomed = graph.zoom_out(modules)
    assert zoomed.visible is not None  # of a zoomed graph
    visible = zoomed.visible.copy()
    storage = graph.storage
    for position, segment in enumerate(storage.segments):
        if segment.name.startswith(_OUTSIDE):
            visible[storage.ids_of(position)] = False
    return zoomed.viewed(replace(zoomed.view, visible=visible))


def _crossing_edges(
    alias: str, snapshot: Snapshot, exporters: Mapping[str, tuple[str, int]]
) -> Iterator[tuple[EdgeSet, Any]]:
    for channel, each in imports(snapshot.records).items():
        if channel not in exporters:
            continue
        source, count = exporters[channel]
        for number, part in enumerate(each.parts):
            rows = imported_rows(snapshot, part.segment, part.rows)
            if int(rows.max(initial=-1)) >= count:
                raise FederationError(
                    f"{alias} imports row {int(rows.max())} of {each.name}, which has {count} rows."
                )
            whole = part.rows is None
            file = None if whole else f"crossing/{channel}/{alias}/{number}"
            target = _name(alias, part.segment)
            sources = Ordinals.ALL if whole else Ordinals.COLUMN
            edges = EdgeSet(source, target, len(rows), sources, Ordinals.ALL, file)
            yield edges, rows.astype(np.int64)


def _prefixed(alias: str, segment: Segment) -> Segment:
    return replace(
        segment,
        name=_name(alias, segment.name),
        module=None if segment.module is None else _name(alias, segment.module),
        file=None if segment.file is None else f"{alias}{SEPARATOR}{segment.file}",
    )


def _name(alias: str, name: str) -> str:
    return f"{alias}{SEPARATOR}{name}"
