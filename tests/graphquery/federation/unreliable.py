"""Transports that fail as networks and servers do, when they are told to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from graphquery.federation.questions.answer import UNREACHABLE
from graphquery.federation.serving.disclosure import Disclosure
from graphquery.federation.wire.transport import Incoming, LocalTransport, TransportError


class Unreliable(LocalTransport):
    """A folder that can be down, stop within a reply, or send bytes that were altered.

    Attributes
    ----------
    down
        Whether it cannot be reached.
    stop_after
        Bytes of a reply after which it stops; None for none.
    flip
        The byte of a reply that arrives altered; None for none.
    asked
        How many requests it was sent.
    sent
        All bytes of its replies, one after the other.
    """

    def __init__(self, path: Path, level: Disclosure = Disclosure.NODES) -> None:
        super().__init__(path, level)
        self.down = False
        self.stop_after: int | None = None
        self.flip: int | None = None
        self.asked = 0
        self.sent = b""

    @contextlib.contextmanager
    def exchange(self, request: bytes, timeout: float | None) -> Iterator[Incoming]:
        self.asked += 1
        if self.down:
            raise TransportError(UNREACHABLE, "it is down")
        with super().exchange(request, timeout) as incoming:
            data = bytearray(incoming.read(-1))
            self.sent += data
            if self.flip is not None:
                data[self.flip % len(data)] ^= 1
            reply = bytes(data[: self.stop_after])
            read_so_far = 0

            def reading(size: int) -> bytes:
                nonlocal read_so_far
                part = reply[read_so_far : read_so_far + size]
                read_so_far += len(part)
                return part

            yield Incoming(reading)
