"""Scalars of a tail as they stand in a statement: values of subqueries are read in place."""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import Block, Lookup, qualified
from rewriter.emit.core import Tables
from rewriter.emit.trees import (
    table,
)
from rewriter.scalars.columns import rewrite_columns


def fill(scalar: Scalar, block: Block, tables: Tables) -> Scalar:
    """Put scalar subqueries in the place of the columns that stand for them."""
    scalars = {lookup.alias: lookup for lookup in block.lookups if lookup.scalar}
    if not scalars:
        return scalar

    def leaf(node: exp.Column) -> Scalar:
        if node.table not in scalars:
            return node
        lookup: Lookup = scalars[node.table]
        rows = table(tables.rows(lookup.block), lookup.alias)
        return exp.select(qualified(lookup.alias, node.name)).from_(rows).subquery()

    return rewrite_columns(scalar, leaf)
