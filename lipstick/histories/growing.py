"""A history of tables that grows by the statements of a session."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from lipstick.capture.files import in_arrow
from lipstick.errors import StatementError
from lipstick.histories.chain import Chain, HistoryStep
from lipstick.histories.engine import SparkReplayEngine, shape_of
from lipstick.histories.local_queries import FindRows
from lipstick.histories.names import chain_named, resolved
from lipstick.histories.replay import Replay
from lipstick.histories.rows import RowQuestions
from lipstick.histories.steps import Versions
from lipstick.tracking.catalog import SessionCatalog
from lipstick.tracking.formats.probe import check_readable, versioned_table
from lipstick.tracking.formats.versions import VersionedTable
from lipstick.tracking.local_relations import LocalRelations
from lipstick.tracking.source import Source, version_source
from lipstick.tracking.tracker import Naming, Tracked
from rewriter import ViewText
from rewriter.dialect import parse
from rewriter.statements import (
    Bags,
    TableShape,
    names_read,
    over_relations,
    sources_of,
)
from semiring.support.door import checked

_NEXT = -1
"""The number of a version that is not committed yet."""

Keys: TypeAlias = str | Sequence[str]


class TrackingSession(Protocol):
    """A session, as far as the versions of tables are tracked in it."""

    spark: SparkSession
    store: Path
    version_views: dict[str, ViewText]
    _tracked: dict[str, Tracked]
    _views: Any
    local_relations: LocalRelations

    @property
    def tracked(self) -> Mapping[str, Tracked]:
        """The tracked relations by name."""

    def track(self, name: str, source: Any, key: Keys, *, at: int | None = None) -> Tracked:
        """Track a relation under a name."""

    def add_view(self, frame: DataFrame, name: str) -> None:
        """Make a temporary view that is dropped in the end."""

    def catalog(self) -> SessionCatalog:
        """Return what names mean at this moment."""

    def _track_version(self, name: str, source: Source, key: Keys | None) -> Tracked: ...

    def _keep_as(self, tracked: Tracked, name: str) -> None: ...


@checked
class GrowingHistory(RowQuestions):
    """Tables with their versions and statements, to which a session adds."""

    def __init__(self, session: TrackingSession) -> None:
        super().__init__()
        self._session = session
        self.spark = session.spark
        self.engine = SparkReplayEngine(
            session.spark, session.store / "replays", session.add_view, self._finder
        )
        self._names: dict[str, str] = {}
        self._chains: dict[str, Chain] = {}
        self._relations: dict[str, str] = {}
        self._keys: dict[str, Keys] = {}
        self._first: dict[str, Callable[[str], Tracked]] = {}
        self._versions: dict[str, int] = {}
        self._steps: list[HistoryStep] = []
        self._unchanged: dict[str, list[int]] = {}
        self._numbered = 0

    @property
    def _sources(self) -> frozenset[str]:
        """The relations that statements read, and the first versions of the tables, lower case."""
        read = {
            step.reads.get(name, name)
            for step in self._steps
            for name in sources_of(step.statement)
            if step.reads.get(name, name) not in self._chains
        }
        first = {f"{name}@{chain.first}" for name, chain in self._chains.items()}
        return frozenset(read | first)

    @property
    def _tracked(self) -> Mapping[str, Tracked]:
        """The relations of the session, by name in lower case."""
        return {name.lower(): tracked for name, tracked in self._session.tracked.items()}

    def _table_of(self, relation: str) -> str | None:
        """Return the table whose last version is tracked as a relation; None: it is of none."""
        found = (name for name, its in self._relations.items() if its.lower() == relation.lower())
        return next(found, None)

    def _table_named(self, parts: Sequence[str]) -> str | None:
        """Return the table that a name means, whichever of its names it is; None: it is of none."""
        relation = self._session.catalog().relation(tuple(parts))
        table = None if relation is None else self._table_of(relation.name)
        return table or chain_named(self.spark, tuple(parts), self._chains)

    def _over_tables(
        self, sql: str, view_of: Callable[[str], str | None]
    ) -> tuple[str, frozenset[str]]:
        """Return a query that reads views in place of tables, and the tables that it reads.

        Parameters
        ----------
        view_of
            Returns the view of a table; None: it is read as it is.
        """
        query, _ = resolved(parse(sql), self._session.catalog())
        named = {name: self._table_named(parts) for name, parts in names_read(query).items()}
        read = {name: table for name, table in named.items() if table is not None}
        views = {name: view for name, table in read.items() if (view := view_of(table)) is not None}
        return over_relations(query, views), frozenset(read.values())

    def _add_table(self, name: str, tracked: Tracked) -> None:
        """Follow a table from the version that is tracked."""
        (pinned,), source = tracked.source.versions, tracked.source.version
        assert source is not None
        assert pinned.version is not None
        frame = self.spark.table(self._session._views.pinned[tracked.name.lower()])
        self._names[name] = name
        self._keys[name] = "*" if tracked.naming is Naming.VALUES else tracked.token
        self._relations[name] = tracked.name
        self._chains[name] = Chain(
            {pinned.version: self.engine.named(frame)},
            {pinned.version: shape_of(frame.schema, source, pinned.version)},
            source,
        )
        self._first[name] = partial(self._track, name, source.table, pinned.version)
        self._versions[tracked.view] = pinned.version
        self._rename_source(tracked.name, name)

    def _add_version(
        self, name: str, version: int, *, unchanged: bool = False, replaced: bool = False
    ) -> None:
        """Add a version, and track it in place of the one before.

        The key is verified, and its files are listed, when a query first reads it.

        Parameters
        ----------
        unchanged
            No statement made it: it has the rows of the version before, which is checked later.
        replaced
            CREATE OR REPLACE TABLE made it: Delta gives it another identity and partitions.
        """
        if unchanged:
            self._unchanged.setdefault(name, []).append(version)
        after, table = self._track_last(name, version, replaced=replaced)
        frame = after.source.frame
        chain = self._chains[name]
        self._chains[name] = Chain(
            {**chain.versions, version: self.engine.named(frame)},
            {**chain.shapes, version: shape_of(frame.schema, table, version)},
            table,
        )

    def _take_back(self, name: str, version: int) -> None:
        """Forget what was made of a table after a version that was restored.

        Statements of other names are not called after the forgotten ones.

        Raises
        ------
        StatementError
            When a statement on another table has read what is forgotten.
        """
        chain = self._chains[name]
        gone = set(chain.after(version))
        undone = {s.name for s in self._steps if s.table == name and s.version in gone}
        later = False
        for step in self._steps:
            later = later or step.name in undone
            read = {step.reads.get(each, each) for each in sources_of(step.statement)}
            if later and step.table != name and name in read:
                raise StatementError(
                    f"{name} was restored to version {version}, and {step.name!r} on {step.table} "
                    f"has read what it was later.\nuntrack({self._relations[name]!r}) and track it "
                    "again: the history begins anew there."
                )
        if not gone:
            return
        self._steps = [step for step in self._steps if step.name not in undone]
        self._unchanged[name] = [n for n in self._unchanged.get(name, ()) if n not in gone]
        self.engine.forget_changes(chain)
        kept = [number for number in chain.versions if number not in gone]
        self._chains[name] = Chain(
            {number: chain.versions[number] for number in kept},
            {number: chain.shapes[number] for number in kept},
            chain.table,
        )
        self._track_last(name, version)
        self._session.version_views.clear()

    def _track_last(
        self, name: str, version: int, *, replaced: bool = False
    ) -> tuple[Tracked, VersionedTable]:
        """Track a version of a table in place of the one that is tracked."""
        relation = self._relations[name]
        tracked = self._session.tracked[relation]
        table = tracked.source.version
        if replaced and table is not None:
            table = (versioned_table(self.spark, table.table) or (None,))[0]
        assert table is not None
        del self._session._tracked[relation.lower()]
        source = version_source(table, version, tracked.source.place, listed=False)
        after = self._session._track_version(relation, source, self._keys[name])
        self._versions[after.view] = version
        return after, table

    def _next_name(self) -> str:
        """Return the name of the next statement, which none had before."""
        self._numbered += 1
        return f"s{self._numbered}"

    def _keep_source(self, tracked: Tracked) -> None:
        """Keep a relation that statements read, and that is no longer tracked, by another name.

        It is called after the number of its time: ``updates@1``, ``updates@2``.
        """
        if tracked.name.lower() not in self._sources:
            return
        number = 1
        while (name := f"{tracked.name}@{number}").lower() in self._tracked:
            number += 1
        self._session._keep_as(tracked, name)
        self._rename_source(tracked.name, name)

    def _rename_source(self, name: str, other: str) -> None:
        """Let statements that read a relation read another in its place."""
        for number, step in enumerate(self._steps):
            names = [n for n in sources_of(step.statement) if step.reads.get(n, n) == name.lower()]
            if names:
                reads = {**step.reads, **dict.fromkeys(names, other.lower())}
                self._steps[number] = dataclasses.replace(step, reads=reads)
        self._session.version_views.clear()

    def _check_reenactable(self, step: HistoryStep, columns: TableShape | None = None) -> None:
        """Refuse a statement that has no rule over the version before it.

        Parameters
        ----------
        columns
            The columns that the table has by then; None: the same as the version.

        Raises
        ------
        UnsupportedError
        """
        chain, chains = self._chains[step.table], dict(self._chains)
        if columns is not None and not columns.alike(chain.shapes[step.version]):
            versions = {**chain.versions, _NEXT: chain.versions[step.version]}
            chains[step.table] = Chain(versions, {**chain.shapes, _NEXT: columns})
            step = dataclasses.replace(step, version=_NEXT, unchanged=False)
        steps = [*self._steps, step]
        replay = Replay(self.engine, chains, steps, self._bases({}, steps))
        replay.stand_before(step)
        replay.reenacted(step)

    def _finder(self, view: str) -> FindRows:
        """Return what finds the rows of the relation that a view has now, without tokens."""
        names = (name for name, pinned in self._session._views.pinned.items() if pinned == view)
        tracked = self._tracked.get(next(names, ""))

        def find() -> pa.Table | None:
            table = None if tracked is None else self._table_here(tracked)
            return None if tracked is None or table is None else table.select(list(tracked.columns))

        return find

    def _table_here(self, tracked: Tracked) -> pa.Table | None:
        """Return the columns and tokens of a relation of few rows; None: Spark has them."""
        if not in_arrow(tracked.schema):
            return None
        found = self._session.local_relations.of([tracked])([tracked.view])
        return None if found is None else found[tracked.view]

    def _track(self, table: str, source: Versions, version: int, name: str) -> Tracked:
        key = self._keys[table]
        if isinstance(source, str):
            return self._session.track(name, source, key, at=version)
        return self._session.track(
            name, self.spark.table(self._chains[table].versions[version]), key
        )

    def _check_readable(self, relation: str) -> None:
        """Refuse the rows of a table that was dropped, whose name may be another table's by now."""
        tracked = self._tracked.get(relation)
        for version in () if tracked is None else tracked.source.versions:
            check_readable(self.spark, relation, version)

    def _bases(
        self, gone: Mapping[str, str], steps: Sequence[HistoryStep] | None = None
    ) -> dict[str, Bags]:
        """Return the relations that statements read, with views of their deleted rows."""
        bases = {}
        pinned = self._session._views.pinned
        for step in self._steps if steps is None else steps:
            for name in sources_of(step.statement):
                stands_for = step.reads.get(name, name)
                if stands_for not in self._chains and stands_for not in bases:
                    bases[stands_for] = Bags(pinned[stands_for], gone.get(stands_for))
        for name, view in pinned.items():
            if self._table_of(name) is None:
                bases.setdefault(name, Bags(view, gone.get(name)))
        return bases
