"""The catalog of a session: resolves names to tracked relations, and to views, read as their text.

A temporary view of a data frame has none: it is annotated as the frame is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lipstick.dataframes import query_text
from lipstick.dataframes.streaming import uppermost
from lipstick.engines.spark.local_session import unlogged_errors
from lipstick.tracking.tracker import Tracked
from lipstick.tracking.views import is_temporary, quoted_name
from rewriter import TrackedRelation, Type, Variable, View, dialect
from rewriter.dialect import name_parts
from rewriter.dialect.renames import qualify_relations
from rewriter.errors import UnsupportedError, UntrackedError
from rewriter.frames.writing.literals import sql_type

_VIEW_TEXT = "View Text"
_VIEW_NAMESPACE = "View Catalog and Namespace"


class SessionCatalog:
    """Resolves names against a session's tracked relations, then against Spark's views."""

    def __init__(
        self,
        spark: SparkSession,
        tracked: Mapping[str, Tracked],
        versions: Mapping[str, View] | None = None,
    ) -> None:
        self._spark = spark
        self._tracked = tracked
        self._versions = versions or {}
        self._views: dict[str, View | None] = {}
        self.columns: set[str] = set()
        """The columns of the relations that names have been resolved to."""

    @property
    def views(self) -> list[View]:
        """The views that names have been resolved to."""
        return [view for view in self._views.values() if view is not None]

    def resolve(self, parts: tuple[str, ...]) -> TrackedRelation | View | None:
        """Return what a dotted name stands for, or None if it is not tracked.

        Raises
        ------
        QueryError
            For a view of a data frame that reads tracked relations and has no text.
        """
        name = ".".join(parts)
        tracked = self._tracked.get(name.lower()) or self._tracked_table(parts)
        if tracked is not None:
            self.columns.update(tracked.columns)
            return TrackedRelation(tracked.name, tracked.columns, tracked.marks)
        if name.lower() not in self._views:
            self._views[name.lower()] = self._versions.get(name.lower()) or self._view(name)
        return self._views[name.lower()]

    def variable(self, parts: tuple[str, ...]) -> Variable | None:
        """Return the session variable of a name that is not a column's; None if there is none."""
        name = quoted_name(parts)
        try:
            with unlogged_errors():
                row = self._spark.sql(f"SELECT CAST({name} AS STRING), typeof({name})").head()
        except PySparkException:
            return None
        return None if row is None else Variable(row[0], row[1])

    def made_columns(self, function: str) -> tuple[str, ...] | None:
        """Return the columns of the rows that a registered function makes; None if not known.

        A call without arguments has them too, unless the function finds them by its arguments.
        """
        try:
            with unlogged_errors():
                return tuple(self._spark.sql(f"SELECT * FROM {quoted_name([function])}()").columns)
        except PySparkException:
            return None

    def column_type(self, relation: str, column: str) -> Type | None:
        """Return the type of a column of a tracked relation."""
        schema = self._tracked[relation.lower()].schema
        return sql_type(schema[column].dataType.jsonValue())

    def type_of(self, query: str) -> Type | None:
        """Return the type of the one column of a query; None if Spark does not understand it."""
        try:
            with unlogged_errors():
                [column] = self._spark.sql(query).schema
        except PySparkException:
            return None
        return sql_type(column.dataType.jsonValue())

    def _view(self, name: str) -> View | None:
        quoted = quoted_name(name.split("."))
        try:
            with unlogged_errors():
                rows = self._spark.sql(f"DESCRIBE TABLE EXTENDED {quoted}").collect()
        except PySparkException:
            return None
        found = {row["col_name"]: row["data_type"] for row in rows}
        frame = self._spark.table(quoted)
        text = found.get(_VIEW_TEXT)
        if text is not None:
            namespace = name_parts(found.get(_VIEW_NAMESPACE) or "")
            if namespace not in ([""], self._namespace()):
                # Spark resolves the names of its text where the view was created.
                text = qualify_relations(text, partial(self._full_name, namespace))
            elif not is_temporary(self._spark, name):
                self._check_tables(name, text)
            return View(name, text, tuple(frame.columns))
        below, distinct, watermark = uppermost(frame)
        try:
            written = query_text(self._spark, below, self._tracked.values())
        except UntrackedError:
            return None
        return View(name, written, tuple(frame.columns), distinct, watermark)

    def _namespace(self) -> list[str]:
        """Return the current catalog and schema."""
        # Not in SQL: a query of these names is a job of Spark.
        catalog = self._spark.catalog
        return [catalog.currentCatalog(), *name_parts(catalog.currentDatabase())]

    def _full_name(self, namespace: Sequence[str], parts: Sequence[str]) -> Sequence[str]:
        """Return the full name that a name has for a view that was created in a namespace."""
        if len(parts) == 1:
            return [*namespace, *parts]
        is_catalog = parts[0].lower() == "spark_catalog" or self._spark.conf.get(
            f"spark.sql.catalog.{parts[0]}", None
        )
        return parts if is_catalog or "/" in parts[-1] else [namespace[0], *parts]

    def _tracked_table(self, parts: Sequence[str]) -> Tracked | None:
        """Return the relation of a full name that is tracked by a shorter one of its table."""
        if len(parts) < 3:
            return None
        full = [part.lower() for part in parts]
        here = [part.lower() for part in self._namespace()]
        for shared in range(1, len(full)):
            short = ".".join(full[shared:])
            tracked = self._tracked.get(short)
            is_table = tracked is not None and (tracked.source.table or "").lower() == short
            if is_table and here[:shared] == full[:shared]:
                return tracked
        return None

    def _check_tables(self, view: str, text: str) -> None:
        """Refuse a permanent view if a name in its text is another relation in this session.

        Spark resolves the names in its text without temporary views.
        """
        for name in sorted(dialect.relation_names(dialect.parse(text))):
            tracked = self._tracked.get(name)
            of_table = tracked is not None and (tracked.source.table or "").lower() == name
            if not of_table and (tracked is not None or is_temporary(self._spark, name)):
                stands_for = "a temporary view" if tracked is None else tracked.source.description
                raise UnsupportedError(
                    f"the view {view} reads the table {name}, and {name} is {stands_for} here",
                    f"Track the table, ls.track({name!r}, ...), or read it by another name.",
                )


