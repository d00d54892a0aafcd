"""Graphs as Parquet: a table of nodes and a table of edges for any tool, and the way back.

Layout::

    nodes.parquet       one row per node: see `graphquery.exchange.graph_tables.node_table`
    edges.parquet       one row per edge: source and target ids, port
    segments.parquet    what nodes have in common, and where their values are
    values-<n>.parquet  values of nodes of segments with the same columns
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphquery.errors import GraphError
from graphquery.exchange.graph_tables import edge_table, has_value, located, node_table
from graphquery.graph import ProvenanceGraph
from graphquery.model import EdgeSet, Kind, Segment
from graphquery.values import VALUE_COLUMN, current
from graphquery.view import GraphView
from semiring.arrays.segments import index_of, mask_of
from semiring.base import Array

_SEGMENTS = pa.schema(
    [
        ("name", pa.string()),
        ("kind", pa.string()),
        ("label", pa.string()),
        ("count", pa.int64()),
        ("module", pa.string()),
        ("invocation", pa.int64()),
        ("execution", pa.int64()),
        ("relation", pa.string()),
        ("key", pa.list_(pa.string())),
        ("file", pa.string()),
        ("offset", pa.int64()),
    ]
)
_EDGES = "edges"


def stored_columns(segment: Segment) -> tuple[str, ...]:
    """Return the value columns that a graph itself needs: keys, and the values of v-nodes."""
    value = (VALUE_COLUMN,) if has_value(segment) else ()
    return tuple(dict.fromkeys((*segment.key, *value)))


def write_parquet(
    graph: ProvenanceGraph,
    path: str | os.PathLike[str],
    columns: Callable[[Segment], Sequence[str]] = stored_columns,
) -> None:
    """Write a graph, with its zooms and deletions applied, into a new or empty folder.

    Parameters
    ----------
    columns
        The columns of values to write for a segment; they must include the columns of its key.

    Raises
    ------
    GraphError
        The folder is not empty.

    Notes
    -----
    O(nodes + edges); values of all segments are in memory at once.
    """
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise GraphError(f"{folder} is not empty.\nGive a new folder.")
    segments, files = _shown(graph, columns)
    for name, table in files.items():
        pq.write_table(table, folder / name, compression="zstd")
    rows = [asdict(segment) for segment in segments]
    pq.write_table(pa.Table.from_pylist(rows, _SEGMENTS), folder / "segments.parquet")
    pq.write_table(node_table(graph), folder / "nodes.parquet", compression="zstd")
    pq.write_table(edge_table(graph), folder / "edges.parquet", compression="zstd")


def read_parquet(path: str | os.PathLike[str]) -> ProvenanceGraph:
    """Read a graph that `write_parquet` wrote: equal to the one written.

    What was zoomed out is not in the files and cannot be zoomed in.

    Raises
    ------
    GraphError
        When a file is missing, or has not the columns it must have.
    """
    folder = Path(path)
    rows = _read(folder, "segments.parquet", _SEGMENTS.names).to_pylist()
    segments = [
        Segment(**{**row, "kind": Kind(row["kind"]), "key": tuple(row["key"])}) for row in rows
    ]
    nodes = _read(folder, "nodes.parquet", ["id", "segment", "ordinal"])
    edges = _read(folder, "edges.parquet", ["source", "target", "port"])
    positions = {segment.name: position for position, segment in enumerate(segments)}
    names = nodes["segment"].combine_chunks().dictionary_encode()
    known = [positions.get(name, -1) for name in names.dictionary.to_pylist()]
    segment_numbers = np.array(known, dtype=np.int64)[names.indices.to_numpy()]
    if bool((segment_numbers < 0).any()):
        missing = names[int(np.argmin(segment_numbers))]
        raise GraphError(f"{folder}: nodes are of a segment {missing}, which is not there.")
    ordinals = nodes["ordinal"].to_numpy()
    sets, ends = _edge_sets(
        segments, nodes["id"].to_numpy(), segment_numbers, ordinals, edges, folder
    )

    def read(file: str, column: str) -> Any:
        return ends[column] if file == _EDGES else _read(folder, file, [column])[column]

    graph = ProvenanceGraph.build(segments, sets, read)
    visible = mask_of(graph.storage.bases[segment_numbers] + ordinals, graph.storage.size)
    if bool(visible[: graph.storage.count].all()):
        return graph
    return ProvenanceGraph(graph.storage, GraphView(visible))


def _shown(
    graph: ProvenanceGraph, columns: Callable[[Segment], Sequence[str]]
) -> tuple[list[Segment], dict[str, pa.Table]]:
    """Return the segments that the graph shows, and their values, in one table per schema."""
    segments, positions, ordinals = located(graph)
    starts = np.searchsorted(positions, np.arange(len(segments) + 1))
    shown_segments: list[Segment] = []
    tables: dict[pa.Schema, list[pa.Table]] = {}
    rows: dict[pa.Schema, int] = {}
    names: dict[pa.Schema, str] = {}
    for position, segment in enumerate(segments):
        shown = ordinals[starts[position] : starts[position + 1]]
        if len(shown) == 0:
            continue
        wanted = columns(segment) if segment.file is not None else ()
        if not wanted:
            shown_segments.append(replace(segment, file=None, offset=0))
            continue
        table = _values(graph, segment, shown, wanted)
        file = names.setdefault(table.schema, f"values-{len(names)}.parquet")
        shown_segments.append(replace(segment, file=file, offset=rows.get(table.schema, 0)))
        tables.setdefault(table.schema, []).append(table)
        rows[table.schema] = rows.get(table.schema, 0) + segment.count
    return shown_segments, {
        names[schema]: pa.concat_tables(parts) for schema, parts in tables.items()
    }


def _values(
    graph: ProvenanceGraph, segment: Segment, shown: Array, columns: Sequence[str]
) -> pa.Table:
    """Return the values of a segment's nodes, one row each; NULL for hidden nodes."""
    indices_of = index_of(shown, segment.count)
    indices = pa.array(indices_of, mask=indices_of < 0)
    ids = shown + graph.storage.bases[graph.storage.position[segment.name]]
    arrays = {}
    for name in columns:
        if name == VALUE_COLUMN and has_value(segment):
            arrays[name] = current(graph, segment, ids).take(indices)
        else:
            arrays[name] = graph.storage.column(segment, name).take(pa.array(shown)).take(indices)
    return pa.table(arrays)


