"""Correlated subqueries: of IN and EXISTS, of LATERAL, and scalar ones.

A scalar subquery aggregates the rows that equalities select for each outer row; the rows of a
LATERAL subquery in FROM depend on the row before it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import Aggregate, Project, Relation, Scalar, bracketed, column, references
from rewriter.bind.clauses.generators import selected_generator
from rewriter.bind.clauses.grouping import Grouping, is_grouped, without_keys
from rewriter.bind.clauses.ordering import row_bounds
from rewriter.bind.clauses.selects import (
    BoundRows,
    answer,
    bind_rows,
    grouped_relation,
    grouping_of,
    having_over,
    output_scope,
)
from rewriter.bind.clauses.sources import define_ctes
from rewriter.bind.columns.items import Item, bind_items
from rewriter.bind.columns.scope import Bound, Outer
from rewriter.bind.context import BindContext, Correlated, LateralRows, SubqueryMembers
from rewriter.bind.scalars import PLACE
from rewriter.bind.subqueries.unnesting import bind_dependent
from rewriter.bind.text import SourceText, unwrap
from rewriter.errors import CorrelationError
from rewriter.position import Span
from rewriter.scalars.comparable import cast_to

_BOUNDED = ("order", "limit", "offset")


def bind_members(
    select: exp.Select, context: BindContext, outer: Outer, *, exists: bool
) -> SubqueryMembers | None:
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
        return SubqueryMembers(
            bound.relation, tuple(entry.attribute.column() for entry in bound.scope.entries), ()
        )
    if exists and not grouped and not generates:
        return SubqueryMembers(rows.relation, (), rows.correlated)
    computed = next(filter(_is_of_rows, select.expressions), None)
    if computed is not None:
        problem = "a window function or generator in a correlated subquery is not supported"
        raise context.source.untied(problem, "Write the subquery as a join.", computed)
    items = bind_items(rows.binder("the select list", None), select, rows.relation)
    if grouped:
        return _members_of_groups(rows, items, exists=exists)
    if exists:
        return SubqueryMembers(rows.relation, (), rows.correlated)
    scalars = tuple(item.scalar for item in items)
    relation, values = rows.subqueries.attach(rows.relation, scalars)
    return SubqueryMembers(relation, values, rows.correlated)


def _is_of_rows(item: exp.Expr) -> bool:
    """Return True if an item is computed of several rows, or makes several."""
    return selected_generator(item) or item.find(exp.Window) is not None


def without_limit(query: exp.Query, source: SourceText) -> exp.Query:
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


def _members_of_groups(rows: BoundRows, items: Sequence[Item], *, exists: bool) -> SubqueryMembers:
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
    return SubqueryMembers(relation, values, conditions)


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
    """Return True if a SELECT has a row for each row of its FROM and WHERE."""
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


_NULL_OF_NULL = (
    exp.Add,
    exp.Cast,
    exp.Column,
    exp.DataType,
    exp.Div,
    exp.Identifier,
    exp.Literal,
    exp.Mul,
    exp.Neg,
    exp.Paren,
    exp.Sub,
)
"""Nodes of an expression that is NULL where a column of it is."""


_COUNTS = frozenset({"approx_count_distinct", "count", "count_if", "regr_count"})
"""Aggregates that are 0 over no rows."""

_COLLECTIONS = frozenset({"array_agg", "collect_list", "collect_set", "collect_union"})
"""Aggregates that are an empty array over no rows."""

_BITMAPS = frozenset(
    {"bitmap_and_agg", "bitmap_construct_agg", "bitmap_or_agg", "count_min_sketch"}
)
"""Aggregates that are bits, and not NULL, over no rows."""


def bind_scalar_select(
    select: exp.Select, context: BindContext, outer: Outer
) -> Bound | Correlated:
    """Bind a scalar subquery whose WHERE may refer to the outer query.

    Raises
    ------
    UnsupportedError
        Where it is tied to the outer row by more than equalities, or is not an aggregate.
    """
    rows = bind_rows(select, context, outer, correlate=True)
    if not rows.correlated:
        return answer(rows)
    select, source = rows.select, context.source
    bounded = any(select.args.get(clause) for clause in ("order", "limit", "offset", "distinct"))
    if bounded or select.args.get("group") or not is_grouped(select):
        problem = "a correlated scalar subquery that is not one aggregate is not supported"
        advice = "Select an aggregate without GROUP BY, or write the subquery as a join."
        raise source.untied(problem, advice, select)
    items = bind_items(rows.binder("the select list", None), select, rows.relation)
    if len(items) != 1:
        problem = f"a scalar subquery has one column, not {len(items)}"
        raise source.error(problem, "Select the column that is meant.", select)
    grouping = grouping_of(rows, items)
    value = grouping.over(items[0].scalar)
    having = having_over(rows, grouping, items)
    span = source.span(select)
    types = {} if span is None else context.environment.converted.get(span, {})
    conditions = [
        over_key(predicate, rows, grouping, types.get(number))
        for number, predicate in enumerate(rows.correlated)
    ]
    relation = grouped_relation(rows, grouping, having)
    relation, (value,) = rows.subqueries.attach(relation, [value])
    empty = _of_nothing(value, relation, source, select)
    if empty is not None and select.args.get("having"):
        problem = "HAVING in a correlated scalar subquery that counts is not supported"
        raise source.untied(problem, "Write the subquery as a join.", select)
    keys = {attribute.id: attribute for attribute in relation.attributes}
    names = list(dict.fromkeys(condition.this.name for condition in conditions))
    output = {name: context.names.attribute(keys[name].name) for name in names}
    result = context.names.attribute("value")
    projected = Project(
        relation, (result, *output.values()), (value, *(column(name) for name in names))
    )
    pairs = tuple((c.expression.unnest(), output[c.this.name]) for c in conditions)
    return Correlated(projected, pairs, result, empty)


def _of_nothing(
    value: Scalar, relation: Relation, source: SourceText, select: exp.Select
) -> Scalar | None:
    """Return the value over no rows at all; None where that is plainly NULL."""
    known: dict[str, Scalar] = {}
    below = relation
    while not isinstance(below, Aggregate):
        below = below.inputs[0]
    for attribute, call in zip(below.aggregate_output, below.aggregates, strict=True):
        bare = call.this if isinstance(call, exp.Filter) else call
        named = isinstance(bare, exp.AnonymousAggFunc)
        name = str(bare.this).lower() if named else bare.key
        if name in _COUNTS:
            known[attribute.id] = exp.Literal.number(0)
        elif name in _COLLECTIONS:
            known[attribute.id] = exp.Anonymous(this="array", expressions=[])
        elif name in _BITMAPS:
            problem = f"{name} in a correlated scalar subquery is not supported"
            raise source.untied(problem, "Write the subquery as a join.", select)
    if known.keys().isdisjoint(references(value)) and all(
        isinstance(node, _NULL_OF_NULL) for node in value.walk()
    ):
        return None

    def leaf(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        return known[node.name].copy() if node.name in known else exp.null()

    over_nothing: Scalar = value.copy().transform(leaf, copy=False)
    return over_nothing
