"""Federations opened from their files, with a transport to each member."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from graphquery.errors import FederationError
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
from graphquery.federation.questions.question import Options
from graphquery.federation.serving.peers import read_token
from graphquery.federation.wire.client import HttpTransport
from graphquery.federation.wire.messages import REPLY, Limits
from graphquery.federation.wire.transport import LocalTransport, StoreTransport
from semiring.support.door import checked

VERSION = 1
LOG = logging.getLogger("lipstick.federation")


@dataclass(frozen=True, slots=True)
class Pin:
    """The identity and the key of a member at first contact.

    Parameters
    ----------
    store
        The identity of its store.
    key
        The public key that its server signs with; None for a folder, or a server without a key.
    """

    store: str
    key: str | None = None


def pins_file(federation: str | os.PathLike[str]) -> Path:
    """Return the path of a federation's pins, beside its own file."""
    return Path(federation).with_suffix(".known.json")


def read_pins(federation: str | os.PathLike[str]) -> dict[str, Pin]:
    """Return the pins of a federation by alias; none before the first contact.

    Raises
    ------
    FederationError
        The file is damaged. It is not passed over, since that would trust everybody anew.
    """
    file = pins_file(federation)
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        if document["format"] != VERSION:
            raise ValueError(f"format {document['format']!r}")
        return {
            str(alias): Pin(str(each["store"]), None if each["key"] is None else str(each["key"]))
            for alias, each in document["members"].items()
        }
    except FileNotFoundError:
        return {}
    except (AttributeError, KeyError, OSError, RecursionError, TypeError, ValueError) as error:
        raise FederationError(
            f"{file} holds no pins of members: {error!r}.\nRestore it; or delete it, if all "
            "members are to be trusted as they are now."
        ) from error


def write_pins(federation: str | os.PathLike[str], pins: Mapping[str, Pin]) -> None:
    """Write the pins of a federation, whole or not at all.

    If the folder is not writable, members are pinned for this process alone, and a warning is
    logged.
    """
    file = pins_file(federation)
    members = {alias: {"store": pin.store, "key": pin.key} for alias, pin in pins.items()}
    text = json.dumps({"format": VERSION, "members": members}, indent=1)
    try:
        handle, beside = tempfile.mkstemp(dir=file.parent, prefix=".lipstick-pins-")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text + "\n")
        Path(beside).replace(file)
    except OSError as error:
        LOG.warning("%s cannot be written, members are not pinned: %s", file, error.strerror)


def forget(federation: str | os.PathLike[str], alias: str) -> None:
    """Remove the pin of a member: the next contact is the first.

    Raises
    ------
    FederationError
        No member of this alias is pinned.
    """
    pins = read_pins(federation)
    if alias not in pins:
        known = ", ".join(pins) or "none"
        raise FederationError(f"No member {alias!r} is pinned in {pins_file(federation)}: {known}.")
    del pins[alias]
    write_pins(federation, pins)


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

    Members are pinned at first contact (`graphquery.federation.members.opening`): a member that is
    another store later, or signs with another key, is missing as untrusted. Members that do not
    answer are not an error: answers list what is missing.

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
    """Return the key that a member's server has presented, or None."""
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
