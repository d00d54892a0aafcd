"""Sealing: what an exported row was made from never changes, so that no summary becomes stale.

A segment is sealed when it is exported, or edges lead from it to a sealed one, and when its tokens
are imported rows. A commit that adds edges into a sealed segment is refused.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable

from graphquery.model import EdgeSet
from graphquery.store.commit import Commit, Json
from graphquery.store.crossing import EXPORT, IMPORT, Export, Import, faults
from graphquery.store.errors import StoreError
from graphquery.store.state import StoreState


class Seals:
    """The sealed segments of a store, kept along with its commits.

    Stores without exports and imports pay nothing: the links between segments are read when the
    first record of one appears, in time proportional to the edge sets; after that a commit takes
    time proportional to itself and to what it seals.
    """

    def __init__(self, store: str, state: StoreState) -> None:
        self._store = store
        self._before: dict[str, set[str]] | None = None
        self._sealed: set[str] = set()
        self._record(state, state.records.items())

    def check(self, state: StoreState, commit: Commit) -> None:
        """Refuse a commit that would change what is sealed.

        Raises
        ------
        StoreError
            Edges into a sealed segment; a record of an export or import that is changed, deleted,
            or does not fit the store.
        """
        for edges in commit.edges:
            if edges.target in self._sealed:
                raise StoreError(
                    f"Edges from {edges.source} to {edges.target}: {edges.target} is sealed, since "
                    "rows were exported that are made from it, or it is imported itself.\nWhat "
                    "exported rows were made from does not change: add a new segment, and export "
                    "it as another version."
                )
        for name in commit.dropped:
            if name.startswith((EXPORT, IMPORT)) and name in state.records:
                raise StoreError(f"Record {name} cannot be deleted: others may refer to its rows.")
        added = {segment.name: segment for segment in commit.segments}
        segments = ChainMap(added, state.segments)
        files = ChainMap(dict(commit.files), state.files)
        for name, document in commit.records.items():
            if not name.startswith((EXPORT, IMPORT)):
                continue
            for fault in faults(name, document, self._store, segments, files):
                raise StoreError(f"Record {name} does not fit the store: {fault}")
            if name.startswith(EXPORT) and state.records.get(name, document) != document:
                raise StoreError(
                    f"Record {name} cannot be changed: the dataset was exported before.\n"
                    "Export it as another version."
                )
            if name.startswith(IMPORT):
                _check_import(name, document, state, added.keys(), commit.edges)

    def follow(self, state: StoreState, commit: Commit) -> None:
        """Take in a commit that was made; `state` is the one after it."""
        if self._before is not None:
            for edges in commit.edges:
                self._before.setdefault(edges.target, set()).add(edges.source)
        self._record(state, commit.records.items())

    def _record(self, state: StoreState, records: Iterable[tuple[str, Json]]) -> None:
        for name, document in records:
            if name.startswith(EXPORT):
                self._seal(state, [Export.from_json(document, f"Record {name}").segment])
            elif name.startswith(IMPORT):
                parts = Import.from_json(document, f"Record {name}").parts
                self._seal(state, [part.segment for part in parts])

    def _seal(self, state: StoreState, waiting: list[str]) -> None:
        if self._before is None:
            self._before = {}
            for edges in state.edges:
                self._before.setdefault(edges.target, set()).add(edges.source)
        while waiting:
            name = waiting.pop()
            if name not in self._sealed:
                self._sealed.add(name)
                waiting += self._before.get(name, ())


def _check_import(
    name: str, document: Json, state: StoreState, added: Iterable[str], edges: Iterable[EdgeSet]
) -> None:
    """Check that the new segments of an import's record are added by its commit and have no edges
    into them.
    """
    imported = Import.from_json(document, f"Record {name}")
    before = state.records.get(name)
    known = () if before is None else Import.from_json(before, f"Record {name}").parts
    if imported.parts[: len(known)] != known:
        raise StoreError(f"Record {name} cannot be changed: rows were imported before.")
    fresh = {part.segment for part in imported.parts[len(known) :]}
    if not fresh <= set(added):
        raise StoreError(
            f"Record {name} is of a segment that was there before: rows are imported as new "
            "tokens, in the commit that adds them."
        )
    for each in edges:
        if each.target in fresh:
            raise StoreError(
                f"Edges from {each.source} to {each.target}: imported rows are made in the store "
                "that exported them, and have no edges into them here."
            )
