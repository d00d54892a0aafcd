"""Relations in FROM: tracked relations, views, named and derived tables, VALUES, range, samples.

WITH RECURSIVE defines levels, each the recursive query over the level before it. A level that is a
select-project-join of the level before it and of tracked relations is computed once, level by
level, with the tokens of the derivations of its rows: the plan reads the rows as a source, whatever
the number of levels. Otherwise the query is a union of its levels.

After a deletion level n can only have rows that are among its potential tuples, and a level over
an empty one is empty. So the levels up to the last that has potential tuples, found by running,
give the answer whatever is deleted, also where a deletion lets rows appear. The annotation in N[X]
may be an infinite series only where the plain query does not end either (T. J. Green,
G. Karvounarakis, V. Tannen, Provenance Semirings, PODS 2007, section 5).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    Constant,
    Draw,
    FirstRows,
    Iterated,
    Iteration,
    Level,
    Limit,
    Relation,
    Sample,
    Scalar,
    Scan,
    UnionAll,
    Watermarked,
    Windows,
    walk,
)
from rewriter.algebra.leaves import LEVEL_ROW, LEVEL_VIEW
from rewriter.bind.catalog import TrackedRelation, ViewText
from rewriter.bind.columns.scope import Bound, Outer, Scope, lambda_variables, scope_of
from rewriter.bind.context import (
    BindContext,
    Definition,
    Recursion,
    refuse_set_operation,
    refuse_table_clauses,
)
from rewriter.bind.functions.calls import with_aggregates
from rewriter.bind.parameters import substitute
from rewriter.bind.scalars import ScalarBinder
from rewriter.bind.subqueries.values import Subqueries
from rewriter.bind.text import SourceText, parse, unwrap
from rewriter.dialect import BoundedCTE, is_named
from rewriter.errors import QueryError, UntrackedError
from rewriter.position import Span

_MOST_ARGUMENTS = 4


def bind_values(values: exp.Values, context: BindContext) -> Bound:
    """Bind an inline table; its rows are numbered by one more column, which is out of sight."""
    rows = [[_bind_constant(part, context) for part in _parts(row)] for row in values.expressions]
    width = len(rows[0])
    for row, written in zip(rows, values.expressions, strict=True):
        if len(row) != width:
            problem = f"a row of {len(row)} values among rows of {width}"
            raise context.source.error(problem, "Give every row as many values.", written)
    columns = tuple(context.names.attribute(f"col{number + 1}") for number in range(width))
    position = context.names.attribute("position")
    numbered = [
        exp.Tuple(expressions=[*row, exp.Literal.number(number)]) for number, row in enumerate(rows)
    ]
    table = exp.Values(expressions=numbered)
    constant = Constant(table, (*columns, position), position)
    names = [attribute.name for attribute in columns]
    shown = context.project(constant, names, [attribute.column() for attribute in columns])
    return Bound(shown, scope_of(shown.attributes))


def is_range(node: exp.Expr) -> bool:
    """Return True if a node calls the table function range."""
    return isinstance(node, exp.Anonymous) and str(node.this).lower() == "range"


def bind_range(call: exp.Expr, context: BindContext) -> Bound:
    """Bind range([start,] end [, step [, partitions]])."""
    if not 1 <= len(call.expressions) <= _MOST_ARGUMENTS:
        advice = "Write range(start, end, step)."
        problem = f"range of {len(call.expressions)} arguments is not supported"
        raise context.source.unsupported(problem, advice, call)
    arguments = [_bind_constant(part, context) for part in call.expressions]
    number = context.names.attribute("id")
    table = exp.Anonymous(this="range", expressions=arguments)
    return Bound(Constant(table, (number,), number), scope_of((number,)))


def _parts(row: exp.Expr) -> list[exp.Expr]:
    return list(row.expressions) if isinstance(row, exp.Tuple) else [row]


def _bind_constant(written: exp.Expr, context: BindContext) -> Scalar:
    subqueries = Subqueries(context)
    binder = ScalarBinder(context, (), subqueries, Scope(), "cannot stand among constants")
    scalar = binder.bind(written)
    if subqueries.ids:
        advice = "Join with the subquery instead."
        raise context.source.unsupported("a subquery in VALUES is not supported", advice, written)
    return scalar


def bind_sample(bound: Bound, sample: exp.TableSample | None, context: BindContext) -> Bound:
    """Bind a sample of a relation, if there is one.

    A number of rows is a limit, to Spark too: the first ones, in the order of their tokens.

    Raises
    ------
    UnsupportedError
        The number of rows is an expression.
    """
    if sample is None:
        return bound
    source = context.source
    span = source.keyword_before(sample, "TABLESAMPLE")
    size = sample.args.get("size")
    if size is None:
        return Bound(Sample(bound.relation, sample.copy(), span), bound.scope)
    number = unwrap(size)
    if not isinstance(number, exp.Literal) or number.is_string or not str(number.this).isdigit():
        problem = "TABLESAMPLE of an expression is not supported"
        raise source.unsupported(problem, "Give a number of rows.", span or sample)
    return Bound(Limit(bound.relation, int(number.this), 0, span), bound.scope)


_ADVICE = "Store the recursion's answer in a relation and track it."
_CLAUSES = ("order", "limit", "offset")


def unfold(definition: Definition, cte: exp.CTE, inside: BindContext) -> Bound:
    """Bind a recursive query as the union of its levels.

    ``inside`` is the context of its body, in which its name is not defined.

    Raises
    ------
    UnsupportedError
        It is not a first query UNION ALL a recursive one, or chance decides something in it.
    """
    source = definition.context.source
    span = source.span(cte.args["alias"].this)
    known = definition.context.environment.levels
    if known is None:
        raise source.unsupported("WITH RECURSIVE is not supported here", _ADVICE, span)
    union = _body(definition, inside, span)
    key = f"{source.view or ''}:{span.start if span else 0}"
    first = inside.bind.query(union.this, inside, definition.outer)
    levels = [first.relation]
    names = definition.columns or tuple(entry.name for entry in first.scope.entries)
    most = int(cte.args["level"].name) if isinstance(cte, BoundedCTE) else None
    output = tuple(inside.names.attribute(a.name) for a in first.relation.attributes)

    def after(before: Relation) -> Relation:
        shared = Bound(before, first.scope.over(before.attributes))
        shared_definition = Definition(
            definition.name, definition.query, names, inside, None, shared
        )
        return _next(union.expression, inside.with_cte(shared_definition), definition, first, span)

    depth = known.get(key)
    if not isinstance(depth, int):
        table = depth or level_table(len(output))
        rows = Iteration(table, output, first.relation, span)
        step = after(rows) if depth is None else None
        inside.recursions[key] = Recursion(definition.name, (first.relation,), span, step, most)
        return Bound(rows, first.scope.over(output))
    for _ in range(depth):
        levels.append(after(Level(levels[-1], span)))
    inside.recursions[key] = Recursion(definition.name, tuple(levels), span, most=most)
    if len(levels) == 1:
        return first
    return Bound(UnionAll(tuple(levels), output, span), first.scope.over(output))


def level_table(columns: int) -> Iterated:
    """Return the view in which a step finds the rows of the level before it."""
    return Iterated(LEVEL_VIEW, tuple(f"c{number}" for number in range(columns)), LEVEL_ROW)


def _body(definition: Definition, inside: BindContext, span: Span | None) -> exp.Union:
    body = definition.query
    plain = isinstance(body, exp.Union) and not body.args.get("distinct")
    if not plain or any(body.args.get(clause) for clause in _CLAUSES):
        problem = "a recursive query that is not a query UNION ALL another is not supported"
        raise inside.source.unsupported(problem, _ADVICE, span)
    assert isinstance(body, exp.Union)
    refuse_set_operation(body, inside.source)
    return body


def _next(
    query: exp.Query, context: BindContext, definition: Definition, first: Bound, span: Span | None
) -> Relation:
    """Return the level after the one that the recursive name stands for."""
    relation = context.bind.query(query, context, definition.outer).relation
    have, need = len(relation.attributes), len(first.relation.attributes)
    if have != need:
        problem = f"UNION of queries of {need} and {have} columns"
        raise context.source.error(problem, "Select as many columns in each of them.", span)
    if any(isinstance(operator, (Draw, Sample)) for operator in walk(relation)):
        problem = "a recursive query in which chance decides something is not supported"
        raise context.source.unsupported(problem, _ADVICE, span)
    return relation


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
    if not is_named(table):
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
    if isinstance(relation, ViewText):
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


def aliased_join(bound: Bound, subquery: exp.Subquery, source: SourceText) -> Bound:
    """Return a join in brackets, under its alias if it has one."""
    return aliased(bound, subquery, (), source) if subquery.args.get("alias") else bound


def bind_definition(definition: Definition, reference: exp.Expr, source: SourceText) -> Bound:
    """Bind one reference to a named query.

    Its text is bound anew for each, but a query that groups or limits is computed once: all
    references share its plan, each under attributes of its own. Where chance decides something,
    that is a common table expression to Spark too; every reference to a view chooses anew.
    """
    context = definition.context
    bound = definition.shared
    if bound is None:
        bound = context.bind.query(definition.query, context, definition.outer)
        if not (definition.once or _computed_once(bound.relation, _is_view(definition))):
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


def _bind_view(view: ViewText, table: exp.Table, context: BindContext) -> Bound:
    key = view.name.lower()
    if key in context.reading:
        advice = "Define the view without itself."
        raise context.source.error(f"view {view.name} reads itself", advice, table)
    if key not in context.views:
        inside = context.inside_view(view.name, view.text)
        query = substitute(parse(inside.source), None, sql=view.text)
        query = with_aggregates(query, context.environment.aggregates)
        context.names.reserve(lambda_variables(query))
        context.views[key] = Definition(
            view.name, query, view.columns, inside, None, once=view.once
        )
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


def aliased(bound: Bound, node: exp.Expr, parts: tuple[str, ...], source: SourceText) -> Bound:
    """Return a relation under the alias that FROM gives it, else under its own name."""
    alias = node.args.get("alias")
    if alias is None:
        return Bound(bound.relation, bound.scope.renamed(parts))
    columns = tuple(column.name for column in alias.columns) or None
    name = (alias.name,) if alias.name else ()
    bound = renamed(bound, columns, node, source)
    return Bound(bound.relation, bound.scope.renamed(name))


def renamed(
    bound: Bound, columns: Sequence[str] | None, node: exp.Expr, source: SourceText
) -> Bound:
    """Return a relation with other names for its columns, where there are any."""
    if columns is None:
        return bound
    have = len(bound.scope.visible)
    if len(columns) != have:
        problem = f"{len(columns)} column names are given for {have} columns"
        raise source.error(problem, "Name each column once.", node)
    return Bound(bound.relation, bound.scope.renamed((), columns))
