"""The type of the annotations of a block's tuples: their operators, as the plan determines.

δ stands for a group and Σ for its members, ⊖ for a difference or a negated membership, Ref for a
tuple of another block, and brackets for a condition, written before the annotations that it guards.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.analysis.data_flow import dependent, uncertain_having
from rewriter.blocks import (
    GROUP,
    UNION,
    Block,
    Kind,
    Match,
    aliases,
    qualified,
)
from rewriter.scalars.comparable import AGGREGATES, COMPARISONS
from rewriter.scalars.text import text
from semiring.token import format_value


class _Compound(str):
    """A product or difference, which has parentheses as a factor."""

    __slots__ = ()


def annotation_type(block: Block) -> str:
    """Return the type of the annotations of a block's tuples, as text."""
    uncut = _uncut(block)
    if block.limited:
        last = "∞" if block.limit is None else block.offset + block.limit
        uncut = _product([uncut, f"[{block.offset + 1} ≤ place ≤ {last}]({uncut})"])
    return str(uncut)


def _uncut(block: Block) -> str:
    if block.kind is Kind.UNION:
        branches = " | ".join(map(_ref, block.branches))
        return _product([f"({branches})", *(_condition_on(c, block) for c in block.having)])
    member = _member(block)
    if block.kind is Kind.ROWS:
        return member
    members = f"Σ({member})"
    if block.difference is not None:
        less = _Compound(f"{members} ⊖ {members}")
        return _Compound(f"{members} ⊖ ({less})") if block.difference.common else less
    root = f"δ({members})" if block.keys else "1"
    return _product([root, *(_condition(c, block, member) for c in uncertain_having(block))])


def _factor(part: str) -> str:
    return f"({part})" if isinstance(part, _Compound) else part


def _product(factors: Sequence[str]) -> str:
    return factors[0] if len(factors) == 1 else _Compound(" · ".join(map(_factor, factors)))


def _ref(block: Block) -> str:
    return f"Ref({block.name})"


def _member(block: Block) -> str:
    factors: list[str] = [token.relation for token in block.tokens]
    calls = [generator.argument for generator in block.generators if generator.placed]
    called = {alias: call for call in calls for alias in aliases(call)}
    for lookup in block.joined:
        tuple_read, call = _ref(lookup.block), called.get(lookup.alias)
        factors.append(tuple_read if call is None else f"{call.this}({tuple_read})")
    factors += map(_membership, block.memberships)
    factors += [_ref(outer.block) for outer in block.lookups if outer.factor]
    factors += [_condition_on(c, block) for c in block.conditions if dependent(c, block)]
    if block.grouped and not block.stable_identity:
        factors += [
            _condition_on(exp.NullSafeEQ(this=key.copy(), expression=qualified(GROUP, name)), block)
            for name, key in block.keys
            if dependent(key, block)
        ]
    return _product(factors) if factors else "1"


def _condition_on(condition: Scalar, block: Block) -> str:
    """Return a condition on values of other blocks' tuples."""
    read = aliases(condition)
    matches = block.by_alias
    known = [matches[alias].block for alias in sorted(read) if alias in matches]
    if UNION in read:
        known += block.branches
    return f"[{text(condition)}]({', '.join(map(_ref, known))})"


def _membership(semi: Match) -> str:
    member_of = f"δ({_ref(semi.block)})"
    return _Compound(f"1 ⊖ {member_of}") if semi.negated else member_of


def _condition(condition: Scalar, block: Block, member: str) -> str:
    """Return the text of a HAVING condition: the comparison itself if it is simple."""
    condition = condition.unnest()
    op = COMPARISONS.get(type(condition))
    if op is not None:
        sides = (condition.this, condition.expression)
        left, right = (_operand(side, block, member) for side in sides)
        if left is not None and right is not None:
            return f"[{left} {op} {right}]"
    return f"[{text(condition)}](Σ({member}))"


def _operand(scalar: Scalar, block: Block, member: str) -> str | None:
    scalar = scalar.unnest()
    if isinstance(scalar, exp.Literal):
        return format_value(scalar.this if scalar.is_string else scalar.to_py())
    if isinstance(scalar, exp.Column) and scalar.table == GROUP:
        call = dict(block.aggregates).get(scalar.name)
        name = AGGREGATES.get(type(call)) if call is not None else None
        if call is not None and name is not None:
            value = "1" if isinstance(call.this, exp.Star) else format_value(scalar.name)
            distinct = "DISTINCT " if isinstance(call.this, exp.Distinct) else ""
            return f"{name}({distinct}{_factor(member)} ⊗ {value})"
    return None
