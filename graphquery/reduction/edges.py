"""Edges between numbered vertices, optionally labelled in a commutative semiring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphquery.errors import GraphError, ReductionCycleError
from semiring.arrays.segments import ascending
from semiring.base import Array, Semiring


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges from effect to cause.

    Parameters
    ----------
    source, dest
        int64 arrays of one length: numbers of vertices.
    label
        An array of the semiring's elements, of the same length; None where the semiring is the
        Boolean one, as in the paper: an edge is there or not.
    semiring
        Of the labels; None without labels.
    """

    source: Array
    dest: Array
    label: Array | None = None
    semiring: Semiring[Any] | None = None

    def __post_init__(self) -> None:
        if (self.label is None) != (self.semiring is None):
            raise GraphError(
                "Labels need a semiring, and a semiring needs labels.\n"
                "Give both, or neither for reachability alone."
            )

    def __len__(self) -> int:
        return len(self.source)

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays; for labels that are objects, of the pointers only."""
        labels = 0 if self.label is None else self.label.nbytes
        return int(self.source.nbytes + self.dest.nbytes + labels)

    def take(self, which: Array) -> Edges:
        """Return the edges at positions, or where a Boolean array is true."""
        label = None if self.label is None else self.label[which]
        return Edges(self.source[which], self.dest[which], label, self.semiring)

    def reversed(self) -> Edges:
        """Return the same edges from cause to effect."""
        return Edges(self.dest, self.source, self.label, self.semiring)

    def renumbered(self, numbers: Array) -> Edges:
        """Return the same edges, with vertex v renumbered to ``numbers[v]``."""
        return Edges(numbers[self.source], numbers[self.dest], self.label, self.semiring)

    def merged(self) -> Edges:
        """Return the edges with parallel ones merged, and their labels added.

        O(edges · log edges) time.
        """
        if len(self) < 2:
            return self
        span = int(max(self.source.max(), self.dest.max())) + 1
        keys = self.source * span + self.dest
        if self.label is None:
            keys.sort()
            first = _first(keys)
            if bool(first.all()):
                return self
            source, dest = np.divmod(keys[first], span)
            return Edges(source, dest)
        assert self.semiring is not None
        order = np.argsort(keys, kind="stable")
        first = _first(keys[order])
        starts = np.flatnonzero(first)
        if len(starts) == len(keys):
            return self
        offsets = np.append(starts, len(keys))
        label = self.semiring.sum_segments(self.label[order], offsets)
        places = order[starts]
        return Edges(self.source[places], self.dest[places], label, self.semiring)

    def times(self, label: Array | None, other: Array | None) -> Array | None:
        """Return the elementwise products of two arrays of labels."""
        if self.semiring is None:
            return None
        assert label is not None
        assert other is not None
        return self.semiring.times_array(label, other)


def _first(keys: Array) -> Array:
    first = np.empty(len(keys), dtype=np.bool_)
    first[0] = True
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return first


def no_edges(semiring: Semiring[Any] | None = None) -> Edges:
    """Return an empty set of edges with labels in a semiring."""
    empty = np.empty(0, dtype=np.int64)
    return Edges(empty, empty, None if semiring is None else semiring.zeros(0), semiring)


def joined(parts: Sequence[Edges], semiring: Semiring[Any] | None) -> Edges:
    """Return the concatenation of some sets of edges.

    Raises
    ------
    GraphError
        When a set has labels in another semiring.
    """
    parts = [part for part in parts if len(part)]
    for part in parts:
        if part.semiring != semiring:
            raise GraphError(
                f"Edges labelled in {part.semiring} meet edges labelled in {semiring}.\n"
                "All parts of one reduction are labelled in one semiring, or none is."
            )
    if not parts:
        return no_edges(semiring)
    if len(parts) == 1:
        return parts[0]
    label = None
    if semiring is not None:
        label = _join_labels([part.label for part in parts if part.label is not None])
    return Edges(
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.dest for part in parts]),
        label,
        semiring,
    )


def _join_labels(labels: Sequence[Array]) -> Array:
    # An exact count past 2^63 makes an array of Python integers; so does what it is joined with.
    if any(label.dtype == np.dtype(object) for label in labels):
        return np.concatenate([label.astype(object) for label in labels])
    return np.concatenate(labels)


def without_loops(edges: Edges, *, strict: bool = True) -> tuple[Edges, Array | slice]:
    """Return edges without loops, and the positions of the edges returned.

    Parameters
    ----------
    strict
        Whether a loop is an error. Otherwise loops are dropped: they add no ancestors.

    Raises
    ------
    ReductionCycleError
        There is a loop; `args` has the message and the numbers of the first such vertices.
    """
    loops = edges.source == edges.dest
    if not bool(loops.any()):
        return edges, slice(None)
    if strict:
        raise cycle(ascending(edges.source[loops]))
    return edges.take(~loops), ~loops


def cycle(vertices: Array) -> ReductionCycleError:
    """Return the ReductionCycleError for some vertices; the caller adds their names."""
    return ReductionCycleError("A cycle leads through the vertices", vertices[:5])
