"""Records of streams: the recorded events of a query's batches, and their files.

A record ``stream/<query>`` has the topology, ``stream/<query>/batch/<number>`` the parts of one
batch, and ``stream/<query>/state`` the file of the state to resume from. No edge is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NotRequired, TypedDict

from graphquery.errors import StoreDamagedError
from graphquery.store.commit import FileEntry, Json
from semiring.support.document import check_shape

STREAM = "stream/"
VERSION = 1
_BATCH = "batch"
_STATE = "state"
_FILES = {"file": "offset", "content": "content_offset"}
"""The fields of a part that name a file, and the fields with the first row in it."""
BLOCK = 1 << 15
"""Number of events of a part, and of rows of a row group: the unit of reading."""


@dataclass(frozen=True, slots=True)
class BatchPart:
    """The events of one stream in one batch: consecutive rows of a file.

    Parameters
    ----------
    stream
        The name of the stream.
    file, offset, rows
        The file, the first row and the number of rows.
    first_t, last_t, first_trigger, last_trigger, first_n, last_n
        The least and greatest time, trigger time and number of the events.
    d
        The common delay of all events; None: delays are a column.
    content, content_offset
        The file of the content, and its first row; None: content was not recorded.
    first_code, last_code
        The least and greatest code of the stream's key; None without a key.
    partition
        The partition of the keys, which has its own codes, if the query's keys are partitioned.
    """

    stream: str
    file: str
    offset: int
    rows: int
    first_t: int
    last_t: int
    first_trigger: int
    last_trigger: int
    first_n: int
    last_n: int
    d: int | None = None
    content: str | None = None
    content_offset: int | None = None
    first_code: int | None = None
    last_code: int | None = None
    partition: int | None = None


def query_record(query: str) -> str:
    """Return the name of the record of a query's topology."""
    return f"{STREAM}{query}"


def state_record(query: str) -> str:
    """Return the name of the record of a query's state."""
    return f"{STREAM}{query}/{_STATE}"


def batch_record(query: str, number: int) -> str:
    """Return the name of a batch's record; it is unique, so that a batch is stored once."""
    return f"{STREAM}{query}/{_BATCH}/{number:012d}"


def batches(records: Mapping[str, Json], query: str) -> dict[int, Json]:
    """Return the documents of a query's batches by number, ascending."""
    prefix = f"{STREAM}{query}/{_BATCH}/"
    documents = {
        int(name.removeprefix(prefix)): document
        for name, document in records.items()
        if name.startswith(prefix)
    }
    return dict(sorted(documents.items()))


def queries(records: Mapping[str, Json]) -> list[str]:
    """Return the names of all queries recorded in a store."""
    return [
        name.removeprefix(STREAM)
        for name in records
        if name.startswith(STREAM) and "/" not in name.removeprefix(STREAM)
    ]


class _Stream(TypedDict):
    kind: str
    parameters: dict[str, Any]
    inputs: list[str]
    keyed: bool
    module: str
    twin: str | None


class QueryRecord(TypedDict):
    """The record of a query."""

    format: int
    topology: dict[str, _Stream]
    order: list[str]
    fingerprint: str
    full: bool
    partitions: int | None


class BatchRecord(TypedDict):
    """The record of a batch; its numbers of disorder are by stream."""

    format: int
    parts: list[BatchPart]
    disorder: dict[str, dict[str, int]]


class StateRecord(TypedDict):
    """The record of a query's state; its writer may add further fields."""

    format: int
    next: int
    origin: str | None
    offsets: str | None
    ended: bool
    file: NotRequired[str]
    files: NotRequired[list[str]]
    frontiers: NotRequired[Any]


