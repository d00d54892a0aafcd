"""Knowledge compilation: Boolean functions as circuits on which counting takes one pass.

A function is taken apart where its parts share no tuple, factored where it is read-once, and else
decided by the tuple that most parts depend on (Shannon expansion with memory). Sources: Darwiche,
*Decomposable Negation Normal Form*, JACM 2001; Golumbic, Mintz, Rotics, *Factoring and Recognition
of Read-Once Functions*, 2006; Jha, Suciu, *Knowledge Compilation Meets Database Theory*, 2011.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from semiring.analysis.events import FALSE, TRUE, Annotation, Events
from semiring.analysis.independence import connected_components, disjoint, independent
from semiring.base import Array
from semiring.budget import check_budget
from semiring.errors import ExactnessError
from semiring.possible_worlds import PossibleWorlds
from semiring.token import Token

DECISIONS = 20_000
"""The number of tuples that compilation may decide by default."""

_TABULATED = 14
"""Conditions on so many tuples are compiled from their values in all worlds."""

_FACTORED = 400
"""A disjunction over more tokens is not searched for a factorisation."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate of a circuit.

    Attributes
    ----------
    kind
        ``constant``, ``token``, ``not``, ``and`` and ``or`` of gates that share no token, or
        ``decision``: the first child if the token is there, else the second.
    """

    kind: str
    children: tuple[int, ...] = ()
    token: Token | None = None
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class Circuit:
    """A compiled function: gates, children before parents, the last one the output."""

    gates: tuple[Gate, ...]
    tokens: tuple[Token, ...]
    decisions: int

    def probability(self, weights: Mapping[Token, Any]) -> Any:
        """The probability of the function, of independent tokens.

        Parameters
        ----------
        weights
            Per token its probability: numbers, or arrays of them, to ask many at once.

        Cost: one pass over the gates.
        """
        return self._values(weights)[-1]

    def _values(self, weights: Mapping[Token, Any]) -> list[Any]:
        values: list[Any] = []
        for gate in self.gates:
            inner = [values[child] for child in gate.children]
            if gate.kind == "constant":
                values.append(gate.value)
            elif gate.kind == "token":
                values.append(weights[_token(gate)])
            elif gate.kind == "not":
                values.append(1 - inner[0])
            elif gate.kind == "and":
                values.append(prod(inner))
            elif gate.kind == "or":
                values.append(1 - prod(1 - value for value in inner))
            else:
                weight = weights[_token(gate)]
                values.append(weight * inner[0] + (1 - weight) * inner[1])
        return values

    def influences(self, weights: Mapping[Token, Any]) -> dict[Token, Any]:
        """For each token, the probability with it less that without it.

        The derivatives of the probability, all found in one pass back over the gates.
        """
        values = self._values(weights)
        slopes: list[Any] = [0.0] * len(values)
        slopes[-1] = 1.0
        influences: dict[Token, Any] = dict.fromkeys(self.tokens, 0.0)
        for number in range(len(values) - 1, -1, -1):
            gate, slope = self.gates[number], slopes[number]
            inner = [values[child] for child in gate.children]
            if gate.kind == "token":
                influences[_token(gate)] = influences[_token(gate)] + slope
            elif gate.kind == "not":
                slopes[gate.children[0]] = slopes[gate.children[0]] - slope
            elif gate.kind in ("and", "or"):
                products = _cofactors(inner if gate.kind == "and" else [1 - each for each in inner])
                for child, other in zip(gate.children, products, strict=True):
                    slopes[child] = slopes[child] + slope * other
            elif gate.kind == "decision":
                token = _token(gate)
                weight = weights[token]
                high, low = gate.children
                slopes[high] = slopes[high] + slope * weight
                slopes[low] = slopes[low] + slope * (1 - weight)
                influences[token] = influences[token] + slope * (inner[0] - inner[1])
        return influences


def _token(gate: Gate) -> Token:
    assert gate.token is not None
    return gate.token


def _cofactors(values: Sequence[Any]) -> list[Any]:
    """For each value the product of all others."""
    before, after = [1.0], [1.0]
    for value in values[:-1]:
        before.append(before[-1] * value)
    for value in values[:0:-1]:
        after.append(after[-1] * value)
    return [left * right for left, right in zip(before, after[::-1], strict=True)]


def compile_annotation(annotation: Annotation, decisions: int = DECISIONS) -> Circuit:
    """The circuit of an annotation's presence.

    Parameters
    ----------
    decisions
        At most so many tuples are decided. Read-once annotations need none; in the worst case the
        number is exponential in that of tokens.

    Raises
    ------
    ExactnessError
        When more would be needed.
    """
    events = Events()
    compiler = _Compiler(events, decisions)
    try:
        compiler.compiled(events.of(annotation))
    except RecursionError as error:
        raise _too_hard(decisions) from error
    tokens = tuple(sorted(annotation.tokens))
    return Circuit(tuple(compiler.gates), tokens, compiler.used)


def _too_hard(decisions: int) -> ExactnessError:
    return ExactnessError(
        f"An exact answer needs more than {decisions:,} decisions about single tuples.\n"
        "Allow more, or ask for samples, which have an error that is stated."
    )


class _Compiler:
    def __init__(self, events: Events, most: int) -> None:
        self.gates: list[Gate] = []
        self.used = 0
        self._events = events
        self._most = most
        self._known: dict[int, int] = {}

    def compiled(self, event: int) -> int:
        """The gate of an event."""
        if event not in self._known:
            self._known[event] = self._compile(event)
        return self._known[event]

    def _add(self, gate: Gate) -> int:
        self.gates.append(gate)
        return len(self.gates) - 1

    def _compile(self, event: int) -> int:
        check_budget()
        events = self._events
        kind, part = events.kinds[event], events.parts[event]
        if event in (FALSE, TRUE):
            return self._add(Gate("constant", value=float(event == TRUE)))
        if kind == "token":
            return self._add(Gate("token", token=part))
        if kind == "not":
            return self._add(Gate("not", (self.compiled(part),)))
        if kind in ("and", "or"):
            join = events.conjunction if kind == "and" else events.disjunction
            apart = independent(part, events.tokens)
            if len(apart) > 1:
                return self._add(Gate(kind, tuple(self.compiled(join(group)) for group in apart)))
            factors = self._factors(part, kind)
            if len(factors) > 1:
                other = "or" if kind == "and" else "and"
                return self._add(Gate(other, tuple(map(self.compiled, factors))))
        return self._decide(event)

    def _factors(self, part: frozenset[int], kind: str) -> list[int]:
        """Events that share no token, and which the other connective joins to this one.

        Members that are joins are projected on the classes of parts that never occur together;
        where these projections make up all members, they are factors.
        """
        events = self._events
        members = [events.members(member, kind) for member in part]
        literals = frozenset().union(*members)
        if len(literals) > _FACTORED:
            return []
        together = {pair for member in members for pair in combinations(sorted(member), 2)}
        alone = [pair for pair in combinations(sorted(literals), 2) if pair not in together]
        groups = connected_components(literals, alone)
        if len(groups) < 2 or not disjoint(groups, events.tokens):
            return []
        projected = [{member & group for member in members} for group in groups]
        if prod(map(len, projected)) != len(members):
            return []
        inner = events.conjunction if kind == "or" else events.disjunction
        outer = events.disjunction if kind == "or" else events.conjunction
        return [outer(inner(item) for item in items) for items in projected]

    def _tabulated(self, event: int) -> int:
        """The gate of a condition on few tuples, from its value in every world.

        Worlds are halved by one token after the other; equal halves are one gate.
        """
        tokens = sorted(self._events.tokens[event])
        holds = PossibleWorlds.every(tokens).holds(self._events.parts[event])
        known: dict[bytes, int] = {}

        def gate(worlds: Array, level: int) -> int:
            key = worlds.tobytes()
            if key not in known:
                if worlds.all() or not worlds.any():
                    known[key] = self.compiled(TRUE if worlds[0] else FALSE)
                else:
                    half = len(worlds) // 2
                    low, high = worlds[:half], worlds[half:]
                    if (low == high).all():
                        known[key] = gate(low, level - 1)
                    else:
                        children = (gate(high, level - 1), gate(low, level - 1))
                        known[key] = self._add(Gate("decision", children, tokens[level]))
            return known[key]

        return gate(holds, len(tokens) - 1)

    def _decide(self, event: int) -> int:
        events = self._events
        if events.kinds[event] == "leaf" and len(events.tokens[event]) <= _TABULATED:
            return self._tabulated(event)
        self.used += 1
        if self.used > self._most:
            raise _too_hard(self._most)
        part = events.parts[event]
        inner = part if isinstance(part, frozenset) else (event,)
        counts = Counter(token for member in inner for token in events.tokens[member])
        token = max(counts, key=lambda token: (counts[token], token.sort_key))
        high, low = (self.compiled(events.given(event, token, there)) for there in (True, False))
        return self._add(Gate("decision", (high, low), token))


def at_every(tokens: Iterable[Token], weights: Array | float) -> dict[Token, Array | float]:
    """The same probability, or array of probabilities, for every token."""
    return dict.fromkeys(tokens, weights)


def quadrature(degree: int) -> tuple[Array, Array]:
    """Points and weights that integrate polynomials of a degree from 0 to 1 exactly."""
    points, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    return (points + 1) / 2, weights / 2