class RegisteredFunctions:
    """The functions of a SparkSession: a container of their names.

    Spark's own are in it too, and are known before it is asked. The others are taken for
    deterministic functions of one row, black boxes otherwise; of classic sessions it is known where
    one is not deterministic.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._known: dict[str, bool] = {}

    def __contains__(self, name: object) -> bool:
        known = str(name).lower()
        if known not in self._known:
            self._known[known] = self._spark.catalog.functionExists(known)
        return self._known[known]

    @property
    def aggregates(self) -> RegisteredAggregates:
        """The aggregates among the functions: functions of a group's bag instead of a row."""
        return RegisteredAggregates(self._spark, self)

    @property
    def used(self) -> tuple[str, ...]:
        """The registered functions that were asked for so far."""
        return tuple(sorted(name for name, exists in self._known.items() if exists))


class RegisteredAggregates:
    """The aggregate functions that a SparkSession has beside Spark's own: a container of names.

    Spark identifies them by refusing them in GROUP BY.
    """

    def __init__(self, spark: SparkSession, functions: RegisteredFunctions) -> None:
        self._spark = spark
        self._functions = functions
        self._known: dict[str, bool] = {}

    def __contains__(self, name: object) -> bool:
        known = str(name).lower()
        if known not in self._known:
            self._known[known] = known in self._functions and self._aggregates(known)
        return self._known[known]

    def _aggregates(self, name: str) -> bool:
        query = f"SELECT count(*) FROM range(1) GROUP BY `{name}`(id)"
        try:
            with unlogged_errors():
                self._spark.sql(query).schema  # noqa: B018 - Connect analyses here
        except PySparkException as error:
            # A function that takes other arguments is refused otherwise.
            return error.getCondition() == "GROUP_BY_AGGREGATE"
        return False
