"""The recorded rows of a stream: the inputs of its micro-batches, as a relation with tokens.

Every row has its token, the number of the batch that read it, and the watermark by which the batch
dropped late rows. The token of a Parquet row is the number of its file in the stream and its
position in the file, which do not change as the stream grows; other rows have their key.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.errors import SourceChangedError, SourceError
from lipstick.systems.errors import StreamError
from lipstick.systems.hooks import StreamTracking
from lipstick.systems.streaming.checkpoint import FileRead, MicroBatch
from lipstick.systems.streaming.kept import checksum
from lipstick.systems.streaming.source import StreamSource
from lipstick.systems.streaming.sources.replayed import BATCH, Batched, OffsetSpan
from lipstick.tracking.naming import ROW_BITS
from lipstick.tracking.source import Source, fingerprint
from lipstick.tracking.states import local_state
from lipstick.tracking.tracker import ROW_COLUMN, NamedRows, Naming, Tracked, name_rows
from rewriter.streaming import Streamed

if TYPE_CHECKING:
    from lipstick.sessions import Session

LATE = "_lipstick_late"
_FILE, _NUMBER = "_lipstick_file", "_lipstick_number"


def of_stream(tracked: Tracked) -> StreamSource:
    """Return the source of a tracked stream."""
    assert isinstance(tracked.stream, StreamSource)
    return tracked.stream


def streamed(tracked: Tracked) -> Streamed:
    """Return a tracked stream in the rewriter's form."""
    stream = of_stream(tracked)
    row_column = ROW_COLUMN if tracked.naming is Naming.ROWS else None
    return Streamed(
        stream.time, BATCH, LATE, stream.distinct, row_column, stream.within, stream.delay, ROW_BITS
    )


def track_stream(
    name: str, frame: DataFrame, key: str | Sequence[str] | None, stream: StreamSource
) -> StreamTracking:
    """Return the tracking of a stream.

    Raises
    ------
    SourceError, TrackingError
        See :func:`lipstick.tracking.name_rows`.
    """
    source = Source(frame, stream.description, stream.format, ())
    naming, token = Naming.ROWS, tuple[str, ...]((ROW_COLUMN,))
    if key is not None:
        rows = name_rows(name, source, key, provenance=True)
        naming, token = rows.naming, rows.token
    elif stream.replayed is not None and stream.replayed.token:
        naming, token = Naming.KEY, stream.replayed.token
        if not set(token) <= set(frame.columns):
            token = tuple(f"{stream.raw_prefix}{column}" for column in token)
    elif stream.format != "parquet" and stream.replayed is None:
        raise SourceError(
            f"Nothing names the rows of {name!r} ({source.description}) stably.\n"
            "Declare a key: track(..., key=['id'])."
        )
    empty = without_rows(frame.sparkSession, stream, naming)
    return StreamTracking(source, NamedRows(empty, naming, token), stream)


def without_rows(spark: SparkSession, stream: StreamSource, naming: Naming) -> DataFrame:
    """Return the recorded rows of a stream without any, against which queries are read."""
    extra = {BATCH: "int", LATE: "timestamp"}
    if naming is Naming.ROWS:
        extra[ROW_COLUMN] = "bigint"
    columns = (F.lit(None).cast(kind).alias(name) for name, kind in extra.items())
    return stream.of_raw(stream.empty(spark).select("*", *columns))


def files_of(
    stream: StreamSource, batches: Sequence[MicroBatch], name: str
) -> list[tuple[FileRead, int]]:
    """Return the files that batches read from a stream, with the number of the batch, in order.

    Raises
    ------
    StreamError
        When the stream is read twice by the query, and its files came in different batches.
    """
    sources = range(len(batches[0].files)) if batches else ()
    read_files = []
    for source in sources:
        files = [(file, batch.number) for batch in batches for file in batch.files[source]]
        if files and all(_is_under(file.path, stream.path) for file, _ in files):
            read_files.append(files)
    _check_read_once(read_files, name)
    return read_files[0] if read_files else []


def _check_read_once(read_by_source: Sequence[Sequence[tuple[object, ...]]], name: str) -> None:
    if any(read != read_by_source[0] for read in read_by_source):
        raise StreamError(
            f"The query reads {name!r} twice, and not in the same batches.\n"
            "Write the query so that it reads the stream once."
        )


def spans_of(
    batches: Sequence[MicroBatch], sources: Sequence[int], name: str
) -> list[tuple[int, OffsetSpan]]:
    """Return the offset spans that batches read from a stream that is not files.

    ``sources`` are the stream's numbers in the checkpoint.

    Raises
    ------
    StreamError
        See :func:`files_of`.
    """
    spans = [
        [(batch.number, span) for batch in batches if (span := batch.spans[number]) is not None]
        for number in sources
    ]
    _check_read_once(spans, name)
    return spans[0] if spans else []


