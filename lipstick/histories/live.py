"""Statements that a session runs on tables of Delta and Iceberg, whose versions it follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from lipstick.dataframes.jvm import sequence
from lipstick.errors import (
    LipstickError,
    QueryError,
    SourceChangedError,
    StatementError,
    TrackingError,
    UnsupportedError,
    first_line,
)
from lipstick.histories.chain import HistoryStep, reads_in_place
from lipstick.histories.commands import CREATES_NEW, TableCommand, statement_text
from lipstick.histories.engine import shape_of
from lipstick.histories.growing import GrowingHistory
from lipstick.histories.logs import changes_columns, keeps_rows
from lipstick.histories.names import resolved
from lipstick.histories.steps import (
    check_fragments,
    check_session,
    is_dynamic,
    parsed,
    read_statement,
)
from lipstick.tracking.catalog import SessionCatalog, relation_of_table
from lipstick.tracking.formats.probe import reopened, table_identity, versioned_table
from lipstick.tracking.formats.versions import (
    RESTORE,
    TableVersion,
    VersionedTable,
    restored_version,
)
from lipstick.tracking.names import identity_of, plain_name
from lipstick.tracking.source import check_unchanged
from lipstick.tracking.tracker import Naming, Tracked
from rewriter.dialect import first_word, name_parts
from rewriter.errors import UntrackedError
from rewriter.statements import (
    Insert,
    MergeInto,
    Replace,
    Statement,
    TableShape,
    dotted,
    moments_of,
    parse_statement,
    sources_of,
    statement_to_run,
    variables_of,
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


def target_of(spark: SparkSession, text: str, catalog: SessionCatalog) -> StatementTarget | None:
    """Return the tracked table that a statement changes; None: it is no such statement.

    Raises
    ------
    UnsupportedError
        For a statement that has no rule.
    TrackingError
        For a statement on a branch, of a table that is tracked, that is not.
    """
    if not any(map(_is_versioned, catalog.tracked.values())):
        return None
    word = first_word(text)
    if word not in _CHANGES | _WRITES:
        return None
    try:
        # A query, or one that writes a table, is no statement: Spark need not parse it, too.
        statement = parse_statement(text) if word in _WRITES else parsed(spark, text)
    except QueryError as error:
        if word in _WRITES and not (word == "WITH" and isinstance(error, UnsupportedError)):
            return None
        raise
    own = _target(spark, statement, catalog)
    if own is None or own.source.version is None or not _is_versioned(own):
        return None
    return StatementTarget(statement, own, own.source.version)


def _target(spark: SparkSession, statement: Statement, catalog: SessionCatalog) -> Tracked | None:
    """Return the relation whose table a statement changes; None: it is not tracked."""
    if isinstance(statement, Replace):  # which no view of the name stands before
        own = relation_of_table(identity_of(spark, statement.table), catalog.tracked)
    else:
        own = catalog.relation(statement.table)
    if own is not None:
        return own
    found = versioned_table(spark, plain_name(statement.table))
    if found is None:
        return None
    table, _ = found
    own = _tracked_table(catalog.tracked, table)
    if own is None and table.whole is not table:
        whole = _tracked_table(catalog.tracked, table.whole)
        if whole is not None:
            raise TrackingError(
                f"The statement changes {table.table}, a branch of {whole.name!r} that is not "
                f"tracked.\nls.track(..., {table.table!r}, key=...) first, and it is followed."
            )
    return own


def _tracked_table(tracked: Mapping[str, Tracked], table: VersionedTable) -> Tracked | None:
    """Return the relation of a table, by its name or its place; None: it is not tracked."""
    own = relation_of_table(table_identity(table), tracked)
    if own is not None and _is_of(own, table):
        return own
    found = [t for name, t in tracked.items() if "@" not in name and _is_of(t, table)]
    if len(found) > 1:
        now = table.current()
        return next((each for each in found if version_of(each) == now), found[-1])
    return found[0] if found else None


def _is_versioned(tracked: Tracked) -> bool:
    """Return True if a relation is a version of a table as it is."""
    versions = tracked.source.versions
    of_table = tracked.source.version is not None and tracked.derived is None
    return of_table and len(versions) == 1 and versions[0].version is not None


def _is_of(tracked: Tracked, table: VersionedTable) -> bool:
    """Return True if a relation is a version of a table, which may have been created anew there."""
    own = tracked.source.version
    if own is None or own.format != table.format or not _is_versioned(tracked):
        return False
    if own.identity == table.identity:
        return True
    return own.location == table.location and own.whole is own and table.whole is table


@dataclass(frozen=True, slots=True)
class LiveTables:
    """The tables of a session that statements change, and the history that follows them.

    Attributes
    ----------
    catalog
        Returns the catalog of the session as it is now.
    in_force
        Lets the names of tracked relations stand for the session's frames.
    track_anew
        Tracks a relation as its source is at a version; None: as it is now.
    """

    spark: SparkSession
    catalog: Callable[[], SessionCatalog]
    history: GrowingHistory
    in_force: Callable[[], AbstractContextManager[None]]
    track_anew: Callable[[Tracked, int | None], None]

    def resolved(self, written: Statement, own: Tracked) -> tuple[Statement, dict[str, Tracked]]:
        """Return a statement with the relations that it reads, tracked anew where they changed."""
        with self.in_force():
            statement, relations = resolved(written, self.catalog())
            changed = [
                source
                for name, source in _sources(statement, relations)
                if source is not own and _is_changed(self.spark, name, source, self.history)
            ]
            for source in changed:
                self.track_anew(source, None)
            return resolved(written, self.catalog()) if changed else (statement, relations)


def execute(live: LiveTables, target: StatementTarget) -> None:
    """Run a statement, and follow its table to the version that it makes.

    It runs as it is, but for functions of the moment, which are literals of their values now, and
    for a target that is named as the relation and not as the table.

    Raises
    ------
    UnsupportedError, NotUnderstoodError
        For a statement that has no rule. It does not run.
    TrackingError
        When a relation that it reads is not tracked, or its table has no key. It does not run.
    StatementError
        When something else changed the table since it was tracked: it does not run. When something
        else changed the table while it ran: the table is not followed any further.
    """
    spark, history, table = live.spark, live.history, target.table
    check_session(spark)
    _check_published(spark, target)
    text = _text_to_run(spark, target)
    written = read_statement(spark, text)
    _check_columns(target.tracked, table)
    commits = _commits_after(table, target.version)
    if (known := history._table_of(target.tracked.name)) is not None:
        commits = _restored(history, known, commits)
    commits = _published(history, target.tracked, table, commits)
    own = live.catalog().tracked[target.tracked.name.lower()]
    if not all(map(keeps_rows, commits)):
        raise _changed(own, table, commits)
    statement, relations = live.resolved(written, own)
    _check_moments(target.statement, [own, *relations.values()])
    _check_variables(spark, statement, [own, *relations.values()])
    reads_own = any(each is own for each in relations.values())
    if reads_own and any(map(changes_columns, commits)):
        raise _changed(own, table, commits)
    columns = _columns_at(table, None)
    name = _up_to(history, own, statement.table, commits)
    step = _new_step(history, name, statement, relations, columns, dynamic=is_dynamic(spark))
    with live.in_force():
        spark.sql(text)
    made, *later = _new_versions(table, step.version)
    _follow(history, step, made, columns)
    for version in later:
        history._add_version(step.table, version, unchanged=True)


def _published(
    history: GrowingHistory, own: Tracked, table: VersionedTable, commits: list[TableVersion]
) -> list[TableVersion]:
    """Follow a table through versions that statements made on a branch of it, which it has now.

    Returns the versions after the last of these.
    """
    made = _made_on_branches(history, table, own.name)
    last = max((n for n, each in enumerate(commits) if each.version in made), default=-1)
    before = commits[: last + 1]
    if not all(each.version in made or keeps_rows(each) for each in before):
        return commits
    for commit in before:
        step = made.get(commit.version)
        name = _up_to(history, own, name_parts(table.table), [] if step else [commit])
        if step is not None:
            reads = reads_in_place(step.reads, step.table, name)
            last_one = history._chains[name].last
            step = replace(step, table=name, reads=reads, version=last_one)
            _follow(history, step, commit.version, None)
    return commits[last + 1 :]


def _made_on_branches(
    history: GrowingHistory, table: VersionedTable, relation: str
) -> dict[int, HistoryStep]:
    """Return by version the statements that made it, on another branch than a relation is."""
    whole, found = table.whole.identity, dict[int, HistoryStep]()
    for step in history._steps:
        own = history._chains[step.table].table
        if own is not None and own.whole.identity == whole and not step.unchanged:
            found.setdefault(step.version, step)
    return {
        version: step
        for version, step in found.items()
        if history._relations[step.table] != relation
    }


def _new_versions(table: VersionedTable, before: int) -> list[int]:
    """Return the version that a statement made, and the versions after it, with the same rows.

    Raises
    ------
    StatementError
        When something else changed the table at the same time.
    """
    if (made := table.next_after(before)) is not None:
        return [made]
    after = _commits_after(table, before)
    if not all(map(keeps_rows, after[1:])):
        raise StatementError(
            f"The statement ran, and {table.table} has several new versions: {_shown(after)}. "
            "Something else changed it at the same time.\nNothing is known of these versions: "
            "ls.reenact(...) follows the table when it is given the statement of each."
        )
    return [commit.version for commit in after]


def follow_commands(live: LiveTables, commands: Sequence[TableCommand]) -> None:
    """Follow tables to the versions that commands made which have run.

    A table that is loaded anew, by a command that reads what is not tracked, is tracked anew for
    the commands that read it.

    Parameters
    ----------
    commands
        What changed tables since the versions that are tracked, in order.

    Raises
    ------
    UnsupportedError, NotUnderstoodError, TrackingError
        For a command that cannot be read as a statement. Its table is not followed any further.
    StatementError
        When a table has versions that are of no command.
    """
    check_session(live.spark)
    relations = live.catalog().tracked
    changes = [each for command in commands for each in _concerned(command, relations)]
    following = _FollowedCommands(live)
    for name in dict.fromkeys(name for name, _ in changes):
        its = [command for known, command in changes if known == name]
        following.begin(name, relations[name], its)
    for name, command in changes:
        following.follow(name, command)
    following.end()


def _concerned(
    command: TableCommand, relations: Mapping[str, Tracked]
) -> Iterator[tuple[str, TableCommand]]:
    """Yield the relations whose tables a command changes, with the command on each.

    A command on a branch changes the table too where that has the branch's versions by now, or
    where only the table is tracked.
    """
    table = command.table
    if table is None:
        return
    own = _tracked_table(relations, table)
    if own is not None:
        yield own.name.lower(), command
    whole = None if table.whole is table else _tracked_table(relations, table.whole)
    if whole is None:
        return
    now = table.current()
    if own is None or any(each.version == now for each in table.whole.history()):
        yield whole.name.lower(), replace(command, table=table.whole, on_branch=True)


@dataclass(frozen=True, slots=True)
class _FollowedCommands:
    """Tables on their way through the commands that changed them, by the names of relations.

    Attributes
    ----------
    made
        The versions of the commands that are still to be followed.
    commits
        The commits of the versions that are not in the history yet.
    refused
        Why a table is not followed any further.
    loaded
        Why a table was tracked anew that no command has read since.
    """

    live: LiveTables
    made: dict[str, list[int | None]] = field(default_factory=dict)
    commits: dict[str, list[TableVersion]] = field(default_factory=dict)
    refused: dict[str, LipstickError] = field(default_factory=dict)
    loaded: dict[str, LipstickError] = field(default_factory=dict)

    def begin(self, name: str, tracked: Tracked, commands: Sequence[TableCommand]) -> None:
        """Find the versions that the commands on a table made."""
        table = commands[0].table
        assert table is not None
        _published(self.live.history, tracked, table, _commits_after(table, version_of(tracked)))
        tracked = self.live.catalog().tracked[name]
        self.commits[name], self.made[name], problem = _made(tracked, commands)
        if problem is not None:
            self.refused[name] = problem

    def follow(self, name: str, recorded: TableCommand) -> None:
        """Follow a table through its next command, unless it was refused before."""
        if not self.made[name]:
            return
        live, number = self.live, self.made[name].pop(0)
        commit = next((c for c in self.commits[name] if c.version == number), None)
        command = replace(recorded, commit=commit)
        try:
            self._follow(name, command, number)
        except LipstickError as error:
            own = live.catalog().tracked[name]
            new = live.history._table_of(own.name) is None and command.overwrites
            if new and number is not None and isinstance(error, UntrackedError | TrackingError):
                live.history._keep_source(own)
                live.track_anew(own, number)
                if name not in live.history._sources:
                    self.loaded[name] = error
            else:
                self.made[name].clear()
                self.refused.setdefault(name, error)

    def _follow(self, name: str, command: TableCommand, number: int | None) -> None:
        live = self.live
        relations = live.catalog().tracked
        own, table = relations[name], command.table
        assert table is not None
        assert own.source.version is not None
        _check_columns(own, table)
        place = own.source.table or own.source.version.table
        changed = list(self.made)
        with live.in_force():
            text = _text_of(live.spark, command, own, place, list(relations.values()), changed)
        statement, read = resolved(_read(live.spark, text), live.catalog())
        for source, known in _sources(statement, read):
            self.loaded.pop(known.name.lower(), None)
            if known is not own and known.name.lower() in self.refused:
                raise StatementError(
                    f"A command on {name!r} reads {source!r}, which was followed only up to "
                    f"version {version_of(known)}."
                )
        kept = _until(self.commits[name], number, command.base)
        columns = None if number is None else _columns_at(table, number)
        if number is not None and isinstance(statement, Insert):  # which may add columns
            columns = shape_of(table.schema(number), table, number)
        of_table = _up_to(live.history, own, statement.table, kept)
        step = _new_step(live.history, of_table, statement, read, columns, dynamic=command.dynamic)
        _follow(live.history, step, step.version if number is None else number, columns)

    def end(self) -> None:
        """Keep the commits that no command made, and raise the first refusal."""
        history = self.live.history
        for name, rest in self.commits.items():
            table_name = history._table_of(name)
            last = rest[-1].version if rest and name not in self.refused else None
            if table_name is not None:
                _keep(history, table_name, _until(rest, None, last))
        for refusal in (*self.refused.values(), *self.loaded.values()):
            raise refusal


def _text_of(
    spark: SparkSession,
    command: TableCommand,
    own: Tracked,
    place: str,
    tracked: Sequence[Tracked],
    changed: Sequence[str],
) -> str:
    """Return the statement that a recorded command is; an error of it names the command."""
    try:
        return statement_text(spark, command, place, tracked, changed)
    except QueryError as error:
        kind, problem, rest = type(error), error.problem, (error.advice, error.sql, error.span)
    except (PySparkException, Py4JError) as error:
        kind, problem = UnsupportedError, first_line(error)
        rest = ("Run it as a text by ls.sql(...).", "", None)
    raise kind(f"the recorded {command.kind} on {own.name!r} is not followed: {problem}", *rest)


def _made(
    tracked: Tracked, commands: Sequence[TableCommand]
) -> tuple[list[TableVersion], list[int | None], StatementError | None]:
    """Return the commits after a version that is tracked, and which of them commands made.

    The last is the error about commits that are of none of the commands.
    """
    table, version = commands[0].table, version_of(tracked)
    assert table is not None
    commits = _commits_after(table, version)
    created = any(command.kind == CREATES_NEW for command in commands)
    if created or table.went_back(version):
        did = "was dropped and created anew" if created else "was rolled back"
        problem = f"{tracked.name!r} {did} while commands on it were recorded."
        advice = "Do so between two recordings, and track it again now."
        return commits, [], StatementError(f"{problem}\n{advice}")
    made, complete = versions_made(version, commits, commands)
    if complete:
        return commits, made, None
    refusal = StatementError(
        f"{len(commands)} commands changed {tracked.name!r} while they were recorded, and some of "
        f"its new versions are of none of them: {_shown(commits)}.\nRecord while no other writer "
        "changes the table."
    )
    return commits, made, refusal


def _until(
    commits: list[TableVersion], version: int | None, base: int | None
) -> list[TableVersion]:
    """Take commits up to a version, and return the ones before it.

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
    found = commits[: taken if version is None else taken - 1]
    del commits[:taken]
    return found


