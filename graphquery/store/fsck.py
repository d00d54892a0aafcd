"""The check of a store: every commit, every file, and their consistency."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from graphquery.errors import StoreDamagedError
from graphquery.model import EdgeSet, Ordinals
from graphquery.store import checkpoint, log
from graphquery.store.commit import FileEntry
from graphquery.store.crossing import faults
from graphquery.store.format import FOLDERS, LOG, STAGING, check_format
from graphquery.store.lock import LOCK, is_dead, read_holder
from graphquery.store.maintenance import temporary_files, unnamed_files
from graphquery.store.staging import describe
from graphquery.store.state import StoreState
from graphquery.store.streams import faults as stream_faults

_RESTORE = "Restore it from a copy of the store."


@dataclass(frozen=True, slots=True)
class Damage:
    """A fault of a store.

    Parameters
    ----------
    what
        The fault, in a sentence.
    where
        A path, a segment or a set of edges.
    remedy
        The remedy, in a sentence.
    garbage
        Whether it is a leftover, which does no harm.
    absent
        Whether a file is stored elsewhere: nothing here is damaged.
    """

    what: str
    where: str
    remedy: str
    garbage: bool = False
    absent: bool = False

    def __str__(self) -> str:
        return f"{self.where}: {self.what} {self.remedy}"


def fsck(path: str | Path) -> list[Damage]:
    """Check a store, reading all of it once; changes nothing.

    A writer may be at work: commits made meanwhile are not checked, and files being written are
    reported as garbage.

    Returns
    -------
    list
        The faults, damage before garbage; empty for a sound store.

    Raises
    ------
    StoreError
        When the folder is not a store, or one of another version.
    """
    root = Path(path)
    layout = check_format(root)
    damages = [
        Damage("The folder is missing.", name, _RESTORE)
        if name == LOG
        else Damage("The folder is missing.", name, "The next writer makes it.", garbage=True)
        for name in FOLDERS
        if not (root / name).is_dir()
    ]
    last = max(log.versions(root), default=0)
    state = StoreState(layout.store)
    checkpoints, unreadable = _read_checkpoints(root, last)
    damages += unreadable
    damages += _replay(root, state, last, checkpoints)
    damages += _check_files(root, state)
    damages += _check_segments(state)
    damages += _check_edges(root, state)
    damages += _check_crossings(layout.store, state)
    damages += _check_streams(state)
    if state.version == last:  # else files of the entries after the break would seem left over
        damages += _garbage(root, state)
    return sorted(damages, key=lambda damage: damage.garbage)


def _read_checkpoints(root: Path, last: int) -> tuple[dict[int, StoreState], list[Damage]]:
    """Return the readable checkpoints, by version, and the damage of the others."""
    states = {}
    damages = []
    for version in checkpoint.checkpoint_versions(root):
        where = checkpoint.checkpoint_path(root, version).relative_to(root).as_posix()
        if version > last:
            what = f"The checkpoint is of commit {version}, but the log ends at {last}."
            remedy = "Restore the end of the log from a copy of the store."
            damages.append(Damage(what, where, remedy))
            continue
        try:
            states[version] = checkpoint.read_checkpoint(root, version)
        except StoreDamagedError:
            damages.append(Damage("The checkpoint was truncated or altered.", where, "Delete it."))
    return states, damages


def _replay(
    root: Path, state: StoreState, last: int, checkpoints: Mapping[int, StoreState]
) -> Iterator[Damage]:
    """Apply the intact part of the log to the state, and yield the log's damage."""
    whole = True
    for version in range(1, last + 1):
        where = log.entry_path(root, version).relative_to(root).as_posix()
        try:
            commit, checksum = log.read_entry(root, version)
            if whole:
                state.apply(commit, checksum)
        except FileNotFoundError:
            whole = False
            yield Damage("The commit is missing.", where, _RESTORE)
        except StoreDamagedError as error:
            whole = False
            what, _, remedy = str(error).partition("\n")
            yield Damage(what, where, remedy or _RESTORE)
        if whole and version in checkpoints and checkpoints[version] != state:
            where = checkpoint.checkpoint_path(root, version).relative_to(root).as_posix()
            yield Damage("The checkpoint does not agree with the log.", where, "Delete it.")


def _check_files(root: Path, state: StoreState) -> Iterator[Damage]:
    for name, entry in state.files.items():
        what = _file_damage(root / name, entry)
        if what is not None:
            yield Damage(what, name, _RESTORE)
    for name in state.removed:
        if not (root / name).exists():
            yield Damage(
                "The file is missing; only snapshots from before it was replaced need it.",
                name,
                "Vacuum the store to forget it.",
                garbage=True,
            )


def _file_damage(path: Path, entry: FileEntry) -> str | None:
    try:
        size = path.stat().st_size
        if size < entry.size:
            return f"The file was truncated: it has {size} bytes of {entry.size}."
        actual = describe(path)
    except FileNotFoundError:
        return "The file is missing."
    except (OSError, pa.ArrowException) as error:
        return f"The file cannot be read: {error}."
    if (actual.size, actual.sha256) != (entry.size, entry.sha256):
        return f"The file was altered: its SHA-256 is {actual.sha256}, not {entry.sha256}."
    if (actual.rows, actual.schema) != (entry.rows, entry.schema):
        return (
            f"The file has {actual.rows} rows, not the {entry.rows} (or columns) it was added with."
        )
    return None


