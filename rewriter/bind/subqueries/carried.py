"""Queries that also yield the values of the outer row they are computed for."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import Attribute, Scalar
from rewriter.bind.clauses.grouping import EVERY_ROW
from rewriter.bind.clauses.groups import is_grouped, without_keys
from rewriter.bind.clauses.ordering import row_bounds
from rewriter.bind.columns.scope import CARRIED, Bound, Outer, Scope
from rewriter.bind.context import BindContext
from rewriter.bind.fingerprint import unwrap
from rewriter.bind.subqueries.pipes import without_pipes
from rewriter.bind.text import Source


def bind_carried(
    query: exp.Query, context: BindContext, outer: Outer
) -> tuple[Bound, tuple[Scalar, ...]]:
    """Bind a relation of FROM of a subquery that is computed for all outer rows at once.

    Returned is the relation, and what ties its rows to the outer row, ``outer.row``.
    """
    assert outer.row is not None
    output = outer.row.output
    bound = context.bind.query(carrying(query, output, context.source), context, outer)
    count = len(bound.scope.entries) - len(output)
    visible, passed = bound.scope.entries[:count], bound.scope.entries[count:]
    conditions: tuple[Scalar, ...] = tuple(
        exp.NullSafeEQ(this=entry.attribute.column(), expression=attribute.column())
        for entry, attribute in zip(passed, output, strict=True)
    )
    return Bound(bound.relation, Scope(visible)), conditions


def carrying(query: exp.Query, output: Sequence[Attribute], source: Source) -> exp.Query:
    """Return a query in which every SELECT also yields the outer values, last."""
    copy = without_pipes(query.copy(), source)
    _carry(copy, output, source)
    return copy


def _carry(query: exp.Expr, output: Sequence[Attribute], source: Source) -> None:
    _limit_each(query, source)
    _refuse_sets(query, source)
    if isinstance(query, exp.SetOperation):
        _carry(query.this, output, source)
        _carry(query.expression, output, source)
    elif isinstance(query, exp.Subquery):
        _carry(query.this, output, source)
    elif isinstance(query, exp.Select):
        if is_grouped(query):
            every = without_keys(query)
            if every:
                query.set("group", exp.Group(expressions=[]))
                query.meta[EVERY_ROW] = True
            group = query.args["group"]
            if not group.args.get("all"):
                for attribute in output:
                    group.append("expressions", _reference(attribute))
        _partition(query, output, source)
        for attribute in output:
            query.append("expressions", _reference(attribute))


def _partition(select: exp.Select, output: Sequence[Attribute], source: Source) -> None:
    """Have every window of a SELECT be one of rows for the same outer values."""
    parts = [*select.expressions, *filter(None, [select.args.get("qualify")])]
    windows = [
        node
        for part in parts
        for node in part.walk(prune=lambda inner: isinstance(inner, exp.Query))
        if isinstance(node, exp.Window)
    ]
    if windows and select.args.get("windows"):
        problem = "WINDOW in a subquery that refers to the outer query is not supported"
        at = source.keyword_before(select.args["windows"][0], "WINDOW")
        raise source.unsupported(problem, "Write the window after OVER.", at)
    for window in windows:
        keys = window.args.get("partition_by") or []
        window.set("partition_by", [*keys, *map(_reference, output)])


def _refuse_sets(query: exp.Expr, source: Source) -> None:
    """Refuse what would have to be computed apart for each outer row."""
    group = query.args.get("group")
    nested = (exp.Rollup, exp.Cube, exp.GroupingSets)
    if group is not None and group.find(*nested) is not None:
        problem = "grouping sets in a subquery that refers to the outer query are not supported"
        raise source.unsupported(problem, "Group by one set of keys.", group)


def _limit_each(query: exp.Expr, source: Source) -> None:
    """Have LIMIT be one for each outer row: a condition on the row's number, before windows."""
    if not (query.args.get("limit") or query.args.get("offset")):
        return
    limit, offset = row_bounds(query, source)
    keeps_one = isinstance(query, exp.Select) and without_keys(query) and limit != 0
    if not offset and (limit is None or keeps_one):
        for clause in ("limit", "offset"):
            query.set(clause, None)
        return
    if not isinstance(query, exp.Select) or query.args.get("distinct") or query.args.get("windows"):
        raise source.unsupported(
            "LIMIT of DISTINCT or UNION in a subquery that refers to the outer query is not "
            "supported",
            "Select an aggregate (MIN, MAX), or limit a derived table.",
            query,
        )
    number = exp.Window(
        this=exp.Anonymous(this="ROW_NUMBER"),
        partition_by=[],
        order=_window_order(query, source),
        over="OVER",
    )
    conditions = [query.args["qualify"].this] if query.args.get("qualify") else []
    if limit is not None:
        last = exp.Literal.number(limit + offset)
        conditions.append(exp.LTE(this=number.copy(), expression=last))
    if offset:
        conditions.append(exp.GT(this=number.copy(), expression=exp.Literal.number(offset)))
    query.set("qualify", exp.Qualify(this=exp.and_(*conditions)))
    for clause in ("order", "limit", "offset"):
        query.set(clause, None)


def _window_order(select: exp.Select, source: Source) -> exp.Order:
    """Return ORDER BY of a SELECT as one of a window, which does not know its aliases."""
    order = select.args.get("order")
    if order is None:
        return exp.Order(expressions=[exp.Ordered(this=exp.null(), nulls_first=True)])
    aliased = {item.alias.lower(): item.this for item in select.expressions if item.alias}
    for ordered in order.expressions:
        if isinstance(unwrap(ordered.this), exp.Literal | exp.Var):
            advice = "Write the expressions to order by."
            problem = "a position in ORDER BY of a subquery that refers to the outer query"
            raise source.unsupported(f"{problem} is not supported", advice, ordered)
    copy: exp.Order = order.copy()
    for column in list(copy.find_all(exp.Column)):
        if not column.table and column.name.lower() in aliased:
            column.replace(exp.paren(aliased[column.name.lower()].copy()))
    return copy


def _reference(attribute: Attribute) -> exp.Column:
    name = exp.to_identifier(attribute.id, quoted=True)
    return exp.column(name, table=exp.to_identifier(CARRIED, quoted=True))