def versions_made(
    version: int, commits: Sequence[TableVersion], commands: Sequence[TableCommand]
) -> tuple[list[int | None], bool]:
    """Return the version that each command made; None: it made none, for it changed no row.

    Commits and commands have one order. A commit is of a command that may have read the version
    before it, and that the log may call so; of several it is the one whose condition the log has,
    else the first.

    Parameters
    ----------
    version, commits
        The version before all commands, and the commits after it.
    commands
        The commands that changed the table, in order.

    Returns
    -------
    tuple
        The versions of the commands up to the first commit that is of none, and whether each commit
        is of one.
    """
    changes, places = list[TableVersion](), {version: 0}
    for commit in commits:
        if not (keeps_rows(commit) or commit.operation == RESTORE):
            changes.append(commit)
        places[commit.version] = len(changes)
    # By number of commits so far: how many conditions the log has, and the versions made.
    known: dict[int, tuple[int, list[int | None]]] = {0: (0, [])}
    furthest = known
    for command in commands:
        following = dict[int, tuple[int, list[int | None]]]()
        for count, (score, made) in known.items():
            if not command.may_read(places, count, version):
                continue
            if command.base is not None and not command.on_branch:
                _keep_better(following, count, score, [*made, None])
            if count < len(changes) and command.commits_as(changes[count].operation):
                more = score + command.is_logged(changes[count])
                _keep_better(following, count + 1, more, [*made, changes[count].version])
        if not following:
            break
        known = furthest = following
    last = max(furthest)
    made = furthest[last][1]
    return made, last == len(changes) and len(made) == len(commands)


