"""ORDER BY, LIMIT, OFFSET and window functions, which read all rows of a block."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import (
    Filter,
    Limit,
    LocalSort,
    Project,
    Relation,
    Sort,
    SortKey,
    UnionAll,
    Windows,
)
from rewriter.lower.context import LoweringContext, Open, OpenCore, OpenPost, Post
from rewriter.lower.inputs import core_of, lowered, unlimited
from rewriter.lower.set_operations import refuse_copies
from rewriter.lower.ties import is_ordered, lists_by_range, placed_by
from rewriter.scalars.windows import depends_on_ties


def lower_ordered(context: LoweringContext, relation: Sort | LocalSort | Limit) -> Open:
    match relation:
        case Sort():
            return _lower_sort(context, relation)
        case Limit():
            return _lower_limit(context, relation)
        case LocalSort():
            return lowered(context, relation.input)


def _lower_sort(context: LoweringContext, relation: Sort) -> Open:
    open_ = unlimited(context, relation.input)
    order = tuple(replace(key, scalar=open_.resolve(key.scalar)) for key in relation.keys)
    return replace(open_, post=replace(open_.post, order=order))


def _lower_limit(context: LoweringContext, relation: Limit) -> Open:
    open_ = unlimited(context, relation.input)
    if isinstance(open_, OpenCore) and open_.copies:
        refuse_copies(context, "LIMIT", relation.span)
    return replace(
        open_,
        post=replace(open_.post, limit=relation.count, offset=relation.offset),
    )


def is_sorted(relation: Relation, *, within_tasks: bool = False) -> bool:
    """Return True if the text sorts the rows of a relation.

    With ``within_tasks`` SORT BY counts too, whose order each of Spark's tasks has for itself, and
    the rows of one branch of a union are enough.
    """
    while isinstance(relation, Project | Filter | Limit):
        relation = relation.input
    if isinstance(relation, UnionAll) and within_tasks:
        return any(is_sorted(branch, within_tasks=True) for branch in relation.branches)
    return isinstance(relation, Sort) or (within_tasks and isinstance(relation, LocalSort))


def order_of_core(context: LoweringContext, relation: Relation) -> tuple[SortKey, ...]:
    """Return the sort keys of a derived table, over the sources of its core, if it has one."""
    if not is_sorted(relation):
        return ()
    open_ = context.pending.pop(relation, None) or lowered(context, relation)
    context.pending[relation] = open_
    return () if isinstance(open_, OpenPost) or open_.post.final else open_.post.order


def order_of_attributes(relation: Relation) -> tuple[SortKey, ...]:
    """Return the sort keys of a derived table as its own columns; () where it lacks one."""
    if isinstance(relation, Sort):
        return relation.keys
    if isinstance(relation, Filter | Limit | Windows):
        return order_of_attributes(relation.input)
    if not isinstance(relation, Project):
        return ()
    pairs = zip(relation.scalars, relation.output, strict=True)
    columns = {s.name: a for s, a in reversed(list(pairs)) if isinstance(s, exp.Column)}
    keys = order_of_attributes(relation.input)
    if not all(isinstance(k.scalar, exp.Column) and k.scalar.name in columns for k in keys):
        return ()
    return tuple(replace(key, scalar=columns[key.scalar.name].column()) for key in keys)


def lower_windows(context: LoweringContext, relation: Windows) -> OpenCore:
    below, calls = relation.input, relation.calls
    if lists_by_range(relation):
        advice = "Count the frame in rows: ROWS BETWEEN ... AND ..."
        context.refuse("LISTAGG over a RANGE frame is not supported", advice, relation.span)
    _check_order(context, relation)
    placed = placed_by(relation, context.names.attribute)
    if placed is not None:
        below, calls = placed.positions, placed.calls
    order = order_of_core(context, below)
    core = core_of(context, below)
    if core.copies:
        refuse_copies(context, "a window", relation.span)
    arrival = order or tuple(
        replace(key, scalar=core.resolve(key.scalar)) for key in order_of_attributes(below)
    )
    env = dict(core.env)
    for attribute, call in zip(relation.output, calls, strict=True):
        env[attribute.id] = core.resolve(call)
    return replace(core, env=env, post=Post(windowed=True, arrival=arrival))


def _check_order(context: LoweringContext, relation: Windows) -> None:
    """Refuse windows without an order over sorted rows.

    Spark usually computes them in the order of the rows, but where a key is NULL or several
    executors send rows to one task it does not.
    """
    windows = [call for call in relation.calls if isinstance(call, exp.Window)]
    open_ = any(depends_on_ties(window) and not is_ordered(window) for window in windows)
    if open_ and is_sorted(relation.input, within_tasks=True):
        context.refuse(
            "a window without ORDER BY that follows the order of a derived table is not supported",
            "Write the order in the window: OVER (PARTITION BY ... ORDER BY ...).",
            relation.span,
        )
