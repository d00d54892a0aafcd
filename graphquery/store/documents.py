"""JSON documents that carry the SHA-256 of their own bytes: commits and checkpoints."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from graphquery.errors import StoreDamagedError
from semiring.support.document import read_json

_HEAD = b'{"sha256":"'
_MIDDLE = b'","content":'
_TAIL = b"}\n"
_START = len(_HEAD) + 64 + len(_MIDDLE)


def seal(content: Any) -> tuple[bytes, str]:
    """Return the bytes of a document with its checksum, and the checksum."""
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    checksum = hashlib.sha256(body).hexdigest()
    return _HEAD + checksum.encode() + _MIDDLE + body + _TAIL, checksum


def unseal(path: Path, what: str) -> tuple[Any, str]:
    """Return the content of a document, and its checksum.

    Raises
    ------
    FileNotFoundError
        When there is no such file.
    StoreDamagedError
        The document is unreadable, truncated or altered; `what` names it in the message.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StoreDamagedError(f"{what} cannot be read: {error}") from error
    body = data[_START : -len(_TAIL)]
    checksum = hashlib.sha256(body).hexdigest()
    if data != _HEAD + checksum.encode() + _MIDDLE + body + _TAIL:
        raise StoreDamagedError(
            f"{what} is not what was written: {path} was truncated or altered.\n"
            "Restore the file from a copy of the store."
        )
    try:
        return read_json(body), checksum
    except ValueError as error:
        raise StoreDamagedError(f"{what} cannot be understood: {error}.") from error
