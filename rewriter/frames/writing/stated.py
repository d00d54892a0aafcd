"""Parts of a data frame that were made of a text: they are written as it."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from rewriter.dialect import parse
from rewriter.errors import QueryError
from rewriter.frames.writing.names import identifier
from rewriter.frames.writing.selects import Column, Rows, Stage


def relations_read(text: str) -> frozenset[str] | None:
    """Return the names, in lower case, of the relations that a text reads.

    Its own named queries are not among them. None: it is no query that is understood.
    """
    try:
        query = parse(text)
    except QueryError:
        return None
    own_queries = {str(cte.alias).lower() for cte in query.find_all(exp.CTE)}
    read = {
        ".".join(part.name for part in table.parts).lower()
        for table in query.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier)
    }
    return frozenset(read - own_queries)


def stated(query: exp.Query, columns: Iterable[tuple[int, str]]) -> Rows:
    """Return the rows of a query, whose columns have different names."""
    known = (Column(id_, name, exp.Column(this=identifier(name))) for id_, name in columns)
    return Rows(tuple(known), exp.Select(), Stage.LIMIT, query)


def with_step(query: exp.Query, name: str, step: exp.Query) -> exp.Query:
    """Return a query that can read another by a name: its first named query."""
    cte = exp.CTE(this=step, alias=exp.TableAlias(this=identifier(name)))
    before = query.args.get("with_")
    clause = exp.With(expressions=[cte, *(before.expressions if before else [])])
    if before is not None and before.args.get("recursive"):
        clause.set("recursive", True)
    extended = query.copy()
    extended.set("with_", clause)
    return extended
