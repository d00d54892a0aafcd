"""Answers to requests about deletions, annotations and names inside a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.federation.crossings import rows as crossing
from graphquery.federation.errors import WireError
from graphquery.federation.questions.node_sets import ids_of, split, to_message
from graphquery.federation.serving.reachability import check_rows, names_in, names_of
from graphquery.federation.serving.site import Site
from graphquery.federation.wire.messages import WireMessage
from graphquery.federation.wire.requests import NODES, ROWS
from graphquery.graph import ProvenanceGraph
from graphquery.operations.delete import removed
from graphquery.operations.evaluate import evaluate as annotations_of
from semiring import semirings
from semiring.base import Array, Semiring
from semiring.errors import ExactnessError

SEMIRINGS: Mapping[str, Semiring[Any]] = {
    each.name: each for each in semirings.ALL if each.dtype != np.dtype(object)
}
"""By name, those whose annotations travel as columns of numbers."""


def packed(semiring: Semiring[Any], annotations: Array) -> pa.Array:
    """Annotations as a column; of integers beyond 64 bits, as their digits."""
    try:
        return semiring.to_arrow(annotations)
    except ExactnessError:
        return pa.array([str(value) for value in semiring.unpack(annotations)], pa.string())


def unpacked(semiring: Semiring[Any], column: pa.Array) -> list[Any]:
    """Return the inverse of `packed`."""
    if pa.types.is_string(column.type) and semiring.arrow_type == pa.int64():
        return semiring.unpack(semiring.array([int(text) for text in column.to_pylist()]))
    return semiring.unpack(semiring.from_arrow(column))


def remove(
    site: Site, graph: ProvenanceGraph, header: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> WireMessage:
    """See :func:`graphquery.federation.wire.requests.remove`."""
    named = site.resolve(graph, names_in(header, "names"))
    judged = site.resolve(graph, names_in(header, "asked"))
    rows, _ = crossing.from_table(header["channels"], tables.get("rows"))
    check_rows(rows, site.incoming.channels)
    dead, _ = site.incoming.nodes(rows)
    gone = removed(graph, np.unique(np.concatenate([named, dead])))
    reply: dict[str, Any] = {"gone": np.isin(judged, gone).tolist()}
    reply["channels"], table = crossing.to_table(site.outgoing.rows_of(gone))
    reply_tables = {"rows": table}
    own_nodes = site.own(graph, gone)
    want = header["want"]
    if want == NODES:
        reply["segments"], reply_tables["nodes"] = to_message(
            split(site, graph, own_nodes), names_of(graph)
        )
    elif want != ROWS:
        raise WireError(f"Wanted are {NODES} or {ROWS}.")
    return WireMessage(reply, reply_tables)


def evaluate(
    site: Site, graph: ProvenanceGraph, header: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> WireMessage:
    """See :func:`graphquery.federation.wire.requests.evaluate`."""
    semiring = SEMIRINGS.get(header["semiring"])
    if semiring is None:
        raise WireError(f"Annotations in {header['semiring']} do not travel as numbers.")
    rows, places = crossing.from_table(header["channels"], tables["rows"])
    exits, order = crossing.from_table(header["leaving"], tables["exits"])
    check_rows(rows, site.incoming.channels)
    check_rows(exits, site.outgoing.channels)
    valuation = _token_values(site, graph, header, semiring)
    entering, of_row = site.incoming.nodes(rows)
    values = tables["rows"].column("value")
    values = values.take(pa.array(np.concatenate([*places.values(), np.empty(0, np.int64)])))
    if len(entering):
        column = values.take(pa.array(of_row)).combine_chunks()
        valued = unpacked(semiring, column)
        valuation |= dict(zip(entering.tolist(), valued, strict=True))
    targets = site.resolve(graph, names_in(header, "targets"))
    leaving, of_exit = site.outgoing.nodes(exits)
    evaluated = annotations_of(
        _without(site, graph, entering), semiring, valuation, np.concatenate([targets, leaving])
    )
    out = packed(semiring, evaluated.annotations[leaving])
    sequence = np.empty(len(leaving), dtype=np.int64)
    sequence[np.concatenate([*order.values(), np.empty(0, np.int64)])[of_exit]] = np.arange(
        len(leaving)
    )
    nodes = packed(semiring, evaluated.annotations[targets])
    reply_tables = {
        "nodes": pa.table({"value": nodes}),
        "exits": pa.table({"value": out.take(sequence)}),
    }
    return WireMessage({}, reply_tables)


def names(
    site: Site, graph: ProvenanceGraph, header: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> WireMessage:
    """See :func:`graphquery.federation.wire.requests.names`."""
    ordinals = tables["nodes"].column("ordinal").to_numpy().astype(np.int64)
    texts: list[str] = []
    start = 0
    for segment_number, count in header["segments"]:
        ids = ids_of(graph, int(segment_number), ordinals[start : start + int(count)])
        if len(ids) and not len(site.own(graph, ids)):
            raise WireError("There is no such segment.")
        texts += graph.names(ids)
        start += int(count)
    return WireMessage({}, {"names": pa.table({"name": pa.array(texts, pa.string())})})


def _token_values(
    site: Site, graph: ProvenanceGraph, header: Mapping[str, Any], semiring: Semiring[Any]
) -> dict[Any, Any]:
    """Return the values of tokens that are named, by id."""
    given = header["given"]
    if not isinstance(given, dict):
        raise WireError("Values of tokens are given by name.")
    ids = site.resolve(graph, list(given))
    return {
        int(node): semiring.check(value)
        for node, value in zip(ids.tolist(), given.values(), strict=True)
    }


def _without(site: Site, graph: ProvenanceGraph, entering: Array) -> ProvenanceGraph:
    """Return the graph without the nodes of imported rows that have no value: their tokens are
    leaves.
    """
    ids = site.incoming.ids[~np.isin(site.incoming.ids, entering)]
    if len(ids) == 0:
        return graph
    visible = np.zeros(graph.storage.size, dtype=np.bool_)
    visible[graph.ids] = True
    visible[ids] = False
    return graph.viewed(replace(graph.view, visible=visible))
