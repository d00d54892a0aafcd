"""Values with which conditions hold, and rows that nearly meet them, as queries."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlglot import exp

from rewriter.algebra import Join, Limit, Relation, Scalar, Scan, Sort, Windows, references, walk
from rewriter.blocks import qualified
from rewriter.emit.conditions import literal
from rewriter.emit.operators import OperatorQueries, OperatorRows, scans_of_identity
from rewriter.emit.patterns import ScalarTexts, distance_of
from rewriter.emit.trees import is_true, named, table
from rewriter.scalars.text import rewrite_columns, text

_COMPARISONS = (exp.EQ, exp.NullSafeEQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_PATTERNS = (exp.Like, exp.ILike)


def literal_or_null(value: Any) -> Scalar:
    """Return a value as a literal; None as NULL.

    Raises
    ------
    TypeError
        For values of types without literals.
    """
    return exp.null() if value is None else literal(value)


def with_literals(scalar: Scalar, values: Mapping[str, Any]) -> Scalar:
    """Return a scalar with literals in place of the columns that have values.

    Raises
    ------
    TypeError
        For values of types without literals.
    """
    known = {n: literal_or_null(values[n]) for n in set(references(scalar)) & values.keys()}
    return rewrite_columns(scalar, lambda node: known.get(node.name, node))


def with_scalar(scalar: Scalar, column: str, value: Scalar) -> Scalar:
    """Return a scalar with another one in place of a column."""
    return rewrite_columns(scalar, lambda node: value if node.name == column else node)


def bounds(conditions: Sequence[Scalar], column: str) -> list[Scalar]:
    """Return the scalars with which conditions compare a column, or something made of it."""
    found: dict[str, Scalar] = {}
    for condition in conditions:
        for scalar in _bounds(condition, column):
            if column not in set(references(scalar)):
                found.setdefault(text(scalar), scalar)
    return list(found.values())


def _bounds(condition: Scalar, column: str) -> Iterator[Scalar]:
    for node in condition.walk():
        if isinstance(node, _COMPARISONS):
            for own, other in ((node.this, node.expression), (node.expression, node.this)):
                if column in set(references(own)):
                    yield other
        elif not isinstance(node, exp.Predicate) or column not in set(references(node.this)):
            continue
        elif isinstance(node, exp.Between):
            yield from (node.args["low"], node.args["high"])
        elif isinstance(node, exp.In):
            yield from node.expressions
        elif isinstance(node, _PATTERNS) and isinstance(node.expression, exp.Literal):
            yield exp.Literal.string(node.expression.name.strip("%").replace("_", "x"))
        elif isinstance(node, exp.Is):
            yield node.expression


def constants(scalars: Sequence[Scalar], kind: str | None = None) -> exp.Query:
    """Return a query for the values of scalars without columns, cast to a type if one is given."""
    to = None if kind is None else exp.DataType.build(kind, dialect="spark")
    values = [s if to is None else exp.TryCast(this=s.copy(), to=to.copy()) for s in scalars]
    return exp.select(*named((f"v{n}", value.copy()) for n, value in enumerate(values)))


def holding(conditions: Sequence[Scalar], column: str, values: Sequence[Any]) -> exp.Query:
    """Return a query for whether conditions on one column hold, by value."""
    items = []
    for number, value in enumerate(values):
        given = exp.paren(literal_or_null(value))
        parts = [is_true(with_scalar(each, column, given)) for each in conditions]
        items.append((f"v{number}", exp.and_(*parts)))
    return exp.select(*named(items))


def steps_beside(scalar: Scalar, value: Any) -> list[Scalar]:
    """Return a scalar, and the next values below and above it, for values like this one."""
    step: Scalar | None = None
    if isinstance(value, dt.datetime):
        step = exp.Interval(this=exp.Literal.string("1"), unit=exp.Var(this="SECOND"))
    elif isinstance(value, dt.date):
        step = exp.Interval(this=exp.Literal.string("1"), unit=exp.Var(this="DAY"))
    elif isinstance(value, Decimal):
        step = literal(Decimal((0, (1,), min(int(value.as_tuple().exponent), 0))))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        step = exp.Literal.number(1)
    if step is None:
        return [scalar]
    sides = (exp.Add, exp.Sub)
    return [scalar, *(s(this=exp.paren(scalar.copy()), expression=step.copy()) for s in sides)]


def nearest_values(
    rows: OperatorRows,
    scalar: Scalar,
    conditions: Sequence[Scalar],
    old: Any,
    queries: OperatorQueries,
) -> exp.Query:
    """Return the values of a scalar, over the rows that meet conditions, nearest to an old one."""
    base = exp.select(*named([("v", scalar.copy())])).from_(table(rows.name, rows.name))
    base = base.where(exp.Not(this=exp.Is(this=exp.paren(scalar.copy()), expression=exp.null())))
    for condition in conditions:
        base = base.where(is_true(condition))
    name = queries.add(base)
    v = qualified(name, "v")
    select = exp.select(*named([("v", v)])).from_(table(name, name))
    if isinstance(old, str):
        both = [exp.func("upper", each) for each in (v.copy(), literal(old))]
        distance = exp.Anonymous(this="levenshtein", expressions=both)
        order = [exp.Ordered(this=each) for each in (distance, v.copy())]
        return queries.statement(select.group_by(v.copy()).order_by(*order).limit(2))
    if old is None or isinstance(old, bool):
        return queries.statement(select.order_by(exp.Ordered(this=v.copy())).limit(1))
    halves: list[exp.Query] = []
    for compare, desc in ((exp.GTE, False), (exp.LTE, True)):
        half = select.where(compare(this=v.copy(), expression=literal(old)))
        half = half.order_by(exp.Ordered(this=v.copy(), desc=desc)).limit(1)
        halves.append(exp.select("v").from_(half.subquery(f"h{len(halves)}")))
    return queries.statement(exp.union(*halves, distinct=False))


def row_with_key(view: str, columns: Sequence[str], key: Mapping[str, Any]) -> exp.Query:
    """Return columns of the row of a view with a key."""
    query = exp.select(*named((name, qualified("t", name)) for name in columns))
    query = query.from_(table(view, "t"))
    for name, value in key.items():
        query = query.where(exp.EQ(this=qualified("t", name), expression=literal(value)))
    return query


def extremes(view: str, column: str) -> exp.Query:
    """Return the least and the greatest value of a column of a view."""
    value = qualified("t", column)
    ends = [("least", exp.Min(this=value)), ("most", exp.Max(this=value.copy()))]
    return exp.select(*named(ends)).from_(table(view, "t"))


def almost_meeting(
    scan: Scan, parts: Sequence[Scalar], place: int, queries: OperatorQueries, taken: str | None
) -> exp.Query:
    """Return the row of a relation that meets all conditions but one, and comes nearest to it.

    Rows whose tokens are in the item ``taken`` are left out.
    """
    rows = queries.rows(scan)
    query = rows.select()
    for number, part in enumerate(parts):
        query = query.where(is_true(part) if number != place else exp.Not(this=is_true(part)))
    if taken is not None:
        same = [
            exp.NullSafeEQ(this=qualified(taken, f"k{n}"), expression=qualified(rows.name, name))
            for n, name in enumerate(rows.identity)
        ]
        other = table(taken, taken)
        query.append("joins", exp.Join(this=other, side="LEFT", kind="ANTI", on=exp.and_(*same)))
    distance = distance_of(parts[place])
    order = [] if distance is None else [exp.Ordered(this=distance, nulls_first=False)]
    order += [exp.Ordered(this=qualified(rows.name, name)) for name in rows.identity]
    return queries.statement(query.order_by(*order).limit(1))


def taken_partners(join: Join, partner: Relation, scan: Scan, queries: OperatorQueries) -> str:
    """Return the item with the tokens of a relation's rows that the join matches; "" if unknown."""
    rows = queries.rows(partner)
    known = scans_of_identity(partner, queries)
    tokens = next((tokens for each, tokens in known if each is scan), None)
    if tokens is None:
        return ""
    own = queries.rows(join.left if partner is join.right else join.right)
    query = exp.select(*named((f"k{n}", qualified(rows.name, t)) for n, t in enumerate(tokens)))
    query = query.from_(table(rows.name, rows.name))
    on = exp.true() if join.condition is None else join.condition.copy()
    source = table(own.name, own.name)
    query.append("joins", exp.Join(this=source, side="LEFT", kind="SEMI", on=on))
    return queries.add(query)


