"""WITH RECURSIVE: levels, each the recursive query over the level before it.

Where a level is a select-project-join of the level before it and tracked relations, its rows are
computed once, level by level, with the tokens of their derivations: the plan reads them as a
source, whatever their number of levels. Otherwise the query is a union of its levels.

After a deletion level n can only have rows that are among its potential tuples, and a level over
an empty one is empty. So the levels up to the last that has potential tuples, found by running,
give the answer whatever is deleted, also where a deletion lets rows appear. The annotation in N[X]
may be an infinite series only where the plain query does not end either (T. J. Green,
G. Karvounarakis, V. Tannen, Provenance Semirings, PODS 2007, section 5).
"""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import (
    Draw,
    Iterated,
    Iteration,
    Level,
    Relation,
    Sample,
    UnionAll,
    walk,
)
from rewriter.algebra.recursion import LEVEL_ROW, LEVEL_VIEW
from rewriter.bind.clauses.refusals import refuse_set_operation
from rewriter.bind.columns.scope import Bound
from rewriter.bind.context import BindContext, Definition, Recursion
from rewriter.dialect import BoundedCTE
from rewriter.position import Span

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
