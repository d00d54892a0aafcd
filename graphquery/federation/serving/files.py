"""Files of a store for peers that may know all of it: what a copy is made from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from graphquery.federation.errors import WireError
from graphquery.federation.serving.site import Site
from graphquery.federation.wire.messages import WireMessage
from graphquery.store.format import FORMAT_FILE, LOG

LARGEST = 1 << 24
"""Bytes of a file that are given at once."""

_ENTRY = re.compile(rf"{LOG}/\d{{20}}\.json")


def file(
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
