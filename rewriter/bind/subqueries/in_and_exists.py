"""Subqueries of IN and EXISTS, which their WHERE may tie to the outer query."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import Scalar, bracketed, references
from rewriter.bind.clauses.bound_rows import BoundRows
from rewriter.bind.clauses.generators import selected_generator
from rewriter.bind.clauses.grouped_rows import grouped_relation, grouping_of, having_over
from rewriter.bind.clauses.grouping import Grouping
from rewriter.bind.clauses.groups import is_grouped, without_keys
from rewriter.bind.clauses.ordering import row_bounds
from rewriter.bind.clauses.selects import answer, bind_rows
from rewriter.bind.columns.items import Item, bind_items
from rewriter.bind.columns.scope import Outer
from rewriter.bind.context import BindContext, Members
from rewriter.bind.fingerprint import unwrap
from rewriter.bind.scalars import PLACE
from rewriter.bind.text import Source
from rewriter.position import Span
from rewriter.scalars.comparable import cast_to

_BOUNDED = ("order", "limit", "offset")


def bind_members(
    select: exp.Select, context: BindContext, outer: Outer, *, exists: bool
) -> Members | None:
    """Bind the SELECT of IN or EXISTS, whose WHERE may refer to the outer query.

    None for one whose correlation would stand below an aggregate without keys or a limit: it is
    to be bound as a query of its own. DISTINCT changes no membership; it is kept where the
    subquery is a query of its own, which others may share.
    """
    if refusal(select):
        return None
    rows = bind_rows(select, context, outer, correlate=True)
    select = rows.select
    grouped = is_grouped(select)
    qualify = select.args.get("qualify")
    if qualify is not None and rows.correlated:
        problem = "QUALIFY in a correlated subquery is not supported"
        at = context.source.keyword_before(qualify, "QUALIFY")
        raise context.source.untied(problem, "Write the subquery as a join.", at)
    generates = any(map(selected_generator, select.expressions))
    whole = grouped or generates or qualify or select.args.get("distinct") or not exists
    if not rows.correlated and whole:
        bound = answer(rows)
        return Members(
            bound.relation, tuple(entry.attribute.column() for entry in bound.scope.entries), ()
        )
    if exists and not grouped and not generates:
        return Members(rows.relation, (), rows.correlated)
    computed = next(filter(_is_of_rows, select.expressions), None)
    if computed is not None:
        problem = "a window function or generator in a correlated subquery is not supported"
        raise context.source.untied(problem, "Write the subquery as a join.", computed)
    items = bind_items(rows.binder("the select list", None), select, rows.relation)
    if grouped:
        return _members_of_groups(rows, items, exists=exists)
    if exists:
        return Members(rows.relation, (), rows.correlated)
    scalars = tuple(item.scalar for item in items)
    relation, values = rows.subqueries.attach(rows.relation, scalars)
    return Members(relation, values, rows.correlated)


def _is_of_rows(item: exp.Expr) -> bool:
    """Tell whether an item is computed of several rows, or makes several."""
    return selected_generator(item) or item.find(exp.Window) is not None


def without_limit(query: exp.Query, source: Source) -> exp.Query:
    """Return a query that has rows where this one has: without ORDER BY, and LIMIT of some."""
    count, skipped = row_bounds(query, source)
    if skipped or count == 0:
        return query
    query = query.copy()
    for clause in _BOUNDED:
        query.set(clause, None)
    return query


def refusal(query: exp.Query) -> str:
    """Return which subquery may not refer to the outer query; empty for one whose WHERE may."""
    if isinstance(query, exp.Select) and not any(query.args.get(clause) for clause in _BOUNDED):
        return "a subquery that aggregates without GROUP BY and" if without_keys(query) else ""
    return "a subquery with ORDER BY, LIMIT or UNION"


def _members_of_groups(rows: BoundRows, items: Sequence[Item], *, exists: bool) -> Members:
    """Return the groups of a correlated subquery, grouped also by what the outer row fixes.

    All rows that one outer row selects agree on the inner sides of the equalities, so that
    grouping by them too gives the same groups with the same aggregates, where no two inner values
    are equal to one outer value: see :mod:`rewriter.scalars.comparable`.
    """
    grouping = grouping_of(rows, items)
    values = () if exists else tuple(grouping.over(item.scalar) for item in items)
    having = having_over(rows, grouping, items)
    conditions = tuple(over_key(predicate, rows, grouping) for predicate in rows.correlated)
    relation = grouped_relation(rows, grouping, having)
    relation, values = rows.subqueries.attach(relation, values)
    return Members(relation, values, conditions)


def over_key(
    predicate: Scalar, rows: BoundRows, grouping: Grouping, kind: str | None = None
) -> Scalar:
    """Return a correlated equality as one of the key that its inner side is with the outer side.

    Both are converted to a type first, where one is given.

    Raises
    ------
    UnsupportedError
        For any other predicate.
    """
    outer = rows.outer.ids if rows.outer is not None else frozenset()
    bare = unwrap(predicate)
    if isinstance(bare, exp.EQ):
        for inner, other in ((bare.this, bare.expression), (bare.expression, bare.this)):
            inner_columns, outer_columns = set(references(inner)), set(references(other))
            if (
                inner_columns
                and outer_columns
                and outer_columns <= outer
                and inner_columns.isdisjoint(outer)
            ):
                sides = [unwrap(inner), unwrap(other)]
                if kind is not None:
                    sides = [cast_to(side, kind) for side in sides]
                key = grouping.key(_name(inner), sides[0])
                return exp.EQ(this=key.column(), expression=bracketed(sides[1]))
    places = [c.meta.get(PLACE) for c in predicate.find_all(exp.Column) if c.name in outer]
    span = next((mark for mark in places if isinstance(mark, Span)), None)
    raise rows.context.source.untied(
        "a grouping subquery tied to the outer query by more than equalities is not supported",
        "Compare an expression of the subquery with one of the outer query by =, or write a join.",
        span,
    )


def _name(scalar: Scalar) -> str:
    column = unwrap(scalar)
    return re.sub(r"_\d+$", "", column.name) if isinstance(column, exp.Column) else "key"
