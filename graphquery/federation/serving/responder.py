"""Answers to requests about one store: the only access of a federation's questions to its nodes.

The level of disclosure is checked before a request is read further. The reply to a question without
an answer is an ``error`` of a kind in `REASONS`.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from graphquery.errors import FederationError, WireError
from graphquery.federation.crossings import rows as crossing
from graphquery.federation.crossings.head import head_of
from graphquery.federation.questions.node_sets import ids_of, split, to_message
from graphquery.federation.serving import reachability as reaching
from graphquery.federation.serving.disclosure import Disclosure
from graphquery.federation.serving.reachability import check_rows, names_in, names_of
from graphquery.federation.serving.site import Site
from graphquery.federation.wire.messages import WireMessage
from graphquery.federation.wire.requests import NODES, PROTOCOL, ROWS, needed
from graphquery.graph import ProvenanceGraph
from graphquery.operations.delete import removed
from graphquery.operations.evaluate import evaluate as annotations_of
from graphquery.store import Store, StoreError
from graphquery.store.format import FORMAT_FILE, LOG
from semiring import semirings
from semiring.arrays.segments import ascending, index_of, mask_of
from semiring.base import Array, Semiring
from semiring.errors import ExactnessError, LipstickError

SEMIRINGS: Mapping[str, Semiring[Any]] = {
    each.name: each for each in semirings.ALL if each.dtype != np.dtype(object)
}
"""By name, the semirings whose annotations travel as columns of numbers."""


def packed(semiring: Semiring[Any], annotations: Array) -> pa.Array:
    """Return annotations as a column; integers beyond 64 bits as decimal texts."""
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
    gone = removed(graph, ascending(np.concatenate([named, dead])))
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
    sequence = index_of(
        np.concatenate([*order.values(), np.empty(0, np.int64)])[of_exit], len(leaving)
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
    """Return the values of named tokens, by id."""
    given = header["given"]
    if not isinstance(given, dict):
        raise WireError("Values of tokens are given by name.")
    ids = site.resolve(graph, list(given))
    return {
        int(node): semiring.check(value)
        for node, value in zip(ids.tolist(), given.values(), strict=True)
    }


def _without(site: Site, graph: ProvenanceGraph, entering: Array) -> ProvenanceGraph:
    """Return the graph without the nodes of imported rows without a value."""
    ids = site.incoming.ids[~np.isin(site.incoming.ids, entering)]
    if len(ids) == 0:
        return graph
    visible = mask_of(graph.ids, graph.storage.size)
    visible[ids] = False
    return graph.viewed(replace(graph.view, visible=visible))


LARGEST = 1 << 24
"""Limit on the bytes of a file sent in one reply."""

_ENTRY = re.compile(rf"{LOG}/\d{{20}}\.json")


def file_reply(
    site: Site, graph: object, header: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> WireMessage:
    """See :func:`graphquery.federation.wire.requests.file`."""
    name, offset, size = header["name"], header["offset"], header["size"]
    snapshot = site.snapshot
    if not isinstance(name, str) or not isinstance(offset, int) or not isinstance(size, int):
        raise WireError("A part of a file is given by its name, offset and size.")
    if offset < 0 or not 0 <= size <= LARGEST:
        raise WireError(f"Of a file, {LARGEST:,} bytes are given at once.")
    total = sum(entry.size for entry in snapshot.files.values())
    known = name == FORMAT_FILE or _ENTRY.fullmatch(name) or name in snapshot.files
    if not known or not (snapshot.root / name).is_file():
        return WireMessage({"there": False, "bytes": total})
    with (snapshot.root / name).open("rb") as stream:
        stream.seek(offset)
        data = stream.read(size)
    content = pa.table({"content": pa.array([data], pa.binary())})
    return WireMessage({"there": True, "bytes": total}, {"content": content})


REASONS = ("question", "refused", "behind", "damaged", "malformed", "failed")
"""Reasons for no answer: the question is wrong, disclosure forbids it, the store lacks the version,
its data cannot be read, the request cannot be read, or an unforeseen error.
"""

_KEPT = 2
"""Number of a store's versions held in memory."""

