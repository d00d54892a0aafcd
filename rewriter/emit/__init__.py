"""Spark SQL text of blocks: built as trees, for people to read.

Every function returns a ``SELECT`` over tables that the caller names: the members of a block, its
evaluated rows, its potential rows. The same tails therefore run over common table expressions (the
rewritten query), over a capture, and over the remainder after a deletion.
"""

from __future__ import annotations

from rewriter.emit.contributions import Contributions, contributions
from rewriter.emit.core import members_query
from rewriter.emit.program import (
    Extent,
    extents,
    potential_query,
    program,
    statement,
    unchanged,
)
from rewriter.emit.tail import (
    MEMBERS,
    CapturedGroups,
    answer_query,
    comparisons,
    rows_query,
    stored_rows_query,
)
from rewriter.emit.trees import (
    BRANCH,
    CTE_TABLES,
    PRESENT,
    SIDE,
    VALUE,
    exists_in,
    table,
    visible,
)

__all__ = [
    "BRANCH",
    "CTE_TABLES",
    "MEMBERS",
    "PRESENT",
    "SIDE",
    "VALUE",
    "CapturedGroups",
    "Contributions",
    "Extent",
    "answer_query",
    "comparisons",
    "contributions",
    "exists_in",
    "extents",
    "members_query",
    "potential_query",
    "program",
    "rows_query",
    "statement",
    "stored_rows_query",
    "table",
    "unchanged",
    "visible",
]
