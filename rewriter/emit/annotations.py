"""The annotation of a member, as the rewritten query shows it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import MEMBER, Block, Kind, Named, qualified
from rewriter.scalars.aggregates import arguments


def monomial(block: Block) -> Scalar:
    """Return the struct of a member: its tokens and references, and the values of its tensors."""
    if block.kind is Kind.UNION:
        raise ValueError("a union takes the annotations of its branches")
    fields: list[Named] = []
    for token in block.tokens:
        fields.append((token.alias, pack([qualified(MEMBER, c) for c in token.columns])))
    for lookup in block.lookups:
        if not lookup.scalar:
            ids = [qualified(lookup.alias, c) for c in lookup.block.identity]
            fields.append((lookup.alias, pack(ids)))
    for number, semi in enumerate(block.semis):
        name = semi.block.name if number == 0 else f"{semi.block.name}_{number + 1}"
        word = "absent" if semi.negated else "exists"
        left_side = pack([left for left, _ in semi.pairs])
        if semi.guard is not None:
            left_side = exp.Case().when(semi.guard.copy(), left_side.copy())
        fields.append((f"{name}_{word}", left_side))
    for outer in block.outer_lookups:
        if outer.factor:
            ids = [qualified(outer.alias, column) for column in outer.block.identity]
            fields.append((outer.alias, pack(ids)))
    for name, call in block.aggregates:
        read = [argument for argument in arguments(call) if not isinstance(argument, exp.Star)]
        if read:
            fields.append((f"{name}_value", pack(read)))
    if not fields:
        fields.append(("one", exp.Literal.number(1)))
    parts: list[Scalar] = []
    for name, scalar in fields:
        parts += [exp.Literal.string(name), scalar.copy()]
    return exp.Anonymous(this="named_struct", expressions=parts)


def pack(scalars: Sequence[Scalar]) -> Scalar:
    if len(scalars) == 1:
        return scalars[0]
    if not scalars:
        return exp.true()
    names = [exp.Literal.string(f"_{number + 1}") for number in range(len(scalars))]
    pairs = [part for pair in zip(names, scalars, strict=True) for part in pair]
    return exp.Anonymous(this="named_struct", expressions=[p.copy() for p in pairs])