def pairs_of(
    join: Relation, scan: Scan, key: Mapping[str, Any], queries: OperatorQueries
) -> exp.Query:
    """Return two rows of a join at most that a row of a relation is a part of."""
    rows = queries.rows(join)
    tokens = next((t for each, t in scans_of_identity(join, queries) if each is scan), ())
    query = exp.select(exp.Literal.number(1)).from_(table(rows.name, rows.name))
    for name, value in zip(tokens, key.values(), strict=False):
        query = query.where(exp.EQ(this=qualified(rows.name, name), expression=literal(value)))
    return queries.statement(query.limit(2))


def most_alike(scan: Scan, parts: Sequence[Scalar], queries: OperatorQueries) -> exp.Query:
    """Return the row of a relation that meets the most conditions, and comes nearest to others."""
    rows = queries.rows(scan)
    query = rows.select()
    met: Scalar = exp.Literal.number(0)
    for part in parts:
        one = exp.Case().when(is_true(part), exp.Literal.number(1)).else_(exp.Literal.number(0))
        met = exp.Add(this=met, expression=one)
    order = [exp.Ordered(this=met, desc=True)] if parts else []
    distances = [distance for part in parts if (distance := distance_of(part)) is not None]
    order += [exp.Ordered(this=each, nulls_first=False) for each in distances]
    order += [exp.Ordered(this=qualified(rows.name, name)) for name in rows.identity]
    return queries.statement(query.order_by(*order).limit(1))


