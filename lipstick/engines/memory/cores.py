"""Cores over relations that are at hand as tables: filtered, joined and united in this process.

Results equal Spark's, to the type: scalars are evaluated by :mod:`rewriter.interpret`. Everything
else is left to Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.index import SortedIndex
from lipstick.engines.memory.keys import KeyTable, distinct
from lipstick.engines.memory.memberships import all_hold
from lipstick.engines.memory.state import resolver, values
from lipstick.engines.memory.store import every
from lipstick.errors import NeedsSparkError
from rewriter.algebra import Scalar
from rewriter.blocks import Core, IterationSource, ScanSource, Source, UnionSource, ValuesSource
from rewriter.interpret import (
    Comparison,
    Interpreted,
    Resolve,
    cast,
    comparison,
    from_arrow,
    interpret,
    unify,
)
from semiring.arrays.arrow import whole
from semiring.base import Array


def core_rows(core: Core, relations: Mapping[str, pa.Table], limit: int) -> pa.Table:
    """The rows of a core, in the types in which Spark would write them.

    Its semi joins are not asked: they only leave out members that the tail leaves out, too.

    Parameters
    ----------
    relations
        The tables that views are of, by name.
    limit
        Of the pairs of rows that a join looks at.

    Raises
    ------
    NeedsSparkError, UninterpretableError
        For what only Spark computes, and joins of more pairs.
    CaptureError
        Where a scalar fails, as it does in Spark.
    """
    rows = _selected(core, relations, limit)
    return rows.cast(pa.schema([_written(column) for column in rows.schema]))


def scanned_views(core: Core) -> Iterator[str]:
    """Yield the views of the relations that a core reads.

    Raises
    ------
    NeedsSparkError
        Where it reads or does more than that.
    """
    _check_plain(core)
    for source in core.sources:
        if isinstance(source, ScanSource | IterationSource):
            yield source.view
        elif isinstance(source, UnionSource):
            for branch in source.branches:
                yield from scanned_views(branch)
        elif isinstance(source, ValuesSource):
            yield from scanned_views(source.core)
        else:
            raise _no_relation(source)


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
    parts = _joined(sources, predicates, limit).parts
    return {alias: places for alias, (_, places) in parts.items()}


def _written(column: pa.Field) -> pa.Field:
    """A column that is NULL and nothing else is written with a type that Parquet has."""
    return column.with_type(pa.bool_()) if pa.types.is_null(column.type) else column


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of joined sources: by alias a table, and which of its rows each is made of."""

    length: int
    parts: Mapping[str, tuple[pa.Table, Array]] = field(default_factory=dict)

    @classmethod
    def of(cls, alias: str, table: pa.Table) -> _Rows:
        return cls(table.num_rows, {alias: (table, every(table.num_rows))})

    def take(self, places: Array) -> _Rows:
        parts = {alias: (table, rows[places]) for alias, (table, rows) in self.parts.items()}
        return _Rows(len(places), parts)

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


def _selected(core: Core, relations: Mapping[str, pa.Table], limit: int) -> pa.Table:
    _check_plain(core)
    sources = {source.alias: _source(source, relations, limit) for source in core.sources}
    rows = _joined(sources, core.predicates, limit)
    resolve = rows.resolve()
    columns = [values(interpret(s), resolve, rows.length, None) for _, s in core.select]
    return pa.Table.from_arrays(columns, names=[name for name, _ in core.select])


def _source(source: Source, relations: Mapping[str, pa.Table], limit: int) -> pa.Table:
    if isinstance(source, ScanSource | IterationSource) and source.view in relations:
        return relations[source.view]
    if isinstance(source, UnionSource):
        return _united([_selected(branch, relations, limit) for branch in source.branches])
    if isinstance(source, ValuesSource):
        rows = _selected(source.core, relations, limit)
        _, first = distinct([whole(column) for column in rows.columns], rows.num_rows)
        return rows.take(pa.array(first))
    raise _no_relation(source)


def _check_plain(core: Core) -> None:
    if core.once or core.sample is not None or core.generators:
        raise NeedsSparkError("Chance, or a function, makes rows: Spark runs it.")


