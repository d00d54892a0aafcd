"""The requirements on a reply, by which damaged replies are recognised."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from graphquery.federation.wire import requests
from graphquery.federation.wire.messages import WireMessage

_ROWS = ("channel", "row")
_CROSSED = ("channel", "row", "node")
_INTEGERS = frozenset({"channel", "row", "node", "ordinal", "source", "target", "left", "port"})

_TABLES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "reach": {"rows": _ROWS},
    "ends": {"exports": _ROWS, "imports": _ROWS},
    "between": {
        "nodes": ("ordinal",),
        "edges": ("source", "target"),
        "entries": _CROSSED,
        "exits": _CROSSED,
    },
    "remove": {"rows": _ROWS},
    "evaluate": {"nodes": ("value",), "exits": ("value",)},
    "names": {"names": ("name",)},
}


def fault(request: WireMessage, reply: WireMessage) -> str | None:
    """Return the fault of a reply to a request as a sentence, or None."""
    header = request.header
    tables = dict(_TABLES.get(str(header["op"]), {}))
    if header.get("want") == requests.NODES:
        tables["nodes"] = ("ordinal",)
    if header.get("named"):
        tables["names"] = ("name",)
    limited = header.get("distance") is not None
    if header["op"] == "reach" and limited:
        tables["rows"] = (*_ROWS, "left")
    for name, columns in tables.items():
        table = reply.tables.get(name)
        if table is None or any(column not in table.column_names for column in columns):
            return f"Its reply has no table {name} of {', '.join(columns)}."
        for column in columns:
            values_of_column = table.column(column)
            if column in _INTEGERS and (
                not pa.types.is_integer(values_of_column.type) or values_of_column.null_count
            ):
                return f"Its reply has a column {column} of {name} that is not of integers."
    lengths = _lengths(request, reply)
    for name, length in lengths.items():
        if len(reply.tables[name]) != length:
            return f"Its reply has {len(reply.tables[name])} rows of {name}, not {length}."
    gone = reply.header.get("gone")
    count = len(header.get("asked", ()))
    if header["op"] == "remove" and (not isinstance(gone, list) or len(gone) != count):
        return "Its reply does not say which nodes are gone."
    return None


def _lengths(request: WireMessage, reply: WireMessage) -> dict[str, int]:
    """Return the required number of rows of each table of the reply."""
    if request.header["op"] == "evaluate":
        return {
            "nodes": len(request.header["targets"]),
            "exits": len(request.tables["exits"]),
        }
    if request.header["op"] == "names":
        return {"names": len(request.tables["nodes"])}
    return {}
