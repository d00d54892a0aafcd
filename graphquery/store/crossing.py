"""Crossings: the rows of a store that others may import, and the rows it has imported.

An export makes one segment of a store a *channel*; a row of a channel is where data leaves one
store and enters others. Exports and imports are records of commits, ``export/<channel>`` and
``import/<channel>``, of the versions named here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self, TypeVar

from graphquery.errors import StoreDamagedError, StoreError
from graphquery.model import Kind, Segment
from graphquery.store.commit import FileEntry, Json

EXPORT = "export/"
IMPORT = "import/"
EXPORT_VERSION = 1
IMPORT_VERSION = 1
_PERSON = b"lipstick-cross-1"
_KEY_BYTES = 64


def channel_id(store: str, name: str, version: str, key: bytes = b"") -> str:
    """Return the identity of a channel: BLAKE2b-128 of who exported what, in hexadecimal.

    Parameters
    ----------
    store
        The identity of the exporting store, 32 hexadecimal digits.
    name, version
        The name and version of the dataset.
    key
        The key of the federation, of up to 64 bytes: without it nobody can compute identities.

    Raises
    ------
    StoreError
        A malformed identity, or a key that is too long.
    """
    try:
        identity = bytes.fromhex(store)
    except ValueError:
        identity = b""
    if len(identity) != 16:
        raise StoreError(f"{store!r} is not an identity of a store: it has 32 hexadecimal digits.")
    if len(key) > _KEY_BYTES:
        raise StoreError(f"The key of a federation has up to {_KEY_BYTES} bytes, not {len(key)}.")
    digest = hashlib.blake2b(digest_size=16, key=key, person=_PERSON)
    for part in (identity, name.encode(), version.encode()):
        digest.update(len(part).to_bytes(4, "little"))
        digest.update(part)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """The common fields of records of exports and imports.

    Parameters
    ----------
    name, version
        Name and version of the dataset.
    commit
        The version of the exporting store that made the channel.
    count
        The number of rows of the channel.
    channels
        The channels that its rows derive from, in the exporting store or any before it.
    sources
        The channels that rows of `boundary` refer to by number; the last one is this channel.
    boundary, sketches
        Files of the summaries of the rows' ancestors, if there are any.
    blocks
        The number of blocks of a sketch.
    """

    name: str
    version: str
    commit: int
    count: int
    channels: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    boundary: str | None = None
    sketches: str | None = None
    blocks: int = 0

    def to_json(self) -> Json:
        """Return the document of the record."""
        lists = {"channels": list(self.channels), "sources": list(self.sources)}
        return asdict(self) | lists | {"format": self._format()}

    @classmethod
    def from_json(cls, document: Json, what: str) -> Self:
        """Return the inverse of `to_json`.

        Raises
        ------
        StoreDamagedError
            The document is malformed, or has a different version; `what` names it.
        """
        values = _checked(document, cls._format(), what)
        try:
            for name in ("channels", "sources"):
                values[name] = tuple(values.get(name, ()))
            return cls(**cls._parsed(values))
        except (KeyError, TypeError) as error:
            raise _not_understood(what, error) from error

    @classmethod
    def _format(cls) -> int:
        """The version of the record that is written and read."""
        raise NotImplementedError

    @classmethod
    def _parsed(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a kind of crossing, checked against their types."""
        return values


@dataclass(frozen=True, slots=True, kw_only=True)
class Export(Crossing):
    """A segment that other stores may import: the content of a record ``export/<channel>``.

    Parameters
    ----------
    segment
        The nodes: row i of the channel is node i.
    keyed
        Whether the channel's identity was made with the key of a federation.
    checksums
        Checksums of the data files at the time of the export, by name.
    """

    segment: str
    keyed: bool = False
    checksums: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def _format(cls) -> int:
        return EXPORT_VERSION


