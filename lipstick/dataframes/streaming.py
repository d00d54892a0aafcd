"""What streaming data frames do that no text of a query says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lipstick.dataframes.jvm import Json, kind, sizes, untracked
from rewriter.errors import UnsupportedError

_OPERATORS = ("Deduplicate", "DeduplicateWithinWatermark")
_RELATION = "deduplicate"


def check_classic(nodes: Json) -> None:
    """Refuse what a streaming frame's plan has beside the tracked relations that are marked in it.

    Raises
    ------
    UnsupportedError
        It drops duplicates: of a stream the first of them stays, of a relation any.
    """
    if any(kind(node) in _OPERATORS for _, node in untracked(nodes, sizes(nodes))):
        raise _refusal()


def check_connect(relation: Mapping[str, Any]) -> None:
    """Refuse the same in a plan of the Connect protocol; see :func:`check_classic`."""
    if _RELATION in _untracked_keys(relation):
        raise _refusal()


def _untracked_keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and "tracked" not in value:
        for key, inner in value.items():
            yield key
            yield from _untracked_keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _untracked_keys(inner)


def _refusal() -> UnsupportedError:
    return UnsupportedError(
        "in this data frame, dropDuplicates of a stream is not followed",
        "Drop them where the stream is tracked: track(name, stream.dropDuplicates(columns)).",
    )
