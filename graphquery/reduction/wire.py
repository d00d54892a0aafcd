"""Partial graphs as Arrow tables, and as bytes: how they travel and how they are kept."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.reduction.edges import Edges
from graphquery.reduction.errors import LabelError
from graphquery.reduction.functions import Function
from graphquery.reduction.partial import Partial
from graphquery.reduction.vertices import Vertices
from semiring.base import Array, Semiring

_FUNCTIONS = b"functions"


def check_labels(semiring: Semiring[Any] | None) -> None:
    """Raise unless labels can travel: as numbers or truth values.

    Raises
    ------
    LabelError
        For elements that are sets or expressions.
    """
    if semiring is not None and semiring.dtype == np.dtype(object):
        raise LabelError(
            f"Labels in {semiring.name} are no numbers, and only numbers travel between reducers.\n"
            "Reduce in one process, or label in Boolean, Counting, Tropical or another semiring of "
            "numbers."
        )


def to_tables(partial: Partial) -> tuple[pa.Table, pa.Table]:
    """A partial graph as a table of vertices and one of edges between places of it.

    Raises
    ------
    LabelError
        For labels that cannot travel.
    ExactnessError
        For exact counts past 2^63.
    """
    check_labels(partial.edges.semiring)
    known = partial.vertices
    columns = {each.name: pa.array(getattr(known, each.name)) for each in fields(Vertices)}
    functions = {
        name: asdict(each) | {"read_by": None if each.read_by is None else sorted(each.read_by)}
        for name, each in partial.functions.items()
    }
    metadata = {_FUNCTIONS: json.dumps(functions).encode()}
    vertices = pa.table({"key": partial.keys, **columns}).replace_schema_metadata(metadata)
    edges = {"source": pa.array(partial.edges.source), "dest": pa.array(partial.edges.dest)}
    if partial.edges.label is not None and partial.edges.semiring is not None:
        edges["label"] = partial.edges.semiring.to_arrow(partial.edges.label)
    return vertices, pa.table(edges)


def from_tables(
    vertices: pa.Table, edges: pa.Table, semiring: Semiring[Any] | None = None
) -> Partial:
    """The partial graph that :func:`to_tables` made tables of."""
    known = Vertices(*(_numbers(vertices, each.name) for each in fields(Vertices)))
    functions = {
        name: Function(
            **(each | {"read_by": None if each["read_by"] is None else frozenset(each["read_by"])})
        )
        for name, each in json.loads(vertices.schema.metadata[_FUNCTIONS]).items()
    }
    label = None
    if semiring is not None:
        label = semiring.from_arrow(edges.column("label").combine_chunks())
    ends = (_numbers(edges, "source"), _numbers(edges, "dest"))
    return Partial(_one(vertices.column("key")), Edges(*ends, label, semiring), known, functions)


def to_bytes(partial: Partial) -> bytes:
    """A partial graph as bytes: two Arrow streams, the length of the first before them."""
    streams = [table_bytes(table) for table in to_tables(partial)]
    return len(streams[0]).to_bytes(8, "little") + b"".join(streams)


def from_bytes(data: bytes, semiring: Semiring[Any] | None = None) -> Partial:
    """The partial graph of some bytes."""
    length = int.from_bytes(data[:8], "little")
    vertices, edges = data[8 : 8 + length], data[8 + length :]
    return from_tables(table_of(vertices), table_of(edges), semiring)


def table_bytes(table: pa.Table) -> bytes:
    """A table as an Arrow stream, compressed."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def table_of(data: bytes) -> pa.Table:
    """The table of an Arrow stream."""
    with pa.ipc.open_stream(data) as reader:
        return reader.read_all()


def _numbers(table: pa.Table, name: str) -> Array:
    values: Array = table.column(name).to_numpy()
    return values


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
