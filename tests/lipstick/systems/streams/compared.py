"""A random graph run by the code under test and by the oracle, and all that must agree."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from lipstick.systems.streams.ancestors import ancestors, ancestors_of_each
from lipstick.systems.streams.descendants import descendants
from lipstick.systems.streams.events import Events
from lipstick.systems.streams.recording import Recording
from tests.lipstick.systems.streams import oracle
from tests.lipstick.systems.streams.generated import random_inputs, random_specs, run_graph
from tests.lipstick.systems.streams.oracle import Event, Name, Spec


class DisagreementError(AssertionError):
    """The code under test and the oracle differ; the message has the seed."""


def compare(seed: int) -> int:
    """Run the graph of a seed both ways; return how many events were compared.

    Raises
    ------
    DisagreementError
        When keys, content, ancestors or descendants differ.
    """
    rng = np.random.default_rng(seed)
    specs = random_specs(rng)
    batches = int(rng.choice([1, 2, 3, 5, 25]))
    inputs = random_inputs(specs, rng, batches, 40)
    most = int(rng.integers(0, 9))
    expected = oracle.run(specs, inputs, oracle.random_delay(seed, most))
    _, recording = run_graph(specs, inputs, seed, batches, most=most)
    for spec in specs:
        same_events(seed, spec, recording, expected[spec.sid])
    return check_questions(seed, specs, recording, expected, rng)


def check_questions(
    seed: int,
    specs: list[Spec],
    recording: Recording,
    expected: dict[str, list[Event]],
    rng: np.random.Generator,
) -> int:
    """Hold ancestors and descendants in all streams against the sets that the oracle carried."""
    count = 0
    for spec in specs:
        events = expected[spec.sid]
        count += len(events)
        if events and spec.kind != "source":
            streams = _scope(specs, spec.sid, rng)
            _same_ancestors(seed, spec, recording, events, streams)
        for event in _some(events, rng):
            _same_descendants(seed, specs, spec, recording, event, expected)
    return count


def _scope(specs: list[Spec], sid: str, rng: np.random.Generator) -> list[list[str]]:
    """The sources; one stream; and some at once."""
    sources = [spec.sid for spec in specs if spec.kind == "source"]
    other_streams = [spec.sid for spec in specs if spec.sid != sid]
    some = [str(name) for name in rng.permutation(other_streams)[: int(rng.integers(1, 5))]]
    return [sources, some[:1], some]


def _some(events: list[Event], rng: np.random.Generator) -> list[Event]:
    chosen = rng.choice(len(events), min(3, len(events)), replace=False) if events else []
    return [events[int(i)] for i in chosen]


def _names(recording: Recording, sid: str, keys: Any) -> list[Name]:
    values: list[Any] = [None] * len(keys)
    if keys.code is not None and len(keys):
        values = recording.codes.decode(keys.code).to_pylist()
    return list(zip([sid] * len(keys), values, keys.n.tolist(), strict=True))


def same_events(seed: int, spec: Spec, recording: Recording, events: list[Event]) -> None:
    """Hold keys, and content where it was recorded, against the oracle's."""
    keys = recording.whole(spec.sid)
    given = zip(_names(recording, spec.sid, keys), keys.t.tolist(), keys.d.tolist(), strict=True)
    have = {name: (t, d) for name, t, d in given}
    want = {(spec.sid, event.key, event.n): (event.t, event.d) for event in events}
    _equal(seed, f"keys of {spec.sid} ({spec.kind})", have, want)
    if not len(keys) or not recording.has_content(spec.sid):
        return
    rows = recording.content(spec.sid, keys).to_pylist()
    # Floats may be added in another order than the oracle's.
    have_values = dict(zip(_names(recording, spec.sid, keys), map(_value, rows), strict=True))
    have_values = {name: _rounded(value) for name, value in have_values.items()}
    want_values = {(spec.sid, event.key, event.n): _rounded(event.value) for event in events}
    close = {n: v for n, v in have_values.items() if not _close(v, want_values.get(n))}
    _equal(seed, f"content of {spec.sid} ({spec.kind})", close, {n: want_values[n] for n in close})


def _close(have: Any, want: Any) -> bool:
    """Whether values are equal, floats but for the order in which they were added."""
    if isinstance(have, list | tuple) and isinstance(want, list | tuple):
        return len(have) == len(want) and all(map(_close, have, want))
    if isinstance(have, float) and isinstance(want, float | int):
        return math.isclose(have, want, rel_tol=1e-12, abs_tol=1e-12)
    return bool(have == want)


def _rounded(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return float(f"{value:.12g}")


def _value(row: dict[str, Any]) -> Any:
    if "events" not in row:
        return row["v"]
    first = row["events"][0] if row["events"] else {}
    if "v" in first:
        return [member["v"] for member in row["events"]]
    return [(member["left_v"], member["right_v"]) for member in row["events"]]


def _same_ancestors(
    seed: int, spec: Spec, recording: Recording, events: list[Event], scopes: list[list[str]]
) -> None:
    asked_events = Events(spec.sid)
    for scope in scopes:
        keys, by_stream = ancestors_of_each(recording, asked_events, within=scope)
        have: dict[Name, set[Name]] = {name: set() for name in _names(recording, spec.sid, keys)}
        owners = list(have)
        for sid, (events_found, owner) in by_stream.items():
            if sid not in scope:
                continue
            for name, i in zip(_names(recording, sid, events_found), owner.tolist(), strict=True):
                have[owners[i]].add(name)
        want = {
            (spec.sid, event.key, event.n): {name for name in event.ancestors if name[0] in scope}
            for event in events
        }
        _equal(seed, f"ancestors of {spec.sid} in {scope}", have, want)
        streams = ancestors(recording, asked_events, within=scope).streams
        together = {name for sid in scope for name in _names(recording, sid, streams[sid])}
        union = {name for names in want.values() for name in names}
        _equal(seed, f"ancestors of all {spec.sid} in {scope}", together, union)


def _same_descendants(
    seed: int,
    specs: list[Spec],
    spec: Spec,
    recording: Recording,
    event: Event,
    expected: dict[str, list[Event]],
) -> None:
    name = (spec.sid, event.key, event.n)
    other_streams = [each.sid for each in specs if each.sid != spec.sid]
    asked_events = Events(spec.sid, event.n, event.key)
    reached = descendants(recording, asked_events, within=other_streams)
    have = {
        each for sid in reached.streams for each in _names(recording, sid, reached.streams[sid])
    }
    want = {
        (sid, each.key, each.n)
        for sid in other_streams
        for each in expected[sid]
        if name in each.ancestors
    }
    _equal(seed, f"descendants of {name}", have, want)


def _equal(seed: int, what: str, have: Any, want: Any) -> None:
    if have != want:
        raise DisagreementError(f"seed {seed}: {what}: {_difference(have, want)}")


def _difference(have: Any, want: Any) -> str:
    if isinstance(have, dict) and isinstance(want, dict):
        names: Iterable[Any] = sorted(set(have) | set(want), key=repr)
        differing = [n for n in names if have.get(n, "none") != want.get(n, "none")]
        return "; ".join(
            f"{n}: {have.get(n, 'none')}, not {want.get(n, 'none')}" for n in differing[:3]
        )
    return f"too many {sorted(have - want, key=repr)}, missing {sorted(want - have, key=repr)}"
