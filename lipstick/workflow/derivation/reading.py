"""The factors of block members, the nodes that scalars over them read, and the nodes of conditions.

A condition on values that have v-nodes is a node of its own, `[NumAvail > 2]`, made of the row and
of these, and the row that passed it is `·` of both: a deletion that changes a value makes it
unknown, like a black box. Where a value decides about several rows at once (the group a row falls
into, the rows that LIMIT shows), they all depend on one node more, `+` of all that values decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import pyarrow as pa

from graphquery.model import Kind
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.index import TokenIndex
from lipstick.engines.memory.keys import KeyTable
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.reach import Reached, Referred, references
from lipstick.engines.memory.store import every
from lipstick.workflow.derivation.blocks import (
    Column,
    branch_columns,
    computed_from,
    expression_text,
    predicates,
)
from lipstick.workflow.derivation.nodes import InvocationTrace, Nodes
from rewriter.blocks import Block, Match, MatchKind
from rewriter.blocks import Kind as BlockKind
from rewriter.interpret import interpret
from semiring.base import Array


class MemberFactors:
    """The factors of some members.

    Parameters
    ----------
    count
        The number of members.
    parts
        Per factor the members that have it, and its node in each.
    """

    def __init__(self, count: int, parts: tuple[tuple[Array, Nodes], ...]) -> None:
        self._count = count
        self.parts = parts
        self.counts = np.zeros(count, dtype=np.int64)
        for rows, _ in parts:
            self.counts[rows] += 1

    @property
    def single(self) -> Nodes | None:
        """The nodes of members if each has exactly one factor, else None."""
        if not bool((self.counts == 1).all()):
            return None
        rows = [rows for rows, _ in self.parts]
        if not rows:
            return Nodes.concatenated([])
        nodes = Nodes.concatenated([nodes for _, nodes in self.parts])
        return nodes.take(np.argsort(np.concatenate(rows), kind="stable"))

    def order(self, first: Array) -> Array:
        """Return the order of the members by an integer each, then by their factors."""
        keys = []
        for rows, nodes in self.parts:
            for values in (nodes.ordinals, nodes.pools):
                column = np.full(self._count, -1, dtype=np.int64)
                column[rows] = values
                keys.append(column)
        return np.lexsort((*keys, first))

    def take(self, order: Array) -> MemberFactors:
        """Return the factors of the members in a different order."""
        places = np.empty(self._count, dtype=np.int64)
        places[order] = np.arange(self._count)
        parts = []
        for rows, nodes in self.parts:
            moved = places[rows]
            by_place = np.argsort(moved, kind="stable")
            parts.append((moved[by_place], nodes.take(by_place)))
        return MemberFactors(self._count, tuple(parts))

    def multiply(self, trace: InvocationTrace, pool: int, targets: Array) -> None:
        """Add the edges of products; an empty product depends on the invocation."""
        for rows, nodes in self.parts:
            trace.edges(nodes, pool, targets[rows])
        empty = np.flatnonzero(self.counts == 0)
        m_node = Nodes.of(trace.invocation, np.zeros(len(empty), dtype=np.int64))
        trace.edges(m_node, pool, targets[empty])


@dataclass(frozen=True, slots=True)
class TupleNodes:
    """The tuples of a relation or block.

    Parameters
    ----------
    nodes
        Their p-nodes.
    values
        By column, the v-nodes of its values, where they have some; without a node where a value
        has none.
    keys
        The tuples' tokens; None: the token of row i is i.
    """

    nodes: Nodes
    values: Mapping[str, Nodes] = field(default_factory=dict)
    keys: KeyTable | None = None

    def take(self, rows: Array) -> TupleNodes:
        """Return the tuples at some positions."""
        values = {column: nodes.take(rows) for column, nodes in self.values.items()}
        return TupleNodes(self.nodes.take(rows), values)


@dataclass(frozen=True, slots=True)
class BlockTuples:
    """The tuples of a block, before LIMIT cuts them.

    Parameters
    ----------
    order
        The nodes that their order depends on, tuple by tuple.
    copies
        The nodes that the multiplicity of each tuple depends on.
    """

    tuples: TupleNodes
    order: Sequence[Nodes] = ()
    copies: Sequence[Nodes] = ()


class QueryReading:
    """The tuples of relations, and of the blocks that have nodes so far.

    Parameters
    ----------
    sources
        The relations that the query reads, by name: row i is tuple i.
    """

    def __init__(self, engine: Engine, sources: Mapping[str, TupleNodes]) -> None:
        self._engine = engine
        self._sources = {name.lower(): tuples for name, tuples in sources.items()}
        self.found: dict[str, tuple[Reached, TupleNodes]] = {}

    def source(self, relation: str) -> TupleNodes:
        """Return the tuples of a relation."""
        return self._sources[relation.lower()]

    def at(self, members: Members, chosen: Array) -> MemberReading:
        """Return the reading of some members of a block."""
        return MemberReading(self, members, chosen)

    def tuples(self, block: Block, positions: Array) -> tuple[Array, TupleNodes]:
        """Return the tuples of a block at some positions (-1 for none), and a mask of present
        ones.
        """
        rows = np.flatnonzero(positions >= 0)
        if block.name not in self.found or not len(rows):
            return rows[:0], TupleNodes(Nodes.concatenated([]))
        part, tuples = self.found[block.name]
        return rows, tuples.take(part.place(positions[rows]))

    def single(self, lookup: Match, count: int) -> Array:
        """Return the position of a scalar subquery's tuple, for each of `count` rows, or -1."""
        there = np.flatnonzero(self._engine.base(lookup.block.name).present)
        return np.repeat(there[0] if len(there) else -1, count)

    def scalars(self, block: Block, columns: Iterable[Column], count: int) -> list[Nodes]:
        """Return the nodes behind scalar subqueries among some columns, for `count` rows each."""
        nodes = []
        for lookup in block.subqueries:
            names = [name for alias, name in columns if alias == lookup.alias]
            if not names:
                continue
            rows, tuples = self.tuples(lookup.block, self.single(lookup, count))
            parts = [tuples.values[name] for name in names if name in tuples.values]
            if not always_there(lookup.block):
                parts.append(tuples.nodes)
            nodes += [_spread(part, rows, count) for part in parts]
        return nodes


