"""Copies of stores: whole or not taken, from any file system, for when the owner is away."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import fs

from graphquery import Kind, Segment
from graphquery.federation import FederationError, Verdict, copy_store, open_federation
from graphquery.federation.copies import copies
from graphquery.federation.crossings.head import head_of
from graphquery.federation.serving.site import Site
from graphquery.store import Store, StoreDamagedError, fsck
from tests.graphquery.federation.oracle import check_question, federation_of
from tests.graphquery.federation.stores import example


@dataclass(slots=True)
class Network:
    """What is read of other file systems: counted, and stopped."""

    read: int = 0
    broken: str | None = None

    def of(self, files: fs.FileSystem, path: str) -> bytes:
        if self.broken is not None and self.broken in path:
            raise OSError("the network is gone")
        self.read += 1
        return plain_read(files, path)


plain_read = copies._read


@pytest.fixture
def mine(tmp_path: Path) -> dict[str, Path]:
    """The example's stores, to be written to."""
    return example(tmp_path / "stores")


def add(store: Path, name: str) -> None:
    with Store.open(store).writer() as writer, writer.transaction() as transaction:
        values = pa.table({"k": [name]})
        transaction.add_segment(Segment(name, Kind.TOKEN, "", 1, key=("k",), file=""), values)
        transaction.commit()


def test_copies_follow_their_store_and_take_nothing_that_is_not_whole(
    mine: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, stores = Network(), mine
    monkeypatch.setattr(copies, "_read", network.of)
    files = fs.SubTreeFileSystem(str(tmp_path / "stores"), fs.LocalFileSystem())
    copy = tmp_path / "copy"
    version = copy_store(files, "B", copy)
    assert version == Store.open(stores["B"]).snapshot().version
    assert fsck(copy) == []
    before = network.read
    assert copy_store(files, "B", copy) == version
    assert network.read == before + 2  # the format, and a commit that is not there

    add(stores["B"], "more")
    add(stores["B"], "most")
    network.broken = f"{version + 2:020d}.json"
    with pytest.raises(OSError, match="network is gone"):
        copy_store(files, "B", copy)
    assert (fsck(copy), Store.open(copy).snapshot().version) == ([], version)
    network.broken = None
    assert copy_store(files, "B", copy) == version + 2
    with Store.open(stores["B"]).writer() as writer:
        writer.compact()
    assert copy_store(files, "B", copy) == Store.open(stores["B"]).snapshot().version
    assert fsck(copy) == []

    head = head_of(Site(Store.open(stores["B"]).snapshot()))
    assert copy_store(files, "B", tmp_path / "third", head) == head.version
    add(stores["B"], "third")
    later = head_of(Site(Store.open(stores["B"]).snapshot()))
    with pytest.raises(FederationError, match="does not match its owner"):
        copy_store(fs.LocalFileSystem(), str(tmp_path / "third"), tmp_path / "fourth", later)
    with pytest.raises(FederationError, match="has a different store"):
        copy_store(files, "A", copy)
    data = sorted((stores["B"] / "data").rglob("*.parquet"))[-1]
    data.write_bytes(data.read_bytes()[:-1] + b"?")
    with pytest.raises(StoreDamagedError, match="is not what was committed"):
        copy_store(files, "B", tmp_path / "fifth")
    with pytest.raises(FederationError, match="names no file system"):
        open_federation(federation_file(tmp_path, {"X": "nowhere://x"}))


def federation_file(
    folder: Path, locations: dict[str, str], copies: dict[str, str] | None = None
) -> Path:
    """Write the file of a federation."""
    text = ["format = 1"]
    for alias, location in locations.items():
        text += [f"[members.{alias}]", f'location = "{location}"']
        if alias in (copies or {}):
            text.append(f'copy = "{(copies or {})[alias]}"')
    path = folder / "federation.toml"
    path.write_text("\n".join(text))
    return path


def test_members_are_on_other_file_systems_and_have_copies(
    mine: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = mine
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    locations = {alias: path.as_uri() for alias, path in stores.items()}
    random = np.random.default_rng(0)
    with open_federation(federation_file(tmp_path, locations)) as federation:
        graph = federation.merged()
        assert sum(check_question(federation, graph, random, str(n)) for n in range(5)) > 5
        moved = stores["B"].rename(tmp_path / "away")
        federation.refresh()
        assert [each.reason for each in federation.ancestors("D::d3").missing] == ["unreachable"]
        moved.rename(stores["B"])

    copy_store(fs.LocalFileSystem(), str(stores["B"]), tmp_path / "copy")
    plain = {alias: str(path) for alias, path in stores.items()}
    file = federation_file(tmp_path, plain, {"B": str(tmp_path / "copy")})
    with open_federation(file) as federation:
        stores["B"].rename(tmp_path / "away")
        federation.close()
        answer = federation.ancestors("D::d3")
        assert (len(answer), answer.complete) == (20, True)
        federation.refresh()
        assert federation.flow("A::a1", "D::d1").verdict is Verdict.YES
    with federation_of(stores) as federation:
        assert [str(each).split(",")[0] for each in federation.ancestors("D::d3").missing] == [
            "B: unreachable"
        ]