def _no_relation(source: Source) -> NeedsSparkError:
    return NeedsSparkError(f"{source.alias} is not a relation that is held here: Spark reads it.")


def _united(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of tables one after the other, each column in the type that holds them all."""
    columns = []
    for number in range(tables[0].num_columns):
        parts = [from_arrow(table.column(number)) for table in tables]
        kind = unify(*(part.type for part in parts))
        arrays = [cast(part, kind).to_arrow(len(part)) for part in parts]
        columns.append(pa.concat_arrays(arrays))
    return pa.Table.from_arrays(columns, names=tables[0].column_names)


# -- joins -------------------------------------------------------------------------------------


def _joined(sources: Mapping[str, pa.Table], predicates: Sequence[Scalar], limit: int) -> _Rows:
    """The rows of all sources for which the predicates are true, asked as soon as they can be."""
    pending = [(interpret(predicate), comparison(predicate)) for predicate in predicates]
    rows, pending = _filtered(_Rows(1), pending)
    waiting = {}
    for alias, table in sources.items():
        waiting[alias], pending = _filtered(_Rows.of(alias, table), pending)
    while waiting:
        near = (alias for alias, right in waiting.items() if _equal_sides(rows, right, pending))
        right = waiting.pop(next(near, next(iter(waiting))))
        rows, pending = _filtered(
            _pairs(rows, right, _equal_sides(rows, right, pending), limit), pending
        )
    return rows


_Pending = list[tuple[Interpreted, Comparison | None]]
_Sides = list[tuple[Interpreted, Interpreted]]


def _filtered(rows: _Rows, predicates: _Pending) -> tuple[_Rows, _Pending]:
    """The rows that satisfy the predicates they can be asked, and the other predicates."""
    ready = [predicate for predicate, _ in predicates if rows.covers(predicate)]
    if not ready:
        return rows, predicates
    places = np.flatnonzero(all_hold(ready, rows.resolve(), rows.length))
    return rows.take(places), [waiting for waiting in predicates if not rows.covers(waiting[0])]


def _equal_sides(left: _Rows, right: _Rows, predicates: _Pending) -> _Sides:
    """The sides of equalities between two."""
    sides: _Sides = []
    for _, compared in predicates:
        if compared is None or compared.op != "=":
            continue
        for side, other in ((compared.left, compared.right), (compared.right, compared.left)):
            if side.columns and other.columns and left.covers(side) and right.covers(other):
                sides.append((side, other))
    return sides


def _pairs(left: _Rows, right: _Rows, sides: _Sides, limit: int) -> _Rows:
    """The pairs of rows whose sides are equal; all pairs without any."""
    if not sides:
        _check(left.length * right.length, limit)
        places = np.repeat(every(left.length), right.length)
        right_rows = np.tile(every(right.length), left.length)
    else:
        left_columns, its = _alike(left, right, sides)
        table = KeyTable(its, right.length)
        codes = table.find(its, right.length, nulls=False)
        wanted = table.find(left_columns, left.length, nulls=False)
        known = np.flatnonzero(wanted >= 0)
        counts = np.bincount(codes[codes >= 0], minlength=right.length)
        _check(int(counts[wanted[known]].sum()), limit)
        right_rows, owners = SortedIndex(codes).rows(wanted[known])
        places = known[owners]
    return _Rows(len(places), {**left.take(places).parts, **right.take(right_rows).parts})


def _alike(left: _Rows, right: _Rows, sides: _Sides) -> tuple[list[pa.Array], list[pa.Array]]:
    """Both sides of equalities, in the types in which Spark compares them."""
    here, there = left.resolve(), right.resolve()
    left_columns, its = [], []
    for side, other in sides:
        a, b = side.evaluate(here), other.evaluate(there)
        kind = unify(a.type, b.type)
        left_columns.append(cast(a, kind).to_arrow(left.length))
        its.append(cast(b, kind).to_arrow(right.length))
    return left_columns, its


def _check(pairs: int, limit: int) -> None:
    if pairs > limit:
        raise NeedsSparkError(f"A join of {pairs} pairs of rows is left to Spark.")
