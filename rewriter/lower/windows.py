"""Window functions: a block without grouping whose outputs are read over all of its rows."""

from __future__ import annotations

from dataclasses import replace

from rewriter.algebra import (
    Windows,
)
from rewriter.lower.bag_differences import refuse_copies
from rewriter.lower.context import LoweringContext
from rewriter.lower.inputs import core_of
from rewriter.lower.scope import OpenCore, Post
from rewriter.lower.ties import lists_by_range, placed_by


def lower_windows(context: LoweringContext, relation: Windows) -> OpenCore:
    below, calls = relation.input, relation.calls
    if lists_by_range(relation):
        advice = "Count the frame in rows: ROWS BETWEEN ... AND ..."
        context.refuse("LISTAGG over a RANGE frame is not supported", advice, relation.span)
    placed = placed_by(relation, context.names.attribute)
    if placed is not None:
        below, calls = placed.positions, placed.calls
    core = core_of(context, below)
    if core.copies:
        refuse_copies(context, "a window", relation.span)
    env = dict(core.env)
    for attribute, call in zip(relation.output, calls, strict=True):
        env[attribute.id] = core.resolve(call)
    return replace(core, env=env, post=Post(windowed=True))
