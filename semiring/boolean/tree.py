"""Trees of independent parts: their probability, and the circuit of nodes that look alike.

Probabilities are computed level by level, all nodes of a level at once. Where tuples have one
weight, as for Shapley values, or none, as for deletions, nodes that look alike share a gate of a
small circuit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from semiring.arrays.exact import reduce_segments
from semiring.arrays.segments import owners_of
from semiring.base import Array
from semiring.boolean.chances import chance_column
from semiring.boolean.circuit import Circuit, Gate
from semiring.boolean.decomposition import (
    ALL,
    ANY,
    NOT,
    PART,
    TRUTH,
    TUPLE,
    Decomposition,
    TreeLevel,
)
from semiring.circuit.gates import SEEDS, mixed
from semiring.support.budget import check_budget
from semiring.token import Token

_KINDS: Final = {ALL: "and", ANY: "or", NOT: "not"}


class Tree:
    """A decomposed function, with a circuit for every class of its parts.

    Attributes
    ----------
    tokens
        The tuples that the function depends on.
    decisions
        The number of decisions about single tuples in the circuits.
    classes, circuits
        The parts, and a circuit for each class of them.
    """

    def __init__(self, decomposition: Decomposition, circuits: Sequence[Circuit]) -> None:
        self._levels = decomposition.levels
        self.classes = decomposition.classes
        self.circuits = circuits
        self.tokens = decomposition.tokens
        self.decisions = sum(circuit.decisions for circuit in circuits)
        self._whole: Circuit | None = None
        self._class_of = np.zeros(sum(len(c.parts) for c in self.classes), dtype=np.int64)
        self._row_of = np.zeros(len(self._class_of), dtype=np.int64)
        for number, of_class in enumerate(self.classes):
            self._class_of[of_class.parts] = number
            self._row_of[of_class.parts] = np.arange(len(of_class.parts))

    # -- probability -------------------------------------------------------------------------

    def probability(self, weights: Mapping[Token, Any]) -> Any:
        """Return the probability of the function, of independent tokens.

        Parameters
        ----------
        weights
            By token, its probability: a number, or an array to evaluate many at once.
        """
        return self.probabilities(chance_column(self.tokens, weights))[0]

    def probabilities(self, chances: Array) -> Array:
        """Return the probabilities of all functions of the first level.

        Parameters
        ----------
        chances
            Per token, by number, its probability, or a row of several.
        """
        of_parts = np.zeros((len(self._class_of), *chances.shape[1:]))
        for of_class, circuit in zip(self.classes, self.circuits, strict=True):
            columns = dict(
                zip(of_class.tokens, np.moveaxis(chances[of_class.rows], 1, 0), strict=True)
            )
            of_parts[of_class.parts] = circuit.probability(columns)
        values = chances[:0]
        for level in reversed(self._levels):
            kind, payload = level.kind, level.payload
            made = np.zeros((len(kind), *chances.shape[1:]))
            made[payload > 0] = 1.0
            made[kind == TUPLE] = chances[payload[kind == TUPLE]]
            made[kind == PART] = of_parts[payload[kind == PART]]
            every = reduce_segments(np.multiply, values, level.offsets, 1.0)
            none = reduce_segments(np.multiply, 1 - values, level.offsets, 1.0)
            made[kind == ALL] = every[kind == ALL]
            made[kind == ANY] = 1 - none[kind == ANY]
            made[kind == NOT] = none[kind == NOT]
            values = made
        return values

    # -- nodes that look alike ---------------------------------------------------------------

    def influences(self, weights: Mapping[Token, Any]) -> dict[Token, Any]:
        """See :meth:`Circuit.influences`."""
        return self._alike(chance_column(self.tokens, weights)).influences(weights)

    def integrals(self, points: Array, shares: Array) -> dict[Token, float]:
        """See :meth:`Circuit.integrals`."""
        return self.alike().integrals(points, shares)

    def alike(self) -> Circuit:
        """Return the circuit in which tuples that look alike share a gate."""
        if self._whole is None:
            self._whole = self._alike(np.zeros(len(self.tokens)))
        return self._whole

    def _alike(self, weights: Array) -> Circuit:
        """Return the circuit in which tuples that look alike under some weights share a gate.

        A gate stands for the nodes of one look under nodes that a gate stands for.
        """
        weight = np.unique(weights, axis=0, return_inverse=True)[1].reshape(-1)
        of_parts = np.zeros(len(self._class_of), dtype=np.int64)
        looks = 0
        for of_class in self.classes:
            found = np.unique(weight[of_class.rows], axis=0, return_inverse=True)[1].reshape(-1)
            of_parts[of_class.parts] = looks + found
            looks += int(found.max(initial=-1)) + 1
        of_levels = _looks(self._levels, weight, of_parts)
        gate = np.zeros(1, dtype=np.int64)
        groups: list[_Group] = []
        above = 0
        for depth, level in enumerate(self._levels):
            order = np.argsort(gate, kind="stable")
            for nodes in np.split(order, np.flatnonzero(np.diff(gate[order])) + 1):
                groups.append(_Group(int(level.kind[nodes[0]]), level.payload[nodes], [], []))
            if depth + 1 == len(self._levels):
                break
            owner = gate[owners_of(level.offsets)]
            keys = np.stack([owner, of_levels[depth + 1]], axis=1)
            distinct, below, times = np.unique(
                keys, axis=0, return_inverse=True, return_counts=True
            )
            sizes = np.bincount(gate)
            for number, (own, n) in enumerate(
                zip(distinct[:, 0].tolist(), times.tolist(), strict=True)
            ):
                groups[above + own].children.append(above + len(sizes) + number)
                groups[above + own].times.append(n // int(sizes[own]))
            gate, above = below.reshape(-1), above + len(sizes)
        return self._circuit_of(groups)

    def _circuit_of(self, groups: Sequence[_Group]) -> Circuit:
        gates: list[Gate] = []
        slots: list[Array] = []
        gate_of = [0] * len(groups)
        for number in range(len(groups) - 1, -1, -1):
            check_budget()
            group = groups[number]
            if group.kind == PART:
                self._add_part(group.payload, gates, slots)
            elif group.kind == TUPLE:
                gates.append(Gate("token", slot=len(slots)))
                slots.append(group.payload)
            elif group.kind == TRUTH:
                gates.append(Gate("constant", value=float(group.payload[0])))
            else:
                children = tuple(gate_of[child] for child in group.children)
                gates.append(Gate(_KINDS[group.kind], children, tuple(group.times)))
            gate_of[number] = len(gates) - 1
        return Circuit(tuple(gates), self.tokens, self.decisions, slots)

    def _add_part(self, parts: Array, gates: list[Gate], slots: list[Array]) -> None:
        """Add the gates and slots of parts of one class."""
        of_class = self.classes[number := int(self._class_of[parts[0]])]
        circuit, start, first = self.circuits[number], len(gates), len(slots)
        rows = of_class.rows[self._row_of[parts]]
        column = {token: place for place, token in enumerate(of_class.tokens)}
        slots += [rows[:, column[token]] for token in circuit.tokens]
        gates += [
            replace(
                gate,
                children=tuple(start + child for child in gate.children),
                slot=None if gate.slot is None else first + gate.slot,
            )
            for gate in circuit.gates
        ]


@dataclass(slots=True)
class _Group:
    """The nodes that a gate stands for: their kind, what they are, and the groups below them."""

    kind: int
    payload: Array
    children: list[int]
    times: list[int]


def _looks(levels: Sequence[TreeLevel], weight: Array, of_parts: Array) -> list[Array]:
    """Return the looks of the nodes of each level: equal numbers if the nodes below are alike."""
    looks: list[Array] = []
    below = np.zeros(0, dtype=np.uint64)
    for level in reversed(levels):
        own = np.where(level.kind == TRUTH, level.payload, 0)
        for kind, numbers in ((TUPLE, weight), (PART, of_parts)):
            chosen = level.kind == kind
            own[chosen] = numbers[level.payload[chosen]]
        head = own.astype(np.uint64) * np.uint64(8) + level.kind.astype(np.uint64)
        made = []
        for seed in SEEDS:
            inner = reduce_segments(np.add, mixed(below ^ seed), level.offsets, np.uint64(0))
            made.append(mixed(inner + mixed(head ^ seed)))
        _, found = np.unique(np.stack(made, axis=1), axis=0, return_inverse=True)
        looks.append(found.reshape(-1))
        below = looks[-1].astype(np.uint64)
    return looks[::-1]
