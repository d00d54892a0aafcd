"""Queries of templates: names and values put into the place of parameters, as trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlglot
from sqlglot import exp

from rewriter.dialect import SparkSQL, emit
from rewriter.emit.conditions import literal
from rewriter.errors import NotUnderstoodError


def fill(
    template: str,
    relation: str,
    columns: Mapping[str, str | Sequence[str]],
    values: Mapping[str, Any] | None = None,
    where: str | None = None,
) -> str:
    """Return the text of a template in Spark SQL.

    Parameters
    ----------
    relation
        Put into the place of the table ``r``.
    columns
        From column names of the template to column names; to several in a list of expressions.
    values
        Of parameters ``:name``; sequences in a list of literals. None is NULL.
    where
        A condition in Spark SQL: only rows of the relation that satisfy it are read.

    Raises
    ------
    NotUnderstoodError
        For conditions that cannot be parsed.
    """
    tree = _parsed(template)
    for node in list(tree.find_all(exp.Placeholder)):
        value = (values or {})[node.name]
        many = value if isinstance(value, list | tuple) else [value]
        _put(node, [exp.null() if each is None else literal(each) for each in many])
    for column in list(tree.find_all(exp.Column)):
        if column.name in columns:
            names = columns[column.name]
            many = [names] if isinstance(names, str) else list(names)
            _put(column, [exp.column(name, quoted=True) for name in many])
    for table in list(tree.find_all(exp.Table)):
        if table.name == "r":
            source: exp.Expr = exp.to_table(relation, dialect=SparkSQL)
            if where is not None:
                inner = exp.select("*").from_(source).where(_parsed(where))
                source = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("r")))
            table.replace(source)
    return emit(tree, pretty=False)


def _put(node: exp.Expr, many: list[Any]) -> None:
    parent, key = node.parent, node.arg_key
    assert parent is not None
    assert key is not None
    siblings = parent.args[key]
    if not isinstance(siblings, list):
        (only,) = many
        node.replace(only)
        return
    place = next(i for i, each in enumerate(siblings) if each is node)
    parent.set(key, [*siblings[:place], *many, *siblings[place + 1 :]])


def _parsed(sql: str, dialect: Any = SparkSQL) -> exp.Expr:
    try:
        tree: exp.Expr = sqlglot.parse_one(sql, read=dialect)
    except (sqlglot.errors.SqlglotError, ValueError) as error:
        raise NotUnderstoodError(
            "The SQL of a check cannot be parsed.", f"Write it in Spark SQL; {error}"
        ) from error
    return tree
