"""The log of commits: a file per commit, numbered without gaps, chained by checksums."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graphquery.errors import StoreDamagedError, StoreError
from graphquery.store.checkpoint import latest_checkpoint
from graphquery.store.commit import Commit
from graphquery.store.documents import seal, unseal
from graphquery.store.file_system import StoreFiles
from graphquery.store.format import LOG, check_format
from graphquery.store.state import StoreState
from semiring.errors import LipstickError
from semiring.support.document import check_shape


def entry_path(root: Path, version: int) -> Path:
    """Return the path of a commit in the log."""
    return root / LOG / f"{version:020d}.json"


def versions(root: Path) -> list[int]:
    """Return the numbers of the commits there are, ascending."""
    names = [path.stem for path in (root / LOG).glob("*.json")]
    return sorted(int(name) for name in names if name.isdecimal())


def append(root: Path, commit: Commit, files: StoreFiles, before: Sequence[Path] = ()) -> str:
    """Write a commit to the log, atomically, and return its checksum.

    Parameters
    ----------
    before
        Files and folders that are made durable before the commit.

    Raises
    ------
    StoreError
        The log has a commit of that number: another writer is at work.
    """
    data, checksum = seal(commit.to_json())
    try:
        files.publish(entry_path(root, commit.version), data, *before)
    except FileExistsError as error:
        raise StoreError(
            f"The store {root} has a commit {commit.version} already: another writer is at work.\n"
            "Open the store again, and find out who removed its lock."
        ) from error
    return checksum


def read_entry(root: Path, version: int) -> tuple[Commit, str]:
    """Read a commit and its checksum.

    Raises
    ------
    FileNotFoundError
        The log has no commit of this number.
    StoreDamagedError
        The entry was truncated or altered.
    """
    document, checksum = unseal(entry_path(root, version), f"Commit {version} of the log")
    try:
        check_shape(document, Commit)
        return Commit.from_json(document), checksum
    except (ValueError, LipstickError) as error:
        raise StoreDamagedError(
            f"Commit {version} of the log cannot be understood: {error}.\n"
            "It was written by another program, or by a newer version of lipstick-spark."
        ) from error


def advance(root: Path, state: StoreState, version: int | None = None) -> None:
    """Apply the commits after a state, up to `version` or all there are.

    Raises
    ------
    StoreDamagedError
        An entry was truncated or altered, or does not follow the one before.
    """
    while version is None or state.version < version:
        try:
            commit, checksum = read_entry(root, state.version + 1)
        except FileNotFoundError:
            return
        state.apply(commit, checksum)


def load(root: Path, version: int | None = None) -> StoreState:
    """Return the state after a commit, by default the last one.

    Raises
    ------
    StoreError
        When there is no commit of that number.
    StoreDamagedError
        An earlier entry is missing, truncated or altered.
    """
    if not (root / LOG).is_dir():
        raise StoreDamagedError(
            f"The store {root} has no folder {LOG}.\nRestore it from a copy of the store."
        )
    before = versions(root)
    state = latest_checkpoint(root, version) or StoreState(check_format(root).store)
    if state.version and not entry_path(root, state.version).exists():
        raise StoreDamagedError(
            f"The log of {root} has lost its end: there is a checkpoint of commit {state.version}, "
            f"but no such commit.\nRestore {entry_path(root, state.version)} from a copy of the "
            "store."
        )
    advance(root, state, version)
    last = before[-1] if before else 0
    if version is not None and version > max(last, state.version):
        raise StoreError(f"The store {root} has no commit {version}; the last one is {last}.")
    if state.version < (last if version is None else version):
        raise StoreDamagedError(
            f"Commit {state.version + 1} is missing from the log of {root}, which goes up to "
            f"{last}.\nRestore {entry_path(root, state.version + 1)} from a copy of the store."
        )
    return state
