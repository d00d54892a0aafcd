"""Rows that may not be there, and the scalars that must not fail for them.

A core reads the potential tuples of other blocks, and rows of outer joins padded with NULLs that
have a partner. A scalar that may raise an error is left to the tail, which knows what is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.analysis.cardinality import is_certain
from rewriter.analysis.may_throw import may_raise, may_raise_of_nulls
from rewriter.blocks import Block, BlockSource, Semi, aliases
from rewriter.lower.context import OpenCore


def is_stable(scalar: Scalar, core: OpenCore) -> bool:
    """Return True if no deletion that leaves the row alive changes the value of the scalar."""
    if scalar.find(exp.Window):
        return False
    for node in scalar.find_all(exp.Column):
        if node.table not in core.stable:
            return False
        columns = core.stable[node.table]
        if columns is not None and node.name not in columns:
            return False
    return True


def is_prefilter(semi: Semi, core: OpenCore) -> bool:
    """Return True if members without a matching potential tuple may be left out."""
    return (
        not semi.negated
        and semi.guard is None
        and semi.block.stable_identity
        and all(is_stable(left, core) and not is_premature(left, core) for left, _ in semi.pairs)
    )


def is_premature(scalar: Scalar, core: OpenCore, *, overflows: bool = False) -> bool:
    """Return True if a core would compute a scalar that may fail for rows that are not present.

    An overflow only counts where leaving the scalar to the tail costs nothing: a condition such as
    ``a.week = b.week - 52`` is what keeps a core small.
    """
    if not may_raise(scalar, overflows=overflows):
        return False
    sources = (source for source in core.sources if isinstance(source, BlockSource))
    uncertain = {source.alias for source in sources if not is_certain(source.block)}
    guards = [semi.guard for semi in core.semis if semi.guard is not None]
    padded = frozenset(alias for guard in guards for alias in aliases(guard))
    touched = not uncertain.isdisjoint(aliases(scalar))
    return touched or may_raise_of_nulls(scalar, padded)


def is_protected(predicate: Scalar, earlier: Iterable[Scalar], core: OpenCore) -> bool:
    """Return True if an earlier predicate, which may fail, keeps rows from this one.

    Spark evaluates the conditions on one input in their order.
    """
    if not may_raise(predicate, overflows=False):
        return False
    values = {lookup.alias for lookup in core.scalars}
    read = aliases(predicate)
    return any(aliases(other) - values <= read for other in earlier)


def with_certain_outputs(block: Block) -> Block:
    """A block that others read: its stable outputs fail for none of its potential tuples."""
    if is_certain(block):
        return block
    outputs = (
        replace(output, stable=output.stable and not may_raise(output.scalar, overflows=False))
        for output in block.outputs
    )
    return replace(block, outputs=tuple(outputs))
