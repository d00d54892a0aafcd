"""Operators of a Connect plan in which chance decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewriter.dialect import parse
from rewriter.scalars.special_functions import DRAWN, is_drawn

Message = Mapping[str, Any]

_EXPRESSIONS = {"filter": "condition", "project": "expressions", "with_columns": "aliases"}


def draws(expression: Any) -> bool:
    """Tell whether chance decides what an expression is, or one of several."""
    if isinstance(expression, list):
        return any(map(draws, expression))
    if not isinstance(expression, Mapping):
        return False
    text = expression.get("expression_string", {}).get("expression", "")
    if any(name in text.lower() for name in DRAWN) and is_drawn(parse(f"SELECT {text}")):
        return True
    name = expression.get("unresolved_function", {}).get("function_name", "")
    return name.lower() in DRAWN or any(map(draws, expression.values()))


def sorted_before_draws(relation: Message) -> Message | None:
    """Return the order within tasks of the rows of which chance decides in a relation, if any."""
    for kind, expressions in _EXPRESSIONS.items():
        if kind in relation and draws(relation[kind].get(expressions)):
            below = relation[kind]["input"]
            sort: Message | None = below if is_local_sort(below) else None
            return sort
    return None


def is_local_sort(relation: Message) -> bool:
    """Tell whether a relation sorts the rows of each task."""
    return "sort" in relation and not relation["sort"].get("is_global")
