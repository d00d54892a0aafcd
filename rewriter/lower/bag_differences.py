"""EXCEPT ALL and INTERSECT ALL: one tuple per distinct row, read as often as it is there.

The rows of both sides are the members of a block, grouped by all columns: Σ1 ⊖ Σ2 annotates a
group, and the counts of its members on each side say how often the row is there. What reads the
block refers to the group once, and its tail repeats the row: an annotation is that of all copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from sqlglot import exp

from rewriter.algebra import Attribute, BagDifference, Project, Scalar, UnionAll
from rewriter.blocks import GROUP, Difference, Kind, qualified
from rewriter.lower.context import LoweringContext, Open
from rewriter.lower.finish_block import close_post
from rewriter.lower.inputs import core_of, inner_block, reader_of, union_of_blocks
from rewriter.lower.scope import OpenCore, OpenPost
from rewriter.position import Span


def lower_bag_difference(context: LoweringContext, relation: BagDifference) -> OpenCore:
    union = _both_sides(context, relation)
    core = core_of(context, union)
    *columns, side = (core.env[attribute.id] for attribute in union.output)
    keys = tuple(
        (attribute.id, scalar) for attribute, scalar in zip(relation.output, columns, strict=True)
    )
    left, right, count = (context.names.attribute(hint) for hint in ("left", "right", "copies"))
    unit = exp.Literal.number(1)
    aggregates: tuple[tuple[str, Scalar], ...] = (
        (left, exp.Sum(this=exp.Sub(this=unit, expression=side.copy()))),
        (right, exp.Sum(this=side.copy())),
    )
    copies = _copies(qualified(GROUP, left), qualified(GROUP, right), common=relation.common)
    env = {key: qualified(GROUP, key) for key, _ in keys}
    post = OpenPost(
        Kind.GROUP,
        {**env, count: copies},
        core,
        keys,
        aggregates,
        having=(exp.GT(this=copies.copy(), expression=exp.Literal.number(0)),),
        difference=Difference(side, relation.common),
    )
    outputs = (*relation.output, Attribute(count, "copies"))
    reader = reader_of(context, close_post(post, outputs, context.names.block()), relation.span)
    return replace(reader, copies=(reader.env[count],))


def union_of_copies(
    context: LoweringContext, relation: UnionAll, branches: Sequence[Open]
) -> OpenCore:
    """Return a union some rows of which are there several times: each tuple read once."""
    blocks = []
    for branch, open_ in zip(relation.branches, branches, strict=True):
        copies = Attribute(context.names.attribute("copies"), "copies")
        counted = _counted(open_, copies)
        blocks.append(inner_block(context, counted, (*branch.attributes, copies)))
    count = Attribute(context.names.attribute("copies"), "copies")
    output = (*relation.output, count)
    union = union_of_blocks(context, output, tuple(blocks), relation.span)
    reader = reader_of(context, inner_block(context, union, output), relation.span)
    return replace(reader, copies=(reader.env[count.id],))


def _both_sides(context: LoweringContext, relation: BagDifference) -> UnionAll:
    """Return the rows of both sides, with the number of their side as the last column."""
    sides = []
    for number, side in enumerate((relation.left, relation.right)):
        columns = tuple(attribute.column() for attribute in side.attributes)
        marked = (*columns, exp.Literal.number(number))
        sides.append(Project(side, _renamed(context, relation), marked))
    return UnionAll(tuple(sides), _renamed(context, relation), relation.span)


def _renamed(context: LoweringContext, relation: BagDifference) -> tuple[Attribute, ...]:
    output = (*relation.output, Attribute("side", "side"))
    return tuple(Attribute(context.names.attribute(a.id), a.name) for a in output)


def refuse_copies(context: LoweringContext, where: str, span: Span | None) -> None:
    context.refuse(
        f"{where} over EXCEPT ALL or INTERSECT ALL is not supported",
        "Use EXCEPT or INTERSECT, or group the rows and count them.",
        span,
    )


def _counted(open_: Open, count: Attribute) -> Open:
    """Return an input whose rows are there once, with the number of their copies as a column."""
    number: Scalar = exp.Literal.number(1)
    if isinstance(open_, OpenCore) and open_.copies:
        number = reduce(
            lambda product, other: exp.Mul(this=product, expression=other), open_.copies
        )
        open_ = replace(open_, copies=())
    return replace(open_, env={**open_.env, count.id: number})


def _copies(left: Scalar, right: Scalar, *, common: bool) -> Scalar:
    """Return how often a row is there that is there so often on either side."""
    if common:
        fewer = exp.LT(this=left.copy(), expression=right.copy())
        return exp.Case().when(fewer, left).else_(right)
    return exp.Sub(this=left, expression=right)
