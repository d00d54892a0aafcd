"""The stored form of a provenance graph: segments of nodes, and edge sets.

A graph of ten million nodes has some thousands of segments: a segment has the nodes of one kind,
label, module, invocation and relation, and a node is a segment and an ordinal. Edges join two
segments and are two columns of ordinals; either column may be implied.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from semiring.errors import LipstickError


class Kind(StrEnum):
    """Kinds of nodes (Amsterdamer et al., PVLDB 5(4), section 3)."""

    TOKEN = "token"
    """A tuple of a workflow input or of an initial state: a p-node without incoming edges."""
    INVOCATION = "m"
    """An invocation of a module: a p-node named after it."""
    INPUT = "i"
    """A tuple entering a module: `·` of its p-node and the invocation."""
    OUTPUT = "o"
    """A tuple leaving a module: `·` of its p-node and the invocation."""
    STATE = "s"
    """A tuple of a module's state used in an invocation: `·` of its p-node and the invocation."""
    DERIVED = "p"
    """Any other p-node: `+`, `·`, `δ`, `⊖`, a comparison, a black box that yields tuples."""
    VALUE = "v"
    """A v-node: a constant, `⊗`, an aggregate, a black box that yields a value."""
    ZOOMED = "zoomed"
    """A whole invocation that was zoomed out: a p-node named after its module."""


class Ordinals(StrEnum):
    """The encoding of one end of a set's edges."""

    ALL = "all"
    """Edge i is at node i of the segment: nothing is stored."""
    ONE = "one"
    """Every edge is at node 0 of the segment: nothing is stored."""
    COLUMN = "column"
    """In the column `source` or `target` of the set's file."""


class Port:
    """The operand of its target that an edge leads to, where operands differ."""

    OPERAND = 0
    """A factor of `·`, a summand of `+` or `δ`, the minuend of `⊖`, the annotation of `⊗`."""
    SUBTRAHEND = 1
    """The right side of `⊖`: its loss removes nothing."""
    VALUE = 2
    """The value of `⊗`; an aggregate's own inputs are operands."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment: nodes of one kind, label, module, invocation and relation.

    Parameters
    ----------
    name
        Unique in a graph, and readable: ``dealer1#3`` (an invocation), ``dealer1#3/Inventory``
        (tuples of a relation), ``dealer1#3/Inventory.join`` (members), ``dealer1#3/Counts.n``
        (aggregated values). A node's name is the segment's, and ``:`` and its key or ``[ordinal]``;
        of a segment of one node without key, the segment's name alone.
    label
        What is drawn in the node: an operator (``·``, ``+``, ``δ``, ``⊖``, ``⊗``), the name of an
        aggregate, function or module; empty for tokens, which are labelled by their key.
    count
        The number of nodes: they are 0 to count - 1.
    module, invocation, execution
        The module, which of its invocations (from 1), and in which execution of the workflow
        (from 0); None for nodes that belong to no invocation.
    relation
        The relation of the nodes, if they are tuples.
    key
        The key columns of a tuple in the file, in order.
    file
        A Parquet file, relative to the store: row `offset` + i holds the values of node i. None if
        there are none.
    offset
        The row of node 0: small segments share a file.
    """

    name: str
    kind: Kind
    label: str
    count: int
    module: str | None = None
    invocation: int | None = None
    execution: int | None = None
    relation: str | None = None
    key: tuple[str, ...] = ()
    file: str | None = None
    offset: int = 0

    def __post_init__(self) -> None:
        if self.count < 0:
            raise LipstickError(f"Segment {self.name} has {self.count} nodes.")
        if self.key and self.file is None:
            raise LipstickError(f"Segment {self.name} has a key and no values.")


@dataclass(frozen=True, slots=True)
class EdgeSet:
    """Edges from nodes of one segment to nodes of another; several between two nodes count.

    Parameters
    ----------
    source, target
        Names of segments. An edge points from what is used to what it makes.
    count
        The number of edges.
    sources, targets
        The encoding of the ordinals at either end.
    file
        A Parquet file with a column `source`, `target` or both, relative to the store; None if
        neither is a column.
    port
        The operand of the target that the edges are: see :class:`Port`.
    offset
        The row of edge 0; `count` rows from there are the edges.
    """

    source: str
    target: str
    count: int
    sources: Ordinals = Ordinals.COLUMN
    targets: Ordinals = Ordinals.COLUMN
    file: str | None = None
    port: int = Port.OPERAND
    offset: int = 0

    def __post_init__(self) -> None:
        stored = Ordinals.COLUMN in (self.sources, self.targets)
        if stored != (self.file is not None):
            raise LipstickError(
                f"Edges from {self.source} to {self.target}: a file is needed for ordinals in "
                "columns, and only for those."
            )
