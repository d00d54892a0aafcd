"""ORDER BY, LIMIT and OFFSET."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import Limit, LocalSort, Project, Relation, Scalar, Sort, SortKey
from rewriter.analysis.cardinality import at_most_one_row
from rewriter.bind.columns.scope import Bound, Scope
from rewriter.bind.context import BindContext
from rewriter.bind.scalars import ScalarBinder
from rewriter.bind.subqueries.values import Subqueries
from rewriter.bind.text import SourceText, unwrap


def bind_sort_keys(query: exp.Expr, binder: ScalarBinder, output: Scope) -> list[SortKey]:
    """Bind ORDER BY; an integer is the answer's column at that place, ALL is all of them."""
    order = query.args.get("order")
    if order is None:
        return []
    keys: list[SortKey] = []
    for item in order.expressions:
        descending = bool(item.args.get("desc"))
        nulls_first = bool(item.args.get("nulls_first"))
        index = ordinal(item.this, len(output.entries), "ORDER BY", binder.context.source)
        if index is not None:
            scalars: list[Scalar] = [output.entries[index].attribute.column()]
        elif _is_all(item.this):
            entries = [e for e in output.entries if e.named("all")] or output.entries
            scalars = [entry.attribute.column() for entry in entries]
        else:
            scalars = [binder.bind(item.this)]
        keys += [SortKey(scalar, descending, nulls_first) for scalar in scalars]
    return keys


def order_and_limit(bound: Bound, query: exp.Expr, context: BindContext) -> Bound:
    """Order and limit an answer whose ORDER BY sees its columns alone."""
    subqueries = Subqueries(context)
    lookup = bound.scope.lookup(context.source)
    refusal = "cannot stand in ORDER BY of this query"
    binder = ScalarBinder(context, (lookup,), subqueries, bound.scope, refusal, draws=True)
    keys = bind_sort_keys(query, binder, bound.scope)
    relation, attached = subqueries.attach(bound.relation, [key.scalar for key in keys])
    keys = [
        SortKey(scalar, key.descending, key.nulls_first)
        for scalar, key in zip(attached, keys, strict=True)
    ]
    return sorted_and_limited(Bound(relation, bound.scope), keys, query, context)


def sorted_and_limited(
    bound: Bound, keys: Sequence[SortKey], query: exp.Expr, context: BindContext
) -> Bound:
    """Return an answer in order and limited, without the columns that only the order needs."""
    relation = bound.relation
    if keys:
        relation = Sort(relation, tuple(keys))
    relation = _limited(relation, query, context.source)
    return without_hidden(Bound(relation, bound.scope), context)


def within_tasks(bound: Bound, query: exp.Expr) -> Bound:
    """Return an answer as SORT BY or CLUSTER BY has it.

    The rows are the same. The order matters to what chance decides of them, and is known where
    SORT BY names columns of the answer.
    """
    sort = query.args.get("sort")
    if sort is None:
        clustered = query.args.get("cluster") is not None
        return Bound(LocalSort(bound.relation, ()), bound.scope) if clustered else bound
    keys = []
    for item in sort.expressions:
        named = isinstance(item.this, exp.Column)
        entries = [e for e in bound.scope.entries if named and e.named(item.this.name)]
        if len(entries) != 1:
            return Bound(LocalSort(bound.relation, ()), bound.scope)
        scalar = entries[0].attribute.column()
        descending, nulls_first = bool(item.args.get("desc")), bool(item.args.get("nulls_first"))
        keys.append(SortKey(scalar, descending, nulls_first))
    return Bound(LocalSort(bound.relation, tuple(keys)), bound.scope)


def without_hidden(bound: Bound, context: BindContext) -> Bound:
    """Return an answer without the hidden columns after the ones that are shown."""
    count = len(bound.scope.entries)
    if len(bound.relation.attributes) == count:
        return bound
    kept = bound.relation.attributes[:count]
    output = tuple(context.names.attribute(attribute.name) for attribute in kept)
    scalars = tuple(attribute.column() for attribute in kept)
    return Bound(Project(bound.relation, output, scalars), bound.scope.over(output))


def ordinal(node: exp.Expr, count: int, clause: str, source: SourceText) -> int | None:
    """Return the 0-based item that an integer in ORDER BY or GROUP BY means; None if it is none."""
    bare = unwrap(node)
    if not isinstance(bare, exp.Literal) or bare.is_string or not str(bare.this).isdigit():
        return None
    position = int(bare.this)
    if not 1 <= position <= count:
        advice = f"Give a position from 1 to {count}."
        raise source.error(f"{clause} position {position} is not in the select list", advice, bare)
    return position - 1


def _is_all(node: exp.Expr) -> bool:
    return isinstance(node, exp.Var) and node.name.upper() == "ALL"


def _limited(relation: Relation, query: exp.Expr, source: SourceText) -> Relation:
    """Return the rows that LIMIT and OFFSET leave; which these are among equal rows is settled
    by their tokens, so that an order is not needed.
    """
    count, skipped = row_bounds(query, source)
    if count is None and not skipped:
        return relation
    name = "LIMIT" if count is not None else "OFFSET"
    span = source.keyword_before(query.args[name.lower()], name)
    if count != 0 and not skipped and at_most_one_row(relation):
        return relation
    return Limit(relation, count, skipped, span)


def row_bounds(query: exp.Expr, source: SourceText) -> tuple[int | None, int]:
    """Return the numbers of LIMIT and OFFSET; None without a limit, or with LIMIT ALL.

    Raises
    ------
    UnsupportedError
        One of them is an expression.
    """
    limit, offset = query.args.get("limit"), query.args.get("offset")
    count = _number(limit, "LIMIT", source) if limit is not None else None
    skipped = _number(offset, "OFFSET", source) if offset is not None else None
    return count, skipped or 0


def _number(clause: exp.Expr, name: str, source: SourceText) -> int | None:
    value = unwrap(clause.expression)
    if name == "LIMIT" and _is_all(value):
        return None
    if isinstance(value, exp.Literal) and not value.is_string and str(value.this).isdigit():
        return int(value.this)
    at = source.keyword_before(clause, name) or clause
    advice = "Give a number, or a parameter."
    raise source.unsupported(f"{name} of an expression is not supported", advice, at)
