"""Aggregates of a plan as calls of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from rewriter.frames.catalyst.functions import function_name
from rewriter.frames.catalyst.tree import Node
from rewriter.frames.catalyst.windows import ordered
from rewriter.frames.writing.calls import call
from rewriter.scalars.aggregates import called

if TYPE_CHECKING:
    from rewriter.frames.catalyst.scalars import CatalystScalars


def aggregate(scalars: CatalystScalars, node: Node) -> exp.Expr:
    """Write an aggregate with its DISTINCT and FILTER."""
    aggregate = scalars.write(node.required("aggregateFunction"))
    if node.fields.get("isDistinct"):
        bare = called(aggregate)
        bare.set("expressions", [exp.Distinct(expressions=bare.expressions)])
    condition = node.one("filter")
    if condition is None:
        return aggregate
    return exp.Filter(this=aggregate, expression=exp.Where(this=scalars.write(condition)))


def first_value(scalars: CatalystScalars, node: Node) -> exp.Expr:
    """Write FIRST or LAST, which may pass over NULLs."""
    name = function_name(node) or node.kind
    ignored = [exp.Boolean(this=True)] if node.fields.get("ignoreNulls") else []
    return call(name, scalars.write(node.children[0]), *ignored)


def listed(scalars: CatalystScalars, node: Node) -> exp.Expr:
    """Write LISTAGG with its delimiter and order."""
    value, delimiter, *keys = node.children
    given = [] if delimiter.fields.get("value") is None else [scalars.write(delimiter)]
    listed = call("listagg", scalars.write(value), *given)
    return _within(listed, [ordered(scalars.write, key) for key in keys]) if keys else listed


def mode(scalars: CatalystScalars, node: Node) -> exp.Expr:
    """Write MODE, of equally frequent values the least or the greatest."""
    value, least = scalars.write(node.children[0]), node.fields.get("reverseOpt")
    if least is None:
        return call("mode", value)
    return _within(call("mode"), [exp.Ordered(this=value, desc=not least, nulls_first=bool(least))])


def percentile(scalars: CatalystScalars, node: Node) -> exp.Expr:
    """Write PERCENTILE_CONT or PERCENTILE_DISC."""
    value, share = (scalars.write(child) for child in node.children[:2])
    name = function_name(node) or node.kind
    descending = bool(node.fields.get("reverse"))
    key = exp.Ordered(this=value, desc=descending, nulls_first=not descending)
    return _within(call(name, share), [key])


def _within(aggregate: exp.Expr, keys: list[exp.Ordered]) -> exp.Expr:
    return exp.WithinGroup(this=aggregate, expression=exp.Order(expressions=keys))
