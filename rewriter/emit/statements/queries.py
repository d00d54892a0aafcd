"""Statements of a whole query: rewritten, and without annotations."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from rewriter.blocks import (
    Block,
)
from rewriter.emit import (
    program,
)
from rewriter.emit.statements.captured import ViewOf, captured
from rewriter.scalars.text import text


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

    ``views`` gives other views to read in place of those that tracked relations are read from.
    With ``identity`` the rows also have the columns that tell them apart.
    """
    query = program(root, provenance=False, identity=identity)
    for read in list(query.find_all(exp.Table)):
        if views and read.name in views:
            read.set("this", exp.to_identifier(views[read.name], quoted=True))
    return pretty(query)


def pretty(query: exp.Query) -> str:
    """Return a statement as text that is meant to be read."""
    return text(query, pretty=True)
