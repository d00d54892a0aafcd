"""Query blocks: the parts of a query, and the captured members of each.

A block is a select-project-join-union *core* under at most one grouping. Capturing a block writes
its *members*: one row per row of the core, with the tokens of its tuples, the identities of the
tuples of other blocks that it refers to, and the columns that anything above the core needs. The
rest of the block is its *tail*, which reads members and the evaluated rows of other blocks:
conditions on aggregated values, the grouping, HAVING, the select list, ORDER BY and LIMIT. The
answer is the tail over all members; a hypothetical answer is the same tail over the surviving
members. The core is never run again.

Columns in a block's scalars are qualified by their origin: the alias of a source in the core, ``m``
for a stored member column, ``g`` for a grouping key or aggregate, ``u`` for a column of a union,
``expanded`` for the number of a grouping set, and the alias of a lookup for a column of another
block's evaluated rows. No source has one of these aliases, nor ``k``, under which a membership
reads the keys of another block.
"""

from __future__ import annotations

from rewriter.blocks.block import (
    KINDS,
    Block,
    Difference,
    GroupBlock,
    HasMatches,
    Kind,
    Output,
    RowsBlock,
    UnionBlock,
    decided_once,
    made_of,
    topological,
)
from rewriter.blocks.core import (
    COPIES,
    DRAWN,
    EXPANDED,
    GROUP,
    KEYS,
    MEMBER,
    NOTHING,
    SET_NUMBER,
    UNION,
    BlockSource,
    ConstantSource,
    Core,
    Generator,
    IterationSource,
    Named,
    OneRowSource,
    ScanSource,
    Source,
    TokenColumns,
    TokenSource,
    UnionSource,
    ValuesSource,
    core_relations,
    has_values,
    iterates,
)
from rewriter.blocks.matches import Match, MatchKind
from rewriter.scalars.text import aliases, qualified

__all__ = [
    "COPIES",
    "DRAWN",
    "EXPANDED",
    "GROUP",
    "KEYS",
    "KINDS",
    "MEMBER",
    "NOTHING",
    "SET_NUMBER",
    "UNION",
    "Block",
    "BlockSource",
    "ConstantSource",
    "Core",
    "Difference",
    "Generator",
    "GroupBlock",
    "HasMatches",
    "IterationSource",
    "Kind",
    "Match",
    "MatchKind",
    "Named",
    "OneRowSource",
    "Output",
    "RowsBlock",
    "ScanSource",
    "Source",
    "TokenColumns",
    "TokenSource",
    "UnionBlock",
    "UnionSource",
    "ValuesSource",
    "aliases",
    "core_relations",
    "decided_once",
    "has_values",
    "iterates",
    "made_of",
    "qualified",
    "topological",
]
