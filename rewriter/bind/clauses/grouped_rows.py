"""The grouping of a SELECT: its keys, HAVING, and the relation of its groups."""

from __future__ import annotations

from collections.abc import Sequence

from rewriter.algebra import (
    Relation,
)
from rewriter.bind.clauses.bound_rows import BoundRows
from rewriter.bind.clauses.conditions import Condition, bind_condition, restrict
from rewriter.bind.clauses.grouping import EVERY_ROW, Grouping
from rewriter.bind.clauses.groups import (
    having_lookup,
    is_of_everything,
    key_scalars,
)
from rewriter.bind.clauses.refusals import group_span
from rewriter.bind.columns.items import Item


def grouping_of(rows: BoundRows, items: Sequence[Item]) -> Grouping:
    """Return the grouping of a SELECT by its GROUP BY, without aggregates so far."""
    binder = rows.binder("GROUP BY", "cannot stand in GROUP BY")
    keys, sets = key_scalars(binder, rows.select, items)
    everything = is_of_everything(rows.select)
    return Grouping(rows.context, rows.subqueries, keys, sets, everything=everything)


def having_over(rows: BoundRows, grouping: Grouping, items: Sequence[Item]) -> Condition:
    """Return HAVING as a condition over the grouping."""
    having = rows.select.args.get("having")
    if having is None:
        return Condition((), ())
    lookup = having_lookup(rows.scope.lookup(rows.context.source), items)
    written = bind_condition(having.this, rows.binder("HAVING", None, [lookup]))
    return Condition(
        tuple(grouping.over(part) for part in written.predicates),
        tuple(part.above(grouping.over) for part in written.memberships),
    )


def grouped_relation(rows: BoundRows, grouping: Grouping, having: Condition) -> Relation:
    """Return the groups of the rows that HAVING keeps, once all expressions over them are known."""
    source = rows.context.source
    row = rows.outer.row if rows.outer is not None and rows.select.meta.get(EVERY_ROW) else None
    relation = grouping.relation(rows.relation, group_span(rows.select, source), row)
    written = rows.select.args.get("having")
    if written is None:
        return relation
    span = source.keyword_before(written, "HAVING")
    return restrict(relation, having, rows.subqueries, span)
