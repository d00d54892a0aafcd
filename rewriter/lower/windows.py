"""Window functions: a block without grouping whose outputs are read over all of its rows."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import Windows
from rewriter.lower.bag_differences import refuse_copies
from rewriter.lower.context import LoweringContext
from rewriter.lower.inputs import core_of
from rewriter.lower.ordering import is_sorted, order_of_attributes, order_of_core
from rewriter.lower.scope import OpenCore, Post
from rewriter.lower.ties import is_ordered, lists_by_range, placed_by
from rewriter.scalars.windows import depends_on_ties


def lower_windows(context: LoweringContext, relation: Windows) -> OpenCore:
    below, calls = relation.input, relation.calls
    if lists_by_range(relation):
        advice = "Count the frame in rows: ROWS BETWEEN ... AND ..."
        context.refuse("LISTAGG over a RANGE frame is not supported", advice, relation.span)
    _check_order(context, relation)
    placed = placed_by(relation, context.names.attribute)
    if placed is not None:
        below, calls = placed.positions, placed.calls
    order = order_of_core(context, below)
    core = core_of(context, below)
    if core.copies:
        refuse_copies(context, "a window", relation.span)
    arrival = order or tuple(
        replace(key, scalar=core.resolve(key.scalar)) for key in order_of_attributes(below)
    )
    env = dict(core.env)
    for attribute, call in zip(relation.output, calls, strict=True):
        env[attribute.id] = core.resolve(call)
    return replace(core, env=env, post=Post(windowed=True, arrival=arrival))


def _check_order(context: LoweringContext, relation: Windows) -> None:
    """Refuse windows without an order over sorted rows.

    Spark usually computes them in the order of the rows, but where a key is NULL or several
    executors send rows to one task it does not.
    """
    windows = [call for call in relation.calls if isinstance(call, exp.Window)]
    open_ = any(depends_on_ties(window) and not is_ordered(window) for window in windows)
    if open_ and is_sorted(relation.input, within_tasks=True):
        context.refuse(
            "a window without ORDER BY that follows the order of a derived table is not supported",
            "Write the order in the window: OVER (PARTITION BY ... ORDER BY ...).",
            relation.span,
        )