def last_admitted(
    windows: Windows,
    call: exp.Window,
    condition: Scalar,
    values: Mapping[str, Any],
    queries: OperatorQueries,
) -> exp.Query:
    """Return the order keys of the last row that a condition on a window function admits.

    It is a row of the partition of the row with ``values``, whose own keys come first: o0, k0, ...

    Raises
    ------
    TypeError
        For values of types without literals.
    """
    rows = queries.rows(windows)
    keys = call.args["order"].expressions
    query = _compared_keys([key.this for key in keys], values, rows)
    for part in call.args.get("partition_by") or ():
        own = exp.paren(with_literals(part, values))
        query = query.where(exp.NullSafeEQ(this=exp.paren(part.copy()), expression=own))
    query = query.where(is_true(condition))
    order = [
        exp.Ordered(
            this=key.this.copy(),
            desc=not key.args.get("desc"),
            nulls_first=not key.args.get("nulls_first"),
        )
        for key in keys
    ]
    return queries.statement(query.order_by(*order).limit(1))


def row_at_place(
    limit: Limit, place: int, values: Mapping[str, Any], queries: OperatorQueries
) -> exp.Query:
    """Return the order keys of the row at a place before LIMIT, as :func:`last_admitted`.

    Raises
    ------
    TypeError
        For values of types without literals.
    """
    ranked, number, _ = queries.ranked(limit)
    keys = limit.input.keys if isinstance(limit.input, Sort) else ()
    query = _compared_keys([key.scalar for key in keys], values, ranked)
    at = exp.EQ(this=qualified(ranked.name, number), expression=exp.Literal.number(place))
    return queries.statement(query.where(at))


def _compared_keys(
    keys: Sequence[Scalar], values: Mapping[str, Any], rows: OperatorRows
) -> exp.Select:
    items = []
    for number, key in enumerate(keys):
        items += [(f"o{number}", exp.paren(with_literals(key, values))), (f"k{number}", key.copy())]
    return exp.select(*named(items) or [exp.true()]).from_(table(rows.name, rows.name))


def group_count(
    relation: Relation,
    keys: Sequence[Scalar],
    counted: Scalar,
    values: Mapping[str, Any],
    queries: OperatorQueries,
) -> exp.Query:
    """Return how often a scalar has a value among the rows with the keys of a row with values.

    Raises
    ------
    TypeError
        For values of types without literals.
    """
    rows = queries.rows(relation)
    query = exp.select(*named([("n", exp.Count(this=counted.copy()))]))
    query = query.from_(table(rows.name, rows.name))
    for key in keys:
        own = exp.paren(with_literals(key, values))
        query = query.where(exp.NullSafeEQ(this=exp.paren(key.copy()), expression=own))
    return queries.statement(query)


def linked_values(
    partner: Relation,
    column: str,
    conditions: Sequence[Scalar],
    wanted: Sequence[Scalar],
    old: Any,
    queries: OperatorQueries,
) -> Iterator[exp.Query]:
    """Yield queries for values that make a row match some row of a relation.

    Parameters
    ----------
    conditions
        Conditions over the column and the relation; the first one compares them.
    wanted
        Conditions on the relation.
    """
    rows = queries.rows(partner)
    known = {attribute.id for attribute in partner.attributes}
    for compared in bounds(conditions[:1], column):
        if not set(references(compared)) or not set(references(compared)) <= known:
            continue
        for scalar in steps_beside(compared, old):
            given = [with_scalar(each, column, scalar) for each in conditions]
            yield nearest_values(rows, scalar, [*given, *wanted], old, queries)


def window_of(
    root: Relation, condition: Scalar, texts: ScalarTexts
) -> tuple[Windows, exp.Window] | None:
    """Return the window function that a condition is about, and its operator; None: about none."""
    expanded = list(texts.expanded(condition).find_all(exp.Window))
    for windows in walk(root) if expanded else ():
        if isinstance(windows, Windows):
            for call in windows.calls:
                if isinstance(call, exp.Window) and texts.expanded(call) in expanded:
                    return windows, call
    return None


def aggregates_of(condition: Scalar) -> list[tuple[str, str, Scalar]]:
    """Return the aggregates of single columns in a condition.

    Each with its name, its column, and the condition with the column ``_aggregate`` in its place.
    """
    return [
        (call.key.upper(), call.this.name, _without(condition, call))
        for call in condition.find_all(*_AGGREGATES)
        if isinstance(call.this, exp.Column)
    ]


def _without(condition: Scalar, call: Scalar) -> Scalar:
    """Return a condition with the column ``_aggregate`` in place of a call."""
    return condition.transform(lambda n: exp.column("_aggregate") if n == call else n)


_AGGREGATES = (exp.Sum, exp.Max, exp.Min, exp.Avg)
