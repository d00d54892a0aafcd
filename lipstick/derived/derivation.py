"""What is kept of a written table: its rows, each with the tuple of a capture that it is.

Layout of a derivation::

    v000001.json              a version of the table: its columns, parts and fingerprint
    parts/8c5a.../rows/       the rows that one statement wrote, in Parquet
    parts/8c5a.../rows-31f.../  those that are left since others were overwritten, if they were
    parts/8c5a.../capture/    the capture of the query that made them
    parts/8c5a.../filled/     one row of what columns have that the query does not give, if any

A version is written last, in one step, and never changed: an INSERT adds a part and another
version, so that what was made of the older one still has it. Rows without a capture were in the
table before; they are rows of a base relation.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lipstick.errors import CaptureError
from lipstick.source import FileState

FORMAT = 1
ROWS = "rows"
CAPTURE = "capture"
FILLED_FILES = "filled"
TUPLE = "_lipstick_tuple"
"""The column of a part's rows with the identity of the captured tuple, a struct."""

_VERSION = re.compile(r"v(\d{6})\.json")


@dataclass(frozen=True, slots=True)
class Replaced:
    """That rows were overwritten which are in a partition.

    Also those that the query would have made: they are not among its hypothetical rows.
    """

    part: str
    """The name of the part that took their place, which is filled with the partition's values."""
    columns: tuple[str, ...]
    """The columns that tell the partition."""


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
    """Whether a query made them."""
    folder: str = ROWS
    """Where the rows are."""
    replaced: tuple[Replaced, ...] = ()
    """Which rows were overwritten since."""

    def gives(self, columns: Sequence[str]) -> bool:
        """Whether its query gives all of these columns."""
        return set(self.columns).issuperset(columns)

    def gives_any(self, columns: Sequence[str]) -> bool:
        """Whether its query gives one of these columns."""
        return not set(self.columns).isdisjoint(columns)


@dataclass(frozen=True, slots=True)
class Derivation:
    """A version of a written table."""

    directory: Path
    version: int
    name: str
    """What the table is tracked as."""
    schema: str
    """Spark's JSON of the table's schema."""
    key: tuple[str, ...]
    """Columns that name the rows; none: their place in the parts' files does."""
    declared: bool
    """Whether the user chose the key."""
    parts: tuple[Part, ...]
    fingerprint: tuple[FileState, ...] = ()
    """Of the table's files."""

    @property
    def path(self) -> Path:
        """The file of this version."""
        return version_path(self.directory, self.version)

    def rows(self, part: Part) -> Path:
        """Where the rows of a part are."""
        return self.directory / "parts" / part.name / part.folder

    def capture(self, part: Part) -> Path:
        """Where the capture of a part is."""
        return self.directory / "parts" / part.name / CAPTURE

    def filled(self, name: str) -> Path:
        """Where it is kept what columns of a part of some name are filled with."""
        return self.directory / "parts" / name / FILLED_FILES

    def first_file(self, part: Part) -> int:
        """The number of the first file of a part."""
        before = self.parts[: self.parts.index(part)]
        return sum(len(earlier.files) for earlier in before)

    def write(self) -> None:
        """Write this version, which makes it known.

        Raises
        ------
        CaptureError
            When another process was faster.
        """
        fields = ("name", "schema", "key", "declared", "fingerprint")
        document = {field: getattr(self, field) for field in fields}
        document |= {"format": FORMAT, "parts": [asdict(part) for part in self.parts]}
        unfinished = self.directory / f".{self.path.name}.{os.getpid()}"
        with unfinished.open("w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(unfinished, self.path)
        except FileExistsError as error:
            raise CaptureError(
                f"{self.path} exists already: {self.name!r} was written by two processes at once.\n"
                "Write it again, by one."
            ) from error
        finally:
            unfinished.unlink()


def version_path(directory: Path, version: int) -> Path:
    """Return the file of a version."""
    return directory / f"v{version:06}.json"


def latest_version(directory: Path) -> int:
    """Return the number of a derivation's last version, 0 if there is none."""
    if not directory.is_dir():
        return 0
    matches = (_VERSION.fullmatch(path.name) for path in directory.iterdir())
    return max((int(match[1]) for match in matches if match), default=0)


def read_latest(directory: Path) -> Derivation:
    """Read the last version of a derivation.

    Raises
    ------
    CaptureError
        When the directory has none, or not one that can be read.
    """
    version = latest_version(directory)
    if not version:
        raise CaptureError(
            f"{directory} is no derivation of a table: it has no version.\n"
            "One is written with the table by q.write, CREATE TABLE AS or INSERT; a write that was "
            "interrupted leaves none: write the table again."
        )
    return read_version(version_path(directory, version))


def read_version(path: Path) -> Derivation:
    """Read a version of a derivation from its file.

    Raises
    ------
    CaptureError
        When it cannot be read, or its format is of another version of lipstick.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CaptureError(f"The derivation {path} cannot be read: {error}") from error
    if document.get("format") != FORMAT:
        raise CaptureError(
            f"{path} has derivation format {document.get('format')!r}; this version of lipstick "
            f"reads format {FORMAT}."
        )
    return Derivation(
        directory=path.parent,
        version=int(path.stem[1:]),
        name=document["name"],
        schema=document["schema"],
        key=tuple(document["key"]),
        declared=document["declared"],
        parts=tuple(_part(part) for part in document["parts"]),
        fingerprint=tuple((f[0], f[1], f[2]) for f in document["fingerprint"]),
    )


def _part(document: dict[str, Any]) -> Part:
    return Part(
        name=document["name"],
        columns=tuple(document["columns"]),
        schema=document["schema"],
        files=tuple(document["files"]),
        captured=document["captured"],
        folder=document["folder"],
        replaced=tuple(Replaced(r["part"], tuple(r["columns"])) for r in document["replaced"]),
    )


def shared_files(one: Sequence[FileState], other: Sequence[FileState]) -> bool:
    """Whether two fingerprints have a file in common."""
    return not {state[0] for state in one}.isdisjoint(state[0] for state in other)