def _edge_sets(
    segments: Sequence[Segment],
    ids: Array,
    segment_numbers: Array,
    ordinals: Array,
    edges: pa.Table,
    folder: Path,
) -> tuple[list[EdgeSet], dict[str, Array]]:
    """Return the edges as one set per pair of segments and port, and the columns of ordinals."""
    order = np.argsort(ids)
    ends = [_find(ids, order, edges[name].to_numpy(), folder) for name in ("source", "target")]
    ports = edges["port"].to_numpy()
    source, target = (segment_numbers[end] for end in ends)
    grouped = np.lexsort((ports, target, source))
    keys = np.stack([source, target, ports])[:, grouped]
    starts = np.flatnonzero(np.diff(keys, axis=1, prepend=-1).any(axis=0))
    counts = np.diff(np.append(starts, len(grouped)))
    sets = list(_sets(segments, keys[:, starts], starts, counts))
    columns = {
        name: ordinals[end[grouped]] for name, end in zip(("source", "target"), ends, strict=True)
    }
    return sets, columns


def _sets(
    segments: Sequence[Segment], keys: Array, starts: Array, counts: Array
) -> Iterator[EdgeSet]:
    for (source, target, port), start, count in zip(
        keys.T.tolist(), starts.tolist(), counts.tolist(), strict=True
    ):
        names = segments[source].name, segments[target].name
        yield EdgeSet(*names, count, file=_EDGES, port=port, offset=start)


def _find(ids: Array, order: Array, wanted: Array, folder: Path) -> Array:
    """Return the row of each wanted node id; raise if one is missing."""
    if len(wanted) == 0:
        return np.empty(0, dtype=np.int64)
    ranks = np.searchsorted(ids, wanted, sorter=order)
    rows: Array = order[np.minimum(ranks, len(ids) - 1)] if len(ids) else ranks
    wrong = np.flatnonzero(ids[rows] != wanted) if len(ids) else np.arange(len(wanted))
    if len(wrong):
        raise GraphError(f"{folder}: edges name a node {wanted[wrong[0]]}, which is not there.")
    return rows


def _read(folder: Path, name: str, columns: Sequence[str]) -> pa.Table:
    try:
        return pq.read_table(folder / name, columns=list(columns), partitioning=None).select(
            list(columns)
        )
    except FileNotFoundError as error:
        raise GraphError(
            f"{folder} has no {name}.\nGive a folder that write_parquet wrote."
        ) from error
    except (OSError, KeyError, pa.ArrowException) as error:
        raise GraphError(f"{folder / name} cannot be read: {error}") from error
