"""The file of dead letters: lines that are not messages."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from lipstick.systems.events.decoding import MAX_TEXT, Unreadable
from lipstick.systems.events.errors import EventsError
from lipstick.systems.events.parse import DeadLetter

_LONGEST = 1 << 24
"""Limit in bytes on the longest line whose end is searched."""


def letter_of(found: Unreadable, origin: str) -> DeadLetter:
    """Return an unreadable part of a file as a dead letter."""
    return DeadLetter(origin, found.line, found.reason, found.text)


def append_letters(path: str | os.PathLike[str], letters: Iterable[DeadLetter]) -> int:
    """Append letters to the file, one JSON object each, and sync it.

    Long lines are cut. Lines of a symbolic link are reported and not copied: whoever created the
    link may not be allowed to read its target.

    Returns
    -------
    int
        The number of letters.

    Raises
    ------
    EventsError
        When the file itself is a symbolic link.
    """
    lines = [_line(letter) for letter in letters]
    if lines:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise EventsError(
                f"Refused lines cannot be written to {path}: {error.strerror}.\n"
                "Give another file; a symbolic link is not followed."
            ) from error
        with os.fdopen(handle, "a+b") as file:
            size = file.seek(0, os.SEEK_END)
            if size:  # unfinished work of a dead process is written again
                file.seek(max(0, size - _LONGEST))
                file.truncate(size - len(file.read().rpartition(b"\n")[2]))
                file.seek(0, os.SEEK_END)
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
    return len(lines)


def _line(letter: DeadLetter) -> bytes:
    text = letter.text
    if _is_link(letter.origin):
        text = ""
    elif len(text) > MAX_TEXT:
        text = f"{text[:MAX_TEXT]}... ({len(text):,} characters)"
    reason = letter.reason[:MAX_TEXT]
    document = asdict(replace(letter, text=text, reason=reason))
    line = json.dumps(document, ensure_ascii=False) + "\n"
    return line.encode("utf-8", "backslashreplace")


def _is_link(origin: str) -> bool:
    path = Path(unquote(urlsplit(origin).path) if origin.startswith("file:") else origin)
    try:
        return path.is_symlink()
    except (OSError, ValueError):
        return False


def read_letters(path: str | os.PathLike[str]) -> list[DeadLetter]:
    """Return the letters in a file; none if the file is missing.

    Raises
    ------
    EventsError
        When the file is a symbolic link.
    """
    if Path(path).is_symlink():
        raise EventsError(
            f"Refused lines are not written to {path}, which is a symbolic link.\n"
            "Give another file; a symbolic link is not followed."
        )
    if not Path(path).exists():
        return []
    with Path(path).open(encoding="utf-8", newline="\n") as file:
        return [DeadLetter(**json.loads(line)) for line in file if line.endswith("\n")]


def differing_letters(messages: pa.Table) -> list[DeadLetter]:
    """Return redelivered messages of one topic with different edges, as dead letters."""
    names = ("topic", "exec", "attempt", "seq")
    reason = "a message with this key came before with other edges, which count; these do not"
    letters = []
    for row in messages.select(names).to_pylist():
        key = ", ".join(f"{name} {row[name]}" for name in names if row[name] is not None)
        letters.append(DeadLetter(f"message again: {key}", 0, reason, ""))
    return letters


NONE_KEPT = "late, and messages that counted are not kept to repair it from"
SOME_FORGOTTEN = "late, and joined through the messages that are still kept, not the older ones"


def late_letters(messages: pa.Table, reason: str) -> list[DeadLetter]:
    """Return late messages, which may lack pairs, as dead letters."""
    letters = []
    for row in messages.to_pylist():
        values = {name: value for name, value in row.items() if value is not None}
        values["counts"] = {k: v for k, v in (row["counts"] or {}).items() if v is not None}
        text = json.dumps(values)
        letters.append(DeadLetter(f"late: {text}", 0, reason, text))
    return letters
