"""Aggregates of formal values, and aggregates that no monoid of tensors has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from semiring.base import Array
from semiring.expression import Expression
from semiring.possible_worlds import PossibleWorlds, objects
from semiring.render import REPR_TERMS, TEXT, left_out
from semiring.value import (
    Compound,
    Operand,
    Substitution,
    called,
    known,
    replaced,
    substituted,
)

if TYPE_CHECKING:
    from semiring.value import Annotation

Arguments: TypeAlias = tuple[Any, ...]


class AggregateFunction(Protocol):
    """A function of bags of rows.

    Attributes
    ----------
    name
        The identity of the function: functions with one name have the same values.
    label
        The name of the function in texts.
    """

    name: str
    label: str

    def __call__(self, bags: Sequence[Sequence[Arguments]]) -> list[Any]:
        """The values for some bags of rows, each row the values of the arguments.

        Raises
        ------
        CapabilityError
            When only Spark can compute it.
        """


class Aggregated(Compound):
    """An aggregate of annotated rows, whose arguments may be formal values.

    Parameters
    ----------
    terms
        Pairs of the annotation of a row and its arguments.
    """

    __slots__ = ("function", "terms")
    _label = "Aggregated"
    function: AggregateFunction
    terms: tuple[tuple[Annotation, tuple[Operand, ...]], ...]

    def __init__(
        self,
        function: AggregateFunction,
        terms: Iterable[tuple[Annotation, Sequence[Operand]]],
    ) -> None:
        rows = tuple((k, tuple(map(known, row))) for k, row in terms if not k.is_zero)
        self._set(function=function, terms=rows)

    @property
    def _kind(self) -> str:
        return self.function.name

    def _parts(self) -> Iterable[Any]:
        return (part for k, row in self.terms for part in (k, len(row), *row))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Aggregated, (self.function, self.terms))

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.terms)

    def _first(self, limit: int | None) -> Sequence[tuple[Annotation, tuple[Operand, ...]]]:
        return self.terms[:limit]

    def in_worlds(self, worlds: PossibleWorlds) -> Array:
        bags: list[list[Arguments]] = [[] for _ in range(worlds.length)]
        for annotation, row in self.terms:
            counts = worlds.counts(annotation)
            there = counts.nonzero()[0]
            columns = [worlds.values(operand) for operand in row]
            for world in there.tolist():
                arguments = tuple(column[world] for column in columns)
                bags[world] += [arguments] * int(counts[world])
        return objects(self.function(bags))

    def substituted(self, of: Substitution) -> Operand:
        rows = [
            (replaced(k, of), [substituted(operand, of) for operand in row])
            for k, row in self.terms
        ]
        return known(Aggregated(self.function, rows))

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        shown = [_term_text(k, row, limit) for k, row in self._first(limit)]
        hidden = self.size - len(shown)
        inside = " + ".join([*shown, *([left_out(hidden)] if hidden else [])]) or "0"
        return f"{self.function.label}({inside})"


def _term_text(annotation: Annotation, row: tuple[Operand, ...], limit: int | None) -> str:
    text = Expression.of(annotation)._factor_text(TEXT, limit)
    values = [called(operand, limit) for operand in row]
    if not values:
        return f"{text}⊗1"
    return f"{text}⊗{values[0]}" if len(values) == 1 else f"{text}⊗({', '.join(values)})"
