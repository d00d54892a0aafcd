"""Grouping, by one set of keys or several."""

from __future__ import annotations

from dataclasses import dataclass

from rewriter.algebra.relation import Attribute, Scalar, Unary, require
from rewriter.position import Span


@dataclass(frozen=True, slots=True)
class GroupingSets:
    """Several groupings of one input: ROLLUP, CUBE, GROUPING SETS.

    Parameters
    ----------
    number
        The attribute that holds the place of a row's grouping set, from 0.
    sets
        For each grouping set, the places of its keys; the other keys are NULL in its rows.
    """

    number: Attribute
    sets: tuple[tuple[int, ...], ...]

    def without(self, key: int) -> tuple[int, ...]:
        """Return the numbers of the grouping sets that do not group by the key at this place."""
        return tuple(number for number, keys in enumerate(self.sets) if key not in keys)


@dataclass(frozen=True, slots=True)
class Aggregate(Unary):
    """Grouping: one row per distinct value of the keys; without keys exactly one row.

    ``aggregates`` are sqlglot aggregate calls, possibly ``exp.Filter(this=call,
    expression=exp.Where(this=predicate))`` and with ``exp.Distinct`` inside, over attributes of
    the input. The output is the keys, then the aggregates. DISTINCT, UNION and INTERSECT-free set
    operations are groupings without aggregates, by all of their columns.

    With ``sets`` every input row takes part once in each grouping set, aggregates seeing the values
    of the input and not the keys' NULLs; there is no row over an empty input. The output then ends
    with the number of the grouping set: it and the keys tell rows apart.
    """

    key_output: tuple[Attribute, ...]
    keys: tuple[Scalar, ...]
    aggregate_output: tuple[Attribute, ...]
    aggregates: tuple[Scalar, ...]
    span: Span | None = None
    sets: GroupingSets | None = None

    def __post_init__(self) -> None:
        if len(self.key_output) != len(self.keys):
            raise ValueError("a grouping names each of its keys once")
        if len(self.aggregate_output) != len(self.aggregates):
            raise ValueError("a grouping names each of its aggregates once")
        if not self.keys and not self.aggregates and self.sets is None:
            raise ValueError("a grouping has a key or an aggregate")
        for scalar in (*self.keys, *self.aggregates):
            require(self, scalar, self.input)
        for grouping_set in self.sets.sets if self.sets is not None else ():
            if not set(grouping_set) <= set(range(len(self.keys))):
                raise ValueError("a grouping set has keys of the grouping alone")

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        number = () if self.sets is None else (self.sets.number,)
        return self.key_output + self.aggregate_output + number
