"""The catalog of a session: resolves names to tracked relations, and to views, read as their text.

A temporary view of a data frame has none: it is annotated as the frame is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick.dataframes import query_text
from lipstick.dataframes.streaming import uppermost
from lipstick.stages.settings import COLLATION, PLAIN_COLLATION
from lipstick.tracking.formats.probe import versioned_table
from lipstick.tracking.names import Identity, identity_of, is_table, plain_name
from lipstick.tracking.states import local_path
from lipstick.tracking.tracker import Tracked
from lipstick.tracking.views import is_temporary, quoted_name
from rewriter import TrackedRelation, Type, Variable, ViewText
from rewriter.dialect import name_parts
from rewriter.dialect.renames import qualify_relations
from rewriter.errors import UntrackedError
from rewriter.frames.writing.literals import sql_type

_COLUMNS_IN_FILES = frozenset({"orc", "parquet"})
"""Formats whose files have names and types of columns, which no option of a reader changes."""

_VIEW_TEXT = "View Text"
_VIEW_NAMESPACE = "View Catalog and Namespace"


def relation_of(
    spark: SparkSession, parts: Sequence[str], tracked: Mapping[str, Tracked]
) -> Tracked | None:
    """Return the tracked relation that a name means: by its own name, or by that of its table.

    None: none is found by the name in the catalog.

    Parameters
    ----------
    tracked
        The relations of a session, by name in lower case.
    """
    own = tracked.get(".".join(parts).lower())
    if own is not None and not own.called_as_its_table:
        return own
    identity = identity_of(spark, parts)
    if own is not None and identity in (None, own.source.identity):
        return own
    return relation_of_table(identity, tracked)


def relation_of_table(identity: Identity | None, tracked: Mapping[str, Tracked]) -> Tracked | None:
    """Return the tracked relation of a table of the catalog; None: it is not tracked.

    Of several versions that are tracked it is the current one, else the last that was tracked.
    Versions that were asked for, and earlier ones of histories, ``orders@0``, are not meant by the
    name of their table.
    """
    if not is_table(identity):
        return None
    named = (t for name, t in tracked.items() if "@" not in name and not t.source.stays)
    found = [each for each in named if each.source.identity == identity]
    if len(found) > 1 and (table := found[0].source.version) is not None:
        now = table.current()
        found.sort(key=lambda each: each.source.versions[0].version == now)
    return found[-1] if found else None


class SessionCatalog:
    """Resolves names against a session's tracked relations, then against Spark's views."""

    def __init__(
        self,
        spark: SparkSession,
        tracked: Mapping[str, Tracked],
        versions: Mapping[str, ViewText] | None = None,
    ) -> None:
        self._spark = spark
        self._tracked = tracked
        self._versions = versions or {}
        self._relations: dict[tuple[str, ...], Tracked | None] = {}
        self._views: dict[tuple[str, ...], ViewText | None] = {}
        self.columns: set[str] = set()
        """The columns of the relations that names have been resolved to."""

    @property
    def tracked(self) -> Mapping[str, Tracked]:
        """The tracked relations by name in lower case."""
        return self._tracked

    @property
    def views(self) -> list[ViewText]:
        """The views that names have been resolved to."""
        return [view for view in self._views.values() if view is not None]

    def resolve(self, parts: tuple[str, ...]) -> TrackedRelation | ViewText | None:
        """Return what a dotted name stands for, or None if it is not tracked.

        Raises
        ------
        QueryError
            For a view of a data frame that reads tracked relations and has no text.
        """
        tracked = self.relation(parts)
        if tracked is not None:
            self.columns.update(tracked.columns)
            return TrackedRelation(tracked.name, tracked.columns, tracked.marks)
        if parts not in self._views:
            self._views[parts] = self._versions.get(".".join(parts).lower()) or self._view(parts)
        return self._views[parts]

    def relation(self, parts: tuple[str, ...]) -> Tracked | None:
        """Return the tracked relation of a name, by its own or that of its table; else None."""
        if parts not in self._relations:
            found = relation_of(self._spark, parts, self._tracked)
            if found is None and "/" in parts[-1]:
                found = self._at_path(parts)
            self._relations[parts] = found
        return self._relations[parts]

    def _at_path(self, parts: tuple[str, ...]) -> Tracked | None:
        """Return the relation of a table with versions, or of files, that a name gives by path."""
        named = [t for name, t in self._tracked.items() if "@" not in name and not t.source.stays]
        format, path = parts[0].lower(), parts[-1]
        if format in _COLUMNS_IN_FILES:
            wanted = (format, local_path(path) or path)
            places = ((t, t.source.place or "") for t in named if t.source.format == format)
            files = [t for t, place in places if (format, local_path(place) or place) == wanted]
            schema = self._spark.table(quoted_name(parts)).schema if files else None
            return next((t for t in files if t.source.frame.schema == schema), None)
        found = versioned_table(self._spark, plain_name(parts))
        at = None if found is None else (found[0].format, found[0].identity)
        tables = ((each, each.source.version) for each in named)
        return next((t for t, own in tables if own and (own.format, own.identity) == at), None)

    def variable(self, parts: tuple[str, ...]) -> Variable | None:
        """Return the session variable of a name that is not a column's; None if there is none."""
        name = quoted_name(parts)
        try:
            row = self._spark.sql(f"SELECT CAST({name} AS STRING), typeof({name})").head()
        except PySparkException:
            return None
        return None if row is None else Variable(row[0], row[1])

    def made_columns(self, function: str) -> tuple[str, ...] | None:
        """Return the columns of the rows that a registered function makes; None if not known.

        A call without arguments has them too, unless the function finds them by its arguments.
        """
        try:
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
            [column] = self._spark.sql(query).schema
        except PySparkException:
            return None
        return sql_type(column.dataType.jsonValue())

    def _view(self, parts: tuple[str, ...]) -> ViewText | None:
        name, quoted = ".".join(parts), quoted_name(parts)
        identity = identity_of(self._spark, parts)
        found: dict[str, str] = {}
        try:
            frame = self._spark.table(quoted)
            frame.schema  # noqa: B018 - Connect resolves the name here
            if identity is not None:
                rows = self._spark.sql(f"DESCRIBE TABLE EXTENDED {quoted}").collect()
                found = {row["col_name"]: row["data_type"] for row in rows}
        except PySparkException:
            return None
        text = found.get(_VIEW_TEXT)
        if text is not None:
            # Spark resolves the names of its text where the view was created.
            namespace = name_parts(found.get(_VIEW_NAMESPACE) or "")
            permanent = is_table(identity)
            if permanent or namespace not in ([""], self._namespace()):
                full_name = partial(self._full_name, namespace, permanent=permanent)
                text = qualify_relations(text, full_name)
            view = ViewText(name, text, tuple(frame.columns))
            return self._as_made(view, frame, quoted) if permanent else view
        below, distinct, watermark = uppermost(frame)
        try:
            written = query_text(self._spark, below, self._tracked.values())
        except UntrackedError:
            return None
        return ViewText(name, written, tuple(frame.columns), distinct, watermark)

    def _as_made(self, view: ViewText, frame: DataFrame, quoted: str) -> ViewText:
        """Return a permanent view with the settings, the columns and the types that it was made by.

        Its tables may have got further columns, or other types, since.
        """
        described = self._spark.sql(f"DESCRIBE TABLE EXTENDED {quoted} AS JSON").collect()[0][0]
        made = json.loads(described)
        settings = made.get("view_creation_spark_configuration") or {}
        settings = {**settings, COLLATION: made.get("collation") or PLAIN_COLLATION}
        view = replace(view, settings=settings)
        try:
            now = self._spark.sql(view.text).schema
        except PySparkException:  # as it may be by the settings of the session
            return view
        # A view WITH SCHEMA EVOLUTION has those that its text has by now.
        read = made.get("view_query_output_columns") or now.names
        pairs = list(zip(read, frame.schema, strict=True))
        if [(column.name.lower(), column.dataType) for column in now] == [
            (name.lower(), column.dataType) for name, column in pairs
        ]:
            return view
        items = ", ".join(
            f"CAST({quoted_name([name])} AS {column.dataType.simpleString()})"
            f" AS {quoted_name([column.name])}"
            for name, column in pairs
        )
        return replace(view, text=f"SELECT {items} FROM (\n{view.text}\n)")

    def _namespace(self) -> list[str]:
        """Return the current catalog and schema."""
        # Not in SQL: a query of these names is a job of Spark.
        catalog = self._spark.catalog
        return [catalog.currentCatalog(), *name_parts(catalog.currentDatabase())]

    def _full_name(
        self, namespace: Sequence[str], parts: Sequence[str], *, permanent: bool
    ) -> Sequence[str]:
        """Return the full name that a name has for a view that was created in a namespace.

        A permanent view reads no temporary ones.
        """
        if len(parts) == 1:
            if not permanent and is_temporary(self._spark, quoted_name(parts)):
                return parts
            return [*namespace, *parts]
        is_catalog = parts[0].lower() == "spark_catalog" or self._spark.conf.get(
            f"spark.sql.catalog.{parts[0]}", None
        )
        return parts if is_catalog or "/" in parts[-1] else [namespace[0], *parts]


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
            self._spark.sql(query).schema  # noqa: B018 - Connect analyses here
        except PySparkException as error:
            # A function that takes other arguments is refused otherwise.
            return error.getCondition() == "GROUP_BY_AGGREGATE"
        return False
