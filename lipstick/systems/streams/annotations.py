"""Annotations of events in a semiring, as a property that travels with the stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.keys import Keys
from lipstick.systems.streams.properties import JOINS, WINDOWS, Property, PropertyStep
from semiring.arrays.segments import bounds, expand
from semiring.base import Array, Semiring, TokenValuation, token_values
from semiring.support.door import checked
from semiring.token import Token


@checked
@dataclass(frozen=True, slots=True)
class Annotation(Property):
    """Annotations in a semiring.

    An output of map, filter, merge or aggregate has its ancestor's annotation. A window's is the
    trigger's times δ of the sum over the window, since the window is emitted if the trigger is
    present. A join's is the sum over the events at its tick, times δ of the sum, over matching
    pairs, of their products.

    Parameters
    ----------
    semiring
        One of :mod:`semiring.semirings`.
    valuation
        From a `Token` (the stream, and the event's key and number) to an element; None: the
        semiring's default.
    """

    semiring: Semiring[Any]
    valuation: TokenValuation[Any] = None
    name: str = "annotation"
    _memo: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def source(self, step: PropertyStep) -> Array:
        keys = step.keys
        if self.valuation is None and self.semiring.constant_default:
            return self.semiring.ones(len(keys))
        if "value" not in self._memo:
            self._memo["value"] = token_values(self.semiring, self.valuation)
        value = self._memo["value"]
        return self.semiring.pack([value(token) for token in tokens(step.sid, keys, step.codes)])

    def combine(self, step: PropertyStep) -> Array:
        if step.kind in WINDOWS:
            (parents,) = step.parents
            values = parents.properties[self.name]
            members = self._sum(values, parents.low, parents.high)
            triggers = values[parents.high - 1]
            return self.semiring.times_array(triggers, self.semiring.delta_array(members))
        if step.kind in JOINS:
            return self._joined(step)
        parts = [
            parents.properties[self.name]
            if parents.aligned
            else self._sum(parents.properties[self.name], parents.low, parents.high)
            for parents in step.parents
        ]
        total = parts[0]
        for part in parts[1:]:
            total = self.semiring.plus_array(total, part)
        return total

    def _joined(self, step: PropertyStep) -> Array:
        fired = step.fired
        assert fired is not None
        assert fired.pairs is not None
        left, right = (parents.properties[self.name] for parents in fired.parents)
        pairs = self.semiring.times_array(left[fired.pairs.left], right[fired.pairs.right])
        matched = self.semiring.sum_segments(pairs, fired.pairs.offsets)
        ticks = self.semiring.zeros(len(step.keys))
        for parents in fired.parents:
            assert parents.triggered is not None
            own_ticks = self.semiring.take_where(
                parents.triggered,
                parents.properties[self.name][parents.high - 1],
                self.semiring.zeros(len(step.keys)),
            )
            ticks = self.semiring.plus_array(ticks, own_ticks)
        return self.semiring.times_array(ticks, self.semiring.delta_array(matched))

    def _sum(self, values: Array, low: Array, high: Array) -> Array:
        if bool((high - low == 1).all()):
            return values[low]
        places, _ = expand(low, high)
        offsets = bounds(high - low)
        return self.semiring.sum_segments(values[places], offsets)


def tokens(sid: str, keys: Keys, codes: KeyCodes) -> list[Token]:
    """Return the tokens of events: the stream, and the number, after the key if there is one."""
    numbers = keys.n.tolist()
    if keys.code is None:
        return [Token(sid, (n,)) for n in numbers]
    values = codes.decode(keys.code).to_pylist()
    return [Token(sid, (value, n)) for value, n in zip(values, numbers, strict=True)]
