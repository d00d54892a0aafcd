"""Late edges repaired: what was final of a topic, made anew from its raw edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction import Partial, ReductionCycleError
from graphquery.reduction.late import repair
from lipstick.systems.events.message import EDGES
from lipstick.systems.events.partials import partial_of
from semiring.base import Array, Semiring


@dataclass(frozen=True, slots=True)
class Mended:
    """The result of repairing late messages.

    Parameters
    ----------
    added
        Edges for the reducer; None if there are no late messages after all.
    late
        The messages that are late, each once.
    repeated, abandoned
        The numbers of messages that had counted before, and of an attempt that does not count.
    cyclic
        Whether the late ones closed a cycle.
    """

    added: Partial | None
    late: pa.Table
    repeated: int
    abandoned: int
    cyclic: bool = False


def mend(
    late: pa.Table,
    raw: pa.Table,
    still_open: pa.Array | None,
    stored: Callable[[pa.Array], Array] | None,
    semiring: Semiring[Any] | None,
) -> Mended:
    """Join late messages with what is left of the graph; see `graphquery.reduction.late.repair`.

    Parameters
    ----------
    raw
        All messages that counted or were repaired.
    still_open
        Keys of open vertices; None once the topic is sealed.
    stored
        As for `TopicReducer`.
    """
    raw = edges_in(raw)
    late, repeated, abandoned = _unknown(edges_in(late), raw)
    late = _once(late)
    if not len(late):
        return Mended(None, late, repeated, abandoned)
    before = partial_of(raw, semiring)
    waiting = None
    if still_open is not None:
        # What is sent without attempts has no end that closes it: more of it may come.
        single = late.filter(late.column("attempt").is_null()).column("exec")
        new = single.filter(pc.invert(pc.is_in(single, before.keys)))
        waiting = pa.concat_arrays([still_open, new.combine_chunks()])
    after = _bare(partial_of(late, semiring))
    live = None
    if stored is not None:
        # An entity that was taken for an input or output stays one, and paths go on from it.
        keys = pa.concat_arrays([before.keys, after.keys])
        live = keys.filter(pa.array(stored(keys)))
    cyclic = False
    try:
        repaired = repair(before, after, live, waiting, semiring)
    except ReductionCycleError:
        cyclic = True
        repaired = repair(before, after, live, waiting, semiring, break_cycles=True)
    return Mended(repaired, late, repeated, abandoned, cyclic)


def _unknown(late: pa.Table, raw: pa.Table) -> tuple[pa.Table, int, int]:
    """Return the late messages that have not counted, and how many are repeated and abandoned."""
    told = pc.is_in(_keys(late), _keys(raw))
    attempted = raw.filter(raw.column("attempt").is_valid())
    other = pc.is_in(_keys(late, seq=False), _keys(attempted, seq=False))
    retried = pc.and_(pc.is_in(late.column("exec"), attempted.column("exec")), pc.invert(other))
    new = late.filter(pc.invert(pc.or_(told, retried))).combine_chunks()
    return new, int(pc.sum(told).as_py() or 0), int(pc.sum(retried).as_py() or 0)


def _once(late: pa.Table) -> pa.Table:
    """Each message once, and of an execution one attempt alone: the first that is there."""
    if not len(late):
        return late
    codes = _codes(_keys(late))
    first = np.zeros(len(late), dtype=np.bool_)
    first[np.unique(codes, return_index=True)[1]] = True
    _, where, execution = np.unique(
        _codes(late.column("exec")), return_index=True, return_inverse=True
    )
    attempt = np.asarray(pc.fill_null(late.column("attempt"), -1))
    chosen = (attempt == -1) | (attempt == attempt[where][execution])
    return late.filter(pa.array(first & chosen)).combine_chunks()


def _codes(column: pa.ChunkedArray) -> Array:
    indices = column.combine_chunks().dictionary_encode().indices
    codes: Array = indices.to_numpy(zero_copy_only=False)
    return codes


def _keys(messages: pa.Table, *, seq: bool = True) -> pa.ChunkedArray:
    """Execution, attempt and number of messages as one text each."""
    names = ["exec", "attempt", "seq"] if seq else ["exec", "attempt"]
    texts = [pc.fill_null(messages.column(name).cast(pa.string()), "") for name in names]
    return pc.binary_join_element_wise(*texts, "\n")


def edges_in(messages: pa.Table) -> pa.Table:
    """The messages that have edges."""
    return messages.filter(pc.equal(messages.column("kind"), EDGES))


def _bare(partial: Partial) -> Partial:
    """A partial graph without what is known of functions, whose totals late edges are past."""
    scope = np.full(len(partial.keys), -1, dtype=np.int64)
    return replace(partial, vertices=replace(partial.vertices, scope=scope), functions={})
