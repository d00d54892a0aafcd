"""The record of a run: the script's text, its reads and writes in order, and versions of files.

Layout of a record::

    run.json                 the events, written last
    script.py                the text that was run
    captures/<event>/        annotations of a Spark frame that was written or collected
    copies/<event>/*.parquet rows of a source without stable places, with their places
    frames/<event>.parquet   the rows of a frame that was collected to pandas
    links/<event>-<source>.npz  codes of rows: rows of equal codes belong together
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from lipstick.systems.scripts.errors import ScriptError

FORMAT = 1
_NAME = "run.json"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file as it was when the script had read or written it.

    Parameters
    ----------
    size
        In bytes; -1: it is not a file of this machine.
    sha256
        Of its bytes; empty if it is not a file of this machine.
    """

    path: str
    size: int
    sha256: str


class Rule(StrEnum):
    """The rules by which rows of an output are linked to rows of a source."""

    ANNOTATED = "annotated"
    """By the annotations of a Spark frame: exact."""
    INDEX = "index"
    """Inferred: the index of the pandas frame is still that of the source."""
    VALUES = "values"
    """Inferred: columns of one name have the same values."""
    ORDER = "order"
    """Inferred: as many rows in the same order (Huq et al., section V-B, ratio 1:1)."""
    DECIDES = "decides"
    """Not known: a value that Python had of these rows is used by what made the output's rows."""
    ALL = "all"
    """Not known: each output row may come from all rows of the source."""


@dataclass(frozen=True, slots=True)
class EventLink:
    """A link from the rows of an event to the rows of an earlier one."""

    source: int
    rule: Rule
    why: str


@dataclass(frozen=True, slots=True)
class Event:
    """A read, write or hand-over of rows by a script.

    Parameters
    ----------
    number
        From 1, in the order of time.
    kind
        ``read``, ``write``, ``collect`` (rows of Spark come to Python) or ``create`` (they go).
    library
        ``spark``, ``pandas``, or ``python`` for files that were opened otherwise.
    name
        The path or table as the script has it.
    places
        The lines that were running, as (file, line), the innermost first.
    rows
        How many; None: not known.
    capture
        Whether its annotations are in ``captures/<number>``.
    relations
        By name of a relation in the capture the event by which the rows came to Spark.
    inferred
        Why its rows are not followed exactly; None: they are.
    """

    number: int
    kind: str
    library: str
    name: str
    places: tuple[tuple[str, int], ...]
    files: tuple[FileVersion, ...] = ()
    rows: int | None = None
    columns: tuple[str, ...] = ()
    capture: bool = False
    relations: dict[str, int] = field(default_factory=dict)
    links: tuple[EventLink, ...] = ()
    inferred: str | None = None

    @property
    def where(self) -> str:
        """The innermost line, ``demand.py:12``."""
        return "?" if not self.places else f"{self.places[0][0]}:{self.places[0][1]}"


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A script's run.

    Parameters
    ----------
    directory
        Where the record is.
    script
        The path of the script.
    failed
        What the script raised; None: it came to its end.
    """

    directory: Path
    script: str
    sha256: str
    arguments: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    order: str = "position"
    events: tuple[Event, ...] = ()
    failed: str | None = None

    def event(self, number: int) -> Event:
        """The event of a number."""
        return self.events[number - 1]

    def write(self) -> None:
        """Write ``run.json``, by which the directory is a record."""
        document = asdict(self) | {"format": FORMAT, "directory": None}
        unfinished = self.directory / f"{_NAME}.unfinished"
        unfinished.write_text(json.dumps(document, indent=1), encoding="utf-8")
        unfinished.rename(self.directory / _NAME)


def open_run(directory: str | Path) -> RecordedRun:
    """Open the record of a run.

    Raises
    ------
    ScriptError
        A directory that is none, or of a later version.
    """
    path = Path(directory)
    try:
        document = json.loads((path / _NAME).read_text(encoding="utf-8"))
        if document.pop("format") > FORMAT:
            raise ScriptError(f"{path} was written by a later version of lipstick: update it.")
        events = tuple(_event(item) for item in document.pop("events"))
        document["directory"] = path
        for name in ("arguments", "facts"):
            document[name] = tuple(document[name])
        return RecordedRun(**document, events=events)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ScriptError(
            f"{path} is not the record of a run: {error}.\n"
            "Give the directory that 'lipstick script run' has written."
        ) from error


def _event(item: dict[str, Any]) -> Event:
    item["places"] = tuple((file, line) for file, line in item["places"])
    item["files"] = tuple(FileVersion(**file) for file in item["files"])
    item["links"] = tuple(
        EventLink(link["source"], Rule(link["rule"]), link["why"]) for link in item["links"]
    )
    item["columns"] = tuple(item["columns"])
    return Event(**item)


def local_path(uri: str) -> str:
    """Return the path of a file of this machine that is named by a path or a URI."""
    parsed = urlparse(uri)
    return unquote(parsed.path) if parsed.scheme == "file" else uri


def version_of(path: str) -> FileVersion:
    """The version of a file; one that is not here has neither size nor checksum."""
    local = Path(path)
    try:
        with local.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
            return FileVersion(str(local.absolute()), file.tell(), digest.hexdigest())
    except OSError:
        return FileVersion(path, -1, "")


def versions_of(path: str) -> tuple[FileVersion, ...]:
    """The versions of a file, or of the data files of a folder, in the order of their names."""
    local = Path(path)
    if not local.is_dir():
        return (version_of(path),)
    files = (item for item in sorted(local.rglob("*")) if item.is_file())
    shown = [f for f in files if not any(p[0] in "._" for p in f.relative_to(local).parts)]
    return tuple(version_of(str(file)) for file in shown)
