"""Nodes of a graph with their values: as rows, and which of these an operation changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from graphquery import Kind, ProvenanceGraph, Segment, Selection, ValuesError
from graphquery.values import current, effects
from graphquery.view import NO_IDS
from lipstick.explorer.cells import cell
from semiring.arrays.comparison import compare_arrays
from semiring.base import Array

if TYPE_CHECKING:
    from graphquery.store import Snapshot


def node_rows(graph: ProvenanceGraph, ids: Sequence[int] | Array) -> list[dict[str, Any]]:
    """Nodes with their names, attributes and values.

    Returns
    -------
    list
        Per node `name`, `kind`, `label`, `module`, `invocation`, `execution`, `relation`, `value`
        (None also where there is none) and `stale` (True, or None).
    """
    ids = np.asarray(ids, dtype=np.int64)
    rows: list[dict[str, Any]] = Selection(graph, ids).to_table().to_pylist()
    values_by_node, stale = values(graph, ids)
    for row in rows:
        node = row.pop("id")
        row["value"] = values_by_node.get(node)
        row["stale"] = True if node in stale else None
    return rows


def compared_rows(
    before: ProvenanceGraph, after: ProvenanceGraph | None, ids: Array
) -> list[list[str | None]]:
    """Nodes as rows of text: name, value, value after a deletion, label, module, invocation.

    Parameters
    ----------
    after
        The graph without what was deleted; None: the rows have no value of it.
    """
    old, _ = values(before, ids)
    new, stale = ({}, set()) if after is None else values(after, ids[after.has(ids)])
    rows = []
    for row in Selection(before, ids).to_table().to_pylist():
        node = row["id"]
        left = [] if after is None else ["?" if node in stale else new.get(node)]
        facts = [row["label"] or row["kind"], row["module"], row["invocation"]]
        rows.append([cell(value) for value in [row["name"], old.get(node), *left, *facts]])
    return rows


def values(graph: ProvenanceGraph, ids: Array) -> tuple[dict[int, Any], set[int]]:
    """The known values of some nodes, and the nodes whose value is not known."""
    known: dict[int, Any] = {}
    unknown: set[int] = set()
    marks = effects(graph)
    stored = ids[ids < graph.storage.count]
    for segment, places, _ in graph.storage.by_segment(stored):
        if not has_value(segment):
            continue
        chosen = stored[places]
        try:
            column = current(graph, segment, chosen).to_pylist()
        except ValuesError:
            # An aggregate whose tensors do not tell it: the rest of the list can still be shown.
            unknown.update(chosen.tolist())
            continue
        known.update(zip(chosen.tolist(), column, strict=True))
    if marks is not None:
        unknown.update(ids[marks.stale[ids]].tolist())
    return {node: value for node, value in known.items() if node not in unknown}, unknown


def changed(before: ProvenanceGraph, after: ProvenanceGraph) -> Array:
    """The nodes whose values a deletion changed or left unknown, ascending.

    Parameters
    ----------
    before, after
        A graph, and the same without some nodes.
    """
    marks = effects(after)
    if marks is None:
        return NO_IDS
    ids = after.ids[(marks.changed | marks.stale)[after.ids]]
    ids = ids[ids < after.storage.count]
    parts = [NO_IDS]
    for segment, places, _ in after.storage.by_segment(ids):
        if has_value(segment):
            chosen = ids[places]
            parts.append(chosen[marks.stale[chosen] | _differ(before, after, segment, chosen)])
    return np.sort(np.concatenate(parts))


def _differ(before: ProvenanceGraph, after: ProvenanceGraph, segment: Segment, ids: Array) -> Array:
    """Boolean array: which nodes of one segment have changed or unknown values."""
    try:
        old, new = current(before, segment, ids), current(after, segment, ids)
    except ValuesError:
        return np.ones(len(ids), dtype=np.bool_)
    return ~compare_arrays("<=>", old, new, len(ids))


def has_value(segment: Segment) -> bool:
    """Return True if the nodes of a segment are v-nodes with values."""
    return segment.kind is Kind.VALUE and segment.file is not None


def columns_of_tuple(snapshot: Snapshot, graph: ProvenanceGraph, node: int) -> dict[str, Any]:
    """The columns of the tuple that a node stands for; none for nodes without values."""
    segment = graph.segment(node)
    if segment.file is None:
        return {}
    ordinal = node - int(graph.storage.bases[graph.storage.position[segment.name]])
    table: pa.Table = snapshot.read(segment.file, None, segment.offset + ordinal, 1)
    row: dict[str, Any] = table.to_pylist()[0]
    return row
