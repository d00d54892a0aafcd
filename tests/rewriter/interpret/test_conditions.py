"""Conditions taken apart."""

from __future__ import annotations

import pytest

from rewriter.interpret.calls import AllOf, AnyOf, Compared, Condition, taken_apart
from rewriter.scalars.text import scalar


def shown(condition: Condition) -> str:
    """Return a condition on one line: comparisons with their sides, what else is true as it is."""
    match condition:
        case AllOf(parts):
            return f"({' and '.join(map(shown, parts))})"
        case AnyOf(parts):
            return f"({' or '.join(map(shown, parts))})"
        case Compared(comparison, _, negated):
            sides = f"{comparison.left.text} {comparison.op} {comparison.right.text}"
            return f"not {sides}" if negated else sides
        case _:
            return f"[{condition.scalar.text}]"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("a.x = 1 AND NOT a.y < 2", "(a.x = 1 and a.y >= 2)"),
        ("NOT (a.x = 1 AND a.y)", "(a.x <> 1 or [NOT (a.y)])"),
        ("NOT (a.x = 1 OR NOT a.y)", "(a.x <> 1 and [a.y])"),
        ("a.x BETWEEN 1 AND 2", "(a.x >= 1 and a.x <= 2)"),
        ("a.x NOT BETWEEN 1 AND 2", "(a.x < 1 or a.x > 2)"),
        ("a.x IN (1, 2)", "(a.x = 1 or a.x = 2)"),
        ("a.x NOT IN (1, 2)", "(a.x <> 1 and a.x <> 2)"),
        ("a.x IS NULL", "a.x <=> NULL"),
        ("a.x IS NOT NULL", "not a.x <=> NULL"),
        ("a.x = NULL", "a.x = NULL"),
        ("NOT a.x <=> 1", "not a.x <=> 1"),
        ("a.x IS TRUE", "[a.x IS TRUE]"),
    ],
)
def test_taken_apart(sql: str, expected: str) -> None:
    assert shown(taken_apart(scalar(sql))) == expected
