"""Literals as values of Arrow."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.interpret import arithmetic
from rewriter.interpret.vector import UninterpretableError, Vector, constant


def digits_of(node: Scalar) -> str | None:
    """The digits of a numeric literal, with its sign."""
    if isinstance(node, exp.Literal) and not node.is_string:
        return str(node.this)
    if isinstance(node, exp.Neg):
        digits = digits_of(node.this.unnest())
        return None if digits is None or digits.startswith("-") else f"-{digits}"
    return None


def literal(node: Scalar) -> Vector:
    """The value of a literal, of the type that Spark gives it."""
    if isinstance(node, exp.Null):
        return constant(pa.null(), None)
    if isinstance(node, exp.Boolean):
        return constant(pa.bool_(), bool(node.this))
    digits = digits_of(node)
    if digits is None:
        return constant(pa.string(), str(node.this))
    if "e" in digits.lower():
        return constant(pa.float64(), float(digits))
    if "." in digits:
        return decimal_of(Decimal(digits))
    number = int(digits)
    if -(2**31) <= number < 2**31:
        return constant(pa.int32(), number)
    if -(2**63) <= number < 2**63:
        return constant(pa.int64(), number)
    return decimal_of(Decimal(number))


def decimal_of(number: Decimal) -> Vector:
    """The value of a decimal literal: with no more digits than are written."""
    _, digits, exponent = number.as_tuple()
    scale = max(0, -int(exponent))
    precision = max(len(digits) + max(0, int(exponent)), scale, 1)
    if precision > arithmetic.MAX_DIGITS:
        raise UninterpretableError(str(number))
    return constant(pa.decimal128(precision, scale), number)