Handler: TypeAlias = Callable[
    [Site, ProvenanceGraph, Mapping[str, Any], Mapping[str, Any]], WireMessage
]

_HANDLERS: Mapping[str, Handler] = {
    "boundary": reaching.boundary,
    "sketches": reaching.sketches,
    "reach": reaching.reach,
    "ends": reaching.ends,
    "between": reaching.between,
    "remove": remove,
    "evaluate": evaluate,
    "names": names,
    "file": file_reply,
}
_WITHOUT_GRAPH = frozenset({"boundary", "sketches", "file"})


class Responder:
    """Answers about a store in a folder; may be used by several threads.

    Parameters
    ----------
    path
        The folder.
    """

    def __init__(self, path: str | Path) -> None:
        self._store = Store.open(path)
        self._sites: OrderedDict[int, Site] = OrderedDict()
        self._mutex = threading.Lock()

    def answer(self, request: WireMessage, level: Disclosure = Disclosure.NODES) -> WireMessage:
        """Return the reply to a request by a peer with a level of disclosure.

        Errors are replies too; they reveal no more than the peer may know.
        """
        try:
            return self._answer(request, level)
        except LipstickError as error:
            kind, text = _kind(error), str(error)
        except (KeyError, TypeError, ValueError) as error:
            kind, text = "malformed", f"The request cannot be understood: {error!r}."
        except OSError as error:
            kind, text = "failed", f"The store cannot be read: {error.strerror}."
        if level < Disclosure.NODES and kind not in ("refused", "behind"):
            text = "The request cannot be answered."
        # Names of crossing nodes are not disclosed.
        text = "\n".join(line for line in text.splitlines() if "\0" not in line)
        return refusal(kind, text)

    def _answer(self, request: WireMessage, level: Disclosure) -> WireMessage:
        header = request.header
        if level is Disclosure.NOTHING or needed(request) > level:
            return refusal("refused", "The store does not disclose this.")
        if header.get("protocol") != PROTOCOL:
            raise WireError(f"This store speaks version {PROTOCOL} of the protocol.")
        site = self._site(header.get("version"))
        op = header["op"]
        if op == "head":
            return WireMessage({"head": head_of(site).to_json()})
        if op not in _HANDLERS:
            raise WireError(f"There is no request {op!r}.")
        if op in _WITHOUT_GRAPH:
            # Stored answers need no graph.
            return _HANDLERS[op](site, None, header, request.tables)  # type: ignore[arg-type]
        graph = site.graph
        if header.get("zoomed"):
            graph = graph.zoom_out(_texts(header["zoomed"]))
        return _HANDLERS[op](site, graph, header, request.tables)

    def _site(self, version: Any) -> Site:
        if version is not None and (not isinstance(version, int) or version < 0):
            raise WireError("The version of a request is not a number.")
        with self._mutex:
            newest = self._store.snapshot()
            wanted = newest.version if version is None else version
            if wanted > newest.version:
                raise _BehindError(f"The store is at commit {newest.version}, not {wanted}.")
            if wanted not in self._sites:
                snapshot = newest if wanted == newest.version else self._store.snapshot(wanted)
                self._sites[wanted] = Site(snapshot)
                while len(self._sites) > _KEPT:
                    self._sites.popitem(last=False)
            self._sites.move_to_end(wanted)
            return self._sites[wanted]


class _BehindError(FederationError):
    """A request for a version that the store does not have yet."""


def refusal(kind: str, text: str) -> WireMessage:
    """Return the reply that gives the reason for having no answer."""
    return WireMessage({"error": kind, "message": text})


def _kind(error: LipstickError) -> str:
    if isinstance(error, _BehindError):
        return "behind"
    if isinstance(error, WireError):
        return "malformed"
    if isinstance(error, StoreError):
        return "damaged"
    return "question"


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise WireError("A list of names is not one.")
    return value
