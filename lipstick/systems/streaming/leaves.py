"""The tracked streams of a query, matched to the numbers of its sources in the checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lipstick.dataframes.jvm import analysed, elements
from lipstick.errors import UnsupportedError
from lipstick.systems.errors import StreamError
from lipstick.systems.streaming.checkpoint import MicroBatch
from lipstick.systems.streaming.source import LEAVES, StreamSource, described_leaf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lipstick.dataframes.jvm import Plan

_NAMED_QUERIES = "WithCTE"


def tracked_by(sources: Mapping[str, StreamSource], leaf: Plan) -> str | None:
    """Return the tracked stream that an operator of a plan reads, or None."""
    if leaf.getClass().getSimpleName() not in LEAVES:
        return None
    described = described_leaf(leaf)
    for name, source in sources.items():
        if source.replayed is None:
            if described.options.get("path") == source.path:
                return name
        elif (described.format, described.options) == (source.format, source.options):
            return name
    return None


def check_apart(query: str, sources: Mapping[str, StreamSource]) -> None:
    """Refuse a query over two streams of the same source, unless it is files.

    Raises
    ------
    UnsupportedError
        They cannot be distinguished in its plan.
    """
    seen: dict[tuple[object, ...], str] = {}
    for name, source in sources.items():
        if source.replayed is None:
            continue
        key = (source.format, *sorted(source.options.items()))
        if key in seen:
            raise UnsupportedError(
                f"{seen[key]!r} and {name!r} are indistinguishable streams of one source",
                "Give one of them another option.",
                query,
            )
        seen[key] = name


def numbers_of_sources(
    frame: DataFrame, sources: Mapping[str, StreamSource], batches: Sequence[MicroBatch]
) -> Mapping[str, Sequence[int]]:
    """Return the numbers, in the checkpoint, of the sources of streams that are not files.

    Spark numbers sources in the order of the plan.

    Raises
    ------
    StreamError
        When the plan does not show them.
    """
    names = [name for name, source in sources.items() if source.replayed is not None]
    spans = [batch.spans for batch in batches]
    count = len(spans[0]) if spans else 0
    offsets = [n for n in range(count) if any(of_batch[n] is not None for of_batch in spans)]
    if len(names) < 2:
        return dict.fromkeys(names, offsets)
    leaves = _leaves(frame, sources)
    if leaves is None or len(leaves) != count:
        raise StreamError(
            "The checkpoint of the query does not show which source feeds which stream.\n"
            "Use a classic session, and a query that names each stream once and outside of WITH."
        )
    return {name: [n for n in offsets if leaves[n] == name] for name in names}


def _leaves(frame: DataFrame, sources: Mapping[str, StreamSource]) -> list[str | None] | None:
    """Return the streams that a plan reads, once per operator, or None if their order is
    unknown.
    """
    if not hasattr(frame, "_jdf"):
        return None
    leaves: list[Plan] = []
    todo = [analysed(frame)]
    while todo:
        plan = todo.pop()
        kind = plan.getClass().getSimpleName()
        if kind == _NAMED_QUERIES:
            return None
        if kind in LEAVES and not any(plan.equals(leaf) for leaf in leaves):
            leaves.append(plan)
        todo.extend(reversed(elements(plan.children())))
    return [tracked_by(sources, leaf) for leaf in leaves]
