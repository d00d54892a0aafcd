"""The provenance of a written table: its rows, each with the tuple of a capture that it came from.

Layout of a derivation::

    v000001.json              a version of the table: its columns, parts and fingerprint
    parts/8c5a.../rows/       the rows that one statement wrote, in Parquet
    parts/8c5a.../rows-31f.../  the rows that remain after a statement overwrote others
    parts/8c5a.../capture/    the capture of the query that made them
    parts/8c5a.../filled/     one row with the values of columns that the query does not give
    parts/8c5a.../v000001.json  the version that introduced the part, once more
    announced-000002.json     a version whose table is being written, or was as a process died

A version is written last, in one step, and never changed: an INSERT adds a part and another
version, so that what was derived from the older version can still read it. Rows without a capture
were in the table before; they are rows of a base relation.

A version lists the files of its parts, and carries a checksum of itself and of the manifests of
their captures; rows are compared with theirs before they are first read. Versions of format 1 list
no files.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from lipstick.capture.contents import (
    Contents,
    Fault,
    StoredFile,
    Verified,
    damaged,
    is_inside,
    stored_files,
)
from lipstick.capture.documents import altered, check_types, seal, unseal, ununderstood
from lipstick.capture.manifest import SparkSchema
from lipstick.errors import (
    CaptureDamagedError,
    CaptureError,
    CaptureNotHereError,
    UncheckedWarning,
)
from lipstick.tracking.states import FileState
from semiring.support.document import check_shape, read_json

ROWS = "rows"
FILLED_FILES = "filled"


@dataclass(frozen=True, slots=True)
class Replaced:
    """The overwriting of a partition of a part's rows.

    It also removes rows that the query would have made from its hypothetical rows.
    """

    part: str
    """The name of the part that took their place, which is filled with the partition's values."""
    columns: tuple[str, ...]
    """The columns that identify the partition."""
    stored: tuple[StoredFile, ...] | None = None
    """The files that it is filled from, below its folder; None: not known."""


@dataclass(frozen=True, slots=True)
class Part:
    """Rows that one statement wrote, or that were there before."""

    name: str
    columns: tuple[str, ...]
    """Columns of the table, in the order of the query's; the others are filled."""
    schema: str
    """Spark's JSON of the schema of the rows."""
    files: tuple[str, ...]
    """Names of the files of the rows, in the order of their numbers."""
    captured: bool
    """True if a captured query made the rows."""
    folder: str = ROWS
    """The folder of the rows."""
    replaced: tuple[Replaced, ...] = ()
    """The partitions that later statements overwrote."""
    stored: tuple[StoredFile, ...] | None = None
    """The files of its rows, and of its filled values, below its folder; None: not known."""
    manifest: str | None = None
    """The checksum of the manifest of its capture; None: not known."""

    def replacing(self, columns: Sequence[str]) -> Replaced:
        """Return that rows of a partition were overwritten by this part."""
        return Replaced(self.name, tuple(columns), below(self.stored, FILLED_FILES))

    def gives(self, columns: Sequence[str]) -> bool:
        """Return True if its query gives all of these columns."""
        return set(self.columns).issuperset(columns)

    def gives_any(self, columns: Sequence[str]) -> bool:
        """Return True if its query gives one of these columns."""
        return not set(self.columns).isdisjoint(columns)


def part_of(document: Mapping[str, Any]) -> Part:
    """Return the part that a document describes.

    Raises
    ------
    AttributeError, KeyError, TypeError, ValueError
        When it describes none, or has names that lead elsewhere.
    """
    return Part(
        name=_inside(document["name"]),
        columns=tuple(document["columns"]),
        schema=document["schema"],
        files=tuple(map(_inside, document["files"])),
        captured=document["captured"],
        folder=_inside(document["folder"]),
        replaced=tuple(
            Replaced(_inside(r["part"]), tuple(r["columns"]), stored_files(r.get("stored")))
            for r in document["replaced"]
        ),
        stored=stored_files(document.get("stored")),
        manifest=document.get("manifest"),
    )


def document_of(part: Part) -> dict[str, Any]:
    """Return what a version keeps of a part."""
    record = asdict(part)
    record["stored"] = _listed(part.stored)
    for document, replaced in zip(record["replaced"], part.replaced, strict=True):
        document["stored"] = _listed(replaced.stored)
    return record


def _listed(stored: tuple[StoredFile, ...] | None) -> list[Any] | None:
    return None if stored is None else [file.to_json() for file in stored]


def _inside(name: str) -> str:
    """Return a name of a file or folder, which leads nowhere else."""
    if "/" in name or not is_inside(name):
        raise ValueError(f"{name!r} names no file of a derivation")
    return name


def below(stored: Sequence[StoredFile] | None, *folders: str) -> tuple[StoredFile, ...] | None:
    """Return the files that are in some folders."""
    if stored is None:
        return None
    return tuple(file for file in stored if file.name.split("/")[0] in folders)


