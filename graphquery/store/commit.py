"""A commit: the changes of one transaction, compaction or vacuum, and their form in JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any, TypeAlias

from graphquery.model import EdgeSet, Kind, Ordinals, Segment

Json: TypeAlias = Any
"""A JSON document: None, bool, int, float, str, and lists and dictionaries of these."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A data file as committed.

    Parameters
    ----------
    size
        The size in bytes.
    sha256
        The SHA-256 of its bytes, in hexadecimal.
    rows
        The number of rows.
    schema
        The columns' names and types; only files that agree in it can be merged.
    kept
        Whether it stays until it is removed by name: compaction does not touch it.
    """

    size: int
    sha256: str
    rows: int
    schema: str
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Commit:
    """One entry of the log.

    Parameters
    ----------
    version
        1 and up, without gaps.
    previous
        The checksum of the commit before; of the first one, the identity of the store.
    time
        The time of the commit, in ISO 8601, UTC.
    operation
        ``append``, ``compact`` or ``vacuum``.
    files, segments, edges, records
        The additions; a record replaces one of the same name.
    dropped
        Names of records deleted.
    moved
        By merged file, the new file, and the row of its first row there.
    removed
        Files no longer in use, but still there for older snapshots.
    vacuumed
        Removed files that are deleted.
    """

    version: int
    previous: str
    time: str
    operation: str
    files: Mapping[str, FileEntry] = field(default_factory=dict)
    segments: Sequence[Segment] = ()
    edges: Sequence[EdgeSet] = ()
    records: Mapping[str, Json] = field(default_factory=dict)
    dropped: Sequence[str] = ()
    moved: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    removed: Sequence[str] = ()
    vacuumed: Sequence[str] = ()

    @classmethod
    def planned(cls, operation: str) -> Commit:
        """Return a commit whose version, checksum before and time come when it is written."""
        return cls(0, "", "", operation)

    def to_json(self) -> Json:
        """Return the document in the log; empty parts are left out."""
        document: dict[str, Json] = {
            "version": self.version,
            "previous": self.previous,
            "time": self.time,
            "operation": self.operation,
            "files": {name: asdict(entry) for name, entry in self.files.items()},
            "segments": [_changed(segment, _SEGMENT_DEFAULTS) for segment in self.segments],
            "edges": [_changed(edges, _EDGES_DEFAULTS) for edges in self.edges],
            "records": dict(self.records),
            "dropped": list(self.dropped),
            "moved": {name: list(location) for name, location in self.moved.items()},
            "removed": list(self.removed),
            "vacuumed": list(self.vacuumed),
        }
        return {name: value for name, value in document.items() if value not in ({}, [])}

    @classmethod
    def from_json(cls, document: Mapping[str, Json]) -> Commit:
        """Return the inverse of `to_json`."""
        moved = document.get("moved", {})
        return cls(
            version=document["version"],
            previous=document["previous"],
            time=document["time"],
            operation=document["operation"],
            files={name: FileEntry(**entry) for name, entry in document.get("files", {}).items()},
            segments=[segment_from_json(each) for each in document.get("segments", ())],
            edges=[edges_from_json(each) for each in document.get("edges", ())],
            records=document.get("records", {}),
            dropped=document.get("dropped", ()),
            moved={name: (location[0], location[1]) for name, location in moved.items()},
            removed=document.get("removed", ()),
            vacuumed=document.get("vacuumed", ()),
        )


def segment_from_json(document: Mapping[str, Json]) -> Segment:
    """Return a segment from its fields that are not at their default."""
    values = dict(document)
    values["kind"] = _KINDS[values["kind"]]
    values["key"] = tuple(values.get("key", ()))
    return Segment(**values)


def edges_from_json(document: Mapping[str, Json]) -> EdgeSet:
    """Return an edge set from its fields that are not at their default."""
    values = dict(document)
    for end in ("sources", "targets"):
        if end in values:
            values[end] = _ORDINALS[values[end]]
    return EdgeSet(**values)


def _defaults(kind: type[Segment] | type[EdgeSet]) -> tuple[tuple[str, Any], ...]:
    return tuple((each.name, each.default) for each in fields(kind))


def _changed(value: Segment | EdgeSet, defaults: tuple[tuple[str, Any], ...]) -> dict[str, Json]:
    pairs = ((name, getattr(value, name), default) for name, default in defaults)
    return {name: each for name, each, default in pairs if default is MISSING or each != default}


_KINDS = {kind.value: kind for kind in Kind}
_ORDINALS = {ordinals.value: ordinals for ordinals in Ordinals}
_SEGMENT_DEFAULTS = _defaults(Segment)
_EDGES_DEFAULTS = _defaults(EdgeSet)
