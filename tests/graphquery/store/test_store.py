"""Making and opening stores, and snapshots of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.store import Store, StoreDamagedError, StoreError, StoreFormatError, fsck
from tests.graphquery.store.workload import add, check, content, expected


def test_empty_store(store: Store) -> None:
    """An empty store has version 0 and nothing in it."""
    snapshot = store.snapshot()
    assert (snapshot.version, snapshot.time) == (0, "")
    assert content(snapshot) == expected(-1)
    assert not snapshot.files
    assert fsck(store.path) == []
    assert repr(store) == f"Store({str(store.path)!r})"


def test_open_nothing(tmp_path: Path) -> None:
    """What is not a store is not opened."""
    with pytest.raises(StoreError, match=r"is not a store: it has no format\.json\.\nGive the"):
        Store.open(tmp_path)
    with pytest.raises(StoreError, match="is not a store"):
        Store.open(tmp_path / "missing")
    (tmp_path / "format.json").write_text("{")
    with pytest.raises(StoreDamagedError, match=r"format\.json cannot be understood: JSONDecode"):
        Store.open(tmp_path)
    (tmp_path / "format.json").write_text('{"format": "other", "version": 1, "store": ""}')
    with pytest.raises(StoreError, match="its format is 'other', not 'lipstick-store'"):
        Store.open(tmp_path)


def test_open_other_version(store: Store) -> None:
    """A newer format is refused, an older one names the way forward."""
    path = store.path / "format.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "version": 2}))
    with pytest.raises(StoreFormatError, match=r"version 2; .*\n?.*reads 1\.\nUpgrade"):
        Store.open(store.path)
    path.write_text(json.dumps({**document, "version": 0}))
    with pytest.raises(StoreFormatError, match=r"graphquery\.store\.migrate\(path\)"):
        Store.open(store.path)


def test_create_in_place(tmp_path: Path) -> None:
    """A store is made in an empty folder, or one that an interrupted creation left."""
    folder = tmp_path / "a" / "b"
    (folder / "log").mkdir(parents=True)
    (folder / "format.json.77.tmp").write_text("{")
    store = Store.create(folder)
    assert Store.open(folder).snapshot().version == 0
    with store.writer():
        pass
    assert fsck(folder) == []


def test_create_where_something_is(tmp_path: Path, store: Store) -> None:
    """A store is not made over anything else."""
    with pytest.raises(StoreError, match=r"is a store already: use Store\.open"):
        Store.create(store.path)
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(StoreError, match=r"is not empty: it has notes\.txt\."):
        Store.create(tmp_path)
    with pytest.raises(StoreError, match=r"notes\.txt is a file; a store needs a folder\."):
        Store.create(tmp_path / "notes.txt")
    (tmp_path / "old" / "data" / "x").mkdir(parents=True)
    with pytest.raises(StoreError, match="is not empty: it has data"):
        Store.create(tmp_path / "old")


def test_snapshot_of_each_version(filled: Store) -> None:
    """Every version can be read, and none that does not exist."""
    for version in range(7):
        stored = content(filled.snapshot(version))
        assert stored.segments == expected(version - 1).segments
        assert stored.edges == expected(version - 1).edges
        assert stored.records.get("last", -1) == version - 1
    assert filled.snapshot().version == 6
    with pytest.raises(StoreError, match="has no commit 7; the last one is 6"):
        filled.snapshot(7)
    with pytest.raises(StoreError, match="no commit -1; they count from 1"):
        filled.snapshot(-1)


def test_snapshot_stays(filled: Store) -> None:
    """A snapshot does not change, and the next one sees what was committed."""
    before = filled.snapshot()
    assert filled.snapshot() is before
    other = Store.open(filled.path)
    with other.writer() as writer, writer.transaction() as transaction:
        add(transaction, 6)
        transaction.commit()
    assert before.records["last"] == 5
    assert "cars6" not in before.segments
    assert content(before).segments == expected(5).segments
    assert check(filled) == 6


def test_snapshot_of_the_writer(filled: Store) -> None:
    """The writer sees what it committed, at once."""
    with filled.writer() as writer:
        before = writer.snapshot()
        assert writer.snapshot() is before
        with writer.transaction() as transaction:
            add(transaction, 6)
            assert writer.snapshot() is before
            transaction.commit()
        assert content(writer.snapshot()).segments == expected(6).segments
        assert "cars6" not in before.segments


def test_snapshot_while_log_is_damaged(filled: Store) -> None:
    """A missing or altered commit is an error that names it, not an older version."""
    path = filled.path / "log" / f"{3:020d}.json"
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"last":2', b'"last":9'))
    with pytest.raises(StoreDamagedError, match=r"Commit 3 of the log is not what was written"):
        Store.open(filled.path).snapshot()
    path.unlink()
    with pytest.raises(StoreDamagedError, match=r"Commit 3 is missing .* goes up to 6\.\nRestore"):
        Store.open(filled.path).snapshot()
    path.write_bytes((filled.path / "log" / f"{2:020d}.json").read_bytes())
    with pytest.raises(StoreDamagedError, match="Commit 2 does not follow on commit 2"):
        Store.open(filled.path).snapshot()
    path.write_bytes(data)
    assert check(Store.open(filled.path)) == 5


def test_read_nothing(filled: Store) -> None:
    """Segments without values, slices of no rows, and names that do not exist."""
    snapshot = filled.snapshot()
    assert snapshot.values("sum1").num_columns == 0
    assert snapshot.values("cars0").num_rows == 0
    with pytest.raises(StoreError, match="Segment sum1 has no values, so no 'car'"):
        snapshot.values("sum1", ["car"])
    with pytest.raises(StoreError, match="has no segment 'bikes' at commit 6"):
        snapshot.values("bikes")
    with pytest.raises(StoreError, match=r"has no column 'color'; it has car\."):
        snapshot.values("cars2", ["color"])
    with pytest.raises(StoreError, match=r"has no file 'data/x\.parquet' in use at commit 6"):
        snapshot.path("data/x.parquet")


def test_read_rows_that_are_not(filled: Store) -> None:
    """Rows past the end, and files that are gone, are damage."""
    snapshot = filled.snapshot()
    file = snapshot.segments["cars2"].file
    assert file is not None
    with pytest.raises(StoreDamagedError, match=r"has 2 rows; rows 1 to 3 were asked for"):
        snapshot.read(file, None, 1, 2)
    path = snapshot.path(file)
    path.unlink()
    with pytest.raises(StoreDamagedError, match=r"is gone\.\nA snapshot older than the last vac"):
        snapshot.values("cars2")
    path.write_text("no Parquet")
    with pytest.raises(StoreDamagedError, match=r"is not what was committed.*\nRun fsck on the"):
        snapshot.values("cars2")


def test_an_altered_bit_is_damage(filled: Store) -> None:
    """Also where Parquet would read another value of it."""
    snapshot = filled.snapshot()
    file = snapshot.segments["cars3"].file
    assert file is not None
    whole = snapshot.read(file)
    path = snapshot.path(file)
    data = path.read_bytes()
    for at in range(0, len(data), 7):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(StoreDamagedError, match="is not what was committed"):
            snapshot.read(file)
    path.write_bytes(data)
    assert snapshot.read(file) == whole


def test_column(filled: Store) -> None:
    """A column as graphs are built from it."""
    snapshot = filled.snapshot()
    file = snapshot.segments["cars3"].file
    assert file is not None
    assert snapshot.column(file, "car").to_pylist() == [0, 1, 2]
    with pytest.raises(StoreError, match=r"has no column 'source'; it has car\."):
        snapshot.column(file, "source")


def test_ordinals_that_are_implied(filled: Store) -> None:
    """Implied ends take no column."""
    snapshot = filled.snapshot()
    edges = next(each for each in snapshot.edges if each.source == "cars3")
    assert edges == EdgeSet("cars3", "sum3", 3, Ordinals.ALL, Ordinals.ONE)
    sources, targets = snapshot.ordinals(edges)
    assert (sources.tolist(), targets.tolist()) == ([0, 1, 2], [0, 0, 0])


def test_readable_log(filled: Store) -> None:
    """A commit is JSON that people can read, with what differs from the defaults only."""
    document = json.loads((filled.path / "log" / f"{2:020d}.json").read_text())
    commit = document["content"]
    assert commit["operation"] == "append"
    assert commit["segments"][1] == {"name": "sum1", "kind": "p", "label": "+", "count": 1}
    assert re.fullmatch(
        r"data/00000002-[0-9a-f]{8}/values-\d\.parquet", commit["segments"][0]["file"]
    )
    assert "moved" not in commit
    assert Segment("sum1", Kind.DERIVED, "+", 1) == filled.snapshot().segments["sum1"]
