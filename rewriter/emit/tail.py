"""The tail of a block: its rows from members and the evaluated rows of other blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import GROUP, MEMBER, UNION, Block, Kind, Named, qualified
from rewriter.emit.annotations import monomial
from rewriter.emit.core import Tables, equalities, exists, with_copies, with_generators, with_sets
from rewriter.emit.filled import fill
from rewriter.emit.grouped import grouped
from rewriter.emit.order import cut, with_post, written_keys
from rewriter.emit.presence import needs_present_members, present_members, safe_for_padded_rows
from rewriter.emit.trees import (
    PRESENT,
    PROVENANCE,
    SORT,
    conjunction,
    from_,
    is_true,
    left_join,
    named,
    table,
    where,
)
from rewriter.emit.union import union_rows

MEMBERS = "_n"
"""Rows of a grouping's dataset: the number of members."""

_NEW = "now"
_OLD = "then"


@dataclass(frozen=True, slots=True)
class CapturedGroups:
    """The captured rows of a grouping: a group that loses no member keeps aggregates of them.

    Sums of floats depend on their order, which Spark does not promise: added up again they may
    differ, though nothing is lost.

    Parameters
    ----------
    view
        The rows, with how many members each group has.
    aggregates
        The columns that are kept.
    """

    view: str
    aggregates: frozenset[str]


def rows_query(
    block: Block,
    tables: Tables,
    *,
    aggregates: bool = False,
    extra: Sequence[Named] = (),
    provenance: bool = False,
    keep_absent: bool = False,
    post: bool = True,
    captured_groups: CapturedGroups | None = None,
) -> exp.Select:
    """Return the query of a block's rows: identity, then outputs.

    Parameters
    ----------
    aggregates
        Also yield the plain aggregates, under their own names.
    extra
        More aggregates of a grouping to compute and yield.
    provenance
        Also yield the annotation, as ``_prov``.
    keep_absent
        Keep the tuples that HAVING drops, with ``_present`` false and NULL outputs; also yield
        the sort keys, ``_o0`` and on.
    post
        Apply ORDER BY and LIMIT.
    captured_groups
        Of a grouping: its captured rows.
    """
    if block.kind is Kind.GROUP:
        select = _group_rows(
            block, tables, aggregates, extra, provenance, keep_absent, captured_groups
        )
    elif block.kind is Kind.ROWS:
        select = _member_rows(block, tables, provenance, keep_absent)
    else:
        select = _union_post(block, tables, provenance, keep_absent)
    return with_post(select, block, tables) if post else select


def answer_query(block: Block, rows: str, extra: Sequence[str] = ()) -> exp.Select:
    """Return the answer from a table of the root's rows that was written with ``keep_absent``.

    ``extra`` names more columns of that table to append.
    """
    columns = [qualified("r", output.name) for output in block.outputs]
    columns += [qualified("r", name) for name in extra]
    select = exp.select(*columns).from_(table(rows, "r")).where(qualified("r", PRESENT))
    return cut(select, block, written_keys(block))


def read(block: Block, tables: Tables, *, annotated: bool = False) -> exp.Select:
    """FROM and WHERE of a tail: surviving members joined with the tuples they refer to.

    ``annotated``: as they are annotated, each once, and whatever semi and anti joins say.
    """
    select = exp.select()
    conditions: list[Scalar] = []
    apart = not annotated and needs_present_members(block)
    if apart:
        members, there = present_members(block, tables)
        select = select.from_(members)
        conditions.append(there)
    elif block.core is not None:
        select = select.from_(table(tables.members(block), MEMBER))
    for lookup in block.lookups:
        if lookup.scalar:
            continue
        select = from_(select, table(tables.rows(lookup.block), lookup.alias))
        conditions += [
            exp.NullSafeEQ(this=qualified(MEMBER, name), expression=qualified(lookup.alias, its))
            for name, its in lookup.on
        ]
    for outer in block.outer_lookups:
        on = [] if outer.guard is None else [outer.guard]
        on += equalities(outer, outer.alias)
        condition = conjunction([fill(part, block, tables) for part in on]) or exp.true()
        select = left_join(select, table(tables.rows(outer.block), outer.alias), condition)
    select = with_generators(
        select, [replace(g, argument=fill(g.argument, block, tables)) for g in block.generators]
    )
    select = with_sets(select, block)
    if apart:
        conditions += block.conditions
    else:
        conditions += [
            safe_for_padded_rows(part, block, tables, potential=annotated)
            for part in block.conditions
        ]
    if not annotated:
        select = with_copies(select, [fill(count, block, tables) for count in block.copies])
    if not (annotated or apart):
        conditions += [exists(semi, tables.rows(semi.block)) for semi in block.semis]
    return where(select, [fill(condition, block, tables) for condition in conditions])


def _annotation(block: Block, tables: Tables) -> Scalar:
    return fill(monomial(block), block, tables)


