"""From the capture of a query to nodes and edges: the operators of the provenance graph.

Per block of the query, for its tuples that the answer was made from:

- rows of a join are `·` of the tuples joined; where columns are dropped or computed, a projection
  `+` of it follows;
- rows that a table function makes are named by it, as a black box is;
- rows of one relation are a projection `+` of its tuple; where all of its columns are kept, they
  are its tuples themselves (FILTER, UNION ALL and ORDER BY make no nodes);
- groups are `δ` of their members; where there are aggregates, a projection `+` of the group
  follows, and beside it stand the aggregates' v-nodes (:mod:`lipstick.workflow.aggregates`);
- the row of an aggregate without GROUP BY is there whatever the input: `+` of the invocation.

- a condition on values that have v-nodes is a node of its own, `[NumAvail > 2]`, made of the row
  and of these, and the row that passed it is `·` of both: a deletion makes it unknown, like a black
  box.

Relations are bags: equal rows are tuples of their own. The absence that EXCEPT, anti and outer
joins ask for makes no nodes: what is there has passed it, whatever is deleted.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 3.2.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from graphquery.model import Kind
from graphquery.values import VALUE_COLUMN
from lipstick.memory.engine import Engine
from lipstick.memory.groups import GroupRows
from lipstick.memory.members import Members
from lipstick.memory.reach import Reached, Referred, reach, references
from lipstick.memory.rows import MemberRows
from lipstick.memory.unions import UnionRows
from lipstick.workflow.aggregates import Grouped, aggregate_nodes
from lipstick.workflow.columns import (
    branch_columns,
    computed_from,
    expression_text,
    keeps_all_columns,
    plain_source,
    table_function,
    union_columns,
)
from lipstick.workflow.errors import RunError
from lipstick.workflow.factors import Factors
from lipstick.workflow.functions import called
from lipstick.workflow.nodes import Nodes, Trace
from rewriter.blocks import Block
from rewriter.interpret import interpret
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Tuples:
    """The tuples of a relation or block.

    Parameters
    ----------
    nodes
        Their p-nodes.
    values
        By column, the v-nodes of its values, where they have some; without a node where a value
        has none.
    """

    nodes: Nodes
    values: Mapping[str, Nodes] = field(default_factory=dict)

    def take(self, rows: Array) -> Tuples:
        """The tuples at some places."""
        values = {column: nodes.take(rows) for column, nodes in self.values.items()}
        return Tuples(self.nodes.take(rows), values)


@dataclass(frozen=True, slots=True)
class Target:
    """What the tuples of a block become.

    Parameters
    ----------
    name
        Of their nodes, behind the invocation's.
    ranks
        The ordinal of each tuple's node.
    relation, key, values
        What they are tuples of, the columns that name them to people, and their values by ordinal,
        which are stored with tuples of a relation.
    columns
        What the block's outputs are called; left out are those called as they are.
    own
        Whether they need nodes of their own even where they are tuples of a source.
    """

    name: str
    ranks: Array
    relation: str | None = None
    key: tuple[str, ...] = ()
    values: pa.Table | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    own: bool = False


def derive(
    trace: Trace,
    engine: Engine,
    positions: Array,
    sources: Mapping[str, Tuples],
    target: Target,
    functions: Collection[str] = (),
) -> Tuples:
    """Add the derivation of a query's answer.

    Parameters
    ----------
    trace
        Where nodes and edges are added.
    engine, positions
        The capture, and the positions of the answer's tuples in its last block.
    sources
        The relations that the query reads, by name: row i is tuple i.
    target
        What the answer's tuples become; its ranks are those of `positions` in order.
    functions
        The black boxes among the functions that the query calls.
    """
    return _Derivation(trace, engine, sources, functions).answer(positions, target)


class _Derivation:
    def __init__(
        self,
        trace: Trace,
        engine: Engine,
        sources: Mapping[str, Tuples],
        functions: Collection[str],
    ) -> None:
        self.trace = trace
        self.engine = engine
        self.functions = functions
        self.sources = {name.lower(): tuples for name, tuples in sources.items()}
        self.found: dict[str, tuple[Reached, Tuples]] = {}

    def answer(self, positions: Array, target: Target) -> Tuples:
        root = self.engine.root
        if any(block.difference is not None for block in self.engine.blocks.values()):
            raise RunError(
                "EXCEPT ALL and INTERSECT ALL have no place in a provenance graph.\n"
                "Use EXCEPT or INTERSECT, or group the rows and count them."
            )
        reached = reach(self.engine, positions)
        places = np.arange(0)
        for name in reversed(reached):
            part = reached[name]
            if name == root.name:
                places = part.place(positions)
                ranks = np.empty(len(positions), dtype=np.int64)
                ranks[places] = target.ranks
                outputs = (output.name for output in root.outputs)
                columns = dict(zip(outputs, self.engine.manifest.names, strict=True))
                own = replace(target, ranks=ranks, columns=columns)
            else:
                own = Target(f"{target.name}.{name}", np.arange(len(part.positions)))
            self.found[name] = part, self.tuples(part, own)
        return self.found[root.name][1].take(places)

    def tuples(self, part: Reached, target: Target) -> Tuples:
        """Add the tuples of a block, and return them in the order of their positions."""
        rows = self.engine.rows(part.block.name)
        if isinstance(rows, UnionRows):
            return self._passed_on(self._union(part, rows, target), target)
        if isinstance(rows, GroupRows):
            return self._groups(part, rows, target)
        assert isinstance(rows, MemberRows)
        return self._rows(part, rows, target)

    # -- unions and rows -------------------------------------------------------------------

    def _union(self, part: Reached, rows: UnionRows, target: Target) -> Tuples:
        branches, inside = rows.places(rows.context)
        branches, inside = branches[part.positions], inside[part.positions]
        nodes = Nodes.none(len(part.positions))
        values: dict[str, Nodes] = {}
        for number, branch in enumerate(part.block.branches):
            mine = np.flatnonzero(branches == number)
            if not len(mine):
                continue
            inner, every = self.found[branch.name]
            tuples = every.take(inner.place(inside[mine]))
            nodes.put(mine, tuples.nodes)
            for output, its in union_columns(part.block, branch):
                if its in tuples.values:
                    name = target.columns.get(output, output)
                    known = values.setdefault(name, Nodes.none(len(part.positions)))
                    known.put(mine, tuples.values[its])
        return Tuples(nodes, values)

    def _passed_on(self, tuples: Tuples, target: Target) -> Tuples:
        """Tuples of a source: as they are, or each behind a `+` of its own."""
        if not target.own:
            return tuples
        pool = self._pool(target, "", "+", final=True)
        self.trace.edges(tuples.nodes, pool, target.ranks)
        return Tuples(Nodes.of(pool, target.ranks), tuples.values)

    def _rows(self, part: Reached, rows: MemberRows, target: Target) -> Tuples:
        factors = self._factors(rows.members, part.members)
        whole = keeps_all_columns(part.block, self.engine.manifest.relations)
        compared = self._compared(rows.members, part.members)
        nodes, own = factors.single, False
        if nodes is None:
            own = whole and not compared
            pool = self._pool(target, "" if own else ".join", "·", final=own)
            self._multiply(factors, pool, target.ranks)
            nodes = Nodes.of(pool, target.ranks)
        values = self._carried(rows, part.members, nodes, target)
        if compared:
            own = whole
            pool = self._pool(target, "" if own else ".where", "·", final=own)
            nodes = self._holding(nodes, compared, target.name, pool, target.ranks)
        if whole:
            found = Tuples(nodes, values)
            return found if own else self._passed_on(found, target)
        label = table_function(part.block, self.functions) or "+"
        pool = self._pool(target, "", label, final=True)
        self.trace.edges(nodes, pool, target.ranks)
        return Tuples(Nodes.of(pool, target.ranks), values)

    def _carried(
        self, rows: MemberRows, chosen: Array, nodes: Nodes, target: Target
    ) -> dict[str, Nodes]:
        """The v-nodes of the columns of rows.

        A column that is taken over keeps those it has. One that is computed from such columns has
        a v-node of its own, named by its expression; that of a black box is named by the function,
        and made of all that its row is.
        """
        found: dict[str, Nodes] = {}
        for output in rows.block.outputs:
            scalar = interpret(output.scalar)
            name = target.columns.get(output.name, output.name)
            column = plain_source(rows.block, scalar)
            if column is not None:
                known = self._values(rows.members, chosen, *column)
                if known is not None:
                    found[name] = known
                continue
            label = expression_text(rows.block, scalar)
            function = called(label, self.functions)
            sources = computed_from(rows.block, scalar)
            parts = [self._values(rows.members, chosen, *source) for source in sources]
            inputs = [part for part in parts if part is not None]
            if function is not None:
                inputs, label = [nodes, *inputs], function
            if inputs:
                found[name] = self._computed(name, label, inputs, target)
        return found

    def _computed(self, column: str, label: str, sources: Sequence[Nodes], target: Target) -> Nodes:
        """V-nodes of a column of rows; those of an inner block have no stored values."""
        values = None
        if target.values is not None:
            values = pa.table({VALUE_COLUMN: target.values.column(column)})
        pool = self.trace.pool(
            f"{target.name}.{column}",
            Kind.VALUE,
            label,
            len(target.ranks),
            values=values,
        )
        for nodes in sources:
            self.trace.edges(nodes, pool, target.ranks)
        return Nodes.of(pool, target.ranks)

    def _values(self, members: Members, chosen: Array, alias: str, name: str) -> Nodes | None:
        """The v-nodes of a column of a source, one per member; None if none has any."""
        parts: list[tuple[Array, Nodes]] = []
        for source, column in branch_columns(members.block, (alias, name)):
            for number, token in enumerate(members.block.tokens):
                nodes = self._source(token.relation).values.get(column)
                if token.alias == source and nodes is not None:
                    rows, places = self._token_rows(members, number, chosen)
                    parts.append((rows, nodes.take(places)))
        for block, positions in self._looked_up(members, chosen, alias):
            part, tuples = self.found.get(block.name, (None, None))
            nodes = None if tuples is None else tuples.values.get(name)
            if part is not None and nodes is not None:
                rows = np.flatnonzero(positions >= 0)
                parts.append((rows, nodes.take(part.place(positions[rows]))))
        if not parts:
            return None
        found = Nodes.none(len(chosen))
        for rows, nodes in parts:
            found.put(rows, nodes)
        return found

    def _looked_up(
        self, members: Members, chosen: Array, alias: str
    ) -> Iterator[tuple[Block, Array]]:
        """Yield the block that is looked up under an alias, and its tuple for each member."""
        for lookup in members.lookups:
            if lookup.alias == alias:
                yield lookup.block, members.refer(lookup, chosen)
        outer = members.outer_lookups.get(alias)
        if outer is not None:
            yield outer.asked.block, outer.find(chosen, members.base)

    # -- groups ----------------------------------------------------------------------------

    def _groups(self, part: Reached, rows: GroupRows, target: Target) -> Tuples:
        block, owners = part.block, target.ranks[part.owners]
        factors = self._factors(rows.members, part.members)
        order = factors.order(owners)
        members, owners, factors = part.members[order], owners[order], factors.take(order)
        nodes = factors.single
        if nodes is None:
            pool = self.trace.pool(f"{target.name}.join", Kind.DERIVED, "·", len(members))
            self._multiply(factors, pool, np.arange(len(members)))
            nodes = Nodes.of(pool, np.arange(len(members)))
        compared = self._compared(rows.members, members)
        if compared:
            pool = self.trace.pool(f"{target.name}.where", Kind.DERIVED, "·", len(members))
            nodes = self._holding(nodes, compared, target.name, pool, np.arange(len(members)))
        held = "·" if block.having else "+"
        group = None
        if not block.keys:
            pool = self._pool(target, "", held, final=True)
            self.trace.from_invocation(pool, len(target.ranks))
        elif block.aggregates:
            group = self._pool(target, ".group", "δ", final=False)
            self.trace.edges(nodes, group, owners)
            pool = self._pool(target, "", held, final=True)
            self.trace.edges(Nodes.of(group, target.ranks), pool, target.ranks)
        else:
            pool = self._pool(target, "", "δ", final=True)
            self.trace.edges(nodes, pool, owners)
        groups = Grouped(rows, part.positions, target.ranks, members, owners, nodes)
        values, conditions = aggregate_nodes(
            self.trace,
            target.name,
            target.columns,
            groups,
            self.functions,
            lambda alias, name: self._values(rows.members, members, alias, name),
        )
        for number, (label, inputs) in enumerate(conditions, start=1):
            made = self._pool(target, f".condition{number}", label, final=False)
            if group is None:
                self.trace.from_invocation(made, len(target.ranks))
            else:
                self.trace.edges(Nodes.of(group, target.ranks), made, target.ranks)
            for values_of in inputs:
                self.trace.edges(values_of, made, target.ranks)
            self.trace.edges(Nodes.of(made, target.ranks), pool, target.ranks)
        return Tuples(Nodes.of(pool, target.ranks), values)

    # -- conditions ------------------------------------------------------------------------

    def _compared(self, members: Members, chosen: Array) -> list[tuple[str, list[Nodes]]]:
        """The conditions on values that have v-nodes: what they are called, and the v-nodes."""
        block = members.block
        own = () if block.core is None else block.core.predicates
        found = []
        for scalar in map(interpret, (*own, *block.conditions)):
            parts = [self._values(members, chosen, *c) for c in computed_from(block, scalar)]
            inputs = [part for part in parts if part is not None]
            if inputs:
                found.append((f"[{expression_text(block, scalar)}]", inputs))
        return found

    def _holding(
        self,
        nodes: Nodes,
        compared: Sequence[tuple[str, list[Nodes]]],
        name: str,
        pool: int,
        ranks: Array,
    ) -> Nodes:
        """Rows that have passed conditions: each a product with the conditions."""
        self.trace.edges(nodes, pool, ranks)
        for number, (label, inputs) in enumerate(compared, start=1):
            made = self.trace.pool(f"{name}.condition{number}", Kind.DERIVED, label, len(ranks))
            for part in (nodes, *inputs):
                self.trace.edges(part, made, ranks)
            self.trace.edges(Nodes.of(made, ranks), pool, ranks)
        return Nodes.of(pool, ranks)

    # -- members ---------------------------------------------------------------------------

    def _pool(self, target: Target, suffix: str, label: str, *, final: bool) -> int:
        count = len(target.ranks)
        name = target.name + suffix
        if not final:
            return self.trace.pool(name, Kind.DERIVED, label, count)
        return self.trace.pool(
            name,
            Kind.DERIVED,
            label,
            count,
            relation=target.relation,
            values=None if target.relation is None else target.values,
            key=target.key,
        )

    def _source(self, relation: str) -> Tuples:
        return self.sources[relation.lower()]

    def _token_rows(self, members: Members, number: int, chosen: Array) -> tuple[Array, Array]:
        """The members that used a scan, and the row of the relation that each used."""
        assert members.dataset is not None
        (column,) = members.block.tokens[number].columns
        tokens = members.dataset.take(column, chosen)
        used = tokens.is_valid().to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(used)
        return rows, tokens.drop_null().to_numpy(zero_copy_only=False).astype(np.int64)

    def _factors(self, members: Members, chosen: Array) -> Factors:
        """What members are made of: tuples of relations and of other blocks."""
        parts: list[tuple[Array, Nodes]] = []
        for number, token in enumerate(members.block.tokens):
            rows, places = self._token_rows(members, number, chosen)
            parts.append((rows, self._source(token.relation).nodes.take(places)))
        for referred in references(members, chosen):
            if not referred.negated:
                parts.append(self._referred(referred))
        return Factors(len(chosen), tuple(parts))

    def _referred(self, referred: Referred) -> tuple[Array, Nodes]:
        rows = np.flatnonzero(referred.positions >= 0)
        if not len(rows):
            return rows, Nodes.concatenated([])
        part, tuples = self.found[referred.block]
        return rows, tuples.nodes.take(part.place(referred.positions[rows]))

    def _multiply(self, factors: Factors, pool: int, targets: Array) -> None:
        """Add the edges of products; one of nothing is there because the invocation is."""
        for rows, nodes in factors.parts:
            self.trace.edges(nodes, pool, targets[rows])
        empty = np.flatnonzero(factors.counts == 0)
        m_node = Nodes.of(self.trace.invocation, np.zeros(len(empty), dtype=np.int64))
        self.trace.edges(m_node, pool, targets[empty])
