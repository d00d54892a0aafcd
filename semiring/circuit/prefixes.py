"""Counts of the first rows of an order, as gates that share the sums of blocks of rows.

The rows before each of n rows have n²/2 places, and the sums of blocks of 16·2ʲ rows have n log n:
the first k rows are at most log k blocks, and fewer than 16 rows.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from semiring.base import Array
from semiring.circuit.circuit import AnnotationCircuit, merged_edges
from semiring.circuit.gates import CANONICAL, OPEN, POLYNOMIAL, SUM, TENSOR, ZERO
from semiring.exact import reduce_segments
from semiring.monoid import COUNT
from semiring.segments import bounds, owners_of, places_of

_BLOCK = 16
_FLAT = 64
"""The sums of so few rows share nothing, and are canonical."""


def prefix_counts(
    circuit: AnnotationCircuit, rows: Array, counts: Array
) -> tuple[Array, list[int]]:
    """Return tensors, the COUNTs of the first rows of an order, and their numbers of terms.

    Parameters
    ----------
    rows
        The annotations of at least the first ``counts.max()`` rows.
    counts
        The numbers of first rows.
    """
    sums = circuit.zeros(len(counts))
    few = np.flatnonzero(counts <= _FLAT)
    offsets = bounds(counts[few])
    sums[few] = circuit.sum(rows[places_of(offsets)], offsets)
    many = np.flatnonzero(counts > _FLAT)
    if len(many):
        sums[many] = _shared_sums(circuit, rows, counts[many])
    # The COUNTs are those of canonical expressions, which are read of flat sums.
    canonical = np.append(True, np.logical_and.accumulate(circuit.gates.has(rows, CANONICAL)))
    number, label = circuit.labels(COUNT, pa.array([1]), np.zeros(1, dtype=np.int64))
    own, ends = bounds(sums != ZERO), sums[sums != ZERO]
    flags = (circuit.common_flags(ends, own) & np.uint8(OPEN)) | (canonical[counts] * CANONICAL)
    payload = np.full(len(sums), number)
    tensors = circuit.add(TENSOR, payload, own, ends, np.repeat(label, len(ends)), flags)
    if (circuit.gates.kind[rows] == SUM).any():
        return tensors, [len(flat_terms(circuit, gate)[0]) for gate in sums.tolist()]
    _, first = np.unique(np.append(ZERO, rows), return_index=True)
    new = np.zeros(len(rows) + 1, dtype=np.int64)
    new[first[1:]] = 1
    return tensors, new.cumsum()[counts].tolist()


def _shared_sums(circuit: AnnotationCircuit, rows: Array, counts: Array) -> Array:
    """Return the sums of the first rows as sums of blocks of them."""
    whole = counts // _BLOCK
    inside = int(whole.max()) * _BLOCK
    blocks = circuit.sum(rows[:inside], np.arange(0, inside + 1, _BLOCK))
    offsets = bounds(counts - whole * _BLOCK)
    # The rows after the last block, then the blocks from small to large.
    owners = [owners_of(offsets)]
    parts = [rows[places_of(offsets) + np.repeat(whole * _BLOCK, np.diff(offsets))]]
    level = 0
    while len(blocks):
        chosen = np.flatnonzero((whole >> level) & 1)
        owners.append(chosen)
        parts.append(blocks[(whole[chosen] >> level) - 1])
        pairs = len(blocks) // 2
        blocks = circuit.sum(blocks[: 2 * pairs], np.arange(0, 2 * pairs + 1, 2), nested=True)
        level += 1
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    own = bounds(np.bincount(owner, minlength=len(counts)))
    return circuit.sum(np.concatenate(parts)[order], own, nested=True)


# -- reading ---------------------------------------------------------------------------------


def flat_terms(circuit: AnnotationCircuit, sum_gate: int) -> tuple[Array, Array]:
    """Return the summands of a sum and of the sums in it, each once, with multiplicities."""
    store = circuit.gates
    child, times = np.array([sum_gate], dtype=np.int32), np.ones(1, dtype=np.int64)
    while (inner := store.kind[child] == SUM).any():
        edges, offsets = store.edges_of(child[inner])
        below = np.repeat(times[inner], np.diff(offsets)) * store.label[edges]
        child = np.concatenate([child[~inner], store.child[edges]])
        times = np.concatenate([times[~inner], below])
    _, child, times = merged_edges(np.zeros(len(child), dtype=np.int64), child, times)
    return child, times


def flat_tensor(circuit: AnnotationCircuit, gate: int) -> int:
    """Return the gate of a tensor without sums of sums that equals one with such."""
    store = circuit.gates
    edges, own = store.edges_of(np.array([gate]))
    child = store.child[edges].copy()
    nested = np.flatnonzero(is_nested(circuit, child))
    if not len(nested):
        return gate
    for place in nested.tolist():
        terms, times = flat_terms(circuit, int(child[place]))
        (child[place],) = circuit.sums(np.zeros(len(terms), dtype=np.int64), terms, times, 1)
    flags = circuit.common_flags(child, own) & ~np.uint8(POLYNOMIAL)
    flat = circuit.add(TENSOR, store.payload[[gate]], own, child, store.label[edges], flags)
    return int(flat[0])


def is_nested(circuit: AnnotationCircuit, gates: Array) -> Array:
    """Return a Boolean array: the sums that have sums among their summands."""
    nested = circuit.gates.kind[gates] == SUM
    edges, offsets = circuit.gates.edges_of(gates[nested])
    sums = circuit.gates.kind[circuit.gates.child[edges]] == SUM
    nested[nested] = reduce_segments(np.logical_or, sums, offsets, False)
    found: Array = nested
    return found
