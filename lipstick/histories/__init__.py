"""Histories of tables: statements reenacted over versions, undone, replaced and replayed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from lipstick.errors import TrackingError, UnsupportedError
from lipstick.questions.asking import question
from lipstick.sessions import Session
from lipstick.stages.spark_errors import analysed
from rewriter.dialect import parse, relation_names
from semiring.support.door import checked

if TYPE_CHECKING:
    import pyarrow as pa

    from lipstick.dataframes.jvm import Plan, PlanListener
    from lipstick.erasure.plan import ErasurePlan
    from lipstick.frame import AnnotatedFrame
    from lipstick.histories.history import TableHistory
    from lipstick.histories.live import LiveTables
    from lipstick.histories.steps import ExecutedStatement
    from lipstick.tracking.source import Source
    from lipstick.tracking.tracker import Tracked
    from rewriter import Arguments


_SECONDS = 180.0
"""Seconds for a question of files by default."""


@checked
class ReenactingSession(Session):
    """A SparkSession whose tracked relations carry provenance.

    Made by :func:`lipstick.session`. Views that it registers are dropped by :meth:`close`; the
    SparkSession stays open unless the session started it. It knows the statements by which tables
    were made.
    """

    def __init__(
        self,
        spark: SparkSession | None = None,
        store: str | os.PathLike[str] | None = None,
        exports: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(spark, store, exports)
        self.histories: list[TableHistory] = []
        self._live: TableHistory | None = None
        self._unread = set[str]()
        self._recorder: PlanListener | None = None
        self._recorded: list[Plan] = []

    def reenact(
        self,
        tables: Mapping[str, Any],
        statements: Sequence[str | ExecutedStatement] | os.PathLike[str],
        key: str | Sequence[str] | Mapping[str, str | Sequence[str]],
        *,
        log: bool = False,
    ) -> TableHistory:
        """Follow tables through statements that changed them, as if each had been annotated.

        The last version of each table is tracked, and queries over it can be asked what would be
        without rows that statements read, and without statements. See
        :class:`lipstick.TableHistory`.

        Parameters
        ----------
        tables
            By name, as statements have it, the versions of a table: data frames in order or by
            number, the first before all statements, or a table whose format keeps versions.
        statements
            Texts, or :class:`lipstick.ExecutedStatement`, in the order in which they ran; or the
            path of a file of statements, which semicolons separate, or of the folder ``target`` of
            a run of dbt.
        key
            The columns that name the rows of the tables, or ``"*"``; by table where they differ.
        log
            Read statements that are not given from the log of a table of Delta: DELETE by a
            predicate over numbers, TRUNCATE, and operations that change no row. `tables` is then
            one table by its name, and each statement has its version.
        """
        self.check_open()
        from lipstick.histories.history import TableHistory

        history = TableHistory(self)
        if isinstance(statements, os.PathLike):
            from lipstick.histories.logs import dbt_statements
            from rewriter.statements import split_statements

            path = Path(statements)
            folder = path.is_dir()
            statements = (
                dbt_statements(path) if folder else split_statements(path.read_text("utf-8"))
            )
        if log:
            statements = history._with_logged(tables, statements)
        history._follow(tables, statements, key)
        self.histories.append(history)
        return history

    @question("looking rows up in files", captured=False)
    def files(
        self, relation: str, rows: Any, *, limit: int = 10_000, budget: float | None = _SECONDS
    ) -> pa.Table:
        """Return the file of each of some rows of a relation, and the commit that wrote the file.

        What an answer rests on is found by its lineage: ``ls.files("orders",
        q.lineage("n > 10")["orders"])``.

        Parameters
        ----------
        rows
            A condition in SQL, keys, or a frame of keys, as ``what_if(delete={relation: rows})``
            takes them; of a relation without a key a frame of its rows.
        limit
            Rows at most.
        budget
            Seconds for the answer; None: as many as it takes.

        Returns
        -------
        pyarrow.Table
            The row's key, ``_file``, ``_row`` (its number in the file, from 0; NULL where columns
            were renamed) and ``_row_group`` (of local files); of Delta and Iceberg the
            ``_version``, ``_time`` and ``_operation`` of the commit that added the file. A commit
            may have rewritten rows of earlier ones: ``ls.history.rows`` has the statement that
            changed a row.

        Raises
        ------
        SourceError
            For rows that are in no file of Parquet, Delta or Iceberg. Of a relation that was copied
            (``materialize=True``) the files are the session's.
        """
        self.check_open()
        from lipstick.histories.row_files import files_of_rows

        return files_of_rows(self.spark, self._relation(relation), rows, limit)

    @question("looking rows up in files", captured=False)
    def rows_of_file(
        self, path: str | os.PathLike[str], *, limit: int = 10_000, budget: float | None = _SECONDS
    ) -> dict[str, pa.Table]:
        """Return the rows that a data file holds, by the tracked relations that read it.

        Each is an Arrow table of keys, which ``what_if(delete=...)`` takes, and of ``_row``, the
        number in the file. Rows that a table has deleted are not among them.

        Raises
        ------
        SourceError
            When no tracked relation has rows in the file.
        """
        self.check_open()
        from lipstick.histories.row_files import rows_of_file

        return rows_of_file(list(self.tracked.values()), os.fspath(path), limit)

    def _relation(self, name: str) -> Tracked:
        """Return a tracked relation by any of its names."""
        (known,) = self.by_relation({name: None})
        found = self._tracked.get(known.lower())
        if found is None:
            raise TrackingError(
                f"{name!r} is not tracked.\nTracked relations: {', '.join(self.tracked) or 'none'}."
            )
        return found

    def erase(
        self,
        delete: Mapping[str, str],
        derived: Mapping[str, str | Sequence[str | ExecutedStatement]] | None = None,
        *,
        key: Mapping[str, str | Sequence[str]] | None = None,
        identify: Mapping[str, Sequence[str]] | None = None,
        paths: Mapping[str, str | os.PathLike[str]] | None = None,
        search: Sequence[str | os.PathLike[str]] = (),
        drop: Sequence[str | os.PathLike[str]] = (),
        in_place: bool = False,
        on_step: Callable[[str], None] | None = None,
    ) -> ErasurePlan:
        """Plan the erasure of rows from tables of Delta and Iceberg, and from what rests on them.

        That may be in plain Parquet too. Nothing is changed: :class:`lipstick.ErasurePlan` has what
        can be done with a plan.

        Parameters
        ----------
        delete
            By tracked relation, a condition in SQL on the rows to erase.
        derived
            By name in SQL, the tables made of tracked relations and of each other: the
            query that a table is the answer of, or the statements that made it from its first
            version on.
        key
            By derived table, the columns that name its rows, which are then changed one by one and
            shown as changed. Tables without a key are rewritten.
        identify
            By relation, the columns whose values are searched for; by default its key, the columns
            of the condition, and all texts.
        paths
            By derived table, the folder of its files, where it is in no catalog. Folders of plain
            Parquet are exchanged for others with the remaining rows.
        search
            Folders and files to search: captures, stores, exports, whole warehouses.
        drop
            Captures, stores and files that are removed with the rows.
        in_place
            True: change the tables themselves. False: Iceberg on a branch, Delta in copies.
        on_step
            Called with each step; by default a line shows them where the work takes seconds.

        Raises
        ------
        LipstickError
            When nothing matches, for what cannot be erased, and when a derived table is not what
            its query makes of its sources now.
        """
        self.check_open()
        from lipstick.erasure.plan import ErasureRequest, make_plan, reported

        request = ErasureRequest(
            self.by_relation(delete),
            derived or {},
            key or {},
            self.by_relation(identify or {}),
            {name: os.fspath(path) for name, path in (paths or {}).items()},
            [str(path) for path in search],
            [str(path) for path in drop],
            in_place,
        )
        with reported(on_step) as say:
            return make_plan(self, self.tracked, request, say)

    @property
    def history(self) -> TableHistory:
        """The history of the statements that :meth:`lipstick.Session.sql` ran.

        Raises
        ------
        TrackingError
            When it ran none.
        """
        if self._live is None:
            raise TrackingError(
                "No statement changed a table yet.\nls.sql() runs UPDATE, DELETE, MERGE, INSERT "
                "and TRUNCATE on tracked tables of Delta and Iceberg."
            )
        return self._live

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Follow tracked tables through the commands that Spark runs in a block.

        ``DataFrame.mergeInto`` and ``writeTo``, ``DeltaTable.merge``, ``update`` and ``delete``,
        and ``spark.sql`` are read from their plans when the block ends, and become statements of
        :attr:`history` in their order. Nothing else may change the tables meanwhile.

        Raises
        ------
        UnsupportedError
            Over Spark Connect, whose clients see no plans. When the block ends: for a plan that no
            statement has, or that reads what is not tracked; its table is not followed.
        StatementError
            When the block ends: when a table has other new versions than from these commands.
        """
        self.check_open()
        if not hasattr(self.spark, "_jsparkSession"):
            raise UnsupportedError(
                "commands are not recorded over Spark Connect, whose clients see no plans",
                "Run them as texts: ls.sql('MERGE INTO ...').",
            )
        if self._recorder is not None:
            raise TrackingError("This session is recording already.\nEnd that block first.")
        from lipstick.dataframes.jvm import PlanListener
        from lipstick.histories.commands import COMMANDS

        plans: list[Plan] = []
        self._recorder = recorder = PlanListener(self.spark, COMMANDS, plans.append, copies=True)
        self._recorded = plans
        try:
            yield
        finally:
            try:
                self._catch_up()
            finally:
                recorder.stop()
                self._recorder = None

    def _catch_up(self) -> None:
        """Follow tables through the commands that were recorded so far."""
        if self._recorder is None:
            return
        from lipstick.histories.commands import commands_of
        from lipstick.histories.live import follow_commands

        self._recorder.catch_up()
        plans = self._recorded.copy()
        self._recorded.clear()
        commands = commands_of(self.spark, plans)
        with self._following() as live:
            follow_commands(live, commands)

    @contextmanager
    def _following(self) -> Iterator[LiveTables]:
        """Yield what statements change; its history is kept once it has a statement."""
        from lipstick.histories.history import TableHistory
        from lipstick.histories.live import LiveTables

        history = self._live or TableHistory(self)
        in_force, track_anew = self._views.in_force, self._track_anew
        try:
            yield LiveTables(self.spark, self.catalog, history, in_force, track_anew)
        finally:
            if self._live is None and history.statements:
                self._live = history
                self.histories.append(history)

    def _statement(self, query: str, args: Arguments) -> AnnotatedFrame | None:
        """Run a statement on a tracked table, and return the rows that the table has now."""
        with analysed(query, self.tracked):
            changed = self._execute(query, args)
        if changed is None:
            return None
        return self._annotated(changed, None, query, verify=False)

    def _execute(self, text: str, args: Arguments) -> str | None:
        """Run a statement on a tracked table; return the query of the relation that it changed.

        None: the text is no such statement, and did not run.
        """
        from lipstick.histories.live import execute, target_of
        from lipstick.tracking.views import quoted_name

        self._catch_up()
        target = target_of(self.spark, text, self.catalog())
        if target is None:
            return None
        if args:
            raise UnsupportedError(
                "parameters of statements are not followed",
                "Write the values into the text.",
                text,
            )
        with self._following() as live:
            execute(live, target)
        if self._recorder is not None:
            self._recorder.catch_up()
            self._recorded.clear()
        own = target.tracked
        by_table = own.called_as_its_table and own.source.identity
        return f"SELECT * FROM {quoted_name(by_table or own.name.split('.'))}"

    def _forget(self, tracked: Tracked) -> None:
        """Let histories go on without a relation that is not tracked any more."""
        if self._live is not None and self._live._table_of(tracked.name) is not None:
            self.histories.remove(self._live)
            self._live = None
            self.version_views.clear()
        for history in self.histories:
            history._keep_source(tracked)

    def _keep_as(self, tracked: Tracked, name: str) -> None:
        """Track the rows of a relation by another name."""
        self._views.shadow(self.spark.table(self._views.pinned[tracked.name.lower()]), name)
        self._tracked[name.lower()] = replace(tracked, name=name)

    def _track_version(self, name: str, source: Source, key: str | Sequence[str] | None) -> Tracked:
        """Track a version that is pinned; its key is verified when a query first reads it."""
        from lipstick.tracking.tracker import name_rows

        tracked = self._track(name, source, name_rows(name, source, key, True))
        self._unread.add(tracked.view)
        return tracked

    def _track_anew(self, tracked: Tracked, version: int | None = None) -> None:
        """Track a relation as its source is now, by the same key; statements keep its earlier rows.

        Parameters
        ----------
        version
            The version of its table that is tracked; None: the current one.

        Raises
        ------
        SourceChangedError
            When the source is a data frame, or a path that was read with options.
        TrackingError
            When the key is not unique any more.
        """
        from lipstick.tracking.formats.probe import reopened
        from lipstick.tracking.source import check_unchanged, read_source, version_source
        from lipstick.tracking.tracker import Naming, name_rows, verify_tokens

        source = tracked.source
        if source.version is not None:
            table = reopened(self.spark, source.version)
            at = table.current() if version is None else version
            pinned = version_source(table, at, source.place)
        elif source.place is not None and source.format in (None, "parquet"):
            place = source.full_table or source.place
            pinned = replace(read_source(self.spark, place, source.format), place=source.place)
        else:
            check_unchanged(self.spark, tracked.name, source)
            return
        keys = {Naming.KEY: tracked.token, Naming.VALUES: "*"}
        key = keys.get(tracked.naming)
        named = name_rows(tracked.name, pinned, key, tracked.naming is not Naming.NONE)
        named = verify_tokens(tracked.name, named)
        self.untrack(tracked.name)
        self._track(tracked.name, pinned, named)

    def _verify_read(self, frame: AnnotatedFrame) -> bool:
        """Verify the keys, and list the files, of versions that statements made and a query reads.

        Returns
        -------
        True if a relation of the query is known better than when it was prepared.
        """
        read = frame.plan.relations.items() if self._unread else ()
        unread = [(name, known) for name, known in read if known.view in self._unread]
        for name, known in unread:
            from lipstick.tracking.formats.probe import pin
            from lipstick.tracking.tracker import NamedRows, verify_tokens

            unique = known.unique
            if not known.verified:
                rows = self.spark.table(known.view)
                verify_tokens(known.name, NamedRows(rows, known.naming, known.token))
                unique = (known.token,)
            table, (version,) = known.source.version, known.source.versions
            assert table is not None
            listed = pin(table, version.version, table.files(version.version))
            source = replace(known.source, versions=(listed,))
            self._tracked[name.lower()] = replace(
                known, source=source, verified=True, unique=unique
            )
            self._unread.discard(known.view)
        return bool(unread)

    def _define_versions(self, query: str) -> None:
        """Define the versions of tables, such as ``orders@2``, that a query reads by name."""
        if "@" not in query or not self.histories:
            return
        for name in relation_names(parse(query)):
            for history in self.histories:
                if name not in self.version_views and (found := history._version_named(name)):
                    history._define(*found)

    def _history_of(self, relations: Iterable[str]) -> TableHistory | None:
        """Return the history that made one of some relations, None if there is none.

        Raises
        ------
        TrackingError
            When there are several: their statements have no common order.
        """
        names = list(relations)
        found = [each for each in self.histories if any(map(each._table_of, names))]
        if len(found) > 1:
            raise TrackingError(
                "The query reads tables of several histories.\n"
                "Reenact them as one, reenact({table: versions, ...}, statements)."
            )
        return found[0] if found else None


@checked
def session(
    spark: SparkSession | None = None,
    store: str | os.PathLike[str] | None = None,
    exports: str | os.PathLike[str] | None = None,
) -> ReenactingSession:
    """Open a session on a SparkSession (classic or Connect).

    Parameters
    ----------
    spark
        The session to annotate; None: the active one, or else one that is started in this process,
        ``local[*]``, and stopped when this session is closed.
    store
        Where captures and materialised copies go; None: a temporary directory, removed on close.
    exports
        A graph store, made if there is none, from which written tables are exported: other
        sessions that track their files go on where this one ends (``docs/systems/federation.md``).
    """
    return ReenactingSession(spark, store, exports)