@dataclass(frozen=True, slots=True)
class ImportPart:
    """A segment of imported rows.

    Parameters
    ----------
    segment
        The segment of tokens, one for every row.
    rows
        The column of its values with the row number in the channel; None: all rows, in order.
    """

    segment: str
    rows: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Import(Crossing):
    """Rows of another store's channel: the content of a record ``import/<channel>``.

    Parameters
    ----------
    store
        The identity of the exporting store.
    parts
        The segments of the rows.
    """

    store: str
    parts: tuple[ImportPart, ...]

    @classmethod
    def _format(cls) -> int:
        return IMPORT_VERSION

    @classmethod
    def _parsed(cls, values: dict[str, Any]) -> dict[str, Any]:
        return values | {"parts": tuple(ImportPart(**part) for part in values["parts"])}


C = TypeVar("C", bound=Crossing)


def exports(records: Mapping[str, Json]) -> dict[str, Export]:
    """Return all exports among the records of a store, by channel, in the order they were made.

    Raises
    ------
    StoreDamagedError
        A record that is not understood.
    """
    return _read(Export, EXPORT, records)


def imports(records: Mapping[str, Json]) -> dict[str, Import]:
    """Return all imports among the records of a store, by channel; raises as `exports`."""
    return _read(Import, IMPORT, records)


def _read(kind: type[C], prefix: str, records: Mapping[str, Json]) -> dict[str, C]:
    return {
        name.removeprefix(prefix): kind.from_json(document, f"Record {name}")
        for name, document in records.items()
        if name.startswith(prefix)
    }


def faults(
    name: str,
    document: Json,
    store: str,
    segments: Mapping[str, Segment],
    files: Mapping[str, FileEntry],
) -> Iterator[str]:
    """Yield the faults of a record of an export or import, in sentences.

    Parameters
    ----------
    name, document
        The name and the content of the record.
    store
        The identity of the store with the record.
    segments, files
        The segments and files of that store.
    """
    try:
        if name.startswith(EXPORT):
            yield from _export_faults(name, document, store, segments, files)
        elif name.startswith(IMPORT):
            yield from _import_faults(name, document, segments, files)
    except StoreDamagedError as error:
        yield str(error)


def _export_faults(
    name: str,
    document: Json,
    store: str,
    segments: Mapping[str, Segment],
    files: Mapping[str, FileEntry],
) -> Iterator[str]:
    export = Export.from_json(document, f"Record {name}")
    channel = name.removeprefix(EXPORT)
    if not export.keyed and channel != channel_id(store, export.name, export.version):
        yield f"{channel} is not the identity of {export.name} {export.version} of this store."
    segment = segments.get(export.segment)
    if segment is None:
        yield f"There is no segment {export.segment}."
    elif segment.count != export.count:
        yield f"It has {export.count} rows, and segment {segment.name} has {segment.count} nodes."
    yield from _missing(files, export)


def _import_faults(
    name: str, document: Json, segments: Mapping[str, Segment], files: Mapping[str, FileEntry]
) -> Iterator[str]:
    imported = Import.from_json(document, f"Record {name}")
    for part in imported.parts:
        segment = segments.get(part.segment)
        if segment is None:
            yield f"There is no segment {part.segment}."
        elif segment.kind is not Kind.TOKEN:
            yield f"Segment {segment.name} is of kind {segment.kind.value}; imports are tokens."
        elif part.rows is None and segment.count != imported.count:
            yield f"Segment {segment.name} has {segment.count} nodes for {imported.count} rows."
        elif part.rows is not None and segment.file is None:
            yield f"Segment {segment.name} has no column {part.rows!r}, which says what it imports."
    yield from _missing(files, imported)


def _missing(files: Mapping[str, FileEntry], record: Export | Import) -> Iterator[str]:
    for file in (record.boundary, record.sketches):
        if file is not None and file not in files:
            yield f"Its file {file} is not in use."


def _checked(document: Json, version: int, what: str) -> dict[str, Any]:
    """Return the fields of a document, checked to have the given version."""
    if not isinstance(document, dict) or not isinstance(document.get("format"), int):
        raise _not_understood(what, "it has no version")
    if document["format"] != version:
        raise StoreDamagedError(
            f"{what} has version {document['format']}; this version of lipstick reads {version}.\n"
            "Upgrade lipstick-spark."
        )
    return {name: value for name, value in document.items() if name != "format"}


def _not_understood(what: str, why: object) -> StoreDamagedError:
    return StoreDamagedError(
        f"{what} cannot be understood: {why}.\nIt was written by another program, or by a newer "
        "version of lipstick-spark."
    )
