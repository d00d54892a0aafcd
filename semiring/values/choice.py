"""The value of whichever alternative is there: of a subquery, or of the other side of a join."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from semiring.base import Array
from semiring.possible_worlds import PossibleWorlds, objects
from semiring.render import REPR_TERMS
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


class Choice(Compound):
    """The value of the first alternative whose annotation is not 0, else NULL; built by `choice`.

    Parameters
    ----------
    alternatives
        Pairs of an annotation and an operand. In no world are there two, but for a subquery of
        several rows, which Spark refuses.
    """

    __slots__ = ("alternatives",)
    _label = "Choice"
    alternatives: tuple[tuple[Annotation, Operand], ...]

    def __init__(self, alternatives: Iterable[tuple[Annotation, Operand]]) -> None:
        self._set(alternatives=tuple(alternatives))

    def _parts(self) -> Iterable[Any]:
        return (part for pair in self.alternatives for part in pair)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Choice, (self.alternatives,))

    def in_worlds(self, worlds: PossibleWorlds) -> Array:
        values = objects([None] * worlds.length)
        for annotation, operand in reversed(self.alternatives):
            there = worlds.holds(annotation)
            values[there] = worlds.values(operand)[there]
        return values

    def substituted(self, of: Substitution) -> Operand:
        return choice((replaced(k, of), substituted(v, of)) for k, v in self.alternatives)

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        pairs = self.alternatives[:limit]
        shown = [f"{called(v, limit)} if {k.truncated(limit)}" for k, v in pairs]
        hidden = len(self.alternatives) - len(pairs)
        return "{" + "; ".join([*shown, *([f"… ({hidden} more)"] if hidden else [])]) + "}"


def choice(alternatives: Iterable[tuple[Annotation, Operand]]) -> Operand:
    """The value of the present alternative; plain where it is known which is present."""
    kept = [(k, known(v)) for k, v in alternatives if not k.is_zero]
    for number, (annotation, operand) in enumerate(kept):
        if not annotation.tokens:
            # Annotations without tokens are not 0 in any world, or 0 in all of them.
            if number == 0:
                return operand
            kept = kept[: number + 1]
            break
    return Choice(kept) if kept else None
