"""Scalar-subquery fusion: one block computes all values of subqueries over the same rows.

A query often computes several aggregates of one selection, each in a subquery of its own, with the
same members.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields, replace
from typing import NamedTuple

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    Attribute,
    Filter,
    GroupingSets,
    InnerJoin,
    OneRow,
    OuterJoin,
    Project,
    Relation,
    Scalar,
    ScalarSubquery,
    Scan,
    SemiJoin,
    UnionAll,
    column,
    walk,
    with_inputs,
)
from rewriter.dialect import SparkSQL
from rewriter.position import Span
from rewriter.scalars.aggregates import ARRAYS, chooses, is_distinct, name_of
from rewriter.scalars.functions import is_opaque
from rewriter.scalars.text import rewrite_columns

_SAME_ROWS = (
    Aggregate,
    AntiJoin,
    Filter,
    InnerJoin,
    OneRow,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    UnionAll,
)
"""Operators whose rows are deterministic: neither random draws nor ties decide about them."""

_MOST = 1_000
"""Limit on the compared operators; an operator with several readers counts once per reader."""


class _Value(NamedTuple):
    """The value of a scalar subquery: an attribute of a query with one row at most."""

    query: Relation
    attribute: Attribute


def fuse_scalar_subqueries(root: Relation) -> Relation:
    """Return a query that reads scalar subqueries over the same rows from one of them.

    Several aggregates without keys over the same rows become aggregates of one grouping; other
    subqueries are merged if they are wholly equal. ``SELECT (SELECT max(x) FROM t), (SELECT min(x)
    FROM t)`` reads both values of ``SELECT max(x), min(x) FROM t``.
    """
    fused = _fused(root)
    if not fused:
        return root
    done: dict[int, Relation] = {}

    def visit(relation: Relation) -> Relation:
        if id(relation) not in done:
            if isinstance(relation, ScalarSubquery) and id(relation.query) in fused:
                query, shown = fused[id(relation.query)]
                done[id(relation)] = replace(
                    relation, input=visit(relation.input), query=visit(query), shown=shown
                )
            else:
                done[id(relation)] = with_inputs(relation, visit)
        return done[id(relation)]

    return visit(root)


def _fused(root: Relation) -> Mapping[int, _Value]:
    """Return, by the ``id`` of their queries, the shared values of equal subqueries."""
    queries = {id(o.query): o.query for o in walk(root) if isinstance(o, ScalarSubquery)}
    if len(queries) < 2:
        return {}
    groups: dict[Hashable, list[_Subquery]] = {}
    for query in queries.values():
        subquery = _Subquery(query)
        if subquery.rows.form is not None:
            groups.setdefault((subquery.value is None, subquery.rows.form), []).append(subquery)
    fused: dict[int, _Value] = {}
    for group in groups.values():
        if len(group) > 1:
            fused |= _together(group)
    return fused


class _Subquery:
    """A scalar subquery: the rows it is computed from, or the whole of it."""

    def __init__(self, query: Relation) -> None:
        self.query = query
        grouping, value = _one_group(query)
        self.grouping = grouping
        self.value = value
        """The value over the aggregates of the grouping; None if the query has no such value."""
        self.rows = _Rows(query if grouping is None else grouping.input)


def _together(group: list[_Subquery]) -> Iterator[tuple[int, _Value]]:
    first = group[0]
    if first.grouping is None:
        [attribute] = first.query.attributes
        for subquery in group:
            yield id(subquery.query), _Value(first.query, attribute)
        return
    output: list[Attribute] = []
    calls: list[Scalar] = []
    known: dict[str, Attribute] = {}
    values: list[Scalar] = []
    for subquery in group:
        assert subquery.grouping is not None
        assert subquery.value is not None
        moved = dict(zip(subquery.rows.places, map(column, first.rows.places), strict=True))
        own_columns: dict[str, Scalar] = {}
        pairs = zip(subquery.grouping.aggregate_output, subquery.grouping.aggregates, strict=True)
        for attribute, call in pairs:
            same = _with_columns(call, moved)
            text = same.sql(dialect=SparkSQL)
            if text not in known:
                known[text] = attribute
                output.append(attribute)
                calls.append(same)
            own_columns[attribute.id] = known[text].column()
        values.append(_with_columns(subquery.value, own_columns))
    attributes = tuple(subquery.query.attributes[0] for subquery in group)
    grouping = Aggregate(first.grouping.input, (), (), tuple(output), tuple(calls))
    query = Project(grouping, attributes, tuple(values))
    for subquery, attribute in zip(group, attributes, strict=True):
        yield id(subquery.query), _Value(query, attribute)


def _with_columns(scalar: Scalar, columns: Mapping[str, Scalar]) -> Scalar:
    return rewrite_columns(scalar, lambda reference: columns[reference.name])


def _one_group(query: Relation) -> tuple[Aggregate | None, Scalar | None]:
    """Return the grouping without keys behind a query's value, and that value, or None."""
    [attribute] = query.attributes
    value: Scalar = attribute.column()
    while isinstance(query, Project):
        scalars = dict(zip((a.id for a in query.output), query.scalars, strict=True))
        value = _with_columns(value, scalars)
        query = query.input
    if not isinstance(query, Aggregate) or query.keys or query.sets is not None:
        return None, None
    if not all(map(_is_plain, query.aggregates)):
        return None, None
    return query, value


def _is_plain(call: Scalar) -> bool:
    """Return True if an aggregate can be computed beside others in one pass and observes no
    order.
    """
    return not (is_distinct(call) or is_opaque(call) or chooses(call) or name_of(call) in ARRAYS)


class _Rows:
    """The canonical form of a query: its attributes are numbered in order of appearance."""

    def __init__(self, query: Relation) -> None:
        self.places: dict[str, int] = {}
        self._left = _MOST
        form = self._relation(query)
        self.form: Hashable = form if self._left >= 0 else None
        """None: its rows may be others each time they are asked for, or it is too large."""

    def _relation(self, relation: Relation) -> Hashable:
        self._left = self._left - 1 if isinstance(relation, _SAME_ROWS) else -1
        if self._left < 0:
            return None
        parts = (self._part(getattr(relation, field.name)) for field in fields(relation))
        return (type(relation).__name__, *parts)

    def _part(self, part: object) -> Hashable:
        match part:
            case Relation():
                return self._relation(part)
            case Attribute():
                return self._place(part.id)
            case exp.Expr():
                return rewrite_columns(part, self._numbered).sql(dialect=SparkSQL)
            case tuple():
                return tuple(map(self._part, part))
            case Mapping():
                return tuple(sorted(part.items()))
            case GroupingSets():
                return (self._place(part.number.id), part.sets)
            case Span():
                return None
        return part if isinstance(part, Hashable) else None

    def _numbered(self, reference: exp.Column) -> Scalar:
        return column(str(self._place(reference.name)))

    def _place(self, name: str) -> int:
        return self.places.setdefault(name, len(self.places))
