"""Statements that ran before, held against the versions of the tables that they made."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from lipstick.errors import QueryError, StatementError, TrackingError, UnsupportedError
from lipstick.histories.chain import Chain, HistoryStep, replaces_partitions
from lipstick.histories.differences import differing_rows
from lipstick.histories.engine import SparkReplayEngine, reading_versions
from lipstick.histories.names import chain_changed
from lipstick.histories.replay import Replay
from lipstick.stages.guard import parse_by_spark
from lipstick.stages.reading import reading
from lipstick.stages.settings import is_case_sensitive
from lipstick.stages.spark_errors import analysed
from lipstick.tracking.formats.probe import versioned_table
from lipstick.tracking.formats.versions import EMPTY, VersionedTable, led_to
from lipstick.tracking.tracker import Tracked
from rewriter import dialect
from rewriter.statements import (
    Bags,
    Insert,
    Replace,
    Statement,
    check_repeatable,
    moments_of,
    parse_statement,
    read_fragments,
    rows_of,
    sources_of,
    statement_to_run,
    union_all,
    with_columns,
)

_SHOWN = 5
_NUMBER = re.compile(r"#\d+")
"""A number that Spark gives an expression, another in each plan."""
_CALLED = re.compile(r"\b(CURRENT_(?:DATE|TIME|TIMESTAMP|USER))\(\)")
"""A function that is written without brackets, and read as one with them."""


class KnownHistory(Protocol):
    """The tables, statements and sources of a history, for what is computed from them."""

    spark: SparkSession
    engine: SparkReplayEngine

    _chains: dict[str, Chain]
    """The versions of the tables, by their names in lower case."""
    _steps: list[HistoryStep]
    """The statements in their order."""
    _relations: dict[str, str]
    """The names by which the tables' last versions are tracked."""
    _first: dict[str, Callable[[str], Tracked]]
    """By table, what tracks its first version under a name."""

    @property
    def _tracked(self) -> Mapping[str, Tracked]:
        """The relations of the session, by name in lower case."""

    @property
    def _sources(self) -> frozenset[str]:
        """The relations that statements read, and the first versions of the tables."""

    def _table_of(self, relation: str) -> str | None:
        """Return the table whose last version is tracked as a relation; None: it is of none."""

    def _key_columns(self, table: str) -> tuple[str, ...]:
        """Return the columns of a table's key."""

    def _table_here(self, tracked: Tracked) -> pa.Table | None:
        """Return the columns and tokens of a relation of few rows; None: Spark has them."""

    def _replay_before(self, step: HistoryStep) -> Replay:
        """Return a replay that stands before a statement, over the real rows."""


Versions: TypeAlias = Mapping[int, DataFrame] | Sequence[DataFrame] | VersionedTable | str
"""The versions of a table in order: data frames (by number), a table of a format, its name."""


@dataclass(frozen=True, slots=True)
class ExecutedStatement:
    """A statement of a pipeline.

    Parameters
    ----------
    text
        The SQL that Spark ran.
    name
        The name by which it is undone and replaced; None: ``s1``, ``s2``, ... by its place.
    version
        The number of the version of its table that it made; None: the next one.
    reads
        By name in the text, the tracked relation that it stands for, where that is another: the
        staging table as it was that night.
    moments
        The values that functions of the moment had, such as ``{"current_timestamp":
        "2026-01-31T00:00:00Z"}``.
    """

    text: str
    name: str | None = None
    version: int | None = None
    reads: Mapping[str, str] = field(default_factory=dict)
    moments: Mapping[str, str] = field(default_factory=dict)


