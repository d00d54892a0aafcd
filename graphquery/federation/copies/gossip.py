"""Copies of the stores that a host's questions need, made before a member is away and evicted
later.

A host records which members its questions needed. In a round of gossip it pulls their heads, and
passes of Kernighan-Lin and Fiduccia-Mattheyses decide which copies are worth their bytes
(`graphquery.federation.copies.placement`): the host makes these or brings them up to the head, and
evicts the others. A copy has to match the head of its owner, wherever it was read (Gehani, Kim,
Malik, CLADE 2010, section 4.2). The gain of a question depends on the copies of its own host alone,
so each host decides for itself.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyarrow import fs

from graphquery.federation.copies.copies import StoreSource, copy_store, file_system
from graphquery.federation.copies.placement import Placement, nets_of
from graphquery.federation.copies.usage import held, questions
from graphquery.federation.errors import FederationError, WireError
from graphquery.federation.federation import Federation
from graphquery.federation.members.members import Member, Precaching, read_members, read_precaching
from graphquery.federation.members.opening import transport_to
from graphquery.federation.questions.question import Options
from graphquery.federation.serving.responder import LARGEST
from graphquery.federation.wire import requests
from graphquery.federation.wire.messages import WireMessage
from graphquery.federation.wire.transport import RequestExchange, RequestFailure, StoreTransport
from graphquery.store import StoreError


class PeerFiles:
    """The files of a store at the end of a transport; only to be read.

    Parameters
    ----------
    transport
        The way to the store, which has to disclose its nodes.
    timeout
        Seconds that one reply may take.
    """

    def __init__(self, transport: StoreTransport, timeout: float | None = None) -> None:
        self._transport = transport
        self._exchange = RequestExchange({"": transport}, timeout)

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
        """Return a file by its path in the store, as of `pyarrow.fs.FileSystem`.

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

    def _part(self, name: str, offset: int, size: int) -> WireMessage:
        (reply,) = self._exchange.round([("", requests.file(name, offset, size))])
        if isinstance(reply, RequestFailure):
            raise OSError(f"It gives no files: {reply.message}")
        if not isinstance(reply.header.get("bytes"), int) or (
            reply.header.get("there") and "content" not in reply.tables
        ):
            raise WireError("The reply has no part of a file.")
        return reply


_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Gossip:
    """The outcome of a round of gossip: copies made, evicted and failed.

    Parameters
    ----------
    taken
        By member, the version of its copy now.
    evicted
        The members whose copies were evicted.
    failed
        By member, the reason that a worthwhile copy is missing or out of date.
    gain
        The worth of the copies: questions that they answer, less the price of their bytes.
    """

    taken: Mapping[str, int]
    evicted: tuple[str, ...]
    failed: Mapping[str, str]
    gain: float


def gossip(path: str | os.PathLike[str], *, timeout: float | None = None) -> Gossip:
    """Contact all members of a federation file, and make and evict copies.

    Parameters
    ----------
    timeout
        Seconds that one reply may take.

    Raises
    ------
    FederationError
        The file has no table [precaching], or is malformed.
    """
    given, members = read_precaching(path), read_members(path)
    if given is None:
        raise FederationError(f"{path} has no table [precaching], which says what may be copied.")
    transports = {alias: transport_to(member) for alias, member in members.items()}
    expected = {alias: member.store for alias, member in members.items()}
    options = Options(sketches=False, boundary=False)
    with Federation(transports, expected, options=options, timeout=timeout) as federation:
        heads, absent = federation.directory.heads, federation.directory.absent
    failed = {alias: failure.message for alias, failure in absent.items() if alias != given.host}
    before = frozenset((given.host, alias) for alias in held(given, members))
    sizes = {alias: _size(given.folder / alias) for _, alias in before}
    with contextlib.ExitStack() as stack:
        sources: dict[str, tuple[StoreSource, str]] = {}
        for alias in heads.keys() - {given.host}:
            try:
                sources[alias] = stack.enter_context(source_of(members[alias], timeout))
                sizes[alias] = _size_at(*sources[alias])
            except (OSError, FederationError) as error:
                failed[alias] = str(error)
        placement = _placement(given, members, sizes)
        after = placement.improved(before, [given.host])
        evicted = tuple(sorted(alias for _, alias in before - after))
        for alias in evicted:
            shutil.rmtree(given.folder / alias)
        taken = {}
        for _, alias in sorted(after):
            if alias not in sources:
                continue  # it is kept as it is
            try:
                taken[alias] = copy_store(*sources[alias], given.folder / alias, heads[alias])
            except (OSError, FederationError, StoreError) as error:
                failed[alias] = str(error)
    return Gossip(taken, evicted, failed, placement.gain(after))


@contextlib.contextmanager
def source_of(member: Member, timeout: float | None = None) -> Iterator[tuple[StoreSource, str]]:
    """Yield the source of a member's files, open within the context, and the path of its store in
    it.

    Raises
    ------
    FederationError
        No file system is known for the member's location.
    """
    if member.remote:
        files = PeerFiles(transport_to(member), timeout)
        try:
            yield files, ""
        finally:
            files.close()
    elif "://" in member.location:
        yield file_system(member.location)
    else:
        yield fs.LocalFileSystem(), member.location


def _placement(
    given: Precaching, members: Mapping[str, Member], sizes: Mapping[str, int]
) -> Placement:
    """Return the placement problem of a host, where members of unknown size do not fit."""
    owners = {alias: alias for alias in members}
    needs = [
        (given.host, when, [alias for alias in needed if alias in members])
        for when, needed in questions(given)
    ]
    known = {alias: sizes.get(alias, given.capacity + 1) for alias in members}
    nets = nets_of(needs, time.time(), given.half_life * _DAY)
    return Placement(owners, known, {given.host: given.capacity}, nets, given.price)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _size_at(files: StoreSource, location: str) -> int:
    if isinstance(files, PeerFiles):
        return files.size
    assert isinstance(files, fs.FileSystem)  # of `source_of`
    entries = files.get_file_info(fs.FileSelector(location, recursive=True))
    return sum(each.size for each in entries if each.is_file)
