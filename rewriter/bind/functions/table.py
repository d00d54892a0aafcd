"""Table functions of whole relations: ``f(TABLE(t) PARTITION BY k ORDER BY o)``.

The function is a black box over the rows of a partition. They are a group, whose rows are collected
and put in order; another function, which carries this one, applies it to the array and numbers the
rows that it makes. So a row depends on all members of its group, and is identified by the group's
keys and its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import Aggregate, Generate, Relation, Scalar, SortKey
from rewriter.bind.catalog import TableFunction
from rewriter.bind.clauses.sources import aliased, bind_table
from rewriter.bind.columns.scope import Bound, Scope, scope_of
from rewriter.bind.context import BindContext, refuse_table_clauses
from rewriter.bind.scalars import ScalarBinder
from rewriter.bind.subqueries.values import Subqueries
from rewriter.bind.text import unwrap
from rewriter.dialect import TableArgument
from rewriter.scalars.aggregates import in_order

_NAME = re.compile(r"[^\W\d]\w*")


def table_argument(call: exp.Expr) -> TableArgument | None:
    """Return the first argument of a call that is a relation; None without."""
    values = map(_value, call.expressions)
    return next((value for value in values if isinstance(value, TableArgument)), None)


def bind_table_function(table: exp.Table, context: BindContext) -> Bound:
    """Bind the call of a table function of a relation in FROM.

    Raises
    ------
    UnsupportedError
        Where the function is not known, or what it sees at once is not a function of the data.
    """
    source, call = context.source, table.this
    refuse_table_clauses(table, source)
    argument = table_argument(call)
    assert argument is not None
    function = _function(call, argument, context)
    bound = _relation(argument, context)
    _check_names(bound, argument, context)
    keys, order = _partitioning(bound, argument, context)
    groups, rows = _groups(bound.relation, keys, _row(bound.scope), order, context)
    carried = exp.Anonymous(
        this=function.carrier,
        expressions=[rows, *_arguments(call, argument, context)],
    )
    attribute_of = context.names.attribute
    output = tuple(attribute_of(name) for name in function.columns)
    generated = Generate(
        groups,
        carried,
        attribute_of("at"),
        output,
        function=True,
        placed=True,
        span=source.span(call),
    )
    columns: list[Scalar] = [attribute.column() for attribute in output]
    projection = context.project(generated, list(function.columns), columns)
    return aliased(Bound(projection, scope_of(projection.attributes)), table, (), source)


def _function(call: exp.Expr, argument: TableArgument, context: BindContext) -> TableFunction:
    name = str(call.this)
    function = context.environment.tables.get(name.lower())
    if function is None or name.lower() not in context.environment.functions:
        problem = f"the table function {name} of a relation is not supported"
        advice = f"Register a udtf of rows, with its return type: ls.register({name!r}, ...)."
    elif sum(isinstance(_value(part), TableArgument) for part in call.expressions) > 1:
        problem = f"the table function {name} of several relations is not supported"
        advice = "Join the relations first."
    elif not (argument.args.get("single") or argument.args.get("partition_by")):
        problem = f"{name}(TABLE(...)) sees rows together that no clause brings together"
        advice = "Say which: PARTITION BY their keys, or WITH SINGLE PARTITION."
    else:
        return function
    raise context.source.unsupported(problem, advice, call)


def _value(part: exp.Expr) -> exp.Expr:
    value: exp.Expr = part.expression if isinstance(part, exp.Kwarg) else part
    return value


def _relation(argument: TableArgument, context: BindContext) -> Bound:
    if isinstance(argument.this, exp.Table):
        return bind_table(argument.this, context)
    return context.bind.query(argument.this, context, None)


def _check_names(bound: Bound, argument: TableArgument, context: BindContext) -> None:
    """Refuse columns that are named by the text of their expression, which may be another one."""
    for entry in bound.scope.visible:
        if not _NAME.fullmatch(entry.name):
            problem = f"a table function of a relation with a column called {entry.name}"
            advice = "Name it: TABLE(SELECT ... AS a)."
            raise context.source.unsupported(f"{problem} is not supported", advice, argument.parent)


def _partitioning(
    bound: Bound, argument: TableArgument, context: BindContext
) -> tuple[list[Scalar], list[SortKey]]:
    subqueries = Subqueries(context)
    lookup = bound.scope.lookup(context.source)
    refusal = "cannot stand in PARTITION BY or ORDER BY of a relation"
    binder = ScalarBinder(context, (lookup,), subqueries, bound.scope, refusal)
    keys = [unwrap(binder.bind(key)) for key in argument.args.get("partition_by") or []]
    order = [
        SortKey(
            binder.bind(item.this), bool(item.args.get("desc")), bool(item.args.get("nulls_first"))
        )
        for item in argument.args.get("order") or []
    ]
    if subqueries.ids:
        problem = "a subquery in PARTITION BY or ORDER BY of a relation is not supported"
        advice = "Compute it in the relation: TABLE(SELECT ...)."
        raise context.source.unsupported(problem, advice, argument.parent)
    return keys or [exp.true()], order


def _row(scope: Scope) -> Scalar:
    return _struct([(entry.name, entry.attribute.column()) for entry in scope.visible])


def _struct(fields: Sequence[tuple[str, exp.Expr]]) -> exp.Anonymous:
    parts = [part for name, value in fields for part in (exp.Literal.string(name), value.copy())]
    return exp.Anonymous(this="named_struct", expressions=parts)


def _groups(
    relation: Relation,
    keys: Sequence[Scalar],
    row: Scalar,
    order: Sequence[SortKey],
    context: BindContext,
) -> tuple[Relation, Scalar]:
    """Return the partitions as groups, and their rows: an array in the order asked for."""
    listed = in_order(exp.AnonymousAggFunc(this="collect_list", expressions=[row]), order)
    names = context.names
    output = tuple(names.attribute(f"partition{number}") for number in range(len(keys)))
    rows = names.attribute("rows")
    return Aggregate(relation, output, tuple(keys), (rows,), (listed,)), rows.column()


def _arguments(call: exp.Expr, argument: TableArgument, context: BindContext) -> list[exp.Expr]:
    """Return where the relation stands among the arguments, then the others as they are written."""
    refusal = "cannot stand in the arguments of a table function"
    binder = ScalarBinder(context, (), Subqueries(context), Scope(), refusal)
    relation_argument: exp.Expr = exp.null()
    other_arguments: list[exp.Expr] = []
    for number, part in enumerate(call.expressions):
        named = isinstance(part, exp.Kwarg)
        if _value(part) is argument:
            relation_argument = (
                exp.Literal.string(part.name) if named else exp.Literal.number(number)
            )
        elif named:
            other_arguments.append(
                exp.Kwarg(this=part.this, expression=binder.bind(part.expression))
            )
        else:
            other_arguments.append(binder.bind(part))
    return [relation_argument, *other_arguments]
