"""JSON documents of untrusted origin, read within bounds and checked against a shape; checksums.

Shapes are types: ``str``, ``int``, ``list[X]``, ``dict[str, X]``, ``tuple[X, Y]`` (a list of two),
``X | None``, ``Literal[...]``, classes of ``TypedDict``, and data classes, whose fields may be left
out where they have a default. ``Any`` is any JSON value.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from pathlib import Path
from types import UnionType
from typing import (
    Any,
    Literal,
    NotRequired,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

_Check: TypeAlias = Callable[[Any], None]

_DEEPEST = 200
_LARGEST = 1 << 63


def read_json(text: bytes | str) -> Any:
    """Read a document.

    Raises
    ------
    ValueError
        When it is not JSON in UTF-8, has a name twice in one object, nests deeper than 200, or has
        an integer of more than 64 bits or a number that is none.
    """
    try:
        document = json.loads(
            text, object_pairs_hook=_object, parse_int=_integer, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise ValueError(f"it nests deeper than {_DEEPEST}") from None
    waiting = [(document, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > _DEEPEST:
            raise ValueError(f"it nests deeper than {_DEEPEST}")
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            waiting += [(part, depth + 1) for part in value if isinstance(part, dict | list)]
    return document


def file_checksum(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it has {twice[:80]!r} twice in one object")
    return found


def _integer(digits: str) -> int:
    if len(digits) > 20 or not -_LARGEST <= int(digits) < _LARGEST:
        raise ValueError(f"the integer {digits[:20]}... has more than 64 bits")
    return int(digits)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def check_shape(value: Any, shape: Any, where: str = "it") -> None:
    """Raise unless a value has a shape.

    Parameters
    ----------
    where
        The name of the value in the message.

    Raises
    ------
    ValueError
        With the place of the first difference.
    """
    try:
        _checker(shape)(value)
    except _MisfitError as error:
        raise ValueError(f"{where}{''.join(reversed(error.places))} {error}") from None


class _MisfitError(ValueError):
    """A value that does not have a shape, and the path to it, innermost first."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.places: list[str] = []


@cache
def _checker(shape: Any) -> _Check:
    """Return the check of a shape, cached: a log has a document for each segment."""
    origin, parts = get_origin(shape), get_args(shape)
    if shape is Any:
        return lambda value: None
    if origin in (Union, UnionType):
        return _union(parts)
    if origin is NotRequired:
        return _checker(parts[0])
    if origin is Literal:
        return _literal(parts)
    if isinstance(shape, type) and issubclass(shape, Enum):
        return _member(shape)
    if is_typeddict(shape) or is_dataclass(shape):
        return partial(_check_fields, shape)
    if origin in (dict, Mapping):
        return partial(_check_mapping, _checker(parts[1]))
    if origin is tuple and parts[-1:] != (Ellipsis,):
        return partial(_check_tuple, [_checker(part) for part in parts])
    if origin is not None:
        return partial(_check_list, _checker(parts[0]))
    return _scalar(type(None) if shape is None else shape)


def _union(shapes: Sequence[Any]) -> _Check:
    """Return the check of a union of shapes; it raises the error of the last shape except None."""
    nullable = type(None) in shapes
    checks = [_checker(shape) for shape in shapes if shape is not type(None)]

    def check(value: Any) -> None:
        if nullable and value is None:
            return
        for each in checks[:-1]:
            try:
                each(value)
            except _MisfitError:
                continue
            return
        checks[-1](value)

    return check


def _literal(values: Sequence[Any]) -> _Check:
    def check(value: Any) -> None:
        if not any(value == each and type(value) is type(each) for each in values):
            raise _misfit(value, f"one of {', '.join(map(repr, values))}")

    return check


def _member(shape: type[Enum]) -> _Check:
    values = [each.value for each in shape]

    def check(value: Any) -> None:
        if value not in values:
            raise _misfit(value, f"a {shape.__name__}")

    return check


def _scalar(shape: type) -> _Check:
    expected = "null" if shape is type(None) else f"of type {shape.__name__}"

    def check(value: Any) -> None:
        if type(value) is not shape:  # True is not an integer
            raise _misfit(value, expected)

    return check


def _check_mapping(inner: _Check, value: Any) -> None:
    _require(value, dict, "an object")
    for name, each in value.items():
        try:
            inner(each)
        except _MisfitError as error:
            error.places.append(f".{name[:80]}")
            raise


def _check_list(inner: _Check, value: Any) -> None:
    _require(value, list, "a list")
    for place, each in enumerate(value):
        try:
            inner(each)
        except _MisfitError as error:
            error.places.append(f"[{place}]")
            raise


def _check_tuple(checks: Sequence[_Check], value: Any) -> None:
    _require(value, list, "a list")
    if len(value) != len(checks):
        raise _misfit(value, f"a list of {len(checks)}")
    for place, (check, each) in enumerate(zip(checks, value, strict=True)):
        try:
            check(each)
        except _MisfitError as error:
            error.places.append(f"[{place}]")
            raise


def _check_fields(shape: Any, value: Any) -> None:
    _require(value, dict, "an object")
    checks, optional = _fields(shape)
    for name in checks:
        if name not in value and name not in optional:
            raise _MisfitError(f"has no {name!r}")
    for name, each in value.items():
        check = checks.get(name)
        if check is None:
            raise _MisfitError(f"has {name[:80]!r}, which is not known")
        try:
            check(each)
        except _MisfitError as error:
            error.places.append(f".{name}")
            raise


@cache
def _fields(shape: Any) -> tuple[Mapping[str, _Check], frozenset[str]]:
    """Return the checks of the fields of a class, and the names of the optional fields."""
    hints = get_type_hints(shape)
    if is_typeddict(shape):
        said = get_type_hints(shape, include_extras=True)  # texts say less in the class itself
        optional = (name for name, hint in said.items() if get_origin(hint) is NotRequired)
    else:
        given = (MISSING, MISSING)
        optional = (f.name for f in fields(shape) if (f.default, f.default_factory) != given)
    return {name: _checker(hint) for name, hint in hints.items()}, frozenset(optional)


def _require(value: Any, kind: type, what: str) -> None:
    if not isinstance(value, kind):
        raise _misfit(value, what)


def _misfit(value: Any, expected: str) -> _MisfitError:
    return _MisfitError(f"is {repr(value)[:80]}, not {expected}")
