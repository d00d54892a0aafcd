"""Queries from templates: names and values substituted for parameters, as trees."""

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
    relation: str | Mapping[str, str],
    columns: Mapping[str, str | Sequence[str]],
    values: Mapping[str, Any] | None = None,
    where: str | None = None,
) -> str:
    """Return the Spark SQL text of a filled template.

    Parameters
    ----------
    relation
        The relation that replaces the table ``r``; or several, by their names in the template.
    columns
        Maps column names of the template to column names, or to several in an expression list.
    values
        Values of parameters ``:name``; sequences become lists of literals. None is NULL, and
        left out of the list of an IN: no value equals NULL, and IN would be NULL, not false.
    where
        A condition in Spark SQL on the rows of the relation.

    Raises
    ------
    NotUnderstoodError
        For conditions that cannot be parsed.
    """
    tree = _parsed(template)
    for node in list(tree.find_all(exp.Placeholder)):
        value = (values or {})[node.name]
        many = value if isinstance(value, list | tuple) else [value]
        if isinstance(node.parent, exp.In):
            many = [each for each in many if each is not None]
            if not many and len(node.parent.expressions) == 1:
                # False, or NULL for NULL.
                tested = node.parent.this
                node.parent.replace(exp.NEQ(this=tested, expression=tested.copy()))
                continue
        _put(node, [exp.null() if each is None else literal(each) for each in many])
    for column in list(tree.find_all(exp.Column)):
        if column.name in columns:
            names = columns[column.name]
            many = [names] if isinstance(names, str) else list(names)
            table = column.args.get("table")
            _put(column, [exp.column(name, table and table.copy(), quoted=True) for name in many])
    relations = {"r": relation} if isinstance(relation, str) else relation
    for table in list(tree.find_all(exp.Table)):
        if table.name in relations:
            source: exp.Expr = exp.to_table(relations[table.name], dialect=SparkSQL)
            if table.args.get("alias"):
                source.set("alias", table.args["alias"])
            if where is not None and table.name == "r":
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
