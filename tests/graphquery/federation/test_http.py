"""Servers in threads: the same answers over HTTP, and clients that mean no good."""

from __future__ import annotations

import contextlib
import http.client
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from graphquery.errors import FederationError
from graphquery.federation.federation import Federation
from graphquery.federation.questions.answer import REFUSED, TIMEOUT, UNREACHABLE, Verdict
from graphquery.federation.serving.disclosure import Disclosure
from graphquery.federation.serving.peers import (
    Peer,
    Peers,
    new_token,
    read_peers,
    read_token,
    token_digest,
)
from graphquery.federation.serving.server import CONTENT_TYPE, PATH, Server, ServerSettings
from graphquery.federation.wire import requests
from graphquery.federation.wire.client import HttpTransport
from graphquery.federation.wire.requests import StoreVersion
from tests.graphquery.federation.oracle import check_question, check_values, federation_of
from tests.graphquery.federation.stores import random_stores

OPEN = Peers(Disclosure.NODES)
HEAD = f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {CONTENT_TYPE}\r\n"


@contextlib.contextmanager
def serving(
    paths: dict[str, Path], settings: ServerSettings | None = None
) -> Iterator[dict[str, Server]]:
    """A server for each store, and their connections closed at the end."""
    with contextlib.ExitStack() as stack:
        yield {
            alias: stack.enter_context(Server(path, OPEN, settings=settings))
            for alias, path in paths.items()
        }


@contextlib.contextmanager
def asking(
    servers: dict[str, Server], timeout: float | None = 20.0, **arguments: object
) -> Iterator[Federation]:
    """A federation of servers."""
    transports = {alias: HttpTransport(server.address) for alias, server in servers.items()}
    try:
        yield Federation(transports, timeout=timeout, **arguments)  # type: ignore[arg-type]
    finally:
        for transport in transports.values():
            transport.close()


def test_answers_over_http_are_those_of_the_merged_graph(tmp_path: Path) -> None:
    paths = random_stores(tmp_path, 11)
    graph = federation_of(paths).merged()
    random = np.random.default_rng(11)
    with serving(paths) as servers, asking(servers) as federation:
        for number in range(4):
            check_question(federation, graph, random, f"question {number}")
            check_values(federation, graph, random, f"question {number}")
        local = federation_of(paths)
        nodes = graph.names(graph.ids[-1:])
        assert federation.ancestors(nodes).cost == local.ancestors(nodes).cost


