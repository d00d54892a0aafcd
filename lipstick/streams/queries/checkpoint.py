"""The micro-batches of a streaming query: what they read and their watermarks, from its checkpoint.

Spark writes the offsets of a micro-batch before it runs and its commit afterwards, each once under
the number of the batch, also where the query was killed between and started again. What is read
here is therefore exactly once by construction, costs the running query nothing, and reads the
source not once more. Spark removes the offsets of batches long past; :mod:`.kept` keeps them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lipstick.streams.errors import StreamError
from lipstick.streams.queries.kept import numbered, read_kept
from lipstick.streams.queries.sources.replayed import Span

_NONE = "-"
_LISTED = "logOffset"
_VERSION = "v1"
_POLICY = "spark.sql.streaming.multipleWatermarkPolicy"


class CheckpointError(StreamError):
    """A checkpoint from which the micro-batches of a query cannot be told exactly."""


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file that a batch read.

    Parameters
    ----------
    uri
        As Spark writes it, here and in the column of a row's file.
    modified
        When it was last modified, as it was read: in milliseconds since 1970.
    """

    uri: str
    modified: int

    @property
    def path(self) -> str:
        """The URI without escapes, as readers take it."""
        return unquote(self.uri)


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """A micro-batch that Spark committed.

    Parameters
    ----------
    number
        Spark's number of the batch, from 0.
    files
        For each source of the query, in the order of the checkpoint, the files that the batch read.
    watermark
        The watermark of the batch in milliseconds since 1970: state older than it is emitted and
        evicted by the batch. 0 where there is none yet.
    late
        The watermark by which the first stateful operator drops late rows of the batch: that of
        the batch before.
    policy
        Which watermark is that of the query where there are several: ``min`` or ``max``.
    spans
        For each source that is none of files, the offsets that the batch read between; None: it
        read nothing.
    """

    number: int
    files: tuple[tuple[FileRead, ...], ...]
    watermark: int
    late: int
    policy: str = "min"
    spans: tuple[Span | None, ...] = ()

    @property
    def has_data(self) -> bool:
        """Whether the batch read anything."""
        return any(self.files) or any(span is not None for span in self.spans)


def read_checkpoint(checkpoint: str | os.PathLike[str]) -> list[MicroBatch]:
    """Return the committed micro-batches of a query, ascending.

    Parameters
    ----------
    checkpoint
        The folder of the query's option ``checkpointLocation``, on a local or mounted disk.

    Raises
    ------
    CheckpointError
        When there is no checkpoint, its first batches were removed, or a file of it is not
        understood.
    """
    folder = Path(checkpoint)
    offsets = {
        **read_kept(folder),
        **{
            number: file.read_text(encoding="utf-8")
            for number, file in numbered(folder / "offsets").items()
        },
    }
    if not offsets:
        raise CheckpointError(
            f"{folder} is no checkpoint of a streaming query that has begun.\n"
            "Give the folder of its option checkpointLocation."
        )
    if sorted(offsets) != list(range(len(offsets))):
        raise CheckpointError(
            f"{folder} no longer has the offsets of all batches: Spark removed the first.\n"
            "Start the query by the writeStream of its annotated query, which keeps them, or set "
            "spark.sql.streaming.minBatchesToRetain above the number of batches."
        )
    last = max(numbered(folder / "commits"), default=-1)
    logs: list[_SourceLog] = []
    result: list[MicroBatch] = []
    late = 0
    for number in range(len(offsets)):
        path = folder / "offsets" / str(number)
        metadata, *ends = _documents(offsets[number], path)
        if number == 0:
            logs = [_SourceLog(folder / "sources" / str(i)) for i in range(len(ends))]
        watermark = _watermark(metadata, path)
        if number <= last:
            read = [log.until(end) for log, end in zip(logs, ends, strict=True)]
            files = tuple(listed for listed, _ in read)
            spans = tuple(span for _, span in read)
            policy = str(metadata.get("conf", {}).get(_POLICY, "min"))
            result.append(MicroBatch(number, files, watermark, late, policy, spans))
        late = watermark
    return result


class _SourceLog:
    """What a source of a query has read, one micro-batch after the other.

    A file source numbers what it lists in a log of its own, and its offsets are these numbers;
    those of other sources are documents that the sources alone understand.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._end: Any = None
        self._files: dict[int, list[FileRead]] | None = None

    def until(self, end: Any) -> tuple[tuple[FileRead, ...], Span | None]:
        """Return the files that a batch read up to an offset, or the offsets that it read between.

        ``end`` None: the source has no offset yet.
        """
        before = self._end
        if end is None or end == before:
            return (), None
        self._end = end
        if not isinstance(end, dict) or set(end) != {_LISTED}:
            return (), Span(before, end, self._folder)
        if self._files is None:
            self._files = _source_files(self._folder)
        after = -1 if before is None else int(before[_LISTED])
        return _between(self._files, after, int(end[_LISTED]), self._folder), None


def _documents(text: str, file: Path) -> list[Any]:
    """Return the JSON documents of a file of a log; a source without an offset yet is None."""
    version, *lines = text.splitlines() or [""]
    if version != _VERSION:
        raise CheckpointError(
            f"{file} has version {version!r}; this version of lipstick reads {_VERSION!r}.\n"
            "Upgrade lipstick-spark."
        )
    try:
        return [None if line == _NONE else json.loads(line) for line in lines]
    except json.JSONDecodeError as error:
        raise CheckpointError(
            f"{file} cannot be read: {error}.\nRestore the checkpoint from a copy."
        ) from error


def _watermark(metadata: Any, file: Path) -> int:
    try:
        return int(metadata["batchWatermarkMs"])
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{file} says no watermark.\nRestore the checkpoint from a copy."
        ) from error


def _source_files(folder: Path) -> dict[int, list[FileRead]]:
    """Return the files that a source listed, by the number in its log."""
    result: dict[int, dict[FileRead, None]] = {}
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        if file.name.removesuffix(".compact").isdigit():
            for entry in _documents(file.read_text(encoding="utf-8"), file):
                # A compacted file repeats the entries of the files before it.
                read = FileRead(str(entry["path"]), int(entry["timestamp"]))
                result.setdefault(int(entry["batchId"]), {})[read] = None
    return {number: list(files) for number, files in result.items()}


def _between(
    files: dict[int, list[FileRead]], after: int, until: int, folder: Path
) -> tuple[FileRead, ...]:
    numbers: Sequence[int] = range(after + 1, until + 1)
    missing = [number for number in numbers if number not in files]
    if missing:
        raise CheckpointError(
            f"{folder} does not say which files its source listed under {missing[0]}.\n"
            "Restore the checkpoint from a copy."
        )
    return tuple(file for number in numbers for file in files[number])
