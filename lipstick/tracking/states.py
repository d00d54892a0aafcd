"""Files and versions of tables as a source found them, to know that they are as they were."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import unquote, urlparse

from semiring.errors import ArgumentError

FileState: TypeAlias = tuple[str, int, int]
"""A file's URI, length in bytes and modification time in nanoseconds (local) or milliseconds."""


def local_path(uri: str) -> Path | None:
    """Return the path of a file by its URI; None: it is on no local disk."""
    parsed = urlparse(uri)
    return Path(unquote(parsed.path)) if parsed.scheme in ("", "file") else None


def local_folder(location: str | os.PathLike[str]) -> Path:
    """Return a folder that a caller names: a path, or a ``file:`` URI as Spark reads one.

    Raises
    ------
    ArgumentError
        When it is on no local or mounted disk.
    """
    scheme, separator, rest = os.fspath(location).partition(":/")
    if not separator or "/" in scheme:
        return Path(location)
    if scheme != "file":
        raise ArgumentError(
            f"{location} is on no local or mounted disk.\nGive a folder that this process sees."
        )
    return Path("/" + rest.lstrip("/"))


def local_state(uri: str) -> FileState | None:
    """Return the state of a file; None: it is on no local disk. One that is gone has length -1."""
    path = local_path(uri)
    if path is None:
        return None
    try:
        status = path.stat()
    except OSError:
        return (uri, -1, -1)
    return (uri, status.st_size, status.st_mtime_ns)


FORMAT_NAMES: Final = {"delta": "Delta", "iceberg": "Iceberg"}
"""The names of the formats that keep versions, for messages."""


@dataclass(frozen=True, slots=True)
class PinnedVersion:
    """A version of a table that a source reads, as captures record it."""

    format: str
    table: str
    """The table as SQL names it: ``cat.db.orders`` or ``delta.`/path```."""
    identity: str
    """The table's own id, which another table of its name has not."""
    version: int | None
    """None: a table of Iceberg without a snapshot, which is empty."""
    files: tuple[FileState, ...] = ()
    """The states of its files; empty: they are on no local disk."""

    @property
    def description(self) -> str:
        """The table and its version, for messages."""
        kind = FORMAT_NAMES.get(self.format, self.format)
        version = "empty" if self.version is None else f"version {self.version}"
        return f"{kind} table {self.table}, {version}"
