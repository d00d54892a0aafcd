"""What memberships and lookups compare, as a statement whose types are looked at."""

from __future__ import annotations

from sqlglot import exp

from rewriter.blocks import (
    NOTHING,
    Block,
    Named,
    qualified,
)
from rewriter.emit.core import Tables
from rewriter.emit.filled import fill
from rewriter.emit.tail import read
from rewriter.emit.trees import from_, named, table


def comparisons(block: Block, tables: Tables) -> exp.Select:
    """Return what memberships and outer lookups compare: each outer value, then the inner one.

    Their types are what is asked for: the query has no rows.
    """
    select = read(block, tables, annotated=True).where(exp.false())
    columns: list[Named] = []
    for number, probe in enumerate(block.probes):
        select = from_(select, table(tables.rows(probe.block), f"s{number}"))
        for left, column in probe.pairs:
            index = len(columns) // 2
            columns.append((f"_left{index}", fill(left, block, tables)))
            columns.append((f"_right{index}", qualified(f"s{number}", column)))
    return select.select(*named(columns or NOTHING))
