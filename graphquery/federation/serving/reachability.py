"""Answers to requests about reachability inside a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.errors import FederationError, WireError
from graphquery.federation.crossings import rows as crossing
from graphquery.federation.crossings.boundary import relation_of_table, relation_table
from graphquery.federation.crossings.rows import Rows
from graphquery.federation.crossings.sketches import Sketches
from graphquery.federation.questions.node_sets import ids_of, split, to_message
from graphquery.federation.serving.site import Site
from graphquery.federation.wire.messages import WireMessage
from graphquery.federation.wire.requests import NODES, ROWS
from graphquery.graph import ProvenanceGraph
from graphquery.model import Kind, Segment
from graphquery.operations.reach import reached, unseen
from semiring.arrays.segments import ascending, mask_of, union
from semiring.base import Array


def boundary(
    site: Site, graph: object, header: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> WireMessage:
    """See :func:`graphquery.federation.wire.requests.boundary`."""
    sources_by_channel, reply_tables = {}, {}
    for channel in names_in(header, "channels"):
        export = site.exports.get(channel)
        if export is None or export.boundary is None:
            raise FederationError(f"There is no boundary graph of channel {channel}.")
        table = site.snapshot.read(export.boundary)
        reply_tables[channel] = relation_table(
            relation_of_table(table, export.sources, export.count)
        )
        sources_by_channel[channel] = list(export.sources)
    return WireMessage({"sources": sources_by_channel}, reply_tables)


def sketches(
    site: Site, graph: object, header: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> WireMessage:
    """See :func:`graphquery.federation.wire.requests.sketches`."""
    rows, places = crossing.from_table(header["channels"], tables["rows"])
    column = stored(site, rows)
    order = np.argsort(np.concatenate([*places.values(), np.empty(0, np.int64)]), kind="stable")
    return WireMessage({"blocks": column.blocks}, {"sketches": column.take(order).to_arrow()})


def reach(
    site: Site, graph: ProvenanceGraph, header: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> WireMessage:
    """See :func:`graphquery.federation.wire.requests.reach`."""
    forwards, want = bool(header["forwards"]), header["want"]
    named = site.resolve(graph, names_in(header, "names"))
    rows, places = crossing.from_table(header["channels"], tables.get("rows"))
    entered = site.incoming if forwards else site.outgoing
    leaving = site.outgoing if forwards else site.incoming
    check_rows(rows, entered.channels)
    starts, of_row = entered.nodes(rows)
    budgets = None
    distance = header.get("distance")
    if rows and "left" in tables["rows"].column_names:
        left = tables["rows"].column("left").to_numpy().astype(np.int64)
        budgets = left[np.concatenate([*places.values()])][of_row]
    elif distance is not None:
        budgets = np.zeros(len(starts), dtype=np.int64)
    if budgets is None:
        ids = ascending(np.concatenate([named, starts]))
        nodes_reached, left_of = reached(graph, ids, forwards=forwards), None
    else:
        budget = 0 if distance is None else int(distance)
        budgets = np.concatenate([np.full(len(named), budget), budgets])
        starts = np.concatenate([named, starts])
        nodes_reached, left_of = _within(graph, starts, budgets, forwards)
    crossed = leaving.rows_of(nodes_reached)
    reply: dict[str, Any] = {}
    reply_tables: dict[str, pa.Table] = {}
    if want == NODES:
        parts = split(site, graph, site.own(graph, nodes_reached))
        reply["segments"], reply_tables["nodes"] = to_message(parts, names_of(graph))
    elif want != ROWS:
        raise WireError(f"A request wants {NODES} or {ROWS}.")
    hits = site.resolve(graph, names_in(header, "hits"))
    reply["hit"] = bool(np.isin(hits, nodes_reached).any())
    more = (
        {} if left_of is None else {"left": _left(site, crossed, leaving, nodes_reached, left_of)}
    )
    reply["channels"], reply_tables["rows"] = crossing.to_table(crossed, **more)
    if header.get("sketched") and crossed:
        column = stored(site, crossed)
        reply["blocks"], reply_tables["sketches"] = column.blocks, column.to_arrow()
    return WireMessage(reply, reply_tables)


def ends(
    site: Site, graph: ProvenanceGraph, header: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> WireMessage:
    """See :func:`graphquery.federation.wire.requests.ends`."""
    sources = ascending(site.resolve(graph, names_in(header, "sources")))
    targets = ascending(site.resolve(graph, names_in(header, "targets")))
    after = reached(graph, sources, forwards=True) if len(sources) else sources
    before = reached(graph, targets, forwards=False) if len(targets) else targets
    out = site.outgoing.rows_of(after) if len(after) else {}
    into = site.incoming.rows_of(before) if len(before) else {}
    reply: dict[str, Any] = {"joined": bool(np.isin(targets, after).any())}
    reply["exported"], exported = crossing.to_table(out)
    reply["imported"], imported = crossing.to_table(into)
    reply_tables = {"exports": exported, "imports": imported}
    if into and header.get("sketched"):
        column = stored(site, into)
        reply["blocks"], reply_tables["sketches"] = column.blocks, column.to_arrow()
    return WireMessage(reply, reply_tables)


def between(
    site: Site, graph: ProvenanceGraph, header: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> WireMessage:
    """See :func:`graphquery.federation.wire.requests.between`."""
    entries, _ = crossing.from_table(header["entering"], tables["entries"])
    exits, _ = crossing.from_table(header["leaving"], tables["exits"])
    check_rows(entries, site.incoming.channels)
    check_rows(exits, site.outgoing.channels)
    targets = site.resolve(graph, names_in(header, "targets"))
    sources = site.resolve(graph, names_in(header, "sources"))
    ends = ascending(np.concatenate([targets, site.outgoing.nodes(exits)[0]]))
    wanted = mask_of(ends, graph.storage.size)
    wanted[reached(graph, ends, forwards=False)] = True
    if header.get("sources") is not None:
        starts = ascending(np.concatenate([sources, site.incoming.nodes(entries)[0]]))
        after = mask_of(starts, graph.storage.size)
        after[reached(graph, starts, forwards=True)] = True
        wanted &= after
    return _fragment(site, graph, wanted, (sources, targets), header)


def _fragment(
    site: Site,
    graph: ProvenanceGraph,
    wanted: Array,
    ends: tuple[Array, Array],
    header: Mapping[str, Any],
) -> WireMessage:
    """Return nodes, the edges among them, and the crossing rows that enter and leave."""
    storage = graph.storage
    parts = split(site, graph, site.own(graph, np.flatnonzero(wanted)))
    ids = np.concatenate([*(ids_of(graph, *part) for part in parts), np.empty(0, np.int64)])
    number_of = np.full(storage.size, -1, dtype=np.int32)
    number_of[ids] = np.arange(len(ids), dtype=np.int32)
    reply: dict[str, Any] = {"attributes": {}}
    for name, named in zip(("sources", "targets"), ends, strict=True):
        reply[name] = number_of[named].tolist()
    adjacent = graph.outgoing(ids, ports=True)
    chosen = number_of[adjacent.nodes] >= 0
    edges = {
        "source": np.repeat(np.arange(len(ids), dtype=np.int32), adjacent.degrees)[chosen],
        "target": number_of[adjacent.nodes[chosen]],
    }
    if adjacent.ports is not None and bool(adjacent.ports[chosen].any()):
        edges["port"] = adjacent.ports[chosen]
    entering = graph.incoming(ids)
    leaving = graph.outgoing(ids)
    reply["segments"], nodes = to_message(parts, names_of(graph))
    for number, _ in parts:
        reply["attributes"][number] = _attributes(storage.segments[number])
    reply_tables = {"nodes": nodes, "edges": pa.table({k: pa.array(v) for k, v in edges.items()})}
    for name, near, crossings in (
        ("entries", entering, site.incoming),
        ("exits", leaving, site.outgoing),
    ):
        owners = np.repeat(np.arange(len(ids), dtype=np.int32), near.degrees)
        channels, table = _crossed(crossings, near.nodes, owners, wanted)
        reply[name], reply_tables[name] = channels, table
    if header.get("named"):
        # Nodes without a key are named by segment and ordinal, which the reply has.
        keyed = [bool(storage.segments[number].key) for number, _ in parts]
        chosen = np.repeat(np.array(keyed, dtype=np.bool_), [len(part) for _, part in parts])
        texts = graph.names(ids[chosen])
        reply_tables["names"] = pa.table({"name": pa.array(texts, pa.string())})
    if header.get("keys"):
        for number, ordinals in parts:
            segment = storage.segments[number]
            if segment.kind is Kind.TOKEN and segment.key:
                numbers = pa.array(ordinals)
                columns = {n: storage.column(segment, n).take(numbers) for n in segment.key}
                reply_tables[f"keys {number}"] = pa.table(columns)
    return WireMessage(reply, reply_tables)


def _attributes(segment: Segment) -> list[Any]:
    return [
        segment.kind.value,
        segment.label,
        segment.module,
        segment.invocation,
        segment.execution,
        segment.relation,
        list(segment.key),
        segment.count,
    ]


def _crossed(crossings: Any, ends: Array, owners: Array, wanted: Array) -> tuple[list[str], Any]:
    """Return the crossing rows of nodes: a table of `channel`, `row` and `node`."""
    order = np.argsort(crossings.ids)
    where = np.searchsorted(crossings.ids[order], ends)
    there = where < len(order)
    there[there] = crossings.ids[order][where[there]] == ends[there]
    there &= wanted[ends]
    places = order[where[there]]
    used, number = np.unique(
        np.searchsorted(crossings.bases, places, side="right") - 1, return_inverse=True
    )
    table = pa.table(
        {
            "channel": pa.array(number.astype(np.uint16)),
            "row": pa.array(crossings.rows[places]),
            "node": pa.array(owners[there]),
        }
    )
    return [crossings.channels[each] for each in used.tolist()], table


def stored(site: Site, rows: Rows) -> Sketches:
    """Return the stored sketches of crossing rows, in their order; `TOP` for channels without
    sketches.
    """
    parts, blocks = [], []
    for channel, numbers in rows.items():
        column = site.sketches(channel)
        if column is None:
            parts.append(Sketches.top(len(numbers)))
            continue
        parts.append(column.take(numbers))
        blocks.append(column.blocks)
    return Sketches.concatenated(parts, min(blocks, default=1))


def names_of(graph: ProvenanceGraph) -> list[str]:
    """Return the names of segments by place."""
    return [segment.name for segment in graph.storage.segments]


def names_in(header: Mapping[str, Any], argument: str) -> list[str]:
    """Return an argument of a request, checked to be a list of names.

    Raises
    ------
    WireError
        The argument is not a list of names.
    """
    value = header.get(argument) or []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise WireError(f"{argument} is not a list of names.")
    return value


def _within(
    graph: ProvenanceGraph, starts: Array, budgets: Array, forwards: bool
) -> tuple[Array, Array]:
    """Return the nodes reached within each start's budget of edges, and the edges left at each.

    Nodes are visited in the order of the edges left, most first, so that each is met at its
    maximum.
    """
    seen = np.zeros(graph.storage.size, dtype=np.bool_)
    started = np.full(graph.storage.size, -1, dtype=np.int64)
    np.maximum.at(started, starts, budgets)
    layers, left = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    frontier = np.empty(0, np.int64)
    for budget in range(int(budgets.max(initial=0)), 0, -1):
        fresh = np.flatnonzero(started == budget)
        frontier = union(frontier, fresh)
        near = graph.outgoing(frontier) if forwards else graph.incoming(frontier)
        frontier = unseen(near.nodes, seen)
        layers.append(frontier)
        left.append(np.full(len(frontier), budget - 1))
    return np.concatenate(layers), np.concatenate(left)


def _left(site: Site, rows: Rows, crossings: Any, nodes_reached: Array, left: Array) -> Array:
    """Return the edges left at crossing rows, in their order: the maximum over a row's nodes."""
    most = np.full(site.graph.storage.size, -1, dtype=np.int64)
    most[nodes_reached] = left
    ids, places = crossings.nodes(rows)
    result = np.zeros(crossing.count(rows), dtype=np.int64)
    np.maximum.at(result, places, most[ids])
    return result


def check_rows(rows: Rows, known: Iterable[str]) -> None:
    """Raise unless every channel crosses here in this direction.

    Raises
    ------
    FederationError
        A channel does not.
    """
    for channel in rows:
        if channel not in known:
            raise FederationError(f"Channel {channel} does not cross here in this direction.")
