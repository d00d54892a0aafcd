"""ORDER BY, LIMIT and OFFSET."""

from __future__ import annotations

from dataclasses import replace

from rewriter.algebra import (
    Limit,
    LocalSort,
    Sort,
)
from rewriter.lower.bag_differences import refuse_copies
from rewriter.lower.context import LoweringContext, Open
from rewriter.lower.inputs import lowered, unlimited
from rewriter.lower.scope import OpenCore


def lower_ordered(context: LoweringContext, relation: Sort | LocalSort | Limit) -> Open:
    match relation:
        case Sort():
            return _lower_sort(context, relation)
        case Limit():
            return _lower_limit(context, relation)
        case LocalSort():
            return lowered(context, relation.input)


def _lower_sort(context: LoweringContext, relation: Sort) -> Open:
    open_ = unlimited(context, relation.input)
    order = tuple(replace(key, scalar=open_.resolve(key.scalar)) for key in relation.keys)
    return replace(open_, post=replace(open_.post, order=order))


def _lower_limit(context: LoweringContext, relation: Limit) -> Open:
    open_ = unlimited(context, relation.input)
    if isinstance(open_, OpenCore) and open_.copies:
        refuse_copies(context, "LIMIT", relation.span)
    return replace(
        open_,
        post=replace(open_.post, limit=relation.count, offset=relation.offset),
    )
