"""Statements that bring a table from one version to a hypothetical one."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.dialect import emit
from rewriter.statements.deltas import Bags, hypothetical

OPERATION = "_lipstick_operation"
"""The column of changes with the fate of a row: `REMOVE` or `WRITE`."""
REMOVE, WRITE = "remove", "write"


def changes_of(bags: Bags, columns: Sequence[str], key: Sequence[str]) -> str:
    """Return the changes of a table by its key: rows to write, and rows to remove.

    Parameters
    ----------
    key
        Columns that name each row.
    """
    queries: list[exp.Query] = []
    if bags.gone is not None:
        gone = _labelled(bags.gone, REMOVE, columns)
        if bags.came is not None:
            same = [
                exp.NullSafeEQ(this=_column(name, bags.came), expression=_column(name, bags.gone))
                for name in key
            ]
            written = exp.select("1").from_(_identifier(bags.came)).where(exp.and_(*same))
            gone = gone.where(exp.Not(this=exp.Exists(this=written)))
        queries.append(gone)
    if bags.came is not None:
        queries.append(_labelled(bags.came, WRITE, columns))
    first, *others = queries
    return emit(exp.union(first, others[0], distinct=False) if others else first)


def _labelled(view: str, operation: str, columns: Sequence[str]) -> exp.Select:
    label = exp.alias_(exp.Literal.string(operation), OPERATION)
    return exp.select(label, *(_column(name) for name in columns)).from_(_identifier(view))


def merge_changes(
    table: str, changes: str, columns: Sequence[str], key: Sequence[str], *, writes: bool
) -> str:
    """Return the MERGE that applies changes, as :func:`changes_of` gives them, by a key.

    No value of a row stands in its text, which logs of tables store.

    Parameters
    ----------
    table
        The table as SQL names it.
    changes
        A view of the changes.
    key
        Columns that are never NULL in the table.
    writes
        Whether there are rows to write; False: the changes remove rows alone.
    """
    on = [exp.EQ(this=_column(name, "t"), expression=_column(name, "s")) for name in key]
    text = (
        f"MERGE INTO {table} AS t USING {emit(_identifier(changes))} AS s ON "
        f"{emit(exp.and_(*on), pretty=False)}"
    )
    if not writes:
        return f"{text} WHEN MATCHED THEN DELETE"
    names = [emit(_column(name)) for name in columns]
    pairs = ", ".join(f"t.{name} = s.{name}" for name in names)
    values = ", ".join(f"s.{name}" for name in names)
    return (
        f"{text} WHEN MATCHED AND s.{OPERATION} = '{REMOVE}' THEN DELETE "
        f"WHEN MATCHED THEN UPDATE SET {pairs} "
        f"WHEN NOT MATCHED AND s.{OPERATION} = '{WRITE}' "
        f"THEN INSERT ({', '.join(names)}) VALUES ({values})"
    )


def rewrite_table(table: str, bags: Bags) -> str:
    """Return the INSERT OVERWRITE that gives a table its hypothetical rows."""
    return f"INSERT OVERWRITE {table} {hypothetical(bags)}"


def _column(name: str, table: str | None = None) -> exp.Column:
    qualifier = None if table is None else exp.to_identifier(table, quoted=True)
    return exp.column(exp.to_identifier(name, quoted=True), table=qualifier)


def _identifier(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))
