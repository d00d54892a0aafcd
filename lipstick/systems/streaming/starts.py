"""The starts of a streaming query: the text, settings and relations of its runs.

A query continues where it stopped when it is started again over its checkpoint, possibly with a
different text, different settings, or different rows in the relations that it joins its streams
with. Spark records none of these. ``_lipstick/starts.jsonl`` has a line for each start, and one for
each changed state of a relation that was seen during a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lipstick.engines.spark.local_session import unlogged_errors
from lipstick.systems.streaming.kept import FOLDER, append_lines, read_lines

FILE = FOLDER / "starts.jsonl"
_SETTINGS = {
    "spark.sql.session.timeZone": "",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.session.collation.default": "UTF8_BINARY",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
}
"""Settings that affect the values of expressions, with defaults for unknown ones."""
_PREFIXES = ("spark.sql.legacy.", "spark.sql.ansi.")
"""The name prefixes of further such settings."""


@dataclass(frozen=True, slots=True)
class Start:
    """A start of a query.

    Parameters
    ----------
    batch
        The first micro-batch that the run computed.
    planned
        Whether the previous run had planned this batch, and may have written it to the sink.
    query, text
        The query's plan in a canonical form, and its text as the user wrote it.
    sources
        By name, the source and the watermark of each stream that it reads.
    mode
        Its output mode.
    settings
        The settings that its expressions were read by.
    relations
        The states of the relations that it reads beside its streams.
    """

    batch: int
    planned: bool
    query: str
    text: str
    sources: Mapping[str, str]
    mode: str
    settings: Mapping[str, str]
    relations: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a relation's state during a run.

    Parameters
    ----------
    run
        The number of the start of the run, from 0.
    relation, state
        The relation, and its new state.
    after
        The last batch that surely read the old state.
    since
        The first batch that surely read the new one.
    """

    run: int
    relation: str
    state: str
    after: int
    since: int


@dataclass(frozen=True, slots=True)
class History:
    """All starts of a query, and the changes seen in between, in their order."""

    starts: Sequence[Start] = ()
    changes: Sequence[Change] = ()

    def start_of(self, batch: int) -> Start | None:
        """Return the start of the run that computed a batch, or None if it was not recorded."""
        runs = self._runs(batch)
        return self.starts[runs[-1]] if runs else None

    def disputed(self, batch: int) -> Start | None:
        """Return the earlier start whose run may also have written a batch, or None."""
        runs = self._runs(batch)
        return self.starts[runs[0]] if len(runs) > 1 else None

    def states_of(self, relation: str, batch: int) -> frozenset[str]:
        """Return the states in which a batch may have read a relation; empty if not recorded."""
        states: frozenset[str] = frozenset()
        for run in self._runs(batch):
            states |= self._states_in(run, relation, batch)
        return states

    def _runs(self, batch: int) -> list[int]:
        """Return the run that computed a batch, preceded by an earlier one that may have done
        so.
        """
        runs = [run for run, start in enumerate(self.starts) if start.batch <= batch]
        if len(runs) > 1 and self.starts[runs[-1]].batch == batch and self.starts[runs[-1]].planned:
            return runs[-2:]
        return runs[-1:]

    def _states_in(self, run: int, relation: str, batch: int) -> set[str]:
        states = {s for name, s in self.starts[run].relations.items() if name == relation}
        for change in self.changes:
            if (change.run, change.relation) == (run, relation) and batch >= change.since:
                states = {change.state}
            elif (change.run, change.relation) == (run, relation) and batch > change.after:
                states.add(change.state)
        return states


def read_starts(checkpoint: Path) -> History:
    """Return the recorded starts of a query; for batches computed by two runs, the last start
    wins.
    """
    entries, _ = read_lines(checkpoint / FILE)
    names = {field.name for field in fields(Start)}
    starts = [
        Start(**{name: value for name, value in entry["start"].items() if name in names})
        for entry in entries
        if "start" in entry
    ]
    changes = [Change(**entry["change"]) for entry in entries if "change" in entry]
    return History(starts, changes)


def record(checkpoint: Path, entry: Start | Change) -> None:
    """Record a start, or an observed change."""
    kind = "start" if isinstance(entry, Start) else "change"
    append_lines(checkpoint / FILE, [{kind: asdict(entry)}])


def settings_of(spark: SparkSession) -> dict[str, str]:
    """Return the settings of a session that affect the values of expressions."""
    result = {name: _setting(spark, name, otherwise) for name, otherwise in _SETTINGS.items()}
    chosen: Mapping[str, Any] = spark.conf.getAll
    result |= {n: str(value) for n, value in chosen.items() if n.startswith(_PREFIXES)}
    return dict(sorted(result.items()))


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> Iterable[str]:
    """Yield the names that have different values in two mappings."""
    return (n for n in sorted(one.keys() | other.keys()) if one.get(n) != other.get(n))


def _setting(spark: SparkSession, name: str, otherwise: str) -> str:
    try:
        with unlogged_errors():
            return str(spark.conf.get(name))
    except PySparkException:  # of a version of Spark that does not have it
        return otherwise
