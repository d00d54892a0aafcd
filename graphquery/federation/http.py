"""Requests to servers over HTTP, on connections that are kept."""

from __future__ import annotations

import contextlib
import http.client
import ssl
import threading
import time
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from graphquery.federation.answer import DAMAGED, INTERRUPTED, REFUSED, TIMEOUT, UNREACHABLE
from graphquery.federation.errors import FederationError
from graphquery.federation.server import CONTENT_TYPE, PATH
from graphquery.federation.transport import TransportError
from graphquery.federation.wire import Read

_IDLE = 8
"""Connections to one server that are kept when nothing is asked."""

_REASONS: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: REFUSED,
    HTTPStatus.FORBIDDEN: REFUSED,
    HTTPStatus.SERVICE_UNAVAILABLE: UNREACHABLE,
}


class HttpTransport:
    """To a store behind a server.

    Parameters
    ----------
    address
        ``http(s)://host:port``.
    token
        That is sent with each request; only over TLS, or to this machine.
    certificate
        A file with the certificates that the server's is checked by; None: those of the system.

    Raises
    ------
    FederationError
        An address that is none, or a token that others could read.
    """

    remote = True

    def __init__(
        self, address: str, token: str | None = None, certificate: str | Path | None = None
    ) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
            raise FederationError(f"{address!r} is no address of a server: http(s)://host:port.")
        self.address = address
        self._host, self._port = parts.hostname, parts.port
        local = self._host in ("localhost", "::1") or self._host.startswith("127.")
        if token is not None and parts.scheme == "http" and not local:
            raise FederationError(
                f"A token sent to {address} could be read by others.\nUse https, or no token."
            )
        self._tls: ssl.SSLContext | None = None
        if parts.scheme == "https":
            try:
                self._tls = ssl.create_default_context(cafile=certificate)
            except OSError as error:
                raise FederationError(f"{certificate} is no certificate: {error}.") from error
        self._headers = {"Content-Type": CONTENT_TYPE}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._idle: list[http.client.HTTPConnection] = []
        self._mutex = threading.Lock()

    def close(self) -> None:
        """Close the connections that are kept."""
        with self._mutex:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextlib.contextmanager
    def exchange(self, request: bytes, timeout: float | None) -> Iterator[Read]:
        """See `Transport`."""
        until = None if timeout is None else time.monotonic() + timeout
        connection, response = self._sent(request, until)
        whole = False
        try:
            yield self._reading(connection, response, until)
            # The end mark has been read; what is left is the end of the chunks.
            whole = response.read(1) == b"" and not response.will_close
        except (http.client.HTTPException, OSError) as error:
            raise _broken(self.address, error) from error
        finally:
            if whole:
                self._keep(connection)
            else:
                response.close()
                connection.close()

    def _sent(
        self, request: bytes, until: float | None
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Send a request, on a kept connection if there is one that still lives."""
        with self._mutex:
            kept = self._idle.pop() if self._idle else None
        for connection in (kept, None) if kept is not None else (None,):
            used = connection or self._connected(until)
            try:
                _limit(used, until)
                used.request("POST", PATH, request, self._headers)
                response = used.getresponse()
            except (http.client.HTTPException, OSError) as error:
                used.close()
                if connection is None or isinstance(error, TimeoutError):
                    raise _broken(self.address, error) from error
                continue  # the server had closed what was kept
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


def _limit(connection: http.client.HTTPConnection, until: float | None) -> None:
    """Let what is next on a connection take as long as is left."""
    left = None if until is None else until - time.monotonic()
    if left is not None and left <= 0:
        raise TransportError(TIMEOUT, "The reply took too long.")
    if connection.sock is not None:
        connection.sock.settimeout(left)


def _broken(address: str, error: Any) -> TransportError:
    if isinstance(error, TimeoutError):
        return TransportError(TIMEOUT, f"{address} did not answer in time.")
    return TransportError(INTERRUPTED, f"{address} broke off: {error!r}")
