"""Groupings: keys, aggregates and grouping sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rewriter.algebra import (
    Aggregate,
    Attribute,
    Scalar,
    SortKey,
)
from rewriter.blocks import (
    EXPANDED,
    GROUP,
    SET_NUMBER,
    Kind,
    qualified,
)
from rewriter.lower.context import LoweringContext, OpenPost
from rewriter.lower.inputs import core_of
from rewriter.lower.ordering import is_sorted, order_of_core
from rewriter.lower.ties import follows_order
from rewriter.scalars.aggregates import ARRAYS, collects_in_order, in_order, is_distinct, name_of


def lower_aggregate(context: LoweringContext, relation: Aggregate) -> OpenPost:
    follows = any(map(follows_order, relation.aggregates))
    if follows and is_sorted(relation.input, within_tasks=True):
        advice = "Write the order in the aggregate: min_by(x, t), or LISTAGG WITHIN GROUP."
        problem = "an aggregate that follows the order of a derived table is not supported"
        context.refuse(problem, advice, relation.span)
    order = order_of_core(context, relation.input)
    core = core_of(context, relation.input)
    if not relation.aggregates:
        # A group is there, or not, however often its rows are.
        core = replace(core, copies=())
    if core.copies and core.untokened:
        context.refuse(
            "a grouping of EXCEPT ALL or INTERSECT ALL with a relation without provenance",
            "Track the relation with a key, so that its tuples can be told apart.",
            relation.span,
        )
    keys = tuple(
        (attribute.id, core.resolve(key))
        for attribute, key in zip(relation.key_output, relation.keys, strict=True)
    )
    aggregates = tuple(
        (attribute.id, _in_order(context, attribute, core.resolve(call), order))
        for attribute, call in zip(relation.aggregate_output, relation.aggregates, strict=True)
    )
    env = {attribute.id: qualified(GROUP, attribute.id) for attribute in relation.attributes}
    if relation.sets is None:
        return OpenPost(Kind.GROUP, env, core, keys, aggregates)
    number = relation.sets.number.id
    sets = tuple(
        frozenset({number, *(keys[index][0] for index in places)}) for places in relation.sets.sets
    )
    keys = ((number, qualified(EXPANDED, SET_NUMBER)), *keys)
    return OpenPost(Kind.GROUP, env, core, keys, aggregates, sets)


def _in_order(
    context: LoweringContext, attribute: Attribute, call: Scalar, order: Sequence[SortKey]
) -> Scalar:
    """Return the call of an aggregate; of one that collects, in an order if that matters."""
    if name_of(call) not in ARRAYS or collects_in_order(call):
        return call
    if not order and attribute.id not in context.observed:
        return call
    return in_order(call, () if is_distinct(call) else order)
