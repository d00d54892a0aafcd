"""Files of JSON documents and events: unpacked, decoded, and split into values with their lines.

A file has one value, an array of values, or several values one after another, each on one line or
over many lines. An unreadable value is reported with its line, and the values after it are still
read.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from lipstick.systems.events.errors import MessageError

MAX_BYTES = 1 << 30
"""Limit in bytes on a file of documents, unpacked, since it is read as a whole."""

MAX_LINE = 64 << 20
"""Limit in bytes on a line of messages."""

MAX_IDENTIFIER = 1 << 16
"""Limit in bytes on an identifier."""

MAX_TEXT = 1 << 12
"""Limit on the characters of a refused line that are copied to the dead letters."""

GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""

_CHUNK = 1 << 20
_SPACE = re.compile(r"[ \t\r\n]*")
_NEXT_VALUE = re.compile(r"\n(?=[^ \t\r\n}\],\"])")
"""The end of a line whose next line does not continue an earlier value."""


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A JSON value in a file, with the line it begins on, from 1, and its text."""

    line: int
    value: Any
    text: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A part of a file that is not JSON, with the line it begins on, the reason and its text."""

    line: int
    reason: str
    text: str


def open_lines(path: Path) -> BinaryIO:
    """Open a file of lines in UTF-8 for reading, unpacked if it is gzip, without a BOM."""
    with path.open("rb") as start:
        packed = start.read(len(GZIP)) == GZIP
    source = cast("BinaryIO", gzip.GzipFile(path) if packed else path.open("rb"))
    if source.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
        source.seek(0)
    return source


def read_bytes(path: Path) -> bytes:
    """Return the whole content of a file.

    Raises
    ------
    MessageError
        When it cannot be read, or is too large.
    """
    try:
        _check_size(path.stat().st_size)
        return path.read_bytes()
    except OSError as error:
        raise MessageError(f"the file cannot be read: {error.strerror}") from error


def unpack(data: bytes) -> bytes:
    """Return the content of a gzip file, and other data as it is.

    Raises
    ------
    MessageError
        When the file is damaged, or has more than `MAX_BYTES`.
    """
    if not data.startswith(GZIP):
        _check_size(len(data))
        return data
    parts: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while part := file.read(_CHUNK):
                size += len(part)
                _check_size(size)
                parts.append(part)
    except (OSError, EOFError, zlib.error) as error:
        raise MessageError(f"this gzip file is damaged: {error}") from error
    return b"".join(parts)


def _check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise MessageError(
            f"the file has more than {MAX_BYTES >> 20:,} MiB, and is read as a whole\n"
            "Split it, for example into a document or event a line in several files."
        )


def decode(data: bytes) -> str:
    """Return the text of JSON in UTF-8, UTF-16 or UTF-32, with or without a BOM.

    Raises
    ------
    MessageError
        The data has none of these encodings.
    """
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        what = f"this is not {encoding.upper()}: {error.reason}, byte {error.start}"
        raise MessageError(what) from error


def json_values(data: bytes) -> Iterator[JsonValue | Unreadable]:
    """Split a file into its JSON values; the elements of an array are values of their own.

    Raises
    ------
    MessageError
        When the file cannot be unpacked or decoded at all.
    """
    return _Scanner(decode(unpack(data))).values()


class _Scanner:
    """A reader of successive values that counts lines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._decoder = json.JSONDecoder(object_pairs_hook=_object)
        self._counted, self._line = 0, 1

    def values(self) -> Iterator[JsonValue | Unreadable]:
        text, place = self._text, self._skip(0)
        in_array = was_array = False
        while place < len(text):
            if not in_array and text[place] == "[":
                in_array = was_array = True
                place = self._skip(place + 1)
                if text[place : place + 1] != "]":
                    continue
            if was_array and text[place : place + 1] in {"]", ","}:
                in_array, place = in_array and text[place] == ",", self._skip(place + 1)
                continue
            found, end = self._value(place)
            if in_array and isinstance(found, JsonValue):
                end = self._skip(end)
                if text[end : end + 1] not in {",", "]"}:
                    yield found
                    found = self._unreadable(end, "Expecting ',' or ']' in an array")
            yield found
            if isinstance(found, Unreadable):  # go on as if the array was over
                in_array = False
                following = _NEXT_VALUE.search(text, end)
                end = len(text) if following is None else following.end()
            place = self._skip(end)
        if in_array:
            yield self._unreadable(len(text), "the array has no end")

    def _value(self, place: int) -> tuple[JsonValue | Unreadable, int]:
        try:
            value, end = self._decoder.raw_decode(self._text, place)
        except RecursionError:
            reason = "the JSON is nested too deeply"
        except (ValueError, MessageError) as error:
            reason = str(error)
        else:
            return JsonValue(self._line_of(place), value, self._text[place:end]), end
        return self._unreadable(place, reason), place

    def _unreadable(self, place: int, reason: str) -> Unreadable:
        end = self._text.find("\n", place)
        text = self._text[place : len(self._text) if end < 0 else end]
        return Unreadable(self._line_of(place), reason, text)

    def _line_of(self, place: int) -> int:
        self._line += self._text.count("\n", self._counted, place)
        self._counted = place
        return self._line

    def _skip(self, place: int) -> int:
        match = _SPACE.match(self._text, place)
        return place if match is None else match.end()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; refuse duplicate names, since one of the values would be lost."""
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise MessageError(f"an object has the name {name[:80]!r} twice")
            seen.add(name)
    return made


def check_identifier(name: str) -> str:
    """Return an identifier, checked to be storable.

    Raises
    ------
    MessageError
        When it is longer than `MAX_IDENTIFIER`, or is not Unicode text.
    """
    try:
        size = len(name) if name.isascii() else len(name.encode())
    except UnicodeEncodeError as error:
        raise MessageError(
            f"{name[:80]!r} is not Unicode text: a surrogate stands alone"
        ) from error
    if size > MAX_IDENTIFIER:
        raise MessageError(
            f"the identifier {name[:40]!r}... has {size:,} bytes, more than {MAX_IDENTIFIER:,}"
        )
    return name
