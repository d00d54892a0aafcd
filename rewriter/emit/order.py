"""ORDER BY, LIMIT and OFFSET of a block: sorted by its keys, then by what tells its rows apart."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import Scalar, SortKey
from rewriter.blocks import GROUP, UNION, Block, Kind, qualified
from rewriter.emit.core import Tables
from rewriter.emit.filled import fill
from rewriter.emit.trees import (
    SORT,
    named,
    no_ordinal,
)


def with_post(select: exp.Select, block: Block, tables: Tables) -> exp.Select:
    if any(key.scalar.find(exp.Window) for key in block.order):
        return with_post_outside(select, block, tables)
    keys = [ordered(key, block, tables) for key in block.order]
    if block.limited:
        keys += [tie_break(block, name, tables) for name in block.tie_break]
    return cut(select, block, keys)


def with_post_outside(select: exp.Select, block: Block, tables: Tables) -> exp.Select:
    """Order by columns of a subquery: a window function cannot stand in ORDER BY."""
    shown = select.named_selects
    sorting = [
        (f"{SORT}{number}", fill(key.scalar, block, tables))
        for number, key in enumerate(block.order)
    ]
    inner = select.select(*named((n, scalar) for n, scalar in sorting if n not in shown))
    outer = exp.select(*(qualified("r", name) for name in shown)).from_(inner.subquery("r"))
    return cut(outer, block, written_keys(block))


def written_keys(block: Block) -> list[exp.Ordered]:
    """Return what rows are sorted by where their sort keys are columns of ``r``."""
    keys = [
        exp.Ordered(
            this=qualified("r", f"{SORT}{number}"),
            desc=key.descending,
            nulls_first=key.nulls_first,
        )
        for number, key in enumerate(block.order)
    ]
    if block.limited:
        keys += [
            exp.Ordered(this=qualified("r", name), desc=False, nulls_first=True)
            for name in block.tie_break
        ]
    return keys


def cut(select: exp.Select, block: Block, keys: Sequence[exp.Ordered]) -> exp.Select:
    if keys:
        select = select.order_by(*keys)
    if block.limit is not None:
        select = select.limit(block.limit)
    if block.offset:
        select = select.offset(block.offset)
    return select


def ordered(key: SortKey, block: Block, tables: Tables) -> exp.Ordered:
    return exp.Ordered(
        this=no_ordinal(fill(key.scalar, block, tables)),
        desc=key.descending,
        nulls_first=key.nulls_first,
    )


def tie_break(block: Block, name: str, tables: Tables) -> exp.Ordered:
    if block.kind is Kind.GROUP:
        scalar: Scalar = qualified(GROUP, name)
    elif block.kind is Kind.UNION:
        scalar = qualified(UNION, name)
    else:
        columns = dict([*block.keys, *((o.name, o.scalar) for o in block.outputs)])
        scalar = no_ordinal(fill(columns[name], block, tables))
    return exp.Ordered(this=scalar.copy(), desc=False, nulls_first=True)
