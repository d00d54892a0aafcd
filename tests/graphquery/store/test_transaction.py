"""What transactions take in, and what they refuse."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.store import Store, StoreError, Transaction, Writer, fsck
from tests.graphquery.store.workload import check, expected

CARS = Segment("cars", Kind.TOKEN, "", 3, key=("car",), file="")
TABLE = pa.table({"car": ["C1", "C2", "C3"], "model": ["Accord", "Civic", "Civic"]})
SUM = Segment("sum", Kind.DERIVED, "+", 2)
EDGES = EdgeSet("cars", "sum", 3, file="")


@pytest.fixture
def writer(store: Store):
    with store.writer() as writer:
        yield writer


@pytest.fixture
def transaction(writer: Writer):
    with writer.transaction() as transaction:
        yield transaction
        transaction.rollback()


def test_nothing(writer: Writer, store: Store) -> None:
    """A transaction without changes makes no commit."""
    with writer.transaction() as transaction:
        assert transaction.commit() == 0
    with writer.transaction():
        pass
    with writer.transaction() as transaction:
        assert transaction.folder.is_dir()
    assert store.snapshot().version == 0
    assert list((store.path / "staging").iterdir()) == []


def test_segments_and_edges(transaction: Transaction, store: Store) -> None:
    """Values and ordinals come back as they were given."""
    stored = transaction.add_segment(CARS, TABLE)
    assert stored.file is not None
    transaction.add_edges(EDGES, np.array([0, 1, 2]), pa.array([0, 1, 1], pa.uint8()))
    transaction.add_segment(SUM)
    assert transaction.commit() == 1
    snapshot = store.snapshot()
    assert snapshot.segments == {"cars": stored, "sum": SUM}
    assert snapshot.values("cars").equals(TABLE)
    assert snapshot.values(stored, ["model"]).to_pydict() == {"model": ["Accord", "Civic", "Civic"]}
    sources, targets = snapshot.ordinals(snapshot.edges[0])
    assert (sources.tolist(), targets.tolist()) == ([0, 1, 2], [0, 1, 1])
    assert sources.dtype == np.int32


def test_tables_share_files(transaction: Transaction, store: Store) -> None:
    """Tables with equal columns are in one file, others in another."""
    for number in range(5):
        transaction.add_segment(
            Segment(f"s{number}", Kind.TOKEN, "", 2, file=""), pa.table({"x": [number, -number]})
        )
    transaction.add_segment(Segment("t", Kind.TOKEN, "", 1, file=""), pa.table({"x": ["text"]}))
    transaction.commit()
    snapshot = store.snapshot()
    assert len(snapshot.files) == 2
    assert [each.offset for each in snapshot.segments.values()] == [0, 2, 4, 6, 8, 0]
    for number in range(5):
        assert snapshot.values(f"s{number}").to_pydict() == {"x": [number, -number]}


def test_large_tables(transaction: Transaction, store: Store) -> None:
    """Rows are written in groups, and a slice is read from its groups only."""
    count = 300_000
    for name in ("a", "b"):
        table = pa.table({"x": np.arange(count) + ord(name)})
        transaction.add_segment(Segment(name, Kind.TOKEN, "", count, file=""), table)
    transaction.commit()
    snapshot = store.snapshot()
    segment = snapshot.segments["b"]
    assert segment.file is not None
    assert pq.read_metadata(snapshot.path(segment.file)).num_row_groups > 2
    values = snapshot.values("b")["x"].to_numpy()
    assert np.array_equal(values, np.arange(count) + ord("b"))


def test_wide_ordinals(transaction: Transaction, store: Store) -> None:
    """Ordinals past 32 bits are kept."""
    large = 1 << 33
    transaction.add_segment(Segment("a", Kind.TOKEN, "", large + 1))
    transaction.add_edges(EdgeSet("a", "a", 2, Ordinals.COLUMN, Ordinals.ONE, ""), [large, 0])
    transaction.commit()
    snapshot = store.snapshot()
    assert snapshot.ordinals(snapshot.edges[0])[0].tolist() == [large, 0]
    assert fsck(store.path) == []


def test_no_edges(transaction: Transaction, store: Store) -> None:
    """Sets of no edges may join segments of no nodes."""
    transaction.add_segment(Segment("a", Kind.TOKEN, "", 0))
    transaction.add_edges(EdgeSet("a", "a", 0, Ordinals.ALL, Ordinals.ONE))
    transaction.add_edges(EdgeSet("a", "a", 0, file=""), [], [])
    transaction.commit()
    snapshot = store.snapshot()
    assert [len(end) for each in snapshot.edges for end in snapshot.ordinals(each)] == [0] * 4
    assert fsck(store.path) == []


def test_files_of_others(transaction: Transaction, store: Store, tmp_path: Path) -> None:
    """Files written into the folder, or elsewhere, and folders of parts, in their order."""
    inside = transaction.folder / "cars.parquet"
    pq.write_table(TABLE, inside)
    transaction.add_segment(CARS, file=inside)
    outside = tmp_path / "edges"
    outside.mkdir()
    for part, (source, target) in enumerate([([2], [0]), ([], []), ([1, 0], [1, 1])]):
        table = pa.table({"source": pa.array(source, pa.int64()), "target": pa.array(target, "i4")})
        pq.write_table(table, outside / f"part-{part:05d}-x.snappy.parquet")
    (outside / "_SUCCESS").touch()
    (outside / ".part-00000-x.snappy.parquet.crc").touch()
    transaction.add_edges(EDGES, file=outside)
    transaction.add_segment(SUM)
    transaction.commit()
    assert not inside.exists()
    assert len(list(outside.iterdir())) == 5
    snapshot = store.snapshot()
    assert snapshot.values("cars").equals(TABLE)
    sources, targets = snapshot.ordinals(snapshot.edges[0])
    assert (sources.tolist(), targets.tolist()) == ([2, 1, 0], [0, 1, 1])
    assert fsck(store.path) == []


def test_slices_of_one_file(transaction: Transaction, store: Store) -> None:
    """Segments and edges in parts of a file that was added once."""
    file = transaction.add_table(TABLE)
    for row in range(3):
        transaction.add_segment(
            Segment(f"car{row}", Kind.TOKEN, "", 1, key=("car",), file=file, offset=row)
        )
    with pytest.raises(StoreError, match=r"Segment x has 2 nodes, but values for 1\.\nGive one"):
        transaction.add_segment(Segment("x", Kind.TOKEN, "", 2, file=file, offset=2))
    with pytest.raises(StoreError, match="Segment x has 1 nodes, but values for 0"):
        transaction.add_segment(Segment("x", Kind.TOKEN, "", 1, file=file, offset=-1))
    transaction.commit()
    assert store.snapshot().values("car1").to_pydict() == {"car": ["C2"], "model": ["Civic"]}


def test_segments_refused(transaction: Transaction, writer: Writer, tmp_path: Path) -> None:
    """Names that are taken, rows that do not match, keys without columns, files that are none."""
    with writer.transaction() as other:
        other.add_segment(SUM)
        other.commit()
    with pytest.raises(StoreError, match="has a segment 'sum' already; names are unique"):
        transaction.add_segment(SUM)
    with pytest.raises(StoreError, match="Segment cars has 3 nodes, but values for 2"):
        transaction.add_segment(CARS, TABLE.slice(1))
    with pytest.raises(
        StoreError, match="Segment cars has 'car' in its key, but its values have only model"
    ):
        transaction.add_segment(CARS, TABLE.select(["model"]))
    with pytest.raises(StoreError, match=r"There is no file .*none to add to the store"):
        transaction.add_segment(CARS, file=tmp_path / "none")
    with pytest.raises(StoreError, match="has no Parquet file to add"):
        transaction.add_segment(CARS, file=transaction.folder)
    (tmp_path / "text.parquet").write_text("text")
    with pytest.raises(StoreError, match=r"text\.parquet cannot be read as Parquet"):
        transaction.add_segment(CARS, file=tmp_path / "text.parquet")
    with pytest.raises(StoreError, match=r"has no file 'data/x' in use\.\nGive the rows"):
        transaction.add_segment(Segment("x", Kind.TOKEN, "", 1, file="data/x"))
    transaction.add_segment(CARS, TABLE)
    with pytest.raises(StoreError, match="has a segment 'cars' already"):
        transaction.add_segment(CARS, TABLE)


def test_parts_that_differ(transaction: Transaction) -> None:
    """Parts of one file have the same columns."""
    pq.write_table(pa.table({"x": [1]}), transaction.folder / "part-0.parquet")
    pq.write_table(pa.table({"y": ["a"]}), transaction.folder / "part-1.parquet")
    with pytest.raises(
        StoreError, match=r"part-1\.parquet are not those of .*: y string instead of x int64\.\nW"
    ):
        transaction.add_file(transaction.folder)


def test_edges_refused(transaction: Transaction) -> None:
    """Ordinals that are missing, too few, no integers, NULL or negative."""
    with pytest.raises(StoreError, match="from cars to sum have a column 'target', which is not"):
        transaction.add_edges(EDGES, [0, 1, 2])
    with pytest.raises(StoreError, match="'source' of the edges from cars to sum has 2 ordinals f"):
        transaction.add_edges(EDGES, [0, 1], [0, 1, 2])
    with pytest.raises(
        StoreError,
        match=r"'target' .* must be an array of integers with one dimension, not of float64 with 1",
    ):
        transaction.add_edges(EDGES, [0, 1, 2], [0.0, 1.0, 2.0])
    with pytest.raises(StoreError, match=r"'target' .* has 1 NULLs; an edge has two ends"):
        transaction.add_edges(EDGES, [0, 1, 2], pa.array([0, None, 1]))
    with pytest.raises(StoreError, match=r"'source' .* has the ordinal -1; nodes count from 0"):
        transaction.add_edges(EDGES, [0, -1, 2], [0, 1, 1])


@pytest.mark.parametrize(
    ("edges", "arrays", "message"),
    [
        (EdgeSet("cars", "bikes", 1, file=""), ([0], [0]), "there is no segment 'bikes'.\nAdd it"),
        (EDGES, ([0, 1, 3], [0, 0, 0]), "there is no node 3 of cars, which has 3 nodes"),
        (EDGES, ([0, 1, 2], [0, 2, 0]), "there is no node 2 of sum, which has 2 nodes"),
        (EdgeSet("cars", "sum", 4, Ordinals.ALL, Ordinals.ONE), (), "no node 3 of cars"),
        (EdgeSet("empty", "sum", 1, Ordinals.ONE, Ordinals.ONE), (), "no node 0 of empty"),
    ],
)
def test_edges_to_nothing(writer: Writer, store: Store, edges, arrays, message) -> None:
    """Edges to segments or nodes that do not exist are refused at the commit, and all with them."""
    with writer.transaction() as transaction:
        transaction.add_segment(CARS, TABLE)
        transaction.add_segment(SUM)
        transaction.add_segment(Segment("empty", Kind.TOKEN, "", 0))
        transaction.add_edges(edges, *arrays)
        with pytest.raises(StoreError, match=message):
            transaction.commit()
    assert store.snapshot().version == 0
    assert fsck(store.path) == []
    assert list((store.path / "data").iterdir()) == []


def test_records(writer: Writer, store: Store) -> None:
    """A transaction sees its own records; copies only go in and out."""
    with writer.transaction() as transaction:
        document = {"files": ["a"], "n": 1.5, "none": None}
        transaction.put("state", document)
        document["files"].append("b")
        assert transaction.get("state") == {"files": ["a"], "n": 1.5, "none": None}
        transaction.get("state")["n"] = 2
        transaction.put("gone", 1)
        transaction.delete("gone")
        assert transaction.get("gone", "default") == "default"
        transaction.delete("never there")
        transaction.commit()
    assert store.snapshot().records == {"state": {"files": ["a"], "n": 1.5, "none": None}}
    with writer.transaction() as transaction:
        transaction.get("state")["n"] = 2
        transaction.delete("state")
        assert transaction.get("state") is None
        transaction.put("state", transaction.get("state", []))
        transaction.commit()
    assert store.snapshot().records == {"state": []}
    with writer.transaction() as transaction:
        for wrong in (object(), float("nan"), {1, 2}):
            with pytest.raises(StoreError, match="Record 'x' is not a JSON document"):
                transaction.put("x", wrong)


def test_files_by_name(writer: Writer, store: Store) -> None:
    """Files of records stay until they are removed by name, unless nodes are in them."""
    with writer.transaction() as transaction:
        free = transaction.add_table(TABLE, "cars and models")
        used = transaction.add_table(TABLE)
        transaction.add_segment(Segment("cars", Kind.TOKEN, "", 3, file=used))
        transaction.put("state", [free])
        transaction.commit()
    assert free.endswith("/cars_and_models-0.parquet")
    assert store.snapshot().read(free).equals(TABLE)
    assert writer.compact().before == 0
    with writer.transaction() as transaction:
        transaction.remove_file(free)
        transaction.commit()
    assert free not in store.snapshot().files
    with writer.transaction() as transaction:
        with pytest.raises(StoreError, match=r"has no file .* that was added by name"):
            transaction.remove_file(free)
        transaction.remove_file(used)
        with pytest.raises(StoreError, match="cannot be removed: segment cars is stored in it"):
            transaction.commit()


def test_exception_leaves_nothing(writer: Writer, store: Store) -> None:
    """What was written before an exception is gone after it."""

    def fail() -> None:
        with writer.transaction() as transaction:
            transaction.add_segment(CARS, TABLE)
            pq.write_table(TABLE, transaction.folder / "x.parquet")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert store.snapshot().version == 0
    assert list((store.path / "staging").iterdir()) == []


def test_forgotten_commit(writer: Writer) -> None:
    """Leaving a transaction with changes and without commit is an error; rollback is not."""
    with (
        pytest.raises(StoreError, match=r"without commit\(\) or rollback\(\); nothing was stored"),
        writer.transaction() as transaction,
    ):
        transaction.put("a", 1)
    with writer.transaction() as transaction:
        transaction.put("a", 1)
        transaction.rollback()
        transaction.rollback()
    with pytest.raises(StoreError, match=r"The transaction is over: begin another"):
        transaction.put("a", 1)


def test_threads(writer: Writer, store: Store) -> None:
    """Transactions of several threads are each whole, in some order."""
    barrier = threading.Barrier(4)
    errors = []

    def work(thread: int) -> None:
        try:
            for number in range(5):
                with writer.transaction() as transaction:
                    name = f"t{thread}/{number}"
                    segment = Segment(name, Kind.TOKEN, "", 2, file="")
                    transaction.add_segment(segment, pa.table({"x": [thread, number]}))
                    if number == 0:
                        barrier.wait(30)
                    transaction.put(name, transaction.get("n", 0))
                    transaction.commit()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(each,)) for each in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert errors == []
    snapshot = store.snapshot()
    assert snapshot.version == 20
    assert {name: snapshot.values(name)["x"].to_pylist() for name in snapshot.segments} == {
        f"t{thread}/{number}": [thread, number] for thread in range(4) for number in range(5)
    }


def test_same_name_in_two_transactions(writer: Writer, store: Store) -> None:
    """Of two transactions that add a segment of one name, the second is refused."""
    with writer.transaction() as first, writer.transaction() as second:
        first.add_segment(SUM)
        second.add_segment(SUM)
        second.commit()
        with pytest.raises(StoreError, match="has a segment 'sum' already"):
            first.commit()
    assert store.snapshot().version == 1


def test_expected_content(filled: Store) -> None:
    """The workload's outcome is what its transactions say."""
    assert check(filled) == 5
    assert len(expected(5).segments) == 12
