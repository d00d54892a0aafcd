"""IDENTIFIER('name'): names that are given as texts, most often as parameters."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import ParseError

from rewriter.dialect.sparksql import SparkSQL


def name_identifiers(expression: exp.Expr) -> None:
    """Put the name in the place of each ``IDENTIFIER('na' || 'me')`` of literals in a query.

    Those that name a relation or a column are replaced; what stays is known to no rule.
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
