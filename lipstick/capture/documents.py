"""Manifests and versions of tables: JSON documents that are sealed, and run no code when opened.

A document is an object of four entries; the last one is the content::

    {"format": "lipstick capture", "version": 2, "sha256": "0b7c...",
    "content": {...}}

The checksum covers the kind, the version and the text of the content, so that any changed bit is
noticed. It detects damage and is not a signature: anyone who edits a document can recompute it.

A capture may come from a stranger: it is data, and opening it must run nothing. The scalars of a
manifest become parts of statements that Spark runs. They read rows of the capture by functions of
Spark, or by functions that the session itself has registered. Four things are therefore refused:
functions that call a Java method named by their arguments, where they would be called again;
queries inside scalars, which would read other tables and files; block names that are paths; and
value types with a class (UDT), which PySpark imports or unpickles, and Java instantiates, when it
reads the schema. Captures that Lipstick writes contain none of these, except Spark's own types.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from lipstick.errors import CaptureDamagedError, CaptureError
from rewriter.algebra import Scalar
from rewriter.blocks import Block, Core, topological
from semiring.support.document import read_json

_HEAD = re.compile(
    rb'\{"format": "lipstick ([a-z]+)", "version": (\d{1,9}), "sha256": "([0-9a-f]{64})",'
    rb'\n"content": '
)
_TAIL = b"}\n"
_UNSEALED = 1
"""The version whose documents have no checksum."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A document that was read.

    Parameters
    ----------
    version
        The version of its format. Documents of version 1 had no checksum.
    content
        Its content.
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
    """Return the error of a document with content that is invalid for its kind."""
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


_CALLING = frozenset(["java_method", "reflect", "try_reflect"])
"""Functions that call a Java method by its name."""
_QUERIES = frozenset(["Command", "From", "Select", "SetOperation", "Subquery", "Union"])
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_harmless(path: Path, root: Block, values: str) -> None:
    """Refuse what would do more than read the rows of a capture.

    Parameters
    ----------
    path
        The manifest, for messages.
    values
        Of the capture: ``copy`` or ``reference``.

    Raises
    ------
    CaptureDamagedError
        When the manifest has such a thing.
    """
    for block in topological(root):
        if not _NAME.fullmatch(block.name):
            raise _refused(path, f"a block called {block.name!r}")
        # What was drawn when the capture was written is a member column, and not drawn again.
        drawn = block.core is not None and block.core.once and values == "copy"
        for scalar in _scalars(block, without=block.core if drawn else None):
            what = _more_than_values(scalar)
            if what is not None:
                raise _refused(path, what)


def named_class(document: Any) -> str | None:
    """Return the class that some type in the JSON of a schema names; None: none, but for Spark's.

    To read such a schema runs the code of the class.
    """
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            if value.get("type") == "udt" and not _is_of_spark(value):
                return str(value.get("pyClass") or value.get("class"))
            waiting += value.values()
    return None


def _is_of_spark(udt: dict[str, Any]) -> bool:
    python, java = str(udt.get("pyClass", "pyspark.")), str(udt.get("class", "org.apache.spark."))
    of_spark = python.startswith("pyspark.") and java.startswith("org.apache.spark.")
    return of_spark and "serializedClass" not in udt


def check_types(path: Path, document: Any) -> None:
    """Refuse the JSON of a schema that names classes.

    Raises
    ------
    CaptureDamagedError
        When it does.
    """
    name = named_class(document)
    if name is not None:
        raise _refused(path, f"values of the class {name}, whose code would be run to read them")


def _more_than_values(scalar: Scalar) -> str | None:
    """Return what a scalar does beside computing a value; None: nothing."""
    for node in scalar.walk():
        kind = type(node).__name__
        if kind in _QUERIES:
            return "a query inside of an expression"
        if kind == "Column" and not node.args.get("table"):
            return f"a column {node.name!r} of no row"
        called = any(base.__name__ == "Func" for base in type(node).__mro__)
        if called and node.name.lower() in _CALLING:
            return f"a call of {node.name}, which runs a Java method by its name"
    return None


def _scalars(value: Any, without: Core | None) -> Iterator[Scalar]:
    """Yield the scalars of a part of a block, without scalars of other blocks and of a core."""
    if isinstance(value, Scalar):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _scalars(each, without)
    elif is_dataclass(value) and value is not without:
        for each in fields(value):
            inner = getattr(value, each.name)
            if not isinstance(inner, Block):
                yield from _scalars(inner, without)


def _refused(path: Path, what: str) -> CaptureDamagedError:
    return CaptureDamagedError(
        f"{path} has {what}. No capture has that, so this is none, and nothing of it is run.\n"
        "Ask whoever made it for one that lipstick wrote."
    )
