"""Statements that a session runs on tables of Delta and Iceberg, whose versions it follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from pyspark.sql import SparkSession

from lipstick.errors import QueryError, StatementError, TrackingError, UnsupportedError
from lipstick.histories.chain import Chain, HistoryStep
from lipstick.histories.commands import TableCommand, statement_text
from lipstick.histories.replay import Replay
from lipstick.histories.steps import check_session, is_dynamic, read_statement
from lipstick.tracking.formats.probe import versioned_table
from lipstick.tracking.formats.versions import VersionedTable
from lipstick.tracking.tracker import Naming, Tracked
from lipstick.tracking.views import is_temporary, quoted_name
from rewriter.dialect import first_word
from rewriter.statements import (
    MergeInto,
    Replace,
    Statement,
    moments_of,
    parse_statement,
    sources_of,
)

_CHANGES = frozenset({"UPDATE", "DELETE", "MERGE", "TRUNCATE"})
_WRITES = frozenset({"INSERT", "WITH", "CREATE", "REPLACE"})


class FollowedTables(Protocol):
    """The tables that a session's statements changed; a history of tables is one."""

    @property
    def chains(self) -> Mapping[str, Chain]:
        """The versions of the tables, by their names in lower case."""

    @property
    def steps(self) -> list[HistoryStep]:
        """The statements in their order."""

    def table_of(self, relation: str) -> str | None:
        """Return the table whose last version is tracked as a relation; None: it is of none."""

    def add_table(self, name: str, tracked: Tracked) -> None:
        """Follow a table from the version that is tracked."""

    def add_version(self, name: str, version: int) -> None:
        """Add the version that a statement made, and track it in place of the one before."""

    def replay_before(self, step: HistoryStep) -> Replay:
        """Return a replay that stands before a statement, over the real rows."""


@dataclass(frozen=True, slots=True)
class StatementTarget:
    """The tracked relation whose table a statement changes."""

    statement: Statement
    tracked: Tracked
    table: VersionedTable

    @property
    def version(self) -> int:
        """The version that is tracked."""
        return version_of(self.tracked)


def version_of(tracked: Tracked) -> int:
    """Return the version of a table that is tracked."""
    (pinned,) = tracked.source.versions
    assert pinned.version is not None
    return pinned.version


def target_of(
    spark: SparkSession, text: str, tracked: Mapping[str, Tracked]
) -> StatementTarget | None:
    """Return the tracked table that a statement changes; None: it is no such statement.

    Parameters
    ----------
    tracked
        The relations of the session.

    Raises
    ------
    UnsupportedError
        For a statement that has no rule.
    """
    if not any(map(_is_versioned, tracked.values())):
        return None
    word = first_word(text)
    if word not in _CHANGES | _WRITES:
        return None
    try:
        statement = parse_statement(text)
    except QueryError:
        if word in _WRITES:
            return None  # a query, or read as one that writes a table
        raise
    name = ".".join(statement.table)
    own = _tracked_table(tracked, lambda each: _is_called(each, name))
    if own is None and (found := versioned_table(spark, name)) is not None:
        table = found[0]
        own = _tracked_table(tracked, lambda each: _is_of(each, table))
    if own is None or own.source.version is None:
        return None
    return StatementTarget(statement, own, own.source.version)


def _tracked_table(
    tracked: Mapping[str, Tracked], is_it: Callable[[Tracked], bool]
) -> Tracked | None:
    """Return the relation whose rows are the current version of a table, else the last tracked.

    None: the table is not tracked. Earlier versions, ``orders@0``, are of histories.
    """
    found = [t for name, t in tracked.items() if "@" not in name and _is_versioned(t) and is_it(t)]
    if len(found) > 1:
        version = found[0].source.version
        now = version.current() if version is not None else None
        return next((each for each in found if version_of(each) == now), found[-1])
    return found[0] if found else None


def _is_versioned(tracked: Tracked) -> bool:
    """Return True if a relation is a version of a table as it is."""
    versions = tracked.source.versions
    of_table = tracked.source.version is not None and tracked.derived is None
    return of_table and len(versions) == 1 and versions[0].version is not None


