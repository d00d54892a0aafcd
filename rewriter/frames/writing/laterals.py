"""Joins with LATERAL relations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.frames.writing.names import column, fresh, identifier
from rewriter.frames.writing.selects import Column, Rows, Stage, unique


def lateral_join(
    left: Rows, lateral: exp.Lateral, columns: Sequence[Column], join: exp.Join
) -> Rows:
    """Return the join of rows with a lateral relation, whose columns are names of its own."""
    alias = fresh("l", left.tables)
    lateral = lateral.copy()
    lateral.set("alias", exp.TableAlias(this=identifier(alias), **_alias_columns(lateral)))
    join.set("this", lateral)
    joins = [*left.select.args.get("joins", ()), join]
    added = tuple(replace(output, scalar=column(alias, output.scalar.name)) for output in columns)
    return replace(left.having("joins", joins, Stage.FROM), columns=left.columns + added)


def subquery_lateral(inner: Rows) -> tuple[exp.Lateral, tuple[Column, ...]]:
    """Return a LATERAL subquery and its columns."""
    if inner.query is None:
        names = unique([output.name for output in inner.columns])
    else:
        names = [output.scalar.name for output in inner.columns]
    pairs = zip(inner.columns, names, strict=True)
    columns = (replace(output, scalar=exp.Column(this=identifier(name))) for output, name in pairs)
    return exp.Lateral(this=exp.Subquery(this=inner.written(names))), tuple(columns)


def call_lateral(written: exp.Expr, names: Sequence[str]) -> exp.Lateral:
    """Return the LATERAL call of a table function whose columns have these names."""
    columns = [identifier(name) for name in names]
    return exp.Lateral(this=written, alias=exp.TableAlias(columns=columns))


def _alias_columns(lateral: exp.Lateral) -> dict[str, list[exp.Expr]]:
    alias = lateral.args.get("alias")
    return {} if alias is None else {"columns": alias.args["columns"]}
