"""From the capture of a query to nodes and edges: the operators of the provenance graph.

Per block of the query, for its tuples that the answer was made from:

- rows of a join are `·` of the tuples joined; where columns are dropped or computed, a projection
  `+` of it follows;
- rows that a table function makes are named by it, as a black box is;
- rows of one relation are a projection `+` of its tuple; where all of its columns are kept, they
  are its tuples themselves (FILTER, UNION ALL and ORDER BY make no nodes);
- groups are `δ` of their members; where there are aggregates, a projection `+` of the group
  follows, and beside it stand the aggregates' v-nodes
  (:mod:`lipstick.workflow.derivation.groups`);
- the row of an aggregate without GROUP BY is there whatever the input: `+` of the invocation.

- values of window functions are v-nodes beside the rows
  (:mod:`lipstick.workflow.derivation.value_nodes`);
- what values decide about rows has nodes of its own (:mod:`lipstick.workflow.derivation.reading`):
  conditions, what rows are grouped by, and which of them LIMIT shows;
- rows of EXCEPT ALL are `·` of `δ` of the members of the left side and of how often they are there,
  rows of INTERSECT ALL also of `δ` of the members of the right side.

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
from lipstick.engines.memory.places import NOTHING
from lipstick.engines.memory.reach import Reached, members_of, reach
from lipstick.engines.memory.rows import Rows
from lipstick.engines.memory.store import every
from lipstick.engines.memory.unions import UnionRows
from lipstick.engines.memory.window_rows import WindowRows
from lipstick.workflow.derivation.blocks import (
    branch_columns,
    branch_outputs,
    computed_from,
    expression_text,
    keeps_all_columns,
    table_function,
)
from lipstick.workflow.derivation.groups import GroupedNodes, aggregate_nodes
from lipstick.workflow.derivation.nodes import InvocationTrace, Nodes
from lipstick.workflow.derivation.reading import (
    BlockTuples,
    MemberFactors,
    MemberReading,
    QueryReading,
    TupleNodes,
    changing,
    compared,
    deciding_keys,
    depend,
    grouped_by,
    holding,
    passed,
    settled,
)
from lipstick.workflow.derivation.value_nodes import (
    TupleTarget,
    columns_of,
    computed,
    sorted_by,
    tuple_pool,
)
from rewriter.algebra import Scalar
from rewriter.blocks import GROUP, UNION
from rewriter.interpret import Interpreted, interpret
from semiring.arrays.segments import ascending
from semiring.base import Array


def derive(
    trace: InvocationTrace,
    engine: Engine,
    positions: Array,
    sources: Mapping[str, TupleNodes],
    target: TupleTarget,
    functions: Collection[str] = (),
) -> TupleNodes:
    """Add the derivation of a query's answer.

    Parameters
    ----------
    trace
        The trace that nodes and edges are added to.
    engine, positions
        The capture, and the positions of the answer's tuples in its last block.
    sources
        The relations that the query reads, by name: row i is tuple i.
    target
        The nodes of the answer's tuples; its ranks follow the order of `positions`.
    functions
        The black boxes among the functions that the query calls.
    """
    return _Derivation(trace, engine, sources, functions).answer(positions, target)


class _Derivation:
    def __init__(
        self,
        trace: InvocationTrace,
        engine: Engine,
        sources: Mapping[str, TupleNodes],
        functions: Collection[str],
    ) -> None:
        self.trace = trace
        self.engine = engine
        self.functions = functions
        self.reading = QueryReading(engine, sources)

    def answer(self, positions: Array, target: TupleTarget) -> TupleNodes:
        root = self.engine.root
        reached = reach(
            self.engine, positions, scalars=True, further=partial(deciding, self.reading)
        )
        for name in reversed(reached):
            part = reached[name]
            if name == root.name:
                return self._root(part, positions, target)
            inner = TupleTarget(f"{target.name}.{name}", every(len(part.positions)))
            if is_cut(self.reading, self.engine.rows(name)):
                derived = self._derived_tuples(part, replace(inner, name=f"{inner.name}.all"))
                tuples = self._shown(derived.tuples, self._limits(part, derived, inner.name), inner)
            else:
                tuples = self._derived_tuples(part, inner).tuples
            self.reading.found[name] = part, tuples
        raise AssertionError(f"{root.name} is the last block")

    def _root(self, part: Reached, positions: Array, target: TupleTarget) -> TupleNodes:
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
        # Hidden tuples decide which tuples are shown.
        every_one = TupleTarget(f"{target.name}.all", every(len(part.positions)), columns=columns)
        derived = self._derived_tuples(part, every_one)
        single = self._limits(part, derived, target.name)
        copies = [nodes.take(places) for nodes in derived.copies]
        return self._shown(derived.tuples.take(places), single, target, copies)

    def _derived_tuples(self, part: Reached, target: TupleTarget) -> BlockTuples:
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
        """Return pools of one node each: the values that decide which tuples LIMIT shows."""
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
        tuples: TupleNodes,
        single: Sequence[int],
        target: TupleTarget,
        copies: Sequence[Nodes] = (),
    ) -> TupleNodes:
        """Return tuples, repeated by multiplicity, that also depend on the values that decide
        about them.
        """
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
        return TupleNodes(Nodes.of(pool, target.ranks), tuples.values)

    # -- unions and rows -------------------------------------------------------------------

    def _union(
        self, part: Reached, rows: UnionRows, target: TupleTarget
    ) -> tuple[TupleNodes, Sequence[Nodes]]:
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
        return TupleNodes(nodes, columns), [each for scalar in order for each in inputs(scalar)]

    def _passed_on(self, tuples: TupleNodes, target: TupleTarget) -> TupleNodes:
        """Return tuples of a source: unchanged, or each behind a `+` of its own."""
        if not target.own:
            return tuples
        pool = tuple_pool(self.trace, target, "", "+", final=True)
        self.trace.edges(tuples.nodes, pool, target.ranks)
        return TupleNodes(Nodes.of(pool, target.ranks), tuples.values)

    def _rows(self, part: Reached, rows: MemberRows, target: TupleTarget) -> BlockTuples:
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
            tuples = TupleNodes(nodes, values)
            return BlockTuples(
                tuples if is_final else self._passed_on(tuples, target), order, copies
            )
        label = table_function(block, self.functions) or "+"
        pool = tuple_pool(self.trace, target, "", label, final=True)
        self.trace.edges(nodes, pool, target.ranks)
        return BlockTuples(TupleNodes(Nodes.of(pool, target.ranks), values), order, copies)


def deciding(reading: QueryReading, rows: Rows) -> Array:
    """Return the sorted positions of a block's tuples that decide about other tuples of it."""
    keys = [key for _, key in rows.block.keys]
    if isinstance(rows, WindowRows):
        return np.flatnonzero(rows.base_present())
    if isinstance(rows, GroupRows) and _changeable(reading, rows, keys):
        alive = rows.members.base_alive
        members = every(rows.members.count) if alive is None else np.flatnonzero(alive)
        return ascending(rows.grouping.moved(members).groups)
    return np.sort(rows.base.sequence) if is_cut(reading, rows) else NOTHING


