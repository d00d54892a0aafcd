"""SELECT: its rows, its items, its grouping, and the order of the parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import (
    Attribute,
    Filter,
    Project,
    Relation,
    Scalar,
    SortKey,
    bracketed,
    column,
    references,
)
from rewriter.bind.clauses.bound_rows import BoundRows
from rewriter.bind.clauses.conditions import Condition, bind_condition, restrict
from rewriter.bind.clauses.generated_groups import groups_apart
from rewriter.bind.clauses.generators import bind_laterals, bind_selected, selected_generator
from rewriter.bind.clauses.grouped_rows import grouped_relation, grouping_of, having_over
from rewriter.bind.clauses.grouping import distinct
from rewriter.bind.clauses.groups import (
    is_grouped,
)
from rewriter.bind.clauses.joins import bind_from
from rewriter.bind.clauses.ordering import (
    bind_sort_keys,
    order_and_limit,
    sorted_and_limited,
    within_tasks,
    without_hidden,
)
from rewriter.bind.clauses.refusals import refuse_query_clauses, refuse_rows_as_keys
from rewriter.bind.clauses.windows import Windowing, with_named_windows
from rewriter.bind.columns.items import Item, bind_items, named_items
from rewriter.bind.columns.scope import Bound, Entry, Outer, Parts, Scope, with_fields
from rewriter.bind.context import BindContext
from rewriter.bind.functions.registered import group_without_keys
from rewriter.bind.functions.time_windows import with_time_window
from rewriter.bind.subqueries.values import rename


def bind_select(select: exp.Select, context: BindContext, outer: Outer | None) -> Bound:
    """Bind a SELECT with its ORDER BY and LIMIT."""
    apart = groups_apart(select)
    if apart is None:
        return answer(bind_rows(select, context, outer, correlate=False))
    groups, generated = apart
    given = answer(bind_rows(groups, context, outer, correlate=False))
    return answer(bind_rows(generated, context, outer, correlate=False, given=given))


def answer(rows: BoundRows) -> Bound:
    """Bind the clauses that read the rows of a SELECT: items, grouping, ORDER BY and LIMIT."""
    select, context = rows.select, rows.context
    grouped = is_grouped(select)
    rows, generated = _with_generator(rows, grouped=grouped)
    binder = rows.binder("the select list", None, windows=True)
    items = bind_items(binder, select, rows.relation, generated)
    output = tuple(context.names.attribute(item.name) for item in items)
    scope = output_scope(items, output)
    if select.args.get("distinct"):
        relation = projection(rows, items, output, [], grouped=grouped)[0]
        bound = without_hidden(Bound(relation, scope), context)
        return order_and_limit(_distinct(bound, rows), select, context)
    keys = _sort_keys(rows, items, scope, grouped=grouped)
    relation, keys = projection(rows, items, output, keys, grouped=grouped)
    return within_tasks(sorted_and_limited(Bound(relation, scope), keys, select, context), select)


def _with_generator(rows: BoundRows, *, grouped: bool) -> tuple[BoundRows, tuple[Entry, ...]]:
    """Return the rows of a SELECT, multiplied by the generator in its select list."""
    generators = [node for node in rows.select.expressions if selected_generator(node)]
    if not generators:
        return rows, ()
    if grouped or len(generators) > 1:
        problem = "a generator in the select list of this grouping is not supported"
        if len(generators) > 1:
            problem = "a generator beside another generator is not supported"
        advice = "Use LATERAL VIEW; group in a derived table."
        raise rows.context.source.unsupported(problem, advice, generators[-1])
    bound = Bound(rows.relation, rows.scope)
    refusal = "cannot stand in a generator"
    binder = replace(rows.binder("the select list", refusal), draws=False)
    bound, generated = bind_selected(bound, generators[0], binder)
    return replace(rows, relation=bound.relation), generated


def bind_rows(
    select: exp.Select,
    context: BindContext,
    outer: Outer | None,
    *,
    correlate: bool,
    given: Bound | None = None,
) -> BoundRows:
    """Bind FROM and WHERE; with ``correlate``, WHERE may refer to the outer query.

    ``given`` is what stands in the place of FROM's first relation.
    """
    refuse_query_clauses(select, context.source)
    if select.args.get("group"):
        refuse_rows_as_keys(select.args["group"], context.source)
    select = with_named_windows(select, context.source)
    from_, subqueries = bind_from(select, context, outer, given)
    rows = BoundRows(select, context, outer, subqueries, from_.relation, from_.scope)
    if select.args.get("laterals"):
        binder = rows.binder("LATERAL VIEW", "cannot stand in LATERAL VIEW")
        from_ = bind_laterals(from_, select, binder)
        rows = replace(rows, relation=from_.relation, scope=from_.scope)
    return _with_time_window(_restricted(rows, correlate=correlate))


def _restricted(rows: BoundRows, *, correlate: bool) -> BoundRows:
    """Return the rows that WHERE keeps."""
    select, context, outer, subqueries = rows.select, rows.context, rows.outer, rows.subqueries
    where = select.args.get("where")
    if where is None:
        return rows
    lookups = [rows.scope.lookup(context.source)]
    if outer is not None and correlate:
        lookups.append(outer.lookup(context.source))
    condition = bind_condition(where.this, rows.binder("WHERE", "cannot stand in WHERE", lookups))
    inner, correlated = _split(condition, outer, context)
    span = context.source.keyword_before(where, "WHERE")
    relation = restrict(rows.relation, inner, subqueries, span)
    relation, correlated = subqueries.attach(relation, correlated)
    return replace(rows, relation=relation, correlated=correlated)


def _with_time_window(rows: BoundRows) -> BoundRows:
    """Return the rows repeated for each time window that they are in, if the clauses have one."""
    bound, select = Bound(rows.relation, rows.scope), rows.select
    binder = rows.binder("a time window", "cannot stand in a time window")
    grouped = is_grouped(select)
    select, bound = with_time_window(bound, select, binder, grouped=grouped)
    return replace(rows, select=select, relation=bound.relation, scope=bound.scope)


def _split(
    condition: Condition, outer: Outer | None, context: BindContext
) -> tuple[Condition, tuple[Scalar, ...]]:
    """Take the predicates on the outer query's columns out of a condition."""
    ids = outer.ids if outer is not None and outer.row is None else frozenset()
    inner: list[Scalar] = []
    correlated: list[Scalar] = []
    for predicate in condition.predicates:
        (inner if ids.isdisjoint(references(predicate)) else correlated).append(predicate)
    for membership in condition.memberships:
        if membership.condition is None or ids.isdisjoint(references(membership.condition)):
            continue
        advice = "Write the inner subquery as a join with the outer query's relation."
        problem = "a subquery that compares columns of the query two levels out is not supported"
        raise context.source.untied(problem, advice, membership.span)
    return Condition(tuple(inner), condition.memberships), tuple(correlated)


