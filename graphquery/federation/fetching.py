"""Files of a store that a server gives, read as those of a file system are."""

from __future__ import annotations

import io

from graphquery.federation import requests
from graphquery.federation.errors import WireError
from graphquery.federation.giving import LARGEST
from graphquery.federation.transport import Exchange, Failure, Transport
from graphquery.federation.wire import Message


class PeerFiles:
    """The files of a store at the end of a transport; only to be read.

    Parameters
    ----------
    transport
        The way to the store, which has to disclose its nodes.
    timeout
        Seconds that one reply may take.
    """

    def __init__(self, transport: Transport, timeout: float | None = None) -> None:
        self._transport = transport
        self._exchange = Exchange({"": transport}, timeout)

    def close(self) -> None:
        """Close connections; reading opens them again."""
        self._transport.close()

    @property
    def size(self) -> int:
        """Bytes of all files in use.

        Raises
        ------
        OSError
            The store does not answer, or does not give its files.
        """
        return int(self._part("", 0, 0).header["bytes"])

    def open_input_stream(self, path: str) -> io.BytesIO:
        """A file by its path in the store, as of `pyarrow.fs.FileSystem`.

        Raises
        ------
        FileNotFoundError
            There is none.
        OSError
            The store does not answer, or does not give its files.
        """
        parts: list[bytes] = []
        while not parts or len(parts[-1]) == LARGEST:
            name = path.lstrip("/")
            reply = self._part(name, sum(map(len, parts)), LARGEST)
            if not reply.header.get("there"):
                raise FileNotFoundError(f"The store has no file {name}.")
            content = reply.tables["content"].column("content")[0].as_py()
            if not isinstance(content, bytes):
                raise OSError(f"The store gives something else than {name}.")
            parts.append(content)
        return io.BytesIO(b"".join(parts))

    def _part(self, name: str, offset: int, size: int) -> Message:
        (reply,) = self._exchange.round([("", requests.file(name, offset, size))])
        if isinstance(reply, Failure):
            raise OSError(f"It gives no files: {reply.message}")
        if not isinstance(reply.header.get("bytes"), int) or (
            reply.header.get("there") and "content" not in reply.tables
        ):
            raise WireError("The reply has no part of a file.")
        return reply
