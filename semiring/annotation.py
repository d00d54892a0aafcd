"""Annotation types: the structure of an annotation, known from the plan before a row is read.

A type carries the operators, the data only tokens and aggregated values. Every type τ has a
physical Arrow type ⟦τ⟧ and a meaning in a semiring; `evaluator.evaluate_nested` relates the two.
A type that *carries no data* (`carries_data` is false) has no physical field anywhere; structs
have one field per part that does, in order, and are read by position.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeAlias

from semiring.comparison import check_operator
from semiring.errors import AnnotationError
from semiring.monoid import NAMES
from semiring.token import format_value


class AnnotationType(ABC):
    """A type of annotations; immutable, compared by structure."""

    __slots__ = ()

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        """The types this one is made of."""
        return ()

    @property
    def carries_data(self) -> bool:
        """Whether ⟦τ⟧ is a column rather than nothing."""
        return True

    def walk(self) -> Iterator[AnnotationType]:
        """This type and all within it, outermost first."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def relations(self) -> frozenset[str]:
        """The tracked relations whose tokens occur."""
        return frozenset(t.relation for t in self.walk() if isinstance(t, TokenOf))

    @property
    def blocks(self) -> frozenset[str]:
        """The query blocks referred to."""
        return frozenset(t.block for t in self.walk() if isinstance(t, (Ref, Scalar)))

    @property
    def is_polynomial(self) -> bool:
        """Whether annotations of this type, those of blocks apart, are polynomials."""
        special = (Delta, Monus, Compare, TensorOf, Scalar)
        return not any(isinstance(t, special) for t in self.walk())

    def to_json(self) -> dict[str, Any]:
        """This type as JSON values; see `from_json`."""
        encoded: dict[str, Any] = {"type": type(self).__name__}
        for item in fields(self):  # type: ignore[arg-type]
            encoded[item.name] = _encode(getattr(self, item.name))
        return encoded

    @staticmethod
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

    @abstractmethod
    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class TokenOf(AnnotationType):
    """A token of a tracked relation; from a scan.

    ⟦τ⟧: the key column, or a struct of the key columns. A NULL (in a struct: all fields NULL)
    is an absent factor, 1.
    """

    relation: str
    key_types: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_name(self.relation, "a relation")
        _check_strings(self.key_types, "key types")

    def __str__(self) -> str:
        return self.relation


@dataclass(frozen=True, slots=True)
class Ref(AnnotationType):
    """A tuple of another query block, by its grouping key.

    ⟦τ⟧: the key column, or a struct of the key columns. A NULL column or NULL struct is an absent
    factor, 1. NULL *fields* of a struct that is there are key values, so a block with a nullable
    key is referred to by a struct even if the key is one column.
    """

    block: str
    key_types: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_name(self.block, "a block")
        _check_strings(self.key_types, "key types")

    def __str__(self) -> str:
        return f"Ref({self.block})"


@dataclass(frozen=True, slots=True)
class One(AnnotationType):
    """1: from VALUES, range, and relations tracked without provenance. Carries no data."""

    @property
    def carries_data(self) -> bool:
        return False

    def __str__(self) -> str:
        return "1"


@dataclass(frozen=True, slots=True)
class Times(AnnotationType):
    """τ1 · … · τn: from joins. ⟦τ⟧: a struct of the ⟦τi⟧."""

    factors: tuple[AnnotationType, ...]

    def __post_init__(self) -> None:
        _check_parts(self.factors, "Times", 1)
        for factor in self.factors:
            for operand in factor.children if isinstance(factor, Compare) else ():
                if isinstance(operand, TensorOf) and operand.sibling is not None:
                    _check_sibling(self.factors, operand)

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return self.factors

    @property
    def carries_data(self) -> bool:
        return any(factor.carries_data for factor in self.factors)

    def __str__(self) -> str:
        return " · ".join(_factor_text(factor) for factor in self.factors)