def chain_of(
    spark: SparkSession,
    engine: SparkReplayEngine,
    name: str,
    versions: Versions,
    made: AbstractSet[int | None],
) -> Chain:
    """Return the versions of a table.

    Parameters
    ----------
    made
        Versions that statements made; the first snapshot of Iceberg follows on an empty table.

    Raises
    ------
    TrackingError
        Where there is no version.
    """
    if isinstance(versions, str):
        known = versioned_table(spark, versions)
        if known is None:
            raise TrackingError(
                f"The format of {versions!r} keeps no versions.\nGive them as data frames."
            )
        versions = known[0]
    if isinstance(versions, Mapping | Sequence):
        listed = enumerate(cast("Sequence[DataFrame]", versions))
        frames = dict(versions if isinstance(versions, Mapping) else listed)
        chain = Chain.of(engine, frames, frames.__getitem__)
    else:
        numbers = [each.version for each in led_to(versions.history(), versions)]
        if versions.format == "iceberg" and made & set(numbers[:1]):
            numbers.insert(0, EMPTY)
        chain = Chain.of(engine, numbers, versions.read, versions)
    if not chain.versions:
        raise TrackingError(f"{name!r} has no versions.\nGive that before its first statement too.")
    return chain


def steps_of(
    spark: SparkSession,
    chains: Mapping[str, Chain],
    statements: Sequence[str | ExecutedStatement],
) -> list[HistoryStep]:
    """Return the steps of a history, each with the version that it made.

    Raises
    ------
    TrackingError
        For a table without versions, versions that are none of its, and names that stand twice.
    UnsupportedError, NotUnderstoodError
        For statements that have no rule, or that were read otherwise than Spark reads them.
    """
    check_session(spark)
    steps: list[HistoryStep] = []
    last = {name: chain.first for name, chain in chains.items()}
    for number, given in enumerate(statements, start=1):
        executed = given if isinstance(given, ExecutedStatement) else ExecutedStatement(given)
        statement = read_statement(spark, executed.text, executed.moments)
        table = chain_changed(spark, statement.table, chains, executed.version)
        if table is None:
            raise TrackingError(
                f"{executed.text[:60]!r} changes {'.'.join(statement.table)!r}, whose versions are "
                "not given.\n"
                f"Given are those of {', '.join(sorted(chains))}."
            )
        numbers = list(chains[table].versions)
        later = chains[table].after(last[table])
        version = executed.version if executed.version is not None else next(iter(later), None)
        if version not in later:
            raise TrackingError(
                f"There is no version {'' if version is None else f'{version} '}of {table!r} "
                f"after {last[table]} for {executed.text[:60]!r}.\n"
                f"Its versions are {', '.join(map(str, numbers))}: give each statement the "
                "version that it made, ExecutedStatement(text, version=...)."
            )
        assert version is not None
        last[table] = version
        name = executed.name or f"s{number}"
        if any(step.name == name for step in steps):
            raise TrackingError(f"Two statements are called {name!r}.\nName each otherwise.")
        reads = {known.lower(): other.lower() for known, other in executed.reads.items()}
        dynamic = _was_dynamic(spark, chains[table], statement, version)
        steps.append(HistoryStep(name, statement, table, version, reads, dynamic))
    return steps


def _was_dynamic(spark: SparkSession, chain: Chain, statement: Statement, version: int) -> bool:
    """Return True if INSERT OVERWRITE replaced partitions, by the log where the table has one."""
    if not (isinstance(statement, Insert) and statement.overwrites):
        return False
    if chain.table is None:
        return is_dynamic(spark)
    made = (commit for commit in chain.table.history() if commit.version == version)
    return any(map(replaces_partitions, made))


def is_dynamic(spark: SparkSession) -> bool:
    """Return True if INSERT OVERWRITE replaces the partitions of its rows alone."""
    mode = str(spark.conf.get("spark.sql.sources.partitionOverwriteMode", "static"))
    return mode.lower() == "dynamic"


def read_statement(
    spark: SparkSession, text: str, moments: Mapping[str, str] | None = None
) -> Statement:
    """Read a statement as Spark reads it.

    Raises
    ------
    UnsupportedError
        For a statement without a rule, or with functions of the moment whose values are not given.
    NotUnderstoodError
        Where Spark reads another meaning.
    """
    statement = parsed(spark, text)
    check_fragments(spark, text)
    check_repeatable(statement)
    missing = [name for name in moments_of(statement) if name not in (moments or {})]
    if missing:
        raise UnsupportedError(
            f"{missing[0]}() is another value each time that the statement runs",
            "Give the value that it had: ExecutedStatement(text, "
            f"moments={{{missing[0]!r}: ...}}).",
            text,
        )
    if not moments_of(statement):
        return statement
    return replace(parse_statement(statement_to_run(text, moments or {})), text=text)


