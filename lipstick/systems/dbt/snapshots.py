"""Snapshots of dbt (SCD 2): versions of rows, and the rows of sources behind each version.

The table of a snapshot has rows that its sources no longer have. A version is compared with the
snapshot's query, in all columns that both have: over the current sources if the version is open,
else, and if they differ, over earlier versions of the sources' tables, if their format retains them
(Delta and Iceberg).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.dbt.increments import key_columns
from lipstick.systems.dbt.manifest import DbtNode
from lipstick.systems.dbt.project import Refusal
from lipstick.tracking.naming import free_name
from rewriter.dialect import emit, literal_of
from semiring.arrays.segments import ascending
from semiring.errors import LipstickError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lipstick.systems.dbt.questions import TrackedProject

MADE_FROM = "made_from"
"""The column of versions with the names of the sources behind them."""

MOST_STATES = 100
"""Limit on the states of sources that are searched for versions."""
MOST_KEYS = 1000
"""Limit on the values of a key that are written as literals of a query."""

ROW = "_row"
"""The column of numbers of versions."""
_META = ("dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to", "dbt_is_deleted")
_FROM, _OPEN, _GONE = "_from", "_open", "_gone"


@dataclass(frozen=True, slots=True)
class SnapshotLineage:
    """Versions in a snapshot, and the rows of sources that they were made from.

    Attributes
    ----------
    versions
        The rows of the snapshot; the column ``made_from`` names the sources and the versions of
        their tables, or has the reason why they are not known.
    bases
        The rows of seeds and sources, by name; with the version of the table unless it is the
        current one.
    """

    snapshot: DbtNode
    versions: pa.Table
    bases: Mapping[str, pa.Table]


@dataclass(frozen=True, slots=True)
class SourceState:
    """Table versions of sources that were current at the same time.

    Attributes
    ----------
    versions
        By the ids of sources.
    start, end
        The time of the last commit among them, and of the next; in microseconds since 1970.
    """

    versions: Mapping[str, int]
    start: int
    end: int | None


def source_states(tables: Mapping[str, Any]) -> list[SourceState]:
    """Return the states of sources with versioned tables, the oldest first."""
    commits = sorted(
        (round(each.time.timestamp() * 1e6), number, base, each.version)
        for base, table in tables.items()
        for number, each in enumerate(table.history())
    )
    states: list[SourceState] = []
    versions: dict[str, int] = {}
    for place, (time, _, base, version) in enumerate(commits):
        versions[base] = version
        if len(versions) == len(tables):
            later = commits[place + 1][0] if place + 1 < len(commits) else None
            states.append(SourceState(dict(versions), time, later))
    return states


class SnapshotVersions:
    """Rows of a snapshot's table, and the progress of tracing them.

    Parameters
    ----------
    snapshot
        The node of the snapshot, as the project has it.
    frame
        The rows.
    """

    def __init__(self, snapshot: DbtNode, frame: DataFrame) -> None:
        self.snapshot = snapshot
        meta = snapshot.config.get("snapshot_meta_column_names") or {}
        self._meta = {name: (meta.get(name) or name).lower() for name in _META}
        until, current = self._meta["dbt_valid_to"], snapshot.config.get("dbt_valid_to_current")
        is_open = f"`{until}` IS NULL" + (f" OR `{until}` = {current}" if current else "")
        gone = self._meta["dbt_is_deleted"]
        has_gone = gone in map(str.lower, frame.columns)
        is_gone = f"coalesce(lower(`{gone}`) = 'true', false)" if has_gone else "false"
        rows = frame.selectExpr(
            "*",
            f"unix_micros(CAST(`{self._meta['dbt_valid_from']}` AS TIMESTAMP)) AS {_FROM}",
            f"coalesce({is_open}, false) AS {_OPEN}",
            f"{is_gone} AS {_GONE}",
        ).toArrow()
        self.rows = rows.drop_columns([_FROM, _OPEN, _GONE])
        self._times = rows[_FROM]
        self._open = rows[_OPEN].to_numpy()
        self._labels = ["", "no row: it was deleted"]
        self._found = rows[_GONE].to_numpy().astype(np.int32)

    @property
    def is_recorded_at_once(self) -> bool:
        """True if versions begin with the snapshot's run, not with a time from the sources."""
        config = self.snapshot.config
        return config.get("strategy") == "check" and not config.get("updated_at")

    def pending(self, state: SourceState | None) -> np.ndarray[Any, Any]:
        """Return untraced rows that may derive from sources in a state; None: the current one."""
        left = self._found == 0
        if state is None:
            return np.flatnonzero(left & self._open)
        times = self._times.to_numpy(zero_copy_only=False)
        if state.end is not None:
            left &= times < state.end
        if self.is_recorded_at_once:
            left &= times >= state.start
        return np.flatnonzero(left)

    def table(self, rows: np.ndarray[Any, Any]) -> pa.Table:
        """Return some rows, numbered."""
        numbers = pa.array(rows, pa.int64())
        return self.rows.take(numbers).append_column(ROW, numbers)

    def select(self, versions: str, query: str, columns: Sequence[str], rows: pa.Table) -> str:
        """Return the query that pairs versions with rows of the snapshot's query.

        Parameters
        ----------
        versions, query
            The names of the relation of versions and of the snapshot's query.
        columns
            The columns of the snapshot's query.
        rows
            The versions.
        """
        known, meta = {name.lower() for name in columns}, set(self._meta.values())
        own = [name for name in self.rows.column_names if name.lower() not in meta]
        # New versions have NULL in columns that the query has no longer.
        same = [
            f"v.`{name}` <=> q.`{name}`" if name.lower() in known else f"v.`{name}` IS NULL"
            for name in own
        ]
        text = f"SELECT v.`{ROW}` FROM `{versions}` AS v JOIN `{query}` AS q ON "
        return text + " AND ".join([*same, *self._literals(columns, rows)])

    def _literals(self, columns: Sequence[str], rows: pa.Table) -> Iterator[str]:
        """Yield conditions by which a scan finds the rows of a few keys."""
        known = {name.lower(): name for name in columns}
        for name in key_columns(self.snapshot):
            if name.lower() not in known or name not in rows.column_names:
                continue
            values = pc.unique(rows[name])
            if len(values) > MOST_KEYS or values.null_count:
                continue
            found = [literal_of(value, ntz=True) for value in values.to_pylist()]
            texts = [emit(each, pretty=False) for each in found if each is not None]
            if len(texts) < len(found):
                continue
            yield f"q.`{known[name.lower()]}` IN ({', '.join(texts)})"

    def set_found(self, rows: np.ndarray[Any, Any], made_from: str) -> None:
        """Record the sources behind some rows."""
        self._found[rows] = len(self._labels)
        self._labels.append(made_from)

    def lineage(self, bases: Mapping[str, pa.Table], reason: str) -> SnapshotLineage:
        """Return the traced rows, with the reason why the others are unknown."""
        labels = pa.array([reason, *self._labels[1:]])
        return SnapshotLineage(
            self.snapshot,
            self.rows.append_column(MADE_FROM, labels.take(pa.array(self._found))),
            bases,
        )


