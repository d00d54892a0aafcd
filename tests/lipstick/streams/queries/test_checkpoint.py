"""Checkpoints written down by hand: batches without data, compacted logs, and what is refused."""

import json
from pathlib import Path

import pytest

from lipstick.streams.queries.checkpoint import (
    CheckpointError,
    FileRead,
    MicroBatch,
    read_checkpoint,
)
from lipstick.streams.queries.kept import keep
from lipstick.streams.queries.sources import Span


def offset(folder: Path, number: int, watermark: int, *places: str) -> None:
    (folder / "offsets").mkdir(parents=True, exist_ok=True)
    metadata = json.dumps({"batchWatermarkMs": watermark, "batchTimestampMs": 0})
    (folder / "offsets" / str(number)).write_text("\n".join(["v1", metadata, *places]))


def commit(folder: Path, number: int) -> None:
    (folder / "commits").mkdir(exist_ok=True)
    (folder / "commits" / str(number)).write_text('v1\n{"nextBatchWatermarkMs":0}')


def listed(folder: Path, name: str, *files: tuple[str, int], source: int = 0) -> None:
    offsets = folder / "sources" / str(source)
    offsets.mkdir(parents=True, exist_ok=True)
    entries = [json.dumps({"path": path, "timestamp": 0, "batchId": n}) for path, n in files]
    (offsets / name).write_text("\n".join(["v1", *entries]))


def read(*paths: str) -> tuple[FileRead, ...]:
    return tuple(FileRead(f"file:///{path}", 0) for path in paths)


def test_batches_have_their_files_and_both_watermarks(tmp_path: Path) -> None:
    """A compacted log repeats files; a batch may have none; one not committed is not told."""
    listed(tmp_path, "0", ("file:///in/a%20b", 0))
    listed(tmp_path, "1.compact", ("file:///in/a%20b", 0), ("file:///in/c", 1))
    listed(tmp_path, "2", ("file:///in/d", 2))
    listed(tmp_path, "0", ("file:///other/e", 0), source=1)
    offset(tmp_path, 0, 0, '{"logOffset":0}', "-")
    offset(tmp_path, 1, 50, '{"logOffset":0}', '{"logOffset":0}')
    offset(tmp_path, 2, 70, '{"logOffset":2}', '{"logOffset":0}')
    offset(tmp_path, 3, 90, '{"logOffset":2}', '{"logOffset":0}')
    for number in range(3):
        commit(tmp_path, number)
    assert read_checkpoint(tmp_path) == [
        MicroBatch(0, (read("in/a%20b"), ()), 0, 0, spans=(None, None)),
        MicroBatch(1, ((), read("other/e")), 50, 0, spans=(None, None)),
        MicroBatch(2, (read("in/c", "in/d"), ()), 70, 50, spans=(None, None)),
    ]


def test_sources_of_other_kinds_are_read_between_offsets(tmp_path: Path) -> None:
    """From their first offset on; a batch that begins where the one before ended read nothing."""
    for number, (numbers, topic) in enumerate([("7", "-"), ("7", '{"t":{"0":3}}'), ("9", "-")]):
        offset(tmp_path, number, 0, numbers, topic)
        commit(tmp_path, number)
    log = tmp_path / "sources"
    batches = read_checkpoint(tmp_path)
    assert [batch.spans for batch in batches] == [
        (Span(None, 7, log / "0"), None),
        (None, Span(None, {"t": {"0": 3}}, log / "1")),
        (Span(7, 9, log / "0"), None),
    ]
    assert all(batch.has_data for batch in batches)
    assert not any(any(batch.files) for batch in batches)


def test_offsets_that_were_kept_stand_for_those_that_spark_removed(tmp_path: Path) -> None:
    listed(tmp_path, "0", ("file:///in/a", 0), ("file:///in/b", 1))
    for number, watermark in enumerate((0, 50)):
        offset(tmp_path, number, watermark, f'{{"logOffset":{number}}}')
        commit(tmp_path, number)
    whole = read_checkpoint(tmp_path)
    keep(tmp_path, set())
    (tmp_path / "offsets" / "0").unlink()
    (tmp_path / "commits" / "0").unlink()
    assert read_checkpoint(tmp_path) == whole


def test_what_cannot_be_told_exactly_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="is no checkpoint of a streaming query"):
        read_checkpoint(tmp_path)
    purged = tmp_path / "purged"
    offset(purged, 5, 0, '{"logOffset":5}')
    with pytest.raises(CheckpointError, match="Spark removed the first"):
        read_checkpoint(purged)
    lost = tmp_path / "lost"
    offset(lost, 0, 0, '{"logOffset":0}')
    commit(lost, 0)
    with pytest.raises(CheckpointError, match="does not say which files"):
        read_checkpoint(lost)
    newer = tmp_path / "newer"
    (newer / "offsets").mkdir(parents=True)
    (newer / "offsets" / "0").write_text("v2\n{}")
    with pytest.raises(CheckpointError, match="version 'v2'"):
        read_checkpoint(newer)
