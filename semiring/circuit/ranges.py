"""Aggregates of ranges of an order, as gates that share the tensors of blocks of rows.

Frames of windows, and the rows before a row that LIMIT counts, are ranges. The ranges of n rows
have up to n² places together; with shared tensors of blocks of 16·2ʲ rows they have n log n edges,
since a range is at most 2 log n blocks and fewer than 32 rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.arrays.segments import bounds, places_of
from semiring.base import Array
from semiring.circuit.circuit import AnnotationCircuit
from semiring.circuit.gates import CANONICAL, POLYNOMIAL, SUM, TENSOR
from semiring.monoid import Monoid

_BLOCK = 16
FLAT = 64
"""Number of rows up to which ranges share nothing."""


def range_tensors(
    circuit: AnnotationCircuit,
    monoid: Monoid,
    gates: Array,
    values: pa.Array | Sequence[Any],
    start: Array,
    stop: Array,
) -> Array:
    """Return the tensors of ranges of rows; a row is an annotation and a value.

    Parameters
    ----------
    start, stop
        The bounds of the ranges. A sum of doubles depends on them by the order of addition.
    """
    shared = stop - start > FLAT
    # Whole blocks are inside; the rows at the ends are terms of each range's own.
    first, last = -(-start // _BLOCK), stop // _BLOCK
    ends = np.stack([start, np.where(shared, last * _BLOCK, stop)], axis=1)
    sizes = np.stack([np.where(shared, first * _BLOCK, stop), stop], axis=1) - ends
    count = len(gates) // _BLOCK if shared.any() else 0
    at_ends = bounds(sizes.ravel())
    own = places_of(at_ends) + np.repeat(ends.ravel(), sizes.ravel())
    taken = np.concatenate([np.arange(count * _BLOCK), own])
    offsets = np.arange(0, count * _BLOCK + 1, _BLOCK)
    offsets = np.concatenate([offsets, offsets[-1] + at_ends[2::2]])
    some = values.take(pa.array(taken)) if isinstance(values, pa.Array) else _at(values, taken)
    made = circuit.tensors(monoid, gates[taken], some, offsets)
    blocks, tensors = made[:count], made[count:]
    if not count:
        return tensors
    low, high = first[shared], last[shared]
    owners, parts = [np.arange(len(low))], [tensors[shared]]
    while (low < high).any():
        for chosen, block in ((low & 1 == 1, low), (high & 1 == 1, high - 1)):
            places = np.flatnonzero(chosen & (low < high))
            owners.append(places)
            parts.append(blocks[block[places]])
        low, high = (low + 1) >> 1, high >> 1
        blocks = _sums(circuit, blocks, np.arange(0, len(blocks) + 1, 2))
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    of_ranges = bounds(np.bincount(owner, minlength=len(low)))
    tensors[shared] = _sums(circuit, np.concatenate(parts)[order], of_ranges)
    return tensors


def _at(values: Sequence[Any], places: Array) -> list[Any]:
    return [values[place] for place in places.tolist()]


def _sums(circuit: AnnotationCircuit, tensors: Array, offsets: Array) -> Array:
    """Return the sums of segments of tensors over the same monoid and values."""
    tensors = tensors[: offsets[-1]]
    flags = circuit.common_flags(tensors, offsets) & ~np.uint8(POLYNOMIAL)
    payload = circuit.gates.payload[tensors[offsets[:-1]]]
    none = np.zeros(len(tensors), dtype=np.int64)
    return circuit.add(TENSOR, payload, offsets, tensors, none, flags)


def row_count(circuit: AnnotationCircuit, gate: int, known: dict[int, int]) -> int:
    """Return the number of annotations in a tensor, which may be a sum of tensors.

    Parameters
    ----------
    known
        A cache of numbers by tensor.
    """
    if gate not in known:
        store = circuit.gates
        edges, _ = store.edges_of(np.array([gate]))
        child = store.child[edges]
        if (store.kind[child] == TENSOR).any():
            known[gate] = sum(row_count(circuit, part, known) for part in child.tolist())
        else:
            known[gate] = int(np.where(store.kind[child] == SUM, store.sizes(child), 1).sum())
    return known[gate]


def flat_tensor(circuit: AnnotationCircuit, gate: int) -> int:
    """Return the gate of a tensor with nested tensors flattened to terms, as `tensors` builds
    it.
    """
    store = circuit.gates
    edges, _ = store.edges_of(np.array([gate]))
    child, label = store.child[edges], store.label[edges]
    if not (inner := store.kind[child] == TENSOR).any():
        return gate
    while inner.any():
        edges, _ = store.edges_of(child[inner])
        child = np.concatenate([child[~inner], store.child[edges]])
        label = np.concatenate([label[~inner], store.label[edges]])
        inner = store.kind[child] == TENSOR
    order = np.argsort(label, kind="stable")
    child, label = child[order], label[order]
    heads = np.flatnonzero(np.diff(label, prepend=label[:1] - 1))
    totals = circuit.sum(child, np.append(heads, len(child)))
    own = np.array([0, len(totals)])
    flags = circuit.common_flags(totals, own) & ~np.uint8(POLYNOMIAL)
    if not store.has(np.array([gate]), CANONICAL)[0]:
        flags &= ~np.uint8(CANONICAL)
    flat = circuit.add(TENSOR, store.payload[[gate]], own, totals, label[heads], flags)
    return int(flat[0])
