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
from rewriter.lower.context import LoweringContext, Open
from rewriter.lower.inputs import asking, block_of, core_of, derived, unlimited
from rewriter.lower.memberships import distinct_values, outer_columns
from rewriter.lower.outer import where_true
from rewriter.lower.scope import OpenCore
from rewriter.lower.semi_joins import correlated, partners_of

_TOO_MANY_ROWS = "[SCALAR_SUBQUERY_TOO_MANY_ROWS] More than one row returned by a subquery."


def lower_subquery(
    context: LoweringContext,
    relation: ScalarSubquery | CorrelatedScalar | ExistenceJoin | OuterValues,
) -> Open:
    match relation:
        case ScalarSubquery():
            return _lower_scalar_subquery(context, relation)
        case CorrelatedScalar():
            return _lower_correlated_scalar(context, relation)
        case ExistenceJoin():
            return _lower_existence_join(context, relation)
        case OuterValues():
            return _lower_outer_values(context, relation)


def _lower_scalar_subquery(context: LoweringContext, relation: ScalarSubquery) -> Open:
    block = block_of(context, relation.query)
    open_ = unlimited(context, relation.input)
    alias = context.names.alias(f"{block.name}_value")
    value = qualified(alias, relation.value.id)
    return replace(
        open_,
        env={**open_.env, relation.output.id: value},
        scalars=(*open_.scalars, Lookup(alias, block, scalar=True)),
    )


def _lower_correlated_scalar(context: LoweringContext, relation: CorrelatedScalar) -> OpenCore:
    block = block_of(context, relation.query)
    core = asking(context, relation.input, (scalar for scalar, _ in relation.pairs))
    alias = context.names.alias(f"{block.name}_value")
    pairs = tuple((core.resolve(scalar), key.id) for scalar, key in relation.pairs)
    value: Scalar = qualified(alias, relation.value.id)
    if relation.empty is not None:
        there = exp.Is(this=qualified(alias, relation.pairs[0][1].id), expression=exp.null())
        value = exp.Case().when(there, relation.empty.copy()).else_(value)
    if relation.count is not None:
        several = exp.GT(this=qualified(alias, relation.count.id), expression=exp.Literal.number(1))
        value = exp.Case().when(several, _too_many_rows()).else_(value)
    lookup = OuterLookup(alias, block, pairs, False, relation.null_safe, span=relation.span)
    return replace(
        core,
        env={**core.env, relation.output.id: value},
        outer_lookups=(*core.outer_lookups, lookup),
    )


def _lower_existence_join(context: LoweringContext, relation: ExistenceJoin) -> OpenCore:
    """Return the left with a lookup of the partners of its rows, which finds a tuple or not."""
    parts = correlated(context, relation, relation.left, relation.right)
    if parts.others:
        context.share(relation.left)
    left = asking(context, relation.left, outer_columns(relation.condition, relation.left))
    block, columns, marker = partners_of(context, relation, parts)
    alias = context.names.alias(f"{block.name}_found")
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


def _lower_outer_values(context: LoweringContext, relation: OuterValues) -> OpenCore:
    """Return the values as such where the sources tell them, else as tuples of a grouping."""
    project = Project(relation.input, relation.output, relation.scalars)
    core = core_of(context, project)
    ids = [attribute.id for attribute in relation.output]
    values = distinct_values(core, ids, context.names.alias("outer"))
    if values is not None:
        return values
    keys = tuple(attribute.column() for attribute in relation.output)
    group = Aggregate(project, relation.output, keys, (), ())
    return derived(context, group)


def _too_many_rows() -> Scalar:
    return exp.Anonymous(this="raise_error", expressions=[exp.Literal.string(_TOO_MANY_ROWS)])
