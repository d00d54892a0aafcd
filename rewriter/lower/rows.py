"""Filters, projections and inner joins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import (
    Filter,
    InnerJoin,
    Project,
    Relation,
    Scalar,
    conjuncts,
)
from rewriter.analysis.may_throw import may_raise
from rewriter.blocks import (
    GROUP,
)
from rewriter.lower.context import LoweringContext, Open
from rewriter.lower.inputs import core_of, derived, lowered, unlimited
from rewriter.lower.scope import OpenCore, cross
from rewriter.scalars.columns import rewrite_columns


def lower_filter(context: LoweringContext, relation: Filter) -> Open:
    open_ = unlimited(context, relation.input, windowed=False)
    predicates = tuple(conjuncts(open_.resolve(relation.predicate)))
    if isinstance(open_, OpenCore):
        return replace(open_, predicates=open_.predicates + predicates)
    keys = dict(open_.keys)
    having = list(open_.having)
    core = open_.core
    for predicate in predicates:
        if core is not None and not open_.sets and keys and _on_keys(predicate, keys):
            below = _below(predicate, keys)
            core = replace(core, predicates=(*core.predicates, below))
        else:
            having.append(predicate)
    return replace(open_, core=core, having=tuple(having))


def lower_project(context: LoweringContext, relation: Project) -> Open:
    open_ = lowered(context, relation.input)
    if open_.post.limited and any(may_raise(s, overflows=False) for s in relation.scalars):
        open_ = _within_limit(context, relation.input, open_)
    env = {
        attribute.id: open_.resolve(scalar)
        for attribute, scalar in zip(relation.output, relation.scalars, strict=True)
    }
    return replace(open_, env=env)


def _within_limit(context: LoweringContext, relation: Relation, open_: Open) -> Open:
    """Return the rows that LIMIT has kept, if they can be told apart: others are not read."""
    if isinstance(open_, OpenCore) and (open_.untokened or open_.copies):
        return open_
    context.pending[relation] = open_
    return derived(context, relation)


def lower_inner_join(context: LoweringContext, relation: InnerJoin) -> OpenCore:
    left, right = core_of(context, relation.left), core_of(context, relation.right)
    joined = cross(left, right)
    predicates = tuple(
        p for c in conjuncts(relation.condition) for p in conjuncts(joined.resolve(c))
    )
    return replace(joined, predicates=joined.predicates + predicates)


def _on_keys(predicate: Scalar, keys: Mapping[str, Scalar]) -> bool:
    columns = list(predicate.find_all(exp.Column))
    return bool(columns) and all(c.table == GROUP and c.name in keys for c in columns)


def _below(predicate: Scalar, keys: Mapping[str, Scalar]) -> Scalar:
    return rewrite_columns(predicate, lambda node: keys[node.name])
