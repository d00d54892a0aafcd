"""Which groups of a block are asked for at all: those that the members of its one reader name.

A subquery that is correlated by equalities is a grouping by the inner sides. Computed for itself it
has a group for every value there is; asked for are those whose values some row outside has. Where
the members of the block outside are known first, the others need not be captured: no deletion adds
a member. (Magic sets: Beeri, Ramakrishnan, *On the Power of Magic*, J. Logic Programming 1991.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.analysis.monotone import monotone_having
from rewriter.blocks import (
    GROUP,
    MEMBER,
    Block,
    Kind,
    Probe,
    ScanSource,
    ValuesSource,
    aliases,
    topological,
)


@dataclass(frozen=True, slots=True)
class Reduction:
    """The groups of a block that its reader asks for.

    Parameters
    ----------
    block
        The block.
    reader
        The block whose members name them.
    pairs
        The values that members have, and the keys they are compared with.
    null_safe
        NULL equals NULL.
    prefilter
        The members of the reader are otherwise filtered by the groups: those of either of the two
        blocks, each a scan, can reduce those of the other.
    """

    block: Block
    reader: Block
    pairs: tuple[tuple[Scalar, str], ...]
    null_safe: bool
    prefilter: bool


def reductions(root: Block) -> Mapping[str, Reduction]:
    """Return by name the blocks whose groups can be reduced to those that are asked for."""
    blocks = topological(root)
    readings = Counter(inner.name for block in blocks for inner in block.reads())
    found = {}
    for reader in blocks:
        if reader.core is None or monotone_having(reader) is not None:
            # Which of its groups are kept is known from the rows of all blocks that it reads.
            continue
        before = {block.name for inner in reader.core.reads() for block in topological(inner)}
        for one in reader.probes:
            filtering = any(semi.block.name == one.block.name for semi in reader.core.semis)
            pairs = _keys_of(one)
            if not pairs or readings[one.block.name] > 1 + filtering or _depends(one.block):
                continue
            if filtering and not (_is_filtered_scan(reader) and _is_scan(one.block)):
                continue
            if one.block.name in before and not filtering:
                continue
            found[one.block.name] = Reduction(one.block, reader, pairs, one.null_safe, filtering)
    return found


def without_prefilters(block: Block, found: Mapping[str, Reduction]) -> Block:
    """Return a block whose members are not filtered by the blocks that they reduce."""
    reduced = {name for name, one in found.items() if one.prefilter}
    if block.core is None or not reduced:
        return block
    semis = tuple(semi for semi in block.core.semis if semi.block.name not in reduced)
    return replace(block, core=replace(block.core, semis=semis))


def in_order_of_members(root: Block, found: Mapping[str, Reduction]) -> tuple[Block, ...]:
    """Return all blocks, those first whose members those of others need."""
    order: dict[str, Block] = {}

    def visit(block: Block) -> None:
        if block.name in order:
            return
        if block.name in found:
            visit(found[block.name].reader)
        bare = without_prefilters(block, found)
        for read in block.branches if bare.core is None else bare.core.reads():
            for inner in topological(read):
                visit(inner)
        order[block.name] = block

    for block in topological(root):
        visit(block)
    return tuple(order.values())


def _keys_of(asked: Probe) -> tuple[tuple[Scalar, str], ...]:
    """The pairs that compare values of the reader's members with grouping keys."""
    outputs = {output.name: output.scalar for output in asked.block.outputs}
    names = {name for name, _ in asked.block.keys}
    found = []
    for left, right in asked.pairs:
        key = outputs.get(right)
        of_members = aliases(left) == {MEMBER}
        if of_members and isinstance(key, exp.Column) and key.table == GROUP and key.name in names:
            found.append((left, key.name))
    return tuple(found)


def _depends(block: Block) -> bool:
    """Whether a group of a block depends on the others, or its members are not to be reduced.

    They are reduced already where they are joined with values from outside.
    """
    core = block.core
    return (
        block.kind is not Kind.GROUP
        or core is None
        or core.once
        or core.sample is not None
        or bool(block.sets)
        or block.limited
        or block.windowed
        or bool(block.copies)
        or any(isinstance(source, ValuesSource) for source in core.sources)
    )


def _is_scan(block: Block) -> bool:
    assert block.core is not None
    sources = block.core.sources
    return len(sources) == 1 and isinstance(sources[0], ScanSource) and not block.core.generators


def _is_filtered_scan(block: Block) -> bool:
    return _is_scan(block) and block.core is not None and bool(block.core.predicates)
