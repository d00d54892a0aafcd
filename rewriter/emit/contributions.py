"""The factors of the members of a block, for evaluation outside of SQL."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from rewriter.blocks import MEMBER, NOTHING, Block, Kind, Named, qualified
from rewriter.emit.core import TableOf, Tables
from rewriter.emit.tail import fill, read
from rewriter.emit.trees import VALUE, from_, named, table, where


@dataclass(frozen=True, slots=True)
class Contributions:
    """What each member contributes to its tuple.

    ``query`` yields the identity of the tuple, then the columns of every factor: ``tokens`` names
    those of each token, ``references`` those of each tuple of another block.
    """

    query: exp.Select
    tokens: tuple[tuple[str, tuple[str, ...]], ...]
    references: tuple[tuple[str, tuple[str, ...]], ...]


def comparisons(block: Block, tables: Tables) -> exp.Select:
    """Return what a block's memberships compare: each outer value, then the inner one."""
    columns: list[Named] = []
    for number, semi in enumerate(block.semis):
        for left, column in semi.pairs:
            place = len(columns) // 2
            columns.append((f"_left{place}", fill(left, block, tables)))
            columns.append((f"_right{place}", qualified(f"s{number}", column)))
    return read(block, tables, semis_as_joins=True).select(*named(columns or NOTHING))


def contributions(block: Block, tables: Tables, values: TableOf | None = None) -> Contributions:
    """Return the members of a block with their factors.

    Parameters
    ----------
    values
        Tables of other blocks' annotations (identity, then ``_value``): a reference is then one
        column, the annotation. None: a reference is the identity of the tuple referred to.
    """
    select = read(block, tables, semis_as_joins=True)
    if block.kind is Kind.ROWS:
        columns: list[Named] = list(block.keys)
    else:
        columns = [(name, fill(key, block, tables)) for name, key in block.keys]
    tokens = []
    for number, token in enumerate(block.tokens):
        names = tuple(f"_t{number}_{part}" for part in range(len(token.columns)))
        mine = [qualified(MEMBER, column) for column in token.columns]
        columns += list(zip(names, mine, strict=True))
        tokens.append((token.relation, names))
    references = []
    joined = [(lookup.alias, lookup.block) for lookup in block.lookups if not lookup.scalar]
    joined += [(f"s{number}", semi.block) for number, semi in enumerate(block.semis)]
    for number, (alias, inner) in enumerate(joined):
        identity = [qualified(alias, column) for column in inner.identity]
        names = tuple(f"_r{number}_{part}" for part in range(len(identity)))
        if values is not None:
            valued = f"{alias}_v"
            select = from_(select, table(values(inner), valued))
            conditions = [
                exp.NullSafeEQ(this=qualified(valued, column.name), expression=column)
                for column in identity
            ]
            select = where(select, conditions)
            identity, names = [qualified(valued, VALUE)], (f"_r{number}",)
        columns += list(zip(names, identity, strict=True))
        references.append((inner.name, names))
    return Contributions(
        select.select(*named(columns or NOTHING)), tuple(tokens), tuple(references)
    )