def recorded(
    session: Session,
    tracked: Tracked,
    batches: Sequence[MicroBatch],
    sources: Sequence[int] = (),
    only: int | None = None,
) -> Tracked:
    """Return the relation of the rows that batches read from a stream; the session drops its view.

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
    StreamError
        See :func:`files_of`.
    """
    spark, stream = session.spark, of_stream(tracked)
    late = {batch.number: batch.late for batch in batches}
    if stream.replayed is None:
        read = files_of(stream, batches, tracked.name)
        rows = _of_files(spark, tracked, read, late, only)
        files = tuple(file.uri for file, _ in read)
    else:
        spans = spans_of(batches, sources, tracked.name)
        rows = _read_again(
            spark, tracked, [each for each in spans if only in (None, each[0])], late
        )
        files = ()
    view = f"{tracked.view}_{uuid.uuid4().hex[:8]}"
    session.add_view(rows, view)
    state = fingerprint(spark, rows) if files else ()
    placement = stream.path if stream.replayed is None else None
    source = Source(rows, stream.description, stream.format, state, placement)
    return Tracked(
        tracked.name,
        source,
        view,
        tracked.naming,
        tracked.token,
        tracked.schema,
        tracked.verified,
        files,
    )


def _of_files(
    spark: SparkSession,
    tracked: Tracked,
    read: Sequence[tuple[FileRead, int]],
    late: Mapping[int, int],
    only: int | None,
) -> DataFrame:
    """Return the rows of files that batches, or one batch, read, as recorded rows."""
    stream = of_stream(tracked)
    present = ((stream.present(file), batch) for file, batch in read)
    numbered = [
        (file, file.uri, number, batch, late[batch])
        for number, (file, batch) in enumerate(present)
        if only in (None, batch)
    ]
    _check_files(tracked.name, [file for file, *_ in numbered])
    if not numbered:
        return without_rows(spark, stream, tracked.naming)
    files = [file.path for file, *_ in numbered]
    places = [numbers for _, *numbers in numbered]
    parts = [_placed(tracked, rows, places) for rows in stream.read(spark, files)]
    return reduce(DataFrame.union, parts)


def _read_again(
    spark: SparkSession, tracked: Tracked, read: Batched, late: Mapping[int, int]
) -> DataFrame:
    """Return the rows that batches read from a source that is not files, as recorded rows."""
    stream = of_stream(tracked)
    if not read:
        return without_rows(spark, stream, tracked.naming)
    known = spark.createDataFrame(
        [(batch, late[batch]) for batch, _ in read], f"{BATCH} INT, _late BIGINT"
    )
    columns = [F.col(f"`{column}`") for column in stream.raw.names]
    places = [F.col(ROW_COLUMN)] if tracked.naming is Naming.ROWS else []
    rows = stream.read_again(spark, read).join(F.broadcast(known), BATCH)
    moment = F.timestamp_millis(F.col("_late")).alias(LATE)
    return stream.of_raw(rows.select(*columns, F.col(BATCH), moment, *places))


def _placed(tracked: Tracked, rows: DataFrame, places: list[list[Any]]) -> DataFrame:
    """Return rows of files with their batch, watermark and token.

    ``places`` are the files' URIs, numbers, batches and watermarks in milliseconds.
    """
    schema = f"{_FILE} STRING, {_NUMBER} BIGINT, {BATCH} INT, _late BIGINT"
    known = rows.sparkSession.createDataFrame(places, schema)
    stream = of_stream(tracked)
    columns = [F.col(f"`{column}`") for column in stream.raw.names]
    moment = F.timestamp_millis(F.col("_late")).alias(LATE)
    kept = [*columns, F.col(BATCH), moment]
    read = [*columns, F.regexp_replace("_metadata.file_path", "^file:/+", "file:///").alias(_FILE)]
    if tracked.naming is Naming.ROWS:
        read.append(F.col("_metadata.row_index").alias("_row"))
        token = F.shiftleft(F.col(_NUMBER), ROW_BITS).bitwiseOR(F.col("_row"))
        kept.append(token.alias(ROW_COLUMN))
    return stream.of_raw(rows.select(*read).join(F.broadcast(known), _FILE).select(*kept))


def _is_under(file: str, path: str) -> bool:
    """Return True if a watched path, folder or pattern covers a file."""
    watched = re.sub("^file:/+", "/", path)
    if "://" not in watched:
        watched = str(Path(watched).absolute())
    fixed = re.split(r"[*?\[{]", watched, maxsplit=1)[0]
    if fixed == watched:
        fixed = f"{watched.rstrip('/')}/"
    return re.sub("^file:/+", "/", file).startswith(fixed)


def check_read(tracked: Tracked, batches: Sequence[MicroBatch]) -> None:
    """Refuse files of a stream that have changed since batches read them.

    Raises
    ------
    SourceError, SourceChangedError
        With the first such file.
    """
    read = files_of(of_stream(tracked), batches, tracked.name)
    _check_files(tracked.name, [of_stream(tracked).present(file) for file, _ in read])


def _check_files(name: str, files: Sequence[FileRead]) -> None:
    """Refuse changed or missing files; files that are not on a local disk are not checked."""
    for file in files:
        state = local_state(file.uri)
        if state is None:
            continue
        _, length, modified = state
        if length < 0:
            raise SourceError(
                f"{file.path}, which the stream {name!r} has read, is gone.\n"
                "Keep the files of a stream for as long as questions are asked about it: with "
                "cleanSource=archive, if Spark shall move them, instead of delete."
            )
        changed = modified // 1_000_000 != file.modified
        if not changed and file.state is not None:
            changed = length != file.state[0] or checksum(file.uri) != file.state
        if changed:
            raise SourceChangedError(
                f"{file.path} changed since the stream {name!r} read it.\n"
                "Restore it: results can only be explained from the file that the query read."
            )
