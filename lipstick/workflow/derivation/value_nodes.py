"""V-nodes beside rows: of columns, of LIMIT's sort keys, of window functions, of module tuples.

An aggregate over a window frame from which a deletion only takes rows away is an aggregate like
others: `⊗` of the rows that it sees and their values, one v-node for all rows with the same frame.
ROW_NUMBER and RANK count rows. Any other value is a black box of the rows that it comes from or is
decided by, and is stale once one of these is deleted: a frame of so many rows then takes in others,
which nobody has looked at.

V-nodes of type i, o and s copy the values of tuples as they enter and leave a module and its
state: wherever such a value occurs in the graph, a v-node labelled with its type stands beside the
tuple. A deletion in one module is thereby seen to change, or to make unknown, a value in another.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 3.2.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from graphquery.model import Kind
from graphquery.values import VALUE_COLUMN
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.state import SORT
from lipstick.engines.memory.store import every
from lipstick.engines.memory.window_frames import FrameRanges, Placed
from lipstick.engines.memory.window_rows import WindowRows
from lipstick.engines.memory.windows import extent, placed
from lipstick.errors import NeedsSparkError
from lipstick.workflow.definition.functions import called
from lipstick.workflow.derivation.blocks import (
    Column,
    computed_from,
    computes,
    expression_text,
    plain_source,
    plain_text,
)
from lipstick.workflow.derivation.groups import aggregated_values, tensor_nodes
from lipstick.workflow.derivation.nodes import InvocationTrace, Nodes, Origin, Values
from lipstick.workflow.derivation.reading import MemberReading, settled
from lipstick.workflow.errors import WorkflowError
from lipstick.workflow.execution.tables import take
from rewriter.analysis.shared_keys import is_shared_key
from rewriter.interpret import (
    WINDOW,
    AggregateCall,
    Interpreted,
    UninterpretableError,
    WindowCall,
    interpret,
)
from semiring.arrays.segments import ascending
from semiring.base import Array

_MOST = 1 << 20
"""Limit on pairs of a row and a row of its frame with edges of their own."""

_COUNTING = AggregateCall("COUNT(*)", "COUNT", False, ())
_COUNTED = ("row_number", "rank")


@dataclass(frozen=True, slots=True)
class Over:
    """The rows of a window.

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


def window_nodes(trace: InvocationTrace, name: str, over: Over, output: str) -> Nodes:
    """Add the v-nodes of a column with window functions, one or more for all rows.

    Parameters
    ----------
    name
        Of the nodes, behind the invocation's.
    output
        The output or sort key of the block.

    Raises
    ------
    WorkflowError
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
    trace: InvocationTrace,
    name: str,
    label: str,
    over: Over,
    table: pa.Table | None,
    inputs: Sequence[Nodes],
) -> Nodes:
    """Return a v-node per row."""
    by_rank = None if table is None else table.take(pa.array(np.argsort(over.ranks)))
    pool = trace.pool(name, Kind.VALUE, label, len(over.ranks), values=by_rank)
    for nodes in inputs:
        trace.edges(nodes, pool, over.ranks)
    return Nodes.of(pool, over.ranks)


class _Window:
    """One window function."""

    def __init__(
        self,
        trace: InvocationTrace,
        name: str,
        over: Over,
        call: WindowCall,
        table: pa.Table | None,
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
            raise WorkflowError(
                f"Only Spark knows which rows {plain_text(call.text)} sees, and its nodes derive "
                "from them.\nCompute partition and sort keys as columns of a relation of the "
                "chain, as integers for a RANGE of values."
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
        """True if the frame is bounded by a number of rows: a removed row is replaced by another
        one.
        """
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
        self, aggregate: AggregateCall, placement: Placed, sees: FrameRanges
    ) -> Nodes | None:
        """Return a v-node per frame, or None if there are too many edges or only Spark has the
        values.
        """
        ranked = self._call.function == "rank"
        if ranked:
            # Ties are not counted, except the row itself, which is the last of the range.
            sees = FrameRanges(sees.start, placement.peers()[1] + 1)
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

    def _opaque(self, placement: Placed, sees: FrameRanges, keys: Sequence[Nodes]) -> Nodes:
        """Return a v-node per row, over the rows between it and the ends of its frame."""
        over, count = self._over, len(self._over.ranks)
        row_nodes = _one_each(
            self._trace, self._name, f"{self._call.function.upper()} OVER", over, self._table, []
        )
        pool = int(row_nodes.pools[0]) if count else 0
        sees = FrameRanges(
            np.minimum(sees.start, every(count)), np.maximum(sees.stop, every(count) + 1)
        )
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

    def _cover(self, nodes: Nodes, sees: FrameRanges, pool: int, ranks: Array) -> None:
        """Add edges from the nodes of ranges of positions, through shared nodes where that saves
        edges.
        """
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


def _halves(sees: FrameRanges) -> Iterator[tuple[tuple[Array, Array], tuple[Array, Array]]]:
    """Yield, by level of a binary tree, the parts of ranges that no larger part covers.

    Each level has the positions taken at the ranges' starts, with the ranges' numbers, and the same
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


