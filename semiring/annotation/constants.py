"""Constants of annotation types as JSON values."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from semiring.errors import AnnotationError


def encode_constant(value: Any) -> Any:
    """A constant as JSON values.

    Raises
    ------
    AnnotationError
        For a value of another type than literals of SQL have.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, datetime):
        return {"timestamp": value.isoformat()}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    if isinstance(value, bytes):
        return {"binary": value.hex()}
    raise AnnotationError(f"a {type(value).__name__} cannot be a constant of an annotation type")


def decode_constant(encoded: Any) -> Any:
    """The constant that `encode_constant` gave.

    Raises
    ------
    AnnotationError
        If `encoded` is not such a value.
    """
    if not isinstance(encoded, dict):
        return encoded
    ((kind, text),) = encoded.items()
    if kind == "float":
        return float(text)
    if kind == "decimal":
        return Decimal(text)
    if kind == "timestamp":
        return datetime.fromisoformat(text)
    if kind == "date":
        return date.fromisoformat(text)
    if kind == "binary":
        return bytes.fromhex(text)
    raise AnnotationError(f"unknown constant {encoded!r} in an annotation type")
