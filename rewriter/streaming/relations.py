"""Joins of a stream with a relation that is none."""

from __future__ import annotations

from dataclasses import replace

from rewriter.algebra import InnerJoin, Join, OuterJoin, Relation, Side
from rewriter.streaming.context import Context
from rewriter.streaming.flow import Flow


def join_with_relation(
    context: Context, join: Join, left: tuple[Relation, Flow], right: tuple[Relation, Flow]
) -> tuple[Relation, Flow]:
    """Return a join of which one side is a stream.

    Spark may sort rows to join them, or look the stream's up: their order is not known any more.
    """
    (below, of_left), (other, of_right) = left, right
    if isinstance(join, OuterJoin):
        if join.side is not (Side.LEFT if of_left.streaming else Side.RIGHT):
            raise context.unsupported(
                "an outer join that keeps the rows of what is no stream is", join.span
            )
    elif of_right.streaming and not isinstance(join, InnerJoin):
        raise context.unsupported("a stream that other rows are looked up in is", join.span)
    flow = of_left if of_left.streaming else of_right
    return replace(join, left=below, right=other), replace(flow, unordered=True)
