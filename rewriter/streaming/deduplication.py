"""``dropDuplicates`` of a stream: the first of equal rows stays.

The state of the operator keeps the keys it has seen; where the event time is one of them only for
as long as a row with it is not late. So which row is the first does not depend on what was evicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import Attribute, Filter, Relation, Scan, Windows
from rewriter.streaming.context import Context, columns
from rewriter.streaming.flow import Flow, Streamed


def first_rows(
    context: Context,
    scan: Scan,
    stream: Streamed,
    keys: Sequence[Attribute],
    flow: Flow,
    needed: frozenset[str],
) -> tuple[Relation, Flow]:
    """Return the first of the rows with equal keys, of those that are not late."""
    assert stream.place is not None
    place, number = context.attribute("place"), context.attribute("number")
    placed = replace(scan, columns=(*scan.columns, stream.place), output=(*scan.output, place))
    in_time = context.in_time(placed, flow, needed.union(key.id for key in keys), scan.span)
    order = exp.Order(expressions=[exp.Ordered(this=place.column(), nulls_first=True)])
    call = exp.Window(
        this=exp.RowNumber(),
        partition_by=[key.column() for key in keys],
        order=order,
        over="OVER",
    )
    numbered = Windows(in_time, (number,), (call,), scan.span)
    first = exp.EQ(this=number.column(), expression=exp.Literal.number(1))
    rows = columns(Filter(numbered, first), scan.output)
    return rows, replace(flow, deduplicated=True)
