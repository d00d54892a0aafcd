"""Names in statements and queries, resolved to the relations of a session."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TypeVar

from pyspark.sql import SparkSession

from lipstick.histories.chain import Chain
from lipstick.tracking.catalog import SessionCatalog
from lipstick.tracking.formats.probe import versioned_table
from lipstick.tracking.formats.versions import VersionedTable
from lipstick.tracking.names import plain_name
from lipstick.tracking.tracker import Tracked
from rewriter import ViewText, dialect
from rewriter.statements import Statement, dotted, names_read, with_queries

S = TypeVar("S", bound=Statement | dialect.Query)


def resolved(
    read: S, catalog: SessionCatalog, known: Container[str] = ()
) -> tuple[S, dict[str, Tracked]]:
    """Return a statement or query that reads queries in the place of views, and its relations.

    These are by their names in it, as :func:`rewriter.statements.names_read` has them. A name that
    Spark's catalog finds nothing by, or what is not tracked, is not among them.

    Parameters
    ----------
    known
        Names that stand for something else than Spark's catalog finds.
    """
    while True:
        relations, views = dict[str, Tracked](), dict[str, tuple[str, Sequence[str]]]()
        for name, parts in names_read(read).items():
            if name in known:
                continue
            own = catalog.relation(parts)
            found = None if own is not None else catalog.resolve(parts)
            if own is not None:
                relations[name] = own
            elif isinstance(found, ViewText):
                views[name] = found.text, found.columns or ()
        if not views:
            return read, relations
        read = with_queries(read, views)


def chain_named(
    spark: SparkSession, parts: tuple[str, ...], chains: Mapping[str, Chain]
) -> str | None:
    """Return the table that a name means, by its name or its place; None: it is another.

    Parameters
    ----------
    chains
        The tables by their dotted names; a table without a format is known by its name alone.
    """
    name = dotted(parts)
    if name in chains or all(chain.table is None for chain in chains.values()):
        return name if name in chains else None
    found = versioned_table(spark, plain_name(parts))
    return None if found is None else _chain_of(found[0], chains)


def chain_changed(
    spark: SparkSession, parts: tuple[str, ...], chains: Mapping[str, Chain], version: int | None
) -> str | None:
    """Return the table that a statement changes, by its name; None: it is another.

    Parameters
    ----------
    version
        The version that it made. On a branch, whose versions the table may have by now.
    """
    if (known := chain_named(spark, parts, chains)) is not None or version is None:
        return known
    found = versioned_table(spark, plain_name(parts))
    known = None if found is None else _chain_of(found[0].whole, chains)
    return known if known is not None and version in chains[known].versions else None


def _chain_of(table: VersionedTable, chains: Mapping[str, Chain]) -> str | None:
    wanted = table.format, table.identity
    tables = ((known, chain.table) for known, chain in chains.items())
    return next((n for n, t in tables if t is not None and (t.format, t.identity) == wanted), None)
