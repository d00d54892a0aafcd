"""Names in queries: IDENTIFIER('name'), names as texts, and the views that names stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from sqlglot import exp
from sqlglot.errors import ParseError

from rewriter.dialect.nodes import RelationQuery, TableArgument
from rewriter.dialect.sparksql import SparkSQL

E = TypeVar("E", bound=exp.Expr)


def name_identifiers(expression: exp.Expr) -> None:
    """Put the name in the place of each ``IDENTIFIER('na' || 'me')`` of literals in a query.

    Calls that name a relation or a column are replaced; no rule knows the others.
    """
    for call in list(expression.find_all(exp.Anonymous)):
        if call.name.lower() != "identifier" or len(call.expressions) != 1:
            continue
        name = _text(call.expressions[0])
        if name is None:
            continue
        try:
            table = exp.to_table(name, dialect=SparkSQL)
        except ParseError:
            continue
        parent = call.parent
        if isinstance(parent, exp.Table):
            for key in ("this", "db", "catalog"):
                parent.set(key, table.args.get(key))
        elif not isinstance(parent, (exp.Aliases, exp.Dot)):
            call.replace(_column(table))


def _text(given: exp.Expr) -> str | None:
    """Return the text of a literal, or of several put together; None of others."""
    match given:
        case exp.Literal(is_string=True):
            return given.name
        case exp.Paren():
            return _text(given.this)
        case exp.DPipe():
            parts = [_text(given.this), _text(given.expression)]
            known = [part for part in parts if part is not None]
            return "".join(known) if len(known) == len(parts) else None
    return None


def _column(name: exp.Table) -> exp.Column:
    """Return the column that is written like a relation."""
    keys = ("this", "table", "db", "catalog")
    return exp.Column(**dict(zip(keys, reversed(name.parts), strict=False)))


def identifiers(expression: exp.Expr) -> set[str]:
    """Return the names in a tree, of relations, columns, aliases and fields, as written."""
    return {node.name for node in expression.find_all(exp.Identifier)}


def with_views(expression: E, views: Mapping[str, str]) -> E:
    """Return a copy of a query that reads views in the place of relations, under their names.

    Parameters
    ----------
    views
        By the name of a relation, in lower case: one name, without a catalog or schema.
    """
    copy = expression.copy()
    for table in list(relations(copy)):
        name = table.name
        if table.db or name.lower() not in views:
            continue
        alias, query = table.args.get("alias"), table.find_ancestor(RelationQuery)
        if query is not None and query.args["from_"] is table.parent:
            query.set("word", exp.var("FROM"))  # TABLE takes a name without an alias
        if isinstance(table.parent, TableArgument):
            pass  # so does an argument, whose columns are called by no name of a relation
        elif alias is None:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
        elif alias.this is None:
            alias.set("this", exp.to_identifier(name, quoted=True))
        table.set("this", exp.to_identifier(views[name.lower()], quoted=True))
    return copy


def relation_names(expression: exp.Expr) -> set[str]:
    """Return the names of the relations that a query reads by one name, in lower case."""
    return {table.name.lower() for table in relations(expression) if not table.db}


def relations(expression: exp.Expr) -> Iterator[exp.Table]:
    """Yield the relations that are read by a name, and are not common table expressions.

    A hint reads none: it names relations that the query reads, by their aliases.
    """
    for table in expression.find_all(exp.Table):
        if not is_named(table) or table.find_ancestor(exp.Hint):
            continue
        if table.db or table.name.lower() not in named_queries(table):
            yield table


def is_named(table: exp.Table) -> bool:
    """Return True if a table is one by its name, of any number of parts, and no function's."""
    return all(isinstance(part, exp.Identifier) for part in table.parts)


def named_queries(table: exp.Expr) -> Iterator[str]:
    """Yield the names, in lower case, of the common table expressions that a place sees."""
    below, node = table, table.parent
    while node is not None:
        clause = node.args.get("with_")
        if isinstance(node, exp.With):
            # One of the clause's own: it sees those before it, and itself if it may recur.
            for query in node.expressions:
                if query is below and not node.args.get("recursive"):
                    break
                yield query.alias.lower()
                if query is below:
                    break
        elif clause is not None and clause is not below:
            yield from (query.alias.lower() for query in clause.expressions)
        below, node = node, node.parent