def test_tokens_decide_what_is_told(stores: dict[str, Path], tmp_path: Path) -> None:
    digest = new_token(tmp_path / "token")
    file = tmp_path / "peers.toml"
    file.write_text(f'format = 1\n[peers.d]\ntoken_sha256 = "{digest}"\ndisclosure = "boundary"\n')
    token = read_token(tmp_path / "token")
    assert token_digest(token) == digest
    assert (tmp_path / "token").stat().st_mode & 0o077 == 0
    with Server(stores["B"], read_peers(file)) as server:
        for given, level in ((token, Disclosure.BOUNDARY), ("wrong", None), (None, None)):
            transport = HttpTransport(server.address, given)
            transports = {"B": transport}
            directory = Federation(transports, timeout=20).directory
            transport.close()
            if level is None:
                assert directory.absent["B"].reason == REFUSED
            else:
                assert list(directory.heads) == ["B"]
                with pytest.raises(FederationError, match="b11"):
                    federation_of(stores).ancestors("B::b11")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no `format = 1`"),
        ("format = 1\n[peers.a]\ntoken_sha256 = 'x'", "Peer 'a' of .* has no token_sha256"),
        ("format = 1\neveryone = 'all'", "no disclosure 'all'"),
        ("x", "cannot be read"),
    ],
)
def test_files_of_peers_that_say_something_else(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "peers.toml"
    file.write_text(text)
    with pytest.raises(FederationError, match=message):
        read_peers(file)


def test_other_machines_need_tls_and_tokens(stores: dict[str, Path]) -> None:
    with pytest.raises(FederationError, match=r"0.0.0.0 is not this machine alone"):
        Server(stores["A"], Peers(), host="0.0.0.0")
    with pytest.raises(FederationError, match="everyone may see nodes"):
        Server(stores["A"], OPEN, host="0.0.0.0", certificate="x")
    with pytest.raises(FederationError, match="could be read by others"):
        HttpTransport("http://example.org:1", "token")
    for address in (
        "http://127.attacker.example:80",
        "http://127.0.0.1.nip.example",
        "http://localhost.example",
        "http://[::2]:80",
    ):
        with pytest.raises(FederationError, match="could be read by others"):
            HttpTransport(address, "token")
    for address in ("http://127.8.9.1:80", "http://[::1]", "http://LOCALHOST:80"):
        HttpTransport(address, "token").close()


@pytest.mark.parametrize(
    "address",
    ["http://host/path", "http://host:99999", "http://[::1", "ftp://host", "http://", "http://a?b"],
)
def test_addresses_are_parsed(address: str) -> None:
    with pytest.raises(FederationError, match="is not the address of a server"):
        HttpTransport(address)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 with its key in one file."""
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"]
    command += ["-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=127.0.0.1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    try:
        subprocess.run([*command, *files], check=True, capture_output=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("needs openssl to make a certificate")
    return folder


def test_tls_is_spoken_and_certificates_are_checked(
    stores: dict[str, Path], certificate: Path
) -> None:
    pair = {"certificate": certificate / "cert.pem", "private_key": certificate / "key.pem"}
    peers = Peers(known={token_digest("secret"): Peer("d", Disclosure.NODES)})
    with Server(stores["D"], peers, **pair) as server:
        assert server.address.startswith("https://127.0.0.1:")
        trusting = HttpTransport(server.address, "secret", certificate / "cert.pem")
        assert len(Federation({"D": trusting}, timeout=20).ancestors("D::d3")) == 5
        trusting.close()
        strange = HttpTransport(server.address, "secret")
        absent = Federation({"D": strange}, timeout=20).directory.absent["D"]
        assert absent.reason == UNREACHABLE
        assert "CERTIFICATE_VERIFY_FAILED" in absent.message
        plain = HttpTransport(server.address.replace("https", "http"))
        assert Federation({"D": plain}, timeout=20).directory.absent["D"].reason != REFUSED
        # A handshake that never comes keeps nobody waiting.
        with socket.create_connection(("127.0.0.1", int(server.address.rpartition(":")[2]))):
            trusting = HttpTransport(server.address, "secret", certificate / "cert.pem")
            assert len(Federation({"D": trusting}, timeout=20).ancestors("D::d3")) == 5
            trusting.close()


def _connected(server: Server) -> socket.socket:
    host, port = server.address.removeprefix("http://").rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=20)


def _status(server: Server, head: str, body: bytes = b"") -> int:
    """Return the status of the reply to a request written by hand.

    The headers that every request has are added where `head` does not have them.
    """
    for line in ("Host: localhost", f"Content-Type: {CONTENT_TYPE}"):
        if line.partition(":")[0] not in head:
            head += f"\n{line}"
    with _connected(server) as connection:
        connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)
        response = http.client.HTTPResponse(connection)
        response.begin()
        response.close()
        return response.status


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (f"POST {PATH} HTTP/1.1\nContent-Length: 99999999999", 413),
        (f"POST {PATH} HTTP/1.1\nContent-Length: {'9' * 500}", 413),
        (f"POST {PATH} HTTP/1.1\nContent-Length: -1", 411),
        (f"POST {PATH} HTTP/1.1\nTransfer-Encoding: chunked", 411),
        (f"POST {PATH} HTTP/1.1", 411),
        ("POST /etc/passwd HTTP/1.1\nContent-Length: 0", 404),
        (f"GET {PATH} HTTP/1.1", 501),
        (f"POST {PATH} HTTP/1.1\nAuthorization: Basic eA==\nContent-Length: 0", 401),
        (f"POST {PATH} HTTP/1.1\nAuthorization: Bearer x\nContent-Length: 0", 401),
        ("POST " + "x" * 70_000 + " HTTP/1.1", 414),
        (f"POST {PATH} HTTP/1.1\nHost: evil.example\nContent-Length: 0", 421),
        (f"POST {PATH} HTTP/1.1\nHost: 127.0.0.1.evil.example\nContent-Length: 0", 421),
        (f"POST {PATH} HTTP/1.1\nHost: [::1\nContent-Length: 0", 421),
        (f"POST {PATH} HTTP/1.1\nHost: \nContent-Length: 0", 421),
        (f"POST {PATH} HTTP/1.1\nContent-Type: text/plain\nContent-Length: 0", 415),
    ],
)
def test_requests_that_are_none_are_refused_by_their_head(
    head: str, status: int, stores: dict[str, Path]
) -> None:
    with Server(stores["D"], OPEN) as server:
        assert _status(server, head) == status
        with asking({"D": server}) as federation:
            assert len(federation.ancestors("D::d3")) == 5


def test_bodies_that_are_no_messages_harm_nobody(stores: dict[str, Path]) -> None:
    random = np.random.default_rng(0)
    good = requests.ends(StoreVersion(1), ["d1"], ["d3"]).to_bytes()
    with Server(stores["D"], OPEN, settings=ServerSettings(seconds=5)) as server:
        for number in range(60):
            body = bytearray(good)
            for offset in random.integers(0, len(body), 4):
                body[offset] = random.integers(256)
            if number % 3 == 0:
                body = body[: random.integers(len(body))]
            head = f"POST {PATH} HTTP/1.1\nContent-Length: {len(body)}"
            assert _status(server, head, bytes(body)) == 200
        with asking({"D": server}) as federation:
            assert federation.flow("D::d1", "D::d3").verdict is Verdict.YES


def test_slow_and_many_clients_are_closed_and_others_answered(stores: dict[str, Path]) -> None:
    settings = ServerSettings(seconds=1.0, connections=20)
    with Server(stores["D"], OPEN, settings=settings) as server:
        slow = [_connected(server) for _ in range(15)]
        for number, connection in enumerate(slow):
            head = f"{HEAD}Content-Length: 1000\r\n\r\n"
            connection.sendall(head.encode()[: 10 * number])
        with asking({"D": server}) as federation:
            assert len(federation.ancestors("D::d3")) == 5
        for connection in slow:
            # What has not sent a request in its time is closed.
            with contextlib.suppress(ConnectionResetError):
                while connection.recv(4096):
                    pass
            connection.close()
        crowd = [_connected(server) for _ in range(60)]
        time.sleep(0.2)
        for connection in crowd:
            connection.close()
        time.sleep(0.2)
        with asking({"D": server}) as federation:
            assert len(federation.ancestors("D::d3")) == 5


def test_readers_that_do_not_read_do_not_keep_a_server(stores: dict[str, Path]) -> None:
    with Server(stores["D"], OPEN, settings=ServerSettings(seconds=1.0, working=1)) as server:
        body = requests.head().to_bytes()
        head = f"{HEAD}Content-Length: {len(body)}\r\n\r\n".encode()
        with _connected(server) as lazy:
            lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            lazy.sendall((head + body) * 50)
            with asking({"D": server}) as federation:
                assert len(federation.ancestors("D::d3")) == 5


def test_a_reply_longer_than_allowed_is_broken_off_and_noticed(stores: dict[str, Path]) -> None:
    settings = ServerSettings(reply_bytes=100)
    with (
        Server(stores["D"], OPEN, settings=settings) as server,
        asking({"D": server}) as federation,
    ):
        assert federation.directory.absent["D"].reason == "interrupted"


def test_servers_that_never_answer_take_no_longer_than_allowed(stores: dict[str, Path]) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def trickle() -> None:
        connection, _ = listening.accept()
        with connection, contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while not stop.wait(0.05):
                connection.sendall(b"1\r\nH\r\n")

    thread = threading.Thread(target=trickle)
    thread.start()
    try:
        transport = HttpTransport(f"http://127.0.0.1:{listening.getsockname()[1]}")
        federation = Federation({"D": transport}, timeout=0.5)
        assert federation.directory.absent["D"].reason in (TIMEOUT, "damaged")
    finally:
        stop.set()
        thread.join()
        listening.close()


def test_a_server_that_is_closed_is_missing_and_comes_back(stores: dict[str, Path]) -> None:
    with serving(stores) as servers, asking(servers) as federation:
        assert len(federation.ancestors("D::d3")) == 20
        port = int(servers["B"].address.rpartition(":")[2])
        servers["B"].close()
        with socket.create_server(("127.0.0.1", port)) as taken:
            del taken
        federation._transports["B"].close()  # type: ignore[attr-defined]
        answer = federation.ancestors("D::d3")
        assert (len(answer), [each.store for each in answer.missing]) == (14, ["B"])
        with Server(stores["B"], OPEN, port=port):
            assert len(federation.ancestors("D::d3")) == 20


def test_newcomers_that_never_finish_their_headers_keep_nobody_out(stores: dict[str, Path]) -> None:
    """More sockets than there are places send a header line now and then, for ever."""
    settings = ServerSettings(seconds=1.5, connections=4, newcomers=8)
    with Server(stores["D"], OPEN, settings=settings) as server:
        stop = threading.Event()
        crowd = [_connected(server) for _ in range(30)]

        def trickle() -> None:
            while not stop.wait(0.1):
                for connection in crowd:
                    with contextlib.suppress(OSError):
                        connection.sendall(b"X-More: 1\r\n")

        for connection in crowd:
            with contextlib.suppress(OSError):
                connection.sendall(HEAD.encode())
        thread = threading.Thread(target=trickle)
        thread.start()
        try:
            with asking({"D": server}) as federation:
                assert len(federation.ancestors("D::d3")) == 5
            # Headers have a deadline however often a line of them comes.
            time.sleep(2.0)
            closed = 0
            for connection in crowd:
                connection.settimeout(2.0)
                with contextlib.suppress(OSError):
                    closed += connection.recv(1) == b""
            assert closed > 20
        finally:
            stop.set()
            thread.join()
            for connection in crowd:
                connection.close()


def test_a_kept_connection_has_the_whole_time_for_its_next_request(stores: dict[str, Path]) -> None:
    with (
        Server(stores["D"], OPEN, settings=ServerSettings(seconds=1.0)) as server,
        _connected(server) as connection,
    ):
        body = requests.head().to_bytes()
        for _ in range(2):
            time.sleep(0.7)
            connection.sendall(f"{HEAD}Content-Length: {len(body)}\r\n\r\n".encode())
            time.sleep(0.6)
            connection.sendall(body)
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert response.status == 200
            response.read()
