"""Set operations: unions, which are ordinary sources, EXCEPT and INTERSECT.

EXCEPT ALL and INTERSECT ALL have one tuple per distinct row. The rows of both sides are the members
of a block, grouped by all columns: Σ1 ⊖ Σ2 annotates a group, and the counts of its members on each
side give the number of copies of the row. The reading block refers to the group once, and its tail
repeats the row: an annotation applies to all copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from sqlglot import exp

from rewriter.algebra import Attribute, BagDifference, Project, Scalar, UnionAll
from rewriter.blocks import GROUP, Core, Difference, Kind, Named, UnionSource, qualified
from rewriter.lower.context import (
    LoweringContext,
    Open,
    OpenCore,
    OpenPost,
    TokenLeaves,
    apart,
    is_stable,
)
from rewriter.lower.finish_block import close_post
from rewriter.lower.inputs import (
    block_of,
    core_of,
    inner_block,
    lowered,
    reader_of,
    union_of_blocks,
)
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
    """Return a union of branches that repeat rows, reading each tuple once."""
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
    """Return the rows of both sides, with the number of the side as the last column."""
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
    """Return an input with distinct rows, and the number of their copies as a column."""
    number: Scalar = exp.Literal.number(1)
    if isinstance(open_, OpenCore) and open_.copies:
        number = reduce(
            lambda product, other: exp.Mul(this=product, expression=other), open_.copies
        )
        open_ = replace(open_, copies=())
    return replace(open_, env={**open_.env, count.id: number})


def _copies(left: Scalar, right: Scalar, *, common: bool) -> Scalar:
    """Return the number of copies of a row from its numbers of copies on either side."""
    if common:
        fewer = exp.LT(this=left.copy(), expression=right.copy())
        return exp.Case().when(fewer, left).else_(right)
    return exp.Sub(this=left, expression=right)


def lower_set_operation(context: LoweringContext, relation: UnionAll | BagDifference) -> Open:
    if isinstance(relation, BagDifference):
        return lower_bag_difference(context, relation)
    return lower_union_all(context, relation)


def lower_union_all(context: LoweringContext, relation: UnionAll) -> Open:
    branches = [lowered(context, branch) for branch in relation.branches]
    if any(isinstance(branch, OpenCore) and branch.copies for branch in branches):
        return union_of_copies(context, relation, branches)
    cores = [branch for branch in branches if isinstance(branch, OpenCore) and is_plain(branch)]
    if len(cores) == len(branches):
        return union_of_cores(relation, cores, context.names.alias("union_"))
    for branch, open_ in zip(relation.branches, branches, strict=True):
        if branch not in context.blocks:
            context.pending[branch] = open_
    blocks = tuple(block_of(context, branch) for branch in relation.branches)
    return union_of_blocks(context, relation.output, blocks, relation.span)


def is_plain(open_: OpenCore) -> bool:
    """Return True if a union may merge this branch into one core."""
    return (
        not open_.post.final
        and not open_.matches
        and not open_.generators
        and bool(open_.sources)
        and not open_.reads_blocks
        and all(is_stable(predicate, open_) for predicate in open_.predicates)
    )


def union_of_cores(relation: UnionAll, branches: Sequence[OpenCore], alias: str) -> OpenCore:
    """Return the union as one source of a core; it has a token for every scan of every branch."""
    columns: list[tuple[TokenLeaves, tuple[str, ...]]] = []
    taken = {attribute.id for attribute in relation.output}
    for branch in branches:
        for token in branch.tokens:
            leaf_names = []
            for leaf in token.leaves:
                leaf_names.append(apart(f"{token.alias}_{leaf.name}".lower(), taken))
                taken.add(leaf_names[-1])
            columns.append((token, tuple(leaf_names)))
    positions: dict[exp.Column, str] = {}
    for branch in branches:
        for position in branch.positions:
            positions[position] = apart(position.name, taken)
            taken.add(positions[position])
    cores = []
    for branch, source in zip(branches, relation.branches, strict=True):
        select: list[Named] = [
            (attribute.id, branch.env[inner.id])
            for attribute, inner in zip(relation.output, source.attributes, strict=True)
        ]
        scanned = {token.alias for token in branch.tokens}
        for token, names in columns:
            is_scanned = token.alias in scanned
            for name, leaf in zip(names, token.leaves, strict=True):
                select.append((name, leaf if is_scanned else exp.null()))
        for position, own_name in positions.items():
            select.append((own_name, position if position in branch.positions else exp.null()))
        cores.append(Core(branch.sources, branch.predicates, (), tuple(select)))
    return OpenCore(
        env={a.id: qualified(alias, a.id) for a in relation.output},
        sources=(UnionSource(alias, tuple(cores)),),
        tokens=tuple(
            TokenLeaves(token.relation, token.alias, tuple(qualified(alias, n) for n in names))
            for token, names in columns
        ),
        positions=tuple(qualified(alias, own_name) for own_name in positions.values()),
        stable={alias: None},
        untokened=any(
            branch.untokened or not (branch.tokens or branch.positions) for branch in branches
        ),
    )
