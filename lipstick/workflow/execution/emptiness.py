"""Queries that have no tuples because what they read has none: nothing need run for them."""

from __future__ import annotations

from collections.abc import Collection

from rewriter.blocks import (
    Block,
    BlockSource,
    ConstantSource,
    Core,
    IterationSource,
    Kind,
    OneRowSource,
    ScanSource,
    Source,
    UnionSource,
    ValuesSource,
)


def is_empty(block: Block, empty: Collection[str]) -> bool:
    """Whether a block certainly has no tuples.

    Parameters
    ----------
    empty
        The relations without tuples, in lower case.

    An aggregate without GROUP BY always has one.
    """
    if block.kind is Kind.UNION:
        return all(is_empty(branch, empty) for branch in block.branches)
    if block.kind is Kind.GROUP and not block.keys:
        return False
    if block.core is not None and _core_empty(block.core, empty):
        return True
    joined = (lookup.block for lookup in block.lookups if not lookup.scalar)
    memberships = (semi.block for semi in block.semis if not semi.negated and semi.guard is None)
    return any(is_empty(inner, empty) for inner in (*joined, *memberships))


def _core_empty(core: Core, empty: Collection[str]) -> bool:
    if any(_source_empty(source, empty) for source in core.sources):
        return True
    return any(
        is_empty(semi.block, empty)
        for semi in core.semis
        if not semi.negated and semi.guard is None
    )


def _source_empty(source: Source, empty: Collection[str]) -> bool:
    if isinstance(source, ScanSource):
        return source.relation.lower() in empty
    if isinstance(source, BlockSource):
        return is_empty(source.block, empty)
    if isinstance(source, UnionSource):
        return all(_core_empty(branch, empty) for branch in source.branches)
    if isinstance(source, ValuesSource):
        return _core_empty(source.core, empty)
    assert isinstance(source, ConstantSource | IterationSource | OneRowSource)
    return False