def _keep_better(
    known: dict[int, tuple[int, list[int | None]]], count: int, score: int, made: list[int | None]
) -> None:
    before = known.get(count)
    if before is None or (score, _earliest(made)) > (before[0], _earliest(before[1])):
        known[count] = score, made


def _earliest(made: Sequence[int | None]) -> list[bool]:
    return [number is not None for number in made]


def _text_to_run(spark: SparkSession, target: StatementTarget) -> str:
    """Return the text of a statement that names its table, and has the moment as literals."""
    statement, own = target.statement, target.tracked
    row: Row | None = None
    if moments := moments_of(statement):
        check_fragments(spark, statement.text)  # before a text is made of them
        row = spark.sql(f"SELECT {', '.join(moments.values())}").head()
    by_relation = dotted(statement.table) == own.name.lower() and not own.called_as_its_table
    return statement_to_run(
        statement.text,
        dict(zip(moments, row or (), strict=True)),
        target.table.table if by_relation else None,
    )


def _check_published(spark: SparkSession, target: StatementTarget) -> None:
    """Refuse a session that lets Iceberg write elsewhere than into the table that readers see."""
    for name in ("spark.wap.branch", "spark.wap.id"):
        if target.table.format == "iceberg" and spark.conf.get(name, None) is not None:
            raise UnsupportedError(
                f"{name} is set, by which Iceberg does not publish what a statement writes",
                "Run it by spark.sql, and track the table again once it is published.",
                target.statement.text,
            )


