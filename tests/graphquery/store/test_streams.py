"""Records of streams: their files are compacted, vacuumed and checked like those of graphs."""

from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphquery.store import Store, StoreDamagedError, fsck
from graphquery.store.streams import (
    BLOCK,
    VERSION,
    BatchPart,
    batch_record,
    batches,
    part_document,
    parts,
    queries,
    query_record,
)

QUERY = {
    "format": VERSION,
    "topology": {},
    "order": [],
    "fingerprint": "",
    "full": False,
    "partitions": None,
}


def _append(store: Store, number: int, values: list[int]) -> None:
    table = pa.table({"t": values})
    with store.writer() as writer, writer.transaction() as transaction:
        file, offset = transaction.add_rows("events", table)
        ends = (values[0], values[-1])
        part = BatchPart("s", file, offset, len(values), *ends, *ends, *ends, d=0)
        document = {"format": VERSION, "parts": [part_document(part)], "disorder": {}}
        if not number:
            transaction.put(query_record("q"), QUERY)
        transaction.put(batch_record("q", number), document)
        transaction.commit()


def _values(store: Store) -> list[list[int]]:
    values = []
    snapshot = store.snapshot()
    for number, document in batches(snapshot.records, "q").items():
        for part in parts(document, f"batch {number}"):
            rows = pq.read_table(snapshot.path(part.file)).slice(part.offset, part.rows)
            values.append(rows.column("t").to_pylist())
    return values


def test_the_rows_of_records_outlive_compaction_and_vacuum(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    written = [[number * 10 + i for i in range(1, number + 2)] for number in range(12)]
    for number, values in enumerate(written):
        _append(store, number, values)
    with store.writer() as writer:
        done = writer.compact()
        writer.vacuum(older_than=timedelta(0))
    assert (done.before, done.after) == (12, 1)
    assert _values(store) == written
    assert queries(store.snapshot().records) == ["q"]
    assert fsck(tmp_path / "store") == []
    _append(store, 12, [500])
    assert _values(Store.open(tmp_path / "store")) == [*written, [500]]


def test_fsck_names_a_part_that_is_not_in_its_file(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    _append(store, 0, [1, 2])
    with store.writer() as writer, writer.transaction() as transaction:
        document = transaction.get(batch_record("q", 0))
        longer = document["parts"][0] | {"rows": 3}
        elsewhere = longer | {"file": "data/none.parquet"}
        transaction.put(batch_record("q", 0), document | {"parts": [longer, elsewhere]})
        transaction.put(batch_record("q", 1), {"format": VERSION + 1, "parts": []})
        transaction.commit()
    damages = [damage.what for damage in fsck(tmp_path / "store")]
    assert any("are rows 0 to 3" in what and "which has 2" in what for what in damages)
    assert any("data/none.parquet of stream s is not in use" in what for what in damages)
    assert any(f"has version {VERSION + 1}" in what for what in damages)
    with pytest.raises(StoreDamagedError, match="Record x cannot be understood"):
        parts({"format": VERSION}, "Record x")


def test_merged_files_keep_the_small_row_groups(tmp_path: Path) -> None:
    """A question reads a row group at least, before and after a compaction."""
    store = Store.create(tmp_path / "store")
    for number in range(3):
        _append(store, number, list(range(number * BLOCK, (number + 1) * BLOCK + 100)))
    for compacted in (False, True):
        if compacted:
            with store.writer() as writer:
                writer.compact()
        snapshot = store.snapshot()
        sizes = [
            meta.row_group(index).num_rows
            for file in {
                part.file
                for document in batches(snapshot.records, "q").values()
                for part in parts(document, "batch")
            }
            for meta in [pq.read_metadata(snapshot.path(file))]
            for index in range(meta.num_row_groups)
        ]
        assert sum(sizes) == 3 * (BLOCK + 100)
        assert max(sizes) <= BLOCK
