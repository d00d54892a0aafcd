"""Comparisons of CHAR(n) texts, which Spark pads together with the texts they are compared with.

CHAR is not part of a column's type: Spark stores it in column metadata, and passes it on with
columns, through groupings by them and through unions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import GROUP, MEMBER, Block, topological

_Column: TypeAlias = tuple[str, str]

_COMPARISONS = (
    exp.EQ,
    exp.NEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Between,
    exp.In,
    exp.Case,
    exp.Nullif,
)


def padding(root: Block, lengths: Callable[[Block], Mapping[str, str]]) -> frozenset[str]:
    """Return the blocks whose tails compare a CHAR with anything but a CHAR of its length.

    Parameters
    ----------
    root
        The block of the answer.
    lengths
        The columns of a block's members that are CHAR, with their types.
    """
    outputs: dict[str, dict[str, str]] = {}
    padded = []
    for block in topological(root):
        columns = _columns(block, lengths, outputs)
        kinds = ((output.name, columns.get(_place(output.scalar))) for output in block.outputs)
        outputs[block.name] = {name: kind for name, kind in kinds if kind is not None}
        if columns and any(
            len(_kinds(node, columns)) > 1
            for scalar in block.scalars()
            for node in scalar.find_all(*_COMPARISONS)
        ):
            padded.append(block.name)
    return frozenset(padded)


def _kinds(node: exp.Expr, columns: Mapping[_Column, str]) -> set[str | None]:
    """Return the CHAR types of the operands of a comparison, None for other operands."""
    operands = [part for key, part in node.args.items() if key != "default" and part]
    flat = [
        operand
        for part in operands
        for operand in (part if isinstance(part, list | tuple) else [part])
    ]
    compared = [operand.this if isinstance(operand, exp.If) else operand for operand in flat]
    kinds = {
        columns.get(_place(operand)) if isinstance(operand, exp.Expr) else None
        for operand in compared
    }
    return kinds if any(kind is not None for kind in kinds) else set()


def _columns(
    block: Block,
    lengths: Callable[[Block], Mapping[str, str]],
    outputs: Mapping[str, Mapping[str, str]],
) -> dict[_Column, str]:
    """Return the columns that scalars of a block's tail read and that are CHAR."""
    kinds: dict[_Column, str] = {}
    if block.core is not None:
        kinds |= {(MEMBER, name): kind for name, kind in lengths(block).items()}
    for alias, inner in block.rows_read.items():
        kinds |= {(alias, name): kind for name, kind in outputs[inner.name].items()}
    keys = ((name, kinds.get(_place(key))) for name, key in block.keys)
    return kinds | {(GROUP, name): kind for name, kind in keys if kind is not None}


def _place(scalar: Scalar) -> _Column:
    bare = scalar.unnest()
    return (bare.table, bare.name) if isinstance(bare, exp.Column) else ("", "")
