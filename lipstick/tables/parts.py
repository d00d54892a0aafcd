"""The parts of a written table: rows that one statement wrote, and how a version names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lipstick.capture.described import StoredFile, is_inside, stored_files

ROWS = "rows"
FILLED_FILES = "filled"


@dataclass(frozen=True, slots=True)
class Replaced:
    """That rows were overwritten which are in a partition.

    Also those that the query would have made: they are not among its hypothetical rows.
    """

    part: str
    """The name of the part that took their place, which is filled with the partition's values."""
    columns: tuple[str, ...]
    """The columns that tell the partition."""
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
    """Whether a query made them."""
    folder: str = ROWS
    """Where the rows are."""
    replaced: tuple[Replaced, ...] = ()
    """Which rows were overwritten since."""
    stored: tuple[StoredFile, ...] | None = None
    """The files of its rows, and of what it is filled with, below its folder; None: not known."""
    manifest: str | None = None
    """The checksum of the manifest of its capture; None: not known."""

    def replacing(self, columns: Sequence[str]) -> Replaced:
        """Return that rows of a partition were overwritten by this part."""
        return Replaced(self.name, tuple(columns), below(self.stored, FILLED_FILES))

    def gives(self, columns: Sequence[str]) -> bool:
        """Tell whether its query gives all of these columns."""
        return set(self.columns).issuperset(columns)

    def gives_any(self, columns: Sequence[str]) -> bool:
        """Tell whether its query gives one of these columns."""
        return not set(self.columns).isdisjoint(columns)


def part_of(document: Mapping[str, Any]) -> Part:
    """Return the part that a document says.

    Raises
    ------
    AttributeError, KeyError, TypeError, ValueError
        When it says none, or names that lead elsewhere.
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
