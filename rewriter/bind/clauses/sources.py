"""Relations in FROM: tracked relations, views, common table expressions, derived tables."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    Draw,
    FirstRows,
    Limit,
    Relation,
    Sample,
    Scan,
    Watermarked,
    Windows,
    walk,
)
from rewriter.bind.catalog import TrackedRelation, View
from rewriter.bind.clauses.constants import bind_range, bind_values, is_range
from rewriter.bind.clauses.recursion import unfold
from rewriter.bind.clauses.refusals import refuse_table_clauses
from rewriter.bind.columns.names import lambda_variables
from rewriter.bind.columns.scope import Bound, Outer, scope_of
from rewriter.bind.context import BindContext, Definition
from rewriter.bind.functions.registered import with_aggregates
from rewriter.bind.parameters import substitute
from rewriter.bind.text import Source, parse
from rewriter.errors import QueryError, UntrackedError


def define_ctes(query: exp.Query, context: BindContext, outer: Outer | None) -> BindContext:
    """Return the context inside a query's WITH clause; each name sees those before it.

    With RECURSIVE it may see itself.
    """
    with_ = query.args.get("with_")
    if with_ is None:
        return context
    recursive = bool(with_.args.get("recursive"))
    refused = outer.refused("a common table expression") if outer else None
    for cte in with_.expressions:
        alias = cte.args["alias"]
        columns = tuple(column.name for column in alias.columns) or None
        definition = Definition(alias.name, cte.this, columns, context, refused, around=outer)
        if recursive and _refers_to_itself(definition):
            inside = define_ctes(cte.this, context, outer)
            definition.shared = unfold(definition, cte, inside)
        context = context.with_cte(definition)
    return context


def _refers_to_itself(definition: Definition) -> bool:
    name = definition.name.lower()
    tables = definition.query.find_all(exp.Table)
    return any(len(table.parts) == 1 and table.name.lower() == name for table in tables)


def bind_table(table: exp.Table, context: BindContext) -> Bound:
    """Bind one occurrence of a named relation."""
    source = context.source
    refuse_table_clauses(table, source)
    if not isinstance(table.this, exp.Identifier):
        name = table.this.name or table.this.key
        if is_range(table.this):
            return aliased(bind_range(table.this, context), table, (), source)
        advice = "Store its rows in a relation and track it."
        problem = f"table function {name.lower()} is not supported"
        raise source.unsupported(problem, advice, table)
    parts = tuple(part.name for part in table.parts)
    cte = context.ctes.get(parts[0].lower()) if len(parts) == 1 else None
    if cte is not None:
        return aliased(bind_definition(cte, table, source), table, parts, source)
    name = ".".join(parts)
    try:
        relation = context.environment.catalog.resolve(parts)
    except QueryError as error:
        problem = f"view {name}: {error.problem}"
        raise type(error)(problem, error.advice, source.sql, source.span(table)) from error
    if relation is None:
        advice = f'Track it first: ls.track("{name}", ...).'
        raise UntrackedError(
            f"relation {name} is not tracked", advice, source.sql, source.span(table)
        )
    if isinstance(relation, View):
        return aliased(_bind_view(relation, table, context), table, parts, source)
    return aliased(_bind_scan(relation, table, context), table, parts, source)


def bind_inline(values: exp.Values, context: BindContext) -> Bound:
    """Bind VALUES in FROM."""
    return aliased(bind_values(values, context), values, (), context.source)


def bind_derived(
    node: exp.Expr, query: exp.Query, context: BindContext, outer: Outer | None
) -> Bound:
    """Bind a query in FROM, which stands in ``node``."""
    if isinstance(node, exp.Subquery):
        refuse_table_clauses(node, context.source)
    inner = outer.refused("a derived table") if outer else None
    bound = context.bind.query(query, context, inner)
    return aliased(bound, node, (), context.source)


def aliased_join(bound: Bound, subquery: exp.Subquery, source: Source) -> Bound:
    """Return a join in brackets, under its alias if it has one."""
    return aliased(bound, subquery, (), source) if subquery.args.get("alias") else bound


def bind_definition(definition: Definition, reference: exp.Expr, source: Source) -> Bound:
    """Bind one reference to a named query.

    Its text is bound anew for each, but a query that groups or limits is computed once: all
    references share its plan, each under attributes of its own. Where chance decides something,
    that is a common table expression to Spark too; every reference to a view chooses anew.
    """
    context = definition.context
    bound = definition.shared
    if bound is None:
        bound = context.bind.query(definition.query, context, definition.outer)
        if not _computed_once(bound.relation, _is_view(definition)):
            return renamed(bound, definition.columns, reference, source)
        definition.shared = bound
    names = [attribute.name for attribute in bound.relation.attributes]
    scalars = [attribute.column() for attribute in bound.relation.attributes]
    projection = context.project(bound.relation, names, list(scalars))
    rebound = Bound(projection, scope_of(projection.attributes))
    return renamed(rebound, definition.columns, reference, source)


def _computed_once(relation: Relation, is_view: bool) -> bool:
    operators = list(walk(relation))
    if any(isinstance(operator, (Draw, Sample)) for operator in operators):
        return not is_view
    return any(isinstance(operator, (Aggregate, Limit, Windows)) for operator in operators)


def _is_view(definition: Definition) -> bool:
    return any(definition is view for view in definition.context.views.values())


def _bind_view(view: View, table: exp.Table, context: BindContext) -> Bound:
    key = view.name.lower()
    if key in context.reading:
        advice = "Define the view without itself."
        raise context.source.error(f"view {view.name} reads itself", advice, table)
    if key not in context.views:
        inside = context.inside_view(view.name, view.text)
        query = substitute(parse(inside.source), None, sql=view.text)
        query = with_aggregates(query, context.environment.aggregates)
        context.names.reserve(lambda_variables(query))
        context.views[key] = Definition(view.name, query, view.columns, inside, None)
    bound = bind_definition(context.views[key], table, context.source)
    columns = bound.relation.attributes
    if view.watermark is not None:
        time = columns[view.watermark.place]
        span = context.source.span(table)
        marked = Watermarked(bound.relation, time, view.watermark.delay, span)
        return Bound(marked, bound.scope)
    if view.distinct is None:
        return bound
    keys = tuple(columns[place] for place in view.distinct.keys)
    span = context.source.span(table)
    return Bound(FirstRows(bound.relation, keys, view.distinct.within, span), bound.scope)


def _bind_scan(relation: TrackedRelation, table: exp.Table, context: BindContext) -> Bound:
    output = tuple(context.names.attribute(column) for column in relation.columns)
    span = context.source.span(table)
    scan = Scan(relation.name, relation.columns, output, span, relation.marks)
    return Bound(scan, scope_of(output))


def aliased(bound: Bound, node: exp.Expr, parts: tuple[str, ...], source: Source) -> Bound:
    """Return a relation under the alias that FROM gives it, else under its own name."""
    alias = node.args.get("alias")
    if alias is None:
        return Bound(bound.relation, bound.scope.renamed(parts))
    columns = tuple(column.name for column in alias.columns) or None
    name = (alias.name,) if alias.name else ()
    bound = renamed(bound, columns, node, source)
    return Bound(bound.relation, bound.scope.renamed(name))


def renamed(bound: Bound, columns: Sequence[str] | None, node: exp.Expr, source: Source) -> Bound:
    """Return a relation with other names for its columns, where there are any."""
    if columns is None:
        return bound
    have = len(bound.scope.visible)
    if len(columns) != have:
        problem = f"{len(columns)} column names are given for {have} columns"
        raise source.error(problem, "Name each column once.", node)
    return Bound(bound.relation, bound.scope.renamed((), columns))
