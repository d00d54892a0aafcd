"""A server for one store: requests and replies of a federation over HTTP.

A request is a POST whose body is a message; the reply's body is one, in chunks, with an end mark of
its own, signed where the server has a key. Peers without any disclosure are refused before the body
is read. A request has one deadline for all of it, headers included. A connection that has not
authenticated itself is a newcomer: newcomers have a limit of their own, and the oldest is closed
for the next, so that they cannot keep peers out.

Requests without a token are answered only where their `Host` is this machine's own, so that a page
in a browser cannot read a store through a name that it rebinds.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import ipaddress
import logging
import socket
import ssl
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from graphquery.errors import FederationError, WireError
from graphquery.federation.serving.disclosure import Disclosure
from graphquery.federation.serving.keys import NONCE, Signer
from graphquery.federation.serving.peers import Peer, Peers
from graphquery.federation.serving.responder import Responder, refusal
from graphquery.federation.wire.messages import REQUEST, Limits, WireMessage, received

PATH = "/lipstick/1"
CONTENT_TYPE = "application/vnd.lipstick.message"
LOG = logging.getLogger("lipstick.federation")
LOG.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The limits of a server.

    Parameters
    ----------
    request
        The limits of requests.
    reply_bytes
        The limit of one reply; a longer one is cut off, which the peer notices.
    seconds
        The deadline of a request, from its first byte to the last byte of the reply.
    connections
        The limit of simultaneous connections of peers; requests on more are refused.
    newcomers
        The limit of simultaneous connections that have not sent the head of an allowed request yet;
        for one more, the oldest is closed.
    working
        The limit of requests evaluated at a time; more wait, up to their deadline.
    """

    request: Limits = REQUEST
    reply_bytes: int = 1 << 34
    seconds: float = 60.0
    connections: int = 64
    newcomers: int = 64
    working: int = 4