def _is_called(tracked: Tracked, name: str) -> bool:
    version = tracked.source.version
    return version is not None and version.table.replace("`", "").lower() == name.lower()


def _is_of(tracked: Tracked, table: VersionedTable | None) -> bool:
    """Return True if a relation is a version of a table, which may have been created anew there."""
    own = tracked.source.version
    if own is None or table is None or own.format != table.format:
        return False
    return own.identity == table.identity or own.location == table.location


def execute(
    spark: SparkSession,
    target: StatementTarget,
    tracked: Mapping[str, Tracked],
    history: FollowedTables,
    in_force: Callable[[], AbstractContextManager[None]],
) -> None:
    """Run a statement as it is, and follow its table to the version that it makes.

    Parameters
    ----------
    in_force
        Lets the names of tracked relations stand for the session's frames.

    Raises
    ------
    UnsupportedError, NotUnderstoodError
        For a statement that has no rule. It does not run.
    TrackingError
        When a relation that it reads is not tracked, or its table has no key. It does not run.
    StatementError
        When something else changed a table since it was tracked: it does not run. When something
        else changed the table while it ran: the table is not followed any further.
    """
    check_session(spark)
    statement = _read(spark, target.statement.text)
    _check_key(target.tracked)
    _check_current(target.tracked, target.table)
    reads = _reads(spark, statement, tracked, history)
    step = _new_step(target.tracked, statement, reads, history, dynamic=is_dynamic(spark))
    with in_force():
        spark.sql(statement.text)
    made, before = target.table.current(), target.version
    assert made is not None
    if made != before and not target.table.follows(made, before):
        shown = _shown(_commits_after(target.table, before))
        raise StatementError(
            f"The statement ran, and {target.table.table} has several new versions: {shown}. "
            "Something else changed it at the same time.\nNothing is known of these versions: "
            "ls.reenact(...) follows the table when it is given the statement of each."
        )
    _follow(history, step, made)


def follow_commands(
    spark: SparkSession,
    commands: Sequence[TableCommand],
    tracked: Callable[[], Mapping[str, Tracked]],
    history: FollowedTables,
    in_force: Callable[[], AbstractContextManager[None]],
) -> None:
    """Follow tables to the versions that commands made which have run.

    Parameters
    ----------
    commands
        What changed tables since the versions that are tracked, in order.
    tracked
        Returns the relations of the session, as they are now.

    Raises
    ------
    UnsupportedError, NotUnderstoodError, TrackingError
        For a command that cannot be read as a statement. Its table is not followed any further.
    StatementError
        When a table has another number of new versions than commands that changed it.
    """
    check_session(spark)
    made: dict[str, list[int]] = {}
    waiting: list[tuple[TableCommand, str]] = []
    for command in commands:
        own = _tracked_table(tracked(), partial(_is_of, table=command.table))
        if own is None or command.table is None:
            continue
        if own.name not in made:
            made[own.name] = [v for v, _ in _commits_after(command.table, version_of(own))]
        waiting.append((command, own.name))
    for name, versions in made.items():
        count = sum(own == name for _, own in waiting)
        if versions and len(versions) != count:
            raise StatementError(
                f"{count} commands changed {name!r} while they were recorded, and it has "
                f"{len(versions)} new versions: which made which is not known.\nRecord fewer "
                "commands at a time, and none that another writer runs beside."
            )
    for command, name in waiting:
        relations = {known.lower(): each for known, each in tracked().items()}
        own = relations[name.lower()]
        assert own.source.version is not None
        _check_key(own)
        with in_force():
            table = own.source.version.table
            text = statement_text(spark, command, table, list(relations.values()), list(made))
        statement = _read(spark, text)
        reads = _reads(spark, statement, relations, history, current=False)
        step = _new_step(own, statement, reads, history, dynamic=command.dynamic)
        _follow(history, step, made[name].pop(0) if made[name] else version_of(own))


