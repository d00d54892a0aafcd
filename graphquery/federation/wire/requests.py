"""Requests that a federation sends to stores.

Each is a message whose header has `op`, the `version` of the store it is about, the modules that
are zoomed out, and arguments; the functions here make them, and say what is answered. `needed` is
the disclosure that a store asks for before it looks further.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.federation.crossings.rows import Rows, to_table
from graphquery.federation.serving.disclosure import Disclosure
from graphquery.federation.wire.messages import WireMessage
from semiring.base import Array

PROTOCOL = 2
"""Version of the protocol; a store that speaks another refuses."""

NODES, ROWS = "nodes", "rows"
"""The kinds of reply about reached or removed nodes: nodes and crossing rows, or the latter
only.
"""


@dataclass(frozen=True, slots=True)
class StoreVersion:
    """The version of a store that is asked about, and the modules that are zoomed out there."""

    version: int
    zoomed: Collection[str] = ()


def needed(request: WireMessage) -> Disclosure:
    """Return the level of disclosure that a request needs; for an unknown request, the highest.

    Distances are lengths of paths inside the store, which no level below `NODES` discloses.
    """
    header = request.header
    op = header.get("op")
    if op == "head":
        return Disclosure.CHANNELS
    if op == "sketches":
        return Disclosure.SKETCH
    if op == "boundary":
        return Disclosure.BOUNDARY
    named = any(header.get(name) for name in ("names", "sources", "targets", "hits", "zoomed"))
    measured = header.get("distance") is not None or any(
        "left" in table.column_names for table in request.tables.values()
    )
    if op == "reach" and header.get("want") == ROWS and not named and not measured:
        return Disclosure.BOUNDARY
    return Disclosure.NODES


def head(version: int | None = None) -> WireMessage:
    """Ask for a store's head, version, exports and imports:
    :mod:`graphquery.federation.crossings.head`.
    """
    return WireMessage({"op": "head", "protocol": PROTOCOL, "version": version})


def boundary(store: StoreVersion, channels: Sequence[str]) -> WireMessage:
    """Ask for channels' increments to the boundary graph, each in a table named by its channel."""
    return _message("boundary", store, channels=list(channels))


def sketches(store: StoreVersion, rows: Rows) -> WireMessage:
    """Ask for the sketches of exported or imported rows: table `sketches`, in their order."""
    channels, table = to_table(rows)
    return _message("sketches", store, channels=channels, tables={"rows": table})


def reach(
    store: StoreVersion,
    names: Collection[str],
    rows: Rows,
    *,
    forwards: bool,
    want: str,
    sketched: bool = False,
) -> WireMessage:
    """Ask for everything reachable inside the store from nodes and crossing rows.

    Answered are the nodes as wanted, the crossing rows reached (table `rows`), and sketches of the
    rows (table `sketches`) if they are wanted and there.

    Parameters
    ----------
    rows
        Exported rows when going backwards, imported ones when going forwards.
    """
    return _reach(store, names, to_table(rows), forwards=forwards, want=want, sketched=sketched)


def with_hits(request: WireMessage, nodes: Collection[str]) -> WireMessage:
    """Let a request as of `reach` also ask whether any of some nodes is reached (`hit`)."""
    return replace(request, header={**request.header, "hits": list(nodes)})


def reach_within(
    store: StoreVersion,
    names: Collection[str],
    distance: int,
    rows: Rows,
    left: Sequence[Array],
    *,
    forwards: bool,
) -> WireMessage:
    """Ask for the nodes within distances, as `reach`; rows of the reply have the distance `left`.

    Parameters
    ----------
    distance
        The distance to walk from the nodes.
    left
        The distance to walk from each row, by channel in their order.
    """
    more = {"left": np.concatenate(left).astype(np.int32)} if left else {}
    return _reach(
        store, names, to_table(rows, **more), forwards=forwards, want=NODES, distance=distance
    )


