"""Large graphs shaped like the executions of a workflow, for measurements and tests; seeded.

Modules form a chain. An invocation joins its input with its state, projects twice, groups and
aggregates, and outputs as many tuples as it reads; part of its derived tuples are state that later
invocations read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphquery.errors import GraphError
from graphquery.model import EdgeSet, Kind, Ordinals, Port, Segment
from semiring.base import Array

_SHARES = {"i": 4, "s": 2, "j": 4, "p": 4, "q": 4, "g": 1, "t": 4, "a": 1, "o": 4}
"""Nodes of each sort in an invocation, relative to one another."""

_CONSTANTS = 16


@dataclass(slots=True)
class Generated:
    """A graph in stored form, with its ordinals in memory.

    Attributes
    ----------
    ordinals
        By column, `source` and `target`, the ordinals of all edge sets that store that column
        alone, in the order of their offsets; each column is a file named after it.
    """

    segments: list[Segment] = field(default_factory=list)
    edge_sets: list[EdgeSet] = field(default_factory=list)
    ordinals: dict[str, list[Array]] = field(default_factory=lambda: {"source": [], "target": []})

    def columns(self) -> Callable[[str, str], Array]:
        """Return a reader of the columns."""
        whole = {
            f"{name}.parquet": np.concatenate([*parts, np.empty(0, dtype=np.int32)])
            for name, parts in self.ordinals.items()
        }
        return lambda file, column: whole[file]

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return sum(segment.count for segment in self.segments)

    @property
    def edge_count(self) -> int:
        """Number of edges."""
        return sum(edges.count for edges in self.edge_sets)


def generate(nodes: int, modules: int = 10, executions: int = 25, seed: int = 0) -> Generated:
    """Generate a graph of about `nodes` nodes and 1.8 times as many edges.

    Parameters
    ----------
    modules
        Modules in the chain; each has the invocations 1 to `executions`.
    seed
        The same arguments give the same graph.

    Raises
    ------
    GraphError
        Without modules or executions, or with too few nodes for them.
    """
    if modules < 1 or executions < 1:
        raise GraphError("A graph is generated of at least one module and execution.")
    unit = nodes // (modules * (executions * sum(_SHARES.values()) + _SHARES["s"]))
    if unit < 1:
        raise GraphError(
            f"{nodes:,} nodes are too few for {modules} modules and {executions} executions.\nAsk"
            " for more nodes, or for fewer of those."
        )
    return _Generator(unit, seed).run(modules, executions)


class _Generator:
    def __init__(self, unit: int, seed: int) -> None:
        self.sizes = {sort: share * unit for sort, share in _SHARES.items()}
        self.random = np.random.default_rng(seed)
        self.made = Generated()
        self.offsets = {"source": 0, "target": 0}
        self.counts: dict[str, int] = {}

    def run(self, modules: int, executions: int) -> Generated:
        for number in range(modules):
            module = f"module{number}"
            name = f"{module}/State"
            self._add(name, Kind.TOKEN, "", self.sizes["s"], module=module, relation="State")
        for execution in range(executions):
            source = f"input{execution}"
            self._add(source, Kind.TOKEN, "", self.sizes["i"], execution=execution, relation="R")
            for number in range(modules):
                source = self._invocation(f"module{number}", execution, source)
        return self.made

    def _invocation(self, module: str, execution: int, source: str) -> str:
        """Add an invocation whose input comes from a segment; return that of its output."""
        name = f"{module}#{execution + 1}"
        at = {"module": module, "invocation": execution + 1, "execution": execution}
        sizes = self.sizes
        self._add(name, Kind.INVOCATION, module, 1, **at)
        i = self._add(f"{name}/R", Kind.INPUT, "·", sizes["i"], relation="R", **at)
        s = self._add(f"{name}/State", Kind.STATE, "·", sizes["s"], relation="State", **at)
        j = self._add(f"{name}/Joined", Kind.DERIVED, "·", sizes["j"], relation="Joined", **at)
        p = self._add(f"{name}/Known", Kind.DERIVED, "+", sizes["p"], relation="Known", **at)
        q = self._add(f"{name}/Kept", Kind.DERIVED, "+", sizes["q"], relation="Kept", **at)
        g = self._add(f"{name}/Groups", Kind.DERIVED, "δ", sizes["g"], relation="Groups", **at)
        c = self._add(f"{name}/Groups.constants", Kind.VALUE, "", _CONSTANTS, **at)
        t = self._add(f"{name}/Groups.tensors", Kind.VALUE, "⊗", sizes["t"], **at)
        a = self._add(f"{name}/Groups.total", Kind.VALUE, "SUM", sizes["a"], **at)
        o = self._add(f"{name}/R.out", Kind.OUTPUT, "·", sizes["o"], relation="R", **at)
        self._each(source, i)
        self._each(name, i, Ordinals.ONE)
        written = execution % 3 > 0
        before = f"{module}#{execution}/Kept" if written else f"{module}/State"
        self._drawn(before, s, sizes["q"] if written else sizes["s"])
        self._each(name, s, Ordinals.ONE)
        self._drawn(i, j, sizes["i"])
        self._drawn(s, j, sizes["s"])
        self._each(j, p)
        self._each(p, q)
        groups = self._permuted(sizes["q"], sizes["g"])
        self._grouped(q, g, groups)
        self._each(q, t)
        constants = self._permuted(sizes["t"], _CONSTANTS)
        self._store(c, t, "source", constants, Port.VALUE)
        self._grouped(t, a, groups)
        self._each(q, o)
        self._each(name, o, Ordinals.ONE)
        return o

    def _add(self, name: str, kind: Kind, label: str, count: int, **attributes: Any) -> str:
        self.made.segments.append(Segment(name, kind, label, count, **attributes))
        self.counts[name] = count
        return name

    def _each(self, source: str, target: str, sources: Ordinals = Ordinals.ALL) -> None:
        """Add an edge to every node of a segment, from the node of the same number or from one
        node.
        """
        edges = EdgeSet(source, target, self.counts[target], sources, Ordinals.ALL)
        self.made.edge_sets.append(edges)

    def _permuted(self, count: int, among: int) -> Array:
        """Return ordinals in random order, each equally often."""
        ordinals = np.arange(count, dtype=np.int32) % among
        return self.random.permutation(ordinals)

    def _drawn(self, source: str, target: str, among: int) -> None:
        """Add an edge to every node of a segment, from a random node of another."""
        drawn = self.random.integers(0, among, self.counts[target], dtype=np.int32)
        self._store(source, target, "source", drawn)

    def _grouped(self, source: str, target: str, groups: Array) -> None:
        """Add an edge from every node of a segment."""
        self._store(source, target, "target", groups)

    def _store(
        self, source: str, target: str, column: str, ordinals: Array, port: int = Port.OPERAND
    ) -> None:
        edges = EdgeSet(
            source,
            target,
            len(ordinals),
            Ordinals.COLUMN if column == "source" else Ordinals.ALL,
            Ordinals.COLUMN if column == "target" else Ordinals.ALL,
            f"{column}.parquet",
            port,
            self.offsets[column],
        )
        self.made.edge_sets.append(edges)
        self.made.ordinals[column].append(ordinals)
        self.offsets[column] += len(ordinals)
