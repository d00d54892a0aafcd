"""Many scenarios at once: which rows of the answer each of them changes, and into what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lipstick.engines.memory import order
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.places import contains, pack, positions_of, scenarios_of
from lipstick.engines.memory.scenarios import Deleted, Scenarios, Updates
from lipstick.engines.memory.state import SORT, State, as_type, sort_keys
from lipstick.engines.memory.updates import evaluate_update
from rewriter.blocks import Block
from semiring.arrays.segments import union
from semiring.base import Array

FIRST = 16
"""So many scenarios are evaluated first, to see how many rows they touch."""
TOUCHED = 1 << 21
"""Scenarios are evaluated together which touch about so many rows of one block."""


@dataclass(frozen=True, slots=True)
class ScenarioChanges:
    """Rows of the answer that scenarios may change.

    Attributes
    ----------
    places
        Sorted.
    present
        Boolean array: the row is in the scenario's answer.
    copies
        int64 array: how many times it is; 0 where it is not.
    columns
        Outputs and what the answer is ordered by, for the rows that are present.
    """

    places: Array
    present: Array
    copies: Array
    columns: Mapping[str, pa.Array]


def evaluate_many(engine: Engine, scenarios: Scenarios) -> ScenarioChanges:
    """The rows of the answer that may differ from the captured one.

    Raises
    ------
    CaptureError
        As a single what-if of some scenario would.
    """
    deleted = {name: _by_scenario(part) for name, part in scenarios.deleted.items()}
    parts = [_changes(engine, engine.base(engine.root.name))]
    parts += (_changes(engine, state) for state in _pieces(engine, deleted, len(scenarios)))
    return ScenarioChanges(
        np.concatenate([part.places for part in parts]),
        np.concatenate([part.present for part in parts]),
        np.concatenate([part.copies for part in parts]),
        {
            name: pa.concat_arrays([as_type(part.columns[name], first.type) for part in parts])
            for name, first in parts[0].columns.items()
        },
    )


def _by_scenario(part: Deleted) -> Deleted:
    if bool((np.diff(part.scenarios) >= 0).all()):
        return part
    by_scenario = np.argsort(part.scenarios, kind="stable")
    return Deleted(part.tokens.take(pa.array(by_scenario)), part.scenarios[by_scenario])


def _pieces(engine: Engine, deleted: Mapping[str, Deleted], count: int) -> Iterator[State]:
    """The rows of the answer in some scenarios after the other, so that memory suffices."""
    first, step = 0, FIRST
    while first < count:
        last = min(first + step, count)
        piece = {name: part.slice(first, last) for name, part in deleted.items()}
        states = engine.states(piece)
        touched = max(len(union(s.changed, s.flipped)) for s in states.values())
        yield states[engine.root.name]
        first, step = last, max(min(step * 64, step * TOUCHED // max(touched, 1)), 1)


def evaluate_updates(engine: Engine, updates: Updates) -> ScenarioChanges:
    """The rows of the answer that may differ where tuples have other values.

    Raises
    ------
    CaptureError
        As a single update of some scenario would.
    """
    return _changes(engine, evaluate_update(engine, updates.updated))


def _changes(engine: Engine, state: State) -> ScenarioChanges:
    places = union(state.changed, state.flipped)
    present = state.there(places)
    shown = places[present]
    copies = np.zeros(len(places), dtype=np.int64)
    copies[present] = state.copies(shown)
    return ScenarioChanges(
        places, present, copies, {name: state.take(name, shown) for name in needed(engine.root)}
    )


def needed(block: Block) -> list[str]:
    """The outputs of a block and what its rows are ordered by."""
    names = [output.name for output in block.outputs]
    names += [f"{SORT}{number}" for number in range(len(block.order))]
    return list(dict.fromkeys([*names, *(block.tie_break if block.limited else ())]))


@dataclass(frozen=True, slots=True)
class Merged:
    """The answers of scenarios, one after the other, each in its order."""

    scenarios: Array
    columns: Mapping[str, pa.Array]


def merged_answers(engine: Engine, count: int, changes: ScenarioChanges) -> Merged:
    """The answers of all scenarios, one after the other, each in its order."""
    block, base = engine.root, engine.base(engine.root.name)
    scenarios = np.repeat(np.arange(count, dtype=np.int64), len(base.ordered))
    plain = pack(scenarios, np.tile(base.ordered, count))
    plain = plain[~contains(changes.places, plain)]
    places = np.concatenate([plain, changes.places[changes.present]])
    columns = {}
    for name in needed(block):
        column = base.take(name, plain)
        columns[name] = pa.concat_arrays([column, as_type(changes.columns[name], column.type)])
    if block.copies:
        copies = np.concatenate([base.copies(plain), changes.copies[changes.present]])
        taken = np.repeat(np.arange(len(places)), copies)
        places = places[taken]
        columns = {name: column.take(pa.array(taken)) for name, column in columns.items()}
    keys = [order.Key(pa.array(scenarios_of(places)))]
    if block.order or block.limited:
        keys += sort_keys(block, columns.__getitem__)
    keys.append(order.Key(pa.array(positions_of(places))))
    ordered = order.order(keys, len(places))
    return Merged(
        scenarios_of(places)[ordered],
        {name: column.take(pa.array(ordered)) for name, column in columns.items()},
    )
