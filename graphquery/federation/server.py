"""A server for one store: requests and replies of a federation over HTTP.

A request is a POST whose body is a message; the reply's body is one, in chunks, with an end mark of
its own. Whoever is not told anything is refused before the body is read. Connections that are slow
or many are closed; what one peer does, others do not notice.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from graphquery.federation.disclosure import Disclosure
from graphquery.federation.errors import FederationError, WireError
from graphquery.federation.peers import Peer, Peers
from graphquery.federation.responder import Responder, refusal
from graphquery.federation.wire import REQUEST, Limits, Message, received

PATH = "/lipstick/1"
CONTENT_TYPE = "application/vnd.lipstick.message"
LOG = logging.getLogger("lipstick.federation")
LOG.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Settings:
    """What a server allows.

    Parameters
    ----------
    request
        Of messages that are taken in.
    reply_bytes
        Of one reply; a longer one is broken off, which who asked notices.
    seconds
        That one request may take, from its first byte to the last of the reply.
    connections
        At a time; more are closed at once.
    working
        Requests that are worked on at a time; more wait, as long as they may take.
    """

    request: Limits = REQUEST
    reply_bytes: int = 1 << 34
    seconds: float = 60.0
    connections: int = 64
    working: int = 4


class Server:
    """Serves a store until it is closed; to be used as a context.

    Parameters
    ----------
    path
        The folder of the store.
    peers
        Whom it tells what.
    host, port
        Where it listens; port 0 is one that is free. Beyond loopback it needs a certificate and
        tells nothing without a token.
    certificate, private_key
        Files in PEM, for TLS.

    Raises
    ------
    StoreError
        There is no store.
    FederationError
        It would tell others than this machine without TLS and tokens, or cannot listen there.
    """

    def __init__(
        self,
        path: str | Path,
        peers: Peers,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        certificate: str | Path | None = None,
        private_key: str | Path | None = None,
        settings: Settings | None = None,
    ) -> None:
        _check_place(host, peers, certificate)
        self.settings = settings or Settings()
        self.peers = peers
        self.responder = Responder(path)
        self.working = threading.BoundedSemaphore(self.settings.working)
        self.tls: ssl.SSLContext | None = None
        if certificate is not None:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.minimum_version = ssl.TLSVersion.TLSv1_2
            try:
                self.tls.load_cert_chain(certificate, private_key)
            except OSError as error:
                raise FederationError(f"{certificate} is no certificate: {error}.") from error
        try:
            self._http = _Http((host, port), self)
        except OSError as error:
            raise FederationError(f"Cannot listen at {host}:{port}: {error.strerror}.") from error
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """Where it is asked: ``http(s)://host:port``."""
        host, port = self._http.server_address[:2]
        name = f"[{host!s}]" if ":" in str(host) else str(host)
        return f"{'http' if self.tls is None else 'https'}://{name}:{port}"

    def serve(self) -> None:
        """Serve in this thread until another closes it."""
        self._http.serve_forever(poll_interval=0.1)

    def __enter__(self) -> Server:
        self._thread = threading.Thread(target=self.serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening; what is being answered is broken off with the process."""
        if self._thread is not None:
            self._http.shutdown()
            self._thread.join()
            self._thread = None
        self._http.server_close()


def _check_place(host: str, peers: Peers, certificate: object) -> None:
    try:
        local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost"
    if not local and certificate is None:
        raise FederationError(
            f"{host} is not this machine alone, and what is sent there can be read by others.\n"
            "Give a certificate, or listen at 127.0.0.1."
        )
    if not local and peers.everyone > Disclosure.NOTHING:
        raise FederationError(
            f"At {host} anybody could ask, and {peers.everyone.name.lower()} is told to everyone.\n"
            "Give peers tokens, and tell everyone nothing."
        )


class _Http(ThreadingHTTPServer):
    """Takes connections in, no more than allowed, each in a thread of its own."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], server: Server) -> None:
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        self.federation = server
        self._places = threading.BoundedSemaphore(server.settings.connections)
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._places.acquire(blocking=False):
            LOG.warning("%s closed: too many connections", client_address[0])
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def finish_request(self, request: Any, client_address: Any) -> None:
        request.settimeout(self.federation.settings.seconds)
        tls = self.federation.tls
        if tls is not None:
            # In the thread of the connection, so that a slow handshake keeps nobody waiting.
            request = tls.wrap_socket(request, server_side=True)
        try:
            super().finish_request(request, client_address)
        finally:
            if tls is not None:
                with contextlib.suppress(OSError):
                    request.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        LOG.info("%s broken off", client_address[0], exc_info=LOG.isEnabledFor(logging.DEBUG))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "lipstick"
    sys_version = ""
    # Small pieces of a reply go out together, and at once.
    wbufsize = 1 << 18
    disable_nagle_algorithm = True
    server: _Http

    def handle_one_request(self) -> None:
        """Handle a request within its time, which begins with waiting for it."""
        self._until = time.monotonic() + self.server.federation.settings.seconds
        self.connection.settimeout(self.server.federation.settings.seconds)
        super().handle_one_request()

    def do_POST(self) -> None:
        """Answer a message."""
        federation = self.server.federation
        started = time.monotonic()
        self._until = started + federation.settings.seconds
        peer = self._peer()
        if peer is None:
            self._refuse(HTTPStatus.UNAUTHORIZED, "unauthorized")
            return
        if self.path != PATH:
            self._refuse(HTTPStatus.NOT_FOUND, "not found")
            return
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdecimal() or self.headers.get("Transfer-Encoding"):
            self._refuse(HTTPStatus.LENGTH_REQUIRED, "length required")
            return
        if len(length) > 12 or int(length) > federation.settings.request.size:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too large")
            return
        if peer.level is Disclosure.NOTHING:
            self._refuse(HTTPStatus.FORBIDDEN, "forbidden")
            return
        try:
            request = received(self._body(int(length)), federation.settings.request)
        except WireError as error:
            self._reply(refusal("malformed", str(error)), peer, "malformed", started)
            self.close_connection = True
            return
        op = str(request.header.get("op"))[:20]
        if not federation.working.acquire(timeout=max(0.0, self._left())):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "busy")
            return
        try:
            reply = federation.responder.answer(request, peer.level)
        finally:
            federation.working.release()
        self._reply(reply, peer, op, started)

    def _peer(self) -> Peer | None:
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        if not kind:
            return self.server.federation.peers.of(None)
        return self.server.federation.peers.of(token.strip()) if kind == "Bearer" else None

    def _body(self, length: int) -> Any:
        left = length

        def read(size: int) -> bytes:
            nonlocal left
            self.connection.settimeout(max(0.001, self._left()))
            data: bytes = self.rfile.read1(min(size, left))
            left -= len(data)
            return data

        return read

    def _left(self) -> float:
        return self._until - time.monotonic()

    def _reply(self, reply: Message, peer: Peer, op: str, started: float) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        sent = 0
        for piece in self._pieces(reply):
            self.connection.settimeout(max(0.001, self._left()))
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            sent += len(piece)
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()
        what = reply.header.get("error", "answered")
        taken = 1000 * (time.monotonic() - started)
        LOG.info("%s %s %s %s, %d bytes, %.0f ms", self._host(), peer.name, op, what, sent, taken)

    def _pieces(self, reply: Message) -> Iterator[bytes]:
        left = self.server.federation.settings.reply_bytes
        for frame in reply.frames():
            for start in range(0, len(frame), 1 << 18):
                piece = frame[start : start + (1 << 18)]
                left -= len(piece)
                if left < 0 or self._left() < 0:
                    raise TimeoutError("The reply is too long, or takes too long.")
                yield piece

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        """Say why not, without having read a body, and close."""
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()
        LOG.warning("%s refused: %s", self._host(), why)

    def _host(self) -> str:
        return str(self.client_address[0])

    def log_message(self, format: str, *arguments: Any) -> None:
        """Requests are logged when they are answered."""
