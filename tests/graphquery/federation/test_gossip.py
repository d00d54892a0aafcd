"""Hosts copy what their questions need, from servers too, and nothing that its owner has not."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pyarrow import fs

from graphquery.federation import (
    Disclosure,
    Federation,
    FederationError,
    LocalTransport,
    copy_store,
    open_federation,
)
from graphquery.federation.copies.gossip import PeerFiles, gossip
from graphquery.federation.crossings.head import head_of
from graphquery.federation.serving.peers import Peers
from graphquery.federation.serving.responder import Responder
from graphquery.federation.serving.server import Server
from graphquery.federation.serving.site import Site
from graphquery.federation.wire import requests
from graphquery.federation.wire.client import HttpTransport
from graphquery.store import Store, StoreDamagedError, fsck
from tests.graphquery.federation.oracle import check_question
from tests.graphquery.federation.stores import example


@pytest.fixture
def stores(tmp_path: Path) -> dict[str, Path]:
    """The example's stores, to be written to."""
    return example(tmp_path / "stores")


@contextlib.contextmanager
def served(
    stores: dict[str, Path], folder: Path, capacity: int
) -> Iterator[tuple[Path, dict[str, Server]]]:
    """The file of a federation whose members but D are servers, and these."""
    with contextlib.ExitStack() as stack:
        servers = {
            alias: stack.enter_context(Server(path, Peers(Disclosure.NODES)))
            for alias, path in stores.items()
            if alias != "D"
        }
        lines = ["format = 1", "[precaching]", 'host = "D"', f"capacity = {capacity}"]
        lines += ['folder = "kept"']
        for alias, path in stores.items():
            location = servers[alias].address if alias in servers else str(path)
            lines += [f"[members.{alias}]", f'location = "{location}"']
        file = folder / "federation.toml"
        file.write_text("\n".join(lines))
        yield file, servers


def test_what_questions_needed_is_there_when_its_owner_is_not(
    stores: dict[str, Path], tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    with served(stores, tmp_path, 10**9) as (file, servers):
        assert gossip(file, timeout=20).taken == {}  # nothing was asked
        with open_federation(file, timeout=20) as federation:
            whole = federation.ancestors("B::b1")
            assert whole.complete
        assert gossip(file, timeout=20).taken == {
            alias: Store.open(stores[alias]).snapshot().version for alias in ("A", "B")
        }
        assert [path.name for path in sorted(kept.iterdir())] == ["A", "B", "questions.jsonl"]
        assert [fsck(kept / alias) for alias in ("A", "B")] == [[], []]
        for alias in ("A", "B"):
            servers[alias].close()
        with open_federation(file, timeout=20) as federation:
            assert federation.names(federation.ancestors("B::b1")) == [*federation.names(whole)]
            assert federation.ancestors("B::b1").complete
            random = np.random.default_rng(0)
            graph = Federation({a: LocalTransport(p) for a, p in stores.items()}).merged()
            with pytest.raises(FederationError, match="C cannot be read here, only asked"):
                federation.merged()
            assert sum(check_question(federation, graph, random, str(n)) for n in range(5)) > 5
        copy_store(fs.LocalFileSystem(), str(stores["C"]), kept / "C")
        with open_federation(file, timeout=20) as federation:
            assert federation.merged().equals(graph)
        again = gossip(file, timeout=20)
        assert set(again.failed) == {"A", "B"}
        assert (kept / "A").is_dir(), "a copy is kept while its owner is away"


def test_copies_that_do_not_pay_are_given_up(stores: dict[str, Path], tmp_path: Path) -> None:
    size = {
        alias: sum(entry.size for entry in Store.open(path).snapshot().files.values())
        for alias, path in stores.items()
    }
    with served(stores, tmp_path, max(size["A"], size["C"]) + 1) as (file, _):
        with open_federation(file, timeout=20) as federation:
            federation.descendants("A::a2")
            federation.flow("A::a1", "A::a2")
        assert set(gossip(file, timeout=20).taken) == {"A"}
        with open_federation(file, timeout=20) as federation:
            for _ in range(5):
                federation.ancestors("C::c1", distance=1)
        outcome = gossip(file, timeout=20)
        assert set(outcome.taken) == {"C"}
        assert outcome.evicted == ("A",)
        assert not (tmp_path / "kept" / "A").exists()


def test_a_copy_is_what_its_owner_says_whoever_holds_it(
    stores: dict[str, Path], tmp_path: Path
) -> None:
    head = head_of(Site(Store.open(stores["B"]).snapshot()))
    with Server(stores["B"], Peers(Disclosure.NODES)) as holder:
        files = PeerFiles(HttpTransport(holder.address))
        assert copy_store(files, "", tmp_path / "copy", head) == head.version
        with pytest.raises(FileNotFoundError):
            files.open_input_stream("/../A/format.json")
        data = sorted((stores["B"] / "data").rglob("*.parquet"))[-1]
        data.write_bytes(data.read_bytes()[:-1] + b"?")
        with pytest.raises(StoreDamagedError, match="is not what was committed"):
            copy_store(files, "", tmp_path / "altered", head)
        other = head_of(Site(Store.open(stores["A"]).snapshot()))
        with pytest.raises(FederationError, match="is the store"):
            copy_store(files, "", tmp_path / "other", other)
        files.close()
    with Server(stores["A"], Peers(Disclosure.BOUNDARY)) as secretive:
        files = PeerFiles(HttpTransport(secretive.address))
        with pytest.raises(OSError, match="does not disclose"):
            copy_store(files, "", tmp_path / "secret")
        files.close()


@pytest.mark.parametrize(
    "name", ["../stores/A/format.json", "/etc/passwd", "log/../format.json", "lock", "data", ""]
)
def test_servers_give_no_other_files(stores: dict[str, Path], name: str) -> None:
    reply = Responder(stores["B"]).answer(requests.file(name, 0, 100))
    assert reply.header["there"] is False
    assert not reply.tables


@pytest.mark.parametrize(
    "part", [(None, 0, 1), ("format.json", -1, 1), ("format.json", 0, 1 << 30), ("x", "0", 1)]
)
def test_parts_that_are_none_are_refused(
    stores: dict[str, Path], part: tuple[str, int, int]
) -> None:
    assert Responder(stores["B"]).answer(requests.file(*part)).header["error"] == "malformed"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "has no table"),
        ("[precaching]\nhost = 'A'", "has to have host, folder and capacity"),
        ("[precaching]\nhost = 'X'\nfolder = 'k'\ncapacity = 1", "is one of the members"),
        ("[precaching]\nhost = 'A'\nfolder = 'k'\ncapacity = 1\nx = 1", "has to have host"),
    ],
)
def test_what_the_file_does_not_say_is_said(table: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "f.toml"
    file.write_text(f"format = 1\n[members.A]\nlocation = 'a'\n{table}\n")
    with pytest.raises(FederationError, match=message):
        gossip(file)
