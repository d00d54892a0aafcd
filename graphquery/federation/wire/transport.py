"""Transports of requests to stores, behind one protocol that counts requests, rounds and bytes."""

from __future__ import annotations

import contextlib
import hashlib
import io
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from graphquery.errors import FederationError, WireError
from graphquery.federation.members.cache import Cache
from graphquery.federation.questions import answer as reasons
from graphquery.federation.questions.answer import FederatedCost
from graphquery.federation.serving.disclosure import Disclosure
from graphquery.federation.serving.responder import Responder
from graphquery.federation.wire.messages import (
    REPLY,
    REQUEST,
    Limits,
    Read,
    WireMessage,
    reader,
    received,
)
from semiring.errors import LipstickError
from semiring.support.render import escape_controls

_AT_ONCE = 64
"""Limit on simultaneous requests."""


class TransportError(FederationError):
    """A store that could not be reached.

    Attributes
    ----------
    reason
        The reason, as an answer's `missing` has it.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def _trust(reply: WireMessage) -> None:
    """Take a reply from a folder, whose files this process reads itself."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A reply that is being received.

    Parameters
    ----------
    read
        Reads its bytes.
    verify
        Raises a `TransportError` unless the reply, read whole, is by the store that was asked.
    """

    read: Read
    verify: Callable[[WireMessage], None] = _trust


class StoreTransport(Protocol):
    """The transport to one store.

    Anything but a reply by the store itself is a `TransportError`.
    """

    remote: bool
    """True if this process can do other work while it waits for a reply."""

    def exchange(
        self, request: bytes, timeout: float | None
    ) -> contextlib.AbstractContextManager[Incoming]:
        """Send a request; within the context, read the reply and verify it.

        Parameters
        ----------
        timeout
            Seconds until the reply has to be whole; None for any time.
        """
        ...

    def close(self) -> None:
        """Release the resources held for later requests."""
        ...


class LocalTransport:
    """The transport to a store in a local folder, which encodes messages as if they were sent.

    Parameters
    ----------
    path
        The folder of the store.
    level
        The level of disclosure.
    """

    remote = False

    def __init__(self, path: str | Path, level: Disclosure = Disclosure.NODES) -> None:
        self.path = Path(path)
        self.level = level
        self._responder: Responder | None = None
        self._mutex = threading.Lock()

    @contextlib.contextmanager
    def exchange(self, request: bytes, timeout: float | None) -> Iterator[Incoming]:
        """See `StoreTransport`."""
        try:
            with self._mutex:
                if self._responder is None:
                    self._responder = Responder(self.path)
        except LipstickError as error:
            raise TransportError(reasons.UNREACHABLE, str(error)) from error
        question = received(reader(request), REQUEST)
        yield Incoming(io.BytesIO(self._responder.answer(question, self.level).to_bytes()).read)

    def close(self) -> None:
        """See `StoreTransport`."""
        with self._mutex:
            self._responder = None


@dataclass(frozen=True, slots=True)
class RequestFailure:
    """A failed request: the reason, as an answer's `missing` has it, and a message for people."""

    reason: str
    message: str


