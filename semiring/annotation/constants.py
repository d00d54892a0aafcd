"""The constants of annotation types."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from types import NoneType

from semiring.errors import AnnotationError

_CONSTANTS = (NoneType, bool, int, str, float, Decimal, date, bytes)


def check_constant(value: object) -> None:
    """Check that a value is of a type that literals of SQL have.

    Raises
    ------
    AnnotationError
        For a value of another type.
    """
    if not isinstance(value, _CONSTANTS):
        kind = type(value).__name__
        raise AnnotationError(f"a {kind} cannot be a constant of an annotation type")
