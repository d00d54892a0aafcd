"""Operators of two values, and how operators are written."""

from __future__ import annotations

import ast
from typing import Any

from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.special import binary_method
from lipstick.systems.scripts.reading.values import COPIED, IMMUTABLE, MISSING, NO_REGIONS, Value

_SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|",
    ast.BitXor: "^", ast.BitAnd: "&", ast.And: "and", ast.Or: "or", ast.Not: "not",
    ast.UAdd: "+", ast.USub: "-", ast.Invert: "~", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<",
    ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.IsNot: "is not", ast.In: "in",
    ast.NotIn: "not in",
}  # fmt: skip

_ARITHMETIC = (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
"""Operators whose results hold no parts of their operands."""

FRAMES = ("frame", "sparkframe", "column", "sparkcolumn", "array")


def sign(operator: ast.AST) -> str:
    """Return the sign of an operator, as it is written."""
    return _SIGNS[type(operator)]


def binary(context: Context, op: ast.operator, left: Value, right: Value, how: str) -> Value:
    """Add an operation of two values."""
    result = binary_method(context, op, left, right)
    if result is not None:
        return result
    kind = _kind_of(op, left.kind, right.kind)
    regions = NO_REGIONS
    if kind not in IMMUTABLE and kind not in FRAMES:
        # Of lists the result holds the same elements.
        if left.regions or right.regions:
            region = context.region(sign(op))
            context.divide(region)
            if not isinstance(op, _ARITHMETIC):
                context.keep([region], context.inside(left.regions | right.regions))
            regions = frozenset([region])
    elif kind in COPIED:
        regions = frozenset([context.region(sign(op))])
    return context.operate(
        sign(op), how, (left, right), kind, regions, _folded(op, left.const, right.const),
        ratio="1:1",
    )  # fmt: skip


def _kind_of(op: ast.operator, left: str, right: str) -> str:
    for kind in FRAMES:
        if kind in (left, right):
            return kind
    if left == "path" and isinstance(op, ast.Div):
        return "path"
    if left == "text" and isinstance(op, ast.Add | ast.Mod | ast.Mult):
        return "text"
    return left if left == right else ""


def _folded(op: ast.operator, left: Any, right: Any) -> Any:
    """The text that two texts make, so that names of files are known."""
    if isinstance(left, str) and isinstance(right, str):
        if isinstance(op, ast.Add):
            return left + right
        if isinstance(op, ast.Div):
            return f"{left.rstrip('/')}/{right}"
    return MISSING
