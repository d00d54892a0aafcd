"""The v-nodes of the columns of rows, and of what LIMIT sorts rows by."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from graphquery.model import Kind
from graphquery.values import VALUE_COLUMN
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.state import SORT
from lipstick.engines.memory.window_rows import WindowRows
from lipstick.workflow.definition.functions import called
from lipstick.workflow.derivation.columns import (
    computed_from,
    computes,
    expression_text,
    plain_source,
)
from lipstick.workflow.derivation.nodes import Nodes, Trace
from lipstick.workflow.derivation.reading import MemberReading
from lipstick.workflow.derivation.window_nodes import Over, window_nodes
from rewriter.analysis.shared_keys import is_shared_key
from rewriter.interpret import interpret
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Target:
    """What the tuples of a block become.

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


def tuple_pool(trace: Trace, target: Target, suffix: str, label: str, *, final: bool) -> int:
    """The pool of a node for each tuple: of the tuples themselves, or of what they are made of."""
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
    trace: Trace,
    rows: MemberRows,
    reading: MemberReading,
    nodes: Nodes,
    target: Target,
    functions: Collection[str],
) -> dict[str, Nodes]:
    """The v-nodes of the columns of rows.

    A column that is taken over keeps those it has. One that is computed from such columns has
    a v-node of its own, named by its expression; that of a black box is named by the function,
    and made of all that its row is.
    """
    nodes_by_column: dict[str, Nodes] = {}
    for output in rows.block.outputs:
        scalar = interpret(output.scalar)
        name = target.columns.get(output.name, output.name)
        if isinstance(rows, WindowRows) and output.name in rows.windowed:
            nodes_by_column[name] = _windowed(
                trace, rows, output.name, reading, nodes, name, target
            )
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


def _windowed(
    trace: Trace,
    rows: WindowRows,
    output: str,
    reading: MemberReading,
    nodes: Nodes,
    column: str,
    target: Target,
) -> Nodes:
    """The v-nodes of a column of window functions, or of an expression over them."""
    over = Over(rows, reading, nodes, target.ranks)
    return window_nodes(trace, f"{target.name}.{column}", over, output)


def sorted_by(
    trace: Trace, rows: MemberRows, reading: MemberReading, nodes: Nodes, target: Target
) -> list[Nodes]:
    """The nodes that the order of rows depends on."""
    nodes_read = []
    for number, key in enumerate(rows.block.order):
        name = f"{SORT}{number}"
        if isinstance(rows, WindowRows) and name in rows.windowed:
            nodes_read.append(_windowed(trace, rows, name, reading, nodes, name, target))
        else:
            nodes_read += reading.inputs(computed_from(rows.block, interpret(key.scalar)))
    return nodes_read


def computed(
    trace: Trace, column: str, label: str, sources: Sequence[Nodes], target: Target
) -> Nodes:
    """V-nodes of a column of rows; those of an inner block have no stored values."""
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
