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

- values of window functions are v-nodes beside the rows (:mod:`lipstick.workflow.window_nodes`);
- what values decide about rows has nodes of its own (:mod:`lipstick.workflow.holding`): conditions,
  what rows are grouped by, and which of them LIMIT shows;
- rows of EXCEPT ALL are `·` of `δ` of the members of the left side and of how often they are there,
  those of INTERSECT ALL also of `δ` of the members of the right side.

Relations are bags: equal rows are tuples of their own. The absence that EXCEPT, anti and outer
joins ask for makes no nodes: what is there has passed it, whatever is deleted.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 3.2.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from graphquery.model import Kind
from lipstick.memory.engine import Engine
from lipstick.memory.groups import GroupRows
from lipstick.memory.reach import Reached, reach
from lipstick.memory.rows import MemberRows
from lipstick.memory.store import every
from lipstick.memory.unions import UnionRows
from lipstick.workflow.aggregates import Grouped, aggregate_nodes
from lipstick.workflow.columns import (
    branch_outputs,
    computed_from,
    expression_text,
    keeps_all_columns,
    table_function,
)
from lipstick.workflow.deciding import deciding, is_cut
from lipstick.workflow.factors import Factors
from lipstick.workflow.holding import (
    changing,
    compared,
    deciding_keys,
    depend,
    grouped_by,
    holding,
    passed,
    settled,
)
from lipstick.workflow.nodes import Nodes, Trace
from lipstick.workflow.reading import MemberReading, Reading, Tuples
from lipstick.workflow.row_values import Target, columns_of, computed, sorted_by
from rewriter.blocks import UNION
from rewriter.interpret import Interpreted, interpret
from semiring.base import Array


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


