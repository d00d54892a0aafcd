"""Search in a capture, and the rows of its answer that rest on an input row."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.capture.capture import Capture
from lipstick.capture.manifest import RelationRecord
from lipstick.engines.memory.reach import dependents
from lipstick.errors import first_line
from lipstick.explorer.captures.input_rows import looked_up
from lipstick.explorer.cells import cell, cells, columns, parsed, text_ranks
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from lipstick.tracking.naming import ROW_BITS, ROWS
from semiring.arrays.arrow import decoded
from semiring.base import Array
from semiring.token import format_relation

LISTED = 20
"""Findings of one relation, or of the answer, at most."""

_PART = re.compile(r"x?'(?:[^']|'')*'|[^|]+")
"""A part of a key as annotations print it."""


def search(capture: Capture, answer: pa.Table, params: Params) -> dict[str, Any]:
    """Return columns and rows of the answer, and input rows by their keys, that have a text.

    ``lineitem:223140|2``, as annotations print it, names an input row, ``lineitem:223140`` all
    whose keys begin so.
    """
    text = params.text("text").strip()
    if not text:
        return {"found": [], "total": 0}
    lowered = text.lower()
    found: list[dict[str, Any]] = [
        {"sort": "column", "name": cell(name), "place": {}, "note": ""}
        for name in answer.column_names
        if lowered in name.lower()
    ]
    total = len(found)
    places = _having(answer, lowered)
    total += len(places)
    found += [
        {"sort": "row", "name": _named(answer, place), "place": {"row": place}, "note": ""}
        for place in places[:LISTED].tolist()
    ]
    for name, record in capture.manifest.relations.items():
        if not record.token:
            continue
        keys = capture.memory.tokens(name)
        named = _named_by(text, record, keys)
        places = _having(keys, lowered) if named is None else named
        total += len(places)
        for row in cells(keys.take(pa.array(places[:LISTED])), None):
            place = {"token": [name, *row]}
            label = cell("|".join(str(part) for part in row))
            found.append({"sort": "input", "name": label, "place": place, "note": cell(name)})
    return {"found": found, "total": total}


def _named_by(text: str, record: RelationRecord, keys: pa.Table) -> Array | None:
    """Return the places of the keys that a token names as annotations print it.

    The first parts of a key name all keys that begin so. A key that does not exist is searched for
    as a text. None: the text is no token of the relation.
    """
    relation = f"{format_relation(record.name)}:".lower()
    if not text.lower().startswith(relation):
        return None
    written = text[len(relation) :].strip()
    parts = [part for part in _PART.findall(written) if part]
    if record.naming == ROWS and len(parts) == 2 and all(part.isdecimal() for part in parts):
        parts = [str(int(parts[0]) << ROW_BITS | int(parts[1]))]
    mask = np.full(keys.num_rows, len(parts) <= keys.num_columns)
    try:
        for part, column in zip(
            parts, (decoded(c.combine_chunks()) for c in keys.columns), strict=False
        ):
            plain = part[1:-1].replace("''", "'") if part.startswith("'") else part
            plain = part[2:-1] if part.startswith("x'") else plain
            value = parsed([plain], column.type)[0]
            equal = pc.is_null(column) if part == "NULL" else pc.equal(column, value)
            mask &= np.asarray(pc.fill_null(equal, False), dtype=np.bool_)
    except (ExploreError, pa.ArrowException):
        mask[:] = False
    places = np.flatnonzero(mask)
    return places if len(places) else _having(keys, written.lower())


def _having(table: pa.Table, text: str) -> Array:
    """Return the places of the rows with a text in a value: equal ones first."""
    ranks = np.full(table.num_rows, 9, dtype=np.int64)
    for column in table.columns:
        ranks = np.minimum(ranks, text_ranks(column, text))
    places = np.flatnonzero(ranks < 9)
    return places[np.argsort(ranks[places], kind="stable")]


def _named(table: pa.Table, place: int) -> str:
    (row,) = cells(table.slice(place, 1), 40)
    return " · ".join("NULL" if value is None else value for value in row[:4])


def follow(capture: Capture, answer: pa.Table, params: Params) -> dict[str, Any]:
    """Return an input row as it is in its source, and the rows of the answer that rest on it.

    Parameters
    ----------
    params
        ``relation``, and ``key``, its key as cells.

    Raises
    ------
    ExploreError
        The query does not read the relation, or not by such a key.
    """
    name, key = params.text("relation"), params.items("key")
    record = capture.manifest.relations.get(name)
    if record is None or len(record.token) != len(key):
        raise ExploreError(f"The query reads no relation {name!r} with such a key.")
    types = capture._token_types().get(name)
    if types is None:
        return {"total": 0, "rows": [], "columns": columns(answer.schema)}
    keys = [parsed([part], field.type) for part, field in zip(key, types, strict=True)]
    told: dict[str, Any] = {"columns": columns(answer.schema)}
    try:
        source = looked_up(record, pa.table(keys, names=list(record.token)))
        told["source_row"] = [
            [column, value]
            for column, value in zip(source.column_names, *cells(source), strict=True)
        ]
    except (ExploreError, ValueError) as error:
        told["unread"] = cell(first_line(error), 300)
    positions = dependents(capture.memory.engine, name, keys)
    if positions is None:
        return told | {"unknown": "Window functions decide the rows: strike the row out instead."}
    state = capture.memory.engine.base(capture.memory.engine.root.name)
    places = np.flatnonzero(np.isin(state.repeated, positions))
    shown = places[:LISTED]
    rows = cells(answer.take(pa.array(shown)))
    return told | {"total": len(places), "rows": rows, "places": shown.tolist()}
