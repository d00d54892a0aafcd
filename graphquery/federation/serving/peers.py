"""The peers of a server: tokens and their levels of disclosure.

    format = 1
    everyone = "channels"

    [peers.reports]
    token_sha256 = "…"
    disclosure = "boundary"

`everyone` is the level of requests without a token, by default nothing. The server stores digests
of tokens, never tokens.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from graphquery.errors import FederationError
from graphquery.federation.serving.disclosure import Disclosure

VERSION = 1
_DIGEST = re.compile(r"[0-9a-f]{64}")
_TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer: its name in the log, and its level of disclosure."""

    name: str
    level: Disclosure


@dataclass(frozen=True, slots=True)
class Peers:
    """The peers of a server by the SHA-256 of their tokens.

    Parameters
    ----------
    everyone
        The level of requests without a token.
    known
        Peers by hexadecimal digest.
    """

    everyone: Disclosure = Disclosure.NOTHING
    known: Mapping[str, Peer] = field(default_factory=dict)

    def of(self, token: str | None) -> Peer | None:
        """Return the peer with a token; `everyone` without one, None for an unknown one."""
        if token is None:
            return Peer("everyone", self.everyone)
        digest = token_digest(token)
        matching = None
        for known, peer in self.known.items():
            # All tokens are compared, so that the time taken reveals nothing about them.
            if hmac.compare_digest(known, digest):
                matching = peer
        return matching


def token_digest(token: str) -> str:
    """Return the SHA-256 of a token, as in the file of peers."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def new_token(path: str | os.PathLike[str]) -> str:
    """Write a new token to a file that only its owner can read; return its digest.

    Raises
    ------
    FederationError
        The file exists.
    """
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise FederationError(f"There is a file {path} already; it is not overwritten.") from error
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(token + "\n")
    return token_digest(token)


def read_token(path: str | os.PathLike[str]) -> str:
    """Return the token in a file.

    Raises
    ------
    FederationError
        The file cannot be read, or holds no token.
    """
    try:
        token = Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise FederationError(f"The token in {path} cannot be read: {error.strerror}.") from error
    if not token or not token.isascii() or not token.isprintable():
        raise FederationError(f"{path} has no token in it.")
    return token


def read_peers(path: str | os.PathLike[str]) -> Peers:
    """Read the peers in a file.

    Raises
    ------
    FederationError
        The file is missing or malformed.
    """
    file = Path(path)
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FederationError(f"{file} cannot be read: {error}.") from error
    if document.get("format") != VERSION:
        raise FederationError(f"{file} has no `format = {VERSION}`: it is not a file of peers.")
    known: dict[str, Peer] = {}
    for name, fields in document.get("peers", {}).items():
        digest = fields.get("token_sha256", "") if isinstance(fields, dict) else ""
        if not isinstance(digest, str) or _DIGEST.fullmatch(digest) is None:
            raise FederationError(
                f"Peer {name!r} of {file} has no token_sha256 of 64 hexadecimal digits.\n"
                "Make a token with lipstick federation token."
            )
        if digest in known:
            raise FederationError(f"{known[digest].name} and {name} of {file} have one token.")
        known[digest] = Peer(name, Disclosure.named(str(fields.get("disclosure", "nothing"))))
    everyone = Disclosure.named(str(document.get("everyone", "nothing")))
    return Peers(everyone, known)
