"""The v-nodes of window functions: aggregates over the rows of a frame, and black boxes.

An aggregate over a frame from which a deletion only takes rows away is an aggregate like others:
`⊗` of the rows that it sees and their values, one v-node for all rows with the same frame.
ROW_NUMBER and RANK count rows. Any other value is a black box of the rows that it comes from or is
decided by, and is stale once one of these is deleted: a frame of so many rows takes in others then,
which nobody has looked at.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 3.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from graphquery.model import Kind
from graphquery.values import VALUE_COLUMN
from lipstick.engines.memory.store import every
from lipstick.engines.memory.window_frames import Placed, Ranges
from lipstick.engines.memory.window_rows import WindowRows
from lipstick.engines.memory.windows import extent, placed
from lipstick.errors import NeedsSparkError
from lipstick.workflow.derivation.aggregates import aggregated_values, tensor_nodes
from lipstick.workflow.derivation.columns import Column, computed_from, plain_text
from lipstick.workflow.derivation.holding import settled
from lipstick.workflow.derivation.nodes import Nodes, Trace
from lipstick.workflow.derivation.reading import MemberReading
from lipstick.workflow.errors import RunError
from rewriter.interpret import (
    WINDOW,
    AggregateCall,
    Interpreted,
    UninterpretableError,
    WindowCall,
)
from semiring.base import Array

_MOST = 1 << 20
"""So many pairs of a row and one that it sees have edges of their own."""

_COUNTING = AggregateCall("COUNT(*)", "COUNT", False, ())
_COUNTED = ("row_number", "rank")


@dataclass(frozen=True, slots=True)
class Over:
    """The rows that a window is over.

    Parameters
    ----------
    rows, reading
        The block, and what its rows read.
    nodes
        The p-nodes of the rows, before they are projected.
    ranks
        The ordinal of the tuple that each row becomes.
    """

    rows: WindowRows
    reading: MemberReading
    nodes: Nodes
    ranks: Array


def window_nodes(trace: Trace, name: str, over: Over, output: str) -> Nodes:
    """Add the v-nodes of a column that has window functions, one or more for all rows.

    Parameters
    ----------
    name
        Of the nodes, behind the invocation's.
    output
        The output or sort key of the block.

    Raises
    ------
    RunError
        Where only Spark knows which rows a window function sees.
    """
    windowed = over.rows.windowed[output]
    alone = windowed.scalar.column == (WINDOW, "0")
    table = pa.table({VALUE_COLUMN: over.rows.base.take(output, over.reading.chosen)})
    nodes = []
    for number, call in enumerate(windowed.calls):
        suffix = name if alone else f"{name}.window{number}"
        window = _Window(trace, suffix, over, call, table if alone else None)
        nodes.append(window.nodes())
    if alone:
        return nodes[0]
    block = over.rows.block
    label = plain_text(over.rows.outputs[output].text)
    columns = [c for c in computed_from(block, windowed.scalar) if c[0] != WINDOW]
    return _one_each(trace, name, label, over, table, [*nodes, *over.reading.inputs(columns)])


def _one_each(
    trace: Trace,
    name: str,
    label: str,
    over: Over,
    table: pa.Table | None,
    inputs: Sequence[Nodes],
) -> Nodes:
    """A v-node per row."""
    by_rank = None if table is None else table.take(pa.array(np.argsort(over.ranks)))
    pool = trace.pool(name, Kind.VALUE, label, len(over.ranks), values=by_rank)
    for nodes in inputs:
        trace.edges(nodes, pool, over.ranks)
    return Nodes.of(pool, over.ranks)


class _Window:
    """One window function."""

    def __init__(
        self, trace: Trace, name: str, over: Over, call: WindowCall, table: pa.Table | None
    ) -> None:
        self._trace = trace
        self._name = name
        self._over = over
        self._call = call
        self._table = table

    def nodes(self) -> Nodes:
        """Add the v-nodes of its values, and return one for each row."""
        call, over = self._call, self._over
        members, chosen = over.reading.members, over.reading.chosen
        try:
            placement = placed(call, members.resolve(chosen, members.base), len(chosen))
            sees = extent(call, placement)
        except NeedsSparkError as error:
            raise RunError(
                f"Only Spark knows which rows {plain_text(call.text)} sees, and its nodes are made "
                "of them.\nCompute what rows are partitioned and sorted by as columns of a "
                "relation of the chain, integers for a RANGE of values."
            ) from error
        keys = self._read((*call.partition, *(key.scalar for key in call.order)))
        aggregate = _COUNTING if call.function in _COUNTED else call.aggregate
        if aggregate is not None and not keys and not self._counted:
            nodes_of_sums = self._aggregated(aggregate, placement, sees)
            if nodes_of_sums is not None:
                return nodes_of_sums
        return self._opaque(placement, sees, keys)

    @property
    def _counted(self) -> bool:
        """Whether the frame counts rows: when one of them goes, another comes in."""
        bounds = self._call.extent
        return (
            bounds is not None
            and bounds.rows
            and any(bound not in (None, 0) for bound in (bounds.start, bounds.end))
        )

    def _read(self, scalars: Sequence[Interpreted]) -> list[Nodes]:
        block = self._over.rows.block
        columns: dict[Column, None] = {}
        for scalar in scalars:
            columns.update(dict.fromkeys(computed_from(block, scalar)))
        return self._over.reading.inputs(columns)

    # -- aggregates ------------------------------------------------------------------------

    def _aggregated(
        self, aggregate: AggregateCall, placement: Placed, sees: Ranges
    ) -> Nodes | None:
        """A v-node per frame; None where there would be too many edges, or values are Spark's."""
        ranked = self._call.function == "rank"
        if ranked:
            # Rows that tie are not counted, but for the row itself: it is the last of the range.
            sees = Ranges(sees.start, placement.peers()[1] + 1)
        different, number = (sees, every(len(sees.start))) if ranked else sees.distinct()
        if int(different.sizes.sum()) > _MOST:
            return None
        over, chosen = self._over, self._over.reading.chosen
        try:
            rows, constants = aggregated_values(
                self._trace, self._name, aggregate, chosen, over.reading
            )
        except UninterpretableError:
            return None
        tensors = tensor_nodes(self._trace, self._name, over.nodes.take(rows), constants)
        there = np.full(len(chosen), -1, dtype=np.int64)
        there[rows] = every(len(rows))
        places, offsets = different.expanded()
        seen = placement.rows[places]
        if ranked:
            seen[offsets[1:] - 1] = placement.rows
        owners = np.repeat(every(len(different.start)), different.sizes)
        valued = np.flatnonzero(there[seen] >= 0)
        frame = number[placement.place]
        values = None
        if self._table is not None:
            example = np.empty(len(different.start), dtype=np.int64)
            example[frame] = every(len(frame))
            values = self._table.take(pa.array(example))
        label = aggregate.function
        assert label is not None
        pool = self._trace.pool(self._name, Kind.VALUE, label, len(different.start), values=values)
        self._trace.edges(tensors.take(there[seen[valued]]), pool, owners[valued])
        return Nodes.of(pool, frame)

    # -- black boxes -----------------------------------------------------------------------

    def _opaque(self, placement: Placed, sees: Ranges, keys: Sequence[Nodes]) -> Nodes:
        """A v-node per row, of the rows between it and the ends of what it sees."""
        over, count = self._over, len(self._over.ranks)
        row_nodes = _one_each(
            self._trace, self._name, f"{self._call.function.upper()} OVER", over, self._table, []
        )
        pool = int(row_nodes.pools[0]) if count else 0
        sees = Ranges(np.minimum(sees.start, every(count)), np.maximum(sees.stop, every(count) + 1))
        for nodes in (over.nodes, *self._read(self._arguments)):
            self._cover(nodes.take(placement.rows), sees, pool, over.ranks[placement.rows])
        if keys:
            _, together = settled(
                self._trace, f"{self._name}.key", "[PARTITION BY, ORDER BY]", keys
            )
            zeros = np.zeros(count, dtype=np.int64)
            self._trace.edges(Nodes.of(together, zeros), pool, over.ranks)
        return row_nodes

    @property
    def _arguments(self) -> Sequence[Interpreted]:
        call = self._call
        return call.arguments if call.aggregate is None else call.aggregate.arguments

    def _cover(self, nodes: Nodes, sees: Ranges, pool: int, ranks: Array) -> None:
        """Add edges from the nodes of ranges of places, by way of nodes for many where it pays."""
        if int(sees.sizes.sum()) <= _MOST:
            places, _ = sees.expanded()
            self._trace.edges(nodes.take(places), pool, np.repeat(ranks, sees.sizes))
            return
        level, label = nodes, f"{self._call.function.upper()} OVER"
        for number, (starts, stops) in enumerate(_halves(sees)):
            for at, owners in (starts, stops):
                self._trace.edges(level.take(at), pool, ranks[owners])
            pairs = len(level) // 2
            if not pairs:
                break
            above = self._trace.pool(
                f"{self._name}.rows{number}.{pool}.{len(self._trace.pools)}",
                Kind.VALUE,
                label,
                pairs,
            )
            self._trace.edges(level.take(every(2 * pairs)), above, np.repeat(every(pairs), 2))
            level = Nodes.of(above, every(pairs))


def _halves(sees: Ranges) -> Iterator[tuple[tuple[Array, Array], tuple[Array, Array]]]:
    """Yield, for pairs, pairs of pairs and so on, what of a range no greater one covers.

    At each level the places taken at the ranges' starts, and whose ranges these are; and the same
    for their stops.
    """
    start, stop = sees.start.copy(), sees.stop.copy()
    while True:
        open_ = start < stop
        first = np.flatnonzero(open_ & (start % 2 == 1))
        begun = start[first]
        start[first] += 1
        last = np.flatnonzero((start < stop) & (stop % 2 == 1))
        stop[last] -= 1
        yield (begun, first), (stop[last], last)
        if not bool((start < stop).any()):
            return
        start, stop = start // 2, stop // 2
