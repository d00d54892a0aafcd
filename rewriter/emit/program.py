"""Whole statements: a common table expression per members and block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from sqlglot import exp

from rewriter.blocks import Block, qualified, topological
from rewriter.emit.core import CTE_TABLES, members_query
from rewriter.emit.potential import potential_query
from rewriter.emit.tail import CapturedGroups, rows_query
from rewriter.emit.trees import PRESENT, PROVENANCE, table, visible


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