def output_scope(items: Sequence[Item], output: Sequence[Attribute]) -> Scope:
    """Return the columns of an answer as the names that its items have."""
    return Scope(
        tuple(
            Entry(
                attribute,
                item.name,
                item.entry.qualifier if item.entry else (),
                origin=item.entry.attribute.id if item.entry else attribute.id,
            )
            for item, attribute in zip(items, output, strict=True)
        )
    )


def _sort_keys(
    rows: BoundRows, items: Sequence[Item], output: Scope, *, grouped: bool
) -> list[SortKey]:
    source = rows.context.source
    answers, columns = output.lookup(source), rows.scope.lookup(source)

    def find(parts: tuple[exp.Identifier, ...], inside: bool) -> Scalar | None:
        first, second = (columns, answers) if inside else (answers, columns)
        scalar = first(parts, inside)
        return scalar if scalar is not None else second(parts, inside)

    refusal = None if grouped else "cannot stand in ORDER BY without grouping"
    return bind_sort_keys(rows.select, rows.binder("ORDER BY", refusal, [find]), output)


def projection(
    rows: BoundRows,
    items: Sequence[Item],
    output: tuple[Attribute, ...],
    keys: list[SortKey],
    *,
    grouped: bool,
) -> tuple[Relation, list[SortKey]]:
    """Return the projection on the items and what else the sort keys use, and the keys over it.

    QUALIFY is a filter over the projection: it too may use what is not in the select list.
    """
    scalars = [item.scalar for item in items]
    later = [*(key.scalar for key in keys), *_qualified(rows, items)]
    relation = rows.relation
    if grouped:
        relation, scalars, later = _grouped(rows, items, output, later)
    windowing = Windowing(rows.context, rows.subqueries)
    scalars, later = [windowing.over(s) for s in scalars], [windowing.over(s) for s in later]
    relation = windowing.relation(relation)
    ids = {attribute.id for attribute in output}
    computed = {
        scalar.name: attribute.id
        for scalar, attribute in zip(scalars, output, strict=True)
        if isinstance(scalar, exp.Column)
    }
    hidden: list[Attribute] = []
    for identity in dict.fromkeys(name for scalar in later for name in references(scalar)):
        if identity not in ids and identity not in computed:
            hidden.append(rows.context.names.attribute(re.sub(r"_\d+$", "", identity)))
            computed[identity] = hidden[-1].id
            scalars.append(column(identity))
    later = [rename(scalar, computed) for scalar in later]
    relation, attached = rows.subqueries.attach(relation, scalars)
    relation = Project(relation, (*output, *hidden), attached)
    if len(later) > len(keys):
        span = rows.context.source.keyword_before(rows.select.args["qualify"], "QUALIFY")
        relation = Filter(relation, later[-1], span)
    keys = [replace(key, scalar=scalar) for key, scalar in zip(keys, later, strict=False)]
    return relation, keys


def _qualified(rows: BoundRows, items: Sequence[Item]) -> list[Scalar]:
    """Return the condition of QUALIFY, where names are columns of FROM, else aliases."""
    qualify = rows.select.args.get("qualify")
    if qualify is None:
        return []
    columns = rows.scope.lookup(rows.context.source)

    def alias(parts: Parts, inside: bool) -> Scalar | None:
        aliased = named_items(items, parts[0].name)
        return with_fields(bracketed(aliased[0].scalar.copy()), parts[1:]) if aliased else None

    return [rows.binder("QUALIFY", None, [columns, alias], windows=True).bind(qualify.this)]


def _grouped(
    rows: BoundRows, items: Sequence[Item], output: Sequence[Attribute], later: Sequence[Scalar]
) -> tuple[Relation, list[Scalar], list[Scalar]]:
    grouping = grouping_of(rows, items)
    group_without_keys(grouping, rows.select, rows.context)
    scalars = [grouping.over(item.scalar) for item in items]
    kept = frozenset(attribute.id for attribute in output)
    over = [grouping.over(scalar, kept) for scalar in later]
    relation = grouped_relation(rows, grouping, having_over(rows, grouping, items))
    return relation, scalars, over


def _distinct(bound: Bound, rows: BoundRows) -> Bound:
    first = rows.select.expressions[0]
    span = rows.context.source.keyword_before(first, "DISTINCT")
    return distinct(bound, rows.context, span)
