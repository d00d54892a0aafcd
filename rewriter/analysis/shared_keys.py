"""The keys of a COGROUP: values that both sides share."""

from __future__ import annotations

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import Block


def is_shared_key(block: Block, scalar: Scalar) -> bool:
    """Return True if a scalar is COALESCE of a key of both sides of a COGROUP.

    A tuple that is present has at least one side, and both have the key: the value is stable.
    """
    scalar = scalar.unnest()
    if not isinstance(scalar, exp.Coalesce):
        return False
    parts = [part.unnest() for part in (scalar.this, *scalar.expressions)]
    keys = {
        (outer.alias, right): left
        for outer in block.lookups
        if not outer.factor and outer.guard is not None
        for left, right in outer.pairs
    }
    keys_read = [
        keys.get((part.table, part.name)) if isinstance(part, exp.Column) else None
        for part in parts
    ]
    return len(parts) > 1 and None not in keys_read and len(set(keys_read)) == 1
