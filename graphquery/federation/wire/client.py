"""Requests to servers over HTTP, on persistent connections."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import secrets
import ssl
import threading
import time
from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from graphquery.errors import FederationError
from graphquery.federation.questions.answer import (
    DAMAGED,
    INTERRUPTED,
    REFUSED,
    TIMEOUT,
    UNREACHABLE,
    UNTRUSTED,
)
from graphquery.federation.serving import keys
from graphquery.federation.serving.server import CONTENT_TYPE, PATH, is_loopback
from graphquery.federation.wire.messages import Read, WireMessage
from graphquery.federation.wire.transport import Incoming, TransportError

_IDLE = 8
"""Number of idle connections held open to one server."""

_REASONS: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: REFUSED,
    HTTPStatus.FORBIDDEN: REFUSED,
    HTTPStatus.SERVICE_UNAVAILABLE: UNREACHABLE,
}


class HttpTransport:
    """The transport to a store behind a server.

    Parameters
    ----------
    address
        ``http(s)://host:port``.
    token
        The token sent with each request; only over TLS, or to this machine.
    certificate
        A file with the certificates to verify the server's with; None: the certificates of the
        system.
    key
        The public key that the server signs with; None: the first key that it presents is pinned.

    Raises
    ------
    FederationError
        The address is malformed, or others could read the token.
    """

    remote = True

    def __init__(
        self,
        address: str,
        token: str | None = None,
        certificate: str | Path | None = None,
        key: str | None = None,
    ) -> None:
        secure, self._host, self._port = parse_address(address)
        self.address = address
        self.key = key
        """The public key that must sign replies; None before the first one was seen."""
        if token is not None and not secure and not is_loopback(self._host):
            raise FederationError(
                f"A token sent to {address} could be read by others.\nUse https, or no token."
            )
        self._tls: ssl.SSLContext | None = None
        if secure:
            try:
                self._tls = ssl.create_default_context(cafile=certificate)
            except OSError as error:
                raise FederationError(f"{certificate} is not a certificate: {error}.") from error
        self._headers = {"Content-Type": CONTENT_TYPE}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._idle: list[http.client.HTTPConnection] = []
        self._mutex = threading.Lock()

    def close(self) -> None:
        """Close the idle connections."""
        with self._mutex:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextlib.contextmanager
    def exchange(self, request: bytes, timeout: float | None) -> Iterator[Incoming]:
        """See `Transport`."""
        until = None if timeout is None else time.monotonic() + timeout
        nonce = secrets.token_hex(16)
        connection, response = self._sent(request, nonce, until)
        whole = False
        try:
            verify = partial(self._verify, nonce, request)
            yield Incoming(self._reading(connection, response, until), verify)
            # The end mark has been read; only the end of the chunks remains.
            whole = response.read(1) == b"" and not response.will_close
        except (http.client.HTTPException, OSError) as error:
            raise _broken(self.address, error) from error
        finally:
            if whole:
                self._keep(connection)
            else:
                response.close()
                connection.close()

    def _verify(self, nonce: str, request: bytes, reply: WireMessage) -> None:
        """Raise unless a reply is signed by the pinned key; the first key seen is pinned.

        A server without a key is accepted until it first presents one.
        """
        with self._mutex:
            key = self.key
        shown = reply.seal.get("key")
        if key is None and (shown is None or not keys.is_available()):
            return
        checksum = hashlib.sha256(request).hexdigest()
        if not keys.is_sealed_by(reply.seal, key or shown or "", nonce, checksum, reply.checksum):
            raise TransportError(
                UNTRUSTED,
                f"What answers at {self.address} has not the key that was pinned for it.\nAsk its "
                "owner whether the key was replaced; if so, forget it: lipstick federation forget.",
            )
        with self._mutex:
            self.key = key or shown

    def _sent(
        self, request: bytes, nonce: str, until: float | None
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Send a request, on an idle connection if one is still alive."""
        with self._mutex:
            kept = self._idle.pop() if self._idle else None
        for connection in (kept, None) if kept is not None else (None,):
            used = connection or self._connected(until)
            try:
                _limit(used, until)
                used.request("POST", PATH, request, self._headers | {keys.NONCE: nonce})
                response = used.getresponse()
            except (http.client.HTTPException, OSError) as error:
                used.close()
                if connection is None or isinstance(error, TimeoutError):
                    raise _broken(self.address, error) from error
                continue  # the server had closed the kept connection
            if response.status != HTTPStatus.OK:
                status = response.status
                response.close()
                used.close()
                raise TransportError(_REASONS.get(status, DAMAGED), f"{self.address}: {status}")
            return used, response
        raise TransportError(UNREACHABLE, f"{self.address} closed the connection.")

    def _connected(self, until: float | None) -> http.client.HTTPConnection:
        left = None if until is None else max(0.001, until - time.monotonic())
        connection: http.client.HTTPConnection
        if self._tls is None:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=left)
        else:
            connection = http.client.HTTPSConnection(
                self._host, self._port, timeout=left, context=self._tls
            )
        try:
            connection.connect()
        except TimeoutError as error:
            raise TransportError(TIMEOUT, f"{self.address} did not answer in time.") from error
        except OSError as error:
            raise TransportError(UNREACHABLE, f"{self.address}: {error}") from error
        return connection

    def _reading(
        self,
        connection: http.client.HTTPConnection,
        response: http.client.HTTPResponse,
        until: float | None,
    ) -> Read:
        def read(size: int) -> bytes:
            _limit(connection, until)
            try:
                return response.read1(size)
            except (http.client.HTTPException, OSError, ValueError) as error:
                raise _broken(self.address, error) from error

        return read

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._mutex:
            if len(self._idle) < _IDLE:
                self._idle.append(connection)
                return
        connection.close()


def parse_address(address: str) -> tuple[bool, str, int | None]:
    """Return an address as parts: whether it asks for TLS, its host, and its port or None.

    Raises
    ------
    FederationError
        The text is not ``http(s)://host:port``.
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:  # brackets that do not match, a port beyond 65,535
        host, port = None, None
    plain = host and not (parts.path.strip("/") or parts.query or parts.fragment or parts.username)
    if not host or not plain or parts.scheme not in ("http", "https"):
        raise FederationError(
            f"{address!r} is not the address of a server: http(s)://host:port, with a port of at "
            "most 65535."
        )
    return parts.scheme == "https", host, port


def _limit(connection: http.client.HTTPConnection, until: float | None) -> None:
    """Set the timeout of the next operation on a connection to the time left."""
    left = None if until is None else until - time.monotonic()
    if left is not None and left <= 0:
        raise TransportError(TIMEOUT, "The reply took too long.")
    if connection.sock is not None:
        connection.sock.settimeout(left)


def _broken(address: str, error: Any) -> TransportError:
    if isinstance(error, TimeoutError):
        return TransportError(TIMEOUT, f"{address} did not answer in time.")
    return TransportError(INTERRUPTED, f"{address} broke off: {error!r}")
