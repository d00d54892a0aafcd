"""The file of a federation: its members and their locations.

    format = 1

    [members.warehouse]
    location = "stores/warehouse"
    store = "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"

Relative locations start at the folder of the file. `store` is the identity of the store there; if
it is left out, the identity at first contact is pinned. The same holds for `key`, the public key
that a server signs with. `copy` is a folder for a copy of the store
(`graphquery.federation.copies.copies`). A table [precaching] configures copies made ahead of use
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

from graphquery.errors import FederationError
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
        Its name in the federation: ``alias::node``.
    location
        A folder, a location of another file system, ``s3://bucket/store``, or the address of a
        server, ``https://host:port``.
    store
        Its identity; None for any store at the location.
    disclosure
        The level of a store in a folder; servers decide for themselves.
    token_file
        A file with the token that the server requires.
    certificate
        A file with the certificates to verify the server's with; None: the certificates of the
        system.
    copy
        The folder of a copy. It is always asked instead of a store on another file system, and
        instead of other stores while they do not answer.
    key
        The public key that its server signs with; None: the key at first contact is pinned.
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
        """True if the member is a server."""
        return self.location.startswith(("http://", "https://"))


@dataclass(frozen=True, slots=True)
class Precaching:
    """The settings of a host's copies, made ahead of use.

    Parameters
    ----------
    host
        The alias of this host's own member.
    folder
        The folder of the copies, each in a folder named by alias, and of the record of questions.
    capacity
        The limit on the copies, in bytes.
    price
        The price of a byte, in questions of today.
    half_life
        The half-life of a question's weight, in days.
    """

    host: str
    folder: Path
    capacity: int
    price: float = 0.0
    half_life: float = 7.0


def read_precaching(path: str | os.PathLike[str]) -> Precaching | None:
    """Return the settings of copies in a federation file, or None if it has no such table.

    Raises
    ------
    FederationError
        The file is missing or malformed.
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
    """Return the members of a federation by alias, in the order of its file.

    Raises
    ------
    FederationError
        The file is missing or malformed.
    """
    file = Path(path)
    return {
        alias: _member(alias, fields, file.absolute().parent, str(file))
        for alias, fields in _document(file)["members"].items()
    }


def _document(file: Path) -> dict[str, Any]:
    """Read and check the TOML document of a federation file."""
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
            f"{file} has no `format = {VERSION}`: it is not a file of a federation, or of another "
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
