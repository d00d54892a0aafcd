"""Conditions on aggregates that a deletion can only make false.

Deleting members lowers COUNT and MAX, raises MIN, and lowers SUM if no value is negative. A HAVING
made of such comparisons keeps, after any deletion, only groups that it keeps now: members of the
other groups need not be captured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import GROUP, Block, Kind


@dataclass(frozen=True, slots=True)
class Monotone:
    """A HAVING that a deletion can only make false, if these values are never negative."""

    non_negative: tuple[Scalar, ...]


def monotone_having(block: Block) -> Monotone | None:
    """Return why a block's HAVING is monotone, or None if it is not, or there is none.

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
    """Return the scalars that must not be negative, or None if nothing is known."""
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
    """Handle ``greater > less`` (or ≥), where one side is an aggregate and the other constant."""
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
