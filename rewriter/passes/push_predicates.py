"""Predicate pushdown: conditions on a block's keys, common to all its readers, filter its members.

A named query is captured once for all readers. If each of them keeps only groups of some keys, by
conditions of its own, members of other groups need not be captured: no deletion changes a key.
Spark pushes the conditions of one reader into its inputs; this pushes the disjunction over all
readers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import Scalar, bracketed
from rewriter.algebra import column as attribute
from rewriter.analysis.may_throw import may_raise
from rewriter.blocks import (
    GROUP,
    MEMBER,
    UNION,
    Block,
    BlockSource,
    aliases,
    qualified,
    topological,
)
from rewriter.passes.capture_plan import Alike, CapturePlan
from rewriter.scalars.text import rewrite_columns, text

_Reading: TypeAlias = list[Scalar]
"""The conditions of one reader of a block: over its outputs, or translated to members."""


def push_predicates(plan: CapturePlan) -> CapturePlan:
    """Return a plan that captures no members that the conditions of every reader exclude.

    ``WITH c AS (SELECT model, max(price) AS p FROM cars GROUP BY model) SELECT ... FROM c a, c b
    WHERE a.model = 'x' AND b.model = 'y'`` needs members of the models x and y.
    """
    readings: defaultdict[str, list[_Reading]] = defaultdict(list)
    readings[plan.root.name].append([])
    conditions: dict[str, Scalar] = {}
    for block in reversed(topological(plan.root)):
        read = _independent(block, readings[block.name])
        below = [_below(block, reading) for reading in read]
        for inner, on_inner in _read(block, below, plan.alike):
            readings[inner.name].append(on_inner)
        condition = _any(below, {MEMBER})
        if condition is not None and block.core is not None and not block.core.once:
            over_sources = _over(condition, dict(block.core.select))
            if not may_raise(over_sources):
                conditions[block.name] = over_sources
    return replace(plan, conditions=conditions) if conditions else plan


def _independent(block: Block, readings: Sequence[_Reading]) -> Sequence[_Reading]:
    """Return the conditions that exclude no row on which the other rows of a block depend.

    The rows of a window's partition depend only on each other.
    """
    if block.limited or block.sets or block.copies:
        return [[]]
    if not block.windowed:
        return readings
    scalars = [*(output.scalar for output in block.outputs), *(key.scalar for key in block.order)]
    partitions = [
        {text(key) for key in window.args.get("partition_by") or ()}
        for scalar in scalars
        for window in scalar.find_all(exp.Window)
    ]
    keys = set.intersection(*partitions)
    names = {output.name for output in block.outputs if text(output.scalar) in keys}
    return [
        [c for c in reading if {column.name for column in c.find_all(exp.Column)} <= names]
        for reading in readings
    ]


def _below(block: Block, reading: _Reading) -> _Reading:
    """Return the conditions on outputs that translate to members, or to rows of a union."""
    keys = dict(block.keys)
    scalars_of = {}
    for output in block.outputs:
        scalar = output.scalar
        if isinstance(scalar, exp.Column) and scalar.table == GROUP:
            scalar = keys.get(scalar.name, scalar)
        if isinstance(scalar, exp.Column | exp.Literal) and aliases(scalar) != {GROUP}:
            scalars_of[output.name] = scalar
    known = (
        c for c in reading if {column.name for column in c.find_all(exp.Column)} <= {*scalars_of}
    )
    return [_over(c, scalars_of) for c in known]


def _over(condition: Scalar, scalars: Mapping[str, Scalar]) -> Scalar:
    return rewrite_columns(condition, lambda column: scalars[column.name])


def _read(
    block: Block, below: Sequence[_Reading], alike: Alike
) -> Iterator[tuple[Block, _Reading]]:
    """Yield each read of a block by this one, with the conditions on its rows."""
    for number, branch in enumerate(block.branches):
        for reading in below:
            yield branch, _of_branch(block, number, [*reading, *block.having], alike)
    core = block.core
    decided = core is not None and core.once
    known = [] if decided else _known(block)
    joined = _joined(block)
    for alias, inner in joined.items():
        conditions = [c for c in known if aliases(c) == {alias} and not may_raise(c)]
        of_readers = None if decided else _any(below, {alias})
        if of_readers is not None:
            conditions.append(of_readers)
        yield inner, [_of_outputs(c) for c in conditions]
    numbers = _numbers(known)
    for probe in (*block.probes, *(core.semis if core is not None else ())):
        pairs = ((column, numbers.get(text(left))) for left, column in probe.pairs)
        yield probe.block, [_one_of(attribute(c), values) for c, values in pairs if values]
    for inner in _read_without_condition(block):
        yield inner, []


def _joined(block: Block) -> dict[str, Block]:
    return {lookup.alias: lookup.block for lookup in block.joined}


def _known(block: Block) -> list[Scalar]:
    """Return the conditions of a block on its sources and members, with implied ones.

    If a scalar equals one of some numbers and a second scalar, the second scalar equals one of them
    too.
    """
    conditions = list(block.conditions)
    if block.core is not None:
        conditions += block.core.predicates
        stored = (qualified(MEMBER, name) for name, _ in block.core.select)
        scalars = (scalar for _, scalar in block.core.select)
        conditions += [_equal(*pair) for pair in zip(stored, scalars, strict=True)]
    equal = [
        pair
        for c in conditions
        if isinstance(c, exp.EQ)
        for pair in permutations((c.left.unnest(), c.right.unnest()))
        if aliases(pair[0])
    ]
    numbers = _numbers(conditions)
    before = -1
    while before != len(numbers):
        before = len(numbers)
        for left, right in equal:
            if aliases(right) and text(right) in numbers and text(left) not in numbers:
                numbers[text(left)] = numbers[text(right)]
                conditions.append(_one_of(left, numbers[text(right)]))
    return conditions


def _numbers(conditions: Iterable[Scalar]) -> dict[str, Sequence[Scalar]]:
    """Return, by its text, each scalar that equals one of some numbers, and the numbers.

    Equality with texts is not transitive: CHAR is padded in some comparisons.
    """
    numbers: dict[str, Sequence[Scalar]] = {}
    for condition in conditions:
        compared: list[tuple[Scalar, Sequence[Scalar]]] = []
        if isinstance(condition, exp.EQ):
            sides = condition.left.unnest(), condition.right.unnest()
            compared = [(left, (right,)) for left, right in permutations(sides)]
        elif isinstance(condition, exp.In):
            compared = [(condition.this.unnest(), condition.expressions)]
        for left, values in compared:
            if aliases(left) and not may_raise(left) and values and all(map(_is_number, values)):
                known = numbers.get(text(left), values)
                numbers[text(left)] = min(known, values, key=len)
    return numbers


def _is_number(scalar: Scalar) -> bool:
    arithmetic = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Paren)
    return all(
        isinstance(node, arithmetic) or (isinstance(node, exp.Literal) and not node.is_string)
        for node in scalar.walk()
    )


def _one_of(left: Scalar, values: Sequence[Scalar]) -> Scalar:
    """Return the condition that a scalar equals one of some values.

    It does not use IN, which compares all of them in one type: a text equals a number as a number.
    """
    return exp.or_(*(_equal(left, value) for value in values))


def _equal(left: Scalar, right: Scalar) -> exp.EQ:
    return exp.EQ(this=bracketed(left.copy()), expression=bracketed(right.copy()))


def _read_without_condition(block: Block) -> Iterator[Block]:
    """Yield the blocks that a block reads without conditions of its own on them."""
    yield from (lookup.block for lookup in block.subqueries)
    if block.core is not None:
        joined = {match.alias for match in (*block.joined, *block.subqueries)}
        sources = block.core.sources
        rest = tuple(s for s in sources if not isinstance(s, BlockSource) or s.alias not in joined)
        yield from replace(block.core, sources=rest, semis=()).reads()


def _of_outputs(condition: Scalar) -> Scalar:
    return rewrite_columns(condition, lambda column: attribute(column.name))


def _of_branch(union: Block, branch_number: int, reading: _Reading, alike: Alike) -> _Reading:
    """Return the conditions on rows of a union as conditions on the outputs of a branch."""
    columns = {output.name: number for number, output in enumerate(union.branches[0].outputs)}
    outputs = union.branches[branch_number].outputs
    scalars = {name: attribute(outputs[number].name) for name, number in columns.items()}
    known = (c for c in reading if aliases(c) <= {UNION} and not may_raise(c))
    return [
        _over(c, scalars)
        for c in known
        if all(_is_alike(union, columns[read.name], alike) for read in c.find_all(exp.Column))
    ]


def _is_alike(union: Block, number: int, alike: Alike) -> bool:
    """Return True if a union reads a column of every branch unchanged: all texts, or one type."""
    origins = list(_of_union(union, number))
    literals = [scalar for _, scalar in origins if isinstance(scalar, exp.Literal)]
    if literals:
        return len(literals) == len(origins) and all(literal.is_string for literal in literals)
    known = all(aliases(scalar) == {MEMBER} for _, scalar in origins)
    return known and alike([(block, scalar.name) for block, scalar in origins])


def _of_union(union: Block, number: int) -> Iterator[tuple[Block, Scalar]]:
    for branch in union.branches:
        yield from _origins(branch, branch.outputs[number].name)


def _origins(block: Block, output: str) -> Iterator[tuple[Block, Scalar]]:
    """Yield the scalars behind an output: literals and member columns, as far as known."""
    below = _below(block, [attribute(output)])
    scalar = below[0] if below else attribute(output)
    joined = _joined(block)
    if isinstance(scalar, exp.Column) and scalar.table == UNION:
        names = [output.name for output in block.branches[0].outputs]
        yield from _of_union(block, names.index(scalar.name))
    elif isinstance(scalar, exp.Column) and scalar.table in joined:
        yield from _origins(joined[scalar.table], scalar.name)
    else:
        yield block, scalar


def _any(readings: Sequence[_Reading], names: set[str]) -> Scalar | None:
    """Return the disjunction of readings, each restricted to conditions on some names."""
    each: dict[str, Scalar] = {}
    for reading in readings:
        conditions = [c for c in reading if aliases(c) <= names]
        if not conditions:
            return None
        both = exp.and_(*(c.copy() for c in conditions))
        each[text(both)] = both
    return exp.or_(*each.values()) if each else None
