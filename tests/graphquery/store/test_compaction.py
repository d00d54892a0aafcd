"""Compaction: fewer files, the same content."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphquery.model import EdgeSet, Kind, Segment
from graphquery.store import Compaction, Store, StoreDamagedError, StoreError, fsck
from tests.graphquery.store.workload import NOW, add, check, content


def data_files(store: Store) -> set[str]:
    """The files that segments and edges are in."""
    snapshot = store.snapshot()
    return {each.file for each in [*snapshot.segments.values(), *snapshot.edges] if each.file}


def test_nothing_to_merge(store: Store) -> None:
    """An empty store, and one file of each kind, stay as they are."""
    with store.writer() as writer:
        assert writer.compact() == Compaction(0, 0)
        with writer.transaction() as transaction:
            add(transaction, 0)
            transaction.commit()
        assert writer.compact() == Compaction(0, 0)
    assert store.snapshot().version == 1


def test_merge(filled: Store) -> None:
    """Values and ordinals are each in one file; content and older snapshots are the same."""
    before = filled.snapshot()
    held = content(before)
    with filled.writer() as writer:
        assert writer.compact() == Compaction(before=11, after=2)
        assert writer.compact() == Compaction(0, 0)
        assert fsck(filled.path) == []
        assert len(data_files(filled)) == 2
        assert content(filled.snapshot()) == held == content(before)
        add_more = writer.transaction()
        with add_more:
            add(add_more, 6)
            add_more.commit()
        assert writer.compact() == Compaction(before=4, after=2)
        assert check(filled) == 6
        assert content(filled.snapshot(6)) == held
        writer.vacuum(older_than=NOW)
    assert fsck(filled.path) == []
    assert check(Store.open(filled.path)) == 6


def test_sizes(filled: Store) -> None:
    """Large files are left alone, and merged files are not much larger than asked for."""
    with filled.writer() as writer:
        assert writer.compact(small=0) == Compaction(0, 0)
        with pytest.raises(StoreError, match="files under 11 bytes into files of 10: small files"):
            writer.compact(small=11, target=10)
        sizes = [entry.size for entry in filled.snapshot().files.values() if not entry.kept]
        done = writer.compact(small=max(sizes) + 1, target=2 * max(sizes))
        assert done.after > 2
    assert check(filled) == 5


def test_columns_that_differ(store: Store) -> None:
    """Only files with the same columns are merged; row groups and empty files come along."""
    tables = [
        pa.table({"x": pa.array([], pa.int64())}),
        pa.table({"x": [1, 2]}),
        pa.table({"x": pa.array(range(300_000))}),
        pa.table({"x": ["a"]}),
        pa.table({"x": ["b", None]}),
        pa.table({"y": [1]}),
        pa.table({"x": pa.array([], pa.int64())}),
    ]
    with store.writer() as writer:
        for number, table in enumerate(tables):
            with writer.transaction() as transaction:
                segment = Segment(f"s{number}", Kind.TOKEN, "", len(table), file="")
                transaction.add_segment(segment, table)
                transaction.commit()
        assert writer.compact() == Compaction(before=6, after=2)
    snapshot = store.snapshot()
    assert len(data_files(store)) == 3
    for number, table in enumerate(tables):
        assert snapshot.values(f"s{number}").equals(table)
    assert fsck(store.path) == []


def test_files_of_spark(store: Store) -> None:
    """What other writers put into a schema does not keep files apart, nor is it lost silently."""
    with store.writer() as writer:
        for number in range(2):
            with writer.transaction() as transaction:
                table = pa.table({"x": [number]}).replace_schema_metadata({"writer": str(number)})
                path = transaction.folder / "x.parquet"
                pq.write_table(table, path)
                transaction.add_segment(
                    Segment(f"s{number}", Kind.TOKEN, "", 1, file=""), file=path
                )
                transaction.commit()
        assert writer.compact() == Compaction(before=2, after=1)
    assert store.snapshot().values("s1").to_pydict() == {"x": [1]}


def test_transaction_meanwhile(filled: Store) -> None:
    """A transaction open during a compaction commits; one that used a merged file is told so."""
    file = filled.snapshot().segments["cars3"].file
    with filled.writer() as writer, writer.transaction() as good, writer.transaction() as bad:
        add(good, 6)
        bad.add_segment(Segment("again", Kind.TOKEN, "", 3, file=file))
        writer.compact()
        good.commit()
        with pytest.raises(StoreError, match=r"is not in use any more: it was removed or merged"):
            bad.commit()
    assert check(filled) == 6


def test_compactions_at_once(filled: Store) -> None:
    """Of two compactions of the same files, the second is refused."""
    from graphquery.store import maintenance

    with filled.writer() as writer:
        groups = maintenance.plan(writer.state, maintenance.SMALL, maintenance.TARGET)
        writer.compact()
        with pytest.raises(StoreError, match="was removed or merged before"):
            maintenance.merge(writer, groups[0])
    assert check(filled) == 5
    assert fsck(filled.path) == []


def test_edges_of_one_file(store: Store) -> None:
    """Sets that shared a file before are moved together, in their places."""
    with store.writer() as writer:
        for number in range(3):
            with writer.transaction() as transaction:
                transaction.add_segment(Segment(f"s{number}", Kind.TOKEN, "", 5))
                for row in range(3):
                    edges = EdgeSet(f"s{number}", "s0", 1, file="")
                    transaction.add_edges(edges, [row], [row + 1])
                transaction.commit()
        writer.compact()
    snapshot = store.snapshot()
    assert [each.offset for each in snapshot.edges] == list(range(9))
    ordinals = [[end.tolist() for end in snapshot.ordinals(each)] for each in snapshot.edges]
    assert ordinals == [[[row], [row + 1]] for _ in range(3) for row in range(3)]


def test_damage_is_not_merged(filled: Store) -> None:
    """A file with another value in it would get a checksum that fits."""
    file = sorted(data_files(filled))[0]
    path = filled.path / file
    table = pq.read_table(path)
    pq.write_table(pa.concat_tables([table.slice(1), table.slice(0, 1)]), path)
    before = filled.snapshot().version
    with (
        filled.writer() as writer,
        pytest.raises(StoreDamagedError, match="not what was committed"),
    ):
        writer.compact()
    assert filled.snapshot().version == before