@dataclass(frozen=True, slots=True)
class Sum(AnnotationType):
    """Σ of the members of a group.

    ⟦τ⟧: a list of ⟦member⟧. With `values`, the aggregates' arguments beside each member, a list of
    structs: ⟦member⟧ first, then one field per name. A member type without data and no values: the
    number of members as an integer. A NULL list is empty.
    """

    member: AnnotationType
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_parts((self.member,), "Sum", 1)
        _check_strings(self.values, "values")

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return (self.member,)

    def __str__(self) -> str:
        return f"Σ({self.member})"


@dataclass(frozen=True, slots=True)
class Delta(AnnotationType):
    """δ(τ): from GROUP BY, DISTINCT, EXISTS, IN. ⟦τ⟧: that of the operand."""

    operand: AnnotationType

    def __post_init__(self) -> None:
        _check_parts((self.operand,), "Delta", 1)

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return (self.operand,)

    @property
    def carries_data(self) -> bool:
        return self.operand.carries_data

    def __str__(self) -> str:
        return f"δ({self.operand})"


@dataclass(frozen=True, slots=True)
class Alt(AnnotationType):
    """One of several types: from UNION ALL of differently annotated branches.

    ⟦τ⟧: a struct of ``branch``, an integer from 0, and one nullable field per branch with data.
    A NULL branch is an absent factor, 1.
    """

    branches: tuple[AnnotationType, ...]

    def __post_init__(self) -> None:
        _check_parts(self.branches, "Alt", 1)

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return self.branches

    def __str__(self) -> str:
        return "(" + " | ".join(map(str, self.branches)) + ")"


@dataclass(frozen=True, slots=True)
class Monus(AnnotationType):
    """left ⊖ right: from EXCEPT, INTERSECT ALL, anti join, NOT EXISTS and NULL-padded rows.

    ⟦τ⟧: a struct of the sides that carry data.
    """

    left: AnnotationType
    right: AnnotationType

    def __post_init__(self) -> None:
        _check_parts((self.left, self.right), "Monus", 2)

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return (self.left, self.right)

    @property
    def carries_data(self) -> bool:
        return self.left.carries_data or self.right.carries_data

    def __str__(self) -> str:
        return f"{_factor_text(self.left)} ⊖ {_factor_text(self.right)}"


@dataclass(frozen=True, slots=True)
class TensorOf(AnnotationType):
    """An aggregated value, Σ member ⊗ value; a comparison's operand, not a factor.

    Parameters
    ----------
    aggregate
        SUM, COUNT, MIN, MAX or AVG.
    members
        The group's `Sum`.
    value
        Which of ``members.values`` is aggregated; None for ``count(*)``.
    distinct
        Whether the aggregate is over distinct values.
    sibling
        In a `Compare` that is a factor of a `Times`: the position of the factor, that Sum or its
        Delta, whose list this tensor shares. The tensor then carries no data of its own.

    ⟦τ⟧: that of `members`.
    """

    aggregate: str
    members: Sum
    value: str | None = None
    distinct: bool = False
    sibling: int | None = None

    def __post_init__(self) -> None:
        if self.aggregate not in NAMES:
            raise AnnotationError(f"unknown aggregate {self.aggregate!r}; use one of {NAMES}")
        if not isinstance(self.members, Sum):
            raise AnnotationError("the members of a TensorOf must be a Sum")
        if self.value is None and (self.aggregate != "COUNT" or self.distinct):
            raise AnnotationError(f"{self.aggregate} needs a value; only count(*) has none")
        if self.value is not None and self.value not in self.members.values:
            raise AnnotationError(
                f"{self.value!r} is not a value of the members: {self.members.values}"
            )

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return (self.members,)

    @property
    def carries_data(self) -> bool:
        return self.sibling is None

    def __str__(self) -> str:
        word = "DISTINCT " if self.distinct else ""
        value = "1" if self.value is None else format_value(self.value)
        return f"{self.aggregate}({word}{_factor_text(self.members.member)} ⊗ {value})"