def parsed(spark: SparkSession, text: str) -> Statement:
    """Read a statement, or raise the error of Spark's parser where it does not accept the text.

    A client of Spark Connect has no parser to ask.
    """
    try:
        return parse_statement(text)
    except QueryError:
        with analysed(text, ()):
            parse_by_spark(spark, text)
        raise


def check_fragments(spark: SparkSession, text: str) -> None:
    """Check that Spark parses what was read of a statement as it parses the user's text.

    A client of Spark Connect has no parser to ask; there the versions alone are compared.
    """
    session = getattr(spark, "_jsparkSession", None)
    if session is None:
        return
    parser = session.sessionState().sqlParser()

    def plan(query: str) -> str:
        return _NUMBER.sub("#", str(parser.parsePlan(query).toString()).lower())

    for written, read in read_fragments(text):
        same = plan(written) in (plan(read), plan(_CALLED.sub(r"\1", read)))
        if not same or dialect.literals(written) != dialect.literals(read):
            raise UnsupportedError(
                f"Spark reads {written.removeprefix('SELECT ')!r} otherwise than it was understood",
                "Reword it in the text of the statement; please report it.",
                text,
            )


def check_replacements(spark: SparkSession) -> None:
    """Refuse texts that no version checks where no parser of Spark does either."""
    if getattr(spark, "_jsparkSession", None) is None:
        raise UnsupportedError(
            "statements are not replaced over Spark Connect, whose clients cannot ask Spark how it "
            "reads the new text",
            "Undo statements (undo=), or replace them in a classic session.",
        )


def check_session(spark: SparkSession) -> None:
    """Refuse settings by which statements store other values than their reenactment has."""
    if str(spark.conf.get("spark.sql.storeAssignmentPolicy", "ANSI")).upper() != "ANSI":
        raise UnsupportedError(
            "spark.sql.storeAssignmentPolicy is not ANSI",
            "Set it to ANSI, under which the values of statements are cast.",
        )
    if str(spark.conf.get("spark.sql.ansi.enabled", "true")).lower() != "true":
        raise UnsupportedError(
            "spark.sql.ansi.enabled is false: casts would give NULL where the statement fails",
            "Set it to true while histories are reenacted.",
        )
    if is_case_sensitive(spark):
        raise UnsupportedError(
            "spark.sql.caseSensitive is true", "Set it to false while histories are reenacted."
        )


def check_versions(
    engine: SparkReplayEngine,
    chains: Mapping[str, Chain],
    steps: Sequence[HistoryStep],
    bases: Mapping[str, Bags],
) -> None:
    """Compare every reenacted version with the real one, as bags.

    Raises
    ------
    StatementError
        Where they differ, with some of the rows; and where a row of the target is matched by
        several rows of the source.
    """
    replay = Replay(engine, chains, steps, bases)
    for step in steps:
        check_step(engine, chains, step, replay)
    for table, chain in chains.items():
        made = {step.version for step in steps if step.table == table}
        for version in chain.after(chain.first):
            if version not in made:
                check_same_rows(engine, table, chain, version)


def check_same_rows(engine: SparkReplayEngine, table: str, chain: Chain, version: int) -> None:
    """Compare a version that no statement made with the one before, as bags.

    Raises
    ------
    StatementError
        Where they differ, with some of the rows, or have other columns.
    """
    before = chain.before(version)
    columns, later = chain.shapes[before], chain.shapes[version]
    if not (columns.alike(later) or columns.evolved(later)):
        raise StatementError(
            f"Version {version} of {table} has other columns than version {before}, and no "
            "statement made it: they were renamed or got other types.\n"
            "Give the versions from there on."
        )
    files = chain.changed(engine, before, version) if columns.alike(later) else None
    old, new = files or (chain.versions[before], chain.versions[version])
    real, computed = rows_of(new), with_columns(old, later, columns)
    if differing := _shown(engine, later.names, real, computed):
        raise StatementError(
            f"Version {version} of {table} has other rows than version {before}, and no "
            f"statement made it. {differing}\nGive the statement, ExecutedStatement(text, "
            "version=...), or the versions up to there alone."
        )


