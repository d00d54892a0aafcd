"""The micro-batches of a streaming query: their inputs and watermarks, from its checkpoint.

Spark writes the offsets of a micro-batch before it runs and its commit afterwards, each once under
the number of the batch, even if the query is killed in between and restarted. Reading them is
therefore exactly once by construction, costs the running query nothing, and does not read the
source again. Spark removes the offsets of old batches; :mod:`.kept` copies them.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lipstick.systems.errors import StreamError
from lipstick.systems.streaming.errors import DamagedRecordWarning
from lipstick.systems.streaming.kept import OFFSETS, Kept, numbered, read_checksums, read_kept
from lipstick.systems.streaming.sources.replayed import OffsetSpan
from lipstick.systems.streaming.starts import Start, read_starts

_NONE = "-"
_LISTED = "logOffset"
_VERSION = "v1"
_POLICY = "spark.sql.streaming.multipleWatermarkPolicy"


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file that a batch read.

    Parameters
    ----------
    uri
        The URI as Spark writes it, here and in the column with a row's file.
    modified
        The last modification before it was read, in milliseconds since 1970.
    state
        Its length, and the checksum of its head and tail; None if they were not recorded.
    """

    uri: str
    modified: int
    state: tuple[int, str] | None = None

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
        evicted by the batch. 0 if there is none yet.
    late
        The watermark by which the first stateful operator drops late rows of the batch: the
        watermark of the batch before.
    policy
        The function that combines several watermarks: ``min`` or ``max``.
    spans
        For each source that is not files, the offsets between which the batch read; None: it read
        nothing.
    restarted
        Whether a run of the query began with the batch; Spark then knew the watermark of the
        query, but no longer the watermarks of its streams. None: unknown.
    planned
        Whether the run before had planned the batch: it followed the one before at once.
    """

    number: int
    files: tuple[tuple[FileRead, ...], ...]
    watermark: int
    late: int
    policy: str = "min"
    spans: tuple[OffsetSpan | None, ...] = ()
    restarted: bool | None = None
    planned: bool = False

    @property
    def has_data(self) -> bool:
        """True if the batch read any data."""
        return any(self.files) or any(span is not None for span in self.spans)


def read_checkpoint(checkpoint: str | os.PathLike[str]) -> list[MicroBatch]:
    """Return the committed micro-batches of a query, ascending.

    Parameters
    ----------
    checkpoint
        The folder of the query's option ``checkpointLocation``, on a local or mounted disk.

    Raises
    ------
    StreamError
        When there is no checkpoint, its first batches were removed, or a file of it is not
        understood.
    """
    folder = Path(checkpoint)
    kept = read_kept(folder)
    written = numbered(folder / "offsets").items()
    offsets = dict(kept.offsets) | {n: file.read_text(encoding="utf-8") for n, file in written}
    if not offsets:
        raise StreamError(
            f"{folder} is not a checkpoint of a streaming query that has begun.\n"
            "Give the folder of its option checkpointLocation."
        )
    if sorted(offsets) != list(range(len(offsets))):
        raise StreamError(_missing(folder, kept))
    if kept.damaged:
        warnings.warn(
            f"{_damaged(folder, kept)} cannot be read. The batches are taken from Spark's own "
            "offsets, which are complete.",
            DamagedRecordWarning,
            stacklevel=2,
        )
    documents = {n: _documents(offsets[n], folder / "offsets" / str(n)) for n in offsets}
    last = _last_commit(folder, max(offsets))
    starts = {start.batch: start for start in read_starts(folder).starts}
    checksums = read_checksums(folder)
    logs: list[_SourceLog] = []
    result: list[MicroBatch] = []
    late = 0
    for number in range(len(offsets)):
        path = folder / "offsets" / str(number)
        metadata, *ends = documents[number]
        if number == 0:
            places = _places(folder, [documents[n][1:] for n in range(len(offsets))])
            sources = (folder / "sources" / str(place) for place in places)
            logs = [_SourceLog(source, checksums) for source in sources]
        watermark = _watermark(metadata, path)
        if number <= last:
            read = [log.until(end) for log, end in zip(logs, ends, strict=True)]
            files = tuple(listed for listed, _ in read)
            spans = tuple(span for _, span in read)
            policy = str(metadata.get("conf", {}).get(_POLICY, "min"))
            restarted = _restarted(number, starts, kept.runs)
            planned = number in starts and starts[number].planned
            known = (watermark, late, policy, spans, restarted, planned)
            result.append(MicroBatch(number, files, *known))
        late = watermark
    return result


def _places(folder: Path, ends: Sequence[Sequence[Any]]) -> list[int]:
    """Return the numbers of the sources' logs, in the order of the offsets.

    A query has one offset per source that it reads, and a source of files that it reads twice has
    one log, numbered where it is read first. Its offsets are the same in every batch.
    """
    count = len(ends[0])
    logs = len(numbered(folder / "sources"))
    listed = (
        end is None or (isinstance(end, dict) and set(end) == {_LISTED}) for e in ends for end in e
    )
    if logs >= count or not logs or not all(listed):
        return list(range(count))
    columns = [json.dumps(column) for column in zip(*ends, strict=True)]
    places: list[int] = []
    spare = count - logs
    for number, column in enumerate(columns):
        earlier = columns.index(column)
        if earlier < number and spare:
            spare -= 1
            places.append(places[earlier])
        else:
            places.append(max(places, default=-1) + 1)
    # Of more sources with the same offsets only Spark knows which is read twice.
    if spare or (len(set(columns)) > 1 and logs != len(set(columns))):
        raise StreamError(
            f"{folder} has {logs} logs of {count} sources, and does not show which of them are "
            "read twice.\nWrite the query so that it reads each stream once."
        )
    return places


def _restarted(number: int, starts: Mapping[int, Start], runs: Mapping[int, int]) -> bool | None:
    """Return True if a run began with a batch, False if the previous run went on, None if
    unknown.
    """
    if number in starts:
        return True
    run = runs.get(number)
    return False if run is not None and run == runs.get(number - 1) else None


def _missing(folder: Path, kept: Kept) -> str:
    if kept.damaged:
        return (
            f"{folder} no longer has the offsets of all batches: {_damaged(folder, kept)} cannot "
            "be read, and Spark removed its own.\nRestore that file from a copy."
        )
    return (
        f"{folder} no longer has the offsets of all batches: Spark removed the first.\n"
        "Start the query by the writeStream of its annotated query, which keeps them, or set "
        "spark.sql.streaming.minBatchesToRetain above the number of batches."
    )


def _damaged(folder: Path, kept: Kept) -> str:
    lines = ", ".join(map(str, kept.damaged[:3]))
    more = " and others" if len(kept.damaged) > 3 else ""
    return f"{folder / OFFSETS}, line {lines}{more},"


def _last_commit(folder: Path, planned: int) -> int:
    """Return the number of the last committed batch, or -1.

    Spark plans no batch before the previous one is committed, and never removes the last commits.

    Raises
    ------
    StreamError
        When commits are missing.
    """
    commits = sorted(numbered(folder / "commits"))
    last = commits[-1] if commits else -1
    gaps = [n for n in range(commits[0], last) if n not in set(commits)] if commits else []
    if last < planned - 1:
        gaps = [last + 1]
    if gaps or not (folder / "commits").is_dir():
        raise StreamError(
            f"{folder / 'commits'} does not have the commit of batch {gaps[0] if gaps else 0}, and "
            f"batch {planned} was planned.\nRestore the checkpoint from a copy."
        )
    return last


class _SourceLog:
    """The log of a query's source: the input of each micro-batch.

    A file source numbers the files that it lists in a log of its own, and its offsets are these
    numbers; offsets of other sources are documents that only the sources understand.
    """

    def __init__(self, folder: Path, checksums: Mapping[str, tuple[int, str]]) -> None:
        self._folder = folder
        self._checksums = checksums
        self._end: Any = None
        self._files: dict[int, list[FileRead]] | None = None

    def until(self, end: Any) -> tuple[tuple[FileRead, ...], OffsetSpan | None]:
        """Return the files that a batch read up to an offset, or the offsets between which it read.

        ``end`` None: the source has no offset yet.
        """
        before = self._end
        if end is None or end == before:
            return (), None
        self._end = end
        if not isinstance(end, dict) or set(end) != {_LISTED}:
            return (), OffsetSpan(before, end, self._folder)
        if self._files is None:
            self._files = _source_files(self._folder, self._checksums)
        after = -1 if before is None else int(before[_LISTED])
        return _between(self._files, after, int(end[_LISTED]), self._folder), None


def _documents(text: str, file: Path) -> list[Any]:
    """Return the JSON documents of a log file, with None for a source without an offset yet."""
    version, *lines = text.splitlines() or [""]
    if version != _VERSION:
        raise StreamError(
            f"{file} has version {version!r}; this version of lipstick reads {_VERSION!r}.\n"
            "Upgrade lipstick-spark."
        )
    try:
        return [None if line == _NONE else json.loads(line) for line in lines]
    except json.JSONDecodeError as error:
        raise StreamError(
            f"{file} cannot be read: {error}.\nRestore the checkpoint from a copy."
        ) from error


def _watermark(metadata: Any, file: Path) -> int:
    try:
        return int(metadata["batchWatermarkMs"])
    except (KeyError, TypeError, ValueError) as error:
        raise StreamError(
            f"{file} has no watermark.\nRestore the checkpoint from a copy."
        ) from error


def _source_files(
    folder: Path, checksums: Mapping[str, tuple[int, str]]
) -> dict[int, list[FileRead]]:
    """Return the files that a source listed, by their numbers in its log."""
    result: dict[int, dict[FileRead, None]] = {}
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        if file.name.removesuffix(".compact").isdigit():
            for entry in _documents(file.read_text(encoding="utf-8"), file):
                # A compacted file repeats the entries of the files before it.
                uri = str(entry["path"])
                read = FileRead(uri, int(entry["timestamp"]), checksums.get(uri))
                result.setdefault(int(entry["batchId"]), {})[read] = None
    return {number: list(files) for number, files in result.items()}


def _between(
    files: dict[int, list[FileRead]], after: int, until: int, folder: Path
) -> tuple[FileRead, ...]:
    numbers: Sequence[int] = range(after + 1, until + 1)
    missing = [number for number in numbers if number not in files]
    if missing:
        raise StreamError(
            f"{folder} does not say which files its source listed under {missing[0]}.\n"
            "Restore the checkpoint from a copy."
        )
    return tuple(file for number in numbers for file in files[number])
