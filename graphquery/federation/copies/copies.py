"""Copies of stores from any file system or server, verified against the owner's sealed log.

A store is files that never change and a log of sealed commits, each with the checksums of its files
and of the previous commit. Once the owner's head is known, a copy can therefore be verified on its
own, whatever its source: up to its version, it answers questions as the store does.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import fs

from graphquery.errors import FederationError, StoreDamagedError, StoreError
from graphquery.federation.crossings.head import Head
from graphquery.federation.questions import answer as reasons
from graphquery.federation.serving.disclosure import Disclosure
from graphquery.federation.wire.messages import REQUEST, reader, received
from graphquery.federation.wire.transport import (
    Incoming,
    LocalTransport,
    StoreTransport,
    TransportError,
)
from graphquery.store import log
from graphquery.store.commit import FileEntry
from graphquery.store.file_system import StoreFiles
from graphquery.store.format import FOLDERS, FORMAT_FILE, LOG, check_format
from graphquery.store.state import StoreState
from semiring.errors import LipstickError

_UNREADABLE = (OSError, pa.ArrowException)


class StoreSource(Protocol):
    """A source of files: a `pyarrow.fs.FileSystem`, or a server (`PeerFiles`)."""

    def open_input_stream(self, path: str) -> contextlib.AbstractContextManager[Any]:
        """Open a file as a context; raise `FileNotFoundError` if it is missing."""
        ...


def copy_store(
    files: StoreSource, location: str, folder: str | Path, head: Head | None = None
) -> int:
    """Copy a store, or bring an earlier copy up to date.

    Parameters
    ----------
    files, location
        The file system and the path of the store, or of another copy of it.
    folder
        The folder of the copy: empty, missing, or an earlier copy of the same store.
    head
        The head that the owner reports; None: the source is the owner itself.

    Returns
    -------
    int
        The version of the copy afterwards.

    Raises
    ------
    FederationError
        The folder has another store, or the source does not have the owner's commit.
    StoreDamagedError
        The files differ from those committed; the copy is unchanged.
    OSError
        The store cannot be read.

    Notes
    -----
    Files come first, then the commits that name them: a copy that is interrupted is an older one,
    and is continued by calling this again.
    """
    root, local = Path(folder), StoreFiles()
    data = _read(files, f"{location}/{FORMAT_FILE}")
    with tempfile.TemporaryDirectory(prefix="lipstick-copy-") as beside:
        (Path(beside) / FORMAT_FILE).write_bytes(data)
        store = check_format(Path(beside)).store
    if (root / FORMAT_FILE).is_file():
        if check_format(root).store != store:
            raise FederationError(f"{root} has a different store from {location}: {store}.")
    elif root.is_dir() and any(root.iterdir()):
        raise FederationError(f"{root} is not empty.\nGive an empty folder for the copy.")
    if head is not None and head.store != store:
        raise FederationError(f"{location} is the store {store}, not {head.store}.")
    for name in FOLDERS:
        local.make_folder(root / name)
    if not (root / FORMAT_FILE).is_file():
        local.publish(root / FORMAT_FILE, data)
    return _advance(files, location, root, head, local)


def _advance(
    files: StoreSource, location: str, root: Path, head: Head | None, local: StoreFiles
) -> int:
    """Copy the commits that a copy lacks, and their files."""
    state = log.load(root) if log.versions(root) else StoreState(check_format(root).store)
    first = state.version
    entries: dict[int, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="lipstick-copy-") as beside:
        staged = Path(beside)
        (staged / LOG).mkdir()
        last = None if head is None else head.version
        while last is None or state.version < last:
            version = state.version + 1
            name = log.entry_path(staged, version).name
            try:
                entries[version] = _read(files, f"{location}/{LOG}/{name}")
            except FileNotFoundError:
                break
            log.entry_path(staged, version).write_bytes(entries[version])
            state.apply(*log.read_entry(staged, version))
    if head is not None and (state.version, state.checksum) != (head.version, head.checksum):
        raise FederationError(
            f"{location} does not match its owner: commit {head.version} differs or is missing.\n"
            "Copy it from its owner."
        )
    for name, entry in state.files.items():
        if not (root / name).is_file():
            _copy_file(files, f"{location}/{name}", root / name, entry, local)
    for version in range(first + 1, state.version + 1):
        with contextlib.suppress(FileExistsError):  # by another process that copies
            local.publish(log.entry_path(root, version), entries[version])
    return state.version


def _copy_file(
    files: StoreSource, source: str, target: Path, entry: FileEntry, local: StoreFiles
) -> None:
    try:
        data = _read(files, source)
    except FileNotFoundError as error:
        raise StoreDamagedError(
            f"{source} is gone.\nThe store was compacted or cleaned meanwhile: copy it again."
        ) from error
    if len(data) != entry.size or hashlib.sha256(data).hexdigest() != entry.sha256:
        raise StoreDamagedError(f"{source} is not what was committed: run fsck on the store.")
    local.make_folder(target.parent)
    local.replace(target, data)


def _read(files: StoreSource, path: str) -> bytes:
    with files.open_input_stream(path) as stream:
        data: bytes = stream.read()
    return data


def file_system(location: str) -> tuple[fs.FileSystem, str]:
    """Return the file system of a location, such as ``s3://bucket/store``, and the path in it.

    Raises
    ------
    FederationError
        No file system is known for the location, or it cannot be reached.
    """
    try:
        files, path = fs.FileSystem.from_uri(location)
    except (ValueError, *_UNREADABLE) as error:
        raise FederationError(
            f"{location} names no file system that can be used here: {error}\n"
            "Use a folder, file://, s3://, gs://, abfs:// or hdfs://, or an address, http(s)://."
        ) from error
    return files, path.rstrip("/")


def default_folder(location: str) -> Path:
    """Return the default folder for the copy of a store at a location."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    name = hashlib.sha256(location.encode()).hexdigest()[:32]
    return Path(base) / "lipstick" / "stores" / name