class Server:
    """Serves a store until it is closed; to be used as a context.

    Parameters
    ----------
    path
        The folder of the store.
    peers
        The peers and their levels of disclosure.
    host, port
        The address to listen on; port 0 is any free port. Beyond loopback the server needs a
        certificate, and answers no request without a token.
    certificate, private_key
        Files in PEM, for TLS.
    signer
        Signs replies; None: they are not signed.

    Raises
    ------
    StoreError
        The folder is not a store.
    FederationError
        It would answer other machines without TLS and tokens, or cannot listen there.
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
        signer: Signer | None = None,
        settings: ServerSettings | None = None,
    ) -> None:
        _check_place(host, peers, certificate)
        self.settings = settings or ServerSettings()
        self.peers = peers
        self.signer = signer
        self.responder = Responder(path)
        self.working = threading.BoundedSemaphore(self.settings.working)
        self.tls: ssl.SSLContext | None = None
        if certificate is not None:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.minimum_version = ssl.TLSVersion.TLSv1_2
            try:
                self.tls.load_cert_chain(certificate, private_key)
            except OSError as error:
                raise FederationError(f"{certificate} is not a certificate: {error}.") from error
        try:
            self._http = _Http((host, port), self)
        except OSError as error:
            raise FederationError(f"Cannot listen at {host}:{port}: {error.strerror}.") from error
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """The server's address: ``http(s)://host:port``."""
        host, port = self._http.server_address[:2]
        name = f"[{host!s}]" if ":" in str(host) else str(host)
        return f"{'http' if self.tls is None else 'https'}://{name}:{port}"

    def serve(self) -> None:
        """Serve in this thread until another thread closes the server."""
        self._http.serve_forever(poll_interval=0.1)

    def __enter__(self) -> Server:
        self._thread = threading.Thread(target=self.serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening; requests in progress end with the process."""
        if self._thread is not None:
            self._http.shutdown()
            self._thread.join()
            self._thread = None
        self._http.server_close()


def _check_place(host: str, peers: Peers, certificate: object) -> None:
    local = is_loopback(host)
    if not local and certificate is None:
        raise FederationError(
            f"{host} is not this machine alone, and what is sent there can be read by others.\n"
            "Give a certificate, or listen at 127.0.0.1."
        )
    if not local and peers.everyone > Disclosure.NOTHING:
        raise FederationError(
            f"At {host} anybody could ask, and everyone may see {peers.everyone.name.lower()}.\n"
            "Give peers tokens, and disclose nothing to everyone."
        )


def is_loopback(host: str) -> bool:
    """Return True if a host is this machine: a loopback address, or ``localhost``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class _Http(ThreadingHTTPServer):
    """Accepts connections up to the limits, each in a thread of its own."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], server: Server) -> None:
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        self.federation = server
        self._places = threading.BoundedSemaphore(server.settings.connections)
        self._newcomers: OrderedDict[Any, socket.socket] = OrderedDict()
        self._admitted: set[Any] = set()
        self._mutex = threading.Lock()
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._mutex:
            self._newcomers[client_address] = request
            crowded = len(self._newcomers) > self.federation.settings.newcomers
            oldest = self._newcomers.popitem(last=False) if crowded else None
        if oldest is not None:
            LOG.warning("%s closed: too many connections", oldest[0][0])
            with contextlib.suppress(OSError):
                oldest[1].shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def admit(self, client_address: Any) -> bool:
        """Move a connection from the newcomers to the peers; return False if it cannot be."""
        with self._mutex:
            if client_address in self._admitted:
                return True
            # A connection that was dropped in favour of others is being closed.
            if client_address not in self._newcomers or not self._places.acquire(blocking=False):
                return False
            del self._newcomers[client_address]
            self._admitted.add(client_address)
            return True

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._mutex:
                self._newcomers.pop(client_address, None)
                if client_address in self._admitted:
                    self._admitted.discard(client_address)
                    self._places.release()

    def finish_request(self, request: Any, client_address: Any) -> None:
        request.settimeout(self.federation.settings.seconds)
        tls = self.federation.tls
        try:
            if tls is not None:
                # In the thread of the connection, so that a slow handshake delays nobody else.
                request = tls.wrap_socket(request, server_side=True, do_handshake_on_connect=False)
                with self._mutex:
                    if client_address not in self._newcomers:
                        return
                    self._newcomers[client_address] = request
                request.do_handshake()
            super().finish_request(request, client_address)
        finally:
            if tls is not None:
                with contextlib.suppress(OSError):
                    request.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        LOG.info("%s broken off", client_address[0], exc_info=LOG.isEnabledFor(logging.DEBUG))


class _Deadline(io.RawIOBase):
    """A reader of a connection whose reads end at the deadline of the handler's request."""

    def __init__(self, handler: _Handler) -> None:
        super().__init__()
        self._handler = handler

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._handler.left()
        if left <= 0:
            raise TimeoutError("The request took too long.")
        self._handler.connection.settimeout(left)
        count: int = self._handler.connection.recv_into(buffer)
        self._handler.begin()
        return count


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "lipstick"
    sys_version = ""
    # Small pieces of a reply go out together, and at once.
    wbufsize = 1 << 18
    disable_nagle_algorithm = True
    server: _Http

    def setup(self) -> None:
        """Set up the connection, with reads that end at the deadline of a request."""
        super().setup()
        self.rfile.close()
        self.rfile = io.BufferedReader(_Deadline(self))

    def handle_one_request(self) -> None:
        """Handle a request within its time, which restarts with its first byte."""
        self._begun = False
        self._until = time.monotonic() + self.server.federation.settings.seconds
        super().handle_one_request()

    def begin(self) -> None:
        """Start the time of a request at its first byte."""
        if not self._begun:
            self._begun = True
            self._until = time.monotonic() + self.server.federation.settings.seconds

    def do_POST(self) -> None:
        """Answer a message."""
        federation = self.server.federation
        started = time.monotonic()
        peer = self._peer()
        if peer is None:
            self._refuse(HTTPStatus.UNAUTHORIZED, "unauthorized")
            return
        if not self.headers.get("Authorization") and not self._is_own_host():
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "the host is not this machine")
            return
        if self.headers.get_content_type() != CONTENT_TYPE:
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "not a message")
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
        if not self.server.admit(self.client_address):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too many connections")
            return
        try:
            request = received(self._body(int(length)), federation.settings.request)
        except WireError as error:
            self._reply(refusal("malformed", str(error)), peer, "malformed", started)
            self.close_connection = True
            return
        op = str(request.header.get("op"))[:20]
        if not federation.working.acquire(timeout=max(0.0, self.left())):
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
            data: bytes = self.rfile.read1(min(size, left))
            left -= len(data)
            self._digest.update(data)
            return data

        self._digest = hashlib.sha256()
        return read

    def left(self) -> float:
        """Return the seconds left of the request; negative after its deadline."""
        return self._until - time.monotonic()

    def _is_own_host(self) -> bool:
        """Return True if the request's ``Host`` is this machine."""
        try:
            host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        except ValueError:
            return False
        return host is not None and is_loopback(host)

    def _seal(self, checksum: str) -> dict[str, str]:
        """Return the seal of a reply, if replies are signed and the request has a nonce."""
        signer, nonce = self.server.federation.signer, self.headers.get(NONCE, "")
        if signer is None or not nonce:
            return {}
        return dict(signer.seal(nonce, self._digest.hexdigest(), checksum))

    def _reply(self, reply: WireMessage, peer: Peer, op: str, started: float) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        sent = 0
        for piece in self._pieces(reply):
            self.connection.settimeout(max(0.001, self.left()))
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            sent += len(piece)
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()
        what = reply.header.get("error", "answered")
        taken = 1000 * (time.monotonic() - started)
        LOG.info("%s %s %s %s, %d bytes, %.0f ms", self._host(), peer.name, op, what, sent, taken)

    def _pieces(self, reply: WireMessage) -> Iterator[bytes]:
        left = self.server.federation.settings.reply_bytes
        for frame in reply.frames(self._seal):
            for start in range(0, len(frame), 1 << 18):
                piece = frame[start : start + (1 << 18)]
                left -= len(piece)
                if left < 0 or self.left() < 0:
                    raise TimeoutError("The reply is too long, or takes too long.")
                yield piece

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        """Refuse a request without reading its body, log the reason, and close."""
        self.close_connection = True
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()
        LOG.warning("%s refused: %s", self._host(), why)

    def _host(self) -> str:
        return str(self.client_address[0])

    def log_message(self, format: str, *arguments: Any) -> None:
        """Do nothing: requests are logged when they are answered."""
