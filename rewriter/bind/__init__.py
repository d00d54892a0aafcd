"""The SQL front end: a query's text becomes a plan of :mod:`rewriter.algebra`.

Names are resolved as Spark 4 does in ANSI mode. Spark has analysed the text before: what it
refuses need not be refused here, and what it accepts must not be read in another way.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sqlglot import exp

from rewriter.algebra import Iterated, Relation
from rewriter.bind.catalog import Catalog, TableFunction
from rewriter.bind.columns.names import AttributeNames, lambda_variables
from rewriter.bind.context import BindContext, Recursion
from rewriter.bind.functions.registered import with_aggregates
from rewriter.bind.parameters import Arguments, substitute
from rewriter.bind.queries import QueryBinder
from rewriter.bind.text import Source, parse
from rewriter.position import Span
from rewriter.scalars.comparable import Conversions

__all__ = ["Arguments", "BoundQuery", "Recursion", "bind_query", "substitute"]


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A bound query: its plan and its text.

    ``root.attributes`` are the answer's columns in order, named by alias, column or field, and
    else by the text of their expression, which is not always Spark's name for it.
    """

    root: Relation
    sql: str
    recursions: Mapping[str, Recursion]
    """Its recursive queries, by the keys of ``levels`` in :func:`bind_query`."""
    differences: Collection[Span]
    """The places of EXCEPT and INTERSECT, which convert the columns of their answer."""


def bind_query(
    sql: str,
    catalog: Catalog,
    args: Arguments = None,
    *,
    functions: Container[str] = frozenset(),
    aggregates: Container[str] = frozenset(),
    tables: Mapping[str, TableFunction] = MappingProxyType({}),
    timestamp_ntz: bool = False,
    expression: exp.Query | None = None,
    levels: Mapping[str, int | Iterated] | None = None,
    converted: Conversions = MappingProxyType({}),
) -> BoundQuery:
    """Bind the text of a query.

    Parameters
    ----------
    sql
        One query in Spark SQL, which Spark analyses without error.
    catalog
        Resolves the names of relations.
    args
        Values of the parameters: by name for ``:name``, in order for ``?``.
    functions
        Names, in lower case, of functions beside Spark's own that are deterministic functions of
        one row, or in LATERAL make rows of one.
    aggregates
        Of these, those that are functions of a group's bag instead.
    tables
        Of these, by name in lower case, those that may be called over a relation.
    timestamp_ntz
        Whether the session's ``spark.sql.timestampType`` is TIMESTAMP_NTZ.
    expression
        The parsed text, if the caller has parsed it (and put values for parameters or ``now()``).
    levels
        How many levels follow the first of a recursive query, or where its rows are. Of one that
        is not in it the start and a step are bound. None: recursive queries are refused.
    converted
        The types that columns of EXCEPT and INTERSECT are converted to on both sides.

    Raises
    ------
    UnsupportedError
        An operator has no rule.
    UntrackedError
        The catalog does not know a relation.
    NotUnderstoodError
        The text cannot be parsed.
    QueryError
        A name is unknown or ambiguous, or a parameter has no value.
    """
    source = Source(sql)
    tree = parse(source) if expression is None else expression
    query = substitute(tree, args, sql=sql, timestamp_ntz=timestamp_ntz)
    query = with_aggregates(query, aggregates)
    names = AttributeNames(lambda_variables(query))
    context = BindContext(
        source,
        catalog,
        names,
        QueryBinder(),
        functions,
        aggregates,
        tables,
        levels=levels,
        converted=converted,
    )
    root = context.bind.query(query, context, None).relation
    return BoundQuery(root, sql, context.recursions, context.differences)
