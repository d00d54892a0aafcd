"""Names in the texts of data frames, and the advice where a text is not the frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lipstick.errors import TrackingError

if TYPE_CHECKING:
    from lipstick.tracking.tracker import Tracked

FUNCTION_PREFIX = "_lipstick_udf_"
"""The prefix of the names under which the functions of frames are registered."""

ANOTHER_MEANING = (
    "The text made of this data frame has another meaning to Spark than the frame. Write the part "
    "that differs in another way, or as a query for sql()."
)
"""The advice of the error that a proof ends in when the plans of frame and text differ."""


def named_relation(relations: Sequence[Tracked], name: str = "") -> Tracked:
    """Return the relation that a frame reads by its name, where several have one source.

    Raises
    ------
    TrackingError
        The frame reads none of them by name.
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
