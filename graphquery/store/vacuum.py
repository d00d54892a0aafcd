"""Vacuum: deleting data files that nothing uses, long enough after they came out of use."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from graphquery.store.errors import StoreError
from graphquery.store.files import TEMPORARY, Files
from graphquery.store.format import CHECKPOINTS, DATA, LOG, STAGING

if TYPE_CHECKING:
    from graphquery.store.writer import Writer


def vacuum(writer: Writer, files: Files, older_than: timedelta) -> int:
    """Delete the files that were merged or removed longer ago than `older_than`.

    Snapshots from before that time can no longer read them. What interrupted commits left in the
    data folder is deleted too, when it is that old. The log says first what is deleted: interrupted
    at any point, the rest is deleted by the next vacuum.

    Returns
    -------
    int
        How many files were deleted.

    Raises
    ------
    StoreError
        When `older_than` is negative, or a transaction is open: its files are not in use yet.
    """
    if older_than < timedelta(0):
        raise StoreError(f"Vacuum of files older than {older_than}: give no negative time.")
    if writer.busy:
        raise StoreError("Vacuum while a transaction is open: commit it or roll it back first.")
    state = writer.state
    limit = datetime.now(UTC) - older_than
    names = [name for name, when in state.removed.items() if datetime.fromisoformat(when) <= limit]
    if names:
        writer.commit(writer.staging(), "vacuum", vacuumed=names)
    deleted = 0
    known = set(state.files) | set(state.removed)
    for path in _unused(writer.root, known, time.time() - older_than.total_seconds()):
        files.remove(path)
        deleted += 1
    for folder in (writer.root / DATA).iterdir():
        if folder.is_dir() and not any(folder.iterdir()):
            files.remove_folder(folder)
    files.sync_folder(writer.root / DATA)
    return deleted


def _unused(root: Path, known: set[str], limit: float) -> Iterable[Path]:
    """Files in the data folder that no entry of the log knows, and that are older than `limit`.

    A file that a vacuum gave up is as old as its last change, so it is always old enough.
    """
    return [
        path
        for path in data_files(root)
        if path.relative_to(root).as_posix() not in known and path.stat().st_mtime <= limit
    ]


def data_files(root: Path) -> list[Path]:
    """All files in the data folder, sorted."""
    return sorted(path for path in (root / DATA).rglob("*") if path.is_file())


def remove_unfinished(root: Path, files: Files) -> None:
    """Remove what a writer that died was still writing: no transaction is open."""
    for path in (root / STAGING).iterdir():
        files.remove_tree(path) if path.is_dir() else files.remove(path)
    for path in temporary_files(root):
        files.remove(path)


def temporary_files(root: Path) -> list[Path]:
    """Files that had not got their name yet."""
    folders = (root, root / LOG, root / CHECKPOINTS)
    return sorted(path for folder in folders for path in folder.glob(f"*{TEMPORARY}"))