def check_step(
    engine: SparkReplayEngine,
    chains: Mapping[str, Chain],
    step: HistoryStep,
    replay: Replay,
) -> None:
    """Compare what a statement makes of the real version before it with the version after it.

    Rows that the statement does not touch, and that are in files of both versions, are the same.

    Parameters
    ----------
    replay
        A replay over the real rows, which is put before the statement.

    Raises
    ------
    StatementError
        Where they differ, and where a row of the target is matched by several of the source.
    UnsupportedError
        Where they differ and Iceberg may have removed rows with NULL that SQL keeps.
    """
    chain = chains[step.table]
    before = chain.before_step(step)
    columns, later = chain.shapes[before], chain.shapes[step.version]
    same_columns = columns.alike(later)
    if not (same_columns or columns.evolved(later) or isinstance(step.statement, Replace)):
        raise StatementError(
            f"Version {step.version} of {step.table} has other columns than the version before "
            f"{step.name!r}, which were renamed or got other types: this is not reenacted.\n"
            "Give the versions from there on."
        )
    with reading(step.statement.text, accepted=step.accepted, written=True), reading_versions():
        replay.stand_before(step)
        files = chain.changed(engine, before, step.version) if same_columns else None
        effect = None if files is None else replay.effect(step)
        if files is None or effect is None:
            written = replay.reenacted(step)
            ambiguous, real = written.ambiguous, rows_of(chain.versions[step.version])
            computed = rows_of(engine.view(replay.computed(step.statement, written.rows)))
        else:
            ambiguous = effect.ambiguous
            real = union_all([effect.touched, rows_of(files[1])])
            computed = rows_of(engine.view(union_all([effect.became, rows_of(files[0])])))
        if ambiguous is not None and engine.store(ambiguous) is not None:
            raise StatementError(
                f"Several rows of the source of {step.name!r} match one row of {step.table}: "
                "which of them changed it is not known.\nReenact it with a source that has a row "
                "for each."
            )
        if differing := _shown(engine, later.names, real, computed):
            replay.check_nulls(step, step.statement, replay.relations(step).before)
            raise StatementError(
                f"Version {step.version} of {step.table} is not what {step.name!r} makes of the "
                f"version before. {differing}\nGive the statement that made this version, and the "
                "sources as they were then (reads=...)."
            )


def _shown(engine: SparkReplayEngine, columns: Sequence[str], real: str, other: str) -> str:
    """Return the first rows that two bags have differently often, as text; none: empty."""
    sides = engine.shown(real), engine.shown(other)
    rows = differing_rows(engine.spark, *sides, columns).limit(_SHOWN).collect()
    shown = [
        f"\n  {'it has' if row[-1] > 0 else 'it has not'} "
        f"{dict(zip(columns, row[:-1], strict=True))}"
        for row in rows
    ]
    return "".join(["Of the rows that differ:", *shown]) if shown else ""


def untracked_sources(
    chains: Mapping[str, Chain], steps: Sequence[HistoryStep], tracked: Callable[[str], bool]
) -> None:
    """Refuse statements that read relations which are neither tracked nor of the history."""
    for step in steps:
        for name in sorted(sources_of(step.statement)):
            stands_for = step.reads.get(name, name)
            if stands_for not in chains and not tracked(stands_for):
                raise TrackingError(
                    f"{step.name!r} reads {stands_for!r}, which is not tracked.\n"
                    f"ls.track({stands_for!r}, ..., key=...) first; or name the relation that it "
                    "was then, ExecutedStatement(text, reads={...})."
                )
