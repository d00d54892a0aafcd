"""The plan of a capture: the members that it writes, their order, and semijoins that reduce them.

The members of groups that HAVING drops are left out if no deletion can bring the groups back.
Deleting members lowers COUNT and MAX, raises MIN, and lowers SUM if no value is negative: a HAVING
made of such comparisons keeps, after any deletion, only groups that it keeps now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import (
    GROUP,
    MEMBER,
    Block,
    Kind,
    Match,
    ScanSource,
    ValuesSource,
    aliases,
    topological,
)
from rewriter.scalars.text import text

MemberColumn: TypeAlias = tuple[Block, str]
"""A column of a block's members."""

Alike = Callable[[Sequence[MemberColumn]], bool]
"""Returns True if all columns of members have one type."""


@dataclass(frozen=True, slots=True)
class SemijoinReduction:
    """A reduction of a block to the groups that its reader needs.

    Parameters
    ----------
    block
        The block.
    reader
        The block whose members name the groups.
    pairs
        The values of members, and the keys that they are compared with.
    null_safe
        NULL equals NULL.
    prefilter
        Without this reduction, the groups filter the reader's members: with two scans, the members
        of either block can reduce the other's.
    """

    block: Block
    reader: Block
    pairs: tuple[tuple[Scalar, str], ...]
    null_safe: bool
    prefilter: bool


@dataclass(frozen=True, slots=True)
class CapturePlan:
    """The members to capture of each block; the blocks themselves do not change.

    Parameters
    ----------
    root
        The block of the answer.
    alike
        Asked of columns that a union puts into one.
    conditions
        By block, what some reader asks of its members: over the sources of its core.
    monotone
        By block, why only members of the groups that HAVING keeps are needed.
    reductions
        By block, whose members name the groups that are needed.
    """

    root: Block
    alike: Alike = field(compare=False)
    conditions: Mapping[str, Scalar] = field(default_factory=dict)
    monotone: Mapping[str, Monotone] = field(default_factory=dict)
    reductions: Mapping[str, SemijoinReduction] = field(default_factory=dict)

    def with_conditions(self, block: Block) -> Block:
        """Return a block without the members that no reader uses."""
        condition = self.conditions.get(block.name)
        if block.core is None or condition is None:
            return block
        predicates = (*block.core.predicates, condition)
        return replace(block, core=replace(block.core, predicates=predicates))

    def captured(self, block: Block) -> Block:
        """Return a block whose members are captured under this plan.

        It lacks the members that no reader uses, and its members are not filtered by the blocks
        that they reduce.
        """
        block = self.with_conditions(block)
        reduced = {name for name, each in self.reductions.items() if each.prefilter}
        if block.core is None or not reduced:
            return block
        semis = tuple(semi for semi in block.core.semis if semi.block.name not in reduced)
        return replace(block, core=replace(block.core, semis=semis))

    def order(self) -> tuple[Block, ...]:
        """Return all blocks, each before the blocks whose members need its members."""
        order: dict[str, Block] = {}

        def visit(block: Block) -> None:
            if block.name in order:
                return
            if block.name in self.reductions:
                visit(self.reductions[block.name].reader)
            core = self.captured(block).core
            for read in block.branches if core is None else core.reads():
                for inner in topological(read):
                    visit(inner)
            order[block.name] = block

        for block in topological(self.root):
            visit(block)
        return tuple(order.values())

    def without_reduction(self, name: str) -> CapturePlan:
        """Return the plan with all groups of a block captured."""
        return replace(
            self, reductions={key: each for key, each in self.reductions.items() if key != name}
        )

    def lines(self) -> Iterator[str]:
        """Yield, in order, the captured part of each block with members."""
        for block in self.order():
            if block.core is None:
                continue
            yield f"{block.name}: {', '.join(self._of(block)) or 'all members'}"

    def _of(self, block: Block) -> Iterator[str]:
        if block.name in self.conditions:
            yield f"members where {text(self.conditions[block.name])}"
        if block.name in self.monotone:
            yield "members of the groups that HAVING keeps"
        if block.name in self.reductions:
            reduction = self.reductions[block.name]
            equal = "<=>" if reduction.null_safe else "="
            pairs = (f"{key} {equal} {text(left)}" for left, key in reduction.pairs)
            yield f"members of groups that {reduction.reader.name} names, {' AND '.join(pairs)}"


