"""Knowledge compilation: annotations to circuits, guided by their structure.

A function is split into parts that share no tuple, factored if it is read-once, and else decided on
the tuple that most parts depend on (Shannon expansion with memoisation). A condition on a COUNT or
SUM becomes the distribution of a sum of functions. Sources: Golumbic, Mintz, Rotics, *Factoring and
Recognition of Read-Once Functions*, 2006; Jha, Suciu, *Knowledge Compilation Meets Database
Theory*, 2011; Dalvi, Suciu, *The Dichotomy of Probabilistic Inference for Unions of Conjunctive
Queries*, JACM 2012 (hierarchical queries, whose annotations have common factors).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from semiring.base import Array
from semiring.boolean.circuit import Circuit, Gate
from semiring.boolean.events import (
    FALSE,
    TRUE,
    Annotation,
    BooleanFunctions,
    WeightedSum,
    connected_components,
    disjoint,
    independent,
    too_hard,
)
from semiring.circuit.possible_worlds import PossibleWorlds
from semiring.support.budget import check_budget
from semiring.token import Token

if TYPE_CHECKING:
    from semiring.boolean.decomposition import Decomposition
    from semiring.boolean.tree import Tree

DECISIONS = 20_000
"""The number of tuples that compilation may decide by default."""

_TABULATED = 14
"""Number of tuples up to which a condition is compiled from its values in all worlds."""

_FACTORED = 400
"""Number of tokens up to which a disjunction is searched for a factorisation."""


_SPLIT = 200
"""Number of tokens above which annotations are first split into parts by whole columns."""


def compile_annotation(annotation: Annotation, decisions: int = DECISIONS) -> Circuit | Tree:
    """Compile an annotation's presence to a circuit, or for many tokens to a tree of circuits.

    Parameters
    ----------
    decisions
        Limit on decided tuples. Read-once annotations need none; in the worst case their number is
        exponential in the number of tokens.

    Raises
    ------
    ExactnessError
        When more would be needed.
    """
    # Few questions need these modules.
    from semiring.boolean.columns import token_count
    from semiring.boolean.decomposition import decompose

    if token_count(annotation) <= _SPLIT:
        return _compiled(annotation, decisions)
    return compile_parts(decompose(annotation), decisions)


def compile_parts(parts: Decomposition, decisions: int = DECISIONS) -> Tree:
    """Return a tree of parts with a circuit for each class of them; as `compile_annotation`."""
    from semiring.boolean.tree import Tree

    circuits: list[Circuit] = []
    for part in parts.classes:
        used = sum(circuit.decisions for circuit in circuits)
        circuits.append(_compiled(part.annotation, decisions - used))
    return Tree(parts, circuits)


def _compiled(annotation: Annotation, decisions: int) -> Circuit:
    events = BooleanFunctions()
    try:
        event = events.of(annotation)
    except RecursionError as error:
        raise too_hard(decisions) from error
    return compile_event(events, event, decisions, annotation.tokens)


def compile_event(
    events: BooleanFunctions, event: int, decisions: int, tokens: frozenset[Token] | None = None
) -> Circuit:
    """Return the circuit of an event over some tokens; as `compile_annotation`."""
    of = tuple(sorted(events.tokens[event] if tokens is None else tokens))
    compiler = _Compiler(events, decisions, of)
    try:
        compiler.compiled(event)
    except RecursionError as error:
        raise too_hard(decisions) from error
    return Circuit(tuple(compiler.gates), of, compiler.used)


class _Compiler:
    def __init__(self, events: BooleanFunctions, most: int, tokens: Sequence[Token]) -> None:
        self.gates: list[Gate] = []
        self.used = 0
        self._slot = {token: slot for slot, token in enumerate(tokens)}
        self._events = events
        self._most = most
        self._known: dict[int, int] = {}
        self._sums: dict[tuple[frozenset[tuple[int, int]], int], int] = {}

    def compiled(self, event: int) -> int:
        """Return the gate of an event."""
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
            return self._add(Gate("token", slot=self._slot[part]))
        if kind == "not":
            return self._add(Gate("not", (self.compiled(part),)))
        if kind == "sum":
            return self._sum(part)
        if kind in ("and", "or"):
            if kind == "and":
                part = self._without_implied(part)
                if len(part) == 1:
                    return self.compiled(next(iter(part)))
            join = events.conjunction if kind == "and" else events.disjunction
            apart = independent(part, events.tokens)
            if len(apart) > 1:
                return self._add(Gate(kind, tuple(self.compiled(join(group)) for group in apart)))
            factors = self._common(part, kind) or self._factors(part, kind)
            if len(factors) > 1 and disjoint([frozenset((f,)) for f in factors], events.tokens):
                other = "or" if kind == "and" else "and"
                return self._add(Gate(other, tuple(map(self.compiled, factors))))
        return self._decide(event)

    def _without_implied(self, part: frozenset[int]) -> frozenset[int]:
        """Return a conjunction without the disjunctions that its conditions on sums imply."""
        events = self._events
        for condition in part:
            if events.kinds[condition] != "sum":
                continue
            known: WeightedSum = events.parts[condition]
            if known.holds(0) and not known.some:
                continue
            summed = {event for event, _ in known.items}
            part = frozenset(
                event
                for event in part
                if events.kinds[event] != "or" or not summed <= events.parts[event]
            )
        return part

    def _common(self, part: frozenset[int], kind: str) -> list[int]:
        """Return the common members of all operands, factored out, and the rest; [] if there are
        none.
        """
        events = self._events
        members = [events.members(member, kind) for member in part]
        common = frozenset.intersection(*members)
        if not common:
            return []
        inner = events.conjunction if kind == "or" else events.disjunction
        outer = events.disjunction if kind == "or" else events.conjunction
        rest = outer(inner(member - common) for member in members)
        return [inner(common), rest] if events.tokens[rest] else [inner(common)]

    def _factors(self, part: frozenset[int], kind: str) -> list[int]:
        """Return factors of an event: events that share no token, joined by the other connective.

        Operands are projected on the classes of members that never occur together; if all
        combinations of these projections occur, the projections are factors.
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

    def _sum(self, condition: WeightedSum) -> int:
        """Return the gate of a condition on a weighted sum."""
        check_budget()
        offset = sum(weight for _, weight in condition.items if weight < 0)
        most = sum(abs(weight) for _, weight in condition.items)
        holds = [condition.holds(total + offset) for total in range(most + 1)]
        cap = most
        while cap and holds[cap - 1] == holds[most]:
            cap -= 1
        total = self._distribution(condition.items, cap)
        children = [total]
        if condition.some:
            children.append(self.compiled(self._events.disjunction(e for e, _ in condition.items)))
        return self._add(Gate("compare", tuple(children), sums=tuple(holds[: cap + 1])))

    def _distribution(self, items: frozenset[tuple[int, int]], cap: int) -> int:
        """Return the gate of the distribution of a weighted sum, shifted to be non-negative.

        A negative weight counts with its absolute value in the worlds where its function does not
        hold.
        """
        check_budget()
        key = (items, cap)
        if key not in self._sums:
            weights = dict(items)
            parts = [
                self._connected({event: weights[event] for event in group}, cap)
                for group in independent(weights, self._events.tokens)
            ]
            self._sums[key] = self._convolution(parts, cap)
        return self._sums[key]

    def _convolution(self, parts: list[int], cap: int) -> int:
        return (
            parts[0] if len(parts) == 1 else self._add(Gate("convolution", tuple(parts), cap=cap))
        )

    def _connected(self, weights: dict[int, int], cap: int) -> int:
        """Return the gate of the distribution of a weighted sum of functions that share tuples."""
        events = self._events
        if len(weights) == 1:
            ((event, weight),) = weights.items()
            child = self.compiled(event)
            at = min(abs(weight), cap)
            return self._add(Gate("step", (child,), at=at, complement=weight < 0, cap=cap))
        counts = Counter(token for event in weights for token in events.tokens[event])
        token = max(counts, key=lambda token: (counts[token], token.sort_key))
        if counts[token] < len(weights):
            self._decided()
        before = sum(min(weight, 0) for weight in weights.values())
        children = []
        for there in (True, False):
            given: dict[int, int] = {}
            for event, weight in weights.items():
                now = events.given(event, token, there)
                given[now] = given.get(now, 0) + weight
            given.pop(FALSE, None)
            # The sum that is distributed is larger by the weights below zero.
            certain = given.pop(TRUE, 0) - before
            kept = frozenset((event, weight) for event, weight in given.items() if weight)
            certain += sum(min(weight, 0) for _, weight in kept)
            parts = [self._distribution(kept, cap)] if kept else []
            if certain or not parts:
                parts.append(self._add(Gate("point", at=min(certain, cap), cap=cap)))
            children.append(self._convolution(parts, cap))
        return self._add(Gate("mixture", tuple(children), slot=self._slot[token], cap=cap))

    def _decided(self) -> None:
        self.used += 1
        if self.used > self._most:
            raise too_hard(self._most)

    def _tabulated(self, event: int) -> int:
        """Return the gate of a condition on few tuples, from its value in every world.

        Worlds are halved by one token after another; equal halves become one gate.
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
                        known[key] = self._add(
                            Gate("decision", children, slot=self._slot[tokens[level]])
                        )
            return known[key]

        return gate(holds, len(tokens) - 1)

    def _decide(self, event: int) -> int:
        events = self._events
        if events.kinds[event] == "leaf" and len(events.tokens[event]) <= _TABULATED:
            return self._tabulated(event)
        self._decided()
        part = events.parts[event]
        inner = part if isinstance(part, frozenset) else (event,)
        counts = Counter(token for member in inner for token in events.tokens[member])
        token = max(counts, key=lambda token: (counts[token], token.sort_key))
        high, low = (self.compiled(events.given(event, token, there)) for there in (True, False))
        return self._add(Gate("decision", (high, low), slot=self._slot[token]))
