"""Scalar subqueries of one query block: each becomes an attribute, computed where first needed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import (
    Attribute,
    CorrelatedScalar,
    Relation,
    Scalar,
    ScalarSubquery,
    column,
    references,
)
from rewriter.bind.context import Context, Correlated
from rewriter.bind.fingerprint import fingerprint
from rewriter.bind.scope import Outer
from rewriter.position import Span


@dataclass(frozen=True, slots=True)
class _Pending:
    query: Relation
    span: Span | None
    correlated: Correlated | None = None

    def over(self, relation: Relation, output: Attribute) -> Relation:
        """Return a relation with the subquery's value as one more attribute."""
        if self.correlated is None:
            return ScalarSubquery(relation, self.query, output, self.span)
        tied = self.correlated
        return CorrelatedScalar(
            relation, self.query, tied.pairs, tied.value, tied.empty, output, self.span
        )


class Subqueries:
    """The scalar subqueries met while the expressions of a block are bound.

    Binding gives a subquery an attribute; :meth:`attach` then puts the operator that computes it
    below the operator that uses it. Equal subqueries of a block are one.
    """

    def __init__(self, context: Context) -> None:
        self._names = context.names
        self._source = context.source
        self._pending: dict[str, _Pending] = {}
        self._known: dict[Hashable, Attribute] = {}
        self._attached: set[str] = set()

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the attributes that stand for subqueries."""
        return frozenset(self._pending)

    def scalar(self, query: exp.Query, context: Context, outer: Outer) -> Attribute:
        """Return the attribute that stands for a scalar subquery."""
        key = fingerprint(query)
        if key not in self._known:
            found = context.bind.scalar(query, context, outer)
            bound = found.relation
            tied = found if isinstance(found, Correlated) else None
            if tied is None and len(bound.attributes) != 1:
                problem = f"a scalar subquery has one column, not {len(bound.attributes)}"
                raise context.source.error(problem, "Select the column that is meant.", query)
            attribute = self._names.attribute("subquery")
            self._pending[attribute.id] = _Pending(bound, context.source.span(query), tied)
            self._known[key] = attribute
        return self._known[key]

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
            attribute = Attribute(identity, "subquery")
            if identity in self._attached:
                attribute = self._names.attribute("subquery")
                renamed[identity] = attribute.id
            self._attached.add(identity)
            self._check(pending, have)
            relation = pending.over(relation, attribute)
            have.add(identity)
        return relation, tuple(rename(scalar, renamed) for scalar in scalars)

    def _check(self, pending: _Pending, have: set[str]) -> None:
        """Refuse a subquery tied to columns that are not there where its value is needed."""
        if pending.correlated is None:
            return
        for scalar, _ in pending.correlated.pairs:
            if not set(references(scalar)) <= have:
                raise self._source.unsupported(
                    "a scalar subquery tied to columns below a grouping or two levels out is not "
                    "supported",
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
