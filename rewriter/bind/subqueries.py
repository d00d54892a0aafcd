"""Scalar subqueries of one query block: each becomes an attribute, computed where first needed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Attribute, Relation, Scalar, ScalarSubquery, column, references
from rewriter.bind.context import Context
from rewriter.bind.fingerprint import fingerprint
from rewriter.bind.scope import Outer
from rewriter.position import Span


@dataclass(frozen=True, slots=True)
class _Pending:
    query: Relation
    span: Span | None


class Subqueries:
    """The scalar subqueries met while the expressions of a block are bound.

    Binding gives a subquery an attribute; :meth:`attach` then puts the operator that computes it
    below the operator that uses it. Equal subqueries of a block are one.
    """

    def __init__(self, context: Context) -> None:
        self._names = context.names
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
            bound = context.bind.query(query, context, outer).relation
            if len(bound.attributes) != 1:
                problem = f"a scalar subquery has one column, not {len(bound.attributes)}"
                raise context.source.error(problem, "Select the column that is meant.", query)
            attribute = self._names.attribute("subquery")
            self._pending[attribute.id] = _Pending(bound, context.source.span(query))
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
            relation = ScalarSubquery(relation, pending.query, attribute, pending.span)
            have.add(identity)
        return relation, tuple(rename(scalar, renamed) for scalar in scalars)


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