@dataclass(frozen=True, slots=True)
class _Made:
    """The tuples of a block, before LIMIT cuts them.

    Parameters
    ----------
    order
        The nodes that their order depends on, tuple by tuple.
    copies
        Those that it depends on how often each tuple is there.
    """

    tuples: Tuples
    order: Sequence[Nodes] = ()
    copies: Sequence[Nodes] = ()


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
        self.reading = Reading(engine, sources)

    def answer(self, positions: Array, target: Target) -> Tuples:
        root = self.engine.root
        reached = reach(
            self.engine, positions, scalars=True, further=partial(deciding, self.reading)
        )
        for name in reversed(reached):
            part = reached[name]
            if name == root.name:
                return self._root(part, positions, target)
            inner = Target(f"{target.name}.{name}", every(len(part.positions)))
            if is_cut(self.reading, self.engine.rows(name)):
                derived = self._derived_tuples(part, replace(inner, name=f"{inner.name}.all"))
                tuples = self._shown(derived.tuples, self._limits(part, derived, inner.name), inner)
            else:
                tuples = self._derived_tuples(part, inner).tuples
            self.reading.found[name] = part, tuples
        raise AssertionError(f"{root.name} is the last block")

    def _root(self, part: Reached, positions: Array, target: Target) -> Tuples:
        """Add the tuples of the answer, in the order of some positions."""
        outputs = (output.name for output in part.block.outputs)
        columns = dict(zip(outputs, self.engine.manifest.names, strict=True))
        places = part.place(positions)
        rows = self.engine.rows(part.block.name)
        shown = len(part.positions) == len(positions) and not part.block.copies
        if shown and not is_cut(self.reading, rows):
            ranks = np.empty(len(positions), dtype=np.int64)
            ranks[places] = target.ranks
            derived = self._derived_tuples(part, replace(target, ranks=ranks, columns=columns))
            return derived.tuples.take(places)
        # Tuples that are not shown decide about those that are.
        every_one = Target(f"{target.name}.all", every(len(part.positions)), columns=columns)
        derived = self._derived_tuples(part, every_one)
        single = self._limits(part, derived, target.name)
        copies = [nodes.take(places) for nodes in derived.copies]
        return self._shown(derived.tuples.take(places), single, target, copies)

    def _derived_tuples(self, part: Reached, target: Target) -> _Made:
        """Add the tuples of a block, and return them in the order of their positions."""
        rows = self.engine.rows(part.block.name)
        if isinstance(rows, UnionRows):
            tuples, order = self._union(part, rows, target)
            return _Made(self._passed_on(tuples, target), order)
        if isinstance(rows, GroupRows):
            return self._groups(part, rows, target)
        assert isinstance(rows, MemberRows)
        return self._rows(part, rows, target)

    # -- limits ----------------------------------------------------------------------------

    def _limits(self, part: Reached, derived: _Made, name: str) -> list[int]:
        """Pools of one node each: what decides which tuples LIMIT shows."""
        block, pools = part.block, []
        if derived.order:
            pools.append(settled(self.trace, f"{name}.order", "[ORDER BY]", derived.order)[1])
        if block.offset:
            last = None if block.limit is None else block.offset + block.limit
            before = self.engine.base(block.name).sequence[:last]
            pool = self.trace.pool(f"{name}.offset", Kind.DERIVED, "[OFFSET]", 1)
            nodes = derived.tuples.nodes.take(part.place(before))
            self.trace.edges(nodes, pool, np.zeros(len(nodes), dtype=np.int64))
            pools.append(pool)
        return pools

    def _shown(
        self,
        tuples: Tuples,
        single: Sequence[int],
        target: Target,
        copies: Sequence[Nodes] = (),
    ) -> Tuples:
        """Tuples that are shown, so often, because of all that decides so."""
        if not single and not copies:
            return self._passed_on(tuples, replace(target, own=True))
        pool = self._pool(target, "", "·", final=True)
        self.trace.edges(tuples.nodes, pool, target.ranks)
        depend(self.trace, pool, target.ranks, single)
        if copies:
            often = self._pool(target, ".copies", "[COPIES]", final=False)
            for nodes in copies:
                self.trace.edges(nodes, often, target.ranks)
            self.trace.edges(Nodes.of(often, target.ranks), pool, target.ranks)
        return Tuples(Nodes.of(pool, target.ranks), tuples.values)

    # -- unions and rows -------------------------------------------------------------------

    def _union(
        self, part: Reached, rows: UnionRows, target: Target
    ) -> tuple[Tuples, Sequence[Nodes]]:
        branches, inside = rows.places(rows.context)
        branches, inside = branches[part.positions], inside[part.positions]
        count = len(part.positions)
        nodes = Nodes.none(count)
        values: dict[str, Nodes] = {}
        for number, branch in enumerate(part.block.branches):
            of_branch = np.flatnonzero(branches == number)
            positions, tuples = self.reading.tuples(branch, inside[of_branch])
            nodes.put(of_branch[positions], tuples.nodes)
            for column, its in branch_outputs(part.block, branch):
                if its in tuples.values:
                    known = values.setdefault(column, Nodes.none(count))
                    known.put(of_branch[positions], tuples.values[its])

        def inputs(scalar: Interpreted) -> list[Nodes]:
            of_union = [values[c] for alias, c in scalar.columns if alias == UNION and c in values]
            return [*of_union, *self.reading.scalars(part.block, scalar.columns, count)]

        texts = [(expression_text(part.block, s), s) for s in map(interpret, part.block.having)]
        conditions = changing([(f"[{text}]", inputs(scalar)) for text, scalar in texts])
        nodes = passed(self.trace, nodes, conditions, target.name)
        columns: dict[str, Nodes] = {}
        for output in part.block.outputs:
            scalar = interpret(output.scalar)
            name = target.columns.get(output.name, output.name)
            if scalar.column is not None and scalar.column[0] == UNION:
                if scalar.column[1] in values:
                    columns[name] = values[scalar.column[1]]
            elif made_of := inputs(scalar):
                label = expression_text(part.block, scalar)
                columns[name] = computed(self.trace, name, label, made_of, target)
        order = [interpret(key.scalar) for key in part.block.order]
        return Tuples(nodes, columns), [each for scalar in order for each in inputs(scalar)]

    def _passed_on(self, tuples: Tuples, target: Target) -> Tuples:
        """Tuples of a source: as they are, or each behind a `+` of its own."""
        if not target.own:
            return tuples
        pool = self._pool(target, "", "+", final=True)
        self.trace.edges(tuples.nodes, pool, target.ranks)
        return Tuples(Nodes.of(pool, target.ranks), tuples.values)

    def _rows(self, part: Reached, rows: MemberRows, target: Target) -> _Made:
        block, reading = part.block, self.reading.at(rows.members, part.members)
        factors = reading.factors()
        whole = keeps_all_columns(block, self.engine.manifest.relations)
        conditions = compared(reading)
        nodes, is_final = factors.single, False
        if nodes is None:
            is_final = whole and not conditions
            pool = self._pool(target, "" if is_final else ".join", "·", final=is_final)
            self._multiply(factors, pool, target.ranks)
            nodes = Nodes.of(pool, target.ranks)
        if conditions:
            is_final = whole
            pool = self._pool(target, "" if is_final else ".where", "·", final=is_final)
            nodes = holding(self.trace, nodes, conditions, target.name, pool, target.ranks)
        values = columns_of(self.trace, rows, reading, nodes, target, self.functions)
        order = sorted_by(self.trace, rows, reading, nodes, target) if block.limited else []
        counts = [c for count in block.copies for c in computed_from(block, interpret(count))]
        copies = reading.inputs(dict.fromkeys(counts))
        if whole:
            tuples = Tuples(nodes, values)
            return _Made(tuples if is_final else self._passed_on(tuples, target), order, copies)
        label = table_function(block, self.functions) or "+"
        pool = self._pool(target, "", label, final=True)
        self.trace.edges(nodes, pool, target.ranks)
        return _Made(Tuples(Nodes.of(pool, target.ranks), values), order, copies)

    # -- groups ----------------------------------------------------------------------------

    def _groups(self, part: Reached, rows: GroupRows, target: Target) -> _Made:
        block, owners = part.block, target.ranks[part.owners]
        factors = self.reading.at(rows.members, part.members).factors()
        order = factors.order(owners)
        members, owners = part.members[order], owners[order]
        reading = self.reading.at(rows.members, members)
        nodes = self._member_nodes(factors.take(order), reading, target.name)
        together: list[int] = []
        if decided := reading.inputs(deciding_keys(block)):
            nodes, key_pool = grouped_by(self.trace, nodes, decided, target.name)
            together = [key_pool]
        held = "·" if block.having or together else "+"
        group = None
        if not block.keys:
            pool = self._pool(target, "", held, final=True)
            self.trace.from_invocation(pool, len(target.ranks))
        elif block.difference is not None:
            group, pool = self._difference(rows, members, owners, nodes, target)
        elif block.aggregates or together:
            group = self._pool(target, ".group", "δ", final=False)
            self.trace.edges(nodes, group, owners)
            pool = self._pool(target, "", held, final=True)
            self.trace.edges(Nodes.of(group, target.ranks), pool, target.ranks)
        else:
            pool = self._pool(target, "", "δ", final=True)
            self.trace.edges(nodes, pool, owners)
        depend(self.trace, pool, target.ranks, together)
        groups = Grouped(rows, part.positions, target.ranks, members, owners, nodes, reading)
        values = aggregate_nodes(
            self.trace,
            target.name,
            target.columns,
            groups,
            self.functions,
            lambda columns: self.reading.scalars(block, columns, len(target.ranks)),
        )
        for number, (label, inputs) in enumerate(values.conditions, start=1):
            condition = self._pool(target, f".condition{number}", label, final=False)
            if group is None:
                self.trace.from_invocation(condition, len(target.ranks))
            else:
                self.trace.edges(Nodes.of(group, target.ranks), condition, target.ranks)
            for values_of in inputs:
                self.trace.edges(values_of, condition, target.ranks)
            self.trace.edges(Nodes.of(condition, target.ranks), pool, target.ranks)
        return _Made(Tuples(Nodes.of(pool, target.ranks), values.columns), values.order)

    def _difference(
        self, rows: GroupRows, members: Array, owners: Array, nodes: Nodes, target: Target
    ) -> tuple[int, int]:
        """The groups of a bag difference: not there without members of the left side.

        Those of what both sides have are not there without members of the right side, either.
        """
        assert rows.block.difference is not None
        sides_of = rows.sides(members)
        pools = []
        for side, name in enumerate((".group", ".other")):
            if side and not rows.block.difference.common:
                continue
            of_side = np.flatnonzero(sides_of == side)
            pools.append(self._pool(target, name, "δ", final=False))
            self.trace.edges(nodes.take(of_side), pools[-1], owners[of_side])
        pool = self._pool(target, "", "·", final=True)
        for each in pools:
            self.trace.edges(Nodes.of(each, target.ranks), pool, target.ranks)
        return pools[0], pool

    def _member_nodes(self, factors: Factors, reading: MemberReading, name: str) -> Nodes:
        """The p-nodes of members that are no tuples themselves."""
        nodes, count = factors.single, len(factors.counts)
        if nodes is None:
            pool = self.trace.pool(f"{name}.join", Kind.DERIVED, "·", count)
            self._multiply(factors, pool, every(count))
            nodes = Nodes.of(pool, every(count))
        return passed(self.trace, nodes, compared(reading), name)

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

    def _multiply(self, factors: Factors, pool: int, targets: Array) -> None:
        """Add the edges of products; one of nothing is there because the invocation is."""
        for rows, nodes in factors.parts:
            self.trace.edges(nodes, pool, targets[rows])
        empty = np.flatnonzero(factors.counts == 0)
        m_node = Nodes.of(self.trace.invocation, np.zeros(len(empty), dtype=np.int64))
        self.trace.edges(m_node, pool, targets[empty])
