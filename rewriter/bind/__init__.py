"""The SQL front end: a query's text becomes a plan of :mod:`rewriter.algebra`.

Names are resolved as Spark 4 does in ANSI mode. Spark has analysed the text before: what it
refuses need not be refused here, and what it accepts must not be read in another way.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Relation
from rewriter.bind.catalog import Environment
from rewriter.bind.columns.names import AttributeNames, lambda_variables
from rewriter.bind.context import BindContext, Recursion
from rewriter.bind.functions.registered import with_aggregates
from rewriter.bind.parameters import Arguments, substitute
from rewriter.bind.queries import QueryBinder
from rewriter.bind.text import Source, parse
from rewriter.position import Span

__all__ = ["Arguments", "BoundQuery", "Environment", "Recursion", "bind_query", "substitute"]


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A bound query: its plan and its text.

    ``root.attributes`` are the answer's columns in order, named by alias, column or field, and
    else by the text of their expression, which is not always Spark's name for it.
    """

    root: Relation
    sql: str
    recursions: Mapping[str, Recursion]
    """Its recursive queries, by the keys of ``Environment.levels``."""
    differences: Collection[Span]
    """The places of EXCEPT and INTERSECT, which convert the columns of their answer."""


def bind_query(
    sql: str, environment: Environment, expression: exp.Query | None = None
) -> BoundQuery:
    """Bind the text of a query.

    Parameters
    ----------
    sql
        One query in Spark SQL, which Spark analyses without error.
    environment
        The meaning of the names of relations and functions.
    expression
        The parsed text, if the caller has parsed it, or put literals for parameters or ``now()``.

    Raises
    ------
    UnsupportedError
        An operator has no rule.
    UntrackedError
        The catalog does not know a relation.
    NotUnderstoodError
        The text cannot be parsed.
    QueryError
        A name is unknown or ambiguous, or a parameter was not replaced by a value.
    """
    source = Source(sql)
    tree = parse(source) if expression is None else expression
    query = with_aggregates(substitute(tree, None, sql=sql), environment.aggregates)
    names = AttributeNames(lambda_variables(query))
    context = BindContext(source, environment, names, QueryBinder())
    root = context.bind.query(query, context, None).relation
    return BoundQuery(root, sql, context.recursions, context.differences)
