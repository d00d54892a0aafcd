"""Copies of the stores that a host needs, made while members are up and evicted later.

A host records which members its questions needed. In a round of gossip it pulls their heads, and
passes of Kernighan-Lin and Fiduccia-Mattheyses decide which copies are worth their bytes
(`graphquery.federation.copies.gossip`): the host makes these or brings them up to the head, and
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from pyarrow import fs

from graphquery.errors import FederationError, WireError
from graphquery.federation.copies.copies import StoreSource, copy_store, file_system
from graphquery.federation.copies.usage import held, questions
from graphquery.federation.federation import Federation
from graphquery.federation.members.members import Member, Precaching, read_members, read_precaching
from graphquery.federation.members.opening import transport_to
from graphquery.federation.questions.question import Options
from graphquery.federation.serving.responder import LARGEST
from graphquery.federation.wire import requests
from graphquery.federation.wire.messages import WireMessage
from graphquery.federation.wire.transport import RequestExchange, RequestFailure, StoreTransport
from graphquery.store import StoreError

Copies = frozenset[tuple[str, str]]
"""Pairs of a host and a unit that it has copied."""


@dataclass(frozen=True, slots=True)
class Net:
    """The units that a question at a host needs.

    Parameters
    ----------
    host
        The host that asks the question.
    units
        All units that the question needs.
    weight
        How often the question was asked, discounted by age.
    """

    host: str
    units: frozenset[str]
    weight: float


@dataclass(frozen=True, slots=True)
class Placement:
    """Hosts, the units that they own, and the units that they need.

    Parameters
    ----------
    owners, sizes
        By unit, its host, and its size in bytes.
    capacity
        By host, the limit on the bytes of its copies.
    nets
        The units that questions need.
    price
        λ, the price of a byte of a copy.
    """

    owners: Mapping[str, str]
    sizes: Mapping[str, int]
    capacity: Mapping[str, int]
    nets: Sequence[Net]
    price: float = 0.0
    _nets: dict[str, list[Net]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        known = {unit for net in self.nets for unit in net.units}
        unknown = sorted(known - self.owners.keys())
        if unknown or self.owners.keys() - self.sizes.keys():
            raise FederationError(f"Unit {unknown[0] if unknown else ''} has no owner or no size.")
        nets: dict[str, list[Net]] = {}
        for net in self.nets:
            nets.setdefault(net.host, []).append(net)
        object.__setattr__(self, "_nets", nets)

    def gain(self, copies: Copies) -> float:
        """Return the worth of a placement: the weights of its complete nets, less the price of its
        bytes.
        """
        paid = sum(self.sizes[unit] for _, unit in copies)
        whole = sum(net.weight for net in self.nets if self._whole(net, copies))
        return whole - self.price * paid

    def fits(self, copies: Copies) -> bool:
        """Return True if the copies of each host fit its capacity and are of other hosts' units."""
        used: dict[str, int] = {}
        for host, unit in copies:
            if self.owners[unit] == host:
                return False
            used[host] = used.get(host, 0) + self.sizes[unit]
        return all(bytes_ <= self.capacity.get(host, 0) for host, bytes_ in used.items())

    def improved(self, copies: Copies, hosts: Iterable[str]) -> Copies:
        """Repeat passes over the copies of cooperating hosts until a pass gains nothing."""
        taking = sorted(set(hosts))
        while True:
            better = self._pass(copies, taking)
            if self.gain(better) <= self.gain(copies):
                return copies
            copies = better

    def settled(self, copies: Copies = frozenset()) -> Copies:
        """Improve the placement pair by pair of hosts until no pair gains."""
        hosts = sorted(self.capacity)
        pairs: list[tuple[str, ...]] = list(combinations(hosts, 2)) or [tuple(hosts)]
        while True:
            before = copies
            for pair in pairs:
                copies = self.improved(copies, pair)
            if copies == before:
                return copies

    def _pass(self, copies: Copies, hosts: Sequence[str]) -> Copies:
        """Change every copy once, best change first, and return the best placement on the way."""
        free = {host: self.capacity.get(host, 0) for host in hosts}
        for host, unit in copies:
            if host in free:
                free[host] -= self.sizes[unit]
        # Only units that are needed by a net of the host, or held there already, are of use.
        needed = {(net.host, u) for h in hosts for net in self._nets.get(h, ()) for u in net.units}
        held = {(host, unit) for host, unit in copies if host in free}
        open_ = sorted(each for each in needed | held if self.owners[each[1]] != each[0])
        now, best, gained, most = set(copies), copies, 0.0, 0.0
        while open_:
            moves = [
                (self._change(now, host, unit), host, unit)
                for host, unit in open_
                if (host, unit) in now or self.sizes[unit] <= free[host]
            ]
            if not moves:
                break
            change, host, unit = max(moves, key=lambda move: move[0])
            open_.remove((host, unit))
            sign = -1 if (host, unit) in now else 1
            free[host] -= sign * self.sizes[unit]
            now ^= {(host, unit)}
            gained += change
            if gained > most + 1e-9:
                most, best = gained, frozenset(now)
        return best

    def _change(self, copies: set[tuple[str, str]], host: str, unit: str) -> float:
        """Return the gain of copying a unit to a host, or of evicting its copy."""
        held = (host, unit) in copies
        other_copies = copies - {(host, unit)}
        worth = sum(
            net.weight
            for net in self._nets.get(host, ())
            if unit in net.units
            and all(
                each == unit or self.owners[each] == host or (host, each) in other_copies
                for each in net.units
            )
        )
        gain = worth - self.price * self.sizes[unit]
        return -gain if held else gain

    def _whole(self, net: Net, copies: Copies) -> bool:
        return all(
            self.owners[unit] == net.host or (net.host, unit) in copies for unit in net.units
        )


def nets_of(
    questions: Iterable[tuple[str, float, Iterable[str]]], now: float, half_life: float
) -> list[Net]:
    """Return the nets of past questions, with weights that halve with age.

    Parameters
    ----------
    questions
        The host, the time in seconds and the needed units of each question.
    now, half_life
        The time now and the half-life of a question's weight, in seconds.
    """
    weights: dict[tuple[str, frozenset[str]], float] = {}
    for host, asked, units in questions:
        key = (host, frozenset(units))
        weights[key] = weights.get(key, 0.0) + 0.5 ** ((now - asked) / half_life)
    return [Net(host, units, weight) for (host, units), weight in weights.items()]


class PeerFiles:
    """The read-only files of a store behind a transport.

    Parameters
    ----------
    transport
        The transport to the store, which has to disclose its nodes.
    timeout
        Seconds that one reply may take.
    """

    def __init__(self, transport: StoreTransport, timeout: float | None = None) -> None:
        self._transport = transport
        self._exchange = RequestExchange({"": transport}, timeout)

    def close(self) -> None:
        """Close connections; the next read opens them again."""
        self._transport.close()

    @property
    def size(self) -> int:
        """The bytes of all files in use.

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
        raise FederationError(f"{path} has no table [precaching], which lists what may be copied.")
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
