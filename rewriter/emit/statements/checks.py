"""Statements whose types are looked at before a capture: of what is compared, and of partitions."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from rewriter.blocks import (
    Block,
    aliases,
    qualified,
    topological,
)
from rewriter.emit import (
    CTE_TABLES,
    comparisons,
    statement,
    table,
)
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
