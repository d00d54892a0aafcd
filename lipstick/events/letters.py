"""The file of lines that were no messages."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa

from lipstick.events.parse import DeadLetter

_LONGEST = 1 << 24
"""Bytes of the longest line that is looked for the end of."""


def append_letters(path: str | os.PathLike[str], letters: Iterable[DeadLetter]) -> int:
    """Append lines to the file, one JSON object each, and have them on disk.

    Returns
    -------
    int
        How many there were.
    """
    lines = [json.dumps(asdict(letter), ensure_ascii=False) + "\n" for letter in letters]
    if lines:
        with Path(path).open("a+b") as file:
            size = file.seek(0, os.SEEK_END)
            if size:  # what a process that died has not finished is written anew
                file.seek(max(0, size - _LONGEST))
                file.truncate(size - len(file.read().rpartition(b"\n")[2]))
                file.seek(0, os.SEEK_END)
            file.writelines(line.encode() for line in lines)
            file.flush()
            os.fsync(file.fileno())
    return len(lines)


def read_letters(path: str | os.PathLike[str]) -> list[DeadLetter]:
    """The lines in a file; none if there is no such file."""
    if not Path(path).exists():
        return []
    with Path(path).open(encoding="utf-8", newline="\n") as file:
        return [DeadLetter(**json.loads(line)) for line in file if line.endswith("\n")]


NONE_KEPT = "late, and messages that counted are not kept to repair it from"
SOME_FORGOTTEN = "late, and joined through the messages that are still kept, not the older ones"


def late_letters(messages: pa.Table, reason: str) -> list[DeadLetter]:
    """Late messages, which may lack pairs, as refused lines."""
    letters = []
    for row in messages.to_pylist():
        values = {name: value for name, value in row.items() if value is not None}
        values["counts"] = {k: v for k, v in (row["counts"] or {}).items() if v is not None}
        text = json.dumps(values)
        letters.append(DeadLetter(f"late: {text}", 0, reason, text))
    return letters
