"""The final graph as segments and edge sets: a :class:`graphquery.ProvenanceGraph`.

Nodes that are alike in operation and invocation make a segment, and are called after the variable
they make and their line: ``-:c@7``, ``area#1/*:result@3``. A file that is read is a token. Edges
into and out of an invocation pass through nodes of inputs and outputs, as in Lipstick's graphs, so
that a function, or a cell of a notebook, can be zoomed out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from graphquery import EdgeSet, Kind, Ordinals, ProvenanceGraph, Segment
from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import ScriptNode
from lipstick.systems.scripts.script_text import Script
from semiring.arrays.segments import ascending
from semiring.base import Array

_VALUES = "nodes"
_EDGES = "edges"


@dataclass(slots=True)
class StoredProvenance:
    """A graph, and which of its nodes are which of the script's.

    Attributes
    ----------
    ids
        By number of a script's node, its id.
    numbers
        By id the number of the script's node; 0 of tokens, invocations, inputs and outputs.
    """

    graph: ProvenanceGraph
    ids: dict[int, int]
    numbers: Array
    segments: tuple[Segment, ...] = ()
    edge_sets: tuple[EdgeSet, ...] = ()
    tables: dict[str, pa.Table] = field(default_factory=dict)

    def reached(self, ids: Array, *, forwards: bool) -> list[int]:
        """The script's nodes on paths from or to some, these among them, ascending."""
        reached = self.graph.descendants(ids) if forwards else self.graph.ancestors(ids)
        numbers = self.numbers[ascending(np.concatenate([ids, reached.ids]))]
        result: list[int] = np.sort(numbers[numbers > 0]).tolist()
        return result


class _Properties(NamedTuple):
    """The stored properties of a node beside its name, in the order of the columns."""

    variable: str | None = None
    operation: str | None = None
    file: str | None = None
    line: int | None = None
    ratio: str | None = None
    window: int | None = None
    trigger: int | None = None
    iterations: int | None = None
    has_output: bool | None = None
    persistent: bool | None = None
    constants: str | None = None
    reads: str | None = None
    writes: str | None = None
    unknown: str | None = None


_NOTHING = _Properties()


@dataclass(slots=True)
class _Group:
    segment: Segment
    names: list[str] = field(default_factory=list)
    properties: list[_Properties] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    def add(self, name: str, properties: _Properties, number: int) -> None:
        self.names.append(name)
        self.properties.append(properties)
        self.numbers.append(number)


_Place = tuple[str, int]
"""A segment's name and an ordinal."""

_Pair = tuple[int, int]