def _member_rows(block: Block, tables: Tables, provenance: bool, keep_absent: bool) -> exp.Select:
    columns = [*block.keys, *((output.name, output.scalar) for output in block.outputs)]
    if keep_absent:
        columns += _bookkeeping(block, tables, None)
    select = read(block, tables).select(
        *named([(name, fill(scalar, block, tables)) for name, scalar in columns])
    )
    if provenance:
        select = select.select(exp.alias_(_annotation(block, tables), PROVENANCE, quoted=True))
    return select


def _group_rows(
    block: Block,
    tables: Tables,
    aggregates: bool,
    extra: Sequence[Named],
    provenance: bool,
    keep_absent: bool,
    captured_groups: CapturedGroups | None,
) -> exp.Select:
    keys = [(name, fill(key, block, tables)) for name, key in block.keys]
    computed = [(name, fill(call, block, tables)) for name, call in block.aggregates]
    added = [(name, fill(call, block, tables)) for name, call in extra]
    calls = [*computed, *added]
    if provenance:
        prov = exp.Anonymous(this="collect_list", expressions=[_annotation(block, tables)])
        if block.copies:
            prov = exp.Anonymous(this="array_distinct", expressions=[prov])
        calls.append((PROVENANCE, prov))
    if not keys and not calls:
        calls.append(("_n", exp.Count(this=exp.Star())))
    if captured_groups is None:
        inner = grouped(read(block, tables), keys, calls)
    else:
        inner = _keeping_aggregates(block, tables, keys, calls, captured_groups)
    present = conjunction([fill(condition, block, tables) for condition in block.having])
    names = [name for name, _ in keys]
    if aggregates:
        names += [name for name, _ in computed] + [name for name, _ in extra]
    columns: list[Named] = [(name, qualified(GROUP, name)) for name in dict.fromkeys(names)]
    for output in block.outputs:
        scalar = fill(output.scalar, block, tables)
        if output.name in dict(columns):
            continue
        if keep_absent and present is not None and not output.known_absent:
            scalar = exp.Case().when(present.copy(), scalar.copy())
        columns.append((output.name, scalar))
    if keep_absent:
        columns += _bookkeeping(block, tables, present)
    select = exp.select(*named(columns)).from_(inner.subquery(GROUP))
    if provenance:
        select = select.select(qualified(GROUP, PROVENANCE))
    if present is not None and not keep_absent:
        select = select.where(present)
    return select


def _keeping_aggregates(
    block: Block,
    tables: Tables,
    keys: Sequence[Named],
    calls: Sequence[Named],
    captured: CapturedGroups,
) -> exp.Select:
    """Return groups; a group with as many members as captured keeps its captured values."""
    counted = [*calls, (MEMBERS, exp.Count(this=exp.Star()))]
    same = exp.EQ(this=qualified(_NEW, MEMBERS), expression=qualified(_OLD, MEMBERS))

    def kept(name: str) -> Scalar:
        new, old = qualified(_NEW, name), qualified(_OLD, name)
        return exp.Case().when(same.copy(), old).else_(new) if name in captured.aggregates else new

    select = exp.select(*named([(name, qualified(_NEW, name)) for name, _ in keys]))
    select = select.select(*named([(name, kept(name)) for name, _ in calls]))
    select = select.from_(grouped(read(block, tables), keys, counted).subquery(_NEW))
    pairs = [
        exp.NullSafeEQ(this=qualified(_NEW, name), expression=qualified(_OLD, name))
        for name, _ in keys
    ]
    return left_join(select, table(captured.view, _OLD), conjunction(pairs) or exp.true())


def _bookkeeping(block: Block, tables: Tables, present: Scalar | None) -> list[Named]:
    """Return ``_present`` and the sort keys, for rows that are written before ORDER BY."""
    columns: list[Named] = [(PRESENT, exp.true() if present is None else is_true(present))]
    for number, key in enumerate(block.order):
        scalar = fill(key.scalar, block, tables)
        if present is not None:
            scalar = exp.Case().when(present.copy(), scalar.copy())
        columns.append((f"{SORT}{number}", scalar))
    return columns


def _union_post(block: Block, tables: Tables, provenance: bool, keep_absent: bool) -> exp.Select:
    union = union_rows(block, tables.rows, provenance=provenance)
    columns: list[Named] = [(name, qualified(UNION, name)) for name in block.identity]
    present = conjunction([fill(condition, block, tables) for condition in block.having])
    for output in block.outputs:
        scalar = fill(output.scalar, block, tables)
        if keep_absent and present is not None and not output.known_absent:
            scalar = exp.Case().when(present.copy(), scalar.copy())
        columns.append((output.name, scalar))
    if keep_absent:
        columns += _bookkeeping(block, tables, present)
    if provenance:
        columns.append((PROVENANCE, qualified(UNION, PROVENANCE)))
    select = exp.select(*named(columns)).from_(union.subquery(UNION))
    if present is not None and not keep_absent:
        select = select.where(present)
    return select