@dataclass(frozen=True, slots=True)
class Scalar(AnnotationType):
    """The value of a scalar subquery: a column of the tuple of a block; a comparison's operand.

    ⟦τ⟧: that of a `Ref` to the block. Where the block has no such tuple the value is `over_empty`:
    None for NULL, 0 for COUNT.
    """

    block: str
    column: str
    key_types: tuple[str, ...] = ()
    over_empty: int | None = None

    def __post_init__(self) -> None:
        _check_name(self.block, "a block")
        _check_strings(self.key_types, "key types")

    @property
    def carries_data(self) -> bool:
        return bool(self.key_types)

    def __str__(self) -> str:
        return f"Scalar({self.block}.{self.column})"


@dataclass(frozen=True, slots=True)
class Literal(AnnotationType):
    """A constant operand of a comparison; None is NULL. Carries no data."""

    value: Any

    def __post_init__(self) -> None:
        _encode(self.value)

    @property
    def carries_data(self) -> bool:
        return False

    def __str__(self) -> str:
        return format_value(self.value)


@dataclass(frozen=True, slots=True)
class Compare(AnnotationType):
    """[left op right] of tensors, scalars and literals: from HAVING, and filters and joins on
    aggregated values.

    ⟦τ⟧: a struct of the operands that carry data.
    """

    op: str
    left: Operand
    right: Operand

    def __post_init__(self) -> None:
        check_operator(self.op)
        for side in (self.left, self.right):
            if not isinstance(side, (TensorOf, Scalar, Literal)):
                raise AnnotationError(
                    f"{side!r} cannot be compared; use a TensorOf, Scalar or Literal"
                )

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return (self.left, self.right)

    @property
    def carries_data(self) -> bool:
        return self.left.carries_data or self.right.carries_data

    def __str__(self) -> str:
        return f"[{self.left} {self.op} {self.right}]"


@dataclass(frozen=True, slots=True)
class BlackBox(AnnotationType):
    """A function without a rule: its result depends on all inputs, so it means their product.

    ⟦τ⟧: a struct of the ⟦inputs⟧.
    """

    function: str
    inputs: tuple[AnnotationType, ...]

    def __post_init__(self) -> None:
        _check_name(self.function, "a function")
        _check_parts(self.inputs, "BlackBox", 0)

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return self.inputs

    @property
    def carries_data(self) -> bool:
        return any(item.carries_data for item in self.inputs)

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.inputs))})"


Operand: TypeAlias = TensorOf | Scalar | Literal

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

_OPERANDS: tuple[type, ...] = (TensorOf, Scalar, Literal)


def _factor_text(part: AnnotationType) -> str:
    return f"({part})" if isinstance(part, (Times, Monus)) else str(part)


def _check_name(name: object, what: str) -> None:
    if not isinstance(name, str) or not name:
        raise AnnotationError(f"{what} is named by a non-empty string, not {name!r}")


def _check_strings(items: object, what: str) -> None:
    if not isinstance(items, tuple) or not all(isinstance(item, str) for item in items):
        raise AnnotationError(f"{what} must be a tuple of strings, not {items!r}")


def _check_parts(parts: object, what: str, least: int) -> None:
    if not isinstance(parts, tuple) or len(parts) < least:
        raise AnnotationError(f"{what} needs a tuple of at least {least} annotation types")
    for part in parts:
        if not isinstance(part, AnnotationType) or isinstance(part, _OPERANDS):
            raise AnnotationError(f"{part!r} cannot be a part of {what}")


def _check_sibling(factors: tuple[AnnotationType, ...], tensor: TensorOf) -> None:
    position = tensor.sibling
    shared = factors[position] if position is not None and 0 <= position < len(factors) else None
    if isinstance(shared, Delta):
        shared = shared.operand
    if shared != tensor.members:
        raise AnnotationError(f"factor {position} is not the Sum that {tensor} is over")


def _encode(value: Any) -> Any:
    if isinstance(value, AnnotationType):
        return value.to_json()
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
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


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_decode(item) for item in value)
    if not isinstance(value, dict):
        return value
    if "type" in value:
        return AnnotationType.from_json(value)
    ((kind, text),) = value.items()
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
    raise AnnotationError(f"unknown constant {value!r} in an annotation type")
