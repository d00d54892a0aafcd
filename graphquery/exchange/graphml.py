"""Graphs as GraphML, written node by node: a graph of any size needs little memory beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pyarrow as pa

from graphquery.exchange.graph_tables import edge_table, node_table, node_values
from graphquery.graph import ProvenanceGraph

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns
 http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
"""
_TYPES = {
    "name": "string",
    "kind": "string",
    "label": "string",
    "module": "string",
    "invocation": "long",
    "execution": "long",
    "relation": "string",
}
_BATCH = 1 << 16
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_graphml(graph: ProvenanceGraph, path: str | os.PathLike[str]) -> None:
    """Write a graph as GraphML.

    Nodes have the identifiers ``n0``, ``n1`` ... by their id, and the attributes `name`, `kind`,
    `label`, `module`, `invocation`, `execution`, `relation` and, as text, `value`, where there is
    one; edges have `port`. Characters that XML does not allow become U+FFFD.
    """
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(_document(graph))


def _document(graph: ProvenanceGraph) -> Iterator[str]:
    yield _HEAD
    for name, kind in {**_TYPES, "value": "string"}.items():
        yield f'<key id="{name}" for="node" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '<key id="port" for="edge" attr.name="port" attr.type="int"/>\n'
    yield '<graph edgedefault="directed">\n'
    values = node_values(graph)
    for batch in node_table(graph).to_batches(max_chunksize=_BATCH):
        yield from _nodes(batch, values)
    for batch in edge_table(graph).to_batches(max_chunksize=_BATCH):
        yield from _edges(batch)
    yield "</graph>\n</graphml>\n"


def _nodes(batch: pa.RecordBatch, values: dict[int, Any]) -> Iterator[str]:
    columns = [batch.column(name).to_pylist() for name in _TYPES]
    for node, *row in zip(batch.column("id").to_pylist(), *columns, strict=True):
        data = [
            f'<data key="{name}">{_text(value)}</data>'
            for name, value in zip(_TYPES, row, strict=True)
            if value is not None
        ]
        if values.get(node) is not None:
            data.append(f'<data key="value">{_text(values[node])}</data>')
        yield f'<node id="n{node}">{"".join(data)}</node>\n'


def _edges(batch: pa.RecordBatch) -> Iterator[str]:
    columns = (batch.column(name).to_pylist() for name in ("source", "target", "port"))
    for source, target, port in zip(*columns, strict=True):
        yield f'<edge source="n{source}" target="n{target}"><data key="port">{port}</data></edge>\n'


def _text(value: object) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", str(value)))
