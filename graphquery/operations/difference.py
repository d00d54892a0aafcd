"""The difference of two executions of a workflow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.arrays import ArrayGraph, Selection
from graphquery.errors import UnknownNameError
from graphquery.model import Segment
from graphquery.naming import key_texts
from graphquery.protocol import ExecutionDifference
from graphquery.storage import GraphStorage
from semiring.base import Array
from semiring.support.door import checked

_Role: TypeAlias = "tuple[str | None, int, str, str, str]"
"""The identity of a segment across executions: the module, the number of its invocation within the
execution, kind, label, and the end of its name after the invocation.
"""


@checked
def difference(graph: ArrayGraph, left: int, right: int) -> ExecutionDifference[Selection]:
    """Return the nodes of two executions that have no counterpart in the other execution.

    Segments correspond if they have the same kind, label, module and relation in the same
    invocation of the module, counted within the execution. A node with a key corresponds to the
    node with that key; nodes without a key are matched by count alone: of three and five nodes, the
    last two have no counterpart.

    Parameters
    ----------
    left, right
        Numbers of executions.

    Raises
    ------
    UnknownNameError
        An execution that the graph does not have.
    """

    def shown(position: int) -> Array:
        ids = graph.storage.ids_of(position)
        return ids[graph.has(ids)]

    alone, missing, summary = unmatched(graph.storage, left, right, shown)
    return ExecutionDifference(Selection(graph, alone), Selection(graph, missing), summary)


def unmatched(
    storage: GraphStorage, left: int, right: int, shown: Callable[[int], Array]
) -> tuple[Array, Array, pa.Table]:
    """Return the ids of nodes of either execution without a counterpart, and the summary.

    Parameters
    ----------
    shown
        Maps a segment's position to the ascending ids of its visible nodes.

    Raises
    ------
    UnknownNameError
        An execution that the graph does not have.
    """
    check_executions(storage, left, right)
    roles, right_roles = _roles(storage, left), _roles(storage, right)
    alone: list[Array] = []
    missing: list[Array] = []
    rows = []
    for role in sorted(roles.keys() | right_roles.keys(), key=str):
        left_nodes = _nodes(storage, roles.get(role), shown)
        right_nodes = _nodes(storage, right_roles.get(role), shown)
        here, there = _unmatched(*left_nodes, *right_nodes)
        if len(here) or len(there):
            alone.append(here)
            missing.append(there)
            common = len(left_nodes[0]) - len(here)
            rows.append((*role, len(left_nodes[0]), len(right_nodes[0]), common))
    return _joined(alone), _joined(missing), _table(rows)


def check_executions(storage: GraphStorage, *executions: int) -> None:
    """Refuse executions that a graph does not have."""
    known = sorted({s.execution for s in storage.segments if s.execution is not None})
    for execution in executions:
        if execution not in known:
            raise UnknownNameError(
                f"The graph has no execution {execution}.\nIt has {len(known):,}:"
                f" {', '.join(map(str, known[:10]))}."
            )


def _roles(storage: GraphStorage, execution: int) -> dict[_Role, int]:
    """Return the segments of an execution by their role in it."""
    ranks: dict[str | None, list[int]] = defaultdict(list)
    chosen = [
        (position, segment)
        for position, segment in enumerate(storage.segments)
        if segment.execution == execution
    ]
    for _, segment in chosen:
        if segment.invocation is not None:
            ranks[segment.module].append(segment.invocation)
    order = {
        module: {number: rank for rank, number in enumerate(sorted(set(numbers)), start=1)}
        for module, numbers in ranks.items()
    }
    return {_role(segment, order): position for position, segment in chosen}


def _role(segment: Segment, order: dict[str | None, dict[int, int]]) -> _Role:
    if segment.invocation is None:
        end = segment.relation or segment.name
        return (segment.module, 0, end, segment.kind.value, segment.label)
    _, _, end = segment.name.partition("/")
    rank = order[segment.module][segment.invocation]
    return (segment.module, rank, end, segment.kind.value, segment.label)


def _nodes(
    storage: GraphStorage, position: int | None, shown: Callable[[int], Array]
) -> tuple[Array, pa.Array]:
    """Return the nodes of a segment and the texts that identify them: keys, or numbers."""
    if position is None:
        return np.empty(0, dtype=np.int64), pa.array([], pa.string())
    segment = storage.segments[position]
    ids = shown(position)
    ordinals = pa.array(ids - storage.bases[position])
    if segment.key:
        return ids, key_texts(storage, segment).take(ordinals)
    return ids, pa.array(np.arange(len(ids))).cast(pa.string())


def _unmatched(
    left: Array, left_keys: pa.Array, right: Array, right_keys: pa.Array
) -> tuple[Array, Array]:
    """Return the nodes on either side whose key the other side lacks."""
    here = pc.is_in(left_keys, value_set=right_keys.cast(left_keys.type))
    there = pc.is_in(right_keys, value_set=left_keys.cast(right_keys.type))
    return (
        left[~here.to_numpy(zero_copy_only=False)],
        right[~there.to_numpy(zero_copy_only=False)],
    )


def _joined(parts: list[Array]) -> Array:
    return np.sort(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)


def _table(rows: list[tuple[str | None, int, str, str, str, int, int, int]]) -> pa.Table:
    kinds = {
        "module": pa.string(),
        "invocation": pa.int64(),
        "nodes": pa.string(),
        "kind": pa.string(),
        "label": pa.string(),
        "left": pa.int64(),
        "right": pa.int64(),
        "common": pa.int64(),
    }
    columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
    return pa.table(
        {
            name: pa.array(list(column), kind)
            for (name, kind), column in zip(kinds.items(), columns, strict=True)
        }
    )