def trace_versions(tracked: TrackedProject, versions: SnapshotVersions) -> list[SnapshotLineage]:
    """Return the source rows behind the versions of a snapshot.

    Snapshots among the sources of a snapshot are traced, too, after it.
    """
    snapshot, session = versions.snapshot, tracked.session
    now = tracked.over(tracked.project.with_query(snapshot))
    answer = now.annotated(now.project.manifest.nodes[snapshot.id])
    if isinstance(answer, Refusal):
        return [versions.lineage({}, f"not known: {answer.reason} ({answer.place})")]
    read = {name: tracked.project.by_name[name] for name in answer.plan.relations}
    sources = {base.id: session.tracked[name].source.version for name, base in read.items()}
    titles = {base.id: base.title for base in read.values()}
    bases: dict[str, pa.Table] = {}
    further: list[SnapshotLineage] = []

    def search(view: TrackedProject, state: SourceState | None) -> None:
        """Find the versions that derive from the sources, current or in an earlier state."""
        name = free_name(session.tracked, f"{view.project.names[snapshot.id]}_versions")
        rows = versions.table(versions.pending(state))
        session.track(name, rows, provenance=False)
        try:
            node = view.project.manifest.nodes[snapshot.id]
            select = versions.select(name, view.project.names[snapshot.id], answer.columns, rows)
            frame = view.annotated(node, select=select)
            if isinstance(frame, Refusal):
                raise LipstickError(f"{snapshot.title} cannot be traced: {frame.reason}")
            found = ascending(frame.capture.memory.answer()[ROW].to_numpy())
            if not len(found):
                return
            at = {} if state is None else state.versions
            named = {t: f"{t} version {at[b]}" if b in at else t for b, t in titles.items()}
            versions.set_found(found, ", ".join(named.values()))
            behind, others = view.behind(frame)
            for title, table in behind.items():
                known = [bases[named[title]]] if named[title] in bases else []
                bases[named[title]] = pa.concat_tables([*known, table])
            further.extend(others)
        finally:
            session.untrack(name)

    if len(versions.pending(None)):
        search(now, None)
    plain = [titles[base] for base, table in sources.items() if table is None]
    if plain:
        reason = f"not known: {', '.join(plain)} as it stood then is not kept"
        return [versions.lineage(bases, reason), *further]
    searched = 0
    for number, state in enumerate(source_states(sources)):
        if searched < MOST_STATES and len(versions.pending(state)):
            searched += 1
            project = tracked.project.with_query(snapshot, f"_{number}")
            then = tracked.over(project, tracked.bases.at(state.versions))
            search(then, state)
            then.bases.untrack(project)
    reason = f"not known: no version of {', '.join(titles.values())} that was searched makes it"
    return [versions.lineage(bases, reason), *further]
