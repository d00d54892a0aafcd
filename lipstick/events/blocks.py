"""Files of messages in blocks of whole lines, and messages by their topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc


def blocks_of(files: Sequence[Path], size: int) -> Iterator[tuple[bytes, Path, int]]:
    """Blocks of whole lines of files, with the file and the number of the first line of each."""
    for file in files:
        line, rest = 1, b""
        with file.open("rb") as source:
            while data := source.read(size):
                data = rest + data
                end = data.rfind(b"\n") + 1
                block, rest = data[:end], data[end:]
                if block:
                    yield block, file, line
                    line += block.count(b"\n")
        if rest:
            yield rest, file, line


def by_topic(messages: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Messages by their topic."""
    names = messages.column("topic").unique().to_pylist()
    for name in names:
        whole = len(names) == 1
        yield name, messages if whole else messages.filter(pc.equal(messages["topic"], name))
