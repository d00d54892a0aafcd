"""The offer that an exporter sends with its data: the channel of the rows, and their summaries.

In a folder of data it is ``_lipstick_export.json`` and up to two Parquet files of summaries;
readers of datasets skip names that start with ``_``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from graphquery.errors import FederationError, StoreError, WireError
from graphquery.federation.crossings.boundary import relation_bytes, relation_of_table
from graphquery.federation.crossings.relation import BoundaryRelation
from graphquery.federation.crossings.sketches import Sketches
from graphquery.store.crossing import channel_id, exports
from graphquery.store.format import check_format
from graphquery.store.snapshot import Snapshot

MANIFEST = "_lipstick_export.json"
VERSION = 1
_BOUNDARY = "_lipstick_boundary.parquet"
_SKETCHES = "_lipstick_sketches.parquet"


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """One channel, as its exporter describes it.

    Parameters
    ----------
    channel
        The identity of the channel.
    store, name, version
        The exporting store, and the name and version of the dataset.
    commit
        The version of the exporting store that made the channel.
    count
        The number of rows.
    keyed
        Whether the identity was made with the key of a federation.
    channels
        The channels that the rows derive from.
    checksums
        The checksums of the data files, by name.
    sketches, relation
        The summaries of the rows' ancestors; None if they were not computed, or are not disclosed.
    """

    channel: str
    store: str
    name: str
    version: str
    commit: int
    count: int
    keyed: bool = False
    channels: tuple[str, ...] = ()
    checksums: Mapping[str, str] = field(default_factory=dict)
    sketches: Sketches | None = None
    relation: BoundaryRelation | None = None

    def check(self, key: bytes = b"") -> None:
        """Verify that the channel's identity follows from the exporter and the dataset.

        Raises
        ------
        FederationError
            The identity does not follow from them, or the key is needed to verify it.
        """
        if self.keyed and not key:
            raise FederationError(
                f"{self.name} was exported within a federation that has a key.\nGive the key."
            )
        try:
            expected = channel_id(self.store, self.name, self.version, key if self.keyed else b"")
        except StoreError as error:
            raise FederationError(str(error)) from error
        if self.channel != expected:
            raise FederationError(
                f"The description of {self.name} {self.version} names a channel that its "
                "exporter does not have.\nIt was altered, or the key differs: get it again."
            )

    def without(self, *, sketches: bool = False, boundary: bool = False) -> Offer:
        """Return the offer without some summaries, for peers that may not see them."""
        return Offer(
            self.channel,
            self.store,
            self.name,
            self.version,
            self.commit,
            self.count,
            self.keyed,
            self.channels,
            self.checksums,
            None if sketches else self.sketches,
            None if boundary else self.relation,
        )

    def write(self, folder: str | Path) -> Path:
        """Write the offer beside the data, the manifest last; return the manifest's path."""
        root = Path(folder)
        document = {
            "format": VERSION,
            "channel": self.channel,
            "store": self.store,
            "name": self.name,
            "version": self.version,
            "commit": self.commit,
            "count": self.count,
            "keyed": self.keyed,
            "channels": list(self.channels),
            "checksums": dict(self.checksums),
        }
        if self.sketches is not None:
            data = _parquet(self.sketches.to_arrow())
            (root / _SKETCHES).write_bytes(data)
            document["sketches"] = {"blocks": self.sketches.blocks, "sha256": _sha256(data)}
        if self.relation is not None:
            data = relation_bytes(self.relation)
            (root / _BOUNDARY).write_bytes(data)
            sources = list(self.relation.channels)
            document["boundary"] = {"channels": sources, "sha256": _sha256(data)}
        path = root / MANIFEST
        unfinished = root / f"{MANIFEST}.tmp"
        unfinished.write_text(json.dumps(document, indent=1, ensure_ascii=False), encoding="utf-8")
        unfinished.replace(path)
        return path

    @classmethod
    def read(cls, folder: str | Path) -> Offer:
        """Read the offer beside data.

        Raises
        ------
        FederationError
            There is no offer, or it was truncated or altered.
        """
        root = Path(folder)
        path = root / MANIFEST
        try:
            document = json.loads(path.read_bytes())
            if document["format"] != VERSION:
                raise FederationError(
                    f"{path} has version {document['format']}; this version of lipstick reads "
                    f"{VERSION}.\nUpgrade lipstick-spark."
                )
            return cls._of_document(document, root)
        except FileNotFoundError as error:
            raise FederationError(
                f"{root} does not say where its rows come from: {error.filename} is not there.\n"
                "Export the dataset with its manifest, or import it as rows of no other store."
            ) from error
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
            raise FederationError(f"{path} cannot be understood: {error!r}.") from error

    @classmethod
    def _of_document(cls, document: dict[str, object], root: Path) -> Offer:
        sketches: Sketches | None = None
        relation: BoundaryRelation | None = None
        values = {name: document[name] for name in cls.__slots__ if name in document}
        count = int(str(document["count"]))
        summary = document.get("sketches")
        if isinstance(summary, dict):
            table = _read(root / _SKETCHES, summary["sha256"])
            sketches = Sketches.from_arrow(table, summary["blocks"])
            if len(sketches) != count:
                raise WireError(f"There are {len(sketches)} sketches of {count} rows.")
        summary = document.get("boundary")
        if isinstance(summary, dict):
            table = _read(root / _BOUNDARY, summary["sha256"])
            relation = relation_of_table(table, summary["channels"], count)
        values |= {"channels": tuple(_texts(document["channels"]))}
        values |= {"sketches": sketches, "relation": relation}
        return cls(**values)  # type: ignore[arg-type]


def offer_of(snapshot: Snapshot, channel: str) -> Offer:
    """Return the offer that a store sends along with the rows of a channel.

    Raises
    ------
    FederationError
        The store exports no such channel.
    """
    exported = exports(snapshot.records)
    if channel not in exported:
        raise FederationError(f"The store {snapshot.root} exports no channel {channel}.")
    export = exported[channel]
    sketches = relation = None
    if export.sketches is not None:
        sketches = Sketches.from_arrow(snapshot.read(export.sketches), export.blocks)
    if export.boundary is not None:
        table = snapshot.read(export.boundary)
        relation = relation_of_table(table, export.sources, export.count)
    return Offer(
        channel,
        check_format(snapshot.root).store,
        export.name,
        export.version,
        export.commit,
        export.count,
        export.keyed,
        export.channels,
        export.checksums,
        sketches,
        relation,
    )


def _parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _read(path: Path, checksum: str) -> pa.Table:
    data = path.read_bytes()
    if _sha256(data) != checksum:
        raise FederationError(f"{path} is not what was written with the data: get it again.")
    return pq.read_table(pa.BufferReader(data))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _texts(value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError("channels are a list of texts")
    return value
