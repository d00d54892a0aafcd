"""Relations read by other names: in Spark's text in its place, in other dialects by a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from rewriter.dialect.identifiers import named_queries, relations
from rewriter.dialect.nodes import RelationQuery, TableArgument
from rewriter.dialect.sparksql import emit, parse
from rewriter.errors import NotUnderstoodError, UnsupportedError
from rewriter.position import span_of

Names = Mapping[tuple[str, ...], str]
"""New names, of one part, by the parts of the old ones in lower case."""

OF_SPARK = ("databricks", "spark")
"""The dialects whose texts Spark reads as they stand."""


def parts_of_name(name: str, dialect: str = "spark") -> tuple[str, ...]:
    """Return the parts of a relation's name, in lower case and without quotes.

    Raises
    ------
    NotUnderstoodError
        The text is not a name, or nobody knows the dialect.
    """
    try:
        return _parts(exp.to_table(name, dialect=dialect))
    except (SqlglotError, ValueError) as error:
        problem = f"{name!r} is not the name of a relation in the dialect {dialect!r}"
        raise NotUnderstoodError(problem, "Write it as that dialect does.") from error


def rename_relations(sql: str, names: Names, dialect: str = "spark") -> tuple[str, frozenset[str]]:
    """Return a query in Spark SQL that reads relations by new names, and the new names it reads.

    Columns may be qualified by the last part of an old name, as before. A query of Spark is the
    same text otherwise, line by line; one of another dialect is translated.

    Raises
    ------
    NotUnderstoodError
        The text cannot be parsed, or not be written in Spark SQL.
    UnsupportedError
        A common table expression that has a new name would be read in its place.
    """
    spark = dialect in OF_SPARK
    tree = parse(sql) if spark else _parsed(sql, dialect)
    renamed = list(_renamed(tree, names))
    for table, new in renamed:
        if new.lower() in named_queries(table):
            problem = f"a common table expression hides the relation {new}"
            raise UnsupportedError(problem, "Rename it.", sql, span_of(table, sql))
    if spark:
        edits = []
        for table, new in renamed:
            span = span_of(table, sql)
            assert span is not None  # tables have positions
            alias = f" AS `{table.name}`" if _needs_alias(table) else ""
            edits.append((span.start, span.end, f"`{new}`{alias}"))
        for start, end, text in sorted(edits, reverse=True):
            sql = f"{sql[:start]}{text}{sql[end:]}"
    else:
        for table, new in renamed:
            if _needs_alias(table):
                name = exp.to_identifier(table.name, quoted=True)
                table.set("alias", exp.TableAlias(this=name))
            table.set("this", exp.to_identifier(new, quoted=True))
            table.set("db", None)
            table.set("catalog", None)
        sql = emit(tree)
    return sql, frozenset(new for _, new in renamed)


def qualify_relations(sql: str, full_name: Callable[[Sequence[str]], Sequence[str]]) -> str:
    """Return a query in Spark SQL that reads relations by their full names.

    Parameters
    ----------
    full_name
        The parts of a relation's full name, from the parts that the query has.
    """
    edits = []
    for table in relations(parse(sql)):
        parts = [part.name for part in table.parts]
        full, span = list(full_name(parts)), span_of(table, sql)
        assert span is not None  # tables have positions
        if full != parts:
            quoted = ".".join(exp.to_identifier(part, quoted=True).sql("spark") for part in full)
            edits.append((span.start, span.end, quoted))
    for start, end, text in sorted(edits, reverse=True):
        sql = f"{sql[:start]}{text}{sql[end:]}"
    return sql


def _renamed(tree: exp.Expr, names: Names) -> Iterator[tuple[exp.Table, str]]:
    for table in list(relations(tree)):
        new = names.get(_parts(table))
        if new is not None:
            yield table, new


def _needs_alias(table: exp.Table) -> bool:
    """Return True if columns may be qualified by the table's name, and an alias may follow it."""
    query = table.find_ancestor(RelationQuery)
    is_query = query is not None and query.args["from_"] is table.parent
    followed = any(table.args.get(key) for key in ("alias", "sample", "version", "when"))
    return not (is_query or followed or isinstance(table.parent, TableArgument))


def _parts(table: exp.Table) -> tuple[str, ...]:
    return tuple(part.name.lower() for part in table.parts)


def _parsed(sql: str, dialect: str) -> exp.Query:
    try:
        tree = sqlglot.parse_one(sql, read=dialect)
    except (SqlglotError, ValueError) as error:
        problem = f"The SQL cannot be read in the dialect {dialect!r}: {error}"
        raise NotUnderstoodError(problem, "Write it in Spark SQL.", sql) from error
    if not isinstance(tree, exp.Query):
        raise UnsupportedError("this is not a query", "Select rows.", sql)
    return tree