class RequestExchange:
    """Sends rounds of requests, and counts their cost.

    Parameters
    ----------
    transports
        By alias.
    timeout
        Seconds that one reply may take; None for any time.
    limits
        Of replies.
    home
        The alias of the store that the questions come from: asking it costs nothing.
    cache
        A cache of replies about pinned versions; None: every request is sent.
    """

    def __init__(
        self,
        transports: Mapping[str, StoreTransport],
        timeout: float | None = None,
        limits: Limits = REPLY,
        home: str | None = None,
        cache: Cache | None = None,
    ) -> None:
        self._transports = transports
        self._timeout = timeout
        self._limits = limits
        self.home = home
        """The alias of the asking member; may be changed between questions."""
        self._cache = cache
        self.pinned: Mapping[str, str] = {}
        """By alias, the checksum of the commit whose version requests name."""
        self._mutex = threading.Lock()
        self.cost = FederatedCost()
        """The cost of all rounds so far."""

    def round(
        self, requests: Sequence[tuple[str, WireMessage]]
    ) -> list[WireMessage | RequestFailure]:
        """Send requests to stores at once, and return the reply or the failure of each.

        Raises
        ------
        FederationError
            A store replies that the question is wrong.
        """
        if not requests:
            return []
        prepared = [(alias, message, message.to_bytes()) for alias, message in requests]
        known = [self._kept(alias, message, data) for alias, message, data in prepared]
        sent = [request for request, reply in zip(prepared, known, strict=True) if reply is None]
        replies = iter(self._sent(sent))
        return [next(replies) if reply is None else reply for reply in known]

    def _sent(
        self, requests: Sequence[tuple[str, WireMessage, bytes]]
    ) -> list[WireMessage | RequestFailure]:
        """Send the requests that the cache cannot answer."""
        if any(alias != self.home for alias, _, _ in requests):
            self._count(FederatedCost(rounds=1))
        remote = sum(self._transports[alias].remote for alias, _, _ in requests)
        if remote < 2:
            return [self._exchanged(*request) for request in requests]
        with ThreadPoolExecutor(min(len(requests), _AT_ONCE)) as pool:
            return list(pool.map(lambda request: self._exchanged(*request), requests))

    def _kept(self, alias: str, message: WireMessage, data: bytes) -> WireMessage | None:
        """Return the cached reply to a request, or None."""
        key = self._key(alias, message, data)
        return None if self._cache is None or key is None else self._cache.get(key)

    def _key(self, alias: str, message: WireMessage, data: bytes) -> bytes | None:
        """Return the cache key of a request, or None if its reply may change."""
        if message.header.get("version") is None or alias not in self.pinned or alias == self.home:
            return None
        return hashlib.sha256(f"{alias} {self.pinned[alias]} ".encode() + data).digest()

    def _exchanged(
        self, alias: str, message: WireMessage, data: bytes
    ) -> WireMessage | RequestFailure:
        counted = _Counted()
        try:
            with self._transports[alias].exchange(data, self._timeout) as incoming:
                reply = received(counted.of(incoming.read), self._limits)
                incoming.verify(reply)
        except (TransportError, WireError) as error:
            return RequestFailure(error.reason, printable(str(error)))
        finally:
            if alias != self.home:
                self._count(FederatedCost(1, 0, len(data), counted.count))
        checked_reply = _checked(alias, message, reply)
        key = self._key(alias, message, data)
        if self._cache is not None and key is not None and isinstance(checked_reply, WireMessage):
            header = message.header
            channels = (*header.get("channels", ()), *header.get("entering", ()))
            self._cache.put(key, checked_reply, counted.count, channels)
        return checked_reply

    def _count(self, more: FederatedCost) -> None:
        with self._mutex:
            self.cost += more


class _Counted:
    """A reader that counts its bytes."""

    def __init__(self) -> None:
        self.count = 0

    def of(self, read: Read) -> Read:
        def counting(size: int) -> bytes:
            data = read(size)
            self.count += len(data)
            return data

        return counting


_TEXT = 500
"""Limit on the characters shown of a member's text."""

_BY_NAME = ("names", "sources", "targets", "hits", "asked", "given", "zoomed")
"""Arguments of requests that are names, written by the user, of nodes or modules."""


def printable(text: str) -> str:
    """Return a member's text in printable form: no control characters, and limited in length."""
    shown = escape_controls(text[: _TEXT + 1])
    return shown if len(text) <= _TEXT else f"{shown[:_TEXT]}..."


def _checked(alias: str, request: WireMessage, reply: WireMessage) -> WireMessage | RequestFailure:
    """Return a reply, or the failure of a store to give one.

    Raises
    ------
    FederationError
        The store does not know a name that the question has for it. A store that is asked about
        rows alone cannot find fault with the question.
    """
    kind = reply.header.get("error")
    if kind is None:
        return reply
    text = printable(str(reply.header.get("message", "")))
    if kind == "question" and any(request.header.get(name) for name in _BY_NAME):
        raise FederationError(f"{alias}: {text}")
    known = {
        "question": reasons.UNABLE,
        "refused": reasons.REFUSED,
        "behind": reasons.BEHIND,
        "failed": reasons.UNREACHABLE,
    }
    return RequestFailure(known.get(str(kind), reasons.DAMAGED), text)
