"""The inputs behind nodes, by execution."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from graphquery.arrays import ArrayGraph
from graphquery.model import Kind
from graphquery.naming import names
from graphquery.operations.reach import reached
from graphquery.protocol import Nodes
from graphquery.storage import GraphStorage
from semiring.arrays.segments import ascending
from semiring.base import Array
from semiring.support.door import checked

_ATTRIBUTES = (
    ("execution", pa.int64()),
    ("module", pa.string()),
    ("relation", pa.string()),
)


@checked
def inputs(graph: ArrayGraph, nodes: Nodes) -> pa.Table:
    """Return the tokens behind some nodes: inputs of executions, and initial states.

    Returns
    -------
    pa.Table
        A row per token, in the order of ids: `id`, `node` (its name), `execution` (NULL for
        tuples of an initial state), `module`, `relation`.

    Raises
    ------
    UnknownNameError
        Nodes that are not in the graph.
    """
    seeds = graph.resolve(nodes)
    storage = graph.storage
    behind = ascending(np.concatenate([seeds, reached(graph, seeds, forwards=False)]))
    behind = behind[behind < storage.count]
    tokens = np.fromiter(
        (segment.kind is Kind.TOKEN for segment in storage.segments),
        np.bool_,
        len(storage.segments),
    )
    return listed(storage, behind[tokens[storage.segment_of(behind)]])


def listed(storage: GraphStorage, tokens: Array) -> pa.Table:
    """Return a table of tokens, given by ascending ids, as :func:`inputs` does."""
    positions, inverse = np.unique(storage.segment_of(tokens), return_inverse=True)
    segments = [storage.segments[position] for position in positions]
    columns = {
        "id": pa.array(tokens, pa.int64()),
        "node": pa.array(names(storage, tokens), pa.string()),
    }
    for name, kind in _ATTRIBUTES:
        values = pa.array([getattr(segment, name) for segment in segments], kind)
        columns[name] = values.take(pa.array(inverse))
    return pa.table(columns)