class MemberReading:
    """The nodes that some members of a block read."""

    def __init__(self, reading: QueryReading, members: Members, chosen: Array) -> None:
        self._reading = reading
        self.members = members
        self.chosen = chosen
        self.block = members.block

    # -- factors ---------------------------------------------------------------------------

    def factors(self) -> MemberFactors:
        """Return the factors of the members: tuples of relations and of other blocks."""
        parts: list[tuple[Array, Nodes]] = []
        for number, token in enumerate(self.block.tokens):
            rows, places = self._token_rows(number)
            parts.append((rows, self._reading.source(token.relation).nodes.take(places)))
        for referred in references(self.members, self.chosen):
            parts.append(self._referred(referred))
        return MemberFactors(len(self.chosen), tuple(parts))

    def _token_rows(self, number: int) -> tuple[Array, Array]:
        """Return the members that used a scan, and the relation's row that each used."""
        token, dataset = self.block.tokens[number], self.members.dataset
        assert dataset is not None
        columns = [dataset.take(column, self.chosen) for column in token.columns]
        absent = TokenIndex(columns).absent
        rows = np.arange(len(self.chosen)) if absent is None else np.flatnonzero(~absent)
        used = [column.take(pa.array(rows)) for column in columns]
        keys = self._reading.source(token.relation).keys
        if keys is not None:
            return rows, keys.find(used, len(rows))
        (numbers,) = used
        return rows, numbers.to_numpy(zero_copy_only=False).astype(np.int64)

    def _referred(self, referred: Referred) -> tuple[Array, Nodes]:
        rows = np.flatnonzero(referred.positions >= 0)
        if not len(rows):
            return rows, Nodes.concatenated([])
        part, tuples = self._reading.found[referred.block]
        return rows, tuples.nodes.take(part.place(referred.positions[rows]))

    # -- values ----------------------------------------------------------------------------

    def values(self, alias: str, name: str) -> Nodes | None:
        """Return the v-nodes of a column, one per member, or None if none has any."""
        parts: list[tuple[Array, Nodes]] = []
        for source, column in branch_columns(self.block, (alias, name)):
            for number, token in enumerate(self.block.tokens):
                nodes = self._reading.source(token.relation).values.get(column)
                if token.alias == source and nodes is not None:
                    rows, places = self._token_rows(number)
                    parts.append((rows, nodes.take(places)))
        if match := self.block.by_alias.get(alias):
            rows, tuples = self._reading.tuples(match.block, self._places(match))
            if name in tuples.values:
                parts.append((rows, tuples.values[name]))
        if not parts:
            return None
        value_nodes = Nodes.none(len(self.chosen))
        for rows, nodes in parts:
            value_nodes.put(rows, nodes)
        return value_nodes

    def inputs(self, columns: Iterable[Column]) -> list[Nodes]:
        """Return the nodes on which reads of some columns depend, beside the members themselves.

        They are v-nodes, and the tuples in which values are looked up: without its tuple a value is
        NULL.
        """
        columns = tuple(columns)
        nodes_read = [self.values(*column) for column in columns]
        nodes_read += self.decided(dict.fromkeys(alias for alias, _ in columns))
        return [nodes for nodes in nodes_read if nodes is not None]

    def decided(self, aliases: Iterable[str]) -> list[Nodes]:
        """Return the tuples that only supply looked-up values, and the nodes that decide about
        them.
        """
        deciding_nodes: list[Nodes] = []
        count = len(self.chosen)
        for alias in aliases:
            match = self.block.by_alias.get(alias)
            if match is None or match.factor:
                continue
            if match.kind is MatchKind.AT_MOST_ONE or not always_there(match.block):
                rows, tuples = self._reading.tuples(match.block, self._places(match))
                deciding_nodes.append(_spread(tuples.nodes, rows, count))
                deciding_nodes += self.inputs(sides(self.block, match))
        return deciding_nodes

    def _places(self, match: Match) -> Array:
        """Return the positions of the tuples that the members match, or -1."""
        if match.kind is MatchKind.ONE:
            return self._reading.single(match, len(self.chosen))
        if match.kind is MatchKind.EACH:
            return self.members.references.of(match, self.chosen)
        return self.members.lookups[match.alias].find(self.chosen, self.members.base)


