"""Whole statements: a common table expression per block, for its rows or its potential tuples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.analysis.cardinality import has_certain_members
from rewriter.analysis.data_flow import dependent, uncertain_having
from rewriter.analysis.may_throw import without_errors
from rewriter.blocks import (
    GROUP,
    MEMBER,
    NOTHING,
    UNION,
    Block,
    Generator,
    Kind,
    qualified,
    topological,
)
from rewriter.emit.core import members_query, with_generators, with_sets
from rewriter.emit.tail import CapturedGroups, rows_query
from rewriter.emit.trees import (
    CTE_TABLES,
    PRESENT,
    PROVENANCE,
    Tables,
    from_,
    named,
    no_ordinal,
    table,
    union_rows,
    visible,
    where,
)


def potential_query(block: Block, tables: Tables) -> exp.Select:
    """Return the query of every tuple the block may have after some deletion.

    Its columns are the block's identity and stable outputs. Conditions that depend on evaluated
    rows of other blocks, HAVING on more than the keys, and LIMIT are left out.
    """
    if not block.potential_known:
        raise ValueError(f"the potential tuples of block {block.name} are not known")
    stable = [(output.name, output.scalar) for output in block.outputs if output.stable]
    if block.kind is Kind.UNION:
        tuples = union_rows(block, tables.potential, potential=True)
        identity = [(name, qualified(UNION, name)) for name in block.identity]
        return exp.select(*named((*identity, *stable))).from_(tuples.subquery(UNION))
    if block.kind is Kind.ROWS:
        return _members(block, tables).select(*named((*block.keys, *stable) or NOTHING))
    if not block.keys:
        return exp.select(*named(stable or NOTHING))
    computed = block.keys
    if not has_certain_members(block):
        computed = tuple((name, without_errors(key)) for name, key in block.keys)
    inner = _members(block, tables).select(*named(computed))
    inner = inner.group_by(*(no_ordinal(key) for _, key in computed))
    keys = {name: qualified(GROUP, name) for name, _ in block.keys}
    columns = [*keys.items(), *(column for column in stable if column[0] not in keys)]
    certain: list[Scalar] = []
    if block.difference is None:
        uncertain = uncertain_having(block)
        certain = [condition for condition in block.having if condition not in uncertain]
    return where(exp.select(*named(columns)).from_(inner.subquery(GROUP)), certain)


def _members(block: Block, tables: Tables) -> exp.Select:
    """FROM and WHERE of the potential members of a block.

    Other blocks whose tuples are not known only repeat tuples of this one.
    """
    if block.core is not None:
        return with_sets(exp.select().from_(table(tables.members(block), MEMBER)), block)
    select = exp.select()
    for lookup in block.lookups:
        if not lookup.scalar and lookup.block.stable_identity:
            select = from_(select, table(tables.potential(lookup.block), lookup.alias))
    select = with_sets(with_generators(select, _stable_generators(block)), block)
    return where(select, [c for c in block.conditions if not dependent(c, block)])


def _stable_generators(block: Block) -> list[Generator]:
    """Return the generators whose rows no deletion changes; others only repeat tuples."""
    stable: list[Generator] = []
    for generator in block.generators:
        known = {alias for known_generator in stable for alias in known_generator.aliases}
        if not dependent(generator.argument, block, known):
            stable.append(generator)
    return stable


def program(
    root: Block,
    *,
    provenance: bool,
    identity: bool = False,
    members: Callable[[Block], exp.Query] | None = None,
) -> exp.Select:
    """Return the whole query as one statement: a common table expression per members and block.

    With ``provenance`` this is the rewritten query: the answer's columns, then ``_prov``.
    ``members`` gives the query of each block's members; the default is its core.
    """
    rows = rows_query(root, CTE_TABLES, provenance=provenance)
    shown = [*root.identity] if identity else []
    shown += [output.name for output in root.outputs if output.name not in shown]
    shown += [PROVENANCE] * provenance
    annotated = _annotated(root) if provenance else set()
    return statement(root, visible(rows, shown), members or _present_members, annotated)


def _annotated(block: Block) -> set[str]:
    """Return the blocks whose rows carry ``_prov`` in the rewritten query: through unions."""
    return {block.name}.union(*(_annotated(branch) for branch in block.branches))


def _present_members(block: Block) -> exp.Select:
    """Return the members over present tuples of other blocks: nothing was deleted."""
    return members_query(block, replace(CTE_TABLES, potential=CTE_TABLES.rows), prefilter=False)


def statement(
    block: Block,
    query: exp.Select,
    members: Callable[[Block], exp.Query] | None = None,
    annotated: Set[str] = frozenset(),
    captured_rows: Mapping[str, str] = MappingProxyType({}),
    captured_groups: Mapping[str, CapturedGroups] = MappingProxyType({}),
) -> exp.Select:
    """Complete a query over ``CTE_TABLES`` by the expressions it reads.

    ``members`` gives the query of each block's members; the default is its core. ``annotated``
    names the blocks whose rows carry their annotation. ``captured_rows`` gives views of rows as a
    capture keeps them, by block; the other blocks' rows are computed from members.
    ``captured_groups`` gives captured rows of groupings that lose nothing but members.
    """
    make = members or (lambda inner: members_query(inner, CTE_TABLES))
    makers: dict[str, Callable[[], exp.Query]] = {}
    for inner in topological(block):
        if inner.core is not None:
            makers[CTE_TABLES.members(inner)] = partial(make, inner)
        if inner.potential_known:
            makers[CTE_TABLES.potential(inner)] = partial(potential_query, inner, CTE_TABLES)
        if inner.name in captured_rows and inner is not block and not inner.limited:
            view = captured_rows[inner.name]
            makers[CTE_TABLES.rows(inner)] = partial(_present_rows, view)
        elif inner is not block:
            makers[CTE_TABLES.rows(inner)] = partial(
                rows_query,
                inner,
                CTE_TABLES,
                provenance=inner.name in annotated,
                captured_groups=captured_groups.get(inner.name),
            )
    steps = _needed(query, makers)
    for name in (name for name in makers if name in steps):
        query = query.with_(exp.to_identifier(name, quoted=True), as_=steps[name], copy=False)
    return query


def _present_rows(view: str) -> exp.Select:
    rows = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier("r")))
    return rows.from_(table(view, "r")).where(qualified("r", PRESENT))


def _needed(
    query: exp.Query, makers: Mapping[str, Callable[[], exp.Query]]
) -> dict[str, exp.Query]:
    """Make the steps that a query reads, through other steps too."""
    steps: dict[str, exp.Query] = {}
    stack: list[exp.Query] = [query]
    while stack:
        for read in stack.pop().find_all(exp.Table):
            if read.name in makers and read.name not in steps:
                steps[read.name] = makers[read.name]()
                stack.append(steps[read.name])
    return steps
