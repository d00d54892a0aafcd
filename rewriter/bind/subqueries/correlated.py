"""Scalar subqueries that aggregate what equalities select for each outer row."""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import Aggregate, Project, Relation, Scalar, column, references
from rewriter.bind.clauses.grouped_rows import grouped_relation, grouping_of, having_over
from rewriter.bind.clauses.groups import is_grouped
from rewriter.bind.clauses.selects import answer, bind_rows
from rewriter.bind.columns.items import bind_items
from rewriter.bind.columns.scope import Bound, Outer
from rewriter.bind.context import BindContext, Correlated
from rewriter.bind.subqueries.in_and_exists import over_key
from rewriter.bind.text import Source

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
        Where it is tied to the outer row by more than equalities, or is no aggregate.
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
    value: Scalar, relation: Relation, source: Source, select: exp.Select
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
