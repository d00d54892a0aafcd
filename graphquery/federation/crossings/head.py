"""Heads: the exports and imports of a store at one version, and the channels behind its exports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from graphquery.errors import WireError
from graphquery.federation.serving.site import Site
from graphquery.store import log
from graphquery.store.format import check_format


@dataclass(frozen=True, slots=True)
class Exported:
    """An exported channel in its exporter's head.

    Parameters
    ----------
    name, version
        Of the dataset.
    commit
        The version of the store that made the channel.
    count
        The number of rows.
    channels
        The channels behind the rows, direct and indirect.
    boundary, sketches
        Whether the export has these summaries.
    """

    name: str
    version: str
    commit: int
    count: int
    channels: tuple[str, ...]
    boundary: bool
    sketches: bool


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported channel in its importer's head; `store` is the identity of its exporter."""

    store: str
    name: str
    version: str
    commit: int
    count: int
    channels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a store: its last commit, exports and imports.

    Parameters
    ----------
    store
        The identity of the store.
    version, checksum
        Version and checksum of the last commit.
    exports, imports
        Exports and imports by channel.
    """

    store: str
    version: int
    checksum: str
    exports: Mapping[str, Exported]
    imports: Mapping[str, Imported]

    def to_json(self) -> dict[str, Any]:
        """Return the head as JSON for a reply."""
        return {
            "store": self.store,
            "version": self.version,
            "checksum": self.checksum,
            "exports": {channel: asdict(each) for channel, each in self.exports.items()},
            "imports": {channel: asdict(each) for channel, each in self.imports.items()},
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Head:
        """Return the inverse of `to_json`.

        Raises
        ------
        WireError
            A document that is not a head.
        """
        try:
            exported = {
                channel: Exported(**_typed(each)) for channel, each in document["exports"].items()
            }
            taken = {
                channel: Imported(**_typed(each)) for channel, each in document["imports"].items()
            }
            version = int(document["version"])
            return cls(str(document["store"]), version, str(document["checksum"]), exported, taken)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise WireError(f"The head of a store cannot be understood: {error!r}.") from error


def head_of(site: Site) -> Head:
    """Return the head of a store at a snapshot."""
    snapshot = site.snapshot
    store = check_format(snapshot.root).store
    checksum = log.read_entry(snapshot.root, snapshot.version)[1] if snapshot.version else store
    exported = {
        channel: Exported(
            each.name,
            each.version,
            each.commit,
            each.count,
            each.channels,
            each.boundary is not None,
            each.sketches is not None,
        )
        for channel, each in site.exports.items()
    }
    taken = {
        channel: Imported(
            each.store, each.name, each.version, each.commit, each.count, each.channels
        )
        for channel, each in site.imports.items()
    }
    return Head(store, snapshot.version, checksum, exported, taken)


_TYPES: Mapping[str, type] = {
    "name": str,
    "version": str,
    "store": str,
    "commit": int,
    "count": int,
    "boundary": bool,
    "sketches": bool,
}


def _typed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a channel in a head, checked against their types."""
    for name, value in fields.items():
        kind = _TYPES.get(name)
        if kind is not None and type(value) is not kind:
            raise TypeError(f"{name} is {value!r}")
    channels = fields["channels"]
    if not isinstance(channels, list) or not all(isinstance(each, str) for each in channels):
        raise TypeError(f"channels is {channels!r}")
    return dict(fields) | {"channels": tuple(channels)}
