"""Records of a query that Spark does not retain, beside its checkpoint in the folder ``_lipstick``.

Spark removes the offsets of all but the last batches (``spark.sql.streaming.minBatchesToRetain``,
100 by default). They are copied to ``offsets.jsonl``, one line per batch, while the query runs,
with the run that wrote them. ``files.jsonl`` has length and checksum of each file that was read. A
truncated line is written again, and a batch is identified by its number: each is recorded once,
whatever process is killed.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lipstick.tracking.states import local_path

FOLDER = Path("_lipstick")
OFFSETS, FILES = FOLDER / "offsets.jsonl", FOLDER / "files.jsonl"
_PAUSE = 0.5
"""Seconds between two checks of the checkpoint: Spark retains the offsets of many batches."""
_PART = 1 << 16
"""Number of bytes at the head and at the tail of a file that its checksum covers."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The copy of a checkpoint's offsets.

    Parameters
    ----------
    offsets
        The contents of the files of offsets, by the number of the batch.
    runs
        By batch the number of the run that planned it, where that was seen.
    damaged
        The lines that cannot be read, by their numbers from 1.
    """

    offsets: Mapping[int, str] = field(default_factory=dict)
    runs: Mapping[int, int] = field(default_factory=dict)
    damaged: tuple[int, ...] = ()


def read_lines(file: Path) -> tuple[list[dict[str, Any]], tuple[int, ...]]:
    """Return the entries of a file of JSON lines, and the numbers of malformed lines.

    A truncated last line is ignored.
    """
    if not file.exists():
        return [], ()
    entries, damaged = [], []
    for number, line in enumerate(file.read_bytes().split(b"\n")[:-1], start=1):
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if isinstance(entry, dict):
            entries.append(entry)
        else:
            damaged.append(number)
    return entries, tuple(damaged)


def append_lines(file: Path, entries: Iterable[Mapping[str, Any]]) -> None:
    """Append entries to a file of JSON lines, replacing a truncated last line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("r+b" if file.exists() else "w+b") as out:
        whole = out.read().rfind(b"\n") + 1
        out.seek(whole)
        out.truncate()
        for entry in entries:
            out.write(json.dumps(entry).encode() + b"\n")
        out.flush()
        os.fsync(out.fileno())


def read_kept(checkpoint: Path) -> Kept:
    """Return the copied offsets of a checkpoint."""
    entries, damaged = read_lines(checkpoint / OFFSETS)
    offsets, runs = {}, {}
    for entry in entries:
        number = int(entry["batch"])
        offsets[number] = str(entry["offsets"])
        if entry.get("run") is not None:
            runs[number] = int(entry["run"])
    return Kept(offsets, runs, damaged)


def numbered(folder: Path) -> dict[int, Path]:
    """Return the files of one of Spark's logs by number."""
    if not folder.is_dir():
        return {}
    return {int(file.name): file for file in folder.iterdir() if file.name.isdigit()}


def keep(checkpoint: Path, known: Set[int], run: int | None = None) -> set[int]:
    """Copy the offsets of batches that are not copied yet; return the batches' numbers."""
    new = {n: file for n, file in numbered(checkpoint / "offsets").items() if n not in known}
    if new:
        entries = []
        for number in sorted(new):
            entry: dict[str, Any] = {"batch": number}
            entry["offsets"] = new[number].read_text(encoding="utf-8")
            entries.append(entry if run is None else {**entry, "run": run})
        append_lines(checkpoint / OFFSETS, entries)
    return set(new)


def checksum(uri: str) -> tuple[int, str] | None:
    """Return length and checksum (head and tail) of a file, or None if it cannot be read.

    The tail includes the footer of a Parquet file, with the sizes and statistics of its columns.
    """
    path = local_path(uri)
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            length = os.fstat(file.fileno()).st_size
            parts = file.read(_PART)
            if length > _PART:
                file.seek(max(_PART, length - _PART))
                parts += file.read(_PART)
    except OSError:
        return None
    return length, hashlib.blake2b(parts, digest_size=8).hexdigest()


def read_checksums(checkpoint: Path) -> dict[str, tuple[int, str]]:
    """Return the lengths and checksums of files when they were read, by URI."""
    entries, _ = read_lines(checkpoint / FILES)
    return {str(e["uri"]): (int(e["length"]), str(e["checksum"])) for e in entries}


class Keeper:
    """A thread that records a query's offsets and files while it runs.

    Parameters
    ----------
    checkpoint
        The folder of the query's checkpoint.
    active
        Whether the query still runs.
    run
        The number of its run.
    watched
        Called after each look at the checkpoint.
    """

    def __init__(
        self,
        checkpoint: Path,
        active: Callable[[], bool],
        run: int | None = None,
        watched: Callable[[], None] = lambda: None,
    ) -> None:
        self._checkpoint = checkpoint
        self._active = active
        self._run = run
        self._watched = watched
        self._known = set(read_kept(checkpoint).offsets)
        self._files = set(read_checksums(checkpoint))
        self._logs: set[Path] = set()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="lipstick-offsets", daemon=True)
        self._thread.start()

    def catch_up(self) -> None:
        """Record all that is missing."""
        with self._lock:
            self._known |= keep(self._checkpoint, self._known, self._run)
            self._keep_files()
            self._watched()

    def stop(self) -> None:
        """Record all that is missing, and end the thread."""
        self._stopped.set()
        self._thread.join()
        self.catch_up()

    def _loop(self) -> None:
        while not self._stopped.wait(_PAUSE) and self._active():
            self.catch_up()
        self.catch_up()

    def _keep_files(self) -> None:
        """Record length and checksum of the files that sources have listed since the last time."""
        logs = set(self._checkpoint.glob("sources/*/[0-9]*")) - self._logs
        entries = []
        for log in sorted(logs):
            try:
                lines = log.read_text(encoding="utf-8").splitlines()[1:]
            except OSError:  # Spark compacted it meanwhile
                continue
            for line in lines:
                if '"path"' not in line:
                    continue
                uri = str(json.loads(line)["path"])
                if uri in self._files:
                    continue
                self._files.add(uri)
                known = checksum(uri)
                if known is not None:
                    entries.append({"uri": uri, "length": known[0], "checksum": known[1]})
        if entries:
            append_lines(self._checkpoint / FILES, entries)
        self._logs |= logs
