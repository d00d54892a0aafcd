"""Potential tuples: those that a block may have after some deletion."""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.analysis.certain_tuples import has_certain_members
from rewriter.analysis.dependence import dependent, uncertain_having
from rewriter.analysis.may_throw import without_errors
from rewriter.blocks import (
    GROUP,
    MEMBER,
    NOTHING,
    UNION,
    Block,
    Generator,
    Kind,
    qualified,
)
from rewriter.emit.core import Tables, with_generators, with_sets
from rewriter.emit.trees import from_, named, no_ordinal, table, where
from rewriter.emit.union import union_rows


def potential_query(block: Block, tables: Tables) -> exp.Select:
    """Return the query of every tuple the block may have after some deletion.

    Its columns are the block's identity and stable outputs. Conditions that depend on evaluated
    rows of other blocks, HAVING on more than the keys, and LIMIT are left out.
    """
    if not block.potential_known:
        raise ValueError(f"the potential tuples of block {block.name} are not known")
    stable = [(output.name, output.scalar) for output in block.outputs if output.stable]
    if block.kind is Kind.UNION:
        tuples = union_rows(block, tables.potential, potential=True)
        identity = [(name, qualified(UNION, name)) for name in block.identity]
        return exp.select(*named((*identity, *stable))).from_(tuples.subquery(UNION))
    if block.kind is Kind.ROWS:
        return _members(block, tables).select(*named((*block.keys, *stable) or NOTHING))
    if not block.keys:
        return exp.select(*named(stable or NOTHING))
    computed = block.keys
    if not has_certain_members(block):
        computed = tuple((name, without_errors(key)) for name, key in block.keys)
    inner = _members(block, tables).select(*named(computed))
    inner = inner.group_by(*(no_ordinal(key) for _, key in computed))
    keys = {name: qualified(GROUP, name) for name, _ in block.keys}
    columns = [*keys.items(), *(column for column in stable if column[0] not in keys)]
    certain: list[Scalar] = []
    if block.difference is None:
        uncertain = uncertain_having(block)
        certain = [condition for condition in block.having if condition not in uncertain]
    return where(exp.select(*named(columns)).from_(inner.subquery(GROUP)), certain)


def _members(block: Block, tables: Tables) -> exp.Select:
    """FROM and WHERE of what a block's members may be.

    Other blocks whose tuples are not known only repeat tuples of this one.
    """
    if block.core is not None:
        return with_sets(exp.select().from_(table(tables.members(block), MEMBER)), block)
    select = exp.select()
    for lookup in block.lookups:
        if not lookup.scalar and lookup.block.stable_identity:
            select = from_(select, table(tables.potential(lookup.block), lookup.alias))
    select = with_sets(with_generators(select, _stable_generators(block)), block)
    return where(select, [c for c in block.conditions if not dependent(c, block)])


def _stable_generators(block: Block) -> list[Generator]:
    """Return the generators whose rows no deletion changes; others only repeat tuples."""
    stable: list[Generator] = []
    for generator in block.generators:
        known = {alias for known_generator in stable for alias in known_generator.aliases}
        if not dependent(generator.argument, block, known):
            stable.append(generator)
    return stable
