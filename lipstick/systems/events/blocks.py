"""Files of messages in blocks of whole lines, parsed, and messages by their topic."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.events.decoding import MAX_LINE, open_lines
from lipstick.systems.events.parse import DeadLetter, Parsed, parse
from semiring.base import Semiring


def parsed_blocks(
    files: Sequence[Path], size: int, semiring: Semiring[Any] | None = None
) -> Iterator[Parsed]:
    """Return the messages in blocks of whole lines of some files.

    A file that cannot be read to its end is reported as a line, and does not end the others.
    """
    for file in files:
        line = 1
        try:
            for block, first in _blocks(file, size):
                yield parse(block, str(file), first, semiring)
                line = first + block.count(b"\n")
        except (OSError, EOFError, zlib.error) as error:
            yield Parsed.refusing(DeadLetter(str(file), line, f"cannot be read: {error}", ""))


def _blocks(file: Path, size: int) -> Iterator[tuple[bytes, int]]:
    """Return blocks of whole lines of a file, with the number of the first line of each.

    Of a line that is too long, more than `MAX_LINE` is not held.
    """
    line, rest = 1, b""
    with open_lines(file) as source:
        while data := source.read(size):
            if len(rest) > MAX_LINE and b"\n" not in data:
                continue
            if len(rest) > MAX_LINE:
                data = data[data.index(b"\n") :]
            data = rest + data
            end = data.rfind(b"\n") + 1
            block, rest = data[:end], data[end:]
            if block:
                yield block, line
                line += block.count(b"\n")
    if rest:
        yield rest, line


def by_topic(messages: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Return messages by their topic."""
    names = messages.column("topic").unique().to_pylist()
    for name in names:
        whole = len(names) == 1
        yield name, messages if whole else messages.filter(pc.equal(messages["topic"], name))
