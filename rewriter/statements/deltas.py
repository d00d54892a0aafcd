"""Bags of rows as differences: what a hypothetical version has more, and less, than the real one.

A hypothetical version is ``real - gone + came``. The difference of a step follows from that of the
version before, by queries over the rows that it concerns (incremental maintenance of views by
differences; Griffin and Libkin, *Incremental Maintenance of Views with Duplicates*, SIGMOD 1995).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from rewriter.dialect import emit, parse
from rewriter.statements.model import TableShape
from rewriter.statements.templates import for_all_views

ROWS = "_lipstick_rows"
"""An alias of rows."""
SINCE, UNTIL = "_lipstick_since", "_lipstick_until"
"""Columns of rows of several versions: the first that has a row, and the next that has not."""


@dataclass(frozen=True, slots=True)
class Bags:
    """Views of rows: a real version, what is gone from it, and what came; None: nothing."""

    real: str
    gone: str | None = None
    came: str | None = None
    rest: str | None = None
    """The real version without what is gone, as a view that is cheaper than their difference."""

    @property
    def changed(self) -> bool:
        """True if the hypothetical version may be another."""
        return self.gone is not None or self.came is not None


@for_all_views
def hypothetical(bags: Bags, key: Sequence[str] = ()) -> str:
    """Return the rows ``real - gone + came``.

    Parameters
    ----------
    key
        Columns that name each row of the real version: then rows are compared by these alone, and
        few that are gone are looked up while the others are read. Empty: there are none.
    """
    rows: exp.Query = _all(bags.rest or bags.real)
    if bags.rest is None and bags.gone is not None and key:
        same = [
            exp.NullSafeEQ(
                this=exp.column(exp.to_identifier(name, quoted=True), table=bags.real, quoted=True),
                expression=exp.column(
                    exp.to_identifier(name, quoted=True), table=bags.gone, quoted=True
                ),
            )
            for name in key
        ]
        gone = exp.select("1").from_(_table(bags.gone)).where(exp.and_(*same))
        rows = _all(bags.real).where(exp.Not(this=exp.Exists(this=gone)))
    elif bags.rest is None and bags.gone is not None:
        rows = _without(rows, _all(bags.gone))
    if bags.came is not None:
        rows = exp.union(_nested(rows), _all(bags.came), distinct=False)
    return emit(rows)


@for_all_views
def difference(left: str, right: str) -> str:
    """Return the rows of one query that another has not, as bags."""
    return emit(_without(parse(left), parse(right)))


@for_all_views
def union_all(queries: Sequence[str]) -> str:
    """Return the rows of all queries, as a bag."""
    first, *others = (_nested(parse(query)) for query in queries)
    rows: exp.Query = first
    for other in others:
        rows = exp.union(rows, other, distinct=False)
    return emit(rows)


@for_all_views
def keys_of(queries: Sequence[tuple[str, str, Sequence[str]]]) -> str:
    """Return the keys of rows, of each row one.

    Parameters
    ----------
    queries
        Rows, the alias that expressions know them by, and the expressions of their keys.
    """
    keys: exp.Query | None = None
    for rows, alias, expressions in queries:
        named = [
            exp.alias_(_expression(text), f"k{number}") for number, text in enumerate(expressions)
        ]
        identifier = exp.to_identifier(alias, quoted=True)
        more = exp.select(*named).from_(parse(rows).subquery(identifier))
        keys = more if keys is None else exp.union(keys, more, distinct=False)
    assert keys is not None
    return emit(keys)


@for_all_views
def within(
    rows: str,
    alias: str,
    expressions: Sequence[str],
    keys: str,
    values: Sequence[Sequence[str | None] | None] = (),
) -> str:
    """Return the rows whose key is among those in a view, as :func:`keys_of` gives them.

    Parameters
    ----------
    values
        The values of each column of the keys as literals of SQL, None for NULL, which readers of
        files can skip by; None: they are many, or have no literal.
    """
    identifier = exp.to_identifier(alias, quoted=True)
    found = exp.select("*").from_(parse(rows).subquery(identifier))
    for text, known in zip(expressions, values, strict=False):
        if known is not None:
            found = found.where(_among(_expression(text), known))
    if len(expressions) == 1 and values and values[0] is not None:
        return emit(found)  # these are all keys
    same = [
        exp.NullSafeEQ(
            this=exp.column(f"k{number}", table="_lipstick_keys"), expression=_expression(text)
        )
        for number, text in enumerate(expressions)
    ]
    table = exp.alias_(_table(keys), "_lipstick_keys", table=True)
    partner = exp.select("1").from_(table).where(exp.and_(*same))
    return emit(found.where(exp.Exists(this=partner)))


def _among(expression: exp.Expr, values: Sequence[str | None]) -> exp.Expr:
    """Return the condition that an expression has one of some values, NULL among them perhaps."""
    conditions: list[exp.Expr] = []
    if literals := [_expression(value) for value in values if value is not None]:
        conditions.append(exp.In(this=exp.paren(expression.copy()), expressions=literals))
    if None in values:
        conditions.append(exp.Is(this=exp.paren(expression), expression=exp.null()))
    return exp.or_(*conditions)


@for_all_views
def column_names(expressions: Sequence[str], alias: str) -> tuple[str, ...] | None:
    """Return the columns of an alias that expressions are; None: one is something else."""
    found = list[str]()
    for text in expressions:
        column = _expression(text)
        if not isinstance(column, exp.Column) or len(column.parts) > 2:
            return None
        if column.table.lower() not in ("", alias.lower()):
            return None
        found.append(column.name)
    return tuple(found)


@for_all_views
def over_rows(expressions: Sequence[str], alias: str) -> tuple[str, ...]:
    """Return expressions over an alias as ones over :data:`ROWS`, the same for the same columns."""

    def over(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        first, *others = (exp.to_identifier(part.name.lower(), quoted=True) for part in node.parts)
        if others and first.name == alias.lower():
            first = exp.to_identifier(ROWS, quoted=True)
        return exp.column(*(first, *others)[::-1])

    return tuple(emit(_expression(text).transform(over)) for text in expressions)


@for_all_views
def numbered(numbers: Mapping[str, int], rows: str) -> str:
    """Return rows with numbers as columns before their own."""
    items = [
        exp.alias_(exp.Literal.number(number), name, quoted=True)
        for name, number in numbers.items()
    ]
    return emit(exp.select(*items, exp.Star()).from_(parse(rows).subquery(ROWS)))


@for_all_views
def alive_at(version: int, view: str, columns: Sequence[str]) -> str:
    """Return the columns of the rows in a view that a version has, by SINCE and UNTIL."""
    items = (exp.column(exp.to_identifier(name, quoted=True)) for name in columns)
    since, until = (exp.column(exp.to_identifier(name, quoted=True)) for name in (SINCE, UNTIL))
    number = exp.Literal.number(version)
    return emit(exp.select(*items).from_(_table(view)).where(since <= number, until > number))


@for_all_views
def with_columns(view: str, shape: TableShape, rows: TableShape) -> str:
    """Return rows with the columns of a later shape, NULL where they have none.

    Parameters
    ----------
    rows
        The columns of the rows, which the shape follows from.
    """
    known = rows.columns_in(shape)
    assert known is not None
    items = []
    for column in shape.columns:
        own = known.get(column.name.lower())
        value = (
            _expression(f"CAST(NULL AS {column.type})")
            if own is None
            else exp.column(exp.to_identifier(own.name, quoted=True))
        )
        items.append(exp.alias_(value, column.name, quoted=True))
    return emit(exp.select(*items).from_(_table(view)))


_WITHOUT: Final = """
    SELECT * EXCEPT (_lipstick_count, _lipstick_copy) FROM (
        SELECT * EXCEPT (_lipstick_count), CAST(sum(_lipstick_count) AS BIGINT) AS _lipstick_count
        FROM (
            SELECT *, 1 AS _lipstick_count FROM _lipstick_left
            UNION ALL
            SELECT *, -1 AS _lipstick_count FROM _lipstick_right
        ) AS _lipstick_both GROUP BY ALL
    ) AS _lipstick_rows
    LATERAL VIEW explode(sequence(1, _lipstick_count)) AS _lipstick_copy WHERE _lipstick_count > 0
"""
"""EXCEPT ALL, which Spark refuses where a column has maps, but groups rows by these."""


def _without(left: exp.Query, right: exp.Query) -> exp.Query:
    """Return the rows of one query that another has not, as bags."""
    query, sides = parse(_WITHOUT), {"_lipstick_left": left, "_lipstick_right": right}
    for table in list(query.find_all(exp.Table)):
        if table.name in sides:
            table.replace(sides[table.name].subquery(ROWS))
    return query


@for_all_views
def rows_of(view: str) -> str:
    """Return the query of all rows of a view."""
    return emit(_all(view))


def _expression(text: str) -> exp.Expr:
    expression: exp.Expr = parse(f"SELECT {text}").expressions[0].copy()
    return expression


def _nested(query: exp.Query) -> exp.Select:
    return exp.select("*").from_(query.subquery(ROWS))


def _all(view: str) -> exp.Select:
    return exp.select("*").from_(_table(view))


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))
