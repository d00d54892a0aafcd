"""Reenactment: the rows of a table after a statement, as a query over the earlier rows.

=====================  =========================================================================
DELETE WHERE c         the rows for which c is not true
UPDATE SET a = e       all rows, with ``CASE WHEN c THEN e ELSE a END`` for a
INSERT INTO            the rows before, and the rows of the query (UNION ALL)
INSERT OVERWRITE       the rows of the query, and the rows before that it does not replace
MERGE                  the rows before, each joined with the row of the source that it matches,
                       with the first clause that applies; and the rows of the source that match
                       none, as the first clause that applies inserts them
=====================  =========================================================================

Values are cast to the types of their columns, as Spark's store assignment does in ANSI mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.dialect import emit, parse
from rewriter.statements.merge import MergeWriter
from rewriter.statements.model import (
    Assignment,
    Delete,
    Insert,
    Matching,
    MergeInto,
    Replace,
    Statement,
    TableShape,
    Truncate,
    Update,
)
from rewriter.statements.scope import check_repeatable, has_query
from rewriter.statements.templates import for_all_views
from rewriter.statements.writer import (
    Reenactment,
    Relations,
    StatementWriter,
    bag_union,
    column_of,
    first_case,
)


@for_all_views
def reenact(
    statement: Statement,
    shape: TableShape,
    relations: Relations,
    source: TableShape | None = None,
    *,
    dynamic: bool = False,
) -> Reenactment:
    """Return the rows of a table after a statement, as a query over the rows before.

    Parameters
    ----------
    shape
        The table's columns.
    source
        The columns of :func:`source_query`, for statements that have one.
    dynamic
        INSERT OVERWRITE replaces the partitions of its rows alone
        (``spark.sql.sources.partitionOverwriteMode``).

    Raises
    ------
    UnsupportedError
        For forms without a rule: fields of structs assigned one by one, subqueries in conditions
        of MERGE, rows that are inserted into a table with an identity column.
    """
    written = _Reenacting(statement, shape, relations, source, dynamic).reenactment()
    if isinstance(statement, Delete | Truncate):
        return written
    return replace(written, rows=_with_generated(written.rows, shape))


def _with_generated(rows: str, shape: TableShape) -> str:
    """Return rows of a table with the values of its generated columns."""
    if all(column.generated is None for column in shape.columns):
        return rows
    values = [
        exp.column(exp.to_identifier(column.name, quoted=True))
        if column.generated is None
        else exp.alias_(
            parse(f"SELECT CAST(({column.generated}) AS {column.type})").expressions[0].copy(),
            column.name,
            quoted=True,
        )
        for column in shape.columns
    ]
    return emit(exp.select(*values).from_(parse(rows).subquery("_lipstick_rows")))


class _Reenacting(StatementWriter):
    """Writes the reenactment of a statement of any kind."""

    def reenactment(self) -> Reenactment:
        computed = [column.name for column in self._shape.columns if column.computed]
        inserts = isinstance(self._statement, Insert | Replace) or (
            isinstance(self._statement, MergeInto) and self._statement.of(Matching.BY_TARGET)
        )
        if computed and inserts:
            raise self._unsupported(
                f"the table numbers its rows in the column {computed[0]!r}",
                "Statements that insert no rows are reenacted over tables with identity columns.",
            )
        check_repeatable(self._statement)
        match self._statement:
            case Delete(condition=condition):
                return self._rows(self._deleted(condition), self._touched(condition))
            case Truncate(partition=partition):
                condition = self._in_partition(partition)
                return self._rows(self._deleted(condition), self._touched(condition))
            case Update(condition=condition):
                return self._rows(self._updated(self._statement), self._touched(condition))
            case Insert():
                touched = self._replaced(self._statement)
                return self._rows(self._inserted(self._statement), touched)
            case Replace():
                return self._rows(self._from_source(self._by_place(self._shape.columns)))
            case MergeInto():
                writer = MergeWriter(
                    self._statement, self._shape, self._relations, self._source, self._dynamic
                )
                return writer.merged(self._statement)

    def _deleted(self, condition: exp.Expr | None) -> exp.Select:
        return self._not(self._all(), condition)

    def _updated(self, statement: Update) -> exp.Query:
        condition = self._of_target(statement.condition)
        new = self._assigned(statement.assignments)
        if has_query(condition) or any(has_query(value) for value in new.values()):
            # A predicate with a subquery stands in WHERE alone.
            changed = self._before(new)
            if condition is not None:
                changed = changed.where(condition)
            return bag_union([changed, self._not(self._all(), statement.condition)])
        values = {}
        for name, value in new.items():
            column = self._column(name)
            values[name] = value if condition is None else first_case([(condition, value)], column)
        return self._before(values)

    def _inserted(self, statement: Insert) -> exp.Query:
        if statement.by_name:
            values = self._by_name()
        else:
            static = {a.column[-1].lower(): a for a in statement.partition if a.value is not None}
            names = statement.columns or [
                column.name for column in self._shape.columns if column.name.lower() not in static
            ]
            if len({name.lower() for name in names}) < len(names):
                raise self._unsupported("a column is listed twice", "List each column once.")
            values = self._by_place([self._known(name) for name in names])
            for name, assignment in static.items():
                values[name] = self._stored(self._known(name), assignment.value)
        new = self._from_source(values)
        if statement.replaced is not None:
            return bag_union([self._deleted(statement.replaced), new])
        if not statement.overwrites:
            return bag_union([self._all(), new])
        static_columns = tuple(a for a in statement.partition if a.value is not None)
        if self._dynamic and self._shape.partitions:
            same = [
                exp.NullSafeEQ(this=column_of("_lipstick_new", name), expression=self._column(name))
                for name in self._shape.partitions
            ]
            replacing = exp.select("1").from_(new.copy().subquery("_lipstick_new"))
            replacing = replacing.where(exp.and_(*same))
            kept = self._all().where(exp.Not(this=exp.Exists(this=replacing)))
            return bag_union([kept, new])
        if static_columns:
            return bag_union([self._deleted(self._in_partition(static_columns)), new])
        return new

    def _replaced(self, statement: Insert) -> exp.Query | None:
        """Return the rows that an INSERT replaces; None: not known from them alone."""
        if statement.replaced is not None:
            return self._touched(statement.replaced)
        if not statement.overwrites:
            return self._all().where(exp.false())
        static = tuple(a for a in statement.partition if a.value is not None)
        if not static or (self._dynamic and self._shape.partitions):
            return None
        return self._touched(self._in_partition(static))

    def _in_partition(self, partition: Sequence[Assignment]) -> exp.Expr | None:
        """Return the condition of the rows in a partition; None: all are."""
        equal = []
        for assignment in partition:
            column = self._known(assignment.column[-1])
            value = self._stored(column, assignment.value)
            equal.append(exp.NullSafeEQ(this=self._column(column.name), expression=value))
        return exp.and_(*equal) if equal else None
