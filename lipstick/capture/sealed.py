"""Documents in JSON that carry the SHA-256 of their own text: manifests and versions of tables.

A document is an object of four entries, of which the last has the content::

    {"format": "lipstick capture", "version": 2, "sha256": "0b7c...",
    "content": {...}}

The checksum is of the kind, the version and the text of the content, so that no changed bit goes
unnoticed. It finds damage; it is no signature: whoever changes a document on purpose can write the
checksum of what he made.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lipstick.errors import CaptureDamagedError, CaptureError
from semiring.document import read_json

_HEAD = re.compile(
    rb'\{"format": "lipstick ([a-z]+)", "version": (\d{1,9}), "sha256": "([0-9a-f]{64})",'
    rb'\n"content": '
)
_TAIL = b"}\n"
_UNSEALED = 1
"""The version whose documents have no checksum."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A document as it was read.

    Parameters
    ----------
    version
        Of its format. Documents of version 1 had no checksum.
    content
        What it says.
    """

    version: int
    content: Any


def seal(kind: str, version: int, content: Any) -> bytes:
    """Return the bytes of a document of a kind: a word of small letters."""
    body = json.dumps(content, indent=1).encode()
    checksum = _checksum(kind, version, body)
    head = f'{{"format": "lipstick {kind}", "version": {version}, "sha256": "{checksum}",'
    return head.encode() + b'\n"content": ' + body + _TAIL


def unseal(path: Path, data: bytes, kind: str, newest: int) -> Sealed:
    """Return what the bytes of a document say.

    Parameters
    ----------
    path
        Where they are from, for messages.
    newest
        The last version that is known.

    Raises
    ------
    CaptureDamagedError
        When they are not what was written.
    CaptureError
        When they are of a version that is not known.
    """
    head = _HEAD.match(data)
    if head is None:
        return _unsealed(path, data, kind, newest)
    version, body = int(head[2]), data[head.end() : -len(_TAIL)]
    if head[1] != kind.encode() or data[-len(_TAIL) :] != _TAIL:
        raise altered(path)
    if _checksum(kind, version, body) != head[3].decode():
        raise altered(path)
    if version > newest:
        raise _unknown(path, kind, version, newest)
    if version <= _UNSEALED:
        raise altered(path)
    try:
        return Sealed(version, read_json(body))
    except ValueError as error:
        raise ununderstood(path, error) from error


def _unsealed(path: Path, data: bytes, kind: str, newest: int) -> Sealed:
    """Read a document of the first version, which has no checksum."""
    try:
        document = read_json(data)
    except ValueError as error:
        raise CaptureDamagedError(
            f"{path} cannot be read: {error}.\nIt was truncated or altered: restore it from a copy."
        ) from error
    version = document.get("format") if isinstance(document, dict) else None
    if version == _UNSEALED and isinstance(version, int):
        return Sealed(1, document)
    if isinstance(version, int) and version > _UNSEALED:
        raise _unknown(path, kind, version, newest)
    raise altered(path)


def altered(path: Path) -> CaptureDamagedError:
    """Return the error that a document is not what was written."""
    return CaptureDamagedError(
        f"{path} is not what was written: it was truncated or altered.\nRestore it from a copy."
    )


def ununderstood(path: Path, error: Exception) -> CaptureDamagedError:
    """Return the error that a document says what none of its kind does."""
    return CaptureDamagedError(
        f"{path} cannot be understood: {error}.\nIt was altered, or something else wrote it."
    )


def _unknown(path: Path, kind: str, version: int, newest: int) -> CaptureError:
    return CaptureError(
        f"{path} has {kind} format {version}; this version of lipstick reads formats up to "
        f"{newest}.\nUpgrade lipstick-spark."
    )


def _checksum(kind: str, version: int, body: bytes) -> str:
    return hashlib.sha256(f"{kind} {version}\n".encode() + body).hexdigest()
