"""Which expressions of a Connect plan have marks, see :mod:`rewriter.bind.columns.types`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from rewriter.bind.catalog import SESSION, WINDOW
from rewriter.dialect import parse


def may_be_marked(expression: Mapping[str, Any]) -> bool:
    """Tell whether an expression is a column, which may have marks, or the call of a time window.

    Raises
    ------
    QueryError
        It is a text that is not understood.
    """
    if "expression_string" in expression:
        (item,) = parse(f"SELECT {expression['expression_string']['expression']}").expressions
        return isinstance(item, exp.Column) or item.name.lower() in (WINDOW, SESSION)
    return "unresolved_attribute" in expression or _is_window(expression)


def _is_window(expression: Mapping[str, Any]) -> bool:
    call = expression.get("unresolved_function", {})
    return str(call.get("function_name", "")).lower() in (WINDOW, SESSION)
