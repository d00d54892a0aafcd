"""The state of a store after a commit: the log applied, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from graphquery.errors import StoreDamagedError
from graphquery.model import EdgeSet, Segment
from graphquery.store.commit import Commit, FileEntry, Json
from graphquery.store.streams import STREAM, stream_files
from graphquery.store.streams import moved as moved_record


@dataclass(slots=True)
class StoreState:
    """The content of a store, changed in place by each commit.

    Parameters
    ----------
    checksum
        The checksum of the last commit; for an empty store, the store's identity.
    version, time
        Of the last commit; 0 and the empty string if there is none.
    segments
        By name, in the order they were added.
    edges
        In the order they were added.
    records
        By name.
    files
        Files in use, by name.
    removed
        By name, the time at which a file, not deleted yet, came out of use.
    """

    checksum: str
    version: int = 0
    time: str = ""
    segments: dict[str, Segment] = field(default_factory=dict)
    edges: list[EdgeSet] = field(default_factory=list)
    records: dict[str, Json] = field(default_factory=dict)
    files: dict[str, FileEntry] = field(default_factory=dict)
    removed: dict[str, str] = field(default_factory=dict)

    def parts(self) -> Iterator[Segment | EdgeSet]:
        """All segments, then all edge sets."""
        yield from self.segments.values()
        yield from self.edges

    def used_files(self) -> set[str]:
        """Return the files of nodes, edges and events of streams."""
        used = {part.file for part in self.parts() if part.file is not None}
        return used | stream_files(self.records)

    def apply(self, commit: Commit, checksum: str) -> None:
        """Apply the next commit, in time proportional to it, or to the state for a compaction.

        Raises
        ------
        StoreDamagedError
            When it does not follow on the last one; nothing is changed then.
        """
        if commit.version != self.version + 1 or commit.previous != self.checksum:
            raise StoreDamagedError(
                f"Commit {commit.version} does not follow on commit {self.version}: the chain of "
                "checksums is broken.\nRestore the log from a copy of the store."
            )
        if commit.moved:
            self._move(commit)
        self.files.update(commit.files)
        self.segments.update((segment.name, segment) for segment in commit.segments)
        self.edges.extend(commit.edges)
        self.records.update(commit.records)
        for name in commit.dropped:
            self.records.pop(name, None)
        for name in commit.removed:
            self.files.pop(name, None)
            self.removed[name] = commit.time
        for name in commit.vacuumed:
            self.removed.pop(name, None)
        self.version = commit.version
        self.time = commit.time
        self.checksum = checksum

    def _move(self, commit: Commit) -> None:
        moved = commit.moved
        for name, segment in self.segments.items():
            if segment.file is not None and segment.file in moved:
                file, shift = moved[segment.file]
                self.segments[name] = replace(segment, file=file, offset=segment.offset + shift)
        for index, edges in enumerate(self.edges):
            if edges.file is not None and edges.file in moved:
                file, shift = moved[edges.file]
                self.edges[index] = replace(edges, file=file, offset=edges.offset + shift)
        for name, document in self.records.items():
            if name.startswith(STREAM):
                self.records[name] = moved_record(document, moved)
