"""The files of a capture or of a written table's rows: described when written, checked when read.

Files are described right after they are written, by name, size, rows and SHA-256. That reads each
file once, in threads, and starts no Spark job: about 0.8 s per GB and core with instructions for
SHA-256, the checksum that stores use too.

Opening a capture compares names, sizes and row counts, which reads only the ends of files.
Checksums are compared once, before the rows of a folder are first read, by Spark or in this
process.

Only files below a folder are ever named: neither a name in a manifest nor a link leads out of it.
"""

from __future__ import annotations

import json
import os
import re
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lipstick.capture.documents import check_types
from lipstick.errors import CaptureDamagedError
from semiring.support.document import file_checksum

_PART = re.compile(r"(?!\.{1,2}$)[^/\\:\x00-\x1f]+")
_CHECKSUM = re.compile(r"[0-9a-f]{64}")
_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
_FEW = 8
"""Files that are looked at one after the other: threads would take longer to start."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A Parquet file as it was written.

    Parameters
    ----------
    name
        Its path below the folder that it is described in, with ``/``.
    size
        In bytes.
    rows
        How many.
    sha256
        Of its bytes, in hexadecimal.

    Raises
    ------
    ValueError
        For a name that leads elsewhere, and numbers that are none.
    """

    name: str
    size: int
    rows: int
    sha256: str

    def __post_init__(self) -> None:
        if not is_inside(self.name) or not _CHECKSUM.fullmatch(self.sha256):
            raise ValueError(f"{self.name!r} with checksum {self.sha256!r} describes no file")
        if not (isinstance(self.size, int) and isinstance(self.rows, int)):
            raise ValueError(f"{self.name!r} has no size")

    def to_json(self) -> list[Any]:
        """Return what a document keeps of it."""
        return [self.name, self.size, self.rows, self.sha256]


def is_inside(name: str) -> bool:
    """Return True if a path is relative, and stays below the folder that it starts from."""
    return all(_PART.fullmatch(part) for part in name.split("/"))


def stored_files(document: Any) -> tuple[StoredFile, ...] | None:
    """Return the files that a document describes; None if it is of a version that did not.

    Raises
    ------
    ValueError, TypeError
        When it does not describe files.
    """
    if document is None:
        return None
    files = tuple(StoredFile(*each) for each in document)
    if len({file.name for file in files}) < len(files):
        raise ValueError("a file is described twice")
    return files


def describe(root: Path, folders: Iterable[str] = ("",)) -> tuple[StoredFile, ...]:
    """Describe the Parquet files below folders of a folder, as they are now; reads all of them.

    What Hadoop leaves beside the files, and nothing reads, is removed first: its checksums of
    32 bits are only seen by Spark, and fail there without naming what is damaged.

    Raises
    ------
    OSError, pyarrow.ArrowException
        When a file cannot be read, or is not Parquet.
    """
    names = []
    for folder in folders:
        for at, _, files in os.walk(root / folder):
            for file in files:
                path = Path(at, file)
                if is_hidden(file) or file.endswith(".crc"):
                    path.unlink()
                else:
                    names.append(path.relative_to(root).as_posix())
    return tuple(mapped(lambda name: _described(root, name), sorted(names)))


def _described(root: Path, name: str) -> StoredFile:
    path = root / name
    return StoredFile(name, path.stat().st_size, row_count(path), file_checksum(path))


def row_count(path: Path) -> int:
    """Return the number of rows of a Parquet file, from its footer."""
    rows: int = pq.read_metadata(path).num_rows
    return rows


def spark_schema(path: Path) -> Any:
    """Return the JSON of the schema that Spark keeps in a Parquet file; None where it is none.

    Raises
    ------
    OSError, ValueError, pyarrow.ArrowException
        When it cannot be read.
    """
    kept = pq.read_metadata(path).metadata or {}
    return json.loads(kept.get(_SCHEMA, b"null"))


