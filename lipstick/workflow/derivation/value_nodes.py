"""V-nodes of type i, o and s: values of tuples as they enter and leave a module and its state.

Where a value occurs in the graph, a v-node labelled with its type copies it beside the tuple. By
these a deletion in one module is seen to change, or to leave unknown, a value in another.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from graphquery.model import Kind
from graphquery.values import VALUE_COLUMN
from lipstick.workflow.derivation.nodes import Nodes, Origin, Trace, Values
from lipstick.workflow.execution.tables import take
from semiring.base import Array


def copies(
    trace: Trace, name: str, table: pa.Table, values: Mapping[str, Origin], kind: Kind
) -> dict[str, Nodes]:
    """Add v-nodes of type i or s, which stand beside tuples and copy the values that they have.

    There is one where the value has a v-node; of state, only where something uses it.
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
    trace: Trace, name: str, table: pa.Table, values: Mapping[str, Nodes], kind: Kind
) -> Values:
    """Add v-nodes that copy the values of tuples which leave, or enter the state.

    A v-node for every tuple, in their order, is kept as it is.
    """
    declared = {column.lower(): column for column in table.column_names}
    kept_values: dict[str, tuple[str, Array]] = {}
    for given, nodes in values.items():
        column = declared[given.lower()]
        rows = np.flatnonzero(nodes.ordinals >= 0)
        if not len(rows):
            continue
        pools = np.unique(nodes.pools[rows])
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
