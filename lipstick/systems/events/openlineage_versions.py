"""Versions of datasets from OpenLineage events: the versions that each run read and wrote."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from graphquery.reduction import EdgeType

Dataset: TypeAlias = tuple[str, str]
Column: TypeAlias = tuple[str, str, str]
Edge: TypeAlias = tuple[str, str, EdgeType]

COMPLETE = "COMPLETE"
ENDS = (COMPLETE, "ABORT", "FAIL")
REPLACES = frozenset({"CREATE", "DROP", "OVERWRITE", "RENAME", "TRUNCATE"})
"""Changes of a dataset after which nothing of the version before is there under its name."""

_AUTHORITY = re.compile(r"[^/]+://[^/]*")


@dataclass(slots=True)
class VersionedOutput:
    """A dataset that a run wrote, as the events of the run describe it.

    Parameters
    ----------
    versions
        The versions that facets name.
    changes
        Changes of its lifecycle.
    previous
        Datasets that it was renamed from.
    columns
        By column, the columns from which it derives.
    sources
        Columns on which the whole dataset depends, such as columns of filters and joins.
    lineage
        The sources that lineage facets name for the whole dataset: columns, or datasets, whose
        column is ``""``. None: no such facet is about it. If one is, it is complete: neither
        `columns` and `sources` count nor what else the run read.
    fields
        By column, the sources that lineage facets name.
    """

    versions: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    previous: set[Dataset] = field(default_factory=set)
    columns: dict[str, set[Column]] = field(default_factory=dict)
    sources: set[Column] = field(default_factory=set)
    lineage: set[Column] | None = None
    fields: dict[str, set[Column]] = field(default_factory=dict)

    @property
    def whole(self) -> set[Column]:
        """The sources of the whole dataset."""
        return self.sources if self.lineage is None else self.lineage

    @property
    def described(self) -> Mapping[str, set[Column]]:
        """The columns with sources in facets."""
        return self.columns if self.lineage is None else self.fields

    def of_column(self, column: str) -> set[Column]:
        """Return the sources of a column."""
        if self.lineage is None:
            return self.columns.get(column, set()) | self.sources
        if column not in self.fields:
            return self.lineage
        return self.fields[column] | {source for source in self.lineage if source[2]}

    def add(self, other: VersionedOutput) -> None:
        """Merge the description in another event."""
        self.versions |= other.versions
        self.changes |= other.changes
        self.previous |= other.previous
        self.sources |= other.sources
        if other.lineage is not None:
            self.lineage = other.lineage | (self.lineage or set())
        for column, sources in other.fields.items():
            self.fields.setdefault(column, set()).update(sources)
        for column, sources in other.columns.items():
            self.columns.setdefault(column, set()).update(sources)


@dataclass(slots=True)
class VersionedRun:
    """A run, as all its events together describe it.

    Parameters
    ----------
    start, last
        The times of its first and last event.
    end
        The time and type of its last end event; None while it runs.
    inputs
        The datasets that it read, each with the versions that facets name.
    outputs
        The datasets that it wrote.
    """

    start: datetime
    last: datetime
    end: tuple[datetime, str] | None = None
    inputs: dict[Dataset, set[str]] = field(default_factory=dict)
    outputs: dict[Dataset, VersionedOutput] = field(default_factory=dict)

    @property
    def completed(self) -> bool:
        """True if it has generated its outputs."""
        return self.end is not None and self.end[1] == COMPLETE

    @property
    def until(self) -> datetime:
        """The time of its end, else of its last event."""
        return self.last if self.end is None else self.end[0]

    def add(self, other: VersionedRun) -> None:
        """Merge the description in another event; the order of events does not matter."""
        self.start, self.last = min(self.start, other.start), max(self.last, other.last)
        ends = [end for end in (self.end, other.end) if end is not None]
        self.end = max(ends, key=lambda end: (end[0], ENDS.index(end[1])), default=None)
        for dataset, versions in other.inputs.items():
            self.inputs.setdefault(dataset, set()).update(versions)
        for dataset, output in other.outputs.items():
            self.outputs.setdefault(dataset, VersionedOutput()).add(output)


@dataclass(frozen=True, slots=True)
class VersionWrite:
    """A version of a dataset, written by one run.

    Parameters
    ----------
    time
        The end of the run.
    run
        Its activity.
    dataset, entity
        The identifiers of the dataset and the version.
    output
        The output as events describe it.
    """

    time: datetime
    run: str
    dataset: str
    entity: str
    output: VersionedOutput


class RunVersions:
    """The versions of datasets that each run read and wrote.

    Parameters
    ----------
    runs
        The runs that completed, by activity.
    symlinks
        Pairs of identifiers of one dataset.
    """

    def __init__(
        self, runs: Mapping[str, VersionedRun], symlinks: Iterable[tuple[Dataset, Dataset]]
    ) -> None:
        self._runs = runs
        self._names = _representatives(symlinks)
        self._writes: dict[str, list[VersionWrite]] = {}
        self._times: dict[str, list[datetime]] = {}
        self._static: dict[str, list[VersionWrite]] = {}
        self._stated: dict[tuple[str, str], list[VersionWrite]] = {}
        self._of_run: dict[str, list[VersionWrite]] = {}
        self._read: set[tuple[str, str]] = set()
        self._waiting: list[tuple[VersionWrite, str]] = []
        for run, said in runs.items():
            outputs: dict[str, VersionedOutput] = {}
            for dataset, output in said.outputs.items():
                outputs.setdefault(self._named(dataset), VersionedOutput()).add(output)
            for name, output in outputs.items():
                write = VersionWrite(said.until, run, name, _entity(name, run), output)
                self._of_run.setdefault(run, []).append(write)
                where = self._static if is_static(run) else self._writes
                where.setdefault(name, []).append(write)
                for version in output.versions:
                    self._stated.setdefault((name, version), []).append(write)
        for name, writes in self._writes.items():
            writes.sort(key=lambda write: (write.time, write.run))
            self._times[name] = [write.time for write in writes]

    def edges(self, run: str) -> Iterator[Edge]:
        """Yield the used and generated edges of a run."""
        said = self._runs[run]
        for dataset, versions in said.inputs.items():
            name = self._named(dataset)
            stated: Sequence[str | None] = sorted(versions) or [None]
            for version in stated:
                for write in self._reads(name, version, run):
                    yield run, _entity_of(write), EdgeType.USED
        for write in self._of_run.get(run, ()):
            yield write.entity, _generator(write), EdgeType.GENERATED
            for before in self._before(write):
                yield write.entity, _entity_of(before), EdgeType.DERIVED
            for source in sorted(write.output.whole):
                yield from self._derived(write.entity, source, run)
            for column in write.output.described:
                yield write.entity, f"{write.entity}#{column}", EdgeType.MEMBER
                yield from self._column(write, column)

    def columns_read(self) -> Iterator[Edge]:
        """Yield the edges of columns read since the last call that no facet describes."""
        while self._waiting:
            write, column = self._waiting.pop()
            if column not in write.output.described:
                yield f"{write.entity}#{column}", _generator(write), EdgeType.GENERATED
                yield from self._column(write, column)

    def _column(self, write: VersionWrite, column: str) -> Iterator[Edge]:
        """Yield the derivations of a version's column, as far as facets and versions describe
        them.
        """
        entity = f"{write.entity}#{column}"
        sources = write.output.of_column(column)
        before = self._before(write)
        for source in sorted(sources):
            yield from self._derived(entity, source, write.run)
        for version in before:
            yield entity, self._column_of(version, column), EdgeType.DERIVED
        if not sources and not before and column in write.output.described:
            # A constant is not an input: the run generated it without using anything.
            yield entity, f"{write.run}#", EdgeType.GENERATED

    def _derived(self, entity: str, source: Column, run: str) -> Iterator[Edge]:
        namespace, name, column = source
        stated = () if column else sorted(self._runs[run].inputs.get((namespace, name), ()))
        versions: Sequence[str | None] = stated or (None,)
        for version in versions:
            for write in self._reads(self._named((namespace, name)), version, run):
                origin = self._column_of(write, column) if column else _entity_of(write)
                yield entity, origin, EdgeType.DERIVED

    def _column_of(self, write: VersionWrite | str, column: str) -> str:
        if isinstance(write, str):
            return f"{write}#{column}"
        if (write.entity, column) not in self._read:
            self._read.add((write.entity, column))
            self._waiting.append((write, column))
        return f"{write.entity}#{column}"

    def _before(self, write: VersionWrite) -> list[VersionWrite | str]:
        """Return the earlier versions from which a version derives, beside the inputs of its
        run.
        """
        before: list[VersionWrite | str] = []
        if is_static(write.run):
            return before
        if not write.output.changes & REPLACES:
            before += self._last_before(write, write.dataset)
        for dataset in sorted(write.output.previous):
            name = self._named(dataset)
            if name != write.dataset:
                written: Sequence[VersionWrite | str] = self._last_before(write, name)
                before += written or self._static.get(name) or [name]
            elif write.output.changes & REPLACES:
                before += self._last_before(write, name)
        return before

    def _last_before(self, write: VersionWrite, name: str) -> list[VersionWrite]:
        writes = self._writes.get(name, [])
        place = bisect_right(self._times.get(name, []), write.time)
        while place and (writes[place - 1].time, writes[place - 1].run) >= (write.time, write.run):
            place -= 1
        return writes[place - 1 : place] if place else []

    def _reads(self, name: str, version: str | None, run: str) -> Sequence[VersionWrite | str]:
        """Return the versions of a dataset that a run read, or the dataset itself if there are
        none.
        """
        start = self._runs[run].start
        # A run did not read the versions that it wrote itself, whenever it ended.
        if version is not None:
            stated = [each for each in self._stated.get((name, version), ()) if each.run != run]
            before = [each for each in stated if each.time <= start]
            if stated:
                return before or stated
        writes = self._writes.get(name, [])
        place = bisect_right(self._times.get(name, []), start)
        while place and writes[place - 1].run == run:
            place -= 1
        static = [each for each in self._static.get(name, ()) if each.run != run]
        if place and not is_static(run):
            return [writes[place - 1]]
        return [*writes[place - 1 : place], *static] if place or static else [name]

    def _named(self, dataset: Dataset) -> str:
        return named(self._names.get(dataset, dataset))


def _representatives(symlinks: Iterable[tuple[Dataset, Dataset]]) -> dict[Dataset, Dataset]:
    """Return the least identifier of every dataset with several."""
    parent: dict[Dataset, Dataset] = {}

    def root(dataset: Dataset) -> Dataset:
        while (above := parent.setdefault(dataset, dataset)) != dataset:
            parent[dataset] = dataset = parent.setdefault(above, above)
        return dataset

    for first, second in symlinks:
        one, other = sorted((root(first), root(second)))
        parent[other] = one
    return {dataset: root(dataset) for dataset in list(parent)}


def _generator(write: VersionWrite) -> str:
    """Return the activity that generated a version: its run, if the run used the version's
    sources.
    """
    return write.run if write.output.lineage is None else f"{write.run}#"


def _entity_of(version: VersionWrite | str) -> str:
    return version if isinstance(version, str) else version.entity


def is_static(run: str) -> bool:
    return run.startswith("job:")


def named(dataset: Dataset) -> str:
    """Return the unique identifier of a dataset, whatever slashes its names contain.

    A namespace is unchanged if it is a scheme with an authority, or has no slash.
    """
    namespace, name = (escaped(each, "@#") for each in dataset)
    if not _AUTHORITY.fullmatch(namespace):
        namespace = namespace.replace("/", "%2F")
        if namespace.endswith(":"):
            namespace = f"{namespace[:-1]}%3A"
    return f"{namespace}/{name}"


def _entity(dataset: str, run: str) -> str:
    """Return the identifier of the version of a dataset that a run wrote."""
    kind, _, name = run.partition(":")
    version = escaped(name, "#=") if kind == "run" else f"{kind}={escaped(name, '#')}"
    return f"{dataset}@{version}"


def escaped(text: str, characters: str) -> str:
    """Return a text with some characters, and the percent sign, percent-encoded."""
    for character in f"%{characters}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text
