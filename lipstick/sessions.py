"""The session: tracked relations on top of a SparkSession, and annotated queries over them."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypeVar

from pyspark.sql import DataFrame, SparkSession

from lipstick import display
from lipstick.dataframes import check_names, plain_frame, query_text, relation_of_view
from lipstick.engines.spark.local_session import is_stopped, own_spark, unlog_own_errors
from lipstick.engines.spark.workers import use_own_python
from lipstick.errors import (
    LipstickError,
    QueryError,
    SourceChangedError,
    TrackingError,
    readable_types,
)
from lipstick.frame import AnnotatedFrame
from lipstick.pipeline import PreparedQuery, prepare
from lipstick.stages.explain import log_passes_where_asked
from lipstick.stages.reading import reading
from lipstick.stages.settings import check_settings, naming_settings, with_variables
from lipstick.stages.surroundings import Surroundings
from lipstick.stages.table_functions import register_function
from lipstick.systems.hooks import StatementHistory, stream_tracker, table_exporter
from lipstick.tables.commit import write_answer
from lipstick.tables.derivation import Derivation
from lipstick.tables.derived_rows import naming_of, relation_rows
from lipstick.tables.target import Target
from lipstick.tables.writer import written_derivation
from lipstick.tracking.catalog import SessionCatalog
from lipstick.tracking.local_relations import LocalRelations
from lipstick.tracking.source import Source, SourceLike, check_unchanged, copied_source, read_source
from lipstick.tracking.states import FileState, local_folder
from lipstick.tracking.tracker import (
    NamedRows,
    Naming,
    Tracked,
    TrackedStream,
    check_columns,
    check_name,
    name_rows,
    verify_tokens,
)
from lipstick.tracking.views import Views, plain_word, quoted_name
from rewriter import Arguments, TableFunction, ViewText, dialect
from rewriter.dialect import Write, name_parts, read_write
from rewriter.scalars.text import text
from semiring.support.door import checked

T = TypeVar("T")


@checked
class Session:
    """A session as the core has it: see :class:`lipstick.Session`."""

    def __init__(
        self,
        spark: SparkSession | None = None,
        store: str | os.PathLike[str] | None = None,
        exports: str | os.PathLike[str] | None = None,
    ) -> None:
        log_passes_where_asked()
        running = spark if spark is not None else SparkSession.getActiveSession()
        self._owns_spark = running is None
        self.spark = running if running is not None else own_spark()
        self._closed = False
        self.check_open()
        unlog_own_errors()
        use_own_python(self.spark)
        self._tracked: dict[str, Tracked] = {}
        self._temporary = store is None
        self.store = local_folder(store or tempfile.mkdtemp(prefix="lipstick-")).absolute()
        self.store.mkdir(parents=True, exist_ok=True)
        self._id = uuid.uuid4().hex[:8]
        self.version_views: dict[str, ViewText] = {}
        self._tables: dict[str, TableFunction] = {}
        self._views = Views(self.spark, self._id)
        self.local_relations = LocalRelations(self.spark)
        self._surroundings = Surroundings(
            self.spark,
            self._tracked,
            self._tables,
            self.local_relations,
            self.store,
            self.add_view,
            self.version_views,
        )
        self.exports = None if exports is None else table_exporter(exports)

    # -- relations -------------------------------------------------------------------------

    @property
    def tracked(self) -> Mapping[str, Tracked]:
        """The tracked relations by name."""
        return MappingProxyType({t.name: t for t in self._tracked.values()})

    def track(
        self,
        name: str,
        source: SourceLike | None = None,
        key: str | Sequence[str] | None = None,
        *,
        verify: bool = True,
        materialize: bool = False,
        provenance: bool = True,
        format: str | None = None,
        options: Mapping[str, str] | None = None,
        derived: str | os.PathLike[str] | bool = False,
        at: int | str | datetime | None = None,
        replace: bool = False,
    ) -> Tracked:
        """Give every row of a source a token, and the source a name for queries.

        Where the name has the same source and key already nothing happens, also with rows that
        Python made anew: a cell of a notebook may run again.

        Parameters
        ----------
        name
            The name in queries and in tokens (``cars:C2``).
        source
            A data frame, a table of Arrow or frame of pandas (small ones: they travel in plans),
            the name of a table or view, or a path of Parquet, CSV, JSON or ORC files; None: that
            called ``name``. A streaming frame of files makes queries over it streaming ones.
        key
            Columns that identify a row, unique and never NULL. ``"*"``: all columns and an ordinal
            among equal rows. None: the id that Delta (row tracking) or Iceberg (version 3) gives
            the row, else the position of the row, for Parquet, Delta and Iceberg only.
        verify
            Check the key (one aggregation over the source). Unverified keys are marked in results.
        materialize
            Copy the source once to Parquet in the session's store and track the copy.
        provenance
            False: tuples are annotated 1 and never appear in annotations.
        format, options
            The reader's format, when the name of the path ``source`` has none.
        derived
            The directory with the provenance of a table or path that an annotated query wrote;
            True: its default place. Its rows are named as they were.
        at
            The version of a table of Delta or Iceberg: its number, a moment (as text in the time
            zone of the session), a branch or a tag. None: the current one (``docs/tables.md``).
        replace
            Track this in place of the relation of that name, whose frames stay as they are.

        Raises
        ------
        TrackingError
            For a name in use for another source or key, unknown key columns, or a key with
            duplicates or NULLs.
        SourceError
            For a source that cannot be read, or whose rows nothing names stably.
        SourceChangedError, CaptureError
            With ``derived``: when the source is not what was written, or nothing was.
        """
        self.check_open()
        check_name(name)
        self._catch_up()
        before = None if replace else self._tracked.get(name.lower())
        stream = source if isinstance(source, DataFrame) and source.isStreaming else None
        written = derived is not False
        if before is not None and (stream is not None or materialize or written):
            raise _tracked_already(name)
        chosen = materialize or not provenance
        _check_options(name, key, streams=stream is not None, written=written, chosen=chosen)
        if stream is not None:
            return self._track_stream(name, stream, key, verify)
        with readable_types(), display.progress(after=2.0) as line:
            line(f"tracking {name}")
            source = name if source is None else source
            pinned = read_source(self.spark, source, format, options, at, copied=materialize)
            if derived is not False:
                known = written_derivation(self.spark, self.store, name, pinned, derived)
                return self.track_derived(pinned, known)
            if materialize:
                pinned = copied_source(self.spark, pinned, self.store / "materialized", name)
            return self._track_source(name, pinned, key, verify, provenance, before)

    def _track_stream(
        self, name: str, stream: DataFrame, key: str | Sequence[str] | None, verify: bool
    ) -> Tracked:
        found = stream_tracker().track(name, stream, key)
        return self._track(
            name, found.source, replace(found.rows, verified=verify), stream=found.stream
        )

    def _track_source(
        self,
        name: str,
        pinned: Source,
        key: str | Sequence[str] | None,
        verify: bool,
        provenance: bool,
        before: Tracked | None,
    ) -> Tracked:
        """Name the rows of a source and track it; return the relation before if it is the same."""
        rows = name_rows(name, pinned, key, provenance)
        if before is not None:
            same = (rows.naming, rows.token) == (before.naming, before.token)
            if same and before.verified >= verify and before.source.is_same(pinned):
                return before
            raise _tracked_already(name)
        if verify:
            rows = verify_tokens(name, rows)
        return self._track(name, pinned, rows)

    def _track(
        self,
        name: str,
        pinned: Source,
        rows: NamedRows,
        derived: Path | None = None,
        stream: TrackedStream | None = None,
        copied: tuple[FileState, ...] | None = None,
    ) -> Tracked:
        """Register rows with tokens as a relation."""
        if (pinned.table or "").strip("`") == name:
            self._views.pin(pinned.frame, name)
        elif "." in name:
            raise TrackingError(
                f"{name!r} has a dot, as names of tables in a schema have, and is tracked as "
                f"{pinned.description}: queries would read another relation by it.\n"
                "Choose a name without a dot."
            )
        else:
            self._views.shadow(pinned.frame, name)
        view = f"_lipstick_{self._id}_{plain_word(name)}"
        if view in self._views:
            view += f"_{len(self._views)}"
        self._views.put(rows.frame, view)
        tracked = Tracked(
            name,
            pinned,
            view,
            rows.naming,
            rows.token,
            pinned.frame.schema,
            rows.verified,
            rows.files,
            (rows.token,) if rows.naming is Naming.KEY and rows.verified else (),
            derived,
            stream,
            copied,
        )
        self._tracked[name.lower()] = tracked
        return tracked

    def track_derived(self, pinned: Source, derivation: Derivation) -> Tracked:
        """Track the table that an annotated query wrote, replacing its namesake; see ``write``."""
        files = tuple(file for part in derivation.parts for file in part.files)
        rows = NamedRows(relation_rows(self.spark, derivation), *naming_of(derivation), files)
        tracked = self._track(derivation.name, pinned, rows, derivation.path)
        if self.exports is not None:
            self.exports.export(derivation, pinned)
        return tracked

    def catalog(self) -> SessionCatalog:
        """Return what names mean at this moment."""
        return SessionCatalog(self.spark, self._tracked, self.version_views)

    def by_relation(self, values: Mapping[str, T]) -> dict[str, T]:
        """Return values by tracked relations, by any names of them, their tables or views."""
        catalog, found = self.catalog(), dict[str, T]()
        for name, value in values.items():
            known = name.lower() in self._tracked or "@" in name
            parts = () if known else tuple(name_parts(name))
            relation = catalog.relation(parts) if parts else None
            if relation is None and parts:
                view = quoted_name(parts)
                relation = relation_of_view(self.spark, view, self._tracked.values())
            found[name if relation is None else relation.name] = value
        return found

    def untrack(self, name: str) -> None:
        """Forget a relation. Annotated frames and captures of it stay as they are."""
        self.check_open()
        self._catch_up()
        tracked = self._tracked.pop(name.lower(), None)
        if tracked is None:
            known = ", ".join(sorted(self.tracked)) or "none"
            raise TrackingError(f"{name!r} is not tracked. Tracked relations: {known}.")
        self._forget(tracked)

    def add_view(self, frame: DataFrame, name: str) -> None:
        """Make a temporary view under a name that nobody else uses; it is dropped in the end."""
        check_name(name)
        self._views.put(frame, name)

    # -- queries ---------------------------------------------------------------------------

    def sql(self, query: str, args: Arguments = None) -> AnnotatedFrame:
        """Annotate a SQL query over tracked relations.

        Nothing runs yet, but for levels of a recursive query, to find out how many it has.

        ``CREATE TABLE t AS`` and ``INSERT INTO`` or ``OVERWRITE t`` do run: the table is written
        and tracked, as by :attr:`lipstick.AnnotatedFrame.write`. Returned is the query that made
        its rows. So do statements on tracked tables of Delta and Iceberg, whose next version is
        tracked and returned; :attr:`history` follows it (``docs/histories.md``).

        Raises
        ------
        QueryError
            When Spark does not accept the text, or the query has no rewrite rule, was not
            understood, or reads untracked relations.
        SourceChangedError
            When a source is not what it was when it was tracked.
        TrackingError
            When a table cannot be written; see :meth:`lipstick.AnnotatedFrame.write`.
        """
        self.check_open()
        query = with_variables(self.spark, query)
        check_settings(self.spark, query)
        frame = self._statement(query, args)
        if frame is None and (write := read_write(query)) is not None:
            frame = self._write(write, args)
        return self._annotated(query, args, query) if frame is None else frame

    def _write(self, write: Write, args: Arguments) -> AnnotatedFrame:
        """Run the query of a statement that writes a table, and track the table."""
        frame = self._annotated(write.query, args, write.query.strip())
        target = Target.of(write)

        def emit(rows: DataFrame) -> None:
            view = f"_lipstick_written_{uuid.uuid4().hex[:8]}"
            rows.drop(*target.replaced).createOrReplaceTempView(view)
            try:
                self.spark.sql(write.of_view(view))
            finally:
                self.spark.catalog.dropTempView(view)

        write_answer(self, frame, target, emit)
        return frame

    def _annotated(
        self, query: str, args: Arguments, shown: str, *, verify: bool = True
    ) -> AnnotatedFrame:
        """Annotate a query; ``shown`` is its text without the blanks that keep its place.

        Keys of versions that statements made are verified when a query first reads them. Without
        ``verify``, its relations were looked at just now.
        """
        self._define_versions(query)
        with readable_types(), naming_settings(self.spark), self._views.in_force():
            try:
                prepared = prepare(query, args, self._surroundings, shown)
                if verify and self._verify_read(AnnotatedFrame(self, prepared)):
                    prepared = prepare(query, args, self._surroundings, shown)
            except QueryError:
                check_columns(self.spark, (t for t in self._tracked.values() if t.name in query))
                raise
            with reading(query, accepted=True):
                return self._frame(prepared) if verify else AnnotatedFrame(self, prepared)

    # -- statements that changed tables: a session that knows none; see `lipstick.histories` ---

    def _statement(self, query: str, args: Arguments) -> AnnotatedFrame | None:
        """Run a statement on a tracked table, and return its rows; None if the text is none."""
        return None

    def _define_versions(self, query: str) -> None:
        """Define the versions of tables, such as ``orders@2``, that a query reads by name."""

    def _verify_read(self, frame: AnnotatedFrame) -> bool:
        """Return True if a relation of the query is known better than when it was prepared."""
        return False

    def _catch_up(self) -> None:
        """Follow what has run so far, before other relations are tracked."""

    def _forget(self, tracked: Tracked) -> None:
        """Go on without a relation that is not tracked any more."""

    def _history_of(self, relations: Iterable[str]) -> StatementHistory | None:
        """Return the history that made one of some relations, None if there is none."""
        return None

    def filtered(self, query: PreparedQuery, condition: str) -> AnnotatedFrame:
        """Annotate the rows of a query's answer that a condition over its columns selects."""
        self.check_open()
        answer = query.shown.strip().rstrip(";")
        text = f"SELECT * FROM (\n{answer}\n) WHERE {condition}"
        return self._annotated(text, query.args, text)

    def _frame(self, query: PreparedQuery) -> AnnotatedFrame:
        """Return the annotated answer of a query over sources that are as they were tracked."""
        frame = AnnotatedFrame(self, query)
        if any(tracked.stream is not None for tracked in frame.plan.relations.values()):
            frame = stream_tracker().follow(self, query)
        self.check_sources(frame.plan.relations.values())
        check_columns(self.spark, frame.plan.relations.values())
        for tracked in frame.plan.relations.values():
            if self._views.is_replaced(tracked.name):
                raise SourceChangedError(
                    f"{tracked.name!r} stands for another view than when it was tracked.\n"
                    "Annotations of the old and the new rows must not mix: "
                    f"untrack({tracked.name!r}), then track it again."
                )
        return frame

    def annotate(self, frame: DataFrame) -> AnnotatedFrame:
        """Annotate a data frame over tracked relations, built by whatever ordinary calls.

        The frame's analysed plan is written as Spark SQL over the tracked relations, Spark proves
        that this is the same query, and it is annotated as :meth:`sql` does: ``query`` of the
        annotated frame is that text, and so are the places in errors.

        A tracked relation is found by its plan: the very frame that was tracked, another that
        reads the same files, or a table or view of its name. Frames that were cached are looked
        through; frames of ``checkpoint()`` or ``createDataFrame`` must be tracked themselves.
        Functions made by ``udf()`` are registered under names of their own.

        Parameters
        ----------
        frame
            A data frame, or a frame of pandas on Spark.

        Raises
        ------
        QueryError
            When an operator or expression has no rule (``randomSplit``, ...), when rows are read
            that are not tracked, or when the frame is not understood.
        SourceChangedError
            When a source is not what it was when it was tracked.
        """
        self.check_open()
        plain = plain_frame(frame)
        if not hasattr(plain, "_jdf"):
            # Over Connect a frame's names are resolved each time that it runs.
            check_names(self.spark, plain, filter(self._views.is_covered, self.tracked))
        with self._views.in_force():
            return self.sql(query_text(self.spark, plain, self._tracked.values()))

    def plain(self, query: PreparedQuery) -> DataFrame | None:
        """Return a query as Spark answers it, over the relations of this session.

        None: over Spark Connect, where names of a view's text are resolved each time it runs.
        """
        if hasattr(self.spark, "_jsparkSession"):
            with self._views.in_force():
                return self.spark.sql(text(query.expression))
        if query.over_views:
            return None
        return self.spark.sql(text(dialect.with_views(query.expression, self._views.pinned)))

    def register(self, name: str, function: Any) -> None:
        """Register a function with Spark, under a name for queries, as ``spark.udf`` does.

        It must be deterministic. A table function with a return type may then be called over a
        relation, ``f(TABLE(t) PARTITION BY k ORDER BY o)``: a black box over each partition, which
        is handed to it at once. Its rows depend on all rows of their partition. Such queries call
        ``f_of_rows``, which is registered too.

        Parameters
        ----------
        function
            Made by ``udf``, ``pandas_udf``, ``arrow_udf`` or ``udtf`` of ``pyspark.sql.functions``.

        Raises
        ------
        TrackingError
            For the name of a function of Spark's.
        """
        self.check_open()
        self._tables.pop(name.lower(), None)
        if (table := register_function(self.spark, name, function)) is not None:
            self._tables[name.lower()] = table

    def check_sources(self, relations: Iterable[Tracked]) -> None:
        """Check that relations of the session have the files that they had when tracked.

        Raises
        ------
        LipstickError, SourceChangedError
        """
        self.check_open()
        with self._views.in_force():
            for tracked in relations:
                later = self.later_version(tracked)
                check_unchanged(self.spark, tracked.name, (later or tracked).source)

    def is_current(self, tracked: Tracked) -> bool:
        """Return True if queries still mean a relation by its name."""
        return self._tracked.get(tracked.name.lower()) is tracked

    def later_version(self, tracked: Tracked) -> Tracked | None:
        """Return a later version of a derived relation that the session wrote; None: there is none.

        The table has the rows of the later version, the provenance the rows of both."""
        latest = self._tracked.get(tracked.name.lower(), tracked)
        own, last = tracked.derived, latest.derived
        same = own is not None and last is not None and own.parent == last.parent
        return latest if same and own != last else None

    # -- end -------------------------------------------------------------------------------

    def check_open(self) -> None:
        """Raise :class:`LipstickError` if the session was closed, or Spark stopped."""
        if self._closed or is_stopped(self.spark):
            raise LipstickError(
                f"The {'session was closed' if self._closed else 'Spark session was stopped'}: its "
                "views and the captures in its store are gone.\n"
                "Open another one, lipstick.session(spark), and track the relations there. "
                "Captures that save(path) wrote are opened by lipstick.open(path)."
            )

    def close(self) -> None:
        """Drop the session's views and temporary files, and Spark if the session started it.

        Views of the user's that had the name of a relation are there again.
        """
        if self._closed:
            return
        self._closed = True
        self._views.drop()
        self._tracked.clear()
        if self._temporary:
            shutil.rmtree(self.store, ignore_errors=True)
        if self._owns_spark:
            self.spark.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._closed:
            return "<lipstick session, closed>"
        relations = ", ".join(sorted(self.tracked)) or "nothing yet"
        return f"<lipstick session, tracking {relations}>"

    def _repr_html_(self) -> str:
        return display.session_html(self)


def _check_options(
    name: str, key: str | Sequence[str] | None, *, streams: bool, written: bool, chosen: bool
) -> None:
    """Refuse options of `track` that do not go together.

    Parameters
    ----------
    chosen
        The source is copied, or its tuples are annotated 1.
    """
    if streams and (chosen or written or key == "*"):
        raise TrackingError(
            f"{name!r} is a stream: materialize, derived, provenance and key='*' are of relations "
            "that stand still.\nGive it a key, or track a stream of Parquet files without one."
        )
    if written and (chosen or key is not None):
        raise TrackingError(
            f"track({name!r}, derived=...) takes no key: rows are named as they were when they "
            "were written."
        )


def _tracked_already(name: str) -> TrackingError:
    return TrackingError(
        f"{name!r} is tracked already.\nGive replace=True to track this in its place, or choose "
        "another name."
    )