def is_cut(reading: QueryReading, rows: Rows) -> bool:
    """Return True if LIMIT may drop a tuple that it shows when other tuples change."""
    block = rows.block
    if not block.limited or block.offset:
        return block.limited
    scalars = [key.scalar for key in block.order]
    if isinstance(rows, UnionRows):
        return bool(scalars)
    if isinstance(rows, GroupRows):
        read = {column for scalar in scalars for column in interpret(scalar).columns}
        aggregated = not read <= {(GROUP, name) for name, _ in block.keys}
        return aggregated or _changeable(reading, rows, [key for _, key in block.keys])
    return isinstance(rows, WindowRows) or _changeable(reading, rows, scalars)


def _changeable(reading: QueryReading, rows: Rows, scalars: Sequence[Scalar]) -> bool:
    """Return True if a deletion may change scalars over members that survive it."""
    members = members_of(rows)
    assert members is not None
    interpreted = [interpret(scalar) for scalar in scalars]
    if not all(map(members.is_stable, interpreted)):
        return True
    return any(
        name in reading.source(token.relation).values
        for scalar in interpreted
        for column in computed_from(rows.block, scalar)
        for alias, name in branch_columns(rows.block, column)
        for token in rows.block.tokens
        if token.alias == alias
    )


def _add_conditions(
    trace: InvocationTrace,
    target: TupleTarget,
    conditions: Sequence[tuple[str, Sequence[Nodes]]],
    group: int | None,
    pool: int,
) -> None:
    """Add a node for each condition of HAVING between the groups and the tuples that pass."""
    for number, (label, inputs) in enumerate(conditions, start=1):
        condition = tuple_pool(trace, target, f".condition{number}", label, final=False)
        if group is None:
            trace.from_invocation(condition, len(target.ranks))
        else:
            trace.edges(Nodes.of(group, target.ranks), condition, target.ranks)
        for values_of in inputs:
            trace.edges(values_of, condition, target.ranks)
        trace.edges(Nodes.of(condition, target.ranks), pool, target.ranks)


