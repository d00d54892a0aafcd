"""One value of the answer in many scenarios, looked up at the place of its row."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.many import FIRST, TOUCHED
from lipstick.engines.memory.places import NOTHING, pack, scenarios_of
from lipstick.engines.memory.scenarios import Deleted
from lipstick.engines.memory.state import AskedValue, spread
from lipstick.errors import LipstickError, first_line
from rewriter.interpret import FailedError, UninterpretableError
from semiring.arrays.segments import union
from semiring.base import Array
from semiring.errors import BudgetError

_SECONDS = 1.0
"""Scenarios are evaluated together which take about so many seconds."""

_BARREN = 64
"""So many evaluations may fail in a row before the other scenarios are left unknown."""


@dataclass(frozen=True, slots=True)
class ValuesWithout:
    """A value of the answer in each of some scenarios.

    Attributes
    ----------
    values
        The values, in the type of the column; NULL where the row is not there, and where the value
        is not known.
    there
        Boolean array: the row is in the scenario's answer.
    known
        Boolean array: value and row are known.
    parts
        The values of an aggregate on its own, also where the row is not there, as after HAVING and
        LIMIT; NULL where there is nothing to aggregate. None: there is none.
    reason
        Why some are not known; empty where all are.
    """

    values: pa.Array
    there: Array
    known: Array
    parts: pa.Array | None
    reason: str


@dataclass(frozen=True, slots=True)
class AggregatePlace:
    """An aggregate of a block, and the position of a group."""

    block: str
    aggregate: str
    position: int


def values_without(
    engine: Engine,
    output: str,
    position: int,
    deleted: Mapping[str, Deleted],
    count: int,
    go_on: Callable[[int], bool],
    aggregate: AggregatePlace | None = None,
) -> ValuesWithout:
    """Return the value of one row of the answer in each of some scenarios of deletions.

    The row is the one at its position, whatever becomes of its key and its other columns. A
    scenario that cannot be evaluated, or in which the query would fail, is not known; the others
    are.

    Parameters
    ----------
    output
        The column, by its name in the last block.
    deleted
        Per relation the deleted tuples, by sorted scenarios.
    go_on
        Called with the number of scenarios that are done, between pieces; False: the others stay
        unknown.
    aggregate
        The aggregate that the value is, if it is one.

    Cost: what the scenarios touch in the blocks below; of the last block only the row itself where
    its rows are there one for one. O(log n) evaluations for each of n scenarios that fails.
    """
    kind = engine.base(engine.root.name).take(output, NOTHING).type
    part_kind = kind if aggregate is None else _base_of(engine, aggregate).type
    known, there = np.zeros((2, count), dtype=np.bool_)
    places: list[Array] = []
    found: list[pa.Array] = []
    parts: list[pa.Array] = []
    whole: list[Array] = []
    waiting, step, failed, reason = [(0, count)], FIRST, 0, ""
    done = 0
    while waiting:
        first, last = waiting.pop()
        if last - first > step:
            waiting.append((first + step, last))
            last = first + step
        if first >= last:
            continue
        if failed >= _BARREN or not go_on(done):
            reason = reason or "There was no time for all of them."
            break
        begun = time.monotonic()
        piece = {name: part.slice(first, last) for name, part in deleted.items()}
        at = pack(np.arange(first, last, dtype=np.int64), np.full(last - first, position))
        try:
            states = engine.states(piece, AskedValue(position, output))
            root = states[engine.root.name]
            is_there = root.there(at)
            taken = root.take(output, at[is_there]).cast(kind)
            if aggregate is not None:
                at = pack(scenarios_of(at), np.full(len(at), aggregate.position))
                part = states[aggregate.block].take(aggregate.aggregate, at)
                parts.append(part.cast(part_kind))
                whole.append(scenarios_of(at))
        except BudgetError:
            raise
        except (LipstickError, FailedError, UninterpretableError, pa.ArrowException) as error:
            reason, failed = first_line(error), failed + 1
            if last - first > 1:
                middle = (first + last) // 2
                waiting += [(middle, last), (first, middle)]
            continue
        failed, done = 0, done + last - first
        known[first:last], there[first:last] = True, is_there
        places.append(first + np.flatnonzero(is_there))
        found.append(taken)
        touched = max(len(union(s.changed, s.flipped)) for s in states.values())
        if last - first >= step:
            in_time = int(step * _SECONDS / max(time.monotonic() - begun, 1e-6))
            step = max(min(step * 64, step * TOUCHED // max(touched, 1), in_time), 1)
    values = _gathered(kind, found, places, count)
    summed = None if aggregate is None else _gathered(part_kind, parts, whole, count)
    return ValuesWithout(values, there, known, summed, "" if known.all() else reason)


def _base_of(engine: Engine, aggregate: AggregatePlace) -> pa.Array:
    return engine.base(aggregate.block).take(aggregate.aggregate, NOTHING)


def _gathered(
    kind: pa.DataType, found: list[pa.Array], places: list[Array], count: int
) -> pa.Array:
    """Return values at their places; NULL at the others."""
    where = np.concatenate([NOTHING, *places])
    return spread(pa.concat_arrays([pa.nulls(0, kind), *found]), where, count)
