"""Values that take an operator: subqueries, and what chance decides.

Each becomes an attribute, computed where it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import (
    Attribute,
    CorrelatedScalar,
    Draw,
    ExistenceJoin,
    Relation,
    Scalar,
    ScalarSubquery,
    column,
    references,
)
from rewriter.bind.columns.scope import Outer
from rewriter.bind.context import BindContext, Correlated
from rewriter.bind.subqueries.memberships import BoundMembership
from rewriter.bind.text import fingerprint
from rewriter.position import Span

Over: TypeAlias = Callable[[Scalar, frozenset[str]], Scalar]
"""Rewrites an expression over rows as one over their groups, but for some attributes."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A scalar subquery."""

    query: Relation
    span: Span | None
    correlated: Correlated | None = None
    name: str = "subquery"

    @property
    def tied(self) -> bool:
        """True if the subquery is computed for a row."""
        return self.correlated is not None

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """The outer values that tie the subquery to the row it is computed for."""
        if self.correlated is None:
            return ()
        return tuple(scalar for scalar, _ in self.correlated.pairs)

    def above(self, over: Over) -> _Value:
        """Return it for the groups of rows."""
        tied = self.correlated
        assert tied is not None
        pairs = tuple((over(scalar, frozenset()), key) for scalar, key in tied.pairs)
        tie = None if tied.tie is None else tied.tie.above(over)
        return replace(self, correlated=replace(tied, pairs=pairs, tie=tie))

    def over(self, relation: Relation, output: Attribute) -> Relation:
        """Return a relation with the value as one more attribute."""
        tied = self.correlated
        if tied is None:
            return ScalarSubquery(relation, self.query, output, self.span)
        query = self.query if tied.tie is None else tied.tie.over(self.query, relation)
        return CorrelatedScalar(
            relation,
            query,
            tied.pairs,
            tied.value,
            tied.empty,
            output,
            tied.tie is not None,
            tied.count,
            self.span,
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """IN or EXISTS."""

    membership: BoundMembership
    name: str = "found"

    @property
    def span(self) -> Span | None:
        return self.membership.span

    @property
    def tied(self) -> bool:
        return self.membership.condition is not None

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return self.membership.outer_scalars

    def above(self, over: Over) -> _Found:
        return _Found(self.membership.above(over))

    def over(self, relation: Relation, output: Attribute) -> Relation:
        right = self.membership.right_of(relation)
        return ExistenceJoin(relation, right, self.membership.condition, self.span, output=output)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A call whose value is drawn for every row; its arguments are of the row."""

    call: Scalar
    span: Span | None
    name: str = "drawn"

    @property
    def tied(self) -> bool:
        return any(True for _ in references(self.call))

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return (self.call,)

    def above(self, over: Over) -> _Drawn:
        return replace(self, call=over(self.call, frozenset()))

    def over(self, relation: Relation, output: Attribute) -> Relation:
        if isinstance(relation, Draw):
            drawn = {attribute.id for attribute in relation.output}
            if drawn.isdisjoint(references(self.call)):
                outputs, calls = (*relation.output, output), (*relation.calls, self.call)
                return Draw(relation.input, outputs, calls, relation.span)
        return Draw(relation, (output,), (self.call,), self.span)


_Pending: TypeAlias = _Value | _Found | _Drawn


class Subqueries:
    """The subqueries met while the expressions of a block are bound.

    Binding gives a subquery an attribute; :meth:`attach` then puts the operator that computes it
    below the operator that uses it. Equal subqueries of a block are one.
    """

    def __init__(self, context: BindContext) -> None:
        self._names = context.names
        self._source = context.source
        self._pending: dict[str, _Pending] = {}
        self._known: dict[Hashable, list[Attribute]] = {}
        self._above: dict[str, Attribute] = {}
        self._attached: set[str] = set()

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the attributes that stand for subqueries."""
        return frozenset(self._pending)

    def scalar(self, query: exp.Query, context: BindContext, outer: Outer) -> Attribute:
        """Return the attribute that stands for a scalar subquery."""
        key = fingerprint(query)
        if key not in self._known:
            subquery = context.bind.scalar(query, context, outer)
            bound = subquery.relation
            tied = subquery if isinstance(subquery, Correlated) else None
            if tied is None and len(bound.attributes) != 1:
                problem = f"a scalar subquery has one column, not {len(bound.attributes)}"
                raise context.source.error(problem, "Select the column that is meant.", query)
            self._known[key] = [self._new(_Value(bound, context.source.span(query), tied))]
        return self._known[key][0]

    def found(self, node: exp.Expr, make: Callable[[], list[BoundMembership]]) -> list[Attribute]:
        """Return the attributes that stand for the memberships that a node makes."""
        key = fingerprint(node)
        if key not in self._known:
            self._known[key] = [self._new(_Found(membership)) for membership in make()]
        return self._known[key]

    def drawn(self, call: Scalar, span: Span | None) -> Attribute:
        """Return the attribute that stands for the value drawn by a call, another for each."""
        return self._new(_Drawn(call, span))

    def above(self, identity: str, over: Over) -> Attribute:
        """Return the attribute of a subquery's value for a group of rows, not for a row.

        ``over`` rewrites what ties it to a row. What is not tied is the same attribute.
        """
        pending = self._pending[identity]
        if not pending.tied:
            return Attribute(identity, pending.name)
        if identity not in self._above:
            self._above[identity] = self._new(pending.above(over))
        return self._above[identity]

    def attach(
        self, relation: Relation, scalars: Sequence[Scalar]
    ) -> tuple[Relation, tuple[Scalar, ...]]:
        """Return a relation that has the subqueries that the scalars use, and the scalars over it.

        A subquery computed below a grouping is not an attribute above it: it is computed again
        there, under a new attribute, and the scalars are changed to it.
        """
        have = {attribute.id for attribute in relation.attributes}
        renamed: dict[str, str] = {}
        for identity in _mentioned(scalars):
            if identity not in self._pending or identity in have:
                continue
            pending = self._pending[identity]
            attribute = Attribute(identity, pending.name)
            if identity in self._attached:
                attribute = self._names.attribute(pending.name)
                renamed[identity] = attribute.id
            self._attached.add(identity)
            relation, _ = self.attach(relation, pending.scalars)
            self._check(pending, {attribute.id for attribute in relation.attributes})
            relation = pending.over(relation, attribute)
            have = {attribute.id for attribute in relation.attributes}
        return relation, tuple(rename(scalar, renamed) for scalar in scalars)

    def attach_to_sides(
        self, left: Relation, right: Relation, scalars: Sequence[Scalar]
    ) -> tuple[Relation, Relation, tuple[Scalar, ...]]:
        """Return the inputs of a join with the subqueries of its condition, and the condition.

        A subquery is one of the left where it is tied to it or to nothing, else of the right.
        """
        sides = [left, right]
        for identity in _mentioned(scalars):
            if identity in self._pending:
                right_columns = {attribute.id for attribute in right.attributes}
                needed = self._tied_to(column(identity))
                number = 1 if needed and needed <= right_columns else 0
                sides[number], (renamed,) = self.attach(sides[number], [column(identity)])
                scalars = [rename(s, {identity: renamed.name}) for s in scalars]
        return sides[0], sides[1], tuple(scalars)

    def tied_to_both(self, scalar: Scalar, left: Relation, right: Relation) -> bool:
        """Return True if a condition of a join has a subquery that refers to both sides."""
        sides = [{attribute.id for attribute in side.attributes} for side in (left, right)]
        return any(
            identity in self._pending
            and not any(self._tied_to(column(identity)) <= side for side in sides)
            for identity in references(scalar)
        )

    def _tied_to(self, scalar: Scalar) -> frozenset[str]:
        """Return the ids of the attributes that a scalar and its subqueries read of a row."""
        needed: set[str] = set()
        for identity in _mentioned([scalar]):
            if identity in self._pending:
                needed.update(*map(self._tied_to, self._pending[identity].scalars))
            else:
                needed.add(identity)
        return frozenset(needed)

    def _new(self, pending: _Pending) -> Attribute:
        attribute = self._names.attribute(pending.name)
        self._pending[attribute.id] = pending
        return attribute

    def _check(self, pending: _Pending, have: set[str]) -> None:
        """Refuse a subquery tied to columns that are not there where its value is needed."""
        if not set(_mentioned(pending.scalars)) <= have:
            raise self._source.untied(
                "a subquery tied to columns below a grouping or two levels out is not supported",
                "Compute its value in a derived table.",
                pending.span,
            )


def rename(scalar: Scalar, ids: dict[str, str]) -> Scalar:
    """Return the expression with other attributes in place of some."""
    if not ids or not any(identity in ids for identity in references(scalar)):
        return scalar

    def replaced(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name in ids:
            return column(ids[node.name])
        return node

    result: Scalar = scalar.transform(replaced)
    return result


def _mentioned(scalars: Iterable[Scalar]) -> list[str]:
    return list(dict.fromkeys(identity for scalar in scalars for identity in references(scalar)))
