"""The final graph as segments and edge sets: a :class:`graphquery.ProvenanceGraph`.

Nodes that are alike in operation and invocation make a segment, and are called after the variable
they make and their line: ``-:c@7``, ``area#1/*:result@3``. A file that is read is a token. Edges
into and out of an invocation pass through nodes of inputs and outputs, as in Lipstick's graphs, so
that a function, or a cell of a notebook, can be zoomed out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery import EdgeSet, Kind, Ordinals, ProvenanceGraph, Segment
from lipstick.scripts.graph import ScriptGraph
from lipstick.scripts.model import Node
from lipstick.scripts.text import Script
from semiring.base import Array

_VALUES = "nodes"
_EDGES = "edges"


@dataclass(slots=True)
class Stored:
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
        found = self.graph.descendants(ids) if forwards else self.graph.ancestors(ids)
        numbers = self.numbers[np.unique(np.concatenate([ids, found.ids]))]
        result: list[int] = np.sort(numbers[numbers > 0]).tolist()
        return result


@dataclass(slots=True)
class _Group:
    segment: Segment
    rows: list[dict[str, Any]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)


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
        self.names: set[str] = set()

    def build(self) -> Stored:
        tokens: dict[str, _Place] = {}
        outer = [0, *(_outermost(self.source, n) for n in range(1, len(self.source.instances) + 1))]
        for node in self.source.nodes.values():
            self.places[node.id] = self._node(node, outer[node.instance])
        for node in self.source.nodes.values():
            for name in node.reads:
                if name not in tokens:
                    row = {"name": name, "variable": name}
                    tokens[name] = self._add("files", Kind.TOKEN, "", 0, row, 0, relation=name)
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
        self, instance: int, name: str, node: Node, outer: list[int], token: _Place
    ) -> _Place:
        inside = outer[node.instance]
        if inside:
            self._edge(self._crossed(inside, token, Kind.INPUT), self.places[node.id])
            return self.crossing[inside, token[0], token[1]]
        return self.places[node.id]

    def _node(self, node: Node, instance: int) -> _Place:
        file = self.script.files[node.place.file]
        variable = next((view for view in node.views if not view.startswith("<")), None)
        where = file.where(node.place.line) if file.cells else str(node.place.line)
        where = where if node.place.file == 0 else f"{file.name}:{where}"
        row = {
            "name": f"{variable or node.name}@{where}",
            "variable": variable,
            "operation": node.operation,
            "file": file.name,
            "line": node.place.line,
            "ratio": node.ratio,
            "window": node.window.size,
            "trigger": node.trigger,
            "iterations": node.iterations,
            "has_output": node.has_output,
            "persistent": node.persistent,
            "constants": ", ".join(map(repr, node.constants)) or None,
            "reads": ", ".join(node.reads) or None,
            "writes": ", ".join(node.writes) or None,
            "unknown": node.unknown,
        }
        return self._add(node.name, Kind.DERIVED, node.name, instance, row, node.id)

    def _add(
        self,
        name: str,
        kind: Kind,
        label: str,
        instance: int,
        row: dict[str, Any],
        number: int,
        relation: str | None = None,
    ) -> _Place:
        prefix, module, invocation = "", None, None
        if instance:
            own = self.source.instances[instance - 1]
            module, invocation = own.module, own.number
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
        key, count = row["name"], 1
        while f"{full}:{key}" in self.names:
            count += 1
            key = f"{row['name']}#{count}"
        self.names.add(f"{full}:{key}")
        group.rows.append({**row, "name": key})
        group.numbers.append(number)
        return full, len(group.rows) - 1

    def _crossed(self, instance: int, place: _Place, kind: Kind) -> _Place:
        """The input or output node of an invocation by which something passes."""
        if not instance:
            return place
        key = instance, *place
        if key not in self.crossing:
            row = {"name": f"{place[0]}:{self.groups[place[0]].rows[place[1]]['name']}"}
            name = "in" if kind is Kind.INPUT else "out"
            made = self._add(name, kind, "·", instance, row, 0)
            self.crossing[key] = made
            self._edge(place, made)
            self._edge(self._invocation(instance), made)
        return self.crossing[key]

    def _invocation(self, instance: int) -> _Place:
        own = self.source.instances[instance - 1]
        name = f"{own.module}#{own.number}"
        if name not in self.groups:
            segment = Segment(name, Kind.INVOCATION, own.module, 0, own.module, own.number, 0)
            self.groups[name] = _Group(segment)
            self.groups[name].rows.append({"name": name})
            self.groups[name].numbers.append(0)
        return name, 0

    def _edge(self, source: _Place, target: _Place) -> None:
        if source != target:
            edges = self.edges.setdefault((source[0], target[0]), {})
            edges[source[1], target[1]] = None

    def _stored(self) -> Stored:
        segments: list[Segment] = []
        rows: list[dict[str, Any]] = []
        numbers: list[int] = []
        for group in self.groups.values():
            keyed = group.segment.kind is not Kind.INVOCATION
            segments.append(_filled(group, len(rows), keyed))
            rows += group.rows
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
        columns = [pa.array([row.get(f.name) for row in rows], f.type) for f in _SCHEMA]
        tables = {
            _VALUES: pa.Table.from_arrays(columns, schema=_SCHEMA),
            _EDGES: pa.table({"source": both[:, 0], "target": both[:, 1]}),
        }
        graph = ProvenanceGraph.build(segments, sets, lambda file, name: tables[file][name])
        ids = {number: place for place, number in enumerate(numbers) if number}
        return Stored(
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
    own = group.segment
    return Segment(
        own.name,
        own.kind,
        own.label,
        len(group.rows),
        own.module,
        own.invocation,
        own.execution,
        own.relation,
        ("name",) if keyed else (),
        _VALUES,
        offset,
    )


def _outermost(graph: ScriptGraph, instance: int) -> int:
    """The call at the top of the script, or the cell, that an invocation stands in."""
    while graph.instances[instance - 1].outer:
        instance = graph.instances[instance - 1].outer
    return instance


def stored(graph: ScriptGraph, script: Script) -> Stored:
    """Store a final graph. O(nodes + edges)."""
    return _Builder(graph, script).build()
