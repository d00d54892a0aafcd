"""Subqueries that are values of a row: looked up by the tail for each of its rows."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    CorrelatedScalar,
    ExistenceJoin,
    OuterValues,
    Project,
    Scalar,
    ScalarSubquery,
    conjuncts,
)
from rewriter.blocks import Lookup, OuterLookup, qualified
from rewriter.lower.memberships import distinct_values, outer_columns
from rewriter.lower.outer import where_true
from rewriter.lower.outer_joins import OuterJoins
from rewriter.lower.scope import OpenCore
from rewriter.lower.state import Open

_TOO_MANY_ROWS = "[SCALAR_SUBQUERY_TOO_MANY_ROWS] More than one row returned by a subquery."


class SubqueryValues(OuterJoins):
    """The rules of scalar subqueries, and of IN and EXISTS that are no conjuncts."""

    def _subquery(
        self, relation: ScalarSubquery | CorrelatedScalar | ExistenceJoin | OuterValues
    ) -> Open:
        match relation:
            case ScalarSubquery():
                return self._scalar_subquery(relation)
            case CorrelatedScalar():
                return self._correlated_scalar(relation)
            case ExistenceJoin():
                return self._existence_join(relation)
            case OuterValues():
                return self._outer_values(relation)

    def _scalar_subquery(self, relation: ScalarSubquery) -> Open:
        block = self._block(relation.query)
        open_ = self._unlimited(relation.input)
        alias = self._alias(f"{block.name}_value")
        value = qualified(alias, relation.value.id)
        return replace(
            open_,
            env={**open_.env, relation.output.id: value},
            scalars=(*open_.scalars, Lookup(alias, block, scalar=True)),
        )

    def _correlated_scalar(self, relation: CorrelatedScalar) -> OpenCore:
        block = self._block(relation.query)
        core = self._asking(relation.input, (scalar for scalar, _ in relation.pairs))
        alias = self._alias(f"{block.name}_value")
        pairs = tuple((core.resolve(scalar), key.id) for scalar, key in relation.pairs)
        value: Scalar = qualified(alias, relation.value.id)
        if relation.empty is not None:
            there = exp.Is(this=qualified(alias, relation.pairs[0][1].id), expression=exp.null())
            value = exp.Case().when(there, relation.empty.copy()).else_(value)
        if relation.count is not None:
            several = exp.GT(
                this=qualified(alias, relation.count.id), expression=exp.Literal.number(1)
            )
            value = exp.Case().when(several, _too_many_rows()).else_(value)
        lookup = OuterLookup(alias, block, pairs, False, relation.null_safe, span=relation.span)
        return replace(
            core,
            env={**core.env, relation.output.id: value},
            outer_lookups=(*core.outer_lookups, lookup),
        )

    def _existence_join(self, relation: ExistenceJoin) -> OpenCore:
        """Return the left with a lookup of the partners of its rows, which finds a tuple or not."""
        parts = self._correlation(relation, relation.left, relation.right)
        if parts.others:
            self.share(relation.left)
        left = self._asking(relation.left, outer_columns(relation.condition, relation.left))
        block, columns, marker = self._partners(relation, parts)
        alias = self._alias(f"{block.name}_found")
        pairs = tuple((left.resolve(scalar), column) for scalar, column in columns)
        null_safe = parts.null_safe or bool(parts.others)
        guard = where_true([p for c in parts.outer for p in conjuncts(left.resolve(c))])
        lookup = OuterLookup(alias, block, pairs, False, null_safe, guard, relation.span)
        unknown = exp.Is(this=qualified(alias, marker), expression=exp.null())
        return replace(
            left,
            env={**left.env, relation.output.id: exp.Not(this=unknown)},
            outer_lookups=(*left.outer_lookups, lookup),
        )

    def _outer_values(self, relation: OuterValues) -> OpenCore:
        """Return the values as such where the sources tell them, else as tuples of a grouping."""
        project = Project(relation.input, relation.output, relation.scalars)
        self._made.append(project)
        core = self._core(project)
        ids = [attribute.id for attribute in relation.output]
        values = distinct_values(core, ids, self._alias("outer"))
        if values is not None:
            return values
        keys = tuple(attribute.column() for attribute in relation.output)
        group = Aggregate(project, relation.output, keys, (), ())
        self._made.append(group)
        return self._derived(group)


def _too_many_rows() -> Scalar:
    return exp.Anonymous(this="raise_error", expressions=[exp.Literal.string(_TOO_MANY_ROWS)])
