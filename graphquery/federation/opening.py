"""Federations by their files: the way to each member."""

from __future__ import annotations

import os

from graphquery.federation.cache import Cache
from graphquery.federation.copies import (
    CopiedTransport,
    ObjectTransport,
    default_folder,
    file_system,
)
from graphquery.federation.federation import Federation
from graphquery.federation.http import HttpTransport
from graphquery.federation.members import Member, read_members, read_precaching
from graphquery.federation.noting import noting, with_copies
from graphquery.federation.peers import read_token
from graphquery.federation.question import Options
from graphquery.federation.transport import LocalTransport, Transport


def open_federation(
    path: str | os.PathLike[str],
    *,
    options: Options | None = None,
    timeout: float | None = None,
    home: str | None = None,
    cache: Cache | None = None,
) -> Federation:
    """Open the federation of a file; see `graphquery.federation.members`.

    Members that do not answer are no error: answers say what is missing.

    Raises
    ------
    FederationError
        The file says something else than members, or members contradict each other.
    """
    members, precaching = read_members(path), read_precaching(path)
    if precaching is not None:
        members = with_copies(members, precaching)
    transports = {alias: transport_to(member) for alias, member in members.items()}
    expected = {alias: member.store for alias, member in members.items()}
    return Federation(
        transports,
        expected,
        options=options,
        timeout=timeout,
        home=home,
        cache=cache,
        noted=None if precaching is None else noting(precaching),
    )


def transport_to(member: Member) -> Transport:
    """The way to a member.

    Raises
    ------
    FederationError
        A location of which no file system is known.
    """
    origin: Transport
    if member.remote:
        token = None if member.token_file is None else read_token(member.token_file)
        origin = HttpTransport(member.location, token, member.certificate)
    elif "://" in member.location:
        files, location = file_system(member.location)
        folder = member.copy or default_folder(member.location)
        return ObjectTransport(files, location, folder, member.disclosure)
    else:
        origin = LocalTransport(member.location, member.disclosure)
    return origin if member.copy is None else CopiedTransport(origin, member.copy)