def _check_segments(state: StoreState) -> Iterator[Damage]:
    for segment in state.segments.values():
        if segment.file is None:
            continue
        entry = state.files.get(segment.file)
        where = f"segment {segment.name}"
        if entry is None:
            yield Damage(f"Its file {segment.file} is not in use.", where, _RESTORE)
        elif segment.offset < 0 or segment.offset + segment.count > entry.rows:
            yield Damage(
                f"Its nodes are rows {segment.offset} to {segment.offset + segment.count} of "
                f"{segment.file}, which has {entry.rows}.",
                where,
                "Write the segment again, to a new store.",
            )


def _check_edges(root: Path, state: StoreState) -> Iterator[Damage]:
    by_file: dict[str, list[EdgeSet]] = defaultdict(list)
    for edges in state.edges:
        missing = [name for name in (edges.source, edges.target) if name not in state.segments]
        for name in missing:
            yield Damage(
                f"There is no segment {name}.",
                _name(edges),
                "Write the edges again, to a new store.",
            )
        if missing:
            continue
        yield from _check_implied(state, edges)
        if edges.file is not None:
            by_file[edges.file].append(edges)
    for file, sets in by_file.items():
        entry = state.files.get(file)
        if entry is None:
            for edges in sets:
                yield Damage(f"Its file {file} is not in use.", _name(edges), _RESTORE)
            continue
        try:
            yield from _check_columns(root / file, state, sets)
        except (OSError, pa.ArrowException):
            continue  # reported with the files


def _check_crossings(store: str, state: StoreState) -> Iterator[Damage]:
    for name, document in state.records.items():
        for what in faults(name, document, store, state.segments, state.files):
            yield Damage(what, f"record {name}", _RESTORE)


def _check_streams(state: StoreState) -> Iterator[Damage]:
    for name, document in state.records.items():
        for what in stream_faults(name, document, state.files):
            yield Damage(what, f"record {name}", _RESTORE)


def _check_implied(state: StoreState, edges: EdgeSet) -> Iterator[Damage]:
    for name, given in ((edges.source, edges.sources), (edges.target, edges.targets)):
        count = state.segments[name].count
        needed = {Ordinals.ALL: edges.count, Ordinals.ONE: min(1, edges.count)}.get(given, 0)
        if needed > count:
            yield Damage(
                f"They are at {needed} nodes of {name}, which has {count}.",
                _name(edges),
                "Write the edges again, to a new store.",
            )


def _check_columns(path: Path, state: StoreState, sets: list[EdgeSet]) -> Iterator[Damage]:
    table = pq.read_table(path, partitioning=None)
    for edges in sets:
        if edges.offset < 0 or edges.offset + edges.count > len(table):
            yield Damage(
                f"They are rows {edges.offset} to {edges.offset + edges.count} of {path.name}, "
                f"which has {len(table)}.",
                _name(edges),
                "Write the edges again, to a new store.",
            )
            continue
        rows = table.slice(edges.offset, edges.count)
        ends = (
            (edges.source, edges.sources, "source"),
            (edges.target, edges.targets, "target"),
        )
        for name, given, column in ends:
            if given is not Ordinals.COLUMN:
                continue
            what = _column_damage(rows, column, name, state.segments[name].count)
            if what is not None:
                yield Damage(what, _name(edges), "Write the edges again, to a new store.")


def _column_damage(rows: pa.Table, column: str, segment: str, count: int) -> str | None:
    if column not in rows.schema.names:
        return f"Their file has no column {column}."
    values = rows.column(column)
    if not pa.types.is_integer(values.type):
        return f"Their column {column} is not of integers, but {values.type}."
    if values.null_count:
        return f"Their column {column} has {values.null_count} NULLs."
    extremes = pc.min_max(values).as_py()
    if len(values) and not 0 <= extremes["min"] <= extremes["max"] < count:
        return (
            f"Their column {column} has ordinals from {extremes['min']} to {extremes['max']}; "
            f"{segment} has {count} nodes."
        )
    return None


def _name(edges: EdgeSet) -> str:
    return f"edges from {edges.source} to {edges.target}"


def _garbage(root: Path, state: StoreState) -> Iterator[Damage]:
    for path in unnamed_files(root, state):
        yield Damage(
            "No commit names the file: a commit or a vacuum was interrupted, or is at work.",
            path.relative_to(root).as_posix(),
            "The next writer deletes it.",
            garbage=True,
        )
    for path in (*sorted((root / STAGING).glob("*")), *temporary_files(root)):
        yield Damage(
            "A transaction was interrupted, or is at work.",
            path.relative_to(root).as_posix(),
            "The next writer deletes it.",
            garbage=True,
        )
    holder = read_holder(root / LOCK)
    if holder is not None and is_dead(holder):
        yield Damage(
            f"Process {holder.pid} died while it was writing.",
            LOCK,
            "The next writer takes over.",
            garbage=True,
        )