def _check_moments(statement: Statement, relations: Sequence[Tracked]) -> None:
    """Refuse functions of the moment that are named as columns: Spark would read the column."""
    called = moments_of(statement)
    for tracked in relations:
        for column in tracked.columns:
            if column.lower() in called:
                raise UnsupportedError(
                    f"{column} is a column of {tracked.name}, and a function of the moment",
                    "Write the value as a literal, or rename the column.",
                    statement.text,
                )


def _check_variables(
    spark: SparkSession, statement: Statement, relations: Sequence[Tracked]
) -> None:
    """Refuse variables of the session, whose values a later replay would take from it.

    A client of Spark Connect cannot ask for them.
    """
    session = getattr(spark, "_jsparkSession", None)
    known = session and session.sessionState().catalogManager().tempVariableManager()
    if known is None or known.isEmpty():
        return
    columns = {name.lower() for each in relations for name in each.columns}
    for name in sorted(variables_of(statement) - columns):
        if known.get(sequence(spark, [name])).isDefined():
            raise UnsupportedError(
                f"{name} is a variable of the session, which may have another value later",
                "Write its value as a literal.",
                statement.text,
            )


def _read(spark: SparkSession, text: str) -> Statement:
    """Read a statement that has run, whose values are the same whenever it runs."""
    for name in moments_of(parse_statement(text)):
        raise UnsupportedError(
            f"a recorded command calls {name}(), whose value then is not in its plan",
            "Give the command the value, lit(datetime.now()), or run it as a text by ls.sql.",
            text,
        )
    return read_statement(spark, text)


