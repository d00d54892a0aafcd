"""Answers requests about one store: the only place where a federation's questions meet its nodes.

The level of disclosure is checked before a request is read further. The reply to a question without
an answer is an ``error`` of a kind in `REASONS`.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from graphquery.errors import GraphDataError
from graphquery.federation.crossings.head import head_of
from graphquery.federation.errors import FederationError, WireError
from graphquery.federation.serving import evaluation as evaluating
from graphquery.federation.serving import reachability as reaching
from graphquery.federation.serving.disclosure import Disclosure
from graphquery.federation.serving.site import Site
from graphquery.federation.wire.messages import WireMessage
from graphquery.federation.wire.requests import PROTOCOL, needed
from graphquery.graph import ProvenanceGraph
from graphquery.store import Store, StoreDamagedError, StoreError
from graphquery.store.format import FORMAT_FILE, LOG
from semiring.errors import LipstickError

LARGEST = 1 << 24
"""Bytes of a file that are given at once."""

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
"""Versions of a store that stay in memory."""

Handler: TypeAlias = Callable[
    [Site, ProvenanceGraph, Mapping[str, Any], Mapping[str, Any]], WireMessage
]

_HANDLERS: Mapping[str, Handler] = {
    "boundary": reaching.boundary,
    "sketches": reaching.sketches,
    "reach": reaching.reach,
    "ends": reaching.ends,
    "between": reaching.between,
    "remove": evaluating.remove,
    "evaluate": evaluating.evaluate,
    "names": evaluating.names,
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
        """Return the reply to a request by a peer that a level is disclosed to.

        Errors are replies too; what they say is as little as the peer may know.
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
        # Crossing nodes have no names to be told.
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
            # A graph is not built for what is stored.
            return _HANDLERS[op](site, None, header, request.tables)  # type: ignore[arg-type]
        graph = site.graph
        if header.get("zoomed"):
            graph = graph.zoom_out(_texts(header["zoomed"]))
        return _HANDLERS[op](site, graph, header, request.tables)

    def _site(self, version: Any) -> Site:
        if version is not None and (not isinstance(version, int) or version < 0):
            raise WireError("The version of a request is no number.")
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
    """A version that the store does not have yet."""


def refusal(kind: str, text: str) -> WireMessage:
    """Return the reply with the reason why there is no answer."""
    return WireMessage({"error": kind, "message": text})


def _kind(error: LipstickError) -> str:
    if isinstance(error, _BehindError):
        return "behind"
    if isinstance(error, (GraphDataError, StoreDamagedError)):
        return "damaged"
    if isinstance(error, WireError):
        return "malformed"
    if isinstance(error, StoreError):
        return "damaged"
    return "question"


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise WireError("A list of names is not one.")
    return value
