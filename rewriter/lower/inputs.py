"""Inputs of operators: as a core that may still grow, or as the tuples of a block."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import (
    Attribute,
    Limit,
    Relation,
    Scalar,
    walk,
)
from rewriter.blocks import (
    UNION,
    Block,
    BlockSource,
    Kind,
    qualified,
)
from rewriter.lower import split_components as split
from rewriter.lower.context import (
    LoweringContext,
    Open,
    OpenCore,
    OpenPost,
    with_certain_outputs,
    without_post,
)
from rewriter.lower.finish_block import close_core, close_post
from rewriter.passes.steps import run
from rewriter.position import Span


def lowered(context: LoweringContext, relation: Relation) -> Open:
    if context.readers.get(relation, 0) > 1:
        # Shared by several references (a CTE used twice): one block, if it is one at all.
        if relation in context.blocks:
            return derived(context, relation)
        open_ = context.rule(context, relation)
        if isinstance(open_, OpenPost) or open_.post.final:
            return closed(context, relation, open_)
        return open_
    return context.rule(context, relation)


def core_of(context: LoweringContext, relation: Relation) -> OpenCore:
    open_ = context.pending.pop(relation, None) or lowered(context, relation)
    if isinstance(open_, OpenPost) or open_.post.final:
        return closed(context, relation, open_)
    return without_post(open_)


def unlimited(context: LoweringContext, relation: Relation, *, windowed: bool = True) -> Open:
    """Return an operator's input for an operation that applies after its LIMIT.

    Without ``windowed`` also after its window functions, whose rows must not be changed.
    """
    open_ = lowered(context, relation)
    if not (open_.post.limited if windowed else open_.post.final):
        return open_
    return closed(context, relation, open_)


def asking(context: LoweringContext, relation: Relation, scalars: Iterable[Scalar]) -> OpenCore:
    """Return a relation's core, for rows that look up tuples by some scalars.

    The tail looks up before it unnests arrays, so rows that look up by array elements become rows
    of a block.
    """
    core = core_of(context, relation)
    if not core.generators:
        return core
    late = {alias for g in split.divided(core, written=False).later for alias in g.aliases}
    read = (column for scalar in scalars for column in core.resolve(scalar).find_all(exp.Column))
    if any(column.table in late for column in read):
        return closed(context, relation, core)
    return core


def closed(context: LoweringContext, relation: Relation, open_: Open) -> OpenCore:
    """Return a core that reads the tuples of an open operator as tuples of a block."""
    context.pending[relation] = open_
    return derived(context, relation)


def derived(context: LoweringContext, relation: Relation, span: Span | None = None) -> OpenCore:
    """Return a core that reads the tuples of a relation as tuples of a block."""
    limits = [operator.span for operator in walk(relation) if isinstance(operator, Limit)]
    return reader_of(context, block_of(context, relation), span or next(reversed(limits), None))


def reader_of(context: LoweringContext, block: Block, span: Span | None = None) -> OpenCore:
    """Return a core that reads the tuples of a block."""
    if not block.unique_identity:
        context.refuse(
            "LIMIT in a subquery over a relation without provenance",
            "Track the relation with a key, so that its tuples can be distinguished.",
            span,
        )
    alias = context.names.alias(block.name)
    stable = {output.name for output in block.outputs if output.stable} | set(block.identity)
    return OpenCore(
        env={o.name: qualified(alias, o.name) for o in block.outputs},
        sources=(BlockSource(alias, block),),
        stable={alias: frozenset(stable)} if block.stable_identity else {},
    )


def block_of(context: LoweringContext, relation: Relation) -> Block:
    """Return the block of a relation, shared by all references to it."""
    if relation not in context.blocks:
        open_ = context.pending.pop(relation, None) or context.rule(context, relation)
        context.blocks[relation] = inner_block(context, open_, relation.attributes)
    return context.blocks[relation]


def inner_block(context: LoweringContext, open_: Open, attributes: tuple[Attribute, ...]) -> Block:
    """Return a block that other blocks read."""
    if not open_.post.limited:
        open_ = replace(open_, post=replace(open_.post, order=()))
    return with_certain_outputs(finished(context, open_, attributes, context.names.block()))


def finished(
    context: LoweringContext, open_: Open, attributes: tuple[Attribute, ...], name: str
) -> Block:
    if isinstance(open_, OpenCore):
        read = {attribute.id: open_.env[attribute.id] for attribute in attributes}
        return close_core(in_components(context, replace(open_, env=read)), attributes, name)
    if open_.core is None or open_.difference is not None:
        return close_post(open_, attributes, name)
    read = {**dict(open_.keys), **dict(open_.aggregates)}
    core = in_components(context, replace(open_.core, env=read))
    keys = tuple((key, core.env[key]) for key, _ in open_.keys)
    aggregates = tuple((name, core.env[name]) for name, _ in open_.aggregates)
    post = replace(open_, core=core, keys=keys, aggregates=aggregates)
    return close_post(post, attributes, name)


def in_components(context: LoweringContext, core: OpenCore) -> OpenCore:
    def split_components(core: OpenCore) -> OpenCore:
        return split.split_components(
            core, lambda part, read: reader_of(context, inner_block(context, part, tuple(read)))
        )

    return run((split_components,), core, split.lines, context.observe)


def union_of_blocks(
    context: LoweringContext,
    output: tuple[Attribute, ...],
    blocks: tuple[Block, ...],
    span: Span | None,
) -> OpenPost:
    """Return the union of blocks, whose outputs are its columns in their order."""
    if not all(block.unique_identity for block in blocks):
        context.refuse(
            "UNION ALL of a grouping and a relation without provenance",
            "Track the relation with a key, so that its tuples can be distinguished.",
            span,
        )
    columns = [output.name for output in blocks[0].outputs]
    stable = frozenset(
        column
        for position, column in enumerate(columns)
        if all(block.outputs[position].stable for block in blocks)
    )
    return OpenPost(
        kind=Kind.UNION,
        env={
            attribute.id: qualified(UNION, column)
            for attribute, column in zip(output, columns, strict=True)
        },
        branches=blocks,
        stable_columns=stable,
    )
