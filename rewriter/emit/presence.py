"""Scalars that fail only for rows that are there."""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import Block
from rewriter.emit.core import Tables, exists
from rewriter.emit.trees import conjunction
from rewriter.raising import may_raise, without_errors


def only_where_present(
    scalar: Scalar, block: Block, tables: Tables, *, potential: bool = False
) -> Scalar:
    """Return a scalar that raises no error for a padded row of an outer join with a partner.

    Spark is free to compute a condition before it asks for the partner; CASE is the only order
    that it keeps. ``potential``: the other rows, which are there after a deletion, are asked for
    too; of them the scalar is NULL where it fails.
    """
    asked = [semi for semi in block.semis if semi.guard is not None]
    present = conjunction([exists(semi, tables.rows(semi.block)) for semi in asked])
    if present is None or not may_raise(scalar):
        return scalar
    case = exp.Case().when(present, scalar.copy())
    return case.else_(without_errors(scalar)) if potential else case
