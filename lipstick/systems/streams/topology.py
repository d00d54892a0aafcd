"""The static part of a recording read back: a graph that questions can be asked of.

Functions of the user's are known by name: they are needed to run the graph, not to ask it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lipstick.systems.streams.errors import StreamError
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.node import Node
from lipstick.systems.streams.operators import (
    Aggregate,
    AggregateBy,
    Filter,
    KeyBy,
    LengthJoin,
    LengthWindow,
    Map,
    Merge,
    Operator,
    TimeJoin,
    TimeWindow,
)
from lipstick.systems.streams.operators.joins import Condition
from lipstick.systems.streams.operators.mapping import Absent
from lipstick.systems.streams.source import Source


def graph_of(name: str, topology: Mapping[str, Any]) -> Graph:
    """The graph of a recorded topology, the inverse of :meth:`Graph.topology`.

    Raises
    ------
    StreamError
        When it has an operator that this version does not know.
    """
    graph = Graph(name)
    for sid, node in topology.items():
        kind, parameters = node["kind"], node["parameters"]
        source = Source(**parameters) if kind == "source" else None
        operator = None if kind == "source" else _operator(kind, parameters)
        inputs = tuple(node["inputs"])
        graph.nodes[sid] = Node(
            sid, source, operator, inputs, node["keyed"], node["module"], node["twin"]
        )
    return graph


def _operator(kind: str, parameters: Mapping[str, Any]) -> Operator:
    match kind:
        case "map":
            return Map(Absent(parameters["function"]))
        case "filter":
            return Filter(Absent(parameters["predicate"]))
        case "key_by":
            return KeyBy(parameters["column"])
        case "time_window":
            return TimeWindow(parameters["width"])
        case "length_window":
            return LengthWindow(parameters["length"])
        case "aggregate":
            return Aggregate(tuple((a, b, c) for a, b, c in parameters["columns"]))
        case "aggregate_by":
            return AggregateBy(Absent(parameters["function"]))
        case "time_join":
            condition = _condition(parameters["condition"])
            return TimeJoin(parameters["left"], parameters["right"], condition)
        case "length_join":
            condition = _condition(parameters["condition"])
            return LengthJoin(parameters["left"], parameters["right"], condition)
        case "merge":
            return Merge()
    raise StreamError(f"The store has an operator {kind!r} that this version does not know.")


def _condition(recorded: Any) -> Condition:
    if recorded is None:
        return None
    if isinstance(recorded, str):
        return Absent(recorded)
    return tuple((left, right) for left, right in recorded)
