"""Joins of tables in this process: rows of several sources for which predicates are true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.index import SortedIndex
from lipstick.engines.memory.keys import KeyTable
from lipstick.engines.memory.memberships import all_hold
from lipstick.engines.memory.state import resolver
from lipstick.engines.memory.store import every
from lipstick.errors import NeedsSparkError
from rewriter.algebra import Scalar
from rewriter.interpret import (
    Comparison,
    Interpreted,
    Resolve,
    cast,
    comparison,
    interpret,
    unify,
)
from semiring.arrays.arrow import whole
from semiring.base import Array

Pending = list[tuple[Interpreted, Comparison | None]]
_Sides = list[tuple[Interpreted, Interpreted]]


def interpreted(predicates: Iterable[Scalar]) -> Pending:
    return [(interpret(predicate), comparison(predicate)) for predicate in predicates]


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """Rows of joined sources: by alias a table, and which of its rows each is made of."""

    length: int
    parts: Mapping[str, tuple[pa.Table, Array]] = field(default_factory=dict)

    @classmethod
    def of(cls, alias: str, table: pa.Table) -> JoinedRows:
        return cls(table.num_rows, {alias: (table, every(table.num_rows))})

    def take(self, places: Array) -> JoinedRows:
        parts = {alias: (table, rows[places]) for alias, (table, rows) in self.parts.items()}
        return JoinedRows(len(places), parts)

    def resolve(self) -> Resolve:
        def column(alias: str, name: str) -> pa.Array:
            table, rows = self.parts[alias]
            return whole(table.column(_place(table, name))).take(pa.array(rows))

        return resolver(column)

    def covers(self, *scalars: Interpreted) -> bool:
        """Return True if scalars read columns of these sources alone."""
        return all(alias in self.parts for scalar in scalars for alias, _ in scalar.columns)


def _place(table: pa.Table, name: str) -> int:
    """Return the place of a column, whose name matches in any case."""
    return [known.lower() for known in table.column_names].index(name.lower())


def joined_places(
    sources: Mapping[str, pa.Table], predicates: Sequence[Scalar], limit: int
) -> dict[str, Array]:
    """The combinations of rows for which predicates are true: by source, the row of each.

    Parameters
    ----------
    limit
        Of the pairs of rows that a join looks at.

    Raises
    ------
    NeedsSparkError, UninterpretableError
        For what only Spark computes, and joins of more pairs.
    CaptureError
        Where a scalar fails, as it does in Spark.
    """
    rows, _ = join(sources, interpreted(predicates), limit)
    return {alias: places for alias, (_, places) in rows.parts.items()}


def join(
    sources: Mapping[str, pa.Table], pending: Pending, limit: int
) -> tuple[JoinedRows, Pending]:
    """The rows of all sources that satisfy predicates, which are asked as soon as they can be.

    Returns
    -------
    tuple
        The rows, and the predicates that read what is none of the sources.
    """
    rows, pending = filtered(JoinedRows(1), pending)
    waiting = {}
    for alias, table in sources.items():
        waiting[alias], pending = filtered(JoinedRows.of(alias, table), pending)
    while waiting:
        near = (alias for alias, right in waiting.items() if _equal_sides(rows, right, pending))
        right = waiting.pop(next(near, next(iter(waiting))))
        rows, pending = filtered(
            _pairs(rows, right, _equal_sides(rows, right, pending), limit), pending
        )
    return rows, pending


def filtered(rows: JoinedRows, predicates: Pending) -> tuple[JoinedRows, Pending]:
    """The rows that satisfy the predicates they can be asked, and the other predicates."""
    ready = [predicate for predicate, _ in predicates if rows.covers(predicate)]
    if not ready:
        return rows, predicates
    places = np.flatnonzero(all_hold(ready, rows.resolve(), rows.length))
    return rows.take(places), [waiting for waiting in predicates if not rows.covers(waiting[0])]


def _equal_sides(left: JoinedRows, right: JoinedRows, predicates: Pending) -> _Sides:
    """The sides of equalities between two."""
    sides: _Sides = []
    for _, compared in predicates:
        if compared is None or compared.op != "=":
            continue
        for side, other in ((compared.left, compared.right), (compared.right, compared.left)):
            if side.columns and other.columns and left.covers(side) and right.covers(other):
                sides.append((side, other))
    return sides


def _pairs(left: JoinedRows, right: JoinedRows, sides: _Sides, limit: int) -> JoinedRows:
    """The pairs of rows whose sides are equal; all pairs without any."""
    if not sides:
        check_pairs(left.length * right.length, limit)
        places = np.repeat(every(left.length), right.length)
        right_rows = np.tile(every(right.length), left.length)
    else:
        left_columns, its = _alike(left, right, sides)
        table = KeyTable(its, right.length)
        codes = table.find(its, right.length, nulls=False)
        wanted = table.find(left_columns, left.length, nulls=False)
        known = np.flatnonzero(wanted >= 0)
        counts = np.bincount(codes[codes >= 0], minlength=right.length)
        check_pairs(int(counts[wanted[known]].sum()), limit)
        right_rows, owners = SortedIndex(codes).rows(wanted[known])
        places = known[owners]
    return JoinedRows(len(places), {**left.take(places).parts, **right.take(right_rows).parts})


def _alike(
    left: JoinedRows, right: JoinedRows, sides: _Sides
) -> tuple[list[pa.Array], list[pa.Array]]:
    """Both sides of equalities, in the types in which Spark compares them."""
    here, there = left.resolve(), right.resolve()
    left_columns, its = [], []
    for side, other in sides:
        a, b = side.evaluate(here), other.evaluate(there)
        kind = unify(a.type, b.type)
        left_columns.append(cast(a, kind).to_arrow(left.length))
        its.append(cast(b, kind).to_arrow(right.length))
    return left_columns, its


def check_pairs(pairs: int, limit: int) -> None:
    if pairs > limit:
        raise NeedsSparkError(f"A join of {pairs} pairs of rows is left to Spark.")
