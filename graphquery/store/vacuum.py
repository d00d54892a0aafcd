"""Vacuum: deleting data files that nothing uses, long enough after they came out of use."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from graphquery.store.errors import StoreError
from graphquery.store.file_system import TEMPORARY, Files
from graphquery.store.format import CHECKPOINTS, DATA, LOG, STAGING
from graphquery.store.state import State

if TYPE_CHECKING:
    from graphquery.store.writer import Writer


def vacuum(writer: Writer, files: Files, older_than: timedelta) -> int:
    """Delete the files that were merged or removed longer ago than `older_than`.

    Snapshots from before that time can no longer read them. The log says first what is deleted:
    interrupted at any point, the rest is deleted by the next vacuum or the next writer.

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
    deleted = _remove_unnamed(writer.root, state, files)
    files.sync(writer.root / DATA)
    return deleted


def _remove_unnamed(root: Path, state: State, files: Files) -> int:
    """Remove the files in the data folder that the log does not name, or gave up; return how many.

    No transaction is open: it would move its files there before the log names them.
    """
    unnamed = unnamed_files(root, state)
    for path in unnamed:
        files.remove(path)
    for folder in (root / DATA).iterdir():
        if folder.is_dir() and not any(folder.iterdir()):
            files.remove_folder(folder)
    return len(unnamed)


def unnamed_files(root: Path, state: State) -> list[Path]:
    """The files in the data folder that the log does not name, or gave up, sorted."""
    known = set(state.files) | set(state.removed)
    return sorted(
        path
        for path in (root / DATA).rglob("*")
        if path.is_file() and path.relative_to(root).as_posix() not in known
    )


def remove_unfinished(root: Path, state: State, files: Files) -> None:
    """Remove what a writer that died was still writing or deleting: no transaction is open."""
    for path in (root / STAGING).iterdir():
        files.remove_tree(path) if path.is_dir() else files.remove(path)
    for path in temporary_files(root):
        files.remove(path)
    _remove_unnamed(root, state, files)


def temporary_files(root: Path) -> list[Path]:
    """Files that had not got their name yet."""
    folders = (root, root / LOG, root / CHECKPOINTS)
    return sorted(path for folder in folders for path in folder.glob(f"*{TEMPORARY}"))
