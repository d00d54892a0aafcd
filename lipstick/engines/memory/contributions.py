"""One value of the answer in many scenarios, looked up at the place of its row."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.many import FIRST, TOUCHED
from lipstick.engines.memory.places import NOTHING, pack
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
    value: AskedValue,
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
    value
        The position of the row, and the column by its name in the last block.
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
    column = _AskedColumn(engine, value, aggregate)
    pieces: list[_Piece] = []
    waiting, step, failed, done, reason = [(0, count)], FIRST, 0, 0, ""
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
        try:
            pieces.append(column.without(deleted, np.arange(first, last, dtype=np.int64)))
        except BudgetError:
            raise
        except (LipstickError, FailedError, UninterpretableError, pa.ArrowException) as error:
            reason, failed = first_line(error), failed + 1
            if last - first > 1:
                middle = (first + last) // 2
                waiting += [(middle, last), (first, middle)]
            continue
        failed, done = 0, done + last - first
        if last - first >= step:
            in_time = int(step * _SECONDS / max(time.monotonic() - begun, 1e-6))
            step = max(min(step * 64, step * TOUCHED // max(pieces[-1].touched, 1), in_time), 1)
    return column.gathered(pieces, count, reason)


class _Piece(NamedTuple):
    """The value in scenarios that were evaluated together.

    Attributes
    ----------
    scenarios
        Their numbers.
    there
        Boolean array: the row is in the scenario's answer.
    values
        The values where it is.
    parts
        The values of the aggregate in all scenarios; None: there is none.
    touched
        The number of places in one block that the scenarios touched, at most.
    """

    scenarios: Array
    there: Array
    values: pa.Array
    parts: pa.Array | None
    touched: int


class _AskedColumn:
    """The column of a value, and of the aggregate that it is, in one row of the answer."""

    def __init__(self, engine: Engine, asked: AskedValue, aggregate: AggregatePlace | None) -> None:
        self._engine, self._asked, self._aggregate = engine, asked, aggregate
        self._kind = engine.base(engine.root.name).take(asked.output, NOTHING).type
        if aggregate is not None:
            base = engine.base(aggregate.block)
            self._part_kind = base.take(aggregate.aggregate, NOTHING).type

    def without(self, deleted: Mapping[str, Deleted], scenarios: Array) -> _Piece:
        """Evaluate scenarios that follow one another."""
        engine, aggregate = self._engine, self._aggregate
        first, last = int(scenarios[0]), int(scenarios[-1]) + 1
        piece = {name: part.slice(first, last) for name, part in deleted.items()}
        states = engine.states(piece, self._asked)
        root, at = states[engine.root.name], _at(scenarios, self._asked.position)
        there = root.there(at)
        values, parts = root.take(self._asked.output, at[there]).cast(self._kind), None
        if aggregate is not None:
            at = _at(scenarios, aggregate.position)
            parts = states[aggregate.block].take(aggregate.aggregate, at).cast(self._part_kind)
        touched = max(len(union(s.changed, s.flipped)) for s in states.values())
        return _Piece(scenarios, there, values, parts, touched)

    def gathered(self, pieces: Sequence[_Piece], count: int, reason: str) -> ValuesWithout:
        """Return the values of all scenarios; scenarios of no piece have none that is known."""
        known, there = np.zeros((2, count), dtype=np.bool_)
        for piece in pieces:
            known[piece.scenarios], there[piece.scenarios] = True, piece.there
        found = [(piece.scenarios[piece.there], piece.values) for piece in pieces]
        values, summed = _spread(self._kind, found, count), None
        if self._aggregate is not None:
            summed = _spread(self._part_kind, [(p.scenarios, p.parts) for p in pieces], count)
        return ValuesWithout(values, there, known, summed, "" if known.all() else reason)


def _at(scenarios: Array, position: int) -> Array:
    """Return the places of one position in each scenario."""
    return pack(scenarios, np.full(len(scenarios), position))


def _spread(kind: pa.DataType, found: Sequence[tuple[Array, pa.Array]], count: int) -> pa.Array:
    """Return values at their places; NULL at the others."""
    where = np.concatenate([NOTHING, *(places for places, _ in found)])
    values = pa.concat_arrays([pa.nulls(0, kind), *(values for _, values in found)])
    return spread(values, where, count)
