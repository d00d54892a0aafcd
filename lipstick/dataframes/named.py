"""Which relation a data frame means where several are of one source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lipstick.errors import TrackingError

if TYPE_CHECKING:
    from lipstick.tracking.tracker import Tracked


def only(relations: Sequence[Tracked], name: str = "") -> Tracked:
    """Return the relation that is meant: the one that the frame reads under its name.

    Raises
    ------
    TrackingError
        The frame does not say which.
    """
    named = [
        relation
        for relation in relations
        if relation.name.lower().rpartition(".")[2] == name.lower()
    ]
    chosen = named or relations
    if len(chosen) > 1:
        names = ", ".join(relation.name for relation in chosen)
        raise TrackingError(
            f"This data frame reads a source that is tracked more than once: {names}.\n"
            f'Say which is meant by spark.table("{chosen[0].name}"), or untrack the others.'
        )
    return chosen[0]
