"""Spark SQL as DuckDB reads it: what sqlglot does not translate, and where it changes a meaning."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import duckdb
import sqlglot
from sqlglot import exp

from tests.oracle.duck_aggregates import in_duckdb
from tests.oracle.duck_generators import unnested

_DIALECT: Final = f"duckdb, version={duckdb.__version__}"
_COLLECTIONS: Final = (exp.ArrayAgg, exp.ArrayUniqueAgg)
_IN_SETS: Final = (exp.Rollup, exp.Cube, exp.GroupingSets)
_LEVELS: Final = re.compile(r" MAX RECURSION LEVEL \d+")
_DISTINCT_IN_PIPE: Final = re.compile(r"\|> SELECT DISTINCT ([^|]+)")
_NAMED_ALIKE: Final = {
    "EVERY": "BOOL_AND",
    "SOME": "BOOL_OR",
    "TRY_AVG": "AVG",
    "TRY_SUM": "SUM",
}


@lru_cache(maxsize=256)
def to_duckdb(sql: str) -> str:
    """Return Spark SQL as DuckDB reads it, its order of NULLs written out."""
    sql = _LEVELS.sub("", sql)
    # Of a pipe sqlglot forgets the DISTINCT.
    sql = _DISTINCT_IN_PIPE.sub(r"|> AGGREGATE GROUP BY \1", sql)
    query: exp.Expr = sqlglot.parse_one(sql, read="spark")
    for node in reversed(list(query.dfs())):
        mend = _MENDED.get(type(node))
        if mend is not None:
            node.replace(mend(node))
    return query.sql(dialect=_DIALECT, copy=False)


@lru_cache(maxsize=256)
def tables_of(sql: str) -> frozenset[str]:
    """Return the names of all tables and CTEs in Spark SQL, in lower case."""
    return frozenset(table.name.lower() for table in parsed(sql).find_all(exp.Table))


def parsed(sql: str) -> exp.Expr:
    """Return the tree of Spark SQL, without the depth of a recursion."""
    return sqlglot.parse_one(_LEVELS.sub("", sql), read="spark")


def _day_from_one(node: exp.Expr) -> exp.Expr:
    """Count weekdays from 1, as Spark does: DuckDB begins with 0."""
    return exp.paren(exp.Add(this=node.copy(), expression=exp.Literal.number(1)), copy=False)


def _narrow_series(node: exp.Expr) -> exp.Expr:
    """Write a sequence up to a sum of integers, which is wider in DuckDB than its series take."""
    node.set("end", exp.cast(node.args["end"].copy(), "bigint"))
    return node


def _select(node: exp.Select) -> exp.Select:
    return unnested(_memberships(_merged_first(_no_empty_total(node))))


def _memberships(select: exp.Select) -> exp.Select:
    """Write semi and anti joins as conditions: DuckDB has those wrong that are by <= too."""
    kept: list[exp.Join] = []
    padded = False
    for join in reversed(select.args.get("joins") or []):
        condition = join.args.get("on")
        if padded or condition is None or join.kind not in ("SEMI", "ANTI"):
            kept.insert(0, join)
        else:
            partners = exp.select(exp.Literal.number(1)).from_(join.this.copy()).where(condition)
            partner_exists = _exists(exp.Exists(this=partners))
            select.where(
                exp.Not(this=partner_exists) if join.kind == "ANTI" else partner_exists, copy=False
            )
        padded = padded or join.side in ("RIGHT", "FULL")
    select.set("joins", kept)
    return select


def _merged_first(node: exp.Select) -> exp.Select:
    """Write * so that the columns that USING merges come first, those of the last join before."""
    merged: dict[str, None] = {}
    for join in reversed(node.args.get("joins") or []):
        if join.kind not in ("SEMI", "ANTI"):
            merged |= {name.name: None for name in join.args.get("using") or []}
    if not merged:
        return node
    items: list[exp.Expr] = []
    for item in node.expressions:
        if isinstance(item, exp.Star):
            items += [exp.column(name) for name in merged]
            item.set("except_", [exp.to_identifier(name) for name in merged])
        items.append(item)
    node.set("expressions", items)
    return node


def _no_empty_total(node: exp.Select) -> exp.Select:
    """Write a grouping in sets with the condition that a group has rows: DuckDB's () may not."""
    group = node.args.get("group")
    if group is None or not any(True for _ in group.find_all(*_IN_SETS)):
        return node
    condition = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
    having = node.args.get("having")
    if having is not None:
        condition = exp.and_(condition, having.this)
    node.set("having", exp.Having(this=condition))
    return node


def _one_argument(node: exp.Expr) -> exp.Expr:
    """Write COUNT(a, b), the rows in which neither is NULL, as a COUNT of one argument."""
    if not node.expressions:
        return node
    known = [argument.copy().is_(exp.null()).not_() for argument in [node.this, *node.expressions]]
    return exp.Count(this=exp.case().when(exp.and_(*known), exp.Literal.number(1)))


