"""Statements that a session runs on tables of Delta and Iceberg, whose versions it follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

from pyspark.sql import SparkSession

from lipstick.errors import QueryError, StatementError, TrackingError, UnsupportedError
from lipstick.histories.chain import HistoryStep
from lipstick.histories.commands import TableCommand, statement_text
from lipstick.histories.engine import shape_of
from lipstick.histories.growing import GrowingHistory
from lipstick.histories.logs import changes_columns, keeps_rows
from lipstick.histories.steps import check_session, is_dynamic, read_statement
from lipstick.tracking.formats.probe import versioned_table
from lipstick.tracking.formats.versions import TableVersion, VersionedTable
from lipstick.tracking.tracker import Naming, Tracked
from lipstick.tracking.views import is_temporary, quoted_name
from rewriter.dialect import first_word
from rewriter.statements import (
    MergeInto,
    Replace,
    Statement,
    TableShape,
    moments_of,
    parse_statement,
    sources_of,
)

_CHANGES = frozenset({"UPDATE", "DELETE", "MERGE", "TRUNCATE"})
_WRITES = frozenset({"INSERT", "WITH", "CREATE", "REPLACE"})


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
    history: GrowingHistory,
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
    commits = _commits_after(target.table, target.version)
    _check_unchanged(target.tracked, target.table, commits)
    reads = _reads(spark, statement, tracked, history)
    kept = [commit.version for commit in commits]
    columns = _columns_at(target.table, None)
    step = _new_step(
        target.tracked, statement, reads, history, columns, kept, dynamic=is_dynamic(spark)
    )
    with in_force():
        spark.sql(statement.text)
    made, later = target.table.current(), list[int]()
    assert made is not None
    if made != step.version and not target.table.follows(made, step.version):
        after = _commits_after(target.table, step.version)
        if not all(map(keeps_rows, after[1:])):
            raise StatementError(
                f"The statement ran, and {target.table.table} has several new versions: "
                f"{_shown(after)}. Something else changed it at the same time.\nNothing is known "
                "of these versions: ls.reenact(...) follows the table when it is given the "
                "statement of each."
            )
        made, *later = (commit.version for commit in after)
    _follow(history, step, made, columns)
    for version in later:
        history.add_version(step.table, version, unchanged=True)


def follow_commands(
    spark: SparkSession,
    commands: Sequence[TableCommand],
    tracked: Callable[[], Mapping[str, Tracked]],
    history: GrowingHistory,
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
        When a table has versions that are of no command.
    """
    check_session(spark)
    relations = {name.lower(): each for name, each in tracked().items()}
    owners = (_tracked_table(relations, partial(_is_of, table=c.table)) for c in commands)
    changes = [
        (own.name.lower(), command)
        for own, command in zip(owners, commands, strict=True)
        if own is not None
    ]
    made, commits = dict[str, list[int | None]](), dict[str, list[TableVersion]]()
    for name in dict.fromkeys(name for name, _ in changes):
        its = [command for known, command in changes if known == name]
        table, version = its[0].table, version_of(relations[name])
        assert table is not None
        commits[name] = _commits_after(table, version)
        made[name] = versions_made(name, version, commits[name], its)
    for name, command in changes:
        number = made[name].pop(0)
        relations = {known.lower(): each for known, each in tracked().items()}
        own, table = relations[name], command.table
        assert table is not None
        assert own.source.version is not None
        _check_key(own)
        with in_force():
            text = statement_text(
                spark, command, own.source.version.table, list(relations.values()), list(made)
            )
        statement = _read(spark, text)
        reads = _reads(spark, statement, relations, history, current=False)
        kept = _until(commits[name], number, command.base)
        columns = None if number is None else _columns_at(table, number)
        step = _new_step(own, statement, reads, history, columns, kept, dynamic=command.dynamic)
        _follow(history, step, step.version if number is None else number, columns)
    for name, rest in commits.items():
        table_name = history.table_of(name)
        for version in _until(rest, None, rest[-1].version if rest else None):
            assert table_name is not None
            history.add_version(table_name, version, unchanged=True)


def _until(commits: list[TableVersion], version: int | None, base: int | None) -> list[int]:
    """Take commits up to a version, and return the numbers of the ones before it.

    Parameters
    ----------
    version
        None: no version was made; commits are taken up to `base`, if that is among them.
    base
        The version that a command read.
    """
    numbers = [commit.version for commit in commits]
    last = base if version is None else version
    taken = numbers.index(last) + 1 if last in numbers else 0
    del commits[:taken]
    return numbers[: taken if version is None else taken - 1]


