"""What a graph says of outputs after a deletion, held against a run without what was deleted.

Whatever the query: a row of which nothing is stale is a row of that run, and no row of that run is
missing but for those that stale rows may be, and those that the deletion makes appear.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql.types import IntegerType, LongType, StructType

from graphquery import ProvenanceGraph
from graphquery.storage import COPIES
from graphquery.store import Store
from graphquery.values import aggregate_name
from lipstick.workflow import Module, Relation, Run, Specification, Workflow, open_run
from lipstick.workflow.execution.invocation import Invocation
from lipstick.workflow.execution.ledger import stored_output
from lipstick.workflow.execution.tables import remember_structs
from tests.graphquery.store.workload import Unsynced
from tests.lipstick.workflow.without_spark import run_workflow

Rows = list[tuple[int | None, ...]]
Bag = Counter[tuple[Any, ...]]

_TYPES = {"int": IntegerType(), "bigint": LongType()}


def relation(columns: str, **more: Any) -> Relation:
    """A relation of integers, whose columns need not be read by Spark."""
    declared = Relation(columns, **more)
    struct = StructType()
    for name, kind in declared.columns:
        struct.add(name, _TYPES[kind])
    remember_structs({declared.ddl: struct.jsonValue()})
    return declared


@dataclass(frozen=True, slots=True)
class Left:
    """The rows of an output after a deletion.

    Parameters
    ----------
    known
        Those of which nothing is stale, with their values.
    stale
        How many others there are.
    """

    known: Bag
    stale: int


@dataclass(frozen=True, slots=True)
class Ran:
    """The run of one module over some inputs."""

    run: Run
    graph: ProvenanceGraph
    inputs: Mapping[str, Rows]

    @classmethod
    def of(cls, specification: Specification, inputs: Mapping[str, Rows], path: Path) -> Ran:
        """Run a module once, into a new store."""
        workflow = Workflow("w", {"m": Module("m", specification)}, [], "m", "m")
        run_workflow(Store.create(path, files=Unsynced()), workflow, [dict(inputs)])
        run = open_run(path)
        return cls(run, run.graph(), inputs)

    def without(self, gone: Mapping[str, Sequence[int]]) -> dict[str, Rows]:
        """The inputs without rows at some places."""
        return {
            name: [row for number, row in enumerate(rows) if number not in gone.get(name, ())]
            for name, rows in self.inputs.items()
        }

    def names(self, gone: Mapping[str, Sequence[int]]) -> list[str]:
        """The nodes of rows at some places."""
        return [
            _node(f"input#0/m/{name}", len(self.inputs[name]), number)
            for name, places in gone.items()
            for number in places
        ]

    def answer(self, output: str) -> Bag:
        """The rows of an output."""
        return Counter(tuple(row.values()) for row in self._rows(output))

    def left(self, gone: Mapping[str, Sequence[int]]) -> dict[str, Left]:
        """The rows of every output that the graph has after a deletion."""
        graph = self.graph.delete(self.names(gone)) if gone else self.graph
        stale = set(graph.stale().names())
        outputs = self.run.workflow.modules["m"].outputs
        return {output: self._left(output, graph, stale) for output in outputs}

    def _left(self, output: str, graph: ProvenanceGraph, stale: set[str]) -> Left:
        rows = self._rows(output)
        invocation = Invocation(self.run.workflow.modules["m"], 1, "m", 0)
        leaving = stored_output(self.run.snapshot, invocation, output)
        known: Bag = Counter()
        unknown = 0
        for ordinal, row in enumerate(rows):
            name = _node(f"m#1/{output}", len(rows), ordinal)
            if name not in graph:
                continue
            nodes = {}
            for column, (segment, places) in leaving.values.items():
                at = places.tolist()
                if ordinal in at:
                    count = self.run.snapshot.segments[segment].count
                    nodes[column] = _node(segment, count, at.index(ordinal))
            if stale & {name, *nodes.values()} or any(map(self._gone(graph), nodes.values())):
                unknown += 1
                continue
            values = dict(row)
            for column, node in nodes.items():
                values[column] = self._value(graph, node)
            known[tuple(values.values())] += 1
        return Left(known, unknown)

    def _gone(self, graph: ProvenanceGraph) -> Callable[[str], bool]:
        """Whether a value is gone, and nothing says which one comes in its place."""
        return lambda node: node not in graph and self._aggregate(node) is None

    def _value(self, graph: ProvenanceGraph, node: str) -> Any:
        """A value; of nothing that is left to aggregate a count is 0, and the rest NULL."""
        if node in graph:
            return graph.value(node)
        return 0 if self._aggregate(node) == "COUNT" else None

    def _aggregate(self, node: str) -> str | None:
        """The aggregate that a value is or copies."""
        while self.graph.segment(node).label in COPIES:
            (node,) = self.graph.names(self.graph.incoming(self.graph.resolve([node])).nodes)
        return aggregate_name(self.graph.segment(node).label)

    def _rows(self, output: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.run.output(0, "m", output).to_pylist()  # type: ignore[union-attr]
        return rows


def deletions(inputs: Mapping[str, Rows], most: int = 2) -> Iterator[dict[str, list[int]]]:
    """Every deletion of up to so many rows."""
    places = [(name, number) for name, rows in inputs.items() for number in range(len(rows))]
    for count in range(1, most + 1):
        for chosen in itertools.combinations(places, count):
            gone: dict[str, list[int]] = {}
            for name, position in chosen:
                gone.setdefault(name, []).append(position)
            yield gone


def _node(segment: str, count: int, ordinal: int) -> str:
    return segment if count == 1 else f"{segment}[{ordinal}]"
