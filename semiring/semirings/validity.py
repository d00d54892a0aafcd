"""Temporal validity: when a tuple holds.

Carrier: finite unions of half-open intervals of time, with ∪ and ∩; at each instant a Boolean
world. Source: Dignös, Glavic, Niu, Böhlen, Gamper, *Snapshot Semantics for Temporal Multiset
Relations*, PVLDB 12(6), 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from semiring.base import Semiring
from semiring.errors import ValuationError
from semiring.token import format_value

Interval: TypeAlias = tuple[Any, Any]
"""From an instant, included, to one that is not; None: without bound."""

Times: TypeAlias = tuple[Interval, ...]


class Validity(Semiring[Times]):
    """The times at which a tuple holds: (unions of [from, to), ∪, ∩, never, always).

    Values are pairs (from, to) or sequences of pairs; instants are of any one ordered type, None is
    unbounded. A token holds always by default. a ⊖ b = a \\ b. Not positive: two tuples may hold at
    no time together; so MIN and MAX have no value for all times at once.
    """

    name = "Validity"
    idempotent = True
    absorptive = True
    positive = False
    has_monus = True
    zero: Times = ()
    one: Times = ((None, None),)

    def plus(self, a: Times, b: Times) -> Times:
        return _swept((a, b), lambda inside: inside[0] > 0 or inside[1] > 0)

    def times(self, a: Times, b: Times) -> Times:
        return _swept((a, b), lambda inside: inside[0] > 0 and inside[1] > 0)

    def monus(self, a: Times, b: Times) -> Times:
        return _swept((a, b), lambda inside: inside[0] > 0 and inside[1] == 0)

    def sum(self, values: Iterable[Times]) -> Times:
        everything = tuple(interval for value in values for interval in value)
        return _swept((everything, ()), lambda inside: inside[0] > 0)

    def check(self, value: Any) -> Times:
        pair = isinstance(value, tuple | list) and len(value) == 2
        if pair and not any(isinstance(bound, tuple | list) for bound in value):
            value = (value,)
        try:
            intervals = tuple((start, stop) for start, stop in value)
            for start, stop in intervals:
                if start is not None and stop is not None and not start < stop:
                    raise ValueError
            return self.sum([intervals])
        except (TypeError, ValueError) as error:
            raise ValuationError(
                f"{value!r} is not a value of Validity; use (from, to) with from before to, None "
                "for no bound, or a list of such pairs"
            ) from error

    def render(self, value: Times) -> str:
        shown = [f"[{_bound(start, '-∞')}, {_bound(stop, '∞')})" for start, stop in value]
        return " ∪ ".join(shown) or "∅"


def _bound(instant: Any, unbounded: str) -> str:
    return unbounded if instant is None else format_value(instant)


def _swept(sides: tuple[Times, Times], holds: Callable[[list[int]], bool]) -> Times:
    """Return the maximal intervals on which a condition holds on each side's number of
    intervals.
    """
    events: list[tuple[tuple[Any, ...], int, int]] = []
    for side, intervals in enumerate(sides):
        for start, stop in intervals:
            events.append(((0,) if start is None else (1, start), side, 1))
            events.append(((2,) if stop is None else (1, stop), side, -1))
    events.sort(key=lambda event: event[0])
    swept: list[Interval] = []
    inside, since, at = [0, 0], None, 0
    while at < len(events):
        instant = events[at][0]
        while at < len(events) and events[at][0] == instant:
            inside[events[at][1]] += events[at][2]
            at += 1
        if holds(inside) and since is None:
            since = instant
        elif since is not None and not holds(inside):
            swept.append((_value(since), _value(instant)))
            since = None
    return tuple(swept)


def _value(instant: tuple[Any, ...]) -> Any:
    return instant[1] if len(instant) == 2 else None
