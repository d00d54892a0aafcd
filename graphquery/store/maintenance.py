"""Compaction merges the rows of many small data files into few large ones; vacuum deletes files.

Files are immutable, so a merged file is new, and a commit records the positions of the old files'
rows in it. Old files stay for older snapshots until a vacuum. Every merged file has its own commit:
an interruption loses one file's worth of work, and nothing else. A vacuum deletes the files that no
commit has used for a while.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from graphquery.errors import StoreError
from graphquery.store.commit import Commit
from graphquery.store.file_system import ROW_GROUP, TEMPORARY, StoreFiles
from graphquery.store.format import CHECKPOINTS, DATA, LOG, STAGING
from graphquery.store.staging import read_groups
from graphquery.store.state import StoreState
from graphquery.store.streams import BLOCK, stream_files

if TYPE_CHECKING:
    from graphquery.store.writer import Writer


SMALL = 16 << 20
"""Size in bytes under which files are merged."""
TARGET = 128 << 20
"""Approximate size of a merged file."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """The result of a compaction.

    Parameters
    ----------
    before, after
        The number of merged files, and of the files that they were merged into.
    """

    before: int
    after: int


def plan(state: StoreState, small: int, target: int) -> list[list[str]]:
    """Return the groups of files to merge, each into one file.

    Files in a group have fewer than `small` bytes and the same columns; files added by name are not
    merged.

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
    """Merge files with the same columns into one, in time proportional to their bytes."""
    staging = writer.staging()
    moved: dict[str, tuple[str, int]] = {}
    row_group = BLOCK if names[0] in stream_files(writer.state.records) else ROW_GROUP
    try:
        for name in names:
            for rows in read_groups(writer.root / name):
                location = staging.add_table("merged", rows, row_group)
                moved.setdefault(name, location)
        writer.commit(staging, replace(Commit.planned("compact"), moved=moved, removed=names))
    finally:
        staging.discard(published=True)


def vacuum(writer: Writer, files: StoreFiles, older_than: timedelta) -> int:
    """Delete the files that were merged or removed longer ago than `older_than`.

    Snapshots from before that time can no longer read them. The log lists the files before they are
    deleted: after an interruption at any point, the next vacuum or writer deletes the rest.

    Returns
    -------
    int
        The number of files deleted.

    Raises
    ------
    StoreError
        `older_than` is negative, or a transaction is open, whose files are not in use yet.
    """
    if older_than < timedelta(0):
        raise StoreError(f"Vacuum of files older than {older_than}: give no negative time.")
    if writer.busy:
        raise StoreError("Vacuum while a transaction is open: commit it or roll it back first.")
    state = writer.state
    limit = datetime.now(UTC) - older_than
    names = [name for name, when in state.removed.items() if datetime.fromisoformat(when) <= limit]
    if names:
        writer.commit(writer.staging(), replace(Commit.planned("vacuum"), vacuumed=names))
    deleted = _remove_unnamed(writer.root, state, files)
    files.sync(writer.root / DATA)
    return deleted


def _remove_unnamed(root: Path, state: StoreState, files: StoreFiles) -> int:
    """Remove files in the data folder that the log does not name; return their number.

    No transaction may be open: it would move its files there before the log names them.
    """
    unnamed = unnamed_files(root, state)
    for path in unnamed:
        files.remove(path)
    for folder in (root / DATA).iterdir():
        if folder.is_dir() and not any(folder.iterdir()):
            files.remove_folder(folder)
    return len(unnamed)


def unnamed_files(root: Path, state: StoreState) -> list[Path]:
    """Return the files in the data folder that the log does not name, sorted."""
    known = set(state.files) | set(state.removed)
    return sorted(
        path
        for path in (root / DATA).rglob("*")
        if path.is_file() and path.relative_to(root).as_posix() not in known
    )


def remove_unfinished(root: Path, state: StoreState, files: StoreFiles) -> None:
    """Remove the unfinished writes and deletions of a dead writer; no transaction may be open."""
    for path in (root / STAGING).iterdir():
        files.remove_tree(path) if path.is_dir() else files.remove(path)
    for path in temporary_files(root):
        files.remove(path)
    _remove_unnamed(root, state, files)


def temporary_files(root: Path) -> list[Path]:
    """Return temporary files, which were not renamed to their final names."""
    folders = (root, root / LOG, root / CHECKPOINTS)
    return sorted(path for folder in folders for path in folder.glob(f"*{TEMPORARY}"))
