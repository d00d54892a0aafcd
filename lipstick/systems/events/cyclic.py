"""Cycles: documents that close one are refused, and messages with edges of one are reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction import Edges, Partial, Reducer, ReductionCycleError, merge
from graphquery.reduction.cycles import in_cycles
from graphquery.reduction.partial import encoded
from lipstick.systems.events.message import EDGES, TYPES
from lipstick.systems.events.parse import DeadLetter
from semiring.arrays.segments import mask_of
from semiring.base import Array, Semiring


def acyclic(
    documents: Sequence[tuple[tuple[str, int], Partial]],
    semiring: Semiring[Any] | None,
    *,
    hubs: bool = True,
) -> tuple[list[Partial], list[DeadLetter]]:
    """Return the documents without the ones that close a cycle with documents before them.

    Parameters
    ----------
    documents
        With their files and lines, in the order they came; none has a cycle of its own.

    Notes
    -----
    By bisection: O(log documents) reductions for each that is refused.
    """
    left = list(documents)
    refused = []
    while (first := _first_cyclic([part for _, part in left], semiring, hubs)) is not None:
        number, why = first
        (file, line), _ = left.pop(number)
        refused.append(DeadLetter(file, line, f"with the files before it: {why}", ""))
    return [part for _, part in left], refused


def _first_cyclic(
    parts: Sequence[Partial], semiring: Semiring[Any] | None, hubs: bool
) -> tuple[int, str] | None:
    """Return the index of the first document that closes a cycle, and the reason, or None."""
    good, bad, why = 0, len(parts) + 1, ""
    trial = len(parts)
    while bad - good > 1:
        try:
            alone = Reducer(semiring, hubs=hubs)
            if trial:
                alone.add(merge(parts[:trial], semiring))
            alone.seal()
            good = trial
        except ReductionCycleError as error:
            bad, why = trial, str(error)
        trial = (good + bad) // 2
    return None if bad > len(parts) else (bad - 1, why)


def have_cycles(messages: pa.Table) -> Array:
    """Return a Boolean array of the messages of one topic with edges of a cycle."""
    messages = messages.combine_chunks()
    of_edges = np.asarray(pc.equal(messages.column("kind"), EDGES))
    places = np.flatnonzero(of_edges)
    edges = messages.filter(pa.array(of_edges)).column("edges").combine_chunks()
    if isinstance(edges, pa.ChunkedArray):
        edges = pa.concat_arrays(edges.chunks) if edges.num_chunks else pa.array([], edges.type)
    owner = places[np.repeat(np.arange(len(edges)), pc.list_value_length(edges).to_numpy())]
    parts = pc.list_flatten(pc.list_flatten(edges))
    source, dest, relation = (parts.take(pa.array(np.arange(n, len(parts), 3))) for n in range(3))
    leads = pc.is_in(relation, pa.array(list(TYPES)))
    keys, (sources, dests) = encoded([source.filter(leads), dest.filter(leads)])
    found = in_cycles(Edges(sources, dests), len(keys))
    return mask_of(owner[np.asarray(leads)][found], len(messages))


def reason_of_cycle(named: Sequence[str]) -> str:
    """Return the reason for reporting messages with edges of a cycle."""
    names = f", for example through {', '.join(named[:5])}" if named else ""
    return (
        f"its edges lie on a cycle{names}: nothing can be the cause of itself. What came of one "
        "of its entities was taken to come of all.\n"
        "Give versions of an entity that is written again identifiers of their own."
    )
