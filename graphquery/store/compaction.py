"""Compaction: the rows of many small data files moved into few large ones.

Files are immutable, so a merged file is new, and a commit says where the rows of each old one are
in it. Old files stay for older snapshots until a vacuum. Every merged file has its own commit: one
that is interrupted loses one file's worth of work, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphquery.store.errors import StoreError
from graphquery.store.file_system import ROW_GROUP
from graphquery.store.staging import read_groups
from graphquery.store.state import State
from graphquery.store.streams import BLOCK, stream_files

if TYPE_CHECKING:
    from graphquery.store.writer import Writer

SMALL = 16 << 20
"""Files under so many bytes are merged."""
TARGET = 128 << 20
"""About the size of a merged file."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a compaction did.

    Parameters
    ----------
    before, after
        How many files were merged, and into how many.
    """

    before: int
    after: int


def plan(state: State, small: int, target: int) -> list[list[str]]:
    """The groups of files to merge, each into one.

    Files of fewer than `small` bytes that agree in their columns; files added by name are left
    alone.

    Raises
    ------
    StoreError
        When `small` is more than `target`: merged files would be merged again each time.
    """
    if small > target:
        raise StoreError(
            f"Compaction of files under {small} bytes into files of {target}: small files must not "
            "be larger than merged ones."
        )
    used = state.used_files()
    groups: list[list[str]] = []
    filling: dict[str, tuple[list[str], int]] = {}
    for name, entry in state.files.items():
        if entry.kept or entry.size >= small or name not in used:
            continue
        group, size = filling.get(entry.schema, ([], 0))
        if not group:
            groups.append(group)
        group.append(name)
        size += entry.size
        filling[entry.schema] = (group, size) if size < target else ([], 0)
    return [group for group in groups if len(group) > 1]


def merge(writer: Writer, names: Sequence[str]) -> None:
    """Merge files that agree in their columns into one; takes time proportional to their bytes."""
    staging = writer.staging()
    moved: dict[str, tuple[str, int]] = {}
    row_group = BLOCK if names[0] in stream_files(writer.state.records) else ROW_GROUP
    try:
        for name in names:
            for rows in read_groups(writer.root / name):
                location = staging.add_table("merged", rows, row_group)
                moved.setdefault(name, location)
        writer.commit(staging, "compact", moved=moved, removed=names)
    finally:
        staging.discard(published=True)
