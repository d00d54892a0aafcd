"""The distribution of functions of several aggregates, such as CASE and quotients.

The joint value of the aggregates is a state; states of parts that share no tuple are combined
pairwise, and shared tuples are decided one by one. Source: Ré, Suciu, *The Trichotomy of HAVING
Queries on a Probabilistic Database*, VLDB Journal 18, 2009 (monoid random variables, which are
these states).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from numbers import Number
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from semiring.analysis.shared_sums import SharedSums
from semiring.base import Array
from semiring.boolean.events import Annotation, BooleanFunctions, independent, most
from semiring.circuit.possible_worlds import PossibleWorlds
from semiring.errors import CapabilityError, ExactnessError
from semiring.expression import Expression
from semiring.monoid import average, exact_scale, exact_sum
from semiring.polynomial import Polynomial
from semiring.support.budget import check_budget
from semiring.tensor import Tensor
from semiring.token import Token, tokens_of
from semiring.value import Operand, Value

if TYPE_CHECKING:
    from semiring.circuit.values import CircuitAggregated

STATES = 20_000
"""The largest number of states that are distinguished."""

_PAIRS = 64
"""The number of pairs of states that may be combined for each distinguished state."""

_ENUMERATED = 16
"""Number of tokens up to which worlds are enumerated."""

_HELD = 1 << 20
"""Number of worlds of parts held at a time."""

State: TypeAlias = tuple[Any, ...]


def distribution(
    value: Value, chances: Mapping[Token, float], given: Expression, decisions: int
) -> list[tuple[Any, float]]:
    """Return the possible values of a formal value with their probabilities, given evidence.

    Parameters
    ----------
    given
        The evidence, 0 or 1 in every world. Probabilities are of the value *and* the evidence.
    decisions
        Limit on decided tuples.

    Raises
    ------
    ExactnessError
        More decisions or more than `STATES` states are needed; or values of windows, or of
        aggregates other than SUM, COUNT, MIN, MAX and AVG, depend on more than sixteen tuples.
    """
    # Few questions need this module.
    from semiring.boolean.columns import token_count

    if max(token_count(value), token_count(given)) <= _ENUMERATED:
        tokens = value.tokens | given.tokens
        if len(tokens) <= _ENUMERATED:
            return _enumerated(value, chances, given, sorted(tokens))
    slots: dict[Value | Expression, int] = {}
    _collect(value, slots)
    for part in slots:
        if isinstance(part, Tensor) and _has_too_many_values(part, chances):
            raise _too_many()
    slots.setdefault(given, len(slots))
    combined = _States(list(slots), chances, decisions).all()
    kept = [(state, chance) for state, chance in combined.items() if state[slots[given]]]
    known = {part: [_finished(part, s[n]) for s, _ in kept] for part, n in slots.items()}
    values = _values(value, known, len(kept))
    return [(v, chance) for v, (_, chance) in zip(values, kept, strict=True)]


def _enumerated(
    value: Value, chances: Mapping[Token, float], given: Expression, tokens: Sequence[Token]
) -> list[tuple[Any, float]]:
    worlds = PossibleWorlds.every(tokens)
    weights = world_weights(tokens, chances)
    there = np.flatnonzero(worlds.holds(given))
    values = worlds.values([value])[0]
    return [(values[world], float(weights[world])) for world in there.tolist()]


def _has_too_many_values(tensor: Tensor, chances: Mapping[Token, float]) -> bool:
    """Return True for a sum that certainly has more than `STATES` values.

    n different positive numbers have more than n²/2 different subset sums. The numbers that count
    here are each decided by a tuple of their own, independently of all others.
    """
    if tensor.monoid.name not in ("SUM", "AVG") or tensor.size**2 <= 2 * STATES:
        return False
    used = Counter(token for k, _ in tensor.terms for token in k.tokens)
    different = set()
    for k, value in tensor.terms:
        ((monomial, n), *others) = k.terms if isinstance(k, Polynomial) else ((((), 0)),)
        tokens = [token for token, _ in monomial]
        if others or n != 1 or not value or not all(chances[token] for token in tokens):
            continue
        if any(used[token] == 1 and chances[token] < 1 for token in tokens):
            different.add(abs(value))
    return len(different) ** 2 > 2 * STATES


def aggregated_moments(
    value: Value, chances: Mapping[Token, float]
) -> tuple[float, float, float] | None:
    """Return mean, variance and presence of a SUM or COUNT of formal values, or None.

    None for other values, and if rows that share tuples depend on more than sixteen of them.
    Expectation is linear, and rows that share no tuple are independent: each part is enumerated by
    itself.
    """
    from semiring.circuit.values import CircuitAggregated

    if not isinstance(value, CircuitAggregated) or value.function.label not in ("SUM", "COUNT"):
        return None
    of_rows = [tokens_of((k, *row)) for k, row in value.terms]
    by_size: dict[int, list[tuple[list[int], list[Token]]]] = {}
    for part in independent(range(len(of_rows)), of_rows):
        tokens = sorted(frozenset().union(*(of_rows[row] for row in part)))
        if len(tokens) > _ENUMERATED:
            return None
        by_size.setdefault(len(tokens), []).append((part, tokens))
    mean = variance = 0.0
    absence = 1.0
    for size, parts in by_size.items():
        places = np.arange(1 << size)
        bits = [(places >> bit) & 1 == 1 for bit in range(size)]
        there = {token: bit for _, own in parts for token, bit in zip(own, bits, strict=True)}
        worlds = PossibleWorlds(there, len(places))
        most = max(1, _HELD // len(places))
        for start in range(0, len(parts), most):
            check_budget()
            few = parts[start : start + most]
            totals, counted = _brought(value, [row for part, _ in few for row in part], worlds)
            firsts = np.cumsum([0, *(len(part) for part, _ in few)])[:-1]
            totals = np.add.reduceat(totals, firsts)
            counted = np.logical_or.reduceat(counted, firsts)
            for (_, tokens), total, some in zip(few, totals, counted, strict=True):
                weights = world_weights(tokens, chances)
                # Sums in worlds of probability 0 are ignored.
                sums = np.where(weights > 0, total, 0.0)
                of_part = float((weights * sums).sum())
                mean += of_part
                variance += float((weights * (sums - of_part) ** 2).sum())
                absence *= float(weights[~some].sum())
    if value.function.label == "COUNT":
        return mean, variance, 1.0
    if absence == 1.0:
        return None
    # Without a value the sum is 0, which adds nothing to either moment.
    given = mean / (1 - absence)
    return given, max((variance + mean**2) / (1 - absence) - given**2, 0.0), 1 - absence


def _brought(
    value: CircuitAggregated, rows: Sequence[int], worlds: PossibleWorlds
) -> tuple[Array, Array]:
    """Return the contributions of rows to a sum or count in each world, and where they count."""
    terms = [value.terms[row] for row in rows]
    copies = worlds.counts([annotation for annotation, _ in terms]).astype(np.float64)
    held, amounts = copies > 0, np.ones(copies.shape)
    if terms[0][1]:
        of_arguments = worlds.values([arguments[0] for _, arguments in terms])
        held &= of_arguments != None  # noqa: E711 - element by element
        if value.function.label == "SUM":
            amounts = numbers_of(of_arguments.ravel().tolist()).reshape(copies.shape)
    return np.where(held, copies * amounts, 0.0), held


def numbers_of(values: Sequence[Any]) -> Array:
    """Return plain values as doubles, NULL as NaN.

    Raises
    ------
    CapabilityError
        For a value that is not a number.
    """
    for value in values:
        if value is not None:
            check_number(value)
    return np.array([math.nan if value is None else float(value) for value in values])


def check_numbers(tensor: Tensor) -> None:
    """Raise CapabilityError for a tensor with a non-numeric value, which has no mean."""
    if not tensor.has_numbers:
        for value in tensor.values():
            check_number(value)


def check_number(value: Any) -> None:
    """Raise CapabilityError for a non-numeric value, which has no mean: a text, a date, a list."""
    if not isinstance(value, Number):
        raise CapabilityError(
            f"{value!r} is not a number: expected values are those of numbers.\n"
            "Ask for the probability of each value, or for a number made of it."
        )


def world_weights(tokens: Sequence[Token], chances: Mapping[Token, float]) -> Any:
    """Return the probability of each of all worlds, in the order of `PossibleWorlds.every`."""
    weights = np.ones(1)
    for token in tokens:
        weights = np.concatenate([weights * (1 - chances[token]), weights * chances[token]])
    return weights


# -- what a value is a function of -------------------------------------------------------------


def _collect(operand: Operand, slots: dict[Value | Expression, int]) -> None:
    """Number the tensors and annotations that a formal value depends on."""
    from semiring.circuit.values import CircuitApplied, CircuitChoice

    if not isinstance(operand, Value):
        return
    if isinstance(operand, Tensor):
        slots.setdefault(operand, len(slots))
    elif isinstance(operand, CircuitApplied):
        for part in operand.operands:
            _collect(part, slots)
    elif isinstance(operand, CircuitChoice):
        for annotation, part in operand.alternatives:
            slots.setdefault(Expression.of(annotation).delta(), len(slots))
            _collect(part, slots)
    else:
        raise ExactnessError(
            f"{operand.truncated(3)} depends on {len(operand.tokens)} tuples: its worlds are too "
            f"many, and it is not a function of SUM, COUNT, MIN, MAX and AVG alone."
        )


def _values(
    operand: Operand, known: Mapping[Value | Expression, list[Any]], length: int
) -> list[Any]:
    """Return the values of an operand by state."""
    from semiring.circuit.values import CircuitApplied, CircuitChoice

    if not isinstance(operand, Value):
        return [operand] * length
    if isinstance(operand, Tensor):
        return known[operand]
    if isinstance(operand, CircuitApplied):
        columns = [_values(part, known, length) for part in operand.operands]
        results: list[Any] = operand.function(list(zip(*columns, strict=True)))
        return results
    assert isinstance(operand, CircuitChoice)
    values: list[Any] = [None] * length
    for annotation, part in reversed(operand.alternatives):
        there = known[Expression.of(annotation).delta()]
        pairs = zip(there, _values(part, known, length), values, strict=True)
        values = [new if held else old for held, new, old in pairs]
    return values


# -- states --------------------------------------------------------------------------------------


def _neutral(part: Value | Expression) -> Any:
    if isinstance(part, Expression):
        return False
    assert isinstance(part, Tensor)
    name = part.monoid.name
    return None if name in ("MIN", "MAX") else (0, 0)


def _added(part: Value | Expression, a: Any, b: Any) -> Any:
    if isinstance(part, Expression):
        return a or b
    assert isinstance(part, Tensor)
    if part.monoid.name in ("MIN", "MAX"):
        if a is None or b is None:
            return b if a is None else a
        return part.monoid.aggregate([(1, a), (1, b)])
    return (a[0] + b[0], exact_sum([a[1], b[1]]))


def _finished(part: Value | Expression, state: Any) -> Any:
    """Return the value of a tensor or annotation in a state."""
    if isinstance(part, Expression):
        return state
    assert isinstance(part, Tensor)
    name = part.monoid.name
    if name in ("MIN", "MAX"):
        return state
    count, total = state
    if name == "COUNT":
        return count
    if not count:
        return None
    if name == "SUM":
        return total
    return (part.monoid.finisher or average)(total, count)


def counted_events(events: BooleanFunctions, annotation: Annotation) -> Iterator[tuple[int, int]]:
    """Yield the events that an annotation counts, with multiplicities."""
    if isinstance(annotation, Polynomial):
        for monomial, n in annotation.terms:
            yield events.conjunction(events.token(token) for token, _ in monomial), n
        return
    for summand, n in annotation.terms:
        check_counted(summand)
        yield events.of(summand), n


def check_counted(summand: Expression) -> None:
    """Raise ExactnessError unless an annotation counts 0 or 1."""
    if most(summand) > 1:
        raise ExactnessError(
            f"{summand.truncated(3)} multiplies a sum with δ, ⊖ or a comparison: its "
            "multiplicity is not decomposed.\nAsk for samples, which state their error."
        )


def _too_many() -> ExactnessError:
    return ExactnessError(
        f"The aggregates have more than {STATES:,} values together.\n"
        "Ask for the expected value of each aggregate alone."
    )


class _States(SharedSums[State, dict[State, float]]):
    """The joint states of some tensors and annotations."""

    def __init__(
        self, parts: Sequence[Value | Expression], chances: Mapping[Token, float], decisions: int
    ) -> None:
        super().__init__(BooleanFunctions(), chances, decisions, tuple(map(_neutral, parts)))
        self._parts = parts

    def all(self) -> dict[State, float]:
        """Return the probability of every state."""
        return self.of(s for number in range(len(self._parts)) for s in self._of_part(number))

    def _of_part(self, number: int) -> Iterator[tuple[int, State]]:
        part = self._parts[number]
        if isinstance(part, Expression):
            yield self._events.of(part), self._only(number, True)
            return
        assert isinstance(part, Tensor)
        for annotation, value in part.terms:
            for event, n in counted_events(self._events, annotation):
                state = value
                if part.monoid.name not in ("MIN", "MAX"):
                    total = 0 if part.monoid.name == "COUNT" else exact_scale(n, value)
                    state = (n, total)
                yield event, self._only(number, state)

    def _only(self, number: int, state: Any) -> State:
        return (*self._nothing[:number], state, *self._nothing[number + 1 :])

    def _plus(self, a: State, b: State) -> State:
        return tuple(_added(p, x, y) for p, x, y in zip(self._parts, a, b, strict=True))

    def _constant(self, state: State) -> dict[State, float]:
        return {state: 1.0}

    def _summed(self, parts: Sequence[dict[State, float]]) -> dict[State, float]:
        return reduce(self._convolved, parts)

    def _convolved(self, a: dict[State, float], b: dict[State, float]) -> dict[State, float]:
        if len(a) * len(b) > STATES * _PAIRS:
            raise _too_many()
        combined: dict[State, float] = {}
        for left, chance in a.items():
            for right, other in b.items():
                state = self._plus(left, right)
                combined[state] = combined.get(state, 0.0) + chance * other
        if len(combined) > STATES:
            raise _too_many()
        return combined

    def _mixed(
        self, there: dict[State, float], absent: dict[State, float], chance: float
    ) -> dict[State, float]:
        mixed = {state: chance * p for state, p in there.items()} if chance else {}
        for state, p in absent.items() if chance < 1 else ():
            mixed[state] = mixed.get(state, 0.0) + (1 - chance) * p
        return mixed
