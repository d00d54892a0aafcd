"""Joins by USING and NATURAL: the columns that both sides have, and what they leave in scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import (
    AntiJoin,
    InnerJoin,
    OuterJoin,
    Project,
    Relation,
    Scalar,
    SemiJoin,
    Side,
)
from rewriter.bind.columns.scope import AmbiguousError, Bound, Entry, Scope
from rewriter.bind.context import BindContext
from rewriter.bind.subqueries.memberships import conjunction
from rewriter.bind.text import Source
from rewriter.position import Span

Joined: TypeAlias = type[InnerJoin] | type[SemiJoin] | type[AntiJoin] | Side
Key: TypeAlias = tuple[Entry, Entry]
"""A column of the left side, and the one of the right side that equals it."""

MEMBERSHIPS = (SemiJoin, AntiJoin)


def joined(
    kind: Joined, left: Relation, right: Relation, condition: Scalar | None, span: Span | None
) -> Relation:
    """Return the join of two relations."""
    if isinstance(kind, Side):
        return OuterJoin(left, right, condition, span, side=kind)
    return kind(left, right, condition, span)


def shared_keys(left: Scope, right: Scope, join: exp.Join, source: Source) -> list[Key] | None:
    """Return the columns that USING or NATURAL equates; None without either."""
    if join.method == "NATURAL":
        span = source.keyword_before(join.this, "NATURAL")
        return [
            (_key(left, entry.name, span, source), _key(right, entry.name, span, source))
            for entry in left.visible
            if any(other.named(entry.name) for other in right.visible)
        ]
    if join.method:
        advice = "Joins with ON, USING and NATURAL have rules."
        raise source.unsupported(f"{join.method} JOIN is not supported", advice, join)
    using = join.args.get("using")
    if not using:
        return None
    return [(_key(left, n.name, n, source), _key(right, n.name, n, source)) for n in using]


def _key(scope: Scope, name: str, at: exp.Expr | Span | None, source: Source) -> Entry:
    try:
        resolved = scope.resolve([name])
    except AmbiguousError:
        advice = "Write the join's condition with ON."
        raise source.error(f"column {name} is ambiguous", advice, at) from None
    if resolved is None:
        advice = "Name a column that both sides of the join have."
        raise source.error(f"column {name} is not known", advice, at)
    return resolved[0]


def join_using(
    left: Bound,
    right: Bound,
    keys: Sequence[Key],
    kind: Joined,
    span: Span | None,
    ties: tuple[Scalar, ...],
    context: BindContext,
) -> Bound:
    """Bind a join by shared columns, which are in scope once, and first.

    ``ties`` are what ties the right side to outer rows.
    """
    equalities: tuple[Scalar, ...] = tuple(
        exp.EQ(this=key.attribute.column(), expression=other.attribute.column())
        for key, other in keys
    )
    predicates = (*ties, *equalities)
    predicate = conjunction(predicates) if predicates else None
    relation = joined(kind, left.relation, right.relation, predicate, span)
    left_keys = [key for key, _ in keys]
    right_keys = [other for _, other in keys]
    rest = tuple(entry for entry in left.scope.entries if entry not in left_keys)
    if kind in MEMBERSHIPS:
        return Bound(relation, Scope((*left_keys, *rest)))
    right_rest = tuple(entry for entry in right.scope.entries if entry not in right_keys)
    shown, hidden = left_keys, right_keys
    if kind is Side.RIGHT:
        shown, hidden = right_keys, left_keys
    elif kind is Side.FULL and keys:
        relation, shown = _coalesced(relation, keys, context)
        hidden = [*left_keys, *right_keys]
    out_of_sight = tuple(replace(entry, hidden=True) for entry in hidden)
    return Bound(relation, Scope((*shown, *rest, *right_rest, *out_of_sight)))


def _coalesced(
    relation: Relation, keys: Sequence[Key], context: BindContext
) -> tuple[Relation, list[Entry]]:
    """Return a full outer join with the columns of USING: either side's, where it is there."""
    added = []
    scalars: list[Scalar] = [attribute.column() for attribute in relation.attributes]
    for key, other in keys:
        added.append(context.names.attribute(key.name))
        columns = [key.attribute.column(), other.attribute.column()]
        scalars.append(exp.Coalesce(this=columns[0], expressions=columns[1:]))
    output = (*relation.attributes, *added)
    entries = [
        Entry(attribute, key.name, origin=attribute.id)
        for attribute, (key, _) in zip(added, keys, strict=True)
    ]
    return Project(relation, output, tuple(scalars)), entries