def sides(block: Block, finder: Match) -> tuple[Column, ...]:
    """Return the columns that determine the tuple of a block that members look up."""
    read = (computed_from(block, interpret(scalar)) for scalar in finder.scalars())
    return tuple(dict.fromkeys(chain.from_iterable(read)))


def always_there(block: Block) -> bool:
    """Return True if a block has exactly one tuple after any deletion."""
    return (
        block.kind is BlockKind.GROUP and not block.keys and not block.having and not block.limited
    )


def _spread(nodes: Nodes, rows: Array, count: int) -> Nodes:
    """Return nodes at some of `count` positions, and none elsewhere."""
    spread = Nodes.none(count)
    spread.put(rows, nodes)
    return spread


Compared = Sequence[tuple[str, list[Nodes]]]
"""Conditions: the text of each, and the nodes of the values that it reads."""


def compared(reading: MemberReading) -> Compared:
    """Return the conditions of members on values that a deletion may change."""
    block, core = reading.block, reading.block.core
    generators = () if core is None else core.generators
    scalars = [
        *predicates(core),
        *block.conditions,
        *(generator.argument for generator in generators),
    ]
    conditions = [
        (f"[{expression_text(block, scalar)}]", reading.inputs(computed_from(block, scalar)))
        for scalar in map(interpret, scalars)
    ]
    for membership in block.factors:
        texts = (expression_text(block, interpret(left)) for left, _ in membership.pairs)
        conditions.append((f"[{', '.join(texts)} IN]", reading.inputs(sides(block, membership))))
    return changing(conditions)


def deciding_keys(block: Block) -> list[Column]:
    """Return the columns of a grouping's keys that no condition of its members reads.

    A member with a changed value would have to pass these conditions again.
    """
    condition_columns = {
        column
        for scalar in (*predicates(block.core), *block.conditions)
        for column in computed_from(block, interpret(scalar))
    }
    keys = [column for _, key in block.keys for column in computed_from(block, interpret(key))]
    return [column for column in dict.fromkeys(keys) if column not in condition_columns]


def changing(conditions: Compared) -> Compared:
    """Return the conditions that read some values."""
    return [(label, inputs) for label, inputs in conditions if inputs]


def holding(
    trace: InvocationTrace, nodes: Nodes, conditions: Compared, name: str, pool: int, ranks: Array
) -> Nodes:
    """Return rows, as nodes of a pool, that have passed conditions: products with the
    conditions.
    """
    trace.edges(nodes, pool, ranks)
    for number, (label, inputs) in enumerate(conditions, start=1):
        condition = trace.pool(f"{name}.condition{number}", Kind.DERIVED, label, len(ranks))
        for part in (nodes, *inputs):
            trace.edges(part, condition, ranks)
        trace.edges(Nodes.of(condition, ranks), pool, ranks)
    return Nodes.of(pool, ranks)


def passed(trace: InvocationTrace, nodes: Nodes, conditions: Compared, name: str) -> Nodes:
    """Return rows that have passed conditions; unchanged without conditions."""
    if not conditions:
        return nodes
    pool = trace.pool(f"{name}.where", Kind.DERIVED, "·", len(nodes))
    return holding(trace, nodes, conditions, name, pool, every(len(nodes)))


def settled(
    trace: InvocationTrace, name: str, label: str, inputs: Sequence[Nodes]
) -> tuple[int, int]:
    """Add nodes for the decisions of values, per row and for all rows, and return their pools."""
    count = len(inputs[0])
    pool = trace.pool(name, Kind.DERIVED, label, count)
    for nodes in inputs:
        trace.edges(nodes, pool, every(count))
    together = trace.pool(f"{name}.all", Kind.DERIVED, "+", 1)
    trace.edges(Nodes.of(pool, every(count)), together, np.zeros(count, dtype=np.int64))
    return pool, together


def grouped_by(
    trace: InvocationTrace, nodes: Nodes, keys: Sequence[Nodes], name: str
) -> tuple[Nodes, int]:
    """Return members of groups with changeable keys, and a node of all the keys.

    Each member is in its group because of its keys, and in another group once they change: any of
    the groups may then have different members.
    """
    pools = settled(trace, f"{name}.key", "[GROUP BY]", keys)
    count = every(len(nodes))
    pool = trace.pool(f"{name}.member", Kind.DERIVED, "·", len(nodes))
    trace.edges(nodes, pool, count)
    trace.edges(Nodes.of(pools[0], count), pool, count)
    return Nodes.of(pool, count), pools[1]


def depend(trace: InvocationTrace, pool: int, ranks: Array, single: Sequence[int]) -> None:
    """Make nodes of a pool depend on pools of one node."""
    for single_pool in single:
        trace.edges(Nodes.of(single_pool, np.zeros_like(ranks)), pool, ranks)
