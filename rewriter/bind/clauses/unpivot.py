"""UNPIVOT: every row once for each of some columns."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import Filter, Generate, Scalar, is_known, references
from rewriter.bind.clauses.generators import struct_array
from rewriter.bind.columns.scope import Bound, Entry, Scope
from rewriter.bind.context import BindContext
from rewriter.bind.scalars import ScalarBinder
from rewriter.bind.subqueries.values import Subqueries
from rewriter.position import Span


def bind_unpivot(bound: Bound, pivot: exp.Pivot, context: BindContext, span: Span | None) -> Bound:
    """Bind UNPIVOT over a relation: the other columns, the name of a column, and its value.

    Rows whose values are all NULL are left out, unless NULLs are included.
    """
    (values,) = pivot.expressions
    (field,) = pivot.args["fields"]
    value_names = [part.name for part in _parts(values)]
    lookup = bound.scope.lookup(context.source)
    refusal = "cannot stand in UNPIVOT"
    binder = ScalarBinder(context, (lookup,), Subqueries(context), bound.scope, refusal)
    rows: list[Sequence[Scalar]] = []
    used: set[str] = set()
    for written in field.expressions:
        named = isinstance(written, exp.PivotAlias)
        columns = _parts(written.this if named else written)
        scalars = [binder.bind(column) for column in columns]
        used.update(name for scalar in scalars for name in references(scalar))
        name = written.alias if named else "_".join(column.name for column in columns)
        rows.append([exp.Literal.string(name), *scalars])
    names = [field.this.name, *value_names]
    output = tuple(context.names.attribute(name) for name in names)
    position = context.names.attribute("pos")
    relation = Generate(
        bound.relation, struct_array(rows), position, output, outer=False, inline=True, span=span
    )
    entries = tuple(Entry(attribute, attribute.name, origin=attribute.id) for attribute in output)
    kept = tuple(entry for entry in bound.scope.visible if entry.attribute.id not in used)
    scope = Scope((*kept, *entries))
    if pivot.args.get("include_nulls"):
        return Bound(relation, scope)
    there = [is_known(attribute.column()) for attribute in output[1:]]
    return Bound(Filter(relation, exp.or_(*there), span), scope)


def _parts(node: exp.Expr) -> Sequence[exp.Expr]:
    return node.expressions if isinstance(node, exp.Tuple) else [node]
