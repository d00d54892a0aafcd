"""The recorded rows of a stream: what its micro-batches read, as a relation with tokens.

Every row has its token, the number of the batch that read it, and the watermark by which the batch
dropped late rows. A row of a Parquet file has the place of the file in the stream and its own in
the file as its token, which stays the same as the stream grows; other rows have their key.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.errors import SourceChangedError, SourceError, TrackingError
from lipstick.naming import ROW_BITS
from lipstick.source import Source, fingerprint, local_state
from lipstick.streams.queries.checkpoint import CheckpointError, FileRead, MicroBatch
from lipstick.streams.queries.source import StreamSource
from lipstick.tracking import ROW_COLUMN, Naming, Tracked, name_rows
from rewriter.streaming import Streamed

if TYPE_CHECKING:
    from lipstick.sessions import Session

BATCH = "_lipstick_batch"
LATE = "_lipstick_late"
_FILE, _NUMBER = "_lipstick_file", "_lipstick_number"


def of_stream(tracked: Tracked) -> StreamSource:
    """Return the source of a tracked stream."""
    assert tracked.stream is not None
    return tracked.stream


def streamed(tracked: Tracked) -> Streamed:
    """Return a tracked stream as the rewriter knows it."""
    stream = of_stream(tracked)
    return Streamed(stream.time, BATCH, LATE, stream.distinct, ROW_COLUMN)


def track_stream(
    name: str, frame: DataFrame, key: str | Sequence[str] | None, stream: StreamSource
) -> tuple[Source, DataFrame, Naming, tuple[str, ...]]:
    """Return how a stream is tracked: its source, its view, how its rows are named, and by what.

    Raises
    ------
    SourceError, TrackingError
        See :func:`lipstick.tracking.name_rows`.
    """
    source = Source(frame, f"{stream.format} stream {stream.path}", stream.format, ())
    if stream.distinct and (key is not None or stream.format != "parquet"):
        raise TrackingError(
            f"{name!r} drops duplicates, the first of which is told by its place in a file.\n"
            "Track a stream of Parquet files, without a key."
        )
    if key is None:
        if stream.format != "parquet":
            raise SourceError(
                f"Nothing names the rows of {name!r} ({source.description}) stably.\n"
                "Declare a key: track(..., key=['id'])."
            )
        empty = without_rows(frame.sparkSession, stream, Naming.ROWS)
        return source, empty, Naming.ROWS, (ROW_COLUMN,)
    _, naming, token, _ = name_rows(name, source, key, provenance=True)
    return source, without_rows(frame.sparkSession, stream, naming), naming, token


def without_rows(spark: SparkSession, stream: StreamSource, naming: Naming) -> DataFrame:
    """Return the recorded rows of a stream that has none: what queries are read against."""
    extra = {BATCH: "int", LATE: "timestamp"}
    if naming is Naming.ROWS:
        extra[ROW_COLUMN] = "bigint"
    columns = (F.lit(None).cast(kind).alias(name) for name, kind in extra.items())
    return stream.read(spark, []).select("*", *columns)


def files_of(
    stream: StreamSource, batches: Sequence[MicroBatch], name: str
) -> list[tuple[FileRead, int]]:
    """Return the files that batches read of a stream, with the number of the batch, in order.

    Raises
    ------
    CheckpointError
        When the stream is read twice by the query, and its files came in different batches.
    """
    sources = range(len(batches[0].files)) if batches else ()
    own = []
    for source in sources:
        files = [(file, batch.number) for batch in batches for file in batch.files[source]]
        if files and all(_is_under(file.path, stream.path) for file, _ in files):
            own.append(files)
    if any(files != own[0] for files in own):
        raise CheckpointError(
            f"The query reads {name!r} twice, and not in the same batches.\n"
            "Write the query so that it reads the stream once."
        )
    return own[0] if own else []


def recorded(
    session: Session,
    tracked: Tracked,
    batches: Sequence[MicroBatch],
    only: int | None = None,
) -> Tracked:
    """Return the relation of what batches read of a stream, by a view that the session drops.

    Parameters
    ----------
    batches
        All batches so far.
    only
        The number of the one batch whose rows are asked for; None: all.

    Raises
    ------
    SourceError, SourceChangedError
        When a file is gone, or is not what was read.
    CheckpointError
        See :func:`files_of`.
    """
    spark, stream = session.spark, of_stream(tracked)
    read = files_of(stream, batches, tracked.name)
    late = {batch.number: batch.late for batch in batches}
    numbered = [
        (file, file.uri, number, batch, late[batch])
        for number, (file, batch) in enumerate(read)
        if only in (None, batch)
    ]
    _check_files(tracked.name, [file for file, *_ in numbered])
    if numbered:
        files = [file.path for file, *_ in numbered]
        rows = _placed(tracked, stream.read(spark, files), [place for _, *place in numbered])
    else:
        rows = without_rows(spark, stream, tracked.naming)
    view = f"{tracked.view}_{uuid.uuid4().hex[:8]}"
    session.add_view(rows, view)
    source = Source(
        rows,
        f"{stream.format} stream {stream.path}",
        stream.format,
        fingerprint(spark, rows) if numbered else (),
        stream.path,
    )
    return Tracked(
        tracked.name,
        source,
        view,
        tracked.naming,
        tracked.token,
        tracked.schema,
        tracked.verified,
        tuple(file.uri for file, _ in read),
    )


def _placed(tracked: Tracked, rows: DataFrame, places: list[list[Any]]) -> DataFrame:
    """Return rows of files with their batch, their watermark and their token.

    ``places`` are the files' URIs, numbers, batches and watermarks in milliseconds.
    """
    schema = f"{_FILE} STRING, {_NUMBER} BIGINT, {BATCH} INT, _late BIGINT"
    known = rows.sparkSession.createDataFrame(places, schema)
    columns = [F.col(f"`{column}`") for column in tracked.columns]
    moment = F.timestamp_millis(F.col("_late")).alias(LATE)
    kept = [*columns, F.col(BATCH), moment]
    read = [*columns, F.regexp_replace("_metadata.file_path", "^file:/+", "file:///").alias(_FILE)]
    if tracked.naming is Naming.ROWS:
        read.append(F.col("_metadata.row_index").alias("_row"))
        token = F.shiftleft(F.col(_NUMBER), ROW_BITS).bitwiseOR(F.col("_row"))
        kept.append(token.alias(ROW_COLUMN))
    return rows.select(*read).join(F.broadcast(known), _FILE).select(*kept)


def _is_under(file: str, path: str) -> bool:
    """Tell whether a file is one that a path, a folder or a pattern, watches."""
    watched = re.sub("^file:/+", "/", path)
    if "://" not in watched:
        watched = str(Path(watched).absolute())
    fixed = re.split(r"[*?\[{]", watched, maxsplit=1)[0]
    if fixed == watched:
        fixed = f"{watched.rstrip('/')}/"
    return re.sub("^file:/+", "/", file).startswith(fixed)


def _check_files(name: str, files: Sequence[FileRead]) -> None:
    """Refuse files that are not what was read; of those on no local disk nothing is known."""
    for file in files:
        state = local_state(file.uri)
        if state is None:
            continue
        _, length, modified = state
        if length < 0:
            raise SourceError(
                f"{file.path}, which the stream {name!r} has read, is gone.\n"
                "Keep the files of a stream for as long as questions are asked about it."
            )
        if modified // 1_000_000 != file.modified:
            raise SourceChangedError(
                f"{file.path} changed since the stream {name!r} read it.\n"
                "Restore it: what the query made of it can only be told from what it read."
            )
