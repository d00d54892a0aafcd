"""Statements of whole queries, of questions to a capture, and of checks before it.

A query is rewritten or left plain; questions are its answer, hypothetical answers, contributions
and extents; checks are statements whose column types alone matter.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sqlglot import exp

from rewriter.blocks import Block, aliases, qualified, topological
from rewriter.emit import (
    CTE_TABLES,
    CapturedGroups,
    Contributions,
    Extent,
    answer_query,
    comparisons,
    contributions,
    extents,
    program,
    rows_query,
    statement,
    table,
)
from rewriter.emit.statements.capture import ViewOf, captured, surviving
from rewriter.position import Span
from rewriter.scalars.text import text


@dataclass(frozen=True, slots=True)
class ComparedColumns:
    """A statement that shows what IN, EXISTS, semi joins and lookups compare.

    Its columns come in pairs, an outer value and an inner one; ``places`` has, for each, where the
    operator stands, and the number of the comparison there.
    """

    sql: str
    places: tuple[tuple[Span | None, int], ...]


def comparisons_sql(root: Block) -> tuple[ComparedColumns, ...]:
    """Return statements that show what is compared; its types matter.

    If the types of a pair are not :func:`rewriter.scalars.comparable.compared_exactly`, several
    tuples may be equal to one outer value, and neither a grouping subquery nor the annotation of
    the membership is right.
    """
    compared = []
    for block in topological(root):
        places = tuple(
            (probe.span, number) for probe in block.probes for number in range(len(probe.pairs))
        )
        if places:
            sql = text(statement(block, comparisons(block, CTE_TABLES)))
            compared.append(ComparedColumns(sql, places))
    return tuple(compared)


def partitions_sql(root: Block) -> tuple[str, ...]:
    """Return statements that show what table functions of relations are partitioned by."""
    statements = []
    for block in topological(root):
        placed = [generator for generator in block.generators if generator.placed]
        read = {alias for generator in placed for alias in aliases(generator.argument)}
        for lookup in block.lookups:
            if lookup.alias in read:
                keys = (qualified(lookup.alias, name) for name in lookup.block.identity)
                rows = table(CTE_TABLES.rows(lookup.block), lookup.alias)
                query = exp.select(*keys).from_(rows).where(exp.false())
                statements.append(text(statement(block, query)))
    return tuple(statements)


def rewritten_sql(root: Block, views: ViewOf | None = None) -> str:
    """Return the rewritten query: the answer's columns, then ``_prov``.

    ``views`` are where captured members are, to be read instead of the sources.
    """
    members = None if views is None else captured(views)
    return pretty(program(root, provenance=True, members=members))


def plain_sql(
    root: Block, views: Mapping[str, str] | None = None, *, identity: bool = False
) -> str:
    """Return the query without annotations, with LIMIT made independent of ties.

    ``views`` gives other views to read in place of the views of tracked relations. With
    ``identity`` the rows also have the columns that identify them.
    """
    query = program(root, provenance=False, identity=identity)
    for read in list(query.find_all(exp.Table)):
        if views and read.name in views:
            read.set("this", exp.to_identifier(views[read.name], quoted=True))
    return pretty(query)


def pretty(query: exp.Query) -> str:
    """Return a statement as text that is meant to be read."""
    return text(query, pretty=True)


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
        Captured rows of groupings whose groups only lose members to a deletion.
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
    """Return the statement of :func:`rewriter.emit.program` over captured members and rows."""
    of_windows = extents(block, CTE_TABLES)
    query = statement(block, of_windows.query, captured(views), captured_rows=rows)
    return text(query), of_windows.extents
