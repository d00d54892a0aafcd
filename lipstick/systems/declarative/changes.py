"""AUTO CDC flows as queries over the changes that they have merged so far.

A flow takes changes in any order, and its table has the result of their order by sequence: the last
state of each key (SCD type 1), or its states with the sequences between which each was current
(type 2). Two changes of a key with the same sequence are undefined in Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from lipstick.dataframes.jvm import Plan, elements, frame_of, jvm_of
from lipstick.tracking.views import column_of
from semiring.errors import LipstickError

_START, _END, _METADATA = "__START_AT", "__END_AT", "__spark_autocdc_metadata"
_AT, _DELETED, _HEAD, _HIDDEN = (f"__lipstick_{n}" for n in ("at", "deleted", "head", "hidden"))


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of columns to include, or to exclude; None: all are included."""

    taken: Sequence[str] | None
    left_out: Sequence[str] | None

    def of(self, names: Sequence[str]) -> list[str]:
        """Return the included names, in their order."""
        taken = {name.lower() for name in self.taken or names}
        left_out = {name.lower() for name in self.left_out or ()}
        return [n for n in names if n.lower() in taken and n.lower() not in left_out]


@dataclass(frozen=True, slots=True)
class ChangeFlow:
    """An AUTO CDC flow: the parameters of ``create_auto_cdc_flow`` that determine its table."""

    source: Callable[[], DataFrame]
    keys: Sequence[str]
    sequence: Column
    deletion: Column | None
    columns: _Names
    tracked: _Names
    is_history: bool

    @classmethod
    def of_python(cls, spark: SparkSession, flow: Any) -> ChangeFlow:
        """Return the flow defined by a PySpark call."""

        def names(columns: Sequence[Any] | None) -> list[str] | None:
            return None if not columns else _names_of([_classic(each) for each in columns])

        return cls(
            lambda: spark.table(flow.source),
            names(flow.keys) or [],
            _classic(flow.sequence_by),
            None if flow.apply_as_deletes is None else _classic(flow.apply_as_deletes),
            _Names(names(flow.column_list), names(flow.except_column_list)),
            _Names(
                names(flow.track_history_column_list), names(flow.track_history_except_column_list)
            ),
            str(flow.stored_as_scd_type) == "2",
        )

    @classmethod
    def of_sql(cls, spark: SparkSession, operation: Plan) -> ChangeFlow:
        """Return the flow of a statement, as parsed by Spark."""
        utilities = jvm_of(spark).org.apache.spark.sql.classic.ExpressionUtils

        def column(expression: Plan) -> Column:
            return _of_jvm(utilities.column(expression))

        def names(columns: Plan) -> list[str] | None:
            if not columns.isDefined():
                return None
            return [str(elements(each.nameParts())[-1]) for each in elements(columns.get())]

        deletion = operation.deleteCondition()
        return cls(
            lambda: frame_of(spark, operation.source()),
            [str(elements(key.nameParts())[-1]) for key in elements(operation.keys())],
            column(operation.sequenceByExpr()),
            column(deletion.get()) if deletion.isDefined() else None,
            _Names(names(operation.includeColumns()), names(operation.excludeColumns())),
            _Names(
                names(operation.trackHistoryColumns()), names(operation.trackHistoryExceptColumns())
            ),
            operation.storedAsScdType() == 2,
        )

    def rows(self) -> DataFrame:
        """Return the rows of the table, in the order of its columns, before streams become
        batches.
        """
        source = self.source()
        deleted = F.lit(False) if self.deletion is None else self.deletion
        shown = self.columns.of(source.columns)
        events = source.select(
            *(column_of(name) for name in source.columns),
            self.sequence.alias(_AT),
            F.coalesce(deleted, F.lit(False)).alias(_DELETED),
        )
        rows = self._states(events, shown) if self.is_history else self._last(events)
        return rows.select(*map(column_of, shown), *rows.columns[len(events.columns) :])

    def _last(self, events: DataFrame) -> DataFrame:
        latest = Window.partitionBy(*map(column_of, self.keys)).orderBy(F.desc(_AT))
        rows = events.withColumn(_HEAD, F.row_number().over(latest))
        rows = rows.where((F.col(_HEAD) == 1) & ~F.col(_DELETED)).drop(_HEAD)
        kind = events.schema[_AT].dataType
        return rows.withColumn(
            _METADATA,
            F.struct(
                F.lit(None).cast(kind).alias("deleteSequence"), F.col(_AT).alias("upsertSequence")
            ),
        )

    def _states(self, events: DataFrame, shown: Sequence[str]) -> DataFrame:
        """Return the last event of each run of equal states, with the begin and end of its
        state.
        """
        keys = {name.lower() for name in self.keys}
        tracked = self.tracked.of([name for name in shown if name.lower() not in keys])
        order = Window.partitionBy(*map(column_of, self.keys)).orderBy(_AT, _DELETED)

        def continued(neighbour: Callable[[Column], Column]) -> Column:
            """Return True if the neighbouring event in the order has the same state."""
            same = neighbour(F.col(_DELETED)).eqNullSafe(False)
            for name in tracked:
                same = same & column_of(name).eqNullSafe(neighbour(column_of(name)))
            return same

        before = continued(lambda value: F.lag(value).over(order))
        after = continued(lambda value: F.lead(value).over(order))
        until = F.lead(F.col(_AT)).over(order)
        rows = events.withColumns(
            {_HEAD: F.when(~before, F.col(_AT)), _HIDDEN: after, _END: until}
        ).where(~F.col(_DELETED))
        began = F.max(_HEAD).over(order.rowsBetween(Window.unboundedPreceding, 0))
        rows = rows.withColumn(_START, began).where(
            ~F.col(_HIDDEN) & ~F.col(_AT).eqNullSafe(F.col(_END))
        )
        metadata = F.struct(F.col(_AT).alias("__RECORD_START_AT")).alias(_METADATA)
        columns = [column_of(name) for name in events.columns]
        return rows.select(*columns, F.col(_START), F.col(_END), metadata)


def _names_of(columns: Sequence[Column]) -> list[str]:
    return [str(cast("Any", column)._jc.node().nameParts().last()) for column in columns]


def _classic(column: Any) -> Column:
    """Return a column for a classic session: PySpark makes columns for Spark Connect of texts."""
    if hasattr(column, "_jc"):
        return cast("Column", column)
    expression = column._expr
    if hasattr(expression, "_unparsed_identifier"):
        return F.col(expression._unparsed_identifier)
    if isinstance(getattr(expression, "_expr", None), str):
        return F.expr(expression._expr)
    raise LipstickError("its columns are of Spark Connect: give them as text")


def _of_jvm(column: Any) -> Column:
    from pyspark.sql.classic.column import Column as ClassicColumn

    return cast("Column", ClassicColumn(column))
