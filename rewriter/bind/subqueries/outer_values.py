"""Subqueries over the outer values they are tied to, once the rows around them are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    Attribute,
    BagDifference,
    InnerJoin,
    OuterJoin,
    OuterRow,
    OuterValues,
    Project,
    Relation,
    Scalar,
    SemiJoin,
    UnionAll,
    Windows,
    conjuncts,
    references,
)


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
                if any(old is not other for old, other in zip(new, value, strict=True)):
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
            case SemiJoin() | AntiJoin() | InnerJoin() | OuterJoin():
                # EXCEPT, INTERSECT and relations of FROM compare the outer values too.
                parts = conjuncts(relation.condition) if relation.condition is not None else []
                kept_parts = [p for p in parts if self._lacking.isdisjoint(references(p))]
                changed["condition"] = exp.and_(*kept_parts) if kept_parts else None
            case Windows():
                changed["calls"] = tuple(map(self._in_partition, relation.calls))
            case UnionAll():
                columns = [branch.attributes for branch in relation.branches]
                kept = [
                    index
                    for index in range(len(relation.output))
                    if not any(branch[index].id in self._lacking for branch in columns)
                ]
                self._lose(relation.output, kept)
                changed["output"] = _at(relation.output, kept)
            case BagDifference(left=left):
                there = enumerate(left.attributes)
                kept = [index for index, a in there if a.id not in self._lacking]
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
            index
            for index, scalar in enumerate(scalars)
            if not (isinstance(scalar, exp.Column) and scalar.name in self._lacking)
        ]
        self._lose(output, kept)
        return kept

    def _lose(self, output: Sequence[Attribute], kept: Sequence[int]) -> None:
        self._lacking |= {a.id for index, a in enumerate(output) if index not in kept}


def _at(values: Sequence[Any], places: Sequence[int]) -> tuple[Any, ...]:
    return tuple(values[index] for index in places)
