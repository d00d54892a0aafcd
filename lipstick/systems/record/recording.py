"""A recording: what a command did, as vertices and edges."""

from __future__ import annotations

import gzip
import json
import os
import socket
import stat
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lipstick.systems.record.call_events import calls, events, traced
from lipstick.systems.record.errors import RecordError
from lipstick.systems.record.versions import Versions, Vertex
from semiring.document import file_checksum

FORMAT = 1
HASHED = 1 << 30
"""Bytes of a file up to which it gets a checksum, by default."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it was when the command had ended.

    Parameters
    ----------
    size, modified
        In bytes, and in nanoseconds since 1970.
    sha256
        None: it is larger than files that are read for that.
    names
        Its paths: hard links are several.
    """

    size: int
    modified: int
    sha256: str | None
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommandRecording:
    """The record of a command and its children.

    Parameters
    ----------
    host, user, command, code
        Where, by whom, what ran, and its exit code.
    started, seconds
        Seconds since 1970, and how long it took.
    vertices, edges
        Versions, and pairs of places among them: from what was used to what was made.
    states
        Of the last versions of files that are still there, by place among the vertices.
    read, written, connected
        Paths and addresses by process: the place of its first version.
    """

    host: str
    user: int
    command: tuple[str, ...]
    code: int
    started: float
    seconds: float
    vertices: tuple[Vertex, ...]
    edges: tuple[tuple[int, int], ...]
    states: dict[int, FileState]
    read: dict[int, tuple[str, ...]]
    written: dict[int, tuple[str, ...]]
    connected: dict[int, tuple[str, ...]]

    @property
    def processes(self) -> int:
        """The number of processes."""
        return sum(each.kind == "process" and each.version == 1 for each in self.vertices)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, to be stored together with recordings of other hosts."""
        document = asdict(self) | {"format": FORMAT}
        with gzip.open(path, "wt", encoding="utf-8", errors="surrogateescape") as file:
            json.dump(document, file)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CommandRecording:
        """Read what `save` wrote.

        Raises
        ------
        RecordError
            It is nothing of the kind, or of another version.
        """
        try:
            with gzip.open(path, "rt", encoding="utf-8", errors="surrogateescape") as file:
                document = json.load(file)
            if document.pop("format") != FORMAT:
                raise RecordError(f"{path} was recorded by another version of lipstick.")
            return cls(**_typed(document))
        except (ValueError, KeyError, TypeError, EOFError, gzip.BadGzipFile) as error:
            raise RecordError(f"{path} is not a recording: {error}.") from error


def record(
    command: Sequence[str], raw: str | os.PathLike[str] | None = None, hashed: int = HASHED
) -> CommandRecording:
    """Run a command, and note what it and its children read, write and send.

    Parameters
    ----------
    command
        The program and its arguments. It shares input and output with this process.
    raw
        Where the tracer's own output is left; None: it is removed. Pieces of the data that is read
        and written are in it.
    hashed
        Bytes of a file up to which it gets a checksum.

    Raises
    ------
    RecordError
        When there is no tracer, or no such command.
    """
    with tempfile.TemporaryDirectory(prefix="lipstick-record-") as folder:
        path = Path(folder) / "trace" if raw is None else Path(raw)
        started = time.time()
        code = traced(command, path)
        seconds = time.time() - started
        with path.open(encoding="latin-1") as lines:
            versions = read_trace(lines, str(Path.cwd()))
    return CommandRecording(
        host=socket.gethostname(),
        user=os.getuid(),
        command=tuple(command),
        code=code,
        started=started,
        seconds=seconds,
        vertices=tuple(versions.vertices),
        edges=tuple(versions.edges),
        states=_states(versions, hashed),
        read=_sorted(versions.read),
        written=_sorted(versions.written),
        connected=_sorted(versions.connected),
    )


def read_trace(lines: Iterable[str], folder: str) -> Versions:
    """Return the versions in the trace of a command that began in a folder."""
    return Versions().add(events(calls(lines), folder))


def _sorted(paths: dict[int, set[str]]) -> dict[int, tuple[str, ...]]:
    return {process: tuple(sorted(each)) for process, each in sorted(paths.items())}


def _states(versions: Versions, hashed: int) -> dict[int, FileState]:
    states: dict[int, FileState] = {}
    for path, version in versions.last().items():
        try:
            status = Path(path).stat()
            if version in states:
                states[version] = replace(states[version], names=(*states[version].names, path))
            elif stat.S_ISREG(status.st_mode):
                known = file_checksum(Path(path)) if status.st_size <= hashed else None
                states[version] = FileState(status.st_size, status.st_mtime_ns, known, (path,))
        except OSError:
            continue  # gone, or not to be read by who records
    return states


def _typed(document: dict[str, Any]) -> dict[str, Any]:
    def by_number(each: dict[str, Any]) -> dict[int, Any]:
        return {int(number): value for number, value in each.items()}

    paths = ("read", "written", "connected")
    return document | {
        "command": tuple(document["command"]),
        "vertices": tuple(Vertex(**each) for each in document["vertices"]),
        "edges": tuple((int(source), int(target)) for source, target in document["edges"]),
        "states": {
            number: FileState(**each | {"names": tuple(each["names"])})
            for number, each in by_number(document["states"]).items()
        },
        **{n: {p: tuple(e) for p, e in by_number(document[n]).items()} for n in paths},
    }


def storable(text: str) -> str:
    """Return a text as it can be stored: bytes of paths that are not text are escaped."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
