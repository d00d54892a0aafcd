"""Subqueries that refer to the outer query anywhere: computed for all values of the outer row.

The different values that the outer rows have in the columns used are one more relation in FROM;
items and grouping keys pass them on. What the subquery is for one outer row are the rows with that
row's values (T. Neumann, A. Kemper, Unnesting Arbitrary Queries, BTW 2015).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import Aggregate, Attribute, OuterRow, Scalar, bracketed
from rewriter.bind.clauses.groups import without_keys
from rewriter.bind.columns.scope import CARRIED, Bound, Entry, Outer, Scope
from rewriter.bind.context import BindContext, Correlated, Members, Tie
from rewriter.bind.subqueries.carried import carrying


@dataclass(frozen=True, slots=True)
class Dependent:
    """A bound subquery whose rows carry the outer values that they are for.

    ``carried`` are these attributes of ``bound.relation``, one for each of the tie's values.
    """

    bound: Bound
    carried: tuple[Attribute, ...]
    tie: Tie

    @property
    def conditions(self) -> tuple[Scalar, ...]:
        """What ties a row of the subquery to an outer row."""
        return tuple(
            exp.NullSafeEQ(this=attribute.column(), expression=bracketed(scalar.copy()))
            for attribute, (_, scalar) in zip(self.carried, self.tie.values, strict=True)
        )


def bind_dependent(query: exp.Query, context: BindContext, outer: Outer) -> Dependent:
    """Bind a subquery for all outer rows.

    Raises
    ------
    UnsupportedError
        Where it refers to the outer query in a clause that is not computed once for all rows.
    """
    entries = {e.attribute.id: e for scope in outer.scopes for e in scope.entries}
    output = tuple(context.names.attribute(entry.name) for entry in entries.values())
    row = OuterRow(output)
    inside = _inside(outer, dict(zip(entries, output, strict=True)), row)
    carried = Scope(tuple(Entry(a, a.id, (CARRIED,), hidden=True) for a in output))
    inside = replace(inside, scope=inside.scope + carried)
    bound = context.bind.query(carrying(query, output, context.source), context, inside)
    count = len(bound.scope.entries) - len(output)
    inner, passed = bound.scope.entries[:count], bound.scope.entries[count:]
    values, kept = [], []
    for identity, attribute, entry in zip(entries, output, passed, strict=True):
        if attribute.id in outer.referred:
            outer.referred.add(identity)
            values.append((attribute, entries[identity].attribute.column()))
            kept.append(entry.attribute)
    return Dependent(Bound(bound.relation, Scope(inner)), tuple(kept), Tie(row, tuple(values)))


def _inside(outer: Outer, attributes: Mapping[str, Attribute], row: OuterRow) -> Outer:
    """Return the columns of the outer queries as those of the outer row."""
    entries = (replace(e, attribute=attributes[e.attribute.id]) for e in outer.scope.entries)
    around = None if outer.around is None else _inside(outer.around, attributes, row)
    return Outer(Scope(tuple(entries)), outer.referred, row=row, around=around)


def members_of(dependent: Dependent) -> Members:
    """Return the subquery of IN or EXISTS."""
    values = tuple(entry.attribute.column() for entry in dependent.bound.scope.entries)
    return Members(dependent.bound.relation, values, dependent.conditions, dependent.tie)


def scalar_of(dependent: Dependent, query: exp.Query, context: BindContext) -> Correlated:
    """Return a scalar subquery: its value for the outer values that its rows carry.

    Where there may be several rows for them, the value is checked as Spark does.
    """
    entries = dependent.bound.scope.entries
    if len(entries) != 1:
        problem = f"a scalar subquery has one column, not {len(entries)}"
        raise context.source.error(problem, "Select the column that is meant.", query)
    names = context.names
    relation, value = dependent.bound.relation, entries[0].attribute
    keys, count = dependent.carried, None
    if not _at_most_one_row(query):
        scalars = tuple(attribute.column() for attribute in keys)
        calls = (exp.Max(this=value.column()), exp.Count(this=exp.Star()))
        keys = tuple(names.attribute(attribute.name) for attribute in keys)
        value, count = names.attribute(value.name), names.attribute("rows")
        relation = Aggregate(relation, keys, scalars, (value, count), calls)
    pairs = tuple(
        (scalar.copy(), key) for key, (_, scalar) in zip(keys, dependent.tie.values, strict=True)
    )
    return Correlated(relation, pairs, value, tie=dependent.tie, count=count)


def _at_most_one_row(query: exp.Query) -> bool:
    """Tell whether a query has at most one row for each outer row, whatever the data."""
    bare: exp.Expr = query
    while isinstance(bare, exp.Subquery):
        bare = bare.this
    return isinstance(bare, exp.Select) and without_keys(bare)
