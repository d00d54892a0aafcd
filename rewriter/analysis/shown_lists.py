"""Lists in an answer whose elements Spark collects in an unknown order.

Where a query looks into a list, its elements are collected in an order (see
:mod:`rewriter.lower.observed`). Of one that is only shown two engines agree on the elements alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from rewriter.blocks import GROUP, UNION, Block
from rewriter.scalars.aggregates import ARRAYS, lists, name_of

Aggregate = tuple[str, str]
"""A block and the name of one of its aggregates."""


def shown_lists(root: Block) -> frozenset[Aggregate]:
    """Return the aggregates whose lists, in no order that is known, are columns of the answer."""
    return frozenset(
        aggregate for output in root.outputs for aggregate in _collected(root, output.name)
    )


def _collected(block: Block, name: str) -> Iterator[Aggregate]:
    """Yield the aggregates that an output is, as they were collected."""
    scalar = {output.name: output.scalar for output in block.outputs}[name].unnest()
    if not isinstance(scalar, exp.Column):
        return
    if scalar.table == GROUP:
        call = dict(block.aggregates).get(scalar.name)
        if call is not None and name_of(call) in ARRAYS and not lists(call):
            yield block.name, scalar.name
    elif scalar.table == UNION:
        place = [output.name for output in block.branches[0].outputs].index(scalar.name)
        for branch in block.branches:
            yield from _collected(branch, branch.outputs[place].name)
    elif scalar.table in block.rows_read:
        inner = block.rows_read[scalar.table]
        if any(output.name == scalar.name for output in inner.outputs):
            yield from _collected(inner, scalar.name)