@dataclass(frozen=True, slots=True)
class TupleTarget:
    """The nodes and stored tuples that the tuples of a block become.

    Parameters
    ----------
    name
        Of their nodes, behind the invocation's.
    ranks
        The ordinal of each tuple's node.
    relation, key, values
        What they are tuples of, the columns that name them to people, and their values by ordinal,
        which are stored with tuples of a relation.
    columns
        What the block's outputs are called; left out are those called as they are.
    own
        Whether they need nodes of their own even where they are tuples of a source.
    """

    name: str
    ranks: Array
    relation: str | None = None
    key: tuple[str, ...] = ()
    values: pa.Table | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    own: bool = False


def tuple_pool(
    trace: InvocationTrace, target: TupleTarget, suffix: str, label: str, *, final: bool
) -> int:
    """Return the pool of a node for each tuple: of the tuples themselves, or of their inputs."""
    count = len(target.ranks)
    name = target.name + suffix
    if not final:
        return trace.pool(name, Kind.DERIVED, label, count)
    return trace.pool(
        name,
        Kind.DERIVED,
        label,
        count,
        relation=target.relation,
        values=None if target.relation is None else target.values,
        key=target.key,
    )


def columns_of(
    trace: InvocationTrace,
    rows: MemberRows,
    reading: MemberReading,
    nodes: Nodes,
    target: TupleTarget,
    functions: Collection[str],
) -> dict[str, Nodes]:
    """Return the v-nodes of the columns of rows.

    A copied column keeps its v-nodes. A column computed from such columns has a v-node of its own,
    named by its expression; the v-node of a black box is named by the function, and depends on
    everything that its row depends on.
    """
    nodes_by_column: dict[str, Nodes] = {}
    for output in rows.block.outputs:
        scalar = interpret(output.scalar)
        name = target.columns.get(output.name, output.name)
        if isinstance(rows, WindowRows) and output.name in rows.windowed:
            over = Over(rows, reading, nodes, target.ranks)
            nodes_by_column[name] = window_nodes(trace, f"{target.name}.{name}", over, output.name)
            continue
        column = plain_source(rows.block, scalar)
        known = None
        if column is not None and not computes(rows.block, column):
            known = reading.values(*column)
        if known is not None:
            nodes_by_column[name] = known
            continue
        label = expression_text(rows.block, scalar)
        function = called(label, functions)
        inputs, looked_up = [], False
        if not is_shared_key(rows.block, output.scalar):
            read = computed_from(rows.block, scalar)
            inputs = reading.inputs(read)
            looked_up = bool(reading.decided(dict.fromkeys(alias for alias, _ in read)))
        if function is not None or looked_up:
            inputs, label = [nodes, *inputs], function or label
        if inputs:
            nodes_by_column[name] = computed(trace, name, label, inputs, target)
    return nodes_by_column


