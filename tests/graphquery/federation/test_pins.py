"""Members are pinned at first contact: another store, or another key, is not believed later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphquery.errors import FederationError
from graphquery.federation.federation import Federation
from graphquery.federation.members.opening import forget, open_federation, pins_file, read_pins
from graphquery.federation.questions.answer import UNTRUSTED
from graphquery.federation.serving import keys
from graphquery.federation.serving.disclosure import Disclosure
from graphquery.federation.serving.keys import Signer, is_sealed_by
from graphquery.federation.serving.peers import Peers
from graphquery.federation.serving.server import Server
from graphquery.federation.wire import requests
from graphquery.federation.wire.client import HttpTransport
from graphquery.federation.wire.messages import WireMessage, reader, received
from tests.graphquery.federation.stores import store_of

OPEN = Peers(Disclosure.NODES)


def _file(folder: Path, **locations: object) -> Path:
    """Write the file of a federation."""
    file = folder / "federation.toml"
    tables = [f'[members.{alias}]\nlocation = "{each}"\n' for alias, each in locations.items()]
    file.write_text("format = 1\n" + "".join(tables))
    return file


def test_another_store_at_the_place_of_a_member_is_untrusted(
    stores: dict[str, Path], tmp_path: Path
) -> None:
    file = _file(tmp_path, D=stores["D"], B=stores["B"])
    assert len(open_federation(file).ancestors("D::d3")) == 8
    assert {alias: pin.store[:2] for alias, pin in read_pins(file).items()} == {
        "D": "0d",
        "B": "0b",
    }
    _file(tmp_path, D=stores["D"], B=stores["C"])
    federation = open_federation(file)
    assert federation.directory.absent["B"].reason == UNTRUSTED
    assert f"B should be the store {'0b' * 16}" in federation.directory.absent["B"].message
    assert read_pins(file)["B"].store == "0b" * 16
    forget(file, "B")
    assert not open_federation(file).directory.absent
    assert read_pins(file)["B"].store == "0c" * 16
    with pytest.raises(FederationError, match="No member 'X' is pinned"):
        forget(file, "X")


def test_a_store_that_is_down_is_not_replaced_by_one_that_claims_its_identity(
    stores: dict[str, Path], tmp_path: Path
) -> None:
    """The owner's pin outlives its server."""
    forged = store_of(tmp_path / "forged", "0a" * 16).path
    file = _file(tmp_path, A=stores["A"], D=stores["D"])
    open_federation(file)
    _file(tmp_path, A=tmp_path / "gone", D=stores["D"], F=forged)
    absent = open_federation(file).directory.absent
    assert {alias: each.reason for alias, each in absent.items()} == {
        "A": "unreachable",
        "F": UNTRUSTED,
    }


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 2}', '{"format": 1, "members": 3}'])
def test_damaged_pins_are_an_error(text: str, stores: dict[str, Path], tmp_path: Path) -> None:
    file = _file(tmp_path, D=stores["D"])
    pins_file(file).write_text(text)
    with pytest.raises(FederationError, match="holds no pins of members"):
        open_federation(file)


def test_a_server_with_another_key_is_untrusted(stores: dict[str, Path], tmp_path: Path) -> None:
    signer = Signer.of_file(tmp_path / "keys" / "server.key")
    assert (tmp_path / "keys" / "server.key").stat().st_mode & 0o077 == 0
    assert Signer.of_file(tmp_path / "keys" / "server.key").key == signer.key
    other = Signer.of_file(tmp_path / "other.key")
    file = tmp_path / "federation.toml"
    with Server(stores["D"], OPEN, signer=signer) as server:
        _file(tmp_path, D=server.address)
        with open_federation(file, timeout=20) as federation:
            assert len(federation.ancestors("D::d3")) == 5
        assert read_pins(file)["D"].key == signer.key
    # What answers in its place signs by another key, or does not sign.
    for stranger in (other, None):
        with Server(stores["D"], OPEN, signer=stranger) as server:
            _file(tmp_path, D=server.address)
            with open_federation(file, timeout=20) as federation:
                absent = federation.directory.absent["D"]
                assert absent.reason == UNTRUSTED
                assert "has not the key that was pinned" in absent.message
        assert read_pins(file)["D"].key == signer.key
    forget(file, "D")
    with Server(stores["D"], OPEN, signer=other) as server:
        _file(tmp_path, D=server.address)
        open_federation(file, timeout=20).close()
        assert read_pins(file)["D"].key == other.key


def test_a_server_that_changes_its_key_between_requests_is_noticed(
    stores: dict[str, Path], tmp_path: Path
) -> None:
    with Server(stores["D"], OPEN, signer=Signer.of_file(tmp_path / "a")) as server:
        transport = HttpTransport(server.address)
        federation = Federation({"D": transport}, timeout=20)
        server.signer = Signer.of_file(tmp_path / "b")
        assert [each.reason for each in federation.ancestors("D::d3").missing] == [UNTRUSTED]
        transport.close()


def test_seals_are_of_one_request_and_nonce(tmp_path: Path) -> None:
    signer = Signer.of_file(tmp_path / "key")
    seal = signer.seal("n", "question", "reply")
    assert is_sealed_by(seal, signer.key, "n", "question", "reply")
    for changed in (("m", "question", "reply"), ("n", "other", "reply"), ("n", "question", "x")):
        assert not is_sealed_by(seal, signer.key, *changed)
    for broken in ({}, {"signature": "zz"}, {"signature": "00" * 64}):
        assert not is_sealed_by(broken, signer.key, "n", "question", "reply")
    assert not is_sealed_by(seal, "00", "n", "question", "reply")
    sealed = b"".join(
        WireMessage({"a": 1}).frames(lambda checksum: signer.seal("n", "q", checksum))
    )
    back = received(reader(sealed))
    assert is_sealed_by(back.seal, signer.key, "n", "q", back.checksum)


def test_files_that_are_no_keys_are_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret")
    with pytest.raises(FederationError, match="holds no private key of a server"):
        Signer.of_file(tmp_path / "key")


def test_lengths_of_paths_are_disclosed_with_nodes_alone() -> None:
    import numpy as np

    rows = {"0" * 32: np.array([5])}
    store = requests.StoreVersion(2)
    plain = requests.reach(store, [], rows, forwards=False, want=requests.ROWS)
    assert requests.needed(plain) is Disclosure.BOUNDARY
    for distance, left in ((50, []), (0, []), (None, [np.array([50])])):
        measured = requests.reach_within(store, [], distance, rows, left, forwards=False)
        measured = WireMessage({**measured.header, "want": requests.ROWS}, measured.tables)
        assert requests.needed(measured) is Disclosure.NODES


def test_keys_are_said_in_the_file_of_a_federation(stores: dict[str, Path], tmp_path: Path) -> None:
    file = tmp_path / "federation.toml"
    file.write_text('format = 1\n[members.a]\nlocation = "http://127.0.0.1:1"\nkey = "00"\n')
    with pytest.raises(FederationError, match="a key has 64 hexadecimal digits"):
        open_federation(file)
    assert keys.default_key_file("0a").name == "0a.key"
    assert json.dumps(sorted(read_pins(file))) == "[]"
