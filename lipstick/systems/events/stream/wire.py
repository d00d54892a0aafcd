"""Tables, shares and final edges as bytes, between tasks and in files of state."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.reduction import Final, Vertices
from graphquery.reduction.edges import Edges, no_edges
from graphquery.reduction.shares import Share
from semiring.base import Array, Semiring

_HEAD = "<HQ"
_VERTICES = ("entering", "leaving", "due_entering", "due_leaving", "roles", "scope", "ended")


def table_bytes(table: pa.Table, compression: str | None = "lz4") -> bytes:
    """Return a table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression, use_threads=False)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def table_of(data: Any) -> pa.Table:
    """Return the table of an Arrow stream."""
    options = pa.ipc.IpcReadOptions(use_threads=False)
    return pa.ipc.open_stream(pa.py_buffer(data), options=options).read_all()


def packed(tables: Mapping[str, pa.Table]) -> bytes:
    """Return several tables as bytes, leaving out empty ones."""
    parts: list[bytes] = []
    for name, table in tables.items():
        if len(table):
            body, title = table_bytes(table), name.encode()
            parts += [struct.pack(_HEAD, len(title), len(body)), title, body]
    return b"".join(parts)


def unpacked(data: Any) -> dict[str, pa.Table]:
    """Return the tables in packed bytes, by name."""
    view, position = memoryview(data), 0
    tables = {}
    while position < len(view):
        title, body = struct.unpack_from(_HEAD, view, position)
        position += struct.calcsize(_HEAD)
        name = bytes(view[position : position + title]).decode()
        position += title
        tables[name] = table_of(view[position : position + body])
        position += body
    return tables


def share_tables(share: Share) -> dict[str, pa.Table]:
    """Return a share as tables."""
    known = {name: getattr(share.vertices, name) for name in _VERTICES}
    leaving = _edges(share.leaving)
    if len(leaving):
        leaving = leaving.append_column("settled", pa.array(share.settled))
    return {
        "vertices": pa.table({"key": share.keys, **known}),
        "functions": pa.table({"name": pa.array(share.functions, pa.string())}),
        "leaving": leaving,
        "requests": _edges(share.requests),
        "cancelled": _edges(share.cancelled),
        "answers": _edges(share.answers),
        "empty": pa.table({"vertex": share.empty}),
    }


def share_of(tables: Mapping[str, pa.Table], semiring: Semiring[Any] | None) -> Share:
    """Return the share in some tables."""
    vertices = tables.get("vertices")
    keys = pa.array([], pa.string()) if vertices is None else _whole(vertices, "key")
    arrays = [_array(vertices, name, _dtype(name)) for name in _VERTICES]
    names = tables["functions"].column("name").to_pylist() if "functions" in tables else []
    return Share(
        keys,
        Vertices(*arrays),
        tuple(names),
        _edges_of(tables.get("leaving"), semiring),
        _array(tables.get("leaving"), "settled", np.bool_),
        _edges_of(tables.get("requests"), None),
        _edges_of(tables.get("cancelled"), None),
        _edges_of(tables.get("answers"), semiring),
        _array(tables.get("empty"), "vertex", np.int64),
    )


def final_tables(final: Final) -> dict[str, pa.Table]:
    """Return final edges as tables."""
    return {
        "vertices": pa.table({"key": final.keys, "roles": final.roles}),
        "edges": _edges(final.edges),
    }


def final_of(tables: Mapping[str, pa.Table], semiring: Semiring[Any] | None) -> Final:
    """Return the final edges in some tables."""
    vertices = tables.get("vertices")
    keys = pa.array([], pa.string()) if vertices is None else _whole(vertices, "key")
    roles = _array(vertices, "roles", np.uint8)
    return Final(keys, _edges_of(tables.get("edges"), semiring), roles)


def concatenated(tables: Iterable[pa.Table], schema: pa.Schema) -> pa.Table:
    """Return tables as one, in one chunk; without tables, an empty one of a schema."""
    return pa.concat_tables([schema.empty_table(), *tables]).combine_chunks()


def _edges(edges: Edges) -> pa.Table:
    columns: dict[str, Any] = {
        "source": edges.source.astype(np.int32),
        "dest": edges.dest.astype(np.int32),
    }
    if edges.label is not None and edges.semiring is not None:
        columns["label"] = edges.semiring.to_arrow(edges.label)
    return pa.table(columns)


def _edges_of(table: pa.Table | None, semiring: Semiring[Any] | None) -> Edges:
    if table is None:
        return no_edges(semiring)
    label = None if semiring is None else semiring.from_arrow(_whole(table, "label"))
    source, dest = (_array(table, name, np.int64) for name in ("source", "dest"))
    return Edges(source, dest, label, semiring)


def _dtype(name: str) -> Any:
    return np.uint8 if name == "roles" else np.int64


def _array(table: pa.Table | None, name: str, dtype: Any) -> Array:
    if table is None:
        return np.empty(0, dtype=dtype)
    values: Array = _whole(table, name).to_numpy(zero_copy_only=False).astype(dtype)
    return values


def _whole(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name).combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        return pa.array([], column.type) if not column.num_chunks else column.chunk(0)
    return column
