"""A recording: the activity of a command, as vertices and edges."""

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
from lipstick.systems.record.versions import Versions, Vertex
from semiring.errors import LipstickError
from semiring.support.document import file_checksum

FORMAT = 1
HASHED = 1 << 30
"""Bytes of a file up to which it gets a checksum, by default."""


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of a file when the command had ended.

    Parameters
    ----------
    size, modified
        In bytes, and in nanoseconds since 1970.
    sha256
        None for files above the size limit of checksums.
    names
        Its paths: hard links have several.
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
        The host, the user, the command, and its exit code.
    started, seconds
        The start in seconds since 1970, and the duration in seconds.
    vertices, edges
        Versions, and pairs of their indices: from the used to the resulting version.
    states
        States of the last versions of existing files, by index among the vertices.
    read, written, connected
        Paths and addresses by process, identified by the index of its first version.
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
        """Write the recording to a file, to be stored together with recordings of other hosts."""
        document = asdict(self) | {"format": FORMAT}
        with gzip.open(path, "wt", encoding="utf-8", errors="surrogateescape") as file:
            json.dump(document, file)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CommandRecording:
        """Read a recording that `save` wrote.

        Raises
        ------
        LipstickError
            It is nothing of the kind, or of another version.
        """
        try:
            with gzip.open(path, "rt", encoding="utf-8", errors="surrogateescape") as file:
                document = json.load(file)
            if document.pop("format") != FORMAT:
                raise LipstickError(f"{path} was recorded by another version of lipstick.")
            return cls(**_typed(document))
        except (ValueError, KeyError, TypeError, EOFError, gzip.BadGzipFile) as error:
            raise LipstickError(f"{path} is not a recording: {error}.") from error


def record(
    command: Sequence[str], raw: str | os.PathLike[str] | None = None, hashed: int = HASHED
) -> CommandRecording:
    """Run a command, and record the reads, writes and messages of it and its children.

    Parameters
    ----------
    command
        The program and its arguments. It shares input and output with this process.
    raw
        A file for the tracer's own output, which includes pieces of the data read and written;
        None: it is removed.
    hashed
        Bytes of a file up to which it gets a checksum.

    Raises
    ------
    LipstickError
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
    """Return the versions in the trace of a command, given its working directory."""
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
    """Return a text in storable form: bytes of paths that are not text are escaped."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
