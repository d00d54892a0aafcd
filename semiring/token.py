"""Tokens: the indeterminates X of the provenance semiring N[X], one per base tuple.

Source: Green, Karvounarakis, Tannen, *Provenance Semirings*, PODS 2007, section 4.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from semiring.errors import AnnotationError

_PLAIN = re.compile(r"[A-Za-z0-9_.\-/@#$%]+")
_NUMERIC = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_RESERVED = frozenset({"null", "true", "false", "nan", "inf", "infinity", "-inf", "-infinity"})
_RELATION = re.compile(r"[^\W²³¹⁰⁴⁵⁶⁷⁸⁹]+(\.[^\W²³¹⁰⁴⁵⁶⁷⁸⁹]+)*")


_PLAIN_TYPES = {int: "int", str: "str", bool: "bool", date: "date"}
"""Types whose values are in normal form and ordered as they are, with the types' names."""


def normal_value(value: Any) -> Any:
    """Return a key value in normal form: Python scalars, -0.0 as 0.0, one NaN, sequences as
    tuples.
    """
    if type(value) in _PLAIN_TYPES:
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return math.nan if value != value else value + 0.0
    if isinstance(value, dict):
        return tuple(normal_value(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return tuple(normal_value(item) for item in value)
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    return value


def order_key(value: Any) -> tuple[Any, ...]:
    """Return a key that orders any two values: by type name, then by value.

    Values are equal as key values iff their order keys are, so ``1``, ``1.0`` and ``True`` differ
    while ``Decimal("1.0")`` and ``Decimal("1.00")`` do not.
    """
    plain = _PLAIN_TYPES.get(type(value))
    if plain is not None:
        return (plain, value)
    kind = type(value).__name__
    if value is None:
        return (kind,)
    if isinstance(value, (bool, int, str, bytes, Decimal)):
        if isinstance(value, Decimal) and value.is_nan():
            return (kind, 1)
        return (kind, 0, value) if isinstance(value, Decimal) else (kind, value)
    if isinstance(value, float):
        return (kind, 1, 0.0) if value != value else (kind, 0, value)
    if isinstance(value, datetime):
        # Aware and naive datetimes do not compare with one another.
        return (kind, value.tzinfo is not None, value)
    if isinstance(value, (date, timedelta)):
        return (kind, value)
    if isinstance(value, time):
        return (kind, value.tzinfo is not None, value)
    if isinstance(value, tuple):
        return ("tuple", *(order_key(item) for item in value))
    return (kind, repr(value))


def exact_key(value: Any) -> Hashable:
    """Return a key that distinguishes values that Python calls equal: 1, 1.0 and True; 0.0 and
    -0.0.
    """
    if isinstance(value, (tuple, list)):
        return tuple(map(exact_key, value))
    if isinstance(value, dict):
        return ("dict", *((exact_key(k), exact_key(v)) for k, v in value.items()))
    if isinstance(value, (float, Decimal)):
        return (type(value).__name__, str(value))
    return (type(value).__name__, value)


def format_value(value: Any) -> str:
    """Return a key value as text; strings that could be read as another value are quoted."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and not _NUMERIC.fullmatch(value)
        if plain and value.lower() not in _RESERVED:
            return value
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return f"x'{value.hex().upper()}'"
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}us"
    if isinstance(value, tuple):
        return "(" + ",".join(format_value(item) for item in value) + ")"
    return str(value)


def format_relation(relation: str) -> str:
    """Return the name of a relation as text, backquoted unless it is words separated by dots."""
    if _RELATION.fullmatch(relation):
        return relation
    return "`" + relation.replace("`", "``") + "`"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Token:
    """The token of one tuple of a tracked relation.

    Parameters
    ----------
    relation
        Name under which the relation is tracked.
    key
        The tuple's key values, one per key column. A single value that is not a tuple is taken as
        a key of one column. The empty key is the key of a relation of at most one tuple.

    Raises
    ------
    AnnotationError
        If `relation` is not a non-empty string.

    Notes
    -----
    Tokens are totally ordered by relation and key; values of different types order by the type's
    name. ``str`` is injective on the tokens of a relation whose key columns have fixed types.

    >>> str(Token("cars", ("C2",))), str(Token("lineitem", (1, 3))), str(Token("t", ("1|3",)))
    ('cars:C2', 'lineitem:1|3', "t:'1|3'")
    """

    relation: str
    key: tuple[Any, ...]
    sort_key: tuple[Any, ...] = field(init=False, repr=False)
    """The key of the total order on tokens."""
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.relation, str) or not self.relation:
            raise AnnotationError(
                f"a token's relation must be a non-empty string, not {self.relation!r}"
            )
        key = self.key if isinstance(self.key, (tuple, list)) else (self.key,)
        key = tuple(normal_value(value) for value in key)
        object.__setattr__(self, "key", key)
        ordered = tuple(order_key(value) for value in key)
        object.__setattr__(self, "sort_key", (self.relation, len(key), ordered))
        object.__setattr__(self, "_hash", hash(self.sort_key))

    def __reduce__(self) -> tuple[type[Token], tuple[str, tuple[Any, ...]]]:
        return Token, (self.relation, self.key)  # hashes of texts differ between processes

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Token):
            return NotImplemented
        return self.relation == other.relation and self.sort_key == other.sort_key

    def __hash__(self) -> int:
        return self._hash

    def __lt__(self, other: Token) -> bool:
        return self.sort_key < other.sort_key

    def __le__(self, other: Token) -> bool:
        return self.sort_key <= other.sort_key

    def __gt__(self, other: Token) -> bool:
        return self.sort_key > other.sort_key

    def __ge__(self, other: Token) -> bool:
        return self.sort_key >= other.sort_key

    def __str__(self) -> str:
        key = "|".join(format_value(value) for value in self.key) if self.key else "()"
        return f"{format_relation(self.relation)}:{key}"

    def __repr__(self) -> str:
        return f"Token({self.relation!r}, {self.key!r})"


def tokens_of(parts: Iterable[Any]) -> frozenset[Token]:
    """Return the tokens that occur in annotations and operands; gates of one circuit are read
    together.

    Parts that are not gates have `_inner`: the annotations, operands and tokens they are built
    from.
    """
    found: set[Token] = set()
    gates: dict[int, tuple[Any, list[int]]] = {}
    rest = list(parts)
    while rest:
        part = rest.pop()
        if isinstance(part, Token):
            found.add(part)
        elif (reading := getattr(part, "reading", None)) is not None:
            gates.setdefault(id(reading), (reading, []))[1].append(part.gate)
        else:
            rest.extend(getattr(part, "_inner", ()))
    return frozenset(found).union(*(reading.tokens(own) for reading, own in gates.values()))
