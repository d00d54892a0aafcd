"""Sets of nodes: whole segments, and rows of data frames."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphquery.spark import Frame


@dataclass(frozen=True, slots=True, eq=False)
class NodeSet:
    """A set of nodes: whole segments of a graph, and rows.

    Attributes
    ----------
    whole
        Numbers of the segments that lie wholly in the set.
    parts
        Rows of other segments, by level; unless documented otherwise, the frames of a level are
        disjoint.
    rows
        The number of rows.
    """

    whole: frozenset[int] = frozenset()
    parts: Mapping[int, tuple[Frame, ...]] = field(default_factory=dict)
    rows: int = 0

    def __or__(self, other: NodeSet) -> NodeSet:
        """Return the union of both sets; nodes in both occur twice in the rows."""
        parts = dict(self.parts)
        for level, frames in other.parts.items():
            parts[level] = parts.get(level, ()) + frames
        return NodeSet(self.whole | other.whole, parts, self.rows + other.rows)

    def frame(self, levels: Iterable[int] | None = None) -> Frame | None:
        """Return the rows of some levels, or of all."""
        chosen = self.parts if levels is None else sorted(self.parts.keys() & set(levels))
        frames = [frame for level in chosen for frame in self.parts[level]]
        return functools.reduce(lambda left, other: left.union(other), frames) if frames else None
