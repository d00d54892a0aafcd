"""Scans, filters, projections, inner joins, and deduplication without an order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import (
    Attribute,
    Constant,
    Filter,
    FirstRows,
    InnerJoin,
    Iteration,
    OneRow,
    Project,
    Relation,
    Scalar,
    Scan,
    Watermarked,
    Windows,
    conjuncts,
)
from rewriter.analysis.may_throw import may_raise
from rewriter.blocks import GROUP, ConstantSource, IterationSource, ScanSource, qualified
from rewriter.lower.context import LoweringContext, Open, OpenCore, TokenLeaves, cross
from rewriter.lower.inputs import core_of, derived, lowered, unlimited
from rewriter.scalars.text import rewrite_columns


def lower_scan(context: LoweringContext, scan: Scan) -> OpenCore:
    source = context.tokens[scan.relation]
    alias = context.names.alias(scan.relation.rsplit(".", 1)[-1])
    env: dict[str, Scalar] = {
        attribute.id: qualified(alias, column)
        for attribute, column in zip(scan.output, scan.columns, strict=True)
    }
    leaves = tuple(qualified(alias, column) for column in source.columns)
    return OpenCore(
        env=env,
        sources=(ScanSource(alias, scan.relation, source.view),),
        tokens=(TokenLeaves(scan.relation, alias, leaves),) if leaves else (),
        stable={alias: None},
        untokened=not leaves,
    )


def _lower_iteration(context: LoweringContext, relation: Iteration) -> OpenCore:
    table = relation.table
    alias = context.names.alias("recursion")
    pairs = zip(relation.output, table.columns, strict=True)
    tokens = tuple(
        TokenLeaves(name, context.names.alias(name), tuple(qualified(alias, c) for c in columns))
        for name, columns in table.tokens
    )
    relations = tuple(sorted({name for name, _ in table.tokens}))
    return OpenCore(
        env={attribute.id: qualified(alias, column) for attribute, column in pairs},
        sources=(IterationSource(alias, table.view, relations),),
        tokens=tokens,
        positions=(qualified(alias, table.position),),
        stable={alias: None},
    )


def lower_constant(context: LoweringContext, relation: OneRow | Constant | Iteration) -> OpenCore:
    if isinstance(relation, OneRow):
        return OpenCore(env={})
    if isinstance(relation, Iteration):
        return _lower_iteration(context, relation)
    alias = context.names.alias("values_" if isinstance(relation.table, exp.Values) else "range_")
    columns = tuple(attribute.id for attribute in relation.output)
    source = ConstantSource(alias, relation.table, columns, relation.position.id)
    env = {column: qualified(alias, column) for column in columns}
    return OpenCore(
        env=env,
        sources=(source,),
        positions=(qualified(alias, relation.position.id),),
        stable={alias: None},
    )


def lower_filter(context: LoweringContext, relation: Filter) -> Open:
    open_ = unlimited(context, relation.input, windowed=False)
    predicates = tuple(conjuncts(open_.resolve(relation.predicate)))
    if isinstance(open_, OpenCore):
        return replace(open_, predicates=open_.predicates + predicates)
    keys = dict(open_.keys)
    having = list(open_.having)
    core = open_.core
    for predicate in predicates:
        if core is not None and not open_.sets and keys and _on_keys(predicate, keys):
            below = _below(predicate, keys)
            core = replace(core, predicates=(*core.predicates, below))
        else:
            having.append(predicate)
    return replace(open_, core=core, having=tuple(having))


def lower_project(context: LoweringContext, relation: Project) -> Open:
    open_ = lowered(context, relation.input)
    if open_.post.limited and any(may_raise(s, overflows=False) for s in relation.scalars):
        open_ = _within_limit(context, relation.input, open_)
    env = {
        attribute.id: open_.resolve(scalar)
        for attribute, scalar in zip(relation.output, relation.scalars, strict=True)
    }
    return replace(open_, env=env)


def _within_limit(context: LoweringContext, relation: Relation, open_: Open) -> Open:
    """Return the rows kept by LIMIT as a block, or as they are if tokens do not identify them."""
    if isinstance(open_, OpenCore) and (open_.untokened or open_.copies):
        return open_
    context.pending[relation] = open_
    return derived(context, relation)


def lower_inner_join(context: LoweringContext, relation: InnerJoin) -> OpenCore:
    left, right = core_of(context, relation.left), core_of(context, relation.right)
    joined = cross(left, right)
    predicates = tuple(
        p for c in conjuncts(relation.condition) for p in conjuncts(joined.resolve(c))
    )
    return replace(joined, predicates=joined.predicates + predicates)


def _on_keys(predicate: Scalar, keys: Mapping[str, Scalar]) -> bool:
    columns = list(predicate.find_all(exp.Column))
    return bool(columns) and all(c.table == GROUP and c.name in keys for c in columns)


def _below(predicate: Scalar, keys: Mapping[str, Scalar]) -> Scalar:
    return rewrite_columns(predicate, lambda node: keys[node.name])


def lower_first_rows(context: LoweringContext, relation: FirstRows | Watermarked) -> Open:
    """Lower a deduplication by numbers of the rows with equal keys; a watermark keeps all rows."""
    if isinstance(relation, Watermarked):
        return lowered(context, relation.input)
    number = Attribute(context.names.attribute("number"), "number")
    one = exp.Literal.number(1)
    call = exp.Window(
        this=exp.Anonymous(this="ROW_NUMBER"),
        partition_by=[key.column() for key in relation.keys],
        order=exp.Order(expressions=[exp.Ordered(this=one, nulls_first=True)]),
        over="OVER",
    )
    windows = Windows(relation.input, (number,), (call,), relation.span)
    return lower_filter(context, Filter(windows, exp.EQ(this=number.column(), expression=one)))
