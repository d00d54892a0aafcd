"""SELECT: FROM and WHERE, the grouping with HAVING, the select list and its window functions.

A generator in the select list of a grouping takes the groups apart, after they are formed.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from rewriter.algebra import (
    Attribute,
    Filter,
    Project,
    Relation,
    Scalar,
    SortKey,
    Windows,
    column,
    references,
)
from rewriter.bind.clauses.conditions import BoundCondition, bind_condition, restrict
from rewriter.bind.clauses.generators import (
    bind_laterals,
    bind_selected,
    called_in,
    makes_map,
    selected_generator,
)
from rewriter.bind.clauses.grouping import (
    EVERY_ROW,
    Grouping,
    distinct,
    group_without_keys,
    having_lookup,
    is_grouped,
    is_of_everything,
    key_scalars,
)
from rewriter.bind.clauses.joins import bind_from
from rewriter.bind.clauses.ordering import (
    bind_sort_keys,
    order_and_limit,
    sorted_and_limited,
    within_tasks,
    without_hidden,
)
from rewriter.bind.columns.items import Item, alias_lookup, bind_items
from rewriter.bind.columns.scope import (
    Bound,
    Entry,
    Lookup,
    Outer,
    Scope,
    item_name,
)
from rewriter.bind.columns.types import lacks_field, type_of
from rewriter.bind.context import BindContext, group_span, refuse_query_clauses, refuse_rows_as_keys
from rewriter.bind.functions.time_windows import with_time_window
from rewriter.bind.scalars import ScalarBinder, is_star
from rewriter.bind.subqueries.values import Subqueries, rename
from rewriter.bind.text import SourceText, fingerprint, unwrap
from rewriter.errors import QueryError
from rewriter.scalars.windows import function_name


@dataclass(frozen=True)
class BoundRows:
    """FROM and WHERE of a SELECT: the rows that its other clauses read."""

    select: exp.Select
    context: BindContext
    outer: Outer | None
    subqueries: Subqueries
    relation: Relation
    scope: Scope
    correlated: tuple[Scalar, ...] = ()

    def binder(
        self,
        clause: str,
        refusal: str | None,
        lookups: Sequence[Lookup] | None = None,
        *,
        windows: bool = False,
    ) -> ScalarBinder:
        """Return the binder of a clause, where names mean columns of FROM by default."""
        chosen = list(lookups) if lookups is not None else [self.scope.lookup(self.context.source)]
        if self.outer is not None:
            chosen.append(self.outer.beyond(f"{clause} of a subquery").lookup(self.context.source))
        return ScalarBinder(
            self.context,
            tuple(chosen),
            self.subqueries,
            self.scope,
            refusal,
            self.outer,
            windows=windows,
            draws=clause != "LATERAL VIEW",
        )


def grouping_of(rows: BoundRows, items: Sequence[Item]) -> Grouping:
    """Return the grouping of a SELECT by its GROUP BY, without aggregates so far."""
    binder = rows.binder("GROUP BY", "cannot stand in GROUP BY")
    keys, sets = key_scalars(binder, rows.select, items)
    everything = is_of_everything(rows.select)
    return Grouping(rows.context, rows.subqueries, keys, sets, everything=everything)


_OF_BOOLEANS = (exp.Boolean, exp.Connector, exp.Not, exp.Predicate)


def having_over(rows: BoundRows, grouping: Grouping, items: Sequence[Item]) -> BoundCondition:
    """Return HAVING as a condition over the grouping."""
    having = rows.select.args.get("having")
    if having is None:
        return BoundCondition((), ())
    lookup = having_lookup(rows.scope.lookup(rows.context.source), items)
    condition = having.this
    if not isinstance(unwrap(condition), _OF_BOOLEANS):
        condition = exp.Cast(this=condition, to=exp.DataType.build("boolean"))  # as Spark's parser
    binder = replace(rows.binder("HAVING", None, [lookup]), groups=True)
    written = bind_condition(condition, binder)
    return BoundCondition(
        tuple(grouping.over(part) for part in written.predicates),
        tuple(part.above(grouping.over) for part in written.memberships),
    )


def grouped_relation(rows: BoundRows, grouping: Grouping, having: BoundCondition) -> Relation:
    """Return the groups of the rows that HAVING keeps, once all expressions over them are known."""
    source = rows.context.source
    row = rows.outer.row if rows.outer is not None and rows.select.meta.get(EVERY_ROW) else None
    relation = grouping.relation(rows.relation, group_span(rows.select, source), row)
    written = rows.select.args.get("having")
    if written is None:
        return relation
    span = source.keyword_before(written, "HAVING")
    return restrict(relation, having, rows.subqueries, span)


_OF_ROWS = ("distinct", "order", "limit", "offset", "qualify")
"""Clauses that read what the generator makes."""


def groups_apart(select: exp.Select) -> tuple[exp.Select, exp.Select] | None:
    """Cut a grouping with a generator in its select list in two.

    Returns
    -------
    The grouping, which has what the generator reads as columns, and the SELECT without FROM that
    reads it; None where there is nothing to cut, or a star hides what there is.
    """
    generators = [item for item in select.expressions if selected_generator(item)]
    if len(generators) != 1 or not is_grouped(select) or any(map(is_star, select.expressions)):
        return None
    cut = _Cut()
    shown = [cut.shown(item) for item in select.expressions]
    groups = select.copy()
    groups.set("expressions", cut.items)
    rows = exp.Select(expressions=shown)
    for clause in _OF_ROWS:
        rows.set(clause, groups.args.pop(clause, None))
    return groups, rows


@dataclass(slots=True)
class _Cut:
    """The columns of the grouping, as they are asked for."""

    items: list[exp.Expr] = field(default_factory=list)

    def shown(self, item: exp.Expr) -> exp.Expr:
        """Return an item of the SELECT that reads the grouping."""
        if not selected_generator(item):
            if isinstance(item, exp.Alias):
                self.items.append(item.copy())
                return exp.column(item.args["alias"].copy())
            if isinstance(item, exp.Column):
                self.items += [] if item in self.items else [item.copy()]
                return item.copy()
            return exp.alias_(self._column(item), item_name(item), quoted=True)
        copy = item.copy()
        self._over_columns(called_in(copy))
        return copy

    def _over_columns(self, call: exp.Expr) -> None:
        """Replace what a call reads by columns; maps are made of columns, which names follow."""
        for argument in list(call.expressions):
            if makes_map(argument):
                self._over_columns(unwrap(argument))
            elif not isinstance(argument, exp.Literal):
                argument.replace(self._column(argument))

    def _column(self, scalar: exp.Expr) -> exp.Column:
        name = f"_{len(self.items)}"
        self.items.append(exp.alias_(scalar.copy(), name, quoted=True))
        return exp.column(name, quoted=True)


def with_named_windows(select: exp.Select, source: SourceText) -> exp.Select:
    """Return a SELECT in which the windows of its WINDOW clause stand where they are named.

    Raises
    ------
    QueryError
        For the name of a window that the clause does not define.
    """
    if not _own_windows(select):
        return select
    select = select.copy()
    defined = {window.name.lower(): window for window in select.args.get("windows") or []}
    select.set("windows", None)
    for window in _own_windows(select):
        _resolve(window, defined, source)
    return select


def _own_windows(select: exp.Select) -> list[exp.Window]:
    """Return the window functions of a SELECT, without the ones of queries inside it."""
    parts = select.walk(prune=lambda part: part is not select and isinstance(part, exp.Query))
    return [part for part in parts if isinstance(part, exp.Window)]


def _resolve(window: exp.Window, defined: Mapping[str, exp.Window], source: SourceText) -> None:
    for _ in range(len(defined) + 1):
        name = window.args.get("alias")
        if name is None:
            return
        known = defined.get(name.name.lower())
        if known is None:
            break
        for key in ("partition_by", "order", "spec", "alias"):
            part = known.args.get(key)
            copy = (
                [node.copy() for node in part] if isinstance(part, list) else part and part.copy()
            )
            window.set(key, copy)
    advice = "Define it in the WINDOW clause."
    raise source.error(f"window {window.args['alias'].name} is not known", advice, window)


class Windowing:
    """The window functions of one SELECT, found while its expressions are rewritten."""

    def __init__(self, context: BindContext, subqueries: Subqueries) -> None:
        self._context = context
        self._subqueries = subqueries
        self._known: dict[Hashable, tuple[Attribute, Scalar]] = {}

    def over(self, scalar: Scalar) -> Scalar:
        """Return an expression with attributes in the place of its window functions."""

        def replaced(node: exp.Expr) -> exp.Expr:
            return self._attribute(node).column() if isinstance(node, exp.Window) else node

        result: Scalar = scalar.copy().transform(replaced, copy=False)
        return result

    def relation(self, source: Relation) -> Relation:
        """Return the input with the window functions, once all expressions are known."""
        if not self._known:
            return source
        calls = [call for _, call in self._known.values()]
        source, attached = self._subqueries.attach(source, calls)
        output = tuple(attribute for attribute, _ in self._known.values())
        span = self._context.source.keyword_after(calls[0].this, "OVER")
        return Windows(source, output, attached, span)

    def _attribute(self, window: exp.Window) -> Attribute:
        known = fingerprint(window)
        if known not in self._known:
            attribute = self._context.names.attribute(function_name(window))
            self._known[known] = (attribute, window.copy())
        return self._known[known][0]


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
    condition: BoundCondition, outer: Outer | None, context: BindContext
) -> tuple[BoundCondition, tuple[Scalar, ...]]:
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
    return BoundCondition(tuple(inner), condition.memberships), tuple(correlated)


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
    made = {e.attribute.id: item.scalar for e, item in zip(output.entries, items, strict=True)}

    def is_of_answer(field: exp.Dot) -> bool:
        of = field.this
        if not isinstance(of, exp.Column):
            return is_of_answer(of)
        kind = type_of(made[of.name], rows.relation, rows.context.environment.catalog)
        return not lacks_field(kind, field.name)

    def find(parts: tuple[exp.Identifier, ...], inside: bool) -> Scalar | None:
        if inside:
            column = columns(parts, inside)
            return answers(parts, inside) if column is None else column
        column = None
        try:
            answer = answers(parts, inside)
        except QueryError:  # several columns of the answer have the name
            if (column := columns(parts, inside)) is None:
                raise
            return column
        if answer is None or (isinstance(answer, exp.Dot) and not is_of_answer(answer)):
            column = columns(parts, inside)
        return answer if column is None else column

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

    return [
        rows.binder("QUALIFY", None, [columns, alias_lookup(items)], windows=True).bind(
            qualify.this
        )
    ]


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
