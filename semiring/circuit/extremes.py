"""Comparisons of a MIN or MAX, or of a function of one, by the presence of its terms.

A MIN takes a value from a run of values if a term of the run is present and no term with a smaller
value is: δ(run)·(1 ⊖ δ(terms before)) for each run of values that satisfy the comparison. The
values themselves then no longer matter: groups with different values, such as the first days of
customers, look alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from semiring.arrays.exact import reduce_segments
from semiring.arrays.segments import ascending, bounds, expand, owners_of
from semiring.base import Array
from semiring.circuit.circuit import AnnotationCircuit
from semiring.circuit.gates import (
    APPLIED,
    CANONICAL,
    COMPARE,
    OPERATIONS,
    PLAIN,
    POLYNOMIAL,
    TENSOR,
    ZERO,
)
from semiring.comparison import compare_values
from semiring.errors import CapabilityError
from semiring.token import normal_value

_PREFIXES = 16
"""Limit on the terms before runs, as a multiple of the terms."""


def without_extremes(circuit: AnnotationCircuit, root: int) -> int:
    """Return an equivalent gate in which comparisons of a MIN or MAX with a constant are
    replaced.
    """
    store = circuit.gates

    def closed(gates: Array) -> Array:
        kind = store.kind[gates]
        ends: Array = ~np.isin(kind, OPERATIONS) & ~((kind == TENSOR) & (gates == root))
        return ends

    below = store.reachable(np.array([root]), closed=closed)
    made = below.astype(np.int32)
    compared = below[store.kind[below] == COMPARE]
    for places, gates in _replaced(circuit, compared):
        made[np.searchsorted(below, compared[places])] = gates
    if (made == below).all():
        return root
    for kind, layer in store.layers(below):
        if closed(layer).any():
            continue
        edges, offsets = store.edges_of(layer)
        before = store.child[edges]
        child = made[np.searchsorted(below, before)] if len(before) else before
        changed = reduce_segments(np.logical_or, child != before, offsets, False)
        if not changed.any():
            continue
        kept = changed[owners_of(offsets)]
        own = bounds(np.diff(offsets)[changed])
        again = _again(circuit, kind, layer[changed], child[kept], store.label[edges][kept], own)
        made[np.searchsorted(below, layer[changed])] = again
    return int(made[np.searchsorted(below, root)])


def _again(
    circuit: AnnotationCircuit, kind: int, layer: Array, child: Array, label: Array, own: Array
) -> Array:
    """Return gates of one kind over new children."""
    if kind in OPERATIONS:
        return circuit.operation(kind, child, own, label)
    there = child != ZERO
    own = bounds(reduce_segments(np.add, there.astype(np.int64), own, 0))
    flags = circuit.common_flags(child[there], own) & ~np.uint8(POLYNOMIAL | CANONICAL)
    payload = circuit.gates.payload[layer]
    return circuit.add(TENSOR, payload, own, child[there], label[there], flags)


def _replaced(circuit: AnnotationCircuit, compared: Array) -> list[tuple[Array, Array]]:
    """Return pairs of positions among comparisons, and the gates that replace the comparisons
    there.
    """
    store, operands = circuit.gates, circuit.operands
    widths = np.diff(store.edges_of(compared)[1])
    first = store.child[store.offsets[compared]]
    second = store.child[store.offsets[compared] + widths - 1]
    applied = (store.kind[first] == APPLIED) & (store.sizes(first) == 1)
    tensor = np.where(applied, store.child[store.offsets[first]], first)
    known = (store.kind[tensor] == TENSOR) & ((widths == 1) | (store.kind[second] == PLAIN))
    keys = np.stack(
        [
            store.payload[compared],
            np.where(widths == 2, store.payload[second], -1),
            np.where(applied, store.payload[first], -1),
            np.where(known, store.payload[tensor], -1),
        ]
    )
    distinct, which = np.unique(keys, axis=1, return_inverse=True)
    found = []
    for number, (comparison, plain, function, scalar) in enumerate(distinct.T.tolist()):
        if scalar < 0 or not circuit.scalars[scalar].monoid.idempotent:
            continue
        places = np.flatnonzero(which.reshape(-1) == number)
        edges, _ = store.edges_of(tensor[places])
        scalars = circuit.scalars[scalar]
        nested = (store.kind[store.child[edges]] == TENSOR).any()
        if nested or not scalars.is_ordered:
            continue
        labels = ascending(store.label[edges])
        values: Sequence[Any] = [None, *scalars.values(labels)]
        op, bound = circuit.comparisons[comparison]
        if plain >= 0:
            bound = normal_value(operands.plain_values[plain])
        try:
            if function >= 0:
                values = operands.outcomes(int(first[places[0]]), values)
        except CapabilityError:  # only Spark knows them
            continue
        nothing, *true = (compare_values(op, value, bound) for value in values)
        largest = scalars.monoid.name == "MAX"
        gates = _runs(circuit, tensor[places], labels, np.array(true), nothing, largest)
        if gates is not None:
            found.append((places, gates))
    return found


def _runs(
    circuit: AnnotationCircuit,
    tensors: Array,
    labels: Array,
    true: Array,
    nothing: bool,
    largest: bool,
) -> Array | None:
    """Return the condition that tensors take one of the values marked as true.

    Parameters
    ----------
    labels, true
        The labels of values, ascending, and whether the comparison is true of them.
    nothing
        Whether the comparison is true of NULL.
    largest
        Whether tensors are MAX rather than MIN.
    """
    edges, offsets = circuit.gates.edges_of(tensors)
    owners, label = owners_of(offsets), circuit.gates.label[edges]
    order = np.lexsort((~label if largest else label, owners))
    child, held = circuit.gates.child[edges][order], true[np.searchsorted(labels, label[order])]
    begins = np.ones(len(held), dtype=np.bool_)
    begins[1:] = (held[1:] != held[:-1]) | (owners[1:] != owners[:-1])
    starts = np.flatnonzero(begins)
    stops = np.append(starts[1:], len(held))
    starts, stops = starts[held[starts]], stops[held[starts]]
    of_run = owners[starts]
    if (starts - offsets[of_run]).sum() > _PREFIXES * len(edges):
        return None

    def total(low: Array, high: Array) -> Array:
        inside, _ = expand(low, high)
        return circuit.sum(child[inside], bounds(high - low))

    none_before = circuit.absent(total(offsets[of_run], starts))
    runs = circuit.times(circuit.delta(total(starts, stops)), none_before)
    found = circuit.sum(runs, bounds(np.bincount(of_run, minlength=len(tensors))))
    if nothing:
        found = circuit.plus(found, circuit.absent(circuit.sum(child, offsets)))
    return found