def checked(document: Json, what: str, shape: Any) -> Json:
    """Return a document, checked against the present version and the shape of a record.

    Raises
    ------
    StoreDamagedError
        The document is malformed; `what` names it.
    """
    if not isinstance(document, dict) or document.get("format") != VERSION:
        version = document.get("format") if isinstance(document, dict) else None
        raise StoreDamagedError(
            f"{what} has version {version}; this version of lipstick reads {VERSION}.\n"
            "Upgrade lipstick-spark."
        )
    try:
        check_shape(document, shape)
    except ValueError as error:
        raise StoreDamagedError(f"{what} cannot be understood: {error}.") from error
    return document


def parts(document: Json, what: str) -> list[BatchPart]:
    """Return the parts of a batch.

    Raises
    ------
    StoreDamagedError
        They are malformed; `what` names the record.
    """
    try:
        return [BatchPart(**part) for part in checked(document, what, BatchRecord)["parts"]]
    except (KeyError, TypeError) as error:
        raise StoreDamagedError(f"{what} cannot be understood: {error}.") from error


def _shape_of(name: str) -> Any:
    return StateRecord if name.endswith(f"/{_STATE}") else QueryRecord


def part_document(part: BatchPart) -> Json:
    """Return a part as JSON."""
    return {name: value for name, value in asdict(part).items() if value is not None}


def files_of(name: str, document: Json) -> Iterator[str]:
    """Yield the files that a record of a stream names."""
    if not name.startswith(STREAM) or not isinstance(document, dict):
        return
    for part in document.get("parts", ()):
        yield part["file"]
        if part.get("content") is not None:
            yield part["content"]
    yield from state_files(document)


def state_files(document: Json) -> list[str]:
    """Return the files that the record of a query's state names."""
    file = document.get("file")
    return [*([] if file is None else [file]), *document.get("files", ())]


def stream_files(records: Mapping[str, Json]) -> set[str]:
    """Return the files that records of streams name."""
    return {file for name, document in records.items() for file in files_of(name, document)}


def moved(document: Json, places: Mapping[str, tuple[str, int]]) -> Json:
    """Return a record with its rows at their new files and offsets, or itself if none was moved."""
    if not any(part.get(name) in places for part in document.get("parts", ()) for name in _FILES):
        return document
    result = []
    for part in document["parts"]:
        changed = dict(part)
        for name, offset in _FILES.items():
            if part.get(name) in places:
                changed[name], shift = places[part[name]]
                changed[offset] = part[offset] + shift
        result.append(changed)
    return document | {"parts": result}


def faults(name: str, document: Json, files: Mapping[str, FileEntry]) -> Iterator[str]:
    """Yield the faults of a record of a stream, in sentences.

    Parameters
    ----------
    files
        The store's files in use.
    """
    if not name.startswith(STREAM):
        return
    try:
        if f"/{_BATCH}/" not in name:
            for file in state_files(checked(document, f"Record {name}", _shape_of(name))):
                if file not in files:
                    yield f"Its file {file} is not in use."
            return
        parts_of_batch = parts(document, f"Record {name}")
    except StoreDamagedError as error:
        yield str(error)
        return
    for part in parts_of_batch:
        yield from _misplaced(part, part.file, part.offset, files)
        if part.content is not None:
            yield from _misplaced(part, part.content, part.content_offset or 0, files)


def _misplaced(
    part: BatchPart, file: str, offset: int, files: Mapping[str, FileEntry]
) -> Iterator[str]:
    entry = files.get(file)
    if entry is None:
        yield f"The file {file} of stream {part.stream} is not in use."
    elif offset < 0 or offset + part.rows > entry.rows:
        yield (
            f"Events of stream {part.stream} are rows {offset} to {offset + part.rows} of {file}, "
            f"which has {entry.rows}."
        )


__all__ = [
    "BLOCK",
    "STREAM",
    "VERSION",
    "BatchPart",
    "QueryRecord",
    "StateRecord",
    "batch_record",
    "batches",
    "checked",
    "faults",
    "files_of",
    "moved",
    "part_document",
    "parts",
    "queries",
    "query_record",
    "state_files",
    "state_record",
    "stream_files",
]