def sorted_by(
    trace: InvocationTrace,
    rows: MemberRows,
    reading: MemberReading,
    nodes: Nodes,
    target: TupleTarget,
) -> list[Nodes]:
    """Return the nodes on which the order of rows depends."""
    nodes_read = []
    for number, key in enumerate(rows.block.order):
        name = f"{SORT}{number}"
        if isinstance(rows, WindowRows) and name in rows.windowed:
            over = Over(rows, reading, nodes, target.ranks)
            nodes_read.append(window_nodes(trace, f"{target.name}.{name}", over, name))
        else:
            nodes_read += reading.inputs(computed_from(rows.block, interpret(key.scalar)))
    return nodes_read


def computed(
    trace: InvocationTrace, column: str, label: str, sources: Sequence[Nodes], target: TupleTarget
) -> Nodes:
    """Return v-nodes of a column of rows; without stored values for rows of an inner block."""
    values = None
    if target.values is not None:
        values = pa.table({VALUE_COLUMN: target.values.column(column)})
    pool = trace.pool(
        f"{target.name}.{column}",
        Kind.VALUE,
        label,
        len(target.ranks),
        values=values,
    )
    for nodes in sources:
        trace.edges(nodes, pool, target.ranks)
    return Nodes.of(pool, target.ranks)


def copies(
    trace: InvocationTrace, name: str, table: pa.Table, values: Mapping[str, Origin], kind: Kind
) -> dict[str, Nodes]:
    """Add v-nodes of type i or s, which stand beside tuples and copy their values.

    A value has one if it has a v-node; in state, only if something uses it.
    """
    nodes_by_column: dict[str, Nodes] = {}
    for column, origin in values.items():
        rows = origin.rows
        pool = trace.pool(
            f"{name}.{column}",
            Kind.VALUE,
            kind.value,
            len(rows),
            values=pa.table({VALUE_COLUMN: take(table, rows).column(column)}),
            used=np.zeros(len(rows), dtype=np.bool_) if kind is Kind.STATE else None,
            origin=origin.take(rows),
        )
        nodes = Nodes.none(table.num_rows)
        nodes.put(rows, Nodes.of(pool, np.arange(len(rows), dtype=np.int64)))
        nodes_by_column[column] = nodes
    return nodes_by_column


def kept(
    trace: InvocationTrace, name: str, table: pa.Table, values: Mapping[str, Nodes], kind: Kind
) -> Values:
    """Add v-nodes that copy the values of tuples that leave the module or enter the state.

    If every tuple has a v-node in order, it is used unchanged.
    """
    declared = {column.lower(): column for column in table.column_names}
    kept_values: dict[str, tuple[str, Array]] = {}
    for given, nodes in values.items():
        column = declared[given.lower()]
        rows = np.flatnonzero(nodes.ordinals >= 0)
        if not len(rows):
            continue
        pools = ascending(nodes.pools[rows])
        first = trace.pools[int(pools[0])]
        ordered = bool((nodes.ordinals[rows] == np.arange(len(rows))).all())
        whole = first.used is None and first.segment.count == len(rows)
        if kind is Kind.STATE and len(pools) == 1 and ordered and whole:
            kept_values[column] = first.segment.name, rows
            continue
        pool = trace.pool(
            f"{name}.{column}" if kind is Kind.OUTPUT else f"{name}.{column}.kept",
            Kind.VALUE,
            kind.value,
            len(rows),
            values=pa.table({VALUE_COLUMN: take(table, rows).column(column)}),
        )
        trace.edges(nodes.take(rows), pool, np.arange(len(rows), dtype=np.int64))
        kept_values[column] = trace.pools[pool].segment.name, rows
    return kept_values
