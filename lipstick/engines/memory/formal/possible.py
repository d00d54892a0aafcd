"""The possible plain values of a formal value."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import prod
from typing import Any

import numpy as np

from lipstick.engines.memory.formal.limits import too_many
from lipstick.engines.memory.formal.tokens import ALGEBRA, Annotation
from semiring.analysis.probability import probability
from semiring.boolean.events import most
from semiring.circuit.possible_worlds import PossibleWorlds
from semiring.circuit.values import (
    CircuitAggregated,
    CircuitApplied,
    CircuitChoice,
    CircuitWindowed,
)
from semiring.errors import ExactnessError
from semiring.monoid import average, exact_scale, exact_sum
from semiring.polynomial import Polynomial
from semiring.support.chance import random_numbers
from semiring.tensor import Tensor
from semiring.token import normal_value, order_key, tokens_of
from semiring.value import Operand, Value

_ENUMERATED = 12
"""Number of tokens up to which worlds are enumerated."""
_MANY = 2_000
"""Limit on the possible values of an operand."""
_BOUNDED = ("SUM", "MIN", "MAX", "COUNT")
"""Aggregates whose possible values follow from the contributions of each row."""
_SUMMED = 24
"""Number of changing values from which sums are only bounded, by the bounds of each value."""
SHARES = (1.0, 0.9, 0.7, 0.5, 0.3, 0.1)
"""The shares of present tuples in the sampled worlds."""
_DRAWN = 40
_DECISIONS = 300
"""Limit on the tuples decided to show that no world has a row."""


def possible(operand: Operand, there: Annotation = ALGEBRA.one) -> list[Any]:
    """Return the distinct values of an operand in the worlds in which an annotation is not 0.

    For many worlds, the result may include values that occur in none.

    Raises
    ------
    ExactnessError
        When there are too many.
    """
    if not isinstance(operand, Value):
        return [operand]
    tokens = sorted(tokens_of([operand, there]))
    if len(tokens) <= _ENUMERATED:
        worlds = PossibleWorlds.every(tokens)
        return _distinct(worlds.values([operand])[0][worlds.holds(there)])
    values = _bounded(operand)
    if len(values) > _MANY:
        raise too_many(f"{operand.truncated(3)} may have {len(values):,} values")
    return values


def covering(operand: Operand, there: Annotation) -> list[Any] | None:
    """Return a superset of the values of `possible` without enumerating worlds, or None.

    It exists for a function of a MIN or MAX over the rows that the annotation adds up.
    """
    if not isinstance(operand, Value):
        return [operand]
    if not isinstance(operand, CircuitApplied) or len(operand.operands) != 1:
        return None
    (tensor,) = operand.operands
    if not isinstance(tensor, Tensor) or not tensor.monoid.idempotent:
        return None
    annotations, values = zip(*tensor.terms, strict=True)
    if ALGEBRA.delta(ALGEBRA.sum(annotations)) != there:
        return None  # there may be no value
    return operand.outcomes(values)


def _bounded(operand: Value) -> list[Any]:
    if isinstance(operand, Tensor):
        return _of_tensor(operand)
    if isinstance(operand, CircuitChoice):
        parts = (value for _, v in operand.alternatives for value in possible(v))
        return _distinct([None, *parts])
    if isinstance(operand, CircuitApplied):
        outcomes = getattr(operand.function, "outcomes", None)
        if outcomes is not None:
            return list(outcomes)
        ranges = [possible(part) for part in operand.operands]
        if prod(map(len, ranges)) <= _MANY:
            return _distinct(operand.function(list(product(*ranges))))
    if isinstance(operand, CircuitWindowed):
        among = operand.among
        if among.function.label.upper().startswith(("ROW_NUMBER", "RANK", "DENSE_RANK")):
            return [None, *range(1, among.size + 1)]
        if places := getattr(among.function, "taken", ()):
            taken = (v for _, row in among.rows for p in places for v in possible(row[p]))
            return _few(operand, _distinct([None, *taken]))
    if isinstance(operand, CircuitAggregated) and operand.function.label in _BOUNDED:
        return _of_aggregate(operand)
    raise too_many(f"It is not known which values {operand.truncated(3)} may have")


def _few(operand: Value, values: list[Any]) -> list[Any]:
    if len(values) > _MANY:
        raise too_many(f"{operand.truncated(3)} may have {len(values):,} values")
    return values


def _of_aggregate(aggregated: CircuitAggregated) -> list[Any]:
    """Return the possible values of an aggregate, where each row may contribute or not."""
    name = aggregated.function.label
    if name == "COUNT":
        return list(range(sum(most(k) for k, _ in aggregated.terms) + 1))
    if name in ("MIN", "MAX"):
        extremes = (v for _, row in aggregated.terms for v in possible(row[0]))
        return _few(aggregated, _distinct([None, *extremes]))
    if len(aggregated.terms) > _SUMMED:
        raise too_many(f"It is not known which sums {aggregated.truncated(3)} may have")
    totals: dict[Any, None] = {None: None}
    for annotation, row in aggregated.terms:
        copies = range(1, most(annotation) + 1)
        values = [v for v in possible(row[0]) if v is not None]
        if any(isinstance(v, float) for v in values):
            raise too_many(f"It is not known which sums {aggregated.truncated(3)} may have")
        brought = [exact_scale(n, v) for v in values for n in copies]
        sums = [v if total is None else exact_sum([total, v]) for total in totals for v in brought]
        totals.update(dict.fromkeys(sums))
        if len(totals) > _MANY:
            raise too_many(f"{aggregated.truncated(3)} may have {len(totals):,} values and more")
    return _distinct(totals)


def _of_tensor(tensor: Tensor) -> list[Any]:
    name = tensor.monoid.name
    if name == "COUNT":
        return list(range(sum(most(annotation) for annotation, _ in tensor.terms) + 1))
    if name in ("MIN", "MAX"):
        return _distinct([None, *(value for _, value in tensor.terms)])
    sums: dict[tuple[int, Any], None] = {(0, None): None}
    for annotation, value in tensor.terms:
        for count, total in list(sums):
            for copies in range(1, most(annotation) + 1):
                more = exact_scale(copies, value)
                added = more if total is None else exact_sum([total, more])
                sums[count + copies if name == "AVG" else 1, added] = None
        if len(sums) > _MANY:
            text = f"{tensor.monoid}({tensor.truncated(3)})"
            raise too_many(f"{text} may have {len(sums):,} values and more")
    if name == "SUM":
        return _distinct(total for _, total in sums)
    finish = tensor.monoid.finisher or average
    return _distinct(finish(total, count) if count else None for count, total in sums)


def _distinct(values: Iterable[Any]) -> list[Any]:
    distinct_values: dict[Any, Any] = {}
    for value in values:
        distinct_values.setdefault(order_key(normal_value(value)), value)
    return list(distinct_values.values())


def is_possible(annotation: Annotation, *, sampled: bool = False) -> bool:
    """Return True if an annotation is not 0 in some world, or if that is too hard to decide.

    Parameters
    ----------
    sampled
        Whether it was found to be 0 in sampled worlds, in which most annotations are not.
    """
    if isinstance(annotation, Polynomial):
        return not annotation.is_zero
    tokens = sorted(annotation.tokens)
    if len(tokens) <= _ENUMERATED:
        return bool(PossibleWorlds.every(tokens).holds(annotation).any())
    if not sampled:
        # Most rows are present in one of a few worlds: with all, some or hardly any tuples.
        random = random_numbers(0)
        shares = np.repeat(SHARES, _DRAWN)
        there = {token: random.random(len(shares)) <= shares for token in tokens}
        if PossibleWorlds(there, len(shares)).holds(annotation).any():
            return True
    try:
        return bool(probability(annotation, 0.5, _DECISIONS).value > 0)
    except ExactnessError:
        return True
