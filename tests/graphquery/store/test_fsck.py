"""Damage of every sort, what it is called, and that nothing else is reported with it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.store import Damage, Store, StoreDamagedError, StoreError, checkpoint, fsck
from graphquery.store.documents import seal
from graphquery.store.format import read_format
from graphquery.store.staging import describe
from tests.graphquery.store.workload import add

RESTORE = "Restore it from a copy of the store."
REWRITE = "Write the segment again, to a new store."


def file_of(store: Store, segment: str) -> Path:
    file = store.snapshot().segments[segment].file
    assert file is not None
    return store.path / file


def entry(store: Store, version: int) -> Path:
    return store.path / "log" / f"{version:020d}.json"


def rewrite(store: Store, version: int, change: Callable[[dict], None]) -> None:
    """Change the last commit, with a checksum that fits."""
    document = json.loads(entry(store, version).read_text())["content"]
    change(document)
    entry(store, version).write_bytes(seal(document)[0])


def test_sound(filled: Store) -> None:
    """A sound store has no damage; what is none is an error."""
    assert fsck(filled.path) == fsck(str(filled.path)) == []
    with pytest.raises(StoreError, match="is not a store"):
        fsck(filled.path / "data")


def test_missing_file(filled: Store) -> None:
    """A file in use that is gone, once."""
    path = file_of(filled, "cars3")
    path.unlink()
    name = path.relative_to(filled.path).as_posix()
    (damage,) = fsck(filled.path)
    assert damage == Damage("The file is missing.", name, RESTORE)
    assert str(damage) == f"{name}: The file is missing. {RESTORE}"


def test_truncated_file(filled: Store) -> None:
    """A file that ends early."""
    path = file_of(filled, "cars3")
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-9])
    (damage,) = fsck(filled.path)
    assert damage.what == f"The file was truncated: it has {size - 9} bytes of {size}."


def test_unreadable_file(filled: Store) -> None:
    """A file of ordinals that is not Parquet any more."""
    edges = next(each for each in filled.snapshot().edges if each.file is not None)
    path = filled.path / str(edges.file)
    path.write_bytes(bytes(path.stat().st_size))
    (damage,) = fsck(filled.path)
    assert damage.what.startswith("The file cannot be read: ")


def test_altered_file(filled: Store) -> None:
    """One flipped bit."""
    path = file_of(filled, "cars3")
    data = bytearray(path.read_bytes())
    data[10] ^= 1
    path.write_bytes(data)
    (damage,) = fsck(filled.path)
    assert damage.what.startswith("The file was altered: its SHA-256 is ")


def test_replaced_file(filled: Store) -> None:
    """A sound file in the place of another, and a log that agrees with its bytes only."""
    path = file_of(filled, "cars5")
    name = path.relative_to(filled.path).as_posix()
    pq.write_table(pa.table({"car": [1, 2, 3]}), path)
    described = describe(path)

    def change(document: dict) -> None:
        document["files"][name] |= {"size": described.size, "sha256": described.sha256}

    rewrite(filled, 6, change)
    (damage,) = fsck(filled.path)
    assert damage.what == "The file has 3 rows, not the 1 (or columns) it was added with."


@pytest.mark.parametrize("version", [1, 3, 6])
def test_altered_log(filled: Store, version: int) -> None:
    """A commit whose bytes changed."""
    path = entry(filled, version)
    path.write_bytes(path.read_bytes().replace(b'"label":"+"', b'"label":"-"'))
    damages = [each for each in fsck(filled.path) if not each.garbage]
    where = f"log/{version:020d}.json"
    assert [(each.where, each.what.split(":")[0]) for each in damages] == [
        (where, f"Commit {version} of the log is not what was written")
    ]


def test_missing_commit(filled: Store) -> None:
    """A commit that is gone, before the last one."""
    entry(filled, 2).unlink()
    assert fsck(filled.path) == [Damage("The commit is missing.", f"log/{2:020d}.json", RESTORE)]


def test_broken_chain(filled: Store) -> None:
    """A commit that is sound in itself, but not the one the next follows on."""
    rewrite(filled, 4, lambda document: document["records"].update(last=77))
    (damage,) = fsck(filled.path)
    assert damage.where == f"log/{5:020d}.json"
    assert damage.what == "Commit 5 does not follow on commit 4: the chain of checksums is broken."


def test_log_of_another_store(filled: Store) -> None:
    """The chain starts from the store's identity."""
    path = filled.path / "format.json"
    text = path.read_text()
    path.write_text(text.replace(read_format(filled.path).store, "0" * 32))
    (damage,) = fsck(filled.path)
    assert damage.what.startswith("Commit 1 does not follow on commit 0")


def test_commit_not_understood(filled: Store) -> None:
    """A commit with a sound checksum that says nothing we know."""
    rewrite(filled, 6, lambda document: document["segments"][0].update(kind="z"))
    (damage,) = fsck(filled.path)
    assert (
        damage.what
        == "Commit 6 of the log cannot be understood: it.segments[0].kind is 'z', not a Kind."
    )


