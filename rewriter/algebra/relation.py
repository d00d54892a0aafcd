"""The base class of operators, plans made of them, and the scalars and attributes in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from operator import is_
from typing import Any, TypeAlias

from sqlglot import exp

Scalar: TypeAlias = exp.Expr
"""A scalar expression whose columns are attribute ids."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of an operator's output: an identity for the plan and a name for the user."""

    id: str
    name: str

    def column(self) -> exp.Column:
        """Return a fresh reference to this attribute."""
        return column(self.id)


def column(attribute_id: str) -> exp.Column:
    """Return a fresh reference to the attribute with this id."""
    return exp.Column(this=exp.to_identifier(attribute_id, quoted=True))


def references(scalar: Scalar) -> Iterator[str]:
    """Yield the ids of the attributes that a scalar expression mentions, in order of appearance."""
    for node in scalar.find_all(exp.Column):
        yield node.name


def conjuncts(scalar: Scalar | None) -> list[Scalar]:
    """Split a predicate at its ANDs."""
    if scalar is None:
        return []
    scalar = scalar.unnest()
    if isinstance(scalar, exp.And):
        return conjuncts(scalar.left) + conjuncts(scalar.right)
    return [scalar]


def bracketed(scalar: Scalar) -> Scalar:
    """Return the expression in brackets if it needs them as the operand of another."""
    return exp.Paren(this=scalar) if is_compound(scalar) else scalar


def is_known(scalar: Scalar) -> exp.Expr:
    """Return the condition that a scalar is not NULL."""
    return exp.Not(this=exp.Is(this=bracketed(scalar.copy()), expression=exp.null()))


def is_compound(scalar: Scalar) -> bool:
    """Return True if an expression needs brackets when an operator is put beside its text."""
    if isinstance(scalar, exp.Dot | exp.Paren):
        return False
    return isinstance(scalar, exp.Binary | exp.Unary | exp.Between | exp.In | exp.Interval)


@dataclass(frozen=True, slots=True)
class Relation:
    """An operator; also the (sub)query whose root it is."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The output columns, in order."""
        raise NotImplementedError

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The operators this one reads."""
        return ()


@dataclass(frozen=True, slots=True)
class Unary(Relation):
    """An operator that reads one other, and by default has the same columns."""

    input: Relation

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.input.attributes

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)


def require(relation: Relation, scalar: Scalar, *inputs: Relation) -> None:
    """Raise if a scalar of an operator refers to what none of its inputs has."""
    known = {attribute.id for source in inputs for attribute in source.attributes}
    for reference in references(scalar):
        if reference not in known:
            kind = type(relation).__name__
            raise ValueError(f"{kind} refers to {reference!r}, which none of its inputs has")


def require_each(
    relation: Relation, output: Sequence[Attribute], scalars: Sequence[Scalar], source: Relation
) -> None:
    """Raise unless each attribute of an operator is computed by one scalar over its input."""
    if len(output) != len(scalars):
        kind = type(relation).__name__
        raise ValueError(f"{kind} has {len(output)} attributes and {len(scalars)} scalars for them")
    for scalar in scalars:
        require(relation, scalar, source)


def walk(root: Relation) -> Iterator[Relation]:
    """Yield the operators of a plan, inputs before the operators that read them, each once."""
    seen: set[int] = set()
    stack: list[tuple[Relation, bool]] = [(root, False)]
    while stack:
        relation, expanded = stack.pop()
        if expanded:
            yield relation
        elif id(relation) not in seen:
            seen.add(id(relation))
            stack.append((relation, True))
            stack.extend((child, False) for child in reversed(relation.inputs))


def reference_counts(root: Relation) -> Counter[int]:
    """Return, by the ``id`` of each operator of a plan, how many operators read it."""
    counts: Counter[int] = Counter()

    def visit(relation: Relation) -> None:
        counts[id(relation)] += 1
        if counts[id(relation)] == 1:
            for child in relation.inputs:
                visit(child)

    visit(root)
    return counts


def with_inputs(relation: Relation, change: Callable[[Relation], Relation]) -> Relation:
    """Return an operator over what ``change`` makes of its inputs; itself if they are the same."""
    changed: dict[str, Any] = {}
    for field in fields(relation):
        value = getattr(relation, field.name)
        if isinstance(value, Relation):
            new: Any = change(value)
        elif isinstance(value, tuple) and value and all(isinstance(v, Relation) for v in value):
            new = tuple(map(change, value))
            new = value if all(map(is_, new, value)) else new
        else:
            continue
        if new is not value:
            changed[field.name] = new
    return replace(relation, **changed) if changed else relation
