"""The graph of operators: sources, streams with their operators, fan-out, joins, modules."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.node import StreamNode
from lipstick.systems.streams.operators import (
    AggregateBy,
    AggregateWindow,
    FilterEvents,
    KeyBy,
    LengthJoin,
    LengthWindow,
    Map,
    Merge,
    Operator,
    TimeJoin,
    TimeWindow,
)
from lipstick.systems.streams.operators.aggregate import AggregateFunction
from lipstick.systems.streams.operators.joins import Condition
from lipstick.systems.streams.operators.mapping import MapFunction, Predicate
from lipstick.systems.streams.source import EventSource
from semiring.support.door import checked


@checked
class Graph:
    """A graph of streams, built by adding sources and operators to their streams.

    Parameters
    ----------
    name
        Of the query that the graph is: the assertions in a store are filed under it.

    Examples
    --------
    >>> from lipstick.systems.streams.graph import Graph
    >>> g = Graph("sensors")
    >>> hot = g.source("readings", time="ts").filter(lambda t: ..., name="hot")
    >>> hot.time_window(5_000, name="recent").aggregate({"n": ("count", None)}, name="alarm")
    <Stream alarm of graph sensors>
    """

    def __init__(self, name: str) -> None:
        if not name or "/" in name:
            raise StreamError(f"{name!r} is not a name of a graph: give one without '/'.")
        self.name = name
        self.nodes: dict[str, StreamNode] = {}
        self._module: str | None = None

    def source(
        self,
        sid: str,
        *,
        time: str | None = None,
        key: str | None = None,
        identity: str | None = None,
        disorder: int = 0,
        late: str = "drop",
        sequence: str | None = None,
    ) -> Stream:
        """Add a source; see :class:`lipstick.systems.streams.source.EventSource`."""
        source = EventSource(time, key, identity, disorder, late, sequence)
        return self._add(StreamNode(sid, source=source, keyed=key is not None, module=sid))

    def stream(self, sid: str) -> Stream:
        """Return the stream with a name.

        Raises
        ------
        StreamError
            When there is none.
        """
        self.node(sid)
        return Stream(self, sid)

    def node(self, sid: str) -> StreamNode:
        """Return the node with a name; raises as `stream`."""
        if sid not in self.nodes:
            raise StreamError(
                f"Graph {self.name} has no stream {sid!r}.\nIt has {', '.join(self.nodes)}."
            )
        return self.nodes[sid]

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the sources, in the order they were added."""
        return tuple(sid for sid, node in self.nodes.items() if node.source is not None)

    @property
    def recorded(self) -> tuple[str, ...]:
        """The streams whose keys a recording has: all but twins."""
        return tuple(sid for sid, node in self.nodes.items() if node.twin is None)

    def original(self, sid: str) -> str:
        """Return the stream with the events of a stream: itself unless it is a twin."""
        return self.node(sid).twin or sid

    def consumers(self, sid: str) -> tuple[str, ...]:
        """Return the streams that derive directly from a stream."""
        return tuple(other for other, node in self.nodes.items() if sid in node.inputs)

    def apply(self, operator: Operator, *inputs: str, sid: str | None = None) -> Stream:
        """Add an operator over streams, and return its output.

        Raises
        ------
        StreamError
            The operator does not take this number of inputs, or only some streams have a key.
        """
        nodes = [self.node(name) for name in inputs]
        wanted = operator.inputs
        if len(inputs) != wanted and not (wanted < 0 and len(inputs) >= 2):
            raise StreamError(
                f"{operator.kind} has {'two or more' if wanted < 0 else wanted} inputs, and "
                f"{len(inputs)} were given."
            )
        keyed = nodes[0].keyed
        if any(node.keyed != keyed for node in nodes):
            raise StreamError(
                f"{operator.kind} of {', '.join(inputs)}: some have a key and some have none.\n"
                "Give all of them a key (key_by), or none."
            )
        if isinstance(operator, KeyBy):
            if keyed:
                raise StreamError(
                    f"Stream {inputs[0]} has a key already: its times are unique for each value "
                    "only.\nUse key_by on a stream without key."
                )
            keyed = True
        sid = sid or self._fresh(operator.kind)
        return self._add(
            StreamNode(
                sid, None, operator, tuple(map(self.original, inputs)), keyed, self._module or sid
            )
        )

    def compose(self, name: str, build: Callable[..., Stream], *inputs: Stream) -> Stream:
        """Add an operator composed of other operators; its ancestor function follows from theirs.

        Parameters
        ----------
        name
            Of the operator, and of the stream that it makes.
        build
            Maps the input streams to the output; streams that it adds are inside the operator.
        """
        outer = self._module
        self._module = outer or name
        try:
            result = build(*inputs)
        finally:
            self._module = outer
        if result.graph is not self:
            raise StreamError(f"{name}: the stream that was built belongs to a different graph.")
        return result if result.sid == name else result.twin(name)

    def topology(self) -> dict[str, Any]:
        """Return the static part of a recording, as JSON: streams, operators, parameters."""
        return {
            sid: {
                "kind": "source" if node.operator is None else node.operator.kind,
                "parameters": (
                    node.source.parameters()
                    if node.source is not None
                    else node.operator.parameters()
                    if node.operator is not None
                    else {}
                ),
                "inputs": list(node.inputs),
                "keyed": node.keyed,
                "module": node.module,
                "twin": node.twin,
            }
            for sid, node in self.nodes.items()
        }

    def fingerprint(self) -> str:
        """Return a checksum of the topology, to detect a store that a different graph has
        written.
        """
        text = json.dumps(self.topology(), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def check_recorded(self, recorded: Graph) -> None:
        """Raise `StreamError` unless this is the recorded graph."""
        if self.fingerprint() != recorded.fingerprint():
            raise StreamError(
                f"Graph {self.name} is not the one that was recorded: streams, operators or "
                "parameters differ.\nGive the graph that was run."
            )

    def _fresh(self, kind: str) -> str:
        prefix = f"{self._module}." if self._module else ""
        number = 1
        while f"{prefix}{kind}{number}" in self.nodes:
            number += 1
        return f"{prefix}{kind}{number}"

    def _add(self, node: StreamNode) -> Stream:
        if node.sid in self.nodes:
            raise StreamError(
                f"Graph {self.name} has a stream {node.sid!r} already: names are unique."
            )
        self.nodes[node.sid] = node
        return Stream(self, node.sid)

    def __repr__(self) -> str:
        return f"<Graph {self.name}: {len(self.nodes)} streams>"


@checked
@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of a graph, to which operators are added. Several may read one stream (fan-out)."""

    graph: Graph = field(repr=False)
    sid: str

    def map(self, function: MapFunction, *, name: str | None = None) -> Stream:
        """Apply a function of tables; see :class:`lipstick.systems.streams.operators.Map`."""
        return self.graph.apply(Map(function), self.sid, sid=name)

    def filter(self, predicate: Predicate, *, name: str | None = None) -> Stream:
        """Keep events by a predicate (:class:`~lipstick.systems.streams.operators.Filter`)."""
        return self.graph.apply(FilterEvents(predicate), self.sid, sid=name)

    def key_by(self, column: str, *, name: str | None = None) -> Stream:
        """Give the stream a key; see :class:`lipstick.systems.streams.operators.KeyBy`."""
        return self.graph.apply(KeyBy(column), self.sid, sid=name)

    def time_window(self, width: int, *, name: str | None = None) -> Stream:
        """Collect, on each event, the events of the last ticks; see `TimeWindow`."""
        return self.graph.apply(TimeWindow(width), self.sid, sid=name)

    def length_window(self, length: int, *, name: str | None = None) -> Stream:
        """Collect the last events (:class:`~lipstick.systems.streams.operators.LengthWindow`)."""
        return self.graph.apply(LengthWindow(length), self.sid, sid=name)

    def aggregate(
        self,
        columns: Mapping[str, tuple[str, str | None]] | AggregateFunction,
        *,
        name: str | None = None,
    ) -> Stream:
        """Aggregate the lists of a window or join; see `AggregateWindow` and `AggregateBy`."""
        operator: Operator = (
            AggregateBy(columns) if callable(columns) else AggregateWindow.of(columns)
        )
        return self.graph.apply(operator, self.sid, sid=name)

    def join_time(
        self,
        other: Stream,
        left: int,
        right: int,
        on: Condition = None,
        *,
        name: str | None = None,
    ) -> Stream:
        """Join by time windows; see :class:`lipstick.systems.streams.operators.TimeJoin`."""
        return self.graph.apply(TimeJoin(left, right, on), self.sid, other.sid, sid=name)

    def join_length(
        self,
        other: Stream,
        left: int,
        right: int,
        on: Condition = None,
        *,
        name: str | None = None,
    ) -> Stream:
        """Join by length windows; see :class:`lipstick.systems.streams.operators.LengthJoin`."""
        return self.graph.apply(LengthJoin(left, right, on), self.sid, other.sid, sid=name)

    def merge(self, *streams: Stream, name: str | None = None) -> Stream:
        """Merge the events of streams; see :class:`lipstick.systems.streams.operators.Merge`."""
        return self.graph.apply(Merge(), self.sid, *(other.sid for other in streams), sid=name)

    def twin(self, name: str) -> Stream:
        """Return the same events under a new name, as the thesis has for each of several
        consumers.
        """
        graph = self.graph
        node = graph.node(self.sid)
        original = graph.original(self.sid)
        module = graph._module or name
        return graph._add(
            StreamNode(name, None, node.operator, node.inputs, node.keyed, module, original)
        )

    def __repr__(self) -> str:
        return f"<Stream {self.sid} of graph {self.graph.name}>"
