"""Forward lineage: a slow engine whose events carry the explicit set of all their ancestors.

It has nothing of the code under test: one event at a time, lists and sets, as the definitions say.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Name = tuple[str, Any, int]
"""An event: stream, key value (None without key), number."""


@dataclass
class Event:
    """An event with everything it was made of."""

    key: Any
    t: int
    n: int
    d: int
    value: Any
    ancestors: frozenset[Name] = frozenset()
    matched: frozenset[Name] = frozenset()


@dataclass
class Spec:
    """One stream of a random graph: its operator by name, and parameters."""

    sid: str
    kind: str
    inputs: tuple[str, ...] = ()
    keyed: bool = False
    values: dict[str, Any] = field(default_factory=dict)


class Stamps:
    """Times and numbers of one stream: increasing for each key."""

    def __init__(self, delay: Callable[[str, Any, int], int], sid: str) -> None:
        self.delay, self.sid = delay, sid
        self.last_t: dict[Any, int] = {}
        self.last_n: dict[Any, int] = {}

    def next(self, key: Any, trigger: int, n: int | None = None) -> tuple[int, int, int]:
        t = trigger + self.delay(self.sid, key, trigger)
        if key in self.last_t:
            t = max(t, self.last_t[key] + 1)
        n = self.last_n.get(key, 0) + 1 if n is None else n
        self.last_t[key], self.last_n[key] = t, n
        return t, n, t - trigger


def name(sid: str, event: Event) -> Name:
    return (sid, event.key, event.n)


def of(sid: str, events: list[Event]) -> frozenset[Name]:
    """Events and all that they were made of."""
    names: set[Name] = set()
    for event in events:
        names.add(name(sid, event))
        names |= event.ancestors
    return frozenset(names)


def ingest(spec: Spec, batches: list[list[dict[str, Any]]]) -> tuple[list[Event], dict[str, int]]:
    """The events of a source, in the order they are numbered, and counts of disorder."""
    frontier, held, seen, events = None, [], {}, []
    stamps = Stamps(lambda *_: 0, spec.sid)
    counts = {"late": 0, "duplicates": 0, "collisions": 0}

    def release(rows: list[tuple[int, int, dict[str, Any]]]) -> None:
        for ts, _, row in sorted(rows, key=lambda each: each[:2]):
            key = row["k"] if spec.keyed else None
            t, n, d = stamps.next(key, ts)
            counts["collisions"] += d > 0
            events.append(Event(key, t, n, 0, row["v"]))

    arrival = 0
    for batch in batches:
        fresh = []
        for row in batch:
            if row["id"] in seen:
                counts["duplicates"] += 1
                continue
            ts = seen[row["id"]] = row["ts"]
            if frontier is not None and ts < frontier:
                counts["late"] += 1
                if spec.values["late"] == "drop":
                    continue
                ts = frontier
            fresh.append((ts, arrival, row))
            arrival += 1
        held += fresh
        if held:
            latest = max(each[0] for each in held) - spec.values["disorder"]
            frontier = latest if frontier is None else max(frontier, latest)
            release([each for each in held if each[0] <= frontier])
            held = [each for each in held if each[0] > frontier]
        if frontier is not None:
            bound = frontier - spec.values["disorder"]
            seen = {identity: ts for identity, ts in seen.items() if ts >= bound}
    release(held)
    return events, counts


def by_key(events: list[Event]) -> dict[Any, list[Event]]:
    groups: dict[Any, list[Event]] = {}
    for event in events:
        groups.setdefault(event.key, []).append(event)
    return {key: sorted(group, key=lambda e: e.t) for key, group in groups.items()}


AGGREGATES: dict[str, Callable[[list[int]], Any]] = {
    "sum": sum,
    "count": len,
    "min": min,
    "max": max,
    "mean": lambda values: sum(values) / len(values),
}


def run(
    specs: list[Spec],
    inputs: dict[str, list[list[dict[str, Any]]]],
    delay: Callable[[str, Any, int], int],
) -> dict[str, list[Event]]:
    """All events of all streams."""
    events: dict[str, list[Event]] = {}
    for spec in specs:
        if spec.kind == "source":
            events[spec.sid] = ingest(spec, inputs[spec.sid])[0]
            continue
        stamps = Stamps(delay, spec.sid)
        events[spec.sid] = OPERATORS[spec.kind](spec, events, stamps)
    return events


def _map(spec: Spec, events: dict[str, list[Event]], stamps: Stamps) -> list[Event]:
    (source,) = spec.inputs
    result = []
    for group in by_key(events[source]).values():
        for e in group:
            t, n, d = stamps.next(e.key, e.t, e.n)
            value = e.value * spec.values["factor"] + 1
            result.append(Event(e.key, t, n, d, value, of(source, [e])))
    return result


def _filter(spec: Spec, events: dict[str, list[Event]], stamps: Stamps) -> list[Event]:
    (source,) = spec.inputs
    result = []
    for group in by_key(events[source]).values():
        for e in group:
            if int(e.value) % spec.values["modulus"]:
                t, n, d = stamps.next(e.key, e.t)
                result.append(Event(e.key, t, n, d, e.value, of(source, [e])))
    return result


def _key_by(spec: Spec, events: dict[str, list[Event]], stamps: Stamps) -> list[Event]:
    (source,) = spec.inputs
    result = []
    for e in sorted(events[source], key=lambda e: e.t):
        key = int(e.value) % 3
        t, n, d = stamps.next(key, e.t)
        result.append(Event(key, t, n, d, e.value, of(source, [e])))
    return result


def _window(spec: Spec, events: dict[str, list[Event]], stamps: Stamps) -> list[Event]:
    (source,) = spec.inputs
    result = []
    for group in by_key(events[source]).values():
        for i, e in enumerate(group):
            if spec.kind == "time_window":
                members = [m for m in group if e.t - spec.values["width"] <= m.t <= e.t]
            else:
                members = group[max(0, i + 1 - spec.values["length"]) : i + 1]
            t, n, d = stamps.next(e.key, e.t, e.n)
            values = [m.value for m in reversed(members)]
            result.append(Event(e.key, t, n, d, values, of(source, members)))
    return result


def _aggregate(spec: Spec, events: dict[str, list[Event]], stamps: Stamps) -> list[Event]:
    (source,) = spec.inputs
    result = []
    for group in by_key(events[source]).values():
        for e in group:
            t, n, d = stamps.next(e.key, e.t, e.n)
            values = [v[0] if isinstance(v, tuple) else v for v in e.value]
            value = AGGREGATES[spec.values["function"]](values)
            result.append(Event(e.key, t, n, d, value, of(source, [e])))
    return result


def _merge(spec: Spec, events: dict[str, list[Event]], stamps: Stamps) -> list[Event]:
    tagged = [(e.t, i, source, e) for i, source in enumerate(spec.inputs) for e in events[source]]
    result = []
    for _, _, source, e in sorted(tagged, key=lambda each: each[:2]):
        t, n, d = stamps.next(e.key, e.t)
        result.append(Event(e.key, t, n, d, e.value, of(source, [e])))
    return result


def matches(rule: str, a: int, b: int) -> bool:
    return (
        rule == "all"
        or (rule == "parity" and int(a) % 2 == int(b) % 2)
        or (rule == "equal" and a == b)
    )


def _join(spec: Spec, events: dict[str, list[Event]], stamps: Stamps) -> list[Event]:
    left, right = spec.inputs
    lefts, rights = by_key(events[left]), by_key(events[right])
    result = []
    for key in {**lefts, **rights}:
        sides = (lefts.get(key, []), rights.get(key, []))
        for tick in sorted({e.t for side in sides for e in side}):
            windows = []
            for side, size in zip(sides, spec.values["sizes"], strict=True):
                before = [e for e in side if e.t <= tick]
                if spec.kind == "time_join":
                    windows.append([e for e in before if e.t >= tick - size])
                else:
                    windows.append(before[-size:])
            pairs = [
                (a, b)
                for a in windows[0]
                for b in windows[1]
                if matches(spec.values["rule"], a.value, b.value)
            ]
            if not pairs:
                continue
            t, n, d = stamps.next(key, tick)
            value = [(a.value, b.value) for a, b in pairs]
            behind = of(left, windows[0]) | of(right, windows[1])
            matched = {name(left, a) for a, _ in pairs} | {name(right, b) for _, b in pairs}
            result.append(Event(key, t, n, d, value, behind, frozenset(matched)))
    return result


OPERATORS: dict[str, Callable[[Spec, dict[str, list[Event]], Stamps], list[Event]]] = {
    "map": _map,
    "filter": _filter,
    "key_by": _key_by,
    "time_window": _window,
    "length_window": _window,
    "aggregate": _aggregate,
    "merge": _merge,
    "time_join": _join,
    "length_join": _join,
}


def random_delay(seed: int, most: int) -> Callable[[str, Any, int], int]:
    """A delay that looks random and is a function of the stream, the key and the trigger."""

    def delay(sid: str, key: Any, trigger: int) -> int:
        return random.Random(f"{seed}/{sid}/{key}/{trigger}").randint(0, most)

    return delay
