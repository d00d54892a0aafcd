"""Statements for the questions to a capture: the answer, hypothetical answers, contributions."""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import MappingProxyType

from sqlglot import exp

from rewriter.blocks import (
    Block,
    topological,
)
from rewriter.emit import (
    CTE_TABLES,
    CapturedGroups,
    Contributions,
    Extent,
    answer_query,
    contributions,
    extents,
    rows_query,
    statement,
    table,
)
from rewriter.emit.statements.captured import ViewOf, captured, surviving
from rewriter.scalars.text import text


def potential_sql(block: Block) -> str | None:
    """Return the statement of one potential tuple of a block; None where they are not known.

    A block has no tuples, whatever is deleted, where this has no row.
    """
    if not block.potential_known:
        return None
    first = exp.select(exp.Literal.number(1)).from_(table(CTE_TABLES.potential(block), "p"))
    return text(statement(block, first.limit(1)))


def answer_sql(root: Block, rows_view: str, extra: tuple[str, ...] = ()) -> str:
    """Return the statement of the answer, and extra columns, over captured rows of the root."""
    return text(answer_query(root, rows_view, extra))


def hypothetical_sql(
    root: Block,
    views: ViewOf,
    deleted: Mapping[str, tuple[str, tuple[str, ...]]],
    rows: Mapping[str, str] = MappingProxyType({}),
    captured_groups: Mapping[str, CapturedGroups] = MappingProxyType({}),
) -> str:
    """Return the statement of the answer, with its identity, over the members that survive.

    Parameters
    ----------
    deleted
        Per relation a view of deleted tokens and its columns.
    rows
        Views of captured rows, by block that the deletion does not concern.
    captured_groups
        Captured rows of groupings of whose groups a deletion only takes members.
    """
    query = rows_query(root, CTE_TABLES, captured_groups=captured_groups.get(root.name))

    def survivors(block: Block) -> exp.Select:
        return surviving(block, views(block), deleted)

    return text(
        statement(root, query, survivors, captured_rows=rows, captured_groups=captured_groups)
    )


def concerned(root: Block, relations: Container[str]) -> frozenset[str]:
    """Return the names of the blocks whose rows deletions from some relations may change."""
    changed: set[str] = set()
    for block in topological(root):
        if any(token.relation in relations for token in block.tokens) or any(
            inner.name in changed for inner in block.derived
        ):
            changed.add(block.name)
    return frozenset(changed)


def contributions_sql(
    block: Block,
    views: ViewOf,
    values: ViewOf | None = None,
    rows: Mapping[str, str] | None = None,
    *,
    potential: bool = False,
    shown: frozenset[str] = frozenset(),
) -> tuple[str, Contributions]:
    """Return the statement of :func:`rewriter.emit.contributions` over captured members.

    ``rows`` gives views of captured rows, by the name of their block.
    """
    of_members = contributions(block, CTE_TABLES, values, potential=potential, shown=shown)
    query = statement(block, of_members.query, captured(views), captured_rows=rows or {})
    return text(query), of_members


def extents_sql(
    block: Block, views: ViewOf, rows: Mapping[str, str]
) -> tuple[str, tuple[Extent, ...]]:
    """Return the statement of :func:`rewriter.emit.extents` over captured members and rows."""
    of_windows = extents(block, CTE_TABLES)
    query = statement(block, of_windows.query, captured(views), captured_rows=rows)
    return text(query), of_windows.extents
