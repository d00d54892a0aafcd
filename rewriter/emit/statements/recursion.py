"""Statements of the levels of a recursion whose rows are computed before they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.algebra.leaves import LEVEL_ROW
from rewriter.blocks import Block, Core, IterationSource, Kind, Named, qualified
from rewriter.emit.core import core_query
from rewriter.emit.trees import CTE_TABLES, named
from rewriter.scalars.text import rewrite_columns, text

BEFORE = "_before"
"""The number of the row of the level before that a row is made from."""


@dataclass(frozen=True, slots=True)
class Derivations:
    """The computation of the rows of a level, one row per derivation.

    Parameters
    ----------
    core
        Its columns are the recursion's, in order, then the tokens one after the other, and in a
        step :data:`BEFORE`. None: there are constants alone.
    sql
        The statement of the same rows.
    tokens
        The relation of each token, and the number of its columns.
    """

    core: Core | None
    sql: str
    tokens: tuple[tuple[str, int], ...]


def derivations(block: Block, level: str) -> Derivations | None:
    """Return the computation of a level; None for a block that is no select-project-join.

    ``level`` is the view of the level before.
    """
    if not _is_plain(block):
        return None
    core = block.core
    tokens = tuple((token.relation, len(token.columns)) for token in block.tokens)
    if core is None:
        columns = [(output.name, output.scalar) for output in block.outputs]
        return Derivations(None, text(exp.select(*named(columns))), tokens)
    stored = dict(core.select)

    def of_core(scalar: Scalar) -> Scalar:
        return rewrite_columns(scalar, lambda column: stored[column.name])

    select: list[Named] = [
        (f"c{number}", of_core(output.scalar)) for number, output in enumerate(block.outputs)
    ]
    for number, token in enumerate(block.tokens):
        parts = enumerate(token.columns)
        select += [(f"_token {number} {part}", stored[name]) for part, name in parts]
    select += [
        (BEFORE, qualified(source.alias, LEVEL_ROW))
        for source in core.sources
        if isinstance(source, IterationSource) and source.view == level
    ]
    core = replace(core, select=tuple(select))
    return Derivations(core, text(core_query(core, CTE_TABLES)), tokens)


def _is_plain(block: Block) -> bool:
    """Return True if a row is there exactly where all tuples that it is made of are there."""
    if block.kind is not Kind.ROWS or block.limited or block.windowed or block.order:
        return False
    if not block.of_members_alone or block.copies:
        return False
    core = block.core
    if core is None:
        return True
    return not (core.semis or core.generators or core.once or core.sample or any(core.reads()))
