"""Checkpoints: the state after a commit in one file, from which a store opens quickly.

A checkpoint follows from the log and never holds the only copy of anything: a missing or damaged
one is skipped. Its tables are stored by column, which is small and quick to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypedDict

from graphquery.errors import StoreDamagedError
from graphquery.model import EdgeSet, Kind, Ordinals, Segment
from graphquery.store.commit import FileEntry, Json
from graphquery.store.documents import seal, unseal
from graphquery.store.file_system import StoreFiles
from graphquery.store.format import CHECKPOINTS
from graphquery.store.state import StoreState
from semiring.errors import LipstickError
from semiring.support.document import check_shape

KEPT = 2
"""Number of checkpoints kept: the older one serves readers that are just opening it."""

EVERY = 64
SHARE = 16


def is_due(version: int, last: int) -> bool:
    """Return True if a version gets a checkpoint, given the version `last` of the previous one.

    The distance grows with the log, so that all checkpoints together are written in time linear in
    it, and opening reads at most its sixteenth part (or 64 commits).
    """
    return version - last >= max(EVERY, version // SHARE)


def checkpoint_path(root: Path, version: int) -> Path:
    """Return the path of the checkpoint of a version."""
    return root / CHECKPOINTS / f"{version:020d}.json"


def checkpoint_versions(root: Path) -> list[int]:
    """Return the versions with a checkpoint, ascending."""
    names = [path.stem for path in (root / CHECKPOINTS).glob("*.json")]
    return sorted(int(name) for name in names if name.isdecimal())


def write_checkpoint(root: Path, state: StoreState, files: StoreFiles) -> None:
    """Write the checkpoint of a state, and remove all older ones but one."""
    data, _ = seal(_to_json(state))
    files.replace(checkpoint_path(root, state.version), data)
    for version in checkpoint_versions(root)[:-KEPT]:
        files.remove(checkpoint_path(root, version))


def read_checkpoint(root: Path, version: int) -> StoreState:
    """Read the checkpoint of a version.

    Raises
    ------
    StoreDamagedError
        When it is gone, or not what was written.
    """
    path = checkpoint_path(root, version)
    try:
        document, _ = unseal(path, f"The checkpoint of commit {version}")
    except FileNotFoundError as error:
        raise StoreDamagedError(f"The checkpoint {path} is gone.") from error
    try:
        check_shape(document, _Document)
        return _from_json(document)
    except (KeyError, TypeError, ValueError, LipstickError) as error:
        raise StoreDamagedError(f"The checkpoint {path} cannot be understood: {error}.") from error


def latest_checkpoint(root: Path, version: int | None = None) -> StoreState | None:
    """Return the state of the last sound checkpoint up to `version`, or None."""
    for candidate in reversed(checkpoint_versions(root)):
        if version is None or candidate <= version:
            try:
                return read_checkpoint(root, candidate)
            except StoreDamagedError:
                continue
    return None


class _Document(TypedDict):
    version: int
    checksum: str
    time: str
    segments: dict[str, list[Any]]
    edges: dict[str, list[Any]]
    records: dict[str, Any]
    files: dict[str, FileEntry]
    removed: dict[str, str]


def _to_json(state: StoreState) -> Json:
    return {
        "version": state.version,
        "checksum": state.checksum,
        "time": state.time,
        "segments": _columns(Segment, list(state.segments.values())),
        "edges": _columns(EdgeSet, state.edges),
        "records": state.records,
        "files": {name: asdict(entry) for name, entry in state.files.items()},
        "removed": state.removed,
    }


def _from_json(document: Json) -> StoreState:
    segments = document["segments"]
    kinds = {kind.value: kind for kind in Kind}
    segments["kind"] = [kinds[value] for value in segments["kind"]]
    segments["key"] = [tuple(value) for value in segments["key"]]
    edges = document["edges"]
    ordinals = {each.value: each for each in Ordinals}
    for end in ("sources", "targets"):
        edges[end] = [ordinals[value] for value in edges[end]]
    return StoreState(
        version=document["version"],
        checksum=document["checksum"],
        time=document["time"],
        segments={row[0]: Segment(*row) for row in _rows(Segment, segments)},
        edges=[EdgeSet(*row) for row in _rows(EdgeSet, edges)],
        records=document["records"],
        files={name: FileEntry(**entry) for name, entry in document["files"].items()},
        removed=document["removed"],
    )


def _columns(kind: type[Any], values: Sequence[Any]) -> dict[str, list[Json]]:
    names = [each.name for each in fields(kind)]
    return {name: [getattr(value, name) for value in values] for name in names}


def _rows(kind: type[Any], columns: dict[str, list[Any]]) -> zip[tuple[Any, ...]]:
    for each in fields(kind):
        # By column rather than by value: a column may have a million values.
        kinds = {value.__name__ for value in set(map(type, columns[each.name]))}
        found = {"None" if name == "NoneType" else name for name in kinds}
        if not found <= set(str(each.type).replace("[str, ...]", "").split(" | ")):
            raise ValueError(f"its column {each.name} has values of type {', '.join(found)}")
    return zip(*(columns[each.name] for each in fields(kind)), strict=True)
