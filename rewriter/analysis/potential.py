"""Potential tuples of a block: every tuple that it may have after some deletion."""

from __future__ import annotations

from collections.abc import Sequence

from rewriter.algebra import Scalar
from rewriter.analysis.data_flow import dependent, uncertain_having
from rewriter.blocks import GROUP, NOTHING, UNION, Block, Generator, Kind, Match, Named, qualified


def potential_columns(block: Block) -> Sequence[Named]:
    """Return the identity and stable outputs of the tuples, over members, groups or a union."""
    stable = [(output.name, output.scalar) for output in block.outputs if output.stable]
    if block.kind is Kind.UNION:
        return [*((name, qualified(UNION, name)) for name in block.identity), *stable]
    if block.kind is Kind.ROWS:
        return (*block.keys, *stable) or NOTHING
    keys = {name: qualified(GROUP, name) for name, _ in block.keys}
    return [*keys.items(), *(each for each in stable if each[0] not in keys)] or NOTHING


def potential_lookups(block: Block) -> list[Match]:
    """Return the joined blocks whose tuples are known; others would only repeat tuples."""
    return [lookup for lookup in block.joined if lookup.block.stable_identity]


def certain_conditions(block: Block) -> list[Scalar]:
    """Return the conditions of a block without a core that no deletion decides."""
    return [condition for condition in block.conditions if not dependent(condition, block)]


def certain_having(block: Block) -> list[Scalar]:
    """Return the conditions on groups that no deletion decides."""
    if block.difference is not None:
        return []
    uncertain = uncertain_having(block)
    return [condition for condition in block.having if condition not in uncertain]


def stable_generators(block: Block) -> list[Generator]:
    """Return the generators whose rows no deletion changes; others would only repeat tuples."""
    stable: list[Generator] = []
    for generator in block.generators:
        known = {alias for known_generator in stable for alias in known_generator.aliases}
        if not dependent(generator.argument, block, known):
            stable.append(generator)
    return stable
