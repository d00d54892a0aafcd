"""The rows of a grouping, made in this process from its members as a capture would have them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.aggregates import SPREADS, reaggregate
from lipstick.engines.memory.index import argsort
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.member_groups import in_sets
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.memberships import all_hold
from lipstick.engines.memory.state import SORT, resolver, spread, values
from lipstick.engines.memory.store import every
from lipstick.errors import NeedsSparkError
from rewriter.algebra import Scalar
from rewriter.blocks import GROUP, Block
from rewriter.emit import PRESENT
from rewriter.emit.statements import supporting_aggregates
from rewriter.interpret import AggregateCall, Interpreted, Resolve, aggregate_call, interpret
from semiring.arrays.arrow import normal
from semiring.arrays.segments import bounds
from semiring.base import Array

_OF_SPARKS_ORDER = {"collect_list", "collect_set", *SPREADS}
"""Aggregates whose last bits, or whose order, depend on the order in which Spark reads rows."""

_EXACT = 2.0**53
"""Below it sums of integers are exact as floats."""


def group_rows(members: Members) -> pa.Table:
    """The groups of a block without deletion: keys, aggregates, outputs, and what orders them.

    Raises
    ------
    NeedsSparkError, UninterpretableError
        For what only Spark computes.
    CaptureError
        Where a scalar fails, as it does in Spark.
    """
    block = members.block
    if block.copies or block.difference is not None:
        raise NeedsSparkError(f"Spark makes the groups of {block.name}.")
    alive = members.base_alive
    positions = every(members.count) if alive is None else np.flatnonzero(alive)
    sets = max(block.sets, 1)
    numbers = np.tile(every(sets), len(positions))
    positions = np.repeat(positions, sets)
    resolve = in_sets(members.resolve(positions, members.base), numbers)
    length = len(positions)
    keys = [normal(values(interpret(key), resolve, length, None)) for _, key in block.keys]
    codes, first = distinct(keys, length)
    count = len(first) if keys else 1
    columns = {
        name: key.take(pa.array(first)) for (name, _), key in zip(block.keys, keys, strict=True)
    }
    grouped = _Grouped(codes, count, resolve)
    for name, call in (*block.aggregates, *supporting_aggregates(block)):
        columns[name] = grouped.aggregate(aggregate_call(call))
    return pa.table(_with_outputs(block, members, columns, count))


class _Grouped:
    """Members by their groups. Arguments and aggregates that are asked for again are cached."""

    def __init__(self, codes: Array, count: int, resolve: Resolve) -> None:
        self._resolve = resolve
        self._length = len(codes)
        sorted_already = bool((codes[1:] >= codes[:-1]).all())
        self._order = None if sorted_already else pa.array(argsort(codes))
        self._offsets = bounds(np.bincount(codes, minlength=count))
        self._arguments: dict[str, pa.Array] = {}
        self._aggregates: dict[str, pa.Array] = {}

    def aggregate(self, call: AggregateCall) -> pa.Array:
        """The values of an aggregate, one per group."""
        if call.text not in self._aggregates:
            self._aggregates[call.text] = self._computed(call)
        return self._aggregates[call.text]

    def _computed(self, call: AggregateCall) -> pa.Array:
        if call.function is None and (call.anew is None or call.anew.name in _OF_SPARKS_ORDER):
            raise NeedsSparkError(f"Spark computes {call.text}.")
        if not call.arguments:
            return pa.array(np.diff(self._offsets))
        columns = [self._argument(argument) for argument in call.arguments]
        if call.function in ("SUM", "AVG") and _rounded(call.function, columns[0]):
            raise NeedsSparkError(f"Spark adds up {call.text}, in an order of its own.")
        return reaggregate(call, columns, self._offsets)

    def _argument(self, argument: Interpreted) -> pa.Array:
        """Return the values of a scalar over the members, group by group."""
        if argument.text not in self._arguments:
            column = values(argument, self._resolve, self._length, None)
            ordered = column if self._order is None else column.take(self._order)
            self._arguments[argument.text] = ordered
        return self._arguments[argument.text]


def _rounded(function: str, column: pa.Array) -> bool:
    """Return True if a sum depends on its order: a sum of floats, or an average of integers that
    Spark adds up as floats, unless they are small."""
    kind = column.type
    if pa.types.is_integer(kind) and function == "AVG":
        numbers = column.fill_null(0).to_numpy(zero_copy_only=False)
        return bool(np.abs(numbers.astype(np.float64)).sum() >= _EXACT)
    return bool(pa.types.is_floating(kind))


def _with_outputs(
    block: Block, members: Members, columns: Mapping[str, pa.Array], count: int
) -> dict[str, pa.Array]:
    """The columns of groups, and their outputs: NULL where HAVING does not keep the group."""
    resolve = _resolve(block, members, columns, every(count))
    present = all_hold(map(interpret, block.having), resolve, count)
    shown = np.flatnonzero(present)
    of_shown = _resolve(block, members, columns, shown)

    def computed(scalar: Scalar) -> pa.Array:
        return spread(values(interpret(scalar), of_shown, len(shown), None), shown, count)

    grouped = dict(columns)
    for output in block.outputs:
        if output.name in grouped:
            continue
        if output.known_absent:
            grouped[output.name] = values(interpret(output.scalar), resolve, count, None)
        else:
            grouped[output.name] = computed(output.scalar)
    grouped[PRESENT] = pa.array(present)
    for number, key in enumerate(block.order):
        grouped[f"{SORT}{number}"] = computed(key.scalar)
    return grouped


def _resolve(
    block: Block, members: Members, columns: Mapping[str, pa.Array], groups: Array
) -> Resolve:
    """The columns that scalars over some groups read."""
    matches = block.by_alias

    def column(alias: str, name: str) -> pa.Array:
        if alias == GROUP:
            return columns[name].take(pa.array(groups))
        return members.base(matches[alias].block.name).single(name)

    return resolver(column)