class _Builder:
    def __init__(self, graph: ScriptGraph, script: Script) -> None:
        self.source = graph
        self.script = script
        self.groups: dict[str, _Group] = {}
        self.places: dict[int, _Place] = {}
        self.crossing: dict[tuple[int, str, int], _Place] = {}
        self.edges: dict[tuple[str, str], dict[_Pair, None]] = {}
        self.names: dict[tuple[str, str], int] = {}

    def build(self) -> StoredProvenance:
        tokens: dict[str, _Place] = {}
        numbers = range(len(self.source.instances) + 1)
        outer = [[0, *self.source.around(number)][-1] for number in numbers]
        for node in self.source.nodes.values():
            self.places[node.id] = self._node(node, outer[node.instance])
        for node in self.source.nodes.values():
            for name in node.reads:
                if name not in tokens:
                    file = _Properties(variable=name)
                    tokens[name] = self._add("files", Kind.TOKEN, 0, name, file)
                self._edge(tokens[name], self._into(0, name, node, outer, tokens[name]))
        for edge, _ in self.source.edges():
            a, b = self.source.nodes[edge.source], self.source.nodes[edge.target]
            left, right = outer[a.instance], outer[b.instance]
            place = self.places[a.id]
            if left != right:
                place = self._crossed(left, place, Kind.OUTPUT)
                place = self._crossed(right, place, Kind.INPUT)
            self._edge(place, self.places[b.id])
        return self._stored()

    def _into(
        self, instance: int, name: str, node: ScriptNode, outer: list[int], token: _Place
    ) -> _Place:
        inside = outer[node.instance]
        if inside:
            self._edge(self._crossed(inside, token, Kind.INPUT), self.places[node.id])
            return self.crossing[inside, token[0], token[1]]
        return self.places[node.id]

    def _node(self, node: ScriptNode, instance: int) -> _Place:
        file = self.script.files[node.place.file]
        variable = next((view for view in node.views if not view.startswith("<")), None)
        where = file.where(node.place.line) if file.cells else str(node.place.line)
        where = where if node.place.file == 0 else f"{file.name}:{where}"
        properties = _Properties(
            variable,
            node.operation,
            file.name,
            node.place.line,
            node.ratio,
            node.window.size,
            node.trigger,
            node.iterations,
            node.has_output,
            node.persistent,
            ", ".join(map(repr, node.constants)) or None,
            ", ".join(node.reads) or None,
            ", ".join(node.writes) or None,
            node.unknown,
        )
        name = f"{variable or node.name}@{where}"
        return self._add(node.name, Kind.DERIVED, instance, name, properties, node.id)

    def _add(
        self,
        name: str,
        kind: Kind,
        instance: int,
        node: str,
        properties: _Properties,
        number: int = 0,
    ) -> _Place:
        relation = node if kind is Kind.TOKEN else None
        label = {Kind.TOKEN: "", Kind.DERIVED: name}.get(kind, "·")
        prefix, module, invocation = "", None, None
        if instance:
            entry = self.source.instances[instance - 1]
            module, invocation = entry.module, entry.number
            prefix = f"{module}#{invocation}/"
        full = f"{prefix}{name}"
        if relation is not None:
            full = f"{full}/{relation}"
        group = self.groups.get(full)
        if group is None:
            segment = Segment(
                full, kind, label, 0, module, invocation, 0 if module else None, relation
            )
            group = self.groups[full] = _Group(segment)
        count = self.names.get((full, node), 0) + 1
        key = node if count == 1 else f"{node}#{count}"
        while count > 1 and (full, key) in self.names:
            count += 1
            key = f"{node}#{count}"
        self.names[full, node] = count
        self.names.setdefault((full, key), 1)
        group.add(key, properties, number)
        return full, len(group.names) - 1

    def _crossed(self, instance: int, place: _Place, kind: Kind) -> _Place:
        """The input or output node of an invocation by which something passes."""
        if not instance:
            return place
        key = instance, *place
        if key not in self.crossing:
            passing = f"{place[0]}:{self.groups[place[0]].names[place[1]]}"
            name = "in" if kind is Kind.INPUT else "out"
            passed = self._add(name, kind, instance, passing, _NOTHING)
            self.crossing[key] = passed
            self._edge(place, passed)
            self._edge(self._invocation(instance), passed)
        return self.crossing[key]

    def _invocation(self, instance: int) -> _Place:
        entry = self.source.instances[instance - 1]
        name = f"{entry.module}#{entry.number}"
        if name not in self.groups:
            segment = Segment(name, Kind.INVOCATION, entry.module, 0, entry.module, entry.number, 0)
            self.groups[name] = _Group(segment)
            self.groups[name].add(name, _NOTHING, 0)
        return name, 0

    def _edge(self, source: _Place, target: _Place) -> None:
        if source != target:
            edges = self.edges.setdefault((source[0], target[0]), {})
            edges[source[1], target[1]] = None

    def _stored(self) -> StoredProvenance:
        segments: list[Segment] = []
        names: list[str] = []
        properties: list[_Properties] = []
        numbers: list[int] = []
        for group in self.groups.values():
            keyed = group.segment.kind is not Kind.INVOCATION
            segments.append(_filled(group, len(names), keyed))
            names += group.names
            properties += group.properties
            numbers += group.numbers
        pairs: list[_Pair] = []
        sets = []
        offset = 0
        column = Ordinals.COLUMN
        for (source, target), edges in self.edges.items():
            count = len(edges)
            pairs += edges
            sets.append(EdgeSet(source, target, count, column, column, _EDGES, 0, offset))
            offset += count
        both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        kept = zip(*properties, strict=True) if properties else [()] * len(_NOTHING)
        columns = [
            pa.array(values, field.type)
            for values, field in zip([names, *kept], _SCHEMA, strict=True)
        ]
        tables = {
            _VALUES: pa.Table.from_arrays(columns, schema=_SCHEMA),
            _EDGES: pa.table({"source": both[:, 0], "target": both[:, 1]}),
        }
        graph = ProvenanceGraph.build(segments, sets, lambda file, name: tables[file][name])
        ids = {number: index for index, number in enumerate(numbers) if number}
        return StoredProvenance(
            graph, ids, np.array(numbers, dtype=np.int64), tuple(segments), tuple(sets), tables
        )


_SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("variable", pa.string()),
        ("operation", pa.string()),
        ("file", pa.string()),
        ("line", pa.int64()),
        ("ratio", pa.string()),
        ("window", pa.int64()),
        ("trigger", pa.int64()),
        ("iterations", pa.int64()),
        ("has_output", pa.bool_()),
        ("persistent", pa.bool_()),
        ("constants", pa.string()),
        ("reads", pa.string()),
        ("writes", pa.string()),
        ("unknown", pa.string()),
    ]
)


def _filled(group: _Group, offset: int, keyed: bool) -> Segment:
    segment = group.segment
    return Segment(
        segment.name,
        segment.kind,
        segment.label,
        len(group.names),
        segment.module,
        segment.invocation,
        segment.execution,
        segment.relation,
        ("name",) if keyed else (),
        _VALUES,
        offset,
    )


def stored(graph: ScriptGraph, script: Script) -> StoredProvenance:
    """Store a final graph. O(nodes + edges)."""
    return _Builder(graph, script).build()
