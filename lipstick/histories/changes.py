"""The changes of a table by its commits, and the versions that have each row."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.engines.route import if_here
from lipstick.errors import NeedsSparkError
from lipstick.histories.differences import bytes_read
from lipstick.tracking.formats.versions import COMMIT, MORE
from lipstick.tracking.views import column_of
from rewriter.statements import SINCE, UNTIL

if TYPE_CHECKING:
    from lipstick.histories.chain import Chain

_FEW_VERSIONS: Final = 8
"""Commits up to which each question reads their files."""
_FEW_BYTES: Final = 2**28
"""Bytes of the files of commits up to which their changes are written."""
_STORED_BYTES: Final = 2**32
"""Bytes of local files up to which their keys are read without Spark."""
_NESTED: Final = ("array", "geo", "map", "struct", "variant")
"""Types whose equal values may differ in what they are made of."""


class TableChanges:
    """The changes of tables by commits; of more than eight commits they are written once.

    Parameters
    ----------
    written
        Computes a data frame into files, and returns the name of a view of these.
    """

    def __init__(self, spark: SparkSession, written: Callable[[DataFrame], str]) -> None:
        self._spark = spark
        self._write = written
        self._written: dict[str, tuple[int, int, list[DataFrame]]] = {}

    def forget(self, chain: Chain) -> None:
        """Forget the changes of a table."""
        self._written.pop(chain.versions[chain.first], None)

    def between(self, chain: Chain, before: int, after: int) -> list[DataFrame] | None:
        """Return what the commits after a version changed, up to another.

        Before the columns of the table come :data:`MORE` and :data:`COMMIT`.

        None: the format does not log it, or the versions are few data frames, or have different
        columns.
        """
        table, numbers = chain.versions[chain.first], list(chain.versions)
        begin, end = numbers.index(before), numbers.index(after)
        start, last, written = self._written.get(table, (begin, begin, []))
        if not start <= begin <= last:
            start, last, written = begin, begin, []
        wanted = F.col(COMMIT).isin(numbers[begin + 1 : end + 1])
        asked = [frame.where(wanted) for frame in written]
        if last >= end:
            return asked
        new = self._read(chain, numbers[last : end + 1])
        if new is None:
            return None
        nested = any(field.dataType.simpleString().startswith(_NESTED) for field in new.schema)
        few = not nested and end - last > _FEW_VERSIONS
        if not few or not 0 < self._size(new, chain, end - last) <= _FEW_BYTES:
            return None if chain.table is None else [*asked, new]
        own = self._spark.table(self._write(_without_copies(new)))
        self._written[table] = start, end, [*written, own]
        return [*asked, own]

    def _read(self, chain: Chain, numbers: Sequence[int]) -> DataFrame | None:
        """Return the changes of all versions after the first of some."""
        if chain.table is not None:
            return chain.table.changes(numbers[0], numbers[-1])
        if len(numbers) - 1 <= _FEW_VERSIONS:
            return None
        frames = {number: self._spark.table(chain.versions[number]) for number in numbers}
        if len({frame.schema.json() for frame in frames.values()}) > 1:
            return None
        signed = (
            frames[number].select(F.lit(more).alias(MORE), F.lit(made).alias(COMMIT), "*")
            for earlier, made in pairwise(frames)
            for number, more in ((earlier, -1), (made, 1))
        )
        return reduce(DataFrame.unionAll, signed)

    def _size(self, changes: DataFrame, chain: Chain, commits: int) -> int:
        """Return the bytes of changes; at most, as Iceberg does not say, of a table each commit."""
        table_bytes = bytes_read(self._spark.table(chain.versions[chain.last]))
        return min(bytes_read(changes), table_bytes * commits)


def stored_changes(
    chain: Chain, numbers: Sequence[int], keys: pa.Table, schema: pa.Schema
) -> pa.Table | None:
    """Return what :func:`lifetimes` takes of the rows with some keys, read without Spark.

    Each local file of the versions is read once, and of most files the keys alone.

    Parameters
    ----------
    keys
        Columns of the table by their names: each row has one of these combinations of values.
    schema
        The columns of the table.

    Returns
    -------
    None: Spark is to read them.
    """
    import pyarrow.parquet as pq

    from lipstick.tracking.stored_rows import stored_rows

    if not have_exact_keys(keys, schema.empty_table().select(keys.column_names)):
        return None
    files = None if chain.table is None else chain.table.own_files(numbers)
    if files is None:
        return None
    events: dict[Path, list[tuple[int, int]]] = {}
    before = frozenset[Path]()
    for number in numbers:
        for more, paths in ((1, files[number] - before), (-1, before - files[number])):
            for path in paths:
                events.setdefault(path, []).append((more, number))
        before = files[number]

    def read(path: Path) -> pa.Table:
        with pq.ParquetFile(path) as file:
            rows = stored_rows(file, schema, keys)
        if rows is None:
            raise NeedsSparkError(f"Spark reads {path}.")
        return rows

    def read_all() -> list[pa.Table]:
        if sum(path.stat().st_size for path in events) > _STORED_BYTES:
            raise NeedsSparkError("Spark reads files in parallel.")
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(read, events))

    left = (NeedsSparkError, pa.ArrowException, KeyError, OSError)
    if (found := if_here(read_all, left)) is None:
        return None
    pairs = [(n, *event) for n, each in enumerate(events.values()) for event in each]
    rows = pa.concat_tables([schema.empty_table(), *(found[n] for n, _, _ in pairs)])
    often = [found[n].num_rows for n, _, _ in pairs]
    for place, values in enumerate(([p[1] for p in pairs], [p[2] for p in pairs])):
        counted = pa.array(np.repeat(np.array(values, np.int64), often))
        rows = rows.add_column(place, (MORE, COMMIT)[place], counted)
    # Rows with a value of each column may have another combination of them.
    return with_keys(rows, keys) if keys.num_columns > 1 else rows


def have_exact_keys(keys: pa.Table, columns: pa.Table) -> bool:
    """Return True if keys have the types of columns, and values are equal by their bits alone."""
    kinds = keys.schema.types
    inexact = any(pa.types.is_floating(kind) or pa.types.is_nested(kind) for kind in kinds)
    return not inexact and kinds == columns.schema.types


def with_keys(rows: pa.Table, keys: pa.Table) -> pa.Table:
    """Return the rows whose values in the columns of keys are among these, NULL as a value."""
    codes = row_codes(pa.concat_tables([keys, rows.select(keys.column_names)]))
    return rows.filter(pa.array(np.isin(codes[keys.num_rows :], codes[: keys.num_rows])))


def _without_copies(changes: DataFrame) -> DataFrame:
    """Return changes without the rows that a commit wrote again as they were.

    Zeros of either sign, and letters that a collation equates, are different.
    """
    keys, values = [], []
    for number, (name, kind) in enumerate(changes.drop(MORE).dtypes):
        exact = kind in ("float", "double") or kind.startswith("string collate")
        key = column_of(name).cast("string") if exact else column_of(name)
        keys.append(key.alias(f"_lipstick_{number}"))
        values.append(F.first(column_of(name)).alias(name))
    groups = changes.groupBy(*keys).agg(*values, F.sum(MORE).alias(MORE))
    return groups.select(*map(column_of, changes.columns)).where(F.col(MORE) != 0)


def lifetimes(changes: pa.Table, numbers: Sequence[int]) -> pa.Table | None:
    """Return each row with the versions that have it, :data:`SINCE` one and :data:`UNTIL` another.

    Parameters
    ----------
    changes
        The rows of the first version as added by it, and what later commits changed:
        :data:`MORE`, :data:`COMMIT` and the columns of the table.
    numbers
        The versions, in their order; the result counts them from 0.

    Returns
    -------
    None: a row is removed that was not there.
    """
    commits = changes.column(COMMIT).cast(pa.int64())
    found = pc.index_in(commits, pa.array(numbers, pa.int64()))
    if found.null_count:
        return None
    places, own = found.to_numpy(), changes.select(range(2, changes.num_columns))
    codes = row_codes(own)
    # Rows that a commit wrote again are no change; others are in the order of row and commit.
    pairs, first, inverse = np.unique(
        codes * len(numbers) + places, return_index=True, return_inverse=True
    )
    more = np.zeros(len(pairs), np.int64)
    np.add.at(more, inverse, np.asarray(changes.column(MORE), dtype=np.int64))
    added, removed = (np.repeat(np.arange(len(pairs)), np.maximum(n, 0)) for n in (more, -more))
    since, rows = pairs[added] % len(numbers), first[added]
    until = np.full(len(added), len(numbers))
    begins, ends = codes[rows], codes[first[removed]]
    # The n-th removal of a row ends the n-th that was added.
    ended = np.searchsorted(begins, ends) + np.arange(len(ends)) - np.searchsorted(ends, ends)
    until_then = pairs[removed] % len(numbers)
    inside = ended < np.searchsorted(begins, ends, side="right")
    if not inside.all() or (since[ended] >= until_then).any():
        return None
    until[ended] = until_then
    taken = own.take(pa.array(rows))
    numbered = (pa.array(each, pa.int32()) for each in (since, until))
    return pa.table([*numbered, *taken.columns], [SINCE, UNTIL, *taken.column_names])


def new_values(gone: pa.Table, came: pa.Table, key: Sequence[str]) -> pa.Table | None:
    """Return the keys of rows with other values, and the columns that differ in any.

    None: some rows are not there before and after, or several have one key.
    """
    number = gone.num_rows
    if came.num_rows != number or came.schema.types != gone.schema.types:
        return None
    both = pa.concat_tables([gone, came.rename_columns(gone.column_names)])
    codes = row_codes(both.select(key))
    old, new = np.argsort(codes[:number]), np.argsort(codes[number:])
    same = np.array_equal(codes[:number][old], codes[number:][new])
    if not same or len(np.unique(codes)) < number:
        return None
    names = [name for name in gone.column_names if name not in key]
    values = ((name, row_codes(both.select([name]))) for name in names)
    changed = [name for name, own in values if (own[:number][old] != own[number:][new]).any()]
    return both.slice(number).select([*key, *changed])


def row_codes(rows: pa.Table) -> np.ndarray:
    """Return a number of each row, the same for rows with the same bits in all columns."""
    codes = np.zeros(rows.num_rows, np.int64)
    for chunks in rows.columns:
        column = pa.concat_arrays(chunks.chunks) if chunks.num_chunks else pa.array([], chunks.type)
        if pa.types.is_nested(column.type):
            column = pa.array(map(repr, column.to_pylist()), pa.string())
        elif pa.types.is_floating(column.type):
            column = column.view(pa.int32() if column.type == pa.float32() else pa.int64())
        own = column.dictionary_encode("encode").indices.to_numpy()
        _, codes = np.unique(codes * (rows.num_rows + 1) + own, return_inverse=True)
    return codes