__all__ = [
    "CAPTURE",
    "FILLED_FILES",
    "FORMAT",
    "ROWS",
    "TUPLE",
    "Derivation",
    "Part",
    "Replaced",
    "kept_versions",
    "latest_version",
    "read_announced",
    "read_latest",
    "read_version",
    "shared_files",
    "version_path",
]

FORMAT = 2
_KIND = "derivation"
CAPTURE = "capture"
TUPLE = "_lipstick_tuple"
"""The column of a part's rows with the identity of the captured tuple, a struct."""

_VERSION = re.compile(r"v(\d{6})\.json")
_ANNOUNCED = re.compile(r"announced-(\d{6})\.json")


_Stored = list[tuple[str, int, int, str]] | None


class _Replaced(TypedDict):
    part: str
    columns: list[str]
    stored: NotRequired[_Stored]


class _Part(TypedDict):
    name: str
    columns: list[str]
    schema: str
    files: list[str]
    captured: bool
    folder: str
    replaced: list[_Replaced]
    stored: NotRequired[_Stored]
    manifest: NotRequired[str | None]


class _Version(TypedDict):
    """The content of a version's file."""

    format: NotRequired[int]
    version: NotRequired[int]
    name: str
    schema: str
    key: list[str]
    declared: bool
    parts: list[_Part]
    fingerprint: list[tuple[str, int, int]]


@dataclass(frozen=True, slots=True)
class Derivation:
    """A version of a written table."""

    directory: Path
    version: int
    name: str
    """The name that the table is tracked under."""
    schema: str
    """Spark's JSON of the table's schema."""
    key: tuple[str, ...]
    """Columns that name the rows; none: their place in the parts' files does."""
    declared: bool
    """True if the user declared the key."""
    parts: tuple[Part, ...]
    fingerprint: tuple[FileState, ...] = ()
    """Of the table's files."""
    verified: Verified = field(default_factory=Verified, compare=False, repr=False)
    """The files that were held against their checksums since it was read."""

    @property
    def path(self) -> Path:
        """The file of this version."""
        return version_path(self.directory, self.version)

    def rows(self, part: Part) -> Path:
        """Return the folder of a part's rows, after comparing them with their checksums.

        Raises
        ------
        CaptureDamagedError
            When they are not the rows that were written.
        """
        return self._read(self.contents(part), part.folder)

    def filled(self, part: Part) -> Path:
        """Return the folder of the values that fill columns of a part; checked as rows are."""
        return self._read(self.contents(part), FILLED_FILES)

    def replacing(self, replaced: Replaced) -> Path:
        """Return the folder of the values of an overwritten partition; checked as rows are."""
        root = self.directory / "parts" / replaced.part
        folders = (FILLED_FILES,)
        files = Contents(root, replaced.stored, folders=folders, verified=self.verified)
        return self._read(files, FILLED_FILES)

    @staticmethod
    def _read(files: Contents, folder: str) -> Path:
        files.read(folder)
        return files.root / folder

    def contents(self, part: Part) -> Contents:
        """The files of a part, but for its capture."""
        stored = part.stored or ()
        filled = (FILLED_FILES,) if below(stored, FILLED_FILES) else ()
        root = self.directory / "parts" / part.name
        folders = (part.folder, *filled)
        return Contents(root, part.stored, folders=folders, verified=self.verified)

    def check(self) -> None:
        """Compare the names, sizes and numbers of rows of all files.

        Raises
        ------
        CaptureDamagedError
            When something is not as it was written.
        """
        for part in self.parts:
            self.contents(part).check()

    def capture(self, part: Part) -> Path:
        """Return the folder of a part's capture."""
        return self.directory / "parts" / part.name / CAPTURE

    def first_file(self, part: Part) -> int:
        """The number of the first file of a part."""
        before = self.parts[: self.parts.index(part)]
        return sum(len(earlier.files) for earlier in before)

    @property
    def announcement(self) -> Path:
        """The file that announces this version."""
        return self.directory / f"announced-{self.version:06}.json"

    def announce(self) -> None:
        """Say that a table is about to be written, which is of this version when it is."""
        self._unfinished().replace(self.announcement)

    def _unfinished(self) -> Path:
        """Write this version under a name that nothing reads."""
        fields = ("version", "name", "schema", "key", "declared", "fingerprint")
        document = {field: getattr(self, field) for field in fields}
        document["parts"] = [document_of(part) for part in self.parts]
        path = self.directory / f".{self.path.name}.{os.getpid()}"
        with path.open("wb") as file:
            file.write(seal(_KIND, FORMAT, document))
            file.flush()
            os.fsync(file.fileno())
        return path

    def write(self) -> None:
        """Write this version, which makes it known.

        Raises
        ------
        CaptureError
            When another process was faster.
        """
        unfinished = self._unfinished()
        try:
            os.link(unfinished, self.path)
        except FileExistsError as error:
            if read_version(self.path) == self:
                return  # another process has finished it
            raise CaptureError(
                f"{self.path} exists already: {self.name!r} was written by two processes at once.\n"
                "Write it again, by one."
            ) from error
        else:
            # By which it is noticed that the last version is missing.
            kept = self.directory / "parts" / self.parts[-1].name / self.path.name
            if kept.parent.is_dir():
                os.link(unfinished, kept)
        finally:
            unfinished.unlink()
        self.announcement.unlink(missing_ok=True)