def versions_made(
    name: str, version: int, commits: Sequence[TableVersion], commands: Sequence[TableCommand]
) -> list[int | None]:
    """Return the version that each command made; None: it made none, for it changed no row.

    A command follows the version that its plan was analysed over.

    Parameters
    ----------
    version, commits
        The version before all commands, and the commits after it.
    commands
        The commands that changed the table, in order.

    Raises
    ------
    StatementError
        When a commit is of no command.
    """
    changes, places = list[TableVersion](), {version: 0}
    for commit in commits:
        if not keeps_rows(commit):
            changes.append(commit)
        places[commit.version] = len(changes)
    made: list[int | None] = []
    after = len(changes)
    for command in reversed(commands):
        before = after - 1 if command.base is None else places.get(command.base)
        if before not in (after, after - 1) or before < 0:
            break
        if before == after:
            made.append(None)
        elif command.commits_as(changes[before].operation):
            made.append(changes[before].version)
        else:
            break
        after = before
    if len(made) < len(commands) or after:
        raise StatementError(
            f"{len(commands)} commands changed {name!r} while they were recorded, and some of its "
            f"new versions are of none of them: {_shown(commits)}.\nRecord while no other writer "
            "changes the table."
        )
    return made[::-1]


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
    history: GrowingHistory,
    columns: TableShape | None,
    kept: Sequence[int],
    *,
    dynamic: bool,
) -> HistoryStep:
    """Return a statement as the next of a history, once it can be reenacted.

    Parameters
    ----------
    columns
        The columns that the table has by then; None: the same as its version.
    kept
        The versions between the one that is tracked and the one that it ran over, in order.
    """
    table = history.table_of(tracked.name)
    if table is None:
        table = ".".join(statement.table).lower()
        history.add_table(table, tracked)
    for version in kept:
        history.add_version(table, version, unchanged=True)
    number = sum(not step.name.startswith("_") for step in history.steps) + 1
    before = history.chains[table].last
    step = HistoryStep(f"s{number}", statement, table, before, reads, dynamic, unchanged=True)
    evolves = isinstance(statement, MergeInto) and statement.evolves
    if not (evolves or isinstance(statement, Replace)):
        history.check_reenactable(step, columns)
    return step


def _columns_at(table: VersionedTable, version: int | None) -> TableShape | None:
    """Return the columns that a table has at a version, or now, if no earlier version has them.

    ALTER TABLE makes a version of Delta, but no snapshot of Iceberg.
    """
    if table.format != "iceberg":
        return None
    return shape_of(table.schema(version), table, version)


def _follow(
    history: GrowingHistory, step: HistoryStep, made: int, columns: TableShape | None
) -> None:
    """Add a statement, and the version that it made."""
    unchanged = made == step.version
    if not unchanged:
        replaced = isinstance(step.statement, Replace)
        history.add_version(step.table, made, replaced=replaced)
    if not unchanged or (columns and columns.alike(history.chains[step.table].shapes[made])):
        columns = None
    history.steps.append(replace(step, version=made, unchanged=unchanged, columns=columns))


def _commits_after(table: VersionedTable, version: int) -> list[TableVersion]:
    if table.current() == version:
        return []
    history = table.history()
    numbers = [each.version for each in history]
    return history[numbers.index(version) + 1 :] if version in numbers else history


def _shown(commits: Sequence[TableVersion]) -> str:
    return ", ".join(f"{each.version} ({each.operation})" for each in commits)


def _check_unchanged(
    tracked: Tracked,
    table: VersionedTable,
    commits: Sequence[TableVersion],
    *,
    read: bool = False,
) -> None:
    """Refuse commits that changed rows of a table after the version that is tracked.

    Parameters
    ----------
    read
        The statement reads the table: commits may not have changed its columns either.

    Raises
    ------
    StatementError
    """
    columns = read and any(map(changes_columns, commits))
    if columns or not all(map(keeps_rows, commits)):
        raise StatementError(
            f"{tracked.name!r} is tracked at version {version_of(tracked)}, and {table.table} was "
            f"changed since: {_shown(commits)}.\nuntrack({tracked.name!r}) and track it again, or "
            "give these statements to ls.reenact(...)."
        )


def _reads(
    spark: SparkSession,
    statement: Statement,
    tracked: Mapping[str, Tracked],
    history: GrowingHistory,
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
            _check_unchanged(own, version, _commits_after(version, version_of(own)), read=True)
        reads[name] = history.table_of(own.name) or own.name.lower()
    return reads