def _read(spark: SparkSession, text: str) -> Statement:
    """Read a statement whose values are the same whenever it runs."""
    for name in moments_of(parse_statement(text)):
        raise UnsupportedError(
            f"{name}() is another value each time that the statement runs",
            "Write its value as a literal: TIMESTAMP'2026-01-31 00:00:00', DATE'2026-01-31'.",
            text,
        )
    return read_statement(spark, text)


def _check_key(tracked: Tracked) -> None:
    if tracked.naming not in (Naming.KEY, Naming.VALUES):
        raise TrackingError(
            f"{tracked.name!r} is changed by a statement, and its rows have no key by which "
            "later versions name them.\nuntrack it, and track it with a key (key=['id']) or by its "
            "values (key='*')."
        )


def _new_step(
    tracked: Tracked,
    statement: Statement,
    reads: Mapping[str, str],
    history: FollowedTables,
    *,
    dynamic: bool,
) -> HistoryStep:
    """Return a statement as the next of a history, once it can be reenacted."""
    table = history.table_of(tracked.name)
    if table is None:
        table = ".".join(statement.table).lower()
        history.add_table(table, tracked)
    number = sum(not step.name.startswith("_") for step in history.steps) + 1
    before = version_of(tracked)
    step = HistoryStep(f"s{number}", statement, table, before, reads, dynamic, unchanged=True)
    evolves = isinstance(statement, MergeInto) and statement.evolves
    if not (evolves or isinstance(statement, Replace)):
        history.replay_before(step).reenacted(step)
    return step


def _follow(history: FollowedTables, step: HistoryStep, made: int) -> None:
    """Add a statement, and the version that it made."""
    unchanged = made == step.version
    if not unchanged:
        history.add_version(step.table, made)
    history.steps.append(replace(step, version=made, unchanged=unchanged))


def _commits_after(table: VersionedTable, version: int) -> list[tuple[int, str]]:
    if table.current() == version:
        return []
    history = table.history()
    numbers = [each.version for each in history]
    later = history[numbers.index(version) + 1 :] if version in numbers else history
    return [(each.version, each.operation) for each in later]


def _shown(commits: Sequence[tuple[int, str]]) -> str:
    return ", ".join(f"{version} ({operation})" for version, operation in commits)


def _check_current(tracked: Tracked, table: VersionedTable) -> None:
    """Refuse to run a statement over a version that is not the one that is tracked.

    Raises
    ------
    StatementError
    """
    commits = _commits_after(table, version_of(tracked))
    if commits:
        raise StatementError(
            f"{tracked.name!r} is tracked at version {version_of(tracked)}, and {table.table} was "
            f"changed since: {_shown(commits)}.\nuntrack({tracked.name!r}) and track it again, or "
            "give these statements to ls.reenact(...)."
        )


def _reads(
    spark: SparkSession,
    statement: Statement,
    tracked: Mapping[str, Tracked],
    history: FollowedTables,
    *,
    current: bool = True,
) -> dict[str, str]:
    """Return by name in a statement the relation, or the table of the history, that it reads.

    Parameters
    ----------
    current
        The tables of the relations must still have the versions that are tracked.

    Raises
    ------
    TrackingError
        When a relation is not tracked.
    StatementError
        When a table has another version than the one that is tracked.
    """
    known = {name.lower(): each for name, each in tracked.items()}
    reads = {}
    for name in sorted(sources_of(statement)):
        own = known.get(name)
        if own is None and "." in name:
            own = _tracked_table(known, partial(_is_called, name=name))
        if own is None:
            raise TrackingError(
                f"The statement reads {name!r}, which is not tracked.\nls.track({name!r}, ..., "
                "key=...) first."
            )
        if own.stream is not None:
            raise UnsupportedError(
                f"{name} is a stream", "Read a table of its rows.", statement.text
            )
        version = own.source.version
        if (
            current
            and version is not None
            and not is_temporary(spark, quoted_name(name.split(".")))
        ):
            _check_current(own, version)
        reads[name] = history.table_of(own.name) or own.name.lower()
    return reads