@pytest.mark.parametrize(
    ("change", "where", "what"),
    [
        (
            lambda document: document["segments"][0].update(count=2),
            "segment cars5",
            "Its nodes are rows 0 to 2 of {file}, which has 1.",
        ),
        (
            lambda document: document["segments"][0].update(file="data/x"),
            "segment cars5",
            "Its file data/x is not in use.",
        ),
        (
            lambda document: document["edges"][0].update(target="bikes"),
            "edges from cars5 to bikes",
            "There is no segment bikes.",
        ),
        (
            lambda document: document["edges"][0].update(count=2),
            "edges from cars5 to sum5",
            "They are at 2 nodes of cars5, which has 1.",
        ),
        (
            lambda document: document["edges"][1].update(count=2, source="cars3", offset=3),
            "edges from cars3 to sum5",
            "They are rows 3 to 5 of edges-1.parquet, which has 0.",
        ),
        (
            lambda document: document["edges"][1].update(file="data/x"),
            "edges from cars4 to sum5",
            "Its file data/x is not in use.",
        ),
    ],
)
def test_wrong_entries(filled: Store, change, where: str, what: str) -> None:
    """Segments and edges that say what cannot be."""
    file = filled.snapshot().segments["cars5"].file
    rewrite(filled, 6, change)
    (damage,) = [each for each in fsck(filled.path) if not each.garbage]
    assert damage.where == where
    assert damage.what == what.format(file=file)


@pytest.mark.parametrize(
    ("column", "what"),
    [
        ([0, 3, 1], "Their column source has ordinals from 0 to 3; a has 3 nodes."),
        ([0, -1, 1], "Their column source has ordinals from -1 to 1; a has 3 nodes."),
        ([0, None, 1], "Their column source has 1 NULLs."),
        (["x", "y", "z"], "Their column source is not of integers, but string."),
        (None, "Their file has no column source."),
    ],
)
def test_wrong_ordinals(store: Store, column: list | None, what: str) -> None:
    """Ordinals that are not nodes, in a file that is what the log says."""
    with store.writer() as writer, writer.transaction() as transaction:
        transaction.add_segment(Segment("a", Kind.TOKEN, "", 3))
        edges = EdgeSet("a", "a", 3, targets=Ordinals.ONE, file="")
        stored = transaction.add_edges(edges, [0, 1, 2])
        transaction.commit()
    path = store.path / str(stored.file)
    pq.write_table(pa.table({"other": [1, 2, 3]} if column is None else {"source": column}), path)
    described = describe(path)

    def change(document: dict) -> None:
        document["files"][str(stored.file)] |= {
            "size": described.size,
            "sha256": described.sha256,
            "schema": described.schema,
        }

    rewrite(store, 1, change)
    (damage,) = fsck(store.path)
    assert (damage.where, damage.what) == ("edges from a to a", what)


def test_checkpoints(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints that are altered, do not agree with the log, or are past its end."""
    monkeypatch.setattr(checkpoint, "EVERY", 2)
    with store.writer() as writer:
        for number in range(4):
            with writer.transaction() as transaction:
                add(transaction, number)
                transaction.commit()
    assert fsck(store.path) == []
    path = checkpoint.checkpoint_path(store.path, 4)
    data = path.read_bytes()
    where = f"checkpoints/{4:020d}.json"
    path.write_bytes(data[:-5])
    assert fsck(store.path) == [
        Damage("The checkpoint was truncated or altered.", where, "Delete it.")
    ]
    content = json.loads(data)["content"]
    content["records"]["last"] = 7
    path.write_bytes(seal(content)[0])
    assert fsck(store.path) == [
        Damage("The checkpoint does not agree with the log.", where, "Delete it.")
    ]
    path.write_bytes(data)
    entry(store, 4).unlink()
    damage = next(each for each in fsck(store.path) if not each.garbage)
    assert damage.what == "The checkpoint is of commit 4, but the log ends at 3."


def test_missing_folder(store: Store) -> None:
    """Folders that are gone: empty ones are made anew, without a log there is no store."""
    for name in ("staging", "data", "checkpoints"):
        (store.path / name).rmdir()
    assert {each.where for each in fsck(store.path) if each.garbage} == {
        "staging",
        "data",
        "checkpoints",
    }
    with store.writer():
        pass
    assert fsck(store.path) == []
    (store.path / "log").rmdir()
    assert fsck(store.path) == [Damage("The folder is missing.", "log", RESTORE)]
    with pytest.raises(StoreDamagedError, match=r"has no folder log\.\nRestore it from a copy"):
        Store.open(store.path).snapshot()


def test_left_over(filled: Store) -> None:
    """What interrupted writers leave is garbage, comes last, and is named."""
    with filled.writer() as writer:
        writer.compact()
    snapshot = filled.snapshot(6)
    gone = next(file for file, each in snapshot.files.items() if not each.kept)
    (filled.path / gone).unlink()
    folder = filled.path / "data" / "00000009-aaaaaaaa"
    folder.mkdir()
    shutil.copy(file_of(filled, "cars1"), folder / "x.parquet")
    (filled.path / "staging" / "00000009-bbbbbbbb").mkdir()
    (filled.path / "log" / "7.json.1.tmp").touch()
    file_of(filled, "cars3").unlink()
    damages = fsck(filled.path)
    assert [each.garbage for each in damages] == [False, True, True, True, True]
    assert {each.where for each in damages if each.garbage} == {
        gone,
        "data/00000009-aaaaaaaa/x.parquet",
        "staging/00000009-bbbbbbbb",
        "log/7.json.1.tmp",
    }


def test_while_writing(filled: Store) -> None:
    """A writer at work shows as left over, not as damage."""
    with filled.writer() as writer, writer.transaction() as transaction:
        add(transaction, 6)
        (damage,) = fsck(filled.path)
        assert damage.garbage
        assert damage.what == "A transaction was interrupted, or is at work."
        transaction.commit()
    assert fsck(filled.path) == []