def _check_columns(tracked: Tracked, table: VersionedTable) -> None:
    """Refuse tables whose rows have no names, or values that no query makes or compares."""
    if tracked.naming not in (Naming.KEY, Naming.VALUES):
        raise TrackingError(
            f"{tracked.name!r} is changed by a statement, and its rows have no key by which "
            "later versions name them.\nuntrack it, and track it with a key (key=['id']) or by its "
            "values (key='*')."
        )
    for column in tracked.schema:
        if "variant" in column.dataType.simpleString():
            raise UnsupportedError(
                f"the column {column.name!r} of {tracked.name} is a VARIANT, and Spark does not "
                "compare its values",
                "Run the statement by spark.sql; it is not followed.",
            )
    if table.format != "iceberg":
        shape_of(tracked.schema, table)  # refuses a CHAR, which Iceberg does not have


def _up_to(
    history: GrowingHistory, tracked: Tracked, named: Sequence[str], kept: Sequence[TableVersion]
) -> str:
    """Follow a table through versions that no statement made; return its name in the history."""
    table = history._table_of(tracked.name)
    if table is None:
        table = dotted(tuple(named))
        history._add_table(table, tracked)
    _keep(history, table, kept)
    return table


def _new_step(
    history: GrowingHistory,
    table: str,
    statement: Statement,
    relations: Mapping[str, Tracked],
    columns: TableShape | None,
    *,
    dynamic: bool,
) -> HistoryStep:
    """Return a statement as the next of a history, once it can be reenacted.

    Parameters
    ----------
    relations
        The relations that it reads, by their names in it.
    columns
        The columns that the table has by then; None: the same as its version.
    """
    reads = {
        name: history._table_of(each.name) or each.name.lower() for name, each in relations.items()
    }
    before = history._chains[table].last
    step = HistoryStep("", statement, table, before, reads, dynamic, unchanged=True, accepted=True)
    evolves = isinstance(statement, MergeInto) and statement.evolves
    if not (evolves or isinstance(statement, Replace)):
        history._check_reenactable(step, columns)
    return step


