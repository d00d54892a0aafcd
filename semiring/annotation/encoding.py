"""Annotation types as JSON values."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from semiring.annotation.base import AnnotationType
from semiring.annotation.comparisons import Compare, Literal, Scalar, TensorOf
from semiring.annotation.constants import decode_constant, encode_constant
from semiring.annotation.operations import Alt, BlackBox, Monus, Times
from semiring.annotation.sources import One, Ref, TokenOf
from semiring.annotation.sums import Delta, Sum
from semiring.errors import AnnotationError

_TYPES: dict[str, type[AnnotationType]] = {
    kind.__name__: kind
    for kind in (
        TokenOf,
        Ref,
        One,
        Times,
        Sum,
        Delta,
        Alt,
        Monus,
        TensorOf,
        Scalar,
        Literal,
        Compare,
        BlackBox,
    )
}


def to_json(kind: AnnotationType) -> dict[str, Any]:
    """An annotation type as JSON values; see `from_json`."""
    encoded: dict[str, Any] = {"type": type(kind).__name__}
    for item in fields(kind):  # type: ignore[arg-type]
        encoded[item.name] = _encode(getattr(kind, item.name))
    return encoded


def from_json(encoded: Any) -> AnnotationType:
    """The type that `to_json` gave.

    Raises
    ------
    AnnotationError
        If `encoded` is not such a value.
    """
    if not isinstance(encoded, dict) or encoded.get("type") not in _TYPES:
        raise AnnotationError(f"not an annotation type: {encoded!r}")
    arguments = {name: _decode(item) for name, item in encoded.items() if name != "type"}
    try:
        return _TYPES[encoded["type"]](**arguments)
    except TypeError as error:
        raise AnnotationError(f"not an annotation type: {encoded!r}: {error}") from error


def _encode(value: Any) -> Any:
    if isinstance(value, AnnotationType):
        return to_json(value)
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    return encode_constant(value)


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_decode(item) for item in value)
    if isinstance(value, dict) and "type" in value:
        return from_json(value)
    return decode_constant(value)
