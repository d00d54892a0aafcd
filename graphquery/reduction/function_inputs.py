"""Functions of a computation: the counts of their edges, and when these are final."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graphquery.reduction.vertices import UNKNOWN


@dataclass(frozen=True, slots=True)
class FunctionCounts:
    """A function of a data-intensive computation.

    Parameters
    ----------
    used
        Raw edges of type used counted so far, which leave its executions.
    generated
        Raw edges counted so far that leave entities that it generates, of whatever type: most are
        of type wasGeneratedBy, and enter its executions.
    due_used, due_generated
        The final counts, once the function is sealed; `UNKNOWN` before.
    ended
        The end of the function in microseconds since 1970, or `UNKNOWN`.
    read_by
        The functions that read its entities; None if undeclared.
    """

    used: int = 0
    generated: int = 0
    due_used: int = UNKNOWN
    due_generated: int = UNKNOWN
    ended: int = UNKNOWN
    read_by: frozenset[str] | None = None

    def has_used_all(self, watermark: int | None) -> bool:
        """Return True if all edges of type used have been counted for the function."""
        return _all(self.used, self.due_used, self.ended, watermark)

    def has_generated_all(self, watermark: int | None) -> bool:
        """Return True if all edges that leave the function's entities have been counted."""
        return _all(self.generated, self.due_generated, self.ended, watermark)


def _all(counted: int, due: int, ended: int, watermark: int | None) -> bool:
    if due != UNKNOWN:
        return counted >= due
    return watermark is not None and ended != UNKNOWN and ended < watermark


def merge_functions(parts: Iterable[FunctionCounts]) -> FunctionCounts:
    """Merge the records of one function: counts are added, the larger declaration wins."""
    parts = list(parts)
    declared = [part.read_by for part in parts if part.read_by is not None]
    return FunctionCounts(
        sum(part.used for part in parts),
        sum(part.generated for part in parts),
        max((part.due_used for part in parts), default=UNKNOWN),
        max((part.due_generated for part in parts), default=UNKNOWN),
        max((part.ended for part in parts), default=UNKNOWN),
        frozenset().union(*declared) if declared else None,
    )
