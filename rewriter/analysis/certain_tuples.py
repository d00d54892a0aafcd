"""Blocks whose potential tuples are all there: no condition of their tails drops any."""

from __future__ import annotations

from rewriter.blocks import Block, Kind


def is_certain(block: Block) -> bool:
    """Whether every potential tuple of a block is there."""
    if block.having or block.limited or block.difference is not None:
        return False
    if block.kind is Kind.UNION:
        return all(map(is_certain, block.branches))
    return not block.identity or has_certain_members(block)


def has_certain_members(block: Block) -> bool:
    """Whether every member of a block is a row of its tail."""
    read = (lookup.block for lookup in block.lookups if not lookup.scalar)
    return not block.semis and not block.conditions and all(map(is_certain, read))
