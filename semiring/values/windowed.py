"""Values of window functions: of a row among the rows that are there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from semiring.base import Array
from semiring.errors import CapabilityError
from semiring.possible_worlds import PossibleWorlds, objects
from semiring.render import REPR_TERMS, left_out
from semiring.token import Token
from semiring.value import (
    Operand,
    Substitution,
    Value,
    digest,
    known,
    replaced,
    substituted,
    tokens_of,
)

if TYPE_CHECKING:
    from semiring.value import Annotation

_NAMED = 5
"""So many rows are named in a text."""

Row: TypeAlias = tuple[Any, ...]


class WindowFunction(Protocol):
    """A function of a row among rows.

    Attributes
    ----------
    name
        The identity of the function: functions with one name have the same values.
    label
        The name of the function in texts.
    """

    name: str
    label: str

    def __call__(self, relations: Sequence[Sequence[Row]]) -> list[list[Any]]:
        """The value of every row, relation by relation.

        Raises
        ------
        CapabilityError
            When only Spark can compute it.
        """


class WindowRows:
    """The annotated rows that a window function is over, shared by the values of all of them.

    Parameters
    ----------
    rows
        Pairs of an annotation and the row's operands: what it is partitioned and sorted by, and
        the arguments.
    """

    __slots__ = ("_digest", "_tokens", "function", "rows")

    def __init__(
        self, function: WindowFunction, rows: Iterable[tuple[Annotation, Sequence[Operand]]]
    ) -> None:
        self.function = function
        self.rows = tuple((k, tuple(map(known, row))) for k, row in rows)
        self._tokens: frozenset[Token] | None = None
        self._digest: str | None = None

    @property
    def tokens(self) -> frozenset[Token]:
        """The tokens that occur."""
        if self._tokens is None:
            self._tokens = tokens_of(self._parts())
        return self._tokens

    @property
    def has_tokens(self) -> bool:
        """True if some token occurs."""
        return bool(self.tokens)

    @property
    def digest(self) -> str:
        """A text that is the same for equal functions of equal rows alone."""
        if self._digest is None:
            self._digest = digest(self.function.name, *self._parts())
        return self._digest

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def annotation(self, place: int) -> Annotation:
        """Return the annotation of a row."""
        return self.rows[place][0]

    def _first(self, limit: int | None) -> Sequence[tuple[Annotation, tuple[Operand, ...]]]:
        return self.rows[:limit]

    def _parts(self) -> list[Any]:
        return [part for k, row in self.rows for part in (k, len(row), *row)]

    def __reduce__(self) -> tuple[Any, ...]:
        return (WindowRows, (self.function, self.rows))

    def in_worlds(self, worlds: PossibleWorlds) -> list[Array]:
        """The values of every row, world by world; None where it is not there."""
        relations: list[list[Row]] = [[] for _ in range(worlds.length)]
        places: list[list[int]] = [[] for _ in range(worlds.length)]
        for number, (annotation, row) in enumerate(self.rows):
            counts = worlds.counts(annotation)
            columns = [worlds.values(operand) for operand in row]
            for world in counts.nonzero()[0].tolist():
                if counts[world] != 1:
                    raise comes_several_times(self.function.label, counts[world])
                relations[world].append(tuple(column[world] for column in columns))
                places[world].append(number)
        results = [objects([None] * worlds.length) for _ in self.rows]
        for world, values in enumerate(self.function(relations)):
            for number, value in zip(places[world], values, strict=True):
                results[number][world] = value
        return results


class Windowed(Value):
    """The value that a window function has for one of its rows.

    Parameters
    ----------
    among
        All rows that may be there.
    place
        Which of them it is; in a world without it the value is NULL.
    """

    __slots__ = ("among", "place")
    among: WindowRows
    place: int

    def __init__(self, among: WindowRows, place: int) -> None:
        object.__setattr__(self, "among", among)
        object.__setattr__(self, "place", place)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Windowed, (self.among, self.place))

    @property
    def tokens(self) -> frozenset[Token]:
        return self.among.tokens

    @property
    def has_tokens(self) -> bool:
        return self.among.has_tokens

    @property
    def sort_key(self) -> tuple[Any, ...]:
        return ("~windowed", self.among.digest, self.place)

    def in_worlds(self, worlds: PossibleWorlds) -> Array:
        return worlds.kept(self.among, lambda: self.among.in_worlds(worlds))[self.place]

    def substituted(self, of: Substitution) -> Operand:
        rows = [
            (replaced(k, of), [substituted(operand, of) for operand in row])
            for k, row in self.among.rows
        ]
        position = self.place - sum(k.is_zero for k, _ in rows[: self.place])
        if rows[self.place][0].is_zero:
            return None
        kept = [row for row in rows if not row[0].is_zero]
        return known(Windowed(WindowRows(self.among.function, kept), position))

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        few = limit if limit is None else min(limit, _NAMED)
        own_annotation = self.among.annotation(self.place).truncated(limit)
        shown = [k.truncated(few) for k, _ in self.among._first(few)]
        hidden = self.among.size - len(shown)
        among = "; ".join([*shown, *([left_out(hidden)] if hidden else [])])
        return f"{self.among.function.label} of {own_annotation} among ({among})"


def comes_several_times(label: str, times: int) -> CapabilityError:
    """Return the error of a window function over a row that is there more than once."""
    return CapabilityError(
        f"{label} has no value where a row comes {times} times: value tokens by 0 or 1."
    )
