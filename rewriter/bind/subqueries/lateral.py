"""LATERAL (SELECT ...): a subquery of FROM whose rows depend on the row before it."""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import Project, Relation
from rewriter.bind.clauses.generators import selected_generator
from rewriter.bind.clauses.groups import is_grouped
from rewriter.bind.clauses.selects import bind_rows, output_scope
from rewriter.bind.clauses.sources import define_ctes
from rewriter.bind.columns.items import bind_items
from rewriter.bind.columns.scope import Bound, Outer
from rewriter.bind.context import BindContext, LateralRows
from rewriter.bind.subqueries.unnesting import bind_dependent
from rewriter.errors import CorrelationError

_MORE_THAN_ROWS = ("distinct", "order", "limit", "offset", "qualify")


def bind_lateral_subquery(
    query: exp.Query, left: Relation, context: BindContext, outer: Outer
) -> LateralRows:
    """Bind a subquery that is joined with the rows before it.

    One that only its WHERE ties to them is a join; any other is computed for all their values.
    """
    try:
        if isinstance(query, exp.Select) and _is_rows(query):
            return _rows(query, define_ctes(query, context, outer), outer)
        bound = context.bind.query(query, context, outer.refused("LATERAL"))
        return LateralRows(bound, ())
    except CorrelationError:
        dependent = bind_dependent(query, context, outer)
    relation = dependent.tie.over(dependent.bound.relation, left)
    return LateralRows(Bound(relation, dependent.bound.scope), dependent.conditions)


def _is_rows(select: exp.Select) -> bool:
    """Whether a SELECT has a row for each row of its FROM and WHERE."""
    if is_grouped(select) or any(select.args.get(clause) for clause in _MORE_THAN_ROWS):
        return False
    items = select.expressions
    return not any(selected_generator(item) or item.find(exp.Window) for item in items)


def _rows(select: exp.Select, context: BindContext, outer: Outer) -> LateralRows:
    rows = bind_rows(select, context, outer, correlate=True)
    items = bind_items(rows.binder("the select list", None), select, rows.relation)
    relation, scalars = rows.subqueries.attach(rows.relation, [item.scalar for item in items])
    output = tuple(context.names.attribute(item.name) for item in items)
    tied = relation.attributes if rows.correlated else ()
    columns = tuple(attribute.column() for attribute in tied)
    project = Project(relation, (*output, *tied), (*scalars, *columns))
    return LateralRows(Bound(project, output_scope(items, output)), rows.correlated)
