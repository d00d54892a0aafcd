"""JSON documents of untrusted origin, read within bounds and checked against a shape; checksums.

Shapes are types: ``str``, ``int``, ``list[X]``, ``dict[str, X]``, ``tuple[X, Y]`` (a list of two),
``X | None``, ``Literal[...]``, classes of ``TypedDict``, and data classes, whose fields may be left
out where they have a default. ``Any`` is any JSON value.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import UnionType
from typing import (
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

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
    raise ValueError(f"{name} is no number of JSON")


def check_shape(value: Any, shape: Any, where: str = "it") -> None:
    """Refuse a value that is not of a shape.

    Parameters
    ----------
    where
        What the value is called in the message.

    Raises
    ------
    ValueError
        With the place of the first difference.
    """
    origin, parts = get_origin(shape), get_args(shape)
    if shape is Any:
        return
    if origin in (Union, UnionType):
        _check_union(value, parts, where)
    elif origin is NotRequired:
        check_shape(value, parts[0], where)
    elif origin is Literal:
        if not any(value == each and type(value) is type(each) for each in parts):
            raise _other(value, f"one of {', '.join(map(repr, parts))}", where)
    elif isinstance(shape, type) and issubclass(shape, Enum):
        if value not in [each.value for each in shape]:
            raise _other(value, f"a {shape.__name__}", where)
    elif is_typeddict(shape) or is_dataclass(shape):
        _check_fields(value, shape, where)
    elif origin is not None:
        _check_parts(value, origin, parts, where)
    elif shape is None or shape is type(None):
        _require(value, type(None), "null", where)
    elif type(value) is not shape:  # True is no integer
        raise _other(value, f"of type {shape.__name__}", where)


def _check_parts(value: Any, origin: Any, parts: Sequence[Any], where: str) -> None:
    """Check an object of any names, or a list."""
    if origin in (dict, Mapping):
        _require(value, dict, "an object", where)
        for name, each in value.items():
            check_shape(each, parts[1], f"{where}.{name[:80]}")
    elif origin is tuple and parts[-1:] != (Ellipsis,):
        _require(value, list, "a list", where)
        if len(value) != len(parts):
            raise _other(value, f"a list of {len(parts)}", where)
        for at, (each, part) in enumerate(zip(value, parts, strict=True)):
            check_shape(each, part, f"{where}[{at}]")
    else:
        _require(value, list, "a list", where)
        for at, each in enumerate(value):
            check_shape(each, parts[0], f"{where}[{at}]")


def _check_union(value: Any, shapes: Sequence[Any], where: str) -> None:
    """Check a value against the shapes that it may have; raise the error of the last shape but
    None.
    """
    failure = _other(value, "one of several types", where)
    for shape in sorted(shapes, key=lambda shape: shape is not type(None)):
        try:
            return check_shape(value, shape, where)
        except ValueError as error:
            failure = error
    raise failure


def _check_fields(value: Any, shape: Any, where: str) -> None:
    _require(value, dict, "an object", where)
    hints, optional = _fields(shape)
    for name in hints:
        if name not in value and name not in optional:
            raise ValueError(f"{where} has no {name!r}")
    for name, each in value.items():
        if name not in hints:
            raise ValueError(f"{where} has {name[:80]!r}, which is not known")
        check_shape(each, hints[name], f"{where}.{name}")


@cache
def _fields(shape: Any) -> tuple[Mapping[str, Any], frozenset[str]]:
    """Return the shapes of the fields of a class, and which of them may be left out."""
    if is_typeddict(shape):
        hints = get_type_hints(shape, include_extras=True)  # texts say less in the class itself
        optional = (name for name, hint in hints.items() if get_origin(hint) is NotRequired)
        return get_type_hints(shape), frozenset(optional)
    given = (MISSING, MISSING)
    with_default = (f.name for f in fields(shape) if (f.default, f.default_factory) != given)
    return get_type_hints(shape), frozenset(with_default)


def _require(value: Any, kind: type, what: str, where: str) -> None:
    if not isinstance(value, kind):
        raise _other(value, what, where)


def _other(value: Any, expected: str, where: str) -> ValueError:
    return ValueError(f"{where} is {repr(value)[:80]}, not {expected}")