def is_hidden(name: str) -> bool:
    """Return True if Spark and this process ignore a file of some name."""
    if name.endswith(".parquet.crc"):
        return False  # Hadoop compares it
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def mapped(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
    """Apply a function that waits for files to items, in threads where they are many."""
    if len(items) <= _FEW:
        return map(function, items)
    with ThreadPoolExecutor(min(_FEW, os.cpu_count() or 1)) as threads:
        return iter(list(threads.map(function, items)))


_UNREADABLE = (OSError, ValueError, MemoryError, pa.ArrowException)


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it was written.

    Parameters
    ----------
    where
        A path.
    what
        In a sentence.
    """

    where: Path
    what: str


class Verified:
    """The files whose checksums were compared since a capture was opened."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: set[tuple[Path, str]] = set()

    def once(self, path: Path, key: str, check: Callable[[], None]) -> None:
        """Run a check unless it was run, and raised nothing, before."""
        with self._lock:
            if (path, key) not in self._known:
                check()
                self._known.add((path, key))


@dataclass(frozen=True, slots=True)
class Contents:
    """The expected contents of a folder.

    Parameters
    ----------
    root
        The folder.
    files
        All Parquet files below it; None if the written files are unknown.
    counts
        The number of rows in each of its folders, where nothing else is known.
    folders
        The folders below it in which only these files may be read; ``""`` is itself.
    verified
        The files compared so far.
    """

    root: Path
    files: tuple[StoredFile, ...] | None
    counts: Mapping[str, int] = field(default_factory=dict)
    folders: tuple[str, ...] = ("",)
    verified: Verified = field(default_factory=Verified, compare=False, repr=False)

    def has(self, folder: str) -> bool:
        """Return True if a folder of files was written."""
        if self.files is not None:
            return any(file.name.startswith(f"{folder}/") for file in self.files)
        return folder in self.counts if self.counts else (self.root / folder).is_dir()

    def read(self, folder: str) -> list[Path]:
        """Return the files of a folder in the order of their names, to be read now.

        Checksums are compared the first time, which reads all of them once.

        Raises
        ------
        CaptureDamagedError
            When files differ from what was written.
        """
        path = self.root / folder
        if self.files is None:
            files = self._present(folder)
            if not files:
                raise damaged(self.root, [Fault(path, "It has no Parquet files.")])
            self.verified.once(path, "", lambda: self._check_types(files))
            return files
        stored = self._of(folder)
        if not stored:
            raise damaged(self.root, [Fault(path, "It has no files.")])
        self.verified.once(path, stored[0].sha256, lambda: self._verify(folder, stored))
        return [self.root / file.name for file in stored]

    def _present(self, folder: str) -> list[Path]:
        files = (self.root / folder).glob("*.parquet")
        return sorted(file for file in files if not is_hidden(file.name))

    def check(self) -> None:
        """Compare the names and sizes of all files, and their numbers of rows.

        Raises
        ------
        CaptureDamagedError
            When something is not as it was written.
        """
        faults = list(self.faults())
        if faults:
            raise damaged(self.root, faults)

    def faults(self, *, checksums: bool = False) -> Iterator[Fault]:
        """Yield what is not as it was written.

        Parameters
        ----------
        checksums
            Whether they are compared too, which reads all files.
        """
        if self.files is None:
            yield from self._count_faults()
            return
        for folder in self.folders:
            yield from self._foreign(folder)
        looks = (_size_fault, _row_fault, *([_checksum_fault] if checksums else ()))
        yield from self._looked_at(self.files, looks)

    def _of(self, folder: str) -> list[StoredFile]:
        assert self.files is not None
        stored = (file for file in self.files if file.name.startswith(f"{folder}/"))
        return sorted(stored, key=lambda file: file.name)

    def _verify(self, folder: str, files: Sequence[StoredFile]) -> None:
        faults = list(self._foreign(folder))
        faults += self._looked_at(files, (_size_fault, _checksum_fault))
        if faults:
            raise damaged(self.root, faults)
        self._check_types([self.root / file.name for file in files])

    def _check_types(self, files: Sequence[Path]) -> None:
        """Refuse files whose schema, which Spark keeps in them, names classes."""

        def look(path: Path) -> Any:
            try:
                return spark_schema(path)
            except _UNREADABLE as error:
                raise damaged(
                    self.root, [Fault(path, f"The file cannot be read: {error}.")]
                ) from error

        for path, schema in zip(files, mapped(look, files), strict=True):
            check_types(path, schema)

    def _looked_at(
        self, files: Sequence[StoredFile], looks: Sequence[Callable[[Path, StoredFile], str | None]]
    ) -> Iterator[Fault]:
        """Yield what is wrong with files: of each the first thing that a look finds."""

        def look(file: StoredFile) -> str | None:
            path = self.root / file.name
            return next((what for each in looks if (what := each(path, file)) is not None), None)

        for file, what in zip(files, mapped(look, files), strict=True):
            if what is not None:
                yield Fault(self.root / file.name, what)

    def _foreign(self, folder: str) -> Iterator[Fault]:
        """Yield files below a folder that were not written there, and ways out of it."""
        assert self.files is not None
        known = {file.name for file in self.files}
        for path in (self.root / folder).parents:
            if path.is_relative_to(self.root) and path != self.root and path.is_symlink():
                yield Fault(path, "It is a link, which no capture has.")
                return
        for name, is_link in _below(self.root, folder):
            if is_link:
                yield Fault(self.root / name, "It is a link, which no capture has.")
            elif name not in known:
                yield Fault(self.root / name, "It is not a file of the capture: remove it.")

    def _count_faults(self) -> Iterator[Fault]:
        for folder, expected in self.counts.items():
            path = self.root / folder
            files = self._present(folder)
            if not files:
                yield Fault(path, "It has no Parquet files.")
                continue
            try:
                rows = sum(mapped(row_count, files))
            except _UNREADABLE as error:
                yield Fault(path, f"It cannot be read: {error}.")
            else:
                if rows != expected:
                    yield Fault(path, f"It has {rows} rows, not the {expected} that were written.")


def damaged(root: Path, faults: Sequence[Fault]) -> CaptureDamagedError:
    """Return the error of some faults, which describes the first one."""
    more = f" {len(faults) - 1} more faults were found." if len(faults) > 1 else ""
    return CaptureDamagedError(
        f"{root} is damaged. {faults[0].where}: {faults[0].what}{more}\n"
        "'lipstick fsck' names all that is damaged. Restore it from a copy, or write it again."
    )


def _size_fault(path: Path, file: StoredFile) -> str | None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return "The file is missing."
    except OSError as error:
        return f"The file cannot be read: {error}."
    if not stat.S_ISREG(status.st_mode):
        return "It is not a file."
    if status.st_size != file.size:
        return f"The file has {status.st_size} bytes, not {file.size}."
    return None


def _row_fault(path: Path, file: StoredFile) -> str | None:
    try:
        rows = row_count(path)
    except _UNREADABLE as error:
        return f"The file cannot be read: {error}."
    return None if rows == file.rows else f"The file has {rows} rows, not {file.rows}."


def _checksum_fault(path: Path, file: StoredFile) -> str | None:
    try:
        actual = file_checksum(path)
    except OSError as error:
        return f"The file cannot be read: {error}."
    return None if actual == file.sha256 else "The file was altered: its checksum is another one."


def _below(root: Path, folder: str) -> Iterator[tuple[str, bool]]:
    """Yield the files and links below a folder that readers do not pass over, links as such."""
    waiting = [folder]
    while waiting:
        at = waiting.pop()
        path = root / at
        if path.is_symlink() and at:
            yield at, True
            continue
        try:
            entries = sorted(os.scandir(path), key=lambda entry: entry.name)
        except OSError:  # what is to be in it is missing, and told
            continue
        for entry in entries:
            name = f"{at}/{entry.name}" if at else entry.name
            if entry.is_symlink():
                yield name, True
            elif entry.is_dir():
                if name != UPSTREAM:
                    waiting.append(name)
            elif not (is_hidden(entry.name) or (not at and entry.name == MANIFEST)):
                yield name, False


MANIFEST = "manifest.json"
"""Beside the files of a capture, and none of them."""
UPSTREAM = "upstream"
"""The folder of a bundle in a capture: provenance of the written tables that its query read."""