def _keep(history: GrowingHistory, name: str, commits: Sequence[TableVersion]) -> None:
    """Add versions that no statement made: with the rows of the one before, or of one restored."""
    for commit in commits:
        table = history._chains[name].table
        if commit.operation == RESTORE and table is not None:
            restored = restored_version(commit, table)
            if restored not in history._chains[name].versions:
                raise StatementError(
                    f"{name} was restored to version {restored}, which is before its history.\n"
                    "Track it again: the history begins anew there."
                )
            history._take_back(name, restored)
        history._add_version(name, commit.version, unchanged=True)


def _restored(
    history: GrowingHistory, name: str, commits: list[TableVersion]
) -> list[TableVersion]:
    """Take back what RESTORE and rollbacks took back; return the commits after that."""
    chain = history._chains[name]
    assert chain.table is not None
    for place, commit in reversed(list(enumerate(commits))):
        known = commit.operation == RESTORE and restored_version(commit, chain.table)
        if known is not False and known in chain.versions:
            _keep(history, name, [commit])
            return commits[place + 1 :]
    # A snapshot of Iceberg that was taken back is none of those that led to the current one.
    numbers = [each.version for each in commits]
    before = [number for number in chain.versions if number in numbers]
    if before:
        history._take_back(name, before[-1])
    return commits[numbers.index(before[-1]) + 1 :] if before else commits


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
        history._add_version(step.table, made, replaced=replaced)
    chain = history._chains[step.table]
    if chain.table is not None and not unchanged:
        first = _made_on_branches(history, chain.table, history._relations[step.table]).get(made)
        if first is not None:
            step = replace(step, published=first.published or first.name)
    if not unchanged or (columns and columns.alike(chain.shapes[made])):
        columns = None
    name = history._next_name()
    history._steps.append(
        replace(step, name=name, version=made, unchanged=unchanged, columns=columns)
    )


