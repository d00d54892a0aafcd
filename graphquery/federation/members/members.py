"""The file of a federation: who its members are, and where.

    format = 1

    [members.warehouse]
    location = "stores/warehouse"
    store = "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"

Relative locations are from the folder of the file. `store` is the identity of the store there, and
may be left out; the one that is there at first contact is expected from then on. So is `key`, the
public key that a server signs by. `copy` is a folder for a copy of the store
(`graphquery.federation.copies.copies`). A table [precaching] says what is copied ahead
(`graphquery.federation.copies.gossip`).
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphquery.federation.errors import FederationError
from graphquery.federation.serving.disclosure import Disclosure

VERSION = 1
_ALIAS = re.compile(r"[A-Za-z0-9_.-]+")
_IDENTITY = re.compile(r"[0-9a-f]{32}")
_KEY = re.compile(r"[0-9a-f]{64}")
_FIELDS = frozenset({"location", "store", "key", "disclosure", "token_file", "certificate", "copy"})


@dataclass(frozen=True, slots=True)
class Member:
    """One store of a federation.

    Parameters
    ----------
    alias
        What it is called in the federation: ``alias::node``.
    location
        A folder, a location of another file system, ``s3://bucket/store``, or the address of a
        server, ``https://host:port``.
    store
        Its identity; None if whatever is there is meant.
    disclosure
        What of a store in a folder is looked at; servers decide for themselves.
    token_file
        A file with the token that a server asks for.
    certificate
        A file with the certificates that a server's is checked by; None: those of the system.
    copy
        The folder of a copy. Of a store on another file system, it is the one that is asked; of
        others, it is asked while they do not answer.
    key
        The public key that its server signs by; None: the one that it shows first is pinned.
    """

    alias: str
    location: str
    store: str | None = None
    disclosure: Disclosure = Disclosure.NODES
    token_file: Path | None = None
    certificate: Path | None = None
    copy: Path | None = None
    key: str | None = None

    @property
    def remote(self) -> bool:
        """Whether it is a server."""
        return self.location.startswith(("http://", "https://"))


@dataclass(frozen=True, slots=True)
class Precaching:
    """Which copies a host keeps of what its questions need.

    Parameters
    ----------
    host
        The member that is this host's own.
    folder
        Where copies are, a folder each, called by alias; and the questions that were asked.
    capacity
        Bytes of copies at most.
    price
        What a byte of a copy costs, where a question of today is worth 1.
    half_life
        Days after which a question counts half.
    """

    host: str
    folder: Path
    capacity: int
    price: float = 0.0
    half_life: float = 7.0


def read_precaching(path: str | os.PathLike[str]) -> Precaching | None:
    """What the file of a federation says of copies; None where it says nothing.

    Raises
    ------
    FederationError
        The file is not there, or what it says cannot be understood.
    """
    file = Path(path)
    document = _document(file)
    if "precaching" not in document:
        return None
    try:
        fields = dict(document["precaching"])
        folder = file.absolute().parent / fields.pop("folder")
        host, capacity = fields.pop("host"), int(fields.pop("capacity"))
        price, half_life = float(fields.pop("price", 0.0)), float(fields.pop("half_life", 7.0))
        if fields:
            raise KeyError(next(iter(fields)))
    except (KeyError, TypeError, ValueError) as error:
        raise FederationError(
            f"[precaching] of {file} has to have host, folder and capacity, and may have price and "
            f"half_life: {error!r}."
        ) from error
    if host not in document["members"] or half_life <= 0:
        raise FederationError(
            f"[precaching] of {file}: the host is one of the members, and half_life is positive."
        )
    return Precaching(host, folder, capacity, price, half_life)


def read_members(path: str | os.PathLike[str]) -> dict[str, Member]:
    """The members of a federation by alias, in the order of its file.

    Raises
    ------
    FederationError
        The file is not there, or says something else than members.
    """
    file = Path(path)
    return {
        alias: _member(alias, fields, file.absolute().parent, str(file))
        for alias, fields in _document(file)["members"].items()
    }


def _document(file: Path) -> dict[str, Any]:
    """What the file of a federation says."""
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise FederationError(
            f"There is no file {file}.\nGive the file of a federation."
        ) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FederationError(f"{file} cannot be read as TOML: {error}.") from error
    if document.get("format") != VERSION:
        raise FederationError(
            f"{file} has no `format = {VERSION}`: it is no file of a federation, or of another "
            "version of lipstick-spark."
        )
    members = document.get("members")
    if not isinstance(members, dict) or not members:
        raise FederationError(f"{file} has no members.\nAdd [members.NAME] with a location.")
    return document


def _member(alias: str, fields: Any, folder: Path, file: str) -> Member:
    where = f"Member {alias!r} of {file}"
    if _ALIAS.fullmatch(alias) is None:
        raise FederationError(f"{where}: an alias is made of letters, digits, and the signs _ . -")
    if not isinstance(fields, dict) or not all(isinstance(each, str) for each in fields.values()):
        raise FederationError(f"{where} has no fields that are texts.")
    unknown = sorted(fields.keys() - _FIELDS)
    if unknown:
        raise FederationError(f"{where} has an unknown field {unknown[0]!r}.")
    location = fields.get("location", "")
    if not location:
        raise FederationError(f"{where} has no location.")
    store = fields.get("store")
    if store is not None and _IDENTITY.fullmatch(store) is None:
        raise FederationError(f"{where}: an identity of a store has 32 hexadecimal digits.")
    key = fields.get("key")
    if key is not None and _KEY.fullmatch(key) is None:
        raise FederationError(f"{where}: a key has 64 hexadecimal digits.")
    return Member(
        alias,
        location if "://" in location else str(folder / location),
        store,
        Disclosure.named(fields.get("disclosure", "nodes")),
        _file(fields, "token_file", folder),
        _file(fields, "certificate", folder),
        _file(fields, "copy", folder),
        key,
    )


def _file(fields: Mapping[str, str], name: str, folder: Path) -> Path | None:
    return folder / fields[name] if name in fields else None
