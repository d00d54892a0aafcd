"""Rows of a plan that Spark samples or deduplicates, and rows that a literal text gave.

``dropDuplicates`` keeps the first row of each group, as Spark does it; a sample is TABLESAMPLE; a
part of a frame that was made of a text is written as that text.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from rewriter.dialect import is_named, parse
from rewriter.errors import QueryError
from rewriter.frames.writing.clauses import Close
from rewriter.frames.writing.selects import (
    Column,
    FromRows,
    LastClause,
    call,
    identifier,
    unsupported,
)


def deduplicated(close: Close, rows: FromRows, keys: AbstractSet[int]) -> FromRows:
    """Return a row for each combination of values of the columns with these ids.

    By other columns than all it is planned as GROUP BY with ``first`` of every other column.
    """
    if keys >= {output.id for output in rows.columns}:
        return rows.with_clause("distinct", exp.Distinct(), LastClause.ITEMS)
    if not rows.is_plain():
        rows = close(rows)
    columns = tuple(
        output if output.id in keys else replace(output, scalar=call("first", output.scalar))
        for output in rows.columns
    )
    group = exp.Group(
        expressions=[output.scalar.copy() for output in rows.columns if output.id in keys]
    )
    return replace(rows.with_clause("group", group, LastClause.ITEMS), columns=columns)


def sampled(
    close: Close,
    rows: FromRows,
    bounds: tuple[float, float],
    seed: int,
    *,
    with_replacement: bool,
) -> FromRows:
    """Return a sample of rows: those whose drawn number is in the bounds.

    Raises
    ------
    UnsupportedError
        With replacement, and where TABLESAMPLE does not say it; outside subqueries a filter is in
        its place by then.
    """
    source = rows.select.args["from_"].this if rows.single else exp.Table()
    # VALUES and calls of table functions take no TABLESAMPLE.
    named = isinstance(source.this, (exp.Identifier, exp.Query))
    if not named or source.args.get("sample"):
        rows = close(rows)
    if with_replacement:
        raise unsupported(
            "a sample with replacement has no rule", "Take a sample(False, ...), or track it."
        )
    if not is_percentage(bounds, seed):
        raise unsupported(
            "a sample in a subquery that is not a percentage from a seed has no rule",
            "Take a sample() of a percentage, with a seed from zero on, or track it.",
        )
    sample = exp.TableSample(
        percent=exp.Literal.number(f"{_percent(bounds[1]).normalize():f}"),
        seed=exp.Literal.number(seed),
    )
    select = rows.select.copy()
    select.args["from_"].this.set("sample", sample)
    return replace(rows, select=select)


def condition(bounds: tuple[float, float], seed: int) -> str:
    """Return what is true of the rows of a sample without replacement.

    Their numbers are in its bounds, and ``rand`` of the same seed draws the same ones (Spark's
    ``BernoulliCellSampler`` and ``Rand``).
    """
    least, share = bounds
    number = f"rand({seed}L)"
    return " AND ".join([f"{number} >= {least!r}D"] * (least > 0) + [f"{number} < {share!r}D"])


def is_percentage(bounds: tuple[float, float], seed: int) -> bool:
    """Return True if TABLESAMPLE can express a sample: from zero on, by a seed of 0 or more."""
    least, share = bounds
    return not least and seed >= 0 and float(_percent(share)) / 100.0 == share


def _percent(share: float) -> Decimal:
    return Decimal(repr(share)) * 100


def relations_read(text: str) -> frozenset[str] | None:
    """Return the names, in lower case, of the relations that a text reads.

    Its own named queries are not among them. None: it is not a query that is understood.
    """
    try:
        query = parse(text)
    except QueryError:
        return None
    own_queries = {str(cte.alias).lower() for cte in query.find_all(exp.CTE)}
    read = {
        ".".join(part.name for part in table.parts).lower()
        for table in query.find_all(exp.Table)
        if is_named(table)
    }
    return frozenset(read - own_queries)


def stated(query: exp.Query, columns: Iterable[tuple[int, str]]) -> FromRows:
    """Return the rows of a query, whose columns have different names."""
    known = (Column(id_, name, exp.Column(this=identifier(name))) for id_, name in columns)
    return FromRows(tuple(known), exp.Select(), LastClause.LIMIT, query)


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