class ObjectTransport:
    """The transport to a store on a remote file system, through a local copy that follows it.

    Parameters
    ----------
    files, location
        The file system and the path of the store, as in `pyarrow.fs`.
    folder
        The folder of the copy.
    level
        The level of disclosure.
    """

    remote = True

    def __init__(
        self,
        files: fs.FileSystem,
        location: str,
        folder: str | Path,
        level: Disclosure = Disclosure.NODES,
    ) -> None:
        self._files = files
        self._location = location
        self.path = Path(folder)
        self._local = LocalTransport(folder, level)

    @contextlib.contextmanager
    def exchange(self, request: bytes, timeout: float | None) -> Iterator[Incoming]:
        """See `StoreTransport`; a request for the newest version first updates the copy."""
        header = received(reader(request), REQUEST).header
        if header.get("version") is None:
            try:
                copy_store(self._files, self._location, self.path)
            except (StoreDamagedError, FederationError) as error:
                raise TransportError(reasons.DAMAGED, str(error)) from error
            except StoreError as error:
                raise TransportError(reasons.UNREACHABLE, str(error)) from error
            except _UNREADABLE as error:
                text = f"{self._location} cannot be read: {error}"
                raise TransportError(reasons.UNREACHABLE, text) from error
        with self._local.exchange(request, timeout) as incoming:
            yield incoming

    def close(self) -> None:
        """See `StoreTransport`."""
        self._local.close()


class CopiedTransport:
    """The transport to a store, or to a copy of it while the store does not answer.

    Parameters
    ----------
    origin
        The transport to the store.
    folder
        The folder of the copy. Commits that it lacks are missing from answers, as `behind`.
    level
        The level of disclosure of the copy.
    """

    def __init__(
        self, origin: StoreTransport, folder: str | Path, level: Disclosure = Disclosure.NODES
    ) -> None:
        self.origin = origin
        """The transport to the store itself."""
        self._copy = LocalTransport(folder, level)
        self.remote = origin.remote

    @property
    def path(self) -> Path:
        """The folder of the store, or of the copy if the store cannot be read here."""
        origin = self.origin
        there = isinstance(origin, LocalTransport) and (origin.path / FORMAT_FILE).is_file()
        return origin.path if there else self._copy.path  # type: ignore[attr-defined]

    @contextlib.contextmanager
    def exchange(self, request: bytes, timeout: float | None) -> Iterator[Incoming]:
        """See `StoreTransport`."""
        with contextlib.ExitStack() as stack:
            try:
                incoming = stack.enter_context(self.origin.exchange(request, timeout))
            except TransportError as error:
                if error.reason not in (reasons.UNREACHABLE, reasons.TIMEOUT):
                    raise
                try:
                    incoming = stack.enter_context(self._copy.exchange(request, timeout))
                except LipstickError:
                    raise error from None
            yield incoming

    def close(self) -> None:
        """See `StoreTransport`."""
        self.origin.close()
        self._copy.close()
