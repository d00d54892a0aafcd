"""The first of equal rows, where nothing says which: any of them."""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import Attribute, Filter, FirstRows, Watermarked, Windows
from rewriter.lower.context import LoweringContext, Open
from rewriter.lower.inputs import lowered
from rewriter.lower.rows import lower_filter


def lower_first_rows(context: LoweringContext, relation: FirstRows | Watermarked) -> Open:
    """Lower a deduplication by numbers of the rows with equal keys; a watermark keeps all rows."""
    if isinstance(relation, Watermarked):
        return lowered(context, relation.input)
    number = Attribute(context.names.attribute("number"), "number")
    one = exp.Literal.number(1)
    call = exp.Window(
        this=exp.Anonymous(this="ROW_NUMBER"),
        partition_by=[key.column() for key in relation.keys],
        order=exp.Order(expressions=[exp.Ordered(this=one, nulls_first=True)]),
        over="OVER",
    )
    windows = Windows(relation.input, (number,), (call,), relation.span)
    return lower_filter(context, Filter(windows, exp.EQ(this=number.column(), expression=one)))
