"""Semi-join reduction: of a subquery those groups are captured that its reader's members name.

A subquery that is correlated by equalities is a grouping by the inner sides. Computed for itself it
has a group for every value there is; asked for are those whose values some row outside has. Where
the members of the block outside are known first, the others need not be captured: no deletion adds
a member. (Magic sets: Beeri, Ramakrishnan, *On the Power of Magic*, J. Logic Programming 1991.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import Scalar
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
from rewriter.passes.capture_plan import CapturePlan, SemijoinReduction


def reduce_semijoins(plan: CapturePlan) -> CapturePlan:
    """Return a plan that captures of some blocks those groups alone that their reader asks for.

    ``SELECT ... FROM bids WHERE amount > (SELECT avg(price) FROM cars WHERE cars.id = bids.car)``
    needs the groups of those cars that ``bids`` names.
    """
    blocks = topological(plan.root)
    readings = Counter(inner.name for block in blocks for inner in block.reads())
    reductions: dict[str, SemijoinReduction] = {}
    for reader in blocks:
        # Which groups of a pruned block are kept is known from the rows of all blocks it reads.
        if reader.core is not None and reader.name not in plan.monotone:
            reductions |= {each.block.name: each for each in _reductions(reader, readings)}
    return replace(plan, reductions=reductions) if reductions else plan


def _reductions(reader: Block, readings: Counter[str]) -> Iterator[SemijoinReduction]:
    """Yield the reductions of other blocks to the groups that members of a reader name."""
    assert reader.core is not None
    before = {block.name for inner in reader.core.reads() for block in topological(inner)}
    for probe in reader.probes:
        name = probe.block.name
        filtering = any(semi.block.name == name for semi in reader.core.semis)
        pairs = _keys_of(probe)
        if not pairs or readings[name] > 1 + filtering or _depends(probe.block):
            continue
        if filtering and not (_is_filtered_scan(reader) and _is_scan(probe.block)):
            continue
        if name in before and not filtering:
            continue
        yield SemijoinReduction(probe.block, reader, pairs, probe.null_safe, filtering)


def _keys_of(probe: Probe) -> tuple[tuple[Scalar, str], ...]:
    """Return the pairs that compare values of the reader's members with grouping keys."""
    outputs = {output.name: output.scalar for output in probe.block.outputs}
    names = {name for name, _ in probe.block.keys}
    pairs = []
    for left, right in probe.pairs:
        key = outputs.get(right)
        of_members = aliases(left) == {MEMBER}
        if of_members and isinstance(key, exp.Column) and key.table == GROUP and key.name in names:
            pairs.append((left, key.name))
    return tuple(pairs)


def _depends(block: Block) -> bool:
    """Return True if a group of a block depends on the others, or its members must stay.

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