def _count_true(node: exp.Expr) -> exp.Expr:
    """Write COUNT_IF, which is 0 of no rows, as a COUNT: a SUM is NULL."""
    return exp.Count(this=exp.case().when(node.this.copy(), exp.Literal.number(1)))


def _collected(node: exp.Expr) -> exp.Expr:
    """Write what collects so that NULLs are left out, and of nothing an empty array is made."""
    filtered = isinstance(node, exp.Filter)
    call = node.this if filtered else node
    if not isinstance(call, _COLLECTIONS) or isinstance(node.parent, exp.Filter):
        return node
    argument = call.this.copy()
    known = argument.copy().is_(exp.null()).not_()
    if filtered:
        known = exp.and_(known, node.args["expression"].this.copy())
    if isinstance(call, exp.ArrayUniqueAgg):
        argument = exp.Distinct(expressions=[argument])
    collected = exp.Filter(
        this=exp.Anonymous(this="LIST", expressions=[argument]), expression=exp.Where(this=known)
    )
    return exp.Coalesce(this=collected, expressions=[exp.array()])


def _named(node: exp.Expr) -> exp.Expr:
    """Write functions by DuckDB's names for them."""
    name = str(node.this).upper()
    node.set("this", _NAMED_ALIKE.get(name, name))
    return node


def _member(node: exp.Expr) -> exp.Expr:
    """Write IN with a subquery as Spark computes it: by EXISTS, never NULL.

    IN is false where it is not known to be true, and NOT IN true where it is known to be. DuckDB
    has the standard's NULLs, knows no rows of several values here, and is wrong about a correlated
    subquery with NULLs that is not a conjunct.
    """
    query = node.args.get("query")
    if query is None:
        return node
    left = node.this.unnest()
    values = left.expressions if isinstance(left, exp.Tuple) else [left]
    names = [f"_member_{number}" for number in range(len(values))]
    condition: exp.Expr = exp.and_(
        *(
            exp.EQ(this=exp.Paren(this=value.copy()), expression=exp.column(name, table="_members"))
            for name, value in zip(names, values, strict=True)
        )
    )
    if _is_negated(node):
        unknown = exp.Paren(this=condition.copy()).is_(exp.null())
        condition = exp.or_(condition, unknown)
    inner = query.this if isinstance(query, exp.Subquery) else query
    members = exp.Subquery(
        this=inner.copy(),
        alias=exp.TableAlias(
            this=exp.to_identifier("_members"),
            columns=[exp.to_identifier(name) for name in names],
        ),
    )
    members_equal = exp.select(exp.Literal.number(1)).from_(members).where(condition)
    return _exists(exp.Exists(this=members_equal))


def _exists(node: exp.Expr) -> exp.Expr:
    """Write EXISTS so that it is not a semi join, which DuckDB has wrong for <> and NULLs."""
    if not isinstance(node.this, exp.Query):
        return node
    return exp.case().when(exp.Exists(this=node.this.copy()), exp.true()).else_(exp.false())


def _no_recursion(node: exp.CTE) -> exp.Expr:
    """Write a UNION as a query of its own: beside a recursion DuckDB keeps its duplicates."""
    if isinstance(node.this, exp.Union) and node.this.args.get("distinct"):
        rows = exp.Subquery(this=node.this, alias=exp.TableAlias(this=exp.to_identifier("_rows")))
        node.set("this", exp.select(exp.Star()).from_(rows))
    return node


def _is_negated(node: exp.Expr) -> bool:
    """Tell whether NOT is asked of a condition, once Spark has moved it into AND and OR.

    Equality with FALSE is such a NOT.
    """
    negated = False
    parent = node.parent
    while isinstance(parent, exp.Not | exp.And | exp.Or | exp.Paren | exp.EQ | exp.NEQ):
        if isinstance(parent, exp.EQ | exp.NEQ):
            constant = parent.expression
            if not isinstance(constant, exp.Boolean):
                break
            negated ^= bool(constant.this) is isinstance(parent, exp.NEQ)
        negated ^= isinstance(parent, exp.Not)
        parent = parent.parent
    return negated


_MENDED: Final[dict[type[exp.Expr], Callable[[Any], exp.Expr]]] = {
    exp.Anonymous: _named,
    exp.ArgMax: in_duckdb,
    exp.ArgMin: in_duckdb,
    exp.ArrayAgg: _collected,
    exp.ArrayUniqueAgg: _collected,
    exp.CTE: _no_recursion,
    exp.Count: _one_argument,
    exp.CountIf: _count_true,
    exp.DayOfWeek: _day_from_one,
    exp.Exists: _exists,
    exp.Filter: _collected,
    exp.GenerateSeries: _narrow_series,
    exp.In: _member,
    exp.Mode: in_duckdb,
    exp.RegrCount: in_duckdb,
    exp.Select: _select,
    exp.WithinGroup: in_duckdb,
}