def version_path(directory: Path, version: int) -> Path:
    """The file of a version."""
    return directory / f"v{version:06}.json"


def latest_version(directory: Path) -> int:
    """The number of a derivation's last version, 0 if there is none."""
    if not directory.is_dir():
        return 0
    matches = (_VERSION.fullmatch(path.name) for path in directory.iterdir())
    return max((int(match[1]) for match in matches if match), default=0)


def read_announced(directory: Path) -> Derivation | None:
    """Read the version whose table is being written, or was when a process died.

    Raises
    ------
    CaptureDamagedError
        When it is not what was written.
    """
    files = [path for path in directory.glob("announced-*.json") if _ANNOUNCED.fullmatch(path.name)]
    newest = max(files, default=None)
    if newest is None or int(newest.stem[-6:]) <= latest_version(directory):
        return None
    return read_version(newest)


def kept_versions(directory: Path) -> dict[Path, int]:
    """The numbers of versions by the files that parts have of them."""
    matches = {path: _VERSION.fullmatch(path.name) for path in directory.glob("parts/*/v*.json")}
    return {path: int(match[1]) for path, match in matches.items() if match}


def read_latest(directory: Path) -> Derivation:
    """Read the last version of a derivation, and compare what files there are.

    Raises
    ------
    CaptureDamagedError
        When the version or the files are not what was written.
    CaptureError
        When the directory has no version, or not one that can be read.
    """
    version = latest_version(directory)
    if not version:
        raise CaptureError(
            f"{directory} is not a derivation of a table: it has no version.\n"
            "One is written with the table by q.write, CREATE TABLE AS or INSERT; a write that was "
            "interrupted leaves none: write the table again."
        )
    missing = [number for number in kept_versions(directory).values() if number > version]
    if missing:
        lost = version_path(directory, max(missing))
        raise damaged(directory, [Fault(lost, "The version is missing.")])
    derivation = read_version(version_path(directory, version))
    derivation.check()
    return derivation


def read_version(path: Path, expected: str | None = None) -> Derivation:
    """Read a version of a derivation from its file.

    Parameters
    ----------
    expected
        The checksum of the file that is to be there; None: any.

    Raises
    ------
    CaptureDamagedError
        When it is not what was written.
    CaptureNotHereError
        When there is no such file.
    CaptureError
        When its format is of another version of lipstick.

    Warns
    -----
    UncheckedWarning
        When it is of format 1.
    """
    if path.is_symlink() or not (_VERSION.fullmatch(path.name) or _ANNOUNCED.fullmatch(path.name)):
        raise CaptureDamagedError(
            f"The derivation {path} is not a version of a table: it has another name, or is a link."
        )
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise CaptureNotHereError(
            f"The provenance of a written table is not here: {path}.\n"
            "Copy it there, or save the capture anew where it is, with bundle=True, and move that."
        ) from error
    except OSError as error:
        raise CaptureDamagedError(f"The derivation {path} cannot be read: {error}") from error
    if expected is not None and hashlib.sha256(data).hexdigest() != expected:
        raise altered(path)
    sealed = unseal(path, data, _KIND, FORMAT)
    try:
        check_shape(sealed.content, _Version)
        record = _derivation(path, sealed.content)
        schemas = [read_json(each) for each in (record.schema, *(p.schema for p in record.parts))]
        check_shape(schemas, list[SparkSchema], "its schemas")
    except (KeyError, ValueError) as error:
        raise ununderstood(path, error) from error
    check_types(path, schemas)
    if sealed.version == 1:
        warnings.warn(
            f"{path} is of format 1, which says nothing of the files of {record.name!r}: whether "
            "they are whole cannot be checked. Write the table anew to have that.",
            UncheckedWarning,
            stacklevel=3,
        )
    return record


def _derivation(path: Path, document: Mapping[str, Any]) -> Derivation:
    version = int(path.stem[-6:])
    if document.get("version", version) != version:
        raise ValueError(f"it is version {document['version']}, under another name")
    parts = tuple(part_of(part) for part in document["parts"])
    if len({part.name for part in parts}) < len(parts):
        raise ValueError("a part is there twice")
    return Derivation(
        directory=path.parent,
        version=version,
        name=document["name"],
        schema=document["schema"],
        key=tuple(document["key"]),
        declared=document["declared"],
        parts=parts,
        fingerprint=tuple((f[0], f[1], f[2]) for f in document["fingerprint"]),
    )


def shared_files(fingerprint: Sequence[FileState], other: Sequence[FileState]) -> bool:
    """Return True if two fingerprints have a file in common."""
    return not {state[0] for state in fingerprint}.isdisjoint(state[0] for state in other)
