"""Scans of tracked relations, and relations that the text itself gives."""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import (
    Constant,
    Iteration,
    OneRow,
    Scalar,
    Scan,
)
from rewriter.blocks import (
    ConstantSource,
    IterationSource,
    ScanSource,
    qualified,
)
from rewriter.lower.context import LoweringContext
from rewriter.lower.scope import OpenCore, TokenLeaves


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
