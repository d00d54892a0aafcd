"""Checkpoints written down by hand: batches without data, compacted logs, and what is refused."""

import json
from pathlib import Path

import pytest

from lipstick.systems.errors import StreamError
from lipstick.systems.streaming.checkpoint import FileRead, MicroBatch, read_checkpoint
from lipstick.systems.streaming.errors import DamagedRecordWarning
from lipstick.systems.streaming.kept import OFFSETS, keep
from lipstick.systems.streaming.sources import OffsetSpan


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
        (OffsetSpan(None, 7, log / "0"), None),
        (None, OffsetSpan(None, {"t": {"0": 3}}, log / "1")),
        (OffsetSpan(7, 9, log / "0"), None),
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
    with pytest.raises(StreamError, match="is not a checkpoint of a streaming query"):
        read_checkpoint(tmp_path)
    purged = tmp_path / "purged"
    offset(purged, 5, 0, '{"logOffset":5}')
    with pytest.raises(StreamError, match="Spark removed the first"):
        read_checkpoint(purged)
    lost = tmp_path / "lost"
    offset(lost, 0, 0, '{"logOffset":0}')
    commit(lost, 0)
    with pytest.raises(StreamError, match="does not say which files"):
        read_checkpoint(lost)
    newer = tmp_path / "newer"
    (newer / "offsets").mkdir(parents=True)
    (newer / "offsets" / "0").write_text("v2\n{}")
    with pytest.raises(StreamError, match="version 'v2'"):
        read_checkpoint(newer)


def test_a_source_that_is_read_twice_has_one_log(tmp_path: Path) -> None:
    """Its offsets are the same in every batch; where others have the same, only Spark knows."""
    for number in range(2):
        offset(tmp_path, number, 0, f'{{"logOffset":{number}}}', '{"logOffset":0}',
               f'{{"logOffset":{number}}}')  # fmt: skip
        commit(tmp_path, number)
    listed(tmp_path, "0", ("file:///in/a", 0), ("file:///in/b", 1))
    listed(tmp_path, "0", ("file:///other/c", 0), source=1)
    first, second = read_checkpoint(tmp_path)
    assert first.files == (read("in/a"), read("other/c"), read("in/a"))
    assert second.files == (read("in/b"), (), read("in/b"))
    three = tmp_path / "three"
    offset(three, 0, 0, *['{"logOffset":0}'] * 3, '{"logOffset":1}')
    commit(three, 0)
    for source in range(3):
        listed(three, "0", ("file:///in/a", 0), source=source)
    with pytest.raises(StreamError, match="does not show which of them are read twice"):
        read_checkpoint(three)


def test_commits_that_are_missing_and_lines_that_are_none_are_named(tmp_path: Path) -> None:
    """A damaged line does not matter where Spark still has the offsets of its batch."""
    listed(tmp_path, "0", *((f"file:///in/{n}", n) for n in range(4)))
    for number in range(4):
        offset(tmp_path, number, 0, f'{{"logOffset":{number}}}')
        commit(tmp_path, number)
    keep(tmp_path, set(), run=0)
    whole = read_checkpoint(tmp_path)
    assert [batch.restarted for batch in whole] == [None, False, False, False]
    lines = (tmp_path / OFFSETS).read_bytes().split(b"\n")
    (tmp_path / OFFSETS).write_bytes(b"\n".join([lines[0], b"{bad", *lines[2:]]))
    with pytest.warns(DamagedRecordWarning, match=r"offsets.jsonl, line 2, cannot be read"):
        assert [batch.files for batch in read_checkpoint(tmp_path)] == [b.files for b in whole]
    (tmp_path / "offsets" / "1").unlink()
    with pytest.raises(StreamError, match=r"line 2, cannot be read, and Spark removed its own"):
        read_checkpoint(tmp_path)
    offset(tmp_path, 1, 0, '{"logOffset":1}')
    (tmp_path / OFFSETS).unlink()
    (tmp_path / "commits" / "2").unlink()
    with pytest.raises(StreamError, match="does not have the commit of batch 2"):
        read_checkpoint(tmp_path)
    (tmp_path / "commits" / "3").unlink()
    with pytest.raises(StreamError, match="the commit of batch 2, and batch 3 was planned"):
        read_checkpoint(tmp_path)