def _commits_after(table: VersionedTable, version: int) -> list[TableVersion]:
    if table.current() == version:
        return []
    history = table.history()
    numbers = [each.version for each in history]
    return history[numbers.index(version) + 1 :] if version in numbers else history


def _shown(commits: Sequence[TableVersion]) -> str:
    return ", ".join(f"{each.version} ({each.operation})" for each in commits)


def _changed(
    tracked: Tracked, table: VersionedTable, commits: Sequence[TableVersion]
) -> StatementError:
    return StatementError(
        f"{tracked.name!r} is tracked at version {version_of(tracked)}, and {table.table} was "
        f"changed since: {_shown(commits)}.\nuntrack({tracked.name!r}) and track it again, or "
        "give these statements to ls.reenact(...)."
    )


def _is_changed(spark: SparkSession, name: str, source: Tracked, history: GrowingHistory) -> bool:
    """Return True if the source of a relation has other rows than when it was tracked.

    Parameters
    ----------
    name
        The name by which a statement reads it.

    Raises
    ------
    StatementError
        When it is a table of the history.
    """
    if name == source.name.lower() and not source.called_as_its_table:
        return False  # a view of the rows that are tracked
    pinned = source.source.version
    if pinned is None:
        try:
            check_unchanged(spark, source.name, source.source)
        except SourceChangedError:
            return True
        return False
    table = reopened(spark, pinned)
    if table.identity == pinned.identity:
        commits = _commits_after(table, version_of(source))
        if all(keeps_rows(each) and not changes_columns(each) for each in commits):
            return False
        if history._table_of(source.name) is not None:
            raise _changed(source, table, commits)
    return True


def _sources(
    statement: Statement, relations: Mapping[str, Tracked]
) -> Iterator[tuple[str, Tracked]]:
    """Yield the relations that a statement reads, by their names in it.

    Raises
    ------
    TrackingError
        When a relation is not tracked.
    UnsupportedError
        When it is a stream.
    """
    for name in sorted(sources_of(statement)):
        own = relations.get(name)
        if own is None:
            raise TrackingError(
                f"The statement reads {name!r}, which is not tracked.\nls.track({name!r}, ..., "
                "key=...) first."
            )
        if own.stream is not None:
            raise UnsupportedError(
                f"{name} is a stream", "Read a table of its rows.", statement.text
            )
        yield name, own
