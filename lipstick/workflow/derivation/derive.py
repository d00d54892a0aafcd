"""From the capture of a query to nodes and edges: the operators of the provenance graph.

Per block of the query, for its tuples that the answer was made from:

- rows of a join are `·` of the tuples joined; where columns are dropped or computed, a projection
  `+` of it follows;
- rows that a table function makes are named by it, as a black box is;
- rows of one relation are a projection `+` of its tuple; where all of its columns are kept, they
  are its tuples themselves (FILTER, UNION ALL and ORDER BY make no nodes);
- groups are `δ` of their members; where there are aggregates, a projection `+` of the group
  follows, and beside it stand the aggregates' v-nodes
  (:mod:`lipstick.workflow.derivation.aggregates`);
- the row of an aggregate without GROUP BY is there whatever the input: `+` of the invocation.

- values of window functions are v-nodes beside the rows
  (:mod:`lipstick.workflow.derivation.window_nodes`);
- what values decide about rows has nodes of its own (:mod:`lipstick.workflow.derivation.holding`):
  conditions, what rows are grouped by, and which of them LIMIT shows;
- rows of EXCEPT ALL are `·` of `δ` of the members of the left side and of how often they are there,
  those of INTERSECT ALL also of `δ` of the members of the right side.

Relations are bags: equal rows are tuples of their own. The absence that EXCEPT, anti and outer
joins ask for makes no nodes: what is there has passed it, whatever is deleted.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 3.2.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from graphquery.model import Kind
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.member_rows import MemberRows
from lipstick.engines.memory.reach import Reached, reach
from lipstick.engines.memory.store import every
from lipstick.engines.memory.unions import UnionRows
from lipstick.workflow.derivation.columns import (
    branch_outputs,
    computed_from,
    expression_text,
    keeps_all_columns,
    table_function,
)
from lipstick.workflow.derivation.deciding import deciding, is_cut
from lipstick.workflow.derivation.group_tuples import group_tuples
from lipstick.workflow.derivation.holding import (
    changing,
    compared,
    depend,
    holding,
    passed,
    settled,
)
from lipstick.workflow.derivation.nodes import Nodes, Trace
from lipstick.workflow.derivation.reading import BlockTuples, Reading, Tuples
from lipstick.workflow.derivation.row_values import (
    Target,
    columns_of,
    computed,
    sorted_by,
    tuple_pool,
)
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

    def _derived_tuples(self, part: Reached, target: Target) -> BlockTuples:
        """Add the tuples of a block, and return them in the order of their positions."""
        rows = self.engine.rows(part.block.name)
        if isinstance(rows, UnionRows):
            tuples, order = self._union(part, rows, target)
            return BlockTuples(self._passed_on(tuples, target), order)
        if isinstance(rows, GroupRows):
            return group_tuples(self.trace, self.reading, self.functions, part, rows, target)
        assert isinstance(rows, MemberRows)
        return self._rows(part, rows, target)

    # -- limits ----------------------------------------------------------------------------

    def _limits(self, part: Reached, derived: BlockTuples, name: str) -> list[int]:
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
        pool = tuple_pool(self.trace, target, "", "·", final=True)
        self.trace.edges(tuples.nodes, pool, target.ranks)
        depend(self.trace, pool, target.ranks, single)
        if copies:
            often = tuple_pool(self.trace, target, ".copies", "[COPIES]", final=False)
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
        pool = tuple_pool(self.trace, target, "", "+", final=True)
        self.trace.edges(tuples.nodes, pool, target.ranks)
        return Tuples(Nodes.of(pool, target.ranks), tuples.values)

    def _rows(self, part: Reached, rows: MemberRows, target: Target) -> BlockTuples:
        block, reading = part.block, self.reading.at(rows.members, part.members)
        factors = reading.factors()
        whole = keeps_all_columns(block, self.engine.manifest.relations)
        conditions = compared(reading)
        nodes, is_final = factors.single, False
        if nodes is None:
            is_final = whole and not conditions
            pool = tuple_pool(self.trace, target, "" if is_final else ".join", "·", final=is_final)
            factors.multiply(self.trace, pool, target.ranks)
            nodes = Nodes.of(pool, target.ranks)
        if conditions:
            is_final = whole
            pool = tuple_pool(self.trace, target, "" if is_final else ".where", "·", final=is_final)
            nodes = holding(self.trace, nodes, conditions, target.name, pool, target.ranks)
        values = columns_of(self.trace, rows, reading, nodes, target, self.functions)
        order = sorted_by(self.trace, rows, reading, nodes, target) if block.limited else []
        counts = [c for count in block.copies for c in computed_from(block, interpret(count))]
        copies = reading.inputs(dict.fromkeys(counts))
        if whole:
            tuples = Tuples(nodes, values)
            return BlockTuples(
                tuples if is_final else self._passed_on(tuples, target), order, copies
            )
        label = table_function(block, self.functions) or "+"
        pool = tuple_pool(self.trace, target, "", label, final=True)
        self.trace.edges(nodes, pool, target.ranks)
        return BlockTuples(Tuples(Nodes.of(pool, target.ranks), values), order, copies)
