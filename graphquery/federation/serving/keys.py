"""Keys of servers: replies are signed, and verified by keys that are pinned at first contact.

A store's identity is public, so anybody can claim it. A server therefore signs every reply,
together with the request and a number that the asker drew, by an Ed25519 key of its own. The asker
pins the first key that it sees, as SSH does, and accepts no other key afterwards.

Needs the package `cryptography`, which the extra `federation` installs.

References
----------
Josefsson, Liusvaara, *Edwards-Curve Digital Signature Algorithm (EdDSA)*, RFC 8032 (2017).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphquery.errors import FederationError

NONCE = "Lipstick-Nonce"
"""The HTTP header with the requester's nonce, in hexadecimal."""

_CONTEXT = b"lipstick federation reply 1\0"


class Signer:
    """Signs replies by a private key.

    Parameters
    ----------
    private
        A private key of `cryptography`.
    """

    def __init__(self, private: Any) -> None:
        self._private = private
        self.key: str = private.public_key().public_bytes_raw().hex()
        """The public key, 64 hexadecimal digits."""

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> Signer:
        """Return the signer of a key file, which is created if there is none.

        Raises
        ------
        FederationError
            The file holds no private key, or `cryptography` is not installed.
        """
        ed25519 = _ed25519()
        file = Path(path)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            private = ed25519.Ed25519PrivateKey.generate()
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return cls(_read_private(ed25519, file))
        except OSError as error:
            raise FederationError(f"The key {file} cannot be written: {error.strerror}.") from error
        with os.fdopen(handle, "w", encoding="ascii") as stream:
            stream.write(private.private_bytes_raw().hex() + "\n")
        return cls(private)

    def seal(self, nonce: str, request: str, reply: str) -> Mapping[str, str]:
        """Return the seal of a reply to a request, given the checksums of both."""
        return {
            "key": self.key,
            "signature": self._private.sign(_signed(nonce, request, reply)).hex(),
        }


def is_sealed_by(seal: Mapping[str, str], key: str, nonce: str, request: str, reply: str) -> bool:
    """Return whether a reply was signed by a key, for this request and nonce.

    Parameters
    ----------
    request, reply
        The checksums of both messages.

    Raises
    ------
    FederationError
        `cryptography` is not installed.
    """
    ed25519 = _ed25519()
    from cryptography.exceptions import InvalidSignature

    try:
        public = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        public.verify(bytes.fromhex(seal.get("signature", "")), _signed(nonce, request, reply))
    except (InvalidSignature, ValueError):
        return False
    return True


def is_available() -> bool:
    """Return whether replies can be signed and verified here."""
    try:
        _ed25519()
    except FederationError:
        return False
    return True


def default_key_file(store: str) -> Path:
    """Return the default key file of a store's server."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "lipstick" / "servers" / f"{store}.key"


def _signed(nonce: str, request: str, reply: str) -> bytes:
    return _CONTEXT + f"{nonce} {request} {reply}".encode()


def _read_private(ed25519: Any, file: Path) -> Any:
    try:
        return ed25519.Ed25519PrivateKey.from_private_bytes(
            bytes.fromhex(file.read_text(encoding="ascii").strip())
        )
    except (OSError, ValueError) as error:
        raise FederationError(f"{file} holds no private key of a server: {error}.") from error


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise FederationError(
            "Replies of federations are signed and verified by the package cryptography.\n"
            "Install lipstick-spark[federation]."
        ) from error
    return ed25519
