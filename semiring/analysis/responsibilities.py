"""The responsibility of input tuples for a result, on compiled functions.

A tuple decides a result once its own part of the function does: all parts beside it must be false
in a disjunction, true in a conjunction, and add up to a sum at which its weight decides the
condition. The least deletions that bring this about are found in one pass from the root down.
Source: Meliou, Gatterbauer, Moore, Suciu, *The Complexity of Causality and Responsibility for Query
Answers*, PVLDB 4(1), 2010.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from semiring.base import Array
from semiring.boolean.circuit import Circuit, Gate
from semiring.boolean.compilation import compile_annotation, compile_event
from semiring.boolean.deletions import NEVER, Deletions, least_sums, with_times
from semiring.boolean.events import Annotation, BooleanFunctions
from semiring.circuit.possible_worlds import PossibleWorlds
from semiring.errors import ExactnessError
from semiring.support.budget import check_budget, remaining, spent, within
from semiring.token import Token

STEPS = 100_000
"""The number of decisions about single tuples that the search may take by default."""

_ENUMERATED = 12
"""Number of tuples up to which all worlds are enumerated."""

_SEARCH = 0.7
"""The share of a budget after which the remaining tuples get bounds only."""


class Responsibilities(dict[Token, float]):
    """Responsibilities of input tuples: lower bounds, exact unless an upper bound is given.

    Attributes
    ----------
    upper
        Upper bounds of tuples that took too long.
    """

    def __init__(self, lower: Mapping[Token, float], upper: Mapping[Token, float]) -> None:
        super().__init__(lower)
        self.upper = dict(upper)

    @property
    def complete(self) -> bool:
        """True if all responsibilities are exact."""
        return not self.upper


def responsibility(annotation: Annotation, steps: int = STEPS) -> Responsibilities:
    """Return the responsibility of each input tuple for a result.

    It is 1 / (1 + k) for the least number k of other tuples without which the result is still
    present but depends on this one; 0 if there are no such tuples.

    Parameters
    ----------
    steps
        The number of decisions about single tuples that the search takes at most. Tuples that need
        more, or more than the time there is, have a lower and an upper bound: no tuple has more
        than 1 over the size of the smallest repairs, and members of these have as much.
    """
    if len(annotation.tokens) <= _ENUMERATED:
        return Responsibilities(_of_worlds(annotation), {})
    try:
        compiled = compile_annotation(annotation, steps).alike()
        deletions = Deletions(compiled)
        found = _Contexts(compiled, deletions).costs()
        smallest = deletions.smallest(1)
    except ExactnessError:
        check_budget()
        return bounded_responsibility(annotation)
    if deletions.least is None:
        return Responsibilities(dict.fromkeys(sorted(annotation.tokens), 0.0), {})
    # Where a row that is not there may come by a deletion, this is one other tuple.
    most = 1 / (deletions.least or 2)
    lower = {token: _share(cost) for token, cost in found.items() if cost is not None}
    if deletions.least:
        lower.update((token, most) for repair in smallest for token in repair)
    upper: dict[Token, float] = {}
    time = remaining()
    with within(None if time is None else _SEARCH * time):
        search = _Flips(annotation, steps)
        for token in (token for token in compiled.tokens if token not in lower):
            cost = None if spent() else search.least(token)
            lower[token] = 0.0 if cost is None else _share(cost)
            if cost is None:
                upper[token] = most
    return Responsibilities({token: lower[token] for token in sorted(annotation.tokens)}, upper)


def bounded_responsibility(annotation: Annotation) -> Responsibilities:
    """Return bounds on the responsibility of each input tuple, without a search."""
    tokens = sorted(annotation.tokens)
    return Responsibilities(dict.fromkeys(tokens, 0.0), dict.fromkeys(tokens, 1.0))


def _of_worlds(annotation: Annotation) -> dict[Token, float]:
    """Return the responsibility of few tuples, by enumerating every world."""
    tokens = sorted(annotation.tokens)
    there = PossibleWorlds.every(tokens).holds(annotation)
    numbers = np.arange(len(there))
    absent = np.full(len(there), len(tokens))
    for bit in range(len(tokens)):
        absent -= numbers >> bit & 1
    shares = {}
    for bit, token in enumerate(tokens):
        having = numbers[(numbers >> bit & 1) == 1]
        decides = having[there[having] & ~there[having - (1 << bit)]]
        shares[token] = _share(int(absent[decides].min(initial=NEVER)))
    return shares


def _share(cost: int) -> float:
    return 0.0 if cost >= NEVER else 1 / (1 + cost)


class _Flips:
    """The least deletions that make single tuples decisive, compiled tuple by tuple."""

    def __init__(self, annotation: Annotation, steps: int) -> None:
        self._annotation = annotation
        self._steps = steps
        self._events: BooleanFunctions | None = None
        self._event = 0

    def least(self, token: Token) -> int | None:
        """Return the least number of deletions, or None if it needs too many decisions."""
        if self._events is None:
            self._events = BooleanFunctions()
            self._event = self._events.of(self._annotation)
        events, event = self._events, self._event
        without = events.negation(events.given(event, token, there=False))
        flips = events.conjunction((events.given(event, token, there=True), without))
        try:
            circuit = compile_event(events, flips, self._steps)
            self._steps -= circuit.decisions
            return Deletions(circuit).true[-1]
        except ExactnessError:
            return None


class _Contexts:
    """The least deletions, by gate, after which the output equals the gate or its negation."""

    def __init__(self, circuit: Circuit, least: Deletions) -> None:
        self._circuit = circuit
        self._gates = circuit.gates
        self._least = least

    def costs(self) -> dict[Token, int | None]:
        """Return, by token, the least deletions that make it decisive; None: the structure does
        not show it.
        """
        same = np.full(len(self._gates), NEVER, dtype=np.int64)
        opposite = same.copy()
        same[-1] = 0
        costs = [NEVER] * self._circuit.slot_count
        unknown: set[int] = set()
        hidden = np.zeros(len(self._gates), dtype=np.bool_)
        for number in range(len(self._gates) - 1, -1, -1):
            check_budget()
            gate = self._gates[number]
            if gate.slot is not None and (gate.kind != "token" or hidden[number]):
                unknown.add(gate.slot)
            own = (int(same[number]), int(opposite[number]))
            if hidden[number] or (gate.kind == "compare" and not self._is_sum_of_parts(gate)):
                hidden[list(gate.children)] = True
            elif gate.kind == "token":
                assert gate.slot is not None
                costs[gate.slot] = min(costs[gate.slot], own[0])
            elif min(own) < NEVER:
                for child, cost in self._below(gate, own):
                    same[child] = min(same[child], cost[0])
                    opposite[child] = min(opposite[child], cost[1])
        known = [None if slot in unknown else cost for slot, cost in enumerate(costs)]
        return self._circuit.of_tokens(known, NEVER)

    def _is_sum_of_parts(self, gate: Gate) -> bool:
        """Return True for a condition on a weighted sum of functions that share no token."""
        if len(gate.children) > 1:
            return False
        return all(self._gates[part].kind in ("step", "point") for part in self._parts(gate))

    def _parts(self, gate: Gate) -> tuple[int, ...]:
        total = gate.children[0]
        inner = self._gates[total]
        return inner.children if inner.kind == "convolution" else (total,)

    def _below(self, gate: Gate, own: tuple[int, int]) -> Iterable[tuple[int, tuple[int, int]]]:
        """Yield children, with the costs of the output equalling the child or its negation."""
        least = self._least
        if gate.kind == "not":
            yield gate.children[0], (own[1], own[0])
        elif gate.kind in ("and", "or"):
            sizes = [(least.true if gate.kind == "and" else least.false)[c] for c in gate.children]
            counted = [(n, s) for (_, n), s in zip(with_times(gate), sizes, strict=True)]
            total = sum(n * s for n, s in counted if s < NEVER)
            never = sum(n for n, s in counted if s >= NEVER)
            for child, size in zip(gate.children, sizes, strict=True):
                if never - (size >= NEVER):
                    continue
                others = total - (size if size < NEVER else 0)
                yield child, (own[0] + others, own[1] + others)
        elif gate.kind == "decision":
            yield gate.children[0], own
            yield gate.children[1], (own[0] + 1, own[1] + 1)
        elif gate.kind == "compare":
            yield from self._of_sum(gate, own)

    def _of_sum(self, gate: Gate, own: tuple[int, int]) -> Iterable[tuple[int, tuple[int, int]]]:
        """Yield the functions in a sum: the others must reach a sum at which its weight decides."""
        parts, cap = self._parts(gate), len(gate.sums) - 1
        holds = np.array(gate.sums, dtype=np.bool_)
        alike: dict[tuple[int, bool, int, int], list[int]] = {}
        for part in parts:
            step = self._gates[part]
            if step.kind == "step":
                child = step.children[0]
                looks = (
                    step.at,
                    step.complement,
                    self._least.true[child],
                    self._least.false[child],
                )
                alike.setdefault(looks, []).append(part)
        for (at, complement, _, _), members in alike.items():
            check_budget()
            others = [self._sums(part) for part in parts if part != members[0]]
            rest = least_sums(others, cap)
            sums = np.arange(len(rest))
            without, with_it = holds[np.minimum(sums, cap)], holds[np.minimum(sums + at, cap)]
            up = int(rest[with_it & ~without].min(initial=NEVER))
            down = int(rest[without & ~with_it].min(initial=NEVER))
            if complement:
                up, down = down, up
            same, opposite = min(own[0] + up, own[1] + down), min(own[0] + down, own[1] + up)
            for part in members:
                yield self._gates[part].children[0], (same, opposite)

    def _sums(self, part: int) -> Array:
        sums = self._least.sums[part]
        assert sums is not None
        return sums