def _reach(
    store: StoreVersion,
    names: Collection[str],
    rows: tuple[list[str], pa.Table],
    **arguments: Any,
) -> WireMessage:
    channels, table = rows
    return _message(
        "reach",
        store,
        names=list(names),
        channels=channels,
        tables={"rows": table} if channels else {},
        **arguments,
    )


def ends(
    store: StoreVersion,
    sources: Collection[str],
    targets: Collection[str],
    *,
    sketched: bool = True,
) -> WireMessage:
    """Ask for both ends of a path: exported rows behind sources, imported rows that reach targets.

    Answered are `joined` (whether a source reaches a target inside), and the tables `exports` and
    `imports`, the latter with `sketches` if they are wanted.
    """
    return _message(
        "ends",
        store,
        sources=list(sources),
        targets=list(targets),
        sketched=sketched,
    )


def between(
    store: StoreVersion,
    sources: Collection[str] | None,
    entries: Rows,
    targets: Collection[str],
    exits: Rows,
) -> WireMessage:
    """Ask for the subgraph of paths from nodes and imported rows to nodes and exported rows.

    Parameters
    ----------
    sources
        Names of nodes; None: all ancestors of the targets and exits. The nodes between nodes that
        are named have their names, and the tokens among all ancestors their keys.
    """
    into, table = to_table(entries)
    out, leaving = to_table(exits)
    return _message(
        "between",
        store,
        sources=None if sources is None else list(sources),
        targets=list(targets),
        entering=into,
        leaving=out,
        keys=sources is None,
        named=sources is not None,
        tables={"entries": table, "exits": leaving},
    )


def remove(
    store: StoreVersion,
    names: Collection[str],
    rows: Rows,
    *,
    want: str,
    asked: Collection[str] = (),
) -> WireMessage:
    """Ask for the nodes and exported rows that are removed with nodes and imported rows.

    The reply also has, for each of the nodes `asked`, whether it is removed (`gone`).
    """
    channels, table = to_table(rows)
    return _message(
        "remove",
        store,
        names=list(names),
        channels=channels,
        want=want,
        asked=list(asked),
        tables={"rows": table},
    )


def evaluate(
    store: StoreVersion,
    semiring: str,
    given: Mapping[str, Any],
    targets: Collection[str],
    exits: Rows,
    values: tuple[Rows, pa.Array],
) -> WireMessage:
    """Ask for the annotations of nodes and exported rows, under annotations of imported rows.

    The reply has the tables `nodes` and `exits`, each with a column `value` in the order asked for.
    Imported rows without a value are tokens like others.

    Parameters
    ----------
    given
        Values of tokens by name; other tokens have 1.
    values
        Imported rows, and their annotations in that order.
    """
    channels, table = to_table(values[0])
    leaving, exiting = to_table(exits)
    return _message(
        "evaluate",
        store,
        semiring=semiring,
        given=dict(given),
        targets=list(targets),
        channels=channels,
        leaving=leaving,
        tables={"rows": table.append_column("value", values[1]), "exits": exiting},
    )


def names(store: StoreVersion, nodes: Mapping[int, Array]) -> WireMessage:
    """Ask for the names of nodes, by segment number and ordinal: table `names`."""
    counts = [[segment_number, len(ordinals)] for segment_number, ordinals in nodes.items()]
    ordinals = np.concatenate([*nodes.values(), np.empty(0, np.int64)])
    table = pa.table({"ordinal": pa.array(ordinals)})
    return _message("names", store, segments=counts, tables={"nodes": table})


def file(name: str, offset: int, size: int) -> WireMessage:
    """Ask for a part of a store's file: table `content`, if it is `there`; `bytes` of all files."""
    header = {"op": "file", "protocol": PROTOCOL, "version": None}
    return WireMessage(header | {"name": name, "offset": offset, "size": size})


def _message(
    op: str,
    store: StoreVersion,
    *,
    tables: Mapping[str, pa.Table] | None = None,
    **arguments: Any,
) -> WireMessage:
    header = {"op": op, "protocol": PROTOCOL, "version": store.version}
    if store.zoomed:
        header["zoomed"] = sorted(store.zoomed)
    return WireMessage(header | arguments, tables or {})