def group_tuples(
    trace: InvocationTrace,
    reading: QueryReading,
    functions: Collection[str],
    part: Reached,
    rows: GroupRows,
    target: TupleTarget,
) -> BlockTuples:
    """Add the groups of a block, and return them in the order of their positions.

    Parameters
    ----------
    functions
        The black boxes among the functions that the query calls.
    part
        The requested groups, and their members.
    """
    block, owners = part.block, target.ranks[part.owners]
    factors = reading.at(rows.members, part.members).factors()
    order = factors.order(owners)
    members, owners = part.members[order], owners[order]
    of_members = reading.at(rows.members, members)
    nodes = _member_nodes(trace, factors.take(order), of_members, target.name)
    together: list[int] = []
    if decided := of_members.inputs(deciding_keys(block)):
        nodes, key_pool = grouped_by(trace, nodes, decided, target.name)
        together = [key_pool]
    held = "·" if block.having or together else "+"
    group = None
    if not block.keys:
        pool = tuple_pool(trace, target, "", held, final=True)
        trace.from_invocation(pool, len(target.ranks))
    elif block.difference is not None:
        group, pool = _difference(trace, rows, members, owners, nodes, target)
    elif block.aggregates or together:
        group = tuple_pool(trace, target, ".group", "δ", final=False)
        trace.edges(nodes, group, owners)
        pool = tuple_pool(trace, target, "", held, final=True)
        trace.edges(Nodes.of(group, target.ranks), pool, target.ranks)
    else:
        pool = tuple_pool(trace, target, "", "δ", final=True)
        trace.edges(nodes, pool, owners)
    depend(trace, pool, target.ranks, together)
    groups = GroupedNodes(rows, part.positions, target.ranks, members, owners, nodes, of_members)
    values = aggregate_nodes(
        trace,
        target.name,
        target.columns,
        groups,
        functions,
        lambda columns: reading.scalars(block, columns, len(target.ranks)),
    )
    _add_conditions(trace, target, values.conditions, group, pool)
    return BlockTuples(TupleNodes(Nodes.of(pool, target.ranks), values.columns), values.order)


def _difference(
    trace: InvocationTrace,
    rows: GroupRows,
    members: Array,
    owners: Array,
    nodes: Nodes,
    target: TupleTarget,
) -> tuple[int, int]:
    """Add the groups of a bag difference, which need members of the left side.

    Groups of an intersection need members of the right side, too.
    """
    assert rows.block.difference is not None
    sides_of = rows.sides(members)
    pools = []
    for side, name in enumerate((".group", ".other")):
        if side and not rows.block.difference.common:
            continue
        of_side = np.flatnonzero(sides_of == side)
        pools.append(tuple_pool(trace, target, name, "δ", final=False))
        trace.edges(nodes.take(of_side), pools[-1], owners[of_side])
    pool = tuple_pool(trace, target, "", "·", final=True)
    for each in pools:
        trace.edges(Nodes.of(each, target.ranks), pool, target.ranks)
    return pools[0], pool


def _member_nodes(
    trace: InvocationTrace, factors: MemberFactors, reading: MemberReading, name: str
) -> Nodes:
    """Return the p-nodes of members that are not tuples themselves."""
    nodes, count = factors.single, len(factors.counts)
    if nodes is None:
        pool = trace.pool(f"{name}.join", Kind.DERIVED, "·", count)
        factors.multiply(trace, pool, every(count))
        nodes = Nodes.of(pool, every(count))
    return passed(trace, nodes, compared(reading), name)
