"""Federations by their files: the way to each member."""

from __future__ import annotations

import os

from graphquery.federation.copies.copies import (
    CopiedTransport,
    ObjectTransport,
    default_folder,
    file_system,
)
from graphquery.federation.copies.usage import noting, with_copies
from graphquery.federation.federation import Federation
from graphquery.federation.members.cache import Cache
from graphquery.federation.members.members import Member, read_members, read_precaching
from graphquery.federation.members.pins import Pin, read_pins, write_pins
from graphquery.federation.questions.question import Options
from graphquery.federation.serving.peers import read_token
from graphquery.federation.wire.client import HttpTransport
from graphquery.federation.wire.messages import REPLY, Limits
from graphquery.federation.wire.transport import LocalTransport, StoreTransport
from semiring.door import checked


@checked
def open_federation(
    path: str | os.PathLike[str],
    *,
    options: Options | None = None,
    timeout: float | None = None,
    home: str | None = None,
    cache: Cache | None = None,
    limits: Limits = REPLY,
) -> Federation:
    """Open the federation that a file describes; see `graphquery.federation.members.members`.

    Members are pinned at first contact (`graphquery.federation.members.pins`): a member that is
    another store later, or signs with another key, is missing as untrusted. Members that do not
    answer are no error: answers list what is missing.

    Raises
    ------
    FederationError
        The file is malformed, or members contradict each other.
    """
    members, precaching = read_members(path), read_precaching(path)
    pins = read_pins(path)
    if precaching is not None:
        members = with_copies(members, precaching)
    transports = {alias: transport_to(member, pins.get(alias)) for alias, member in members.items()}
    expected = {
        alias: member.store or (pins[alias].store if alias in pins else None)
        for alias, member in members.items()
    }
    federation = Federation(
        transports,
        expected,
        options=options,
        timeout=timeout,
        home=home,
        cache=cache,
        limits=limits,
        noted=None if precaching is None else noting(precaching),
    )
    seen = {
        alias: Pin(head.store, _key(transports[alias]))
        for alias, head in federation.directory.heads.items()
    }
    if any(pins.get(alias) != pin for alias, pin in seen.items()):
        write_pins(path, {**pins, **seen})
    return federation


def _key(transport: StoreTransport) -> str | None:
    """Return the key that a member's server has shown, if it is behind one."""
    origin = transport.origin if isinstance(transport, CopiedTransport) else transport
    return origin.key if isinstance(origin, HttpTransport) else None


def transport_to(member: Member, pin: Pin | None = None) -> StoreTransport:
    """Return the transport to a member.

    Parameters
    ----------
    pin
        The member's identity and key at first contact; None before it.

    Raises
    ------
    FederationError
        No file system is known for the location.
    """
    origin: StoreTransport
    if member.remote:
        token = None if member.token_file is None else read_token(member.token_file)
        key = member.key or (None if pin is None else pin.key)
        origin = HttpTransport(member.location, token, member.certificate, key)
    elif "://" in member.location:
        files, location = file_system(member.location)
        folder = member.copy or default_folder(member.location)
        return ObjectTransport(files, location, folder, member.disclosure)
    else:
        origin = LocalTransport(member.location, member.disclosure)
    return origin if member.copy is None else CopiedTransport(origin, member.copy)