def prune_groups(plan: CapturePlan) -> CapturePlan:
    """Return a plan that captures only members of groups that a monotone HAVING keeps.

    ``SELECT dealer FROM cars GROUP BY dealer HAVING count(*) > 5`` has, after any deletion, only
    dealers that it has now.
    """
    known = {block.name: monotone_having(block) for block in topological(plan.root)}
    monotone = {name: reason for name, reason in known.items() if reason is not None}
    return replace(plan, monotone=monotone) if monotone else plan


def reduce_semijoins(plan: CapturePlan) -> CapturePlan:
    """Return a plan that captures, for some blocks, only the groups that their reader needs.

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
    """Yield the reductions of blocks to the groups that members of a reader name."""
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


def _keys_of(probe: Match) -> tuple[tuple[Scalar, str], ...]:
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
    """Return True if a group of a block depends on other groups, or all members must be captured.

    Joined with outer values, members are reduced already.
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


# -- conditions that a deletion can only make false --------------------------------------------


@dataclass(frozen=True, slots=True)
class Monotone:
    """A HAVING that a deletion can only make false, if these values are never negative."""

    non_negative: tuple[Scalar, ...]


def monotone_having(block: Block) -> Monotone | None:
    """Return the monotonicity of a block's HAVING, or None if it is not monotone or missing.

    The members themselves must be monotone too: no conditions on other blocks' rows.
    """
    if block.kind is not Kind.GROUP or not block.keys or not block.having or block.core is None:
        return None
    if block.sets or block.difference or not (block.of_members_alone and block.stable_identity):
        return None
    aggregates = dict(block.aggregates)
    facts: list[Scalar] = []
    for condition in block.having:
        scalars = _monotone(condition, aggregates)
        if scalars is None:
            return None
        facts += scalars
    return Monotone(tuple(facts))


def _monotone(condition: Scalar, aggregates: Mapping[str, Scalar]) -> list[Scalar] | None:
    """Return the scalars that must not be negative, or None if monotonicity is unknown."""
    condition = condition.unnest()
    if isinstance(condition, exp.And | exp.Or):
        left = _monotone(condition.left, aggregates)
        right = _monotone(condition.right, aggregates)
        return None if left is None or right is None else left + right
    if isinstance(condition, exp.GT | exp.GTE):
        return _bounded(condition.left, condition.right, aggregates)
    if isinstance(condition, exp.LT | exp.LTE):
        return _bounded(condition.right, condition.left, aggregates)
    return None


def _bounded(
    greater: Scalar, less: Scalar, aggregates: Mapping[str, Scalar]
) -> list[Scalar] | None:
    """Handle ``greater > less`` (or ≥), with an aggregate on one side and a constant on the
    other.
    """
    call = _aggregate(greater, aggregates)
    if call is not None and _constant(less):
        if isinstance(call, exp.Count | exp.Max):
            return []
        if isinstance(call, exp.Sum) and not isinstance(call.this, exp.Distinct):
            return [call.this]
        return None
    call = _aggregate(less, aggregates)
    if call is not None and _constant(greater) and isinstance(call, exp.Min):
        return []
    return None


def _aggregate(scalar: Scalar, aggregates: Mapping[str, Scalar]) -> Scalar | None:
    scalar = scalar.unnest()
    if isinstance(scalar, exp.Column) and scalar.table == GROUP:
        return aggregates.get(scalar.name)
    return None


def _constant(scalar: Scalar) -> bool:
    return not any(True for _ in scalar.find_all(exp.Column))
