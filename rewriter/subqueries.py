"""Operators of the algebra for subqueries whose value or rows depend on an outer row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    Attribute,
    Project,
    Relation,
    Scalar,
    SemiJoin,
    UnionAll,
    Windows,
    references,
    require,
)
from rewriter.position import Span


@dataclass(frozen=True, slots=True)
class CorrelatedScalar(Relation):
    """The input with one more attribute: the value of a scalar subquery for each of its rows.

    Parameters
    ----------
    query
        The subquery, grouped by what the outer row is compared with.
    pairs
        The outer row's scalars, and the attributes of ``query`` they are equal to: its keys.
    value
        The subquery's value, an attribute of ``query``.
    empty
        Its value where no row of the subquery is selected, a constant: of a COUNT it is 0.
    null_safe
        NULL equals NULL in the pairs. Then ``empty`` is None.
    count
        How many rows the value was made of, an attribute of ``query``: an error if they are more
        than one. None: there cannot be.
    """

    input: Relation
    query: Relation
    pairs: tuple[tuple[Scalar, Attribute], ...]
    value: Attribute
    empty: Scalar | None
    output: Attribute
    null_safe: bool = False
    count: Attribute | None = None
    span: Span | None = None

    def __post_init__(self) -> None:
        for scalar, _ in self.pairs:
            require(self, scalar, self.input)
        if not self.pairs:
            raise ValueError("a correlated subquery is tied to its outer row")
        if self.null_safe and self.empty is not None:
            raise ValueError("with NULL among the keys no column tells that nothing was found")

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return (*self.input.attributes, self.output)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input, self.query)


@dataclass(frozen=True, slots=True)
class ExistenceJoin(Relation):
    """The left with one more attribute: whether some row of the right makes the condition true.

    IN and EXISTS where they are not conjuncts. The attribute is true or false, never NULL.
    """

    left: Relation
    right: Relation
    condition: Scalar | None
    output: Attribute
    span: Span | None = None

    def __post_init__(self) -> None:
        if self.condition is not None:
            require(self, self.condition, self.left, self.right)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return (*self.left.attributes, self.output)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class OuterValues(Relation):
    """The different values of scalars over the rows around a subquery: values, annotated 1.

    There may be more of them than rows have: each is a question, and only asked by a row.
    """

    input: Relation
    output: tuple[Attribute, ...]
    scalars: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        if len(self.output) != len(self.scalars):
            raise ValueError("each of the outer values has one attribute")
        for scalar in self.scalars:
            require(self, scalar, self.input)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.output

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)


@dataclass(frozen=True, slots=True)
class OuterRow(Relation):
    """The place of :class:`OuterValues` in a subquery while the rows around it are not known."""

    output: tuple[Attribute, ...]

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.output

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return ()


def with_outer_values(relation: Relation, row: OuterRow, values: OuterValues) -> Relation:
    """Return a subquery with the outer values in their place, without the columns they lack.

    Parameters
    ----------
    relation
        The subquery. Its operators that pass on columns of ``row`` do so by name alone: as items,
        grouping keys, and columns of unions.
    values
        Has some of the attributes of ``row``.
    """
    lacking = {attribute.id for attribute in row.output} - {a.id for a in values.output}
    return _Narrowing(row, values, lacking).relation(relation)


class _Narrowing:
    def __init__(self, row: OuterRow, values: OuterValues, lacking: set[str]) -> None:
        self._row = row
        self._values = values
        self._lacking = lacking
        self._known: dict[int, Relation] = {}

    def relation(self, relation: Relation) -> Relation:
        if relation is self._row:
            return self._values
        if id(relation) not in self._known:
            self._known[id(relation)] = self._rebuilt(relation)
        return self._known[id(relation)]

    def _rebuilt(self, relation: Relation) -> Relation:
        changed: dict[str, Any] = {}
        for field in fields(relation):
            value = getattr(relation, field.name)
            if isinstance(value, Relation):
                new: Any = self.relation(value)
                if new is not value:
                    changed[field.name] = new
            elif field.name == "branches":
                new = tuple(map(self.relation, value))
                if any(one is not other for one, other in zip(new, value, strict=True)):
                    changed[field.name] = new
        if not changed:
            return relation
        match relation:
            case Project():
                kept = self._kept(relation.output, relation.scalars)
                changed |= {"output": _at(relation.output, kept)}
                changed |= {"scalars": _at(relation.scalars, kept)}
            case Aggregate():
                kept = self._kept(relation.key_output, relation.keys)
                changed |= {"key_output": _at(relation.key_output, kept)}
                changed |= {"keys": _at(relation.keys, kept)}
            case SemiJoin() | AntiJoin() if relation.condition is not None:
                # EXCEPT and INTERSECT compare the outer values too.
                parts = _conjuncts(relation.condition)
                kept_parts = [p for p in parts if self._lacking.isdisjoint(references(p))]
                changed["condition"] = exp.and_(*kept_parts)
            case Windows():
                changed["calls"] = tuple(map(self._in_partition, relation.calls))
            case UnionAll():
                columns = [branch.attributes for branch in relation.branches]
                kept = [
                    place
                    for place in range(len(relation.output))
                    if not any(branch[place].id in self._lacking for branch in columns)
                ]
                self._lose(relation.output, kept)
                changed["output"] = _at(relation.output, kept)
        return replace(relation, **changed)

    def _in_partition(self, window: Scalar) -> Scalar:
        copy = window.copy()
        keys = copy.args.get("partition_by") or []
        kept = [key for key in keys if self._lacking.isdisjoint(references(key))]
        copy.set("partition_by", kept)
        return copy

    def _kept(self, output: Sequence[Attribute], scalars: Sequence[Scalar]) -> list[int]:
        kept = [
            place
            for place, scalar in enumerate(scalars)
            if not (isinstance(scalar, exp.Column) and scalar.name in self._lacking)
        ]
        self._lose(output, kept)
        return kept

    def _lose(self, output: Sequence[Attribute], kept: Sequence[int]) -> None:
        self._lacking |= {a.id for place, a in enumerate(output) if place not in kept}


def _conjuncts(condition: Scalar) -> list[Scalar]:
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def _at(values: Sequence[Any], places: Sequence[int]) -> tuple[Any, ...]:
    return tuple(values[place] for place in places)
