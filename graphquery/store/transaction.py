"""A transaction: segments, edges, files and records that enter a store together or not at all."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from graphquery.errors import StoreError
from graphquery.model import EdgeSet, Ordinals, Segment
from graphquery.store.commit import Commit, Json
from graphquery.store.snapshot import read_rows
from graphquery.store.staging import Staging
from graphquery.store.streams import BLOCK

if TYPE_CHECKING:
    from graphquery.store.writer import Writer


IntArray: TypeAlias = npt.NDArray[Any] | pa.Array | pa.ChunkedArray | Sequence[int]
"""Integers, one per edge."""


@dataclass(frozen=True, slots=True)
class EdgeLimits:
    """An edge set, and the largest ordinal at either end (-1 if it has no edges)."""

    edges: EdgeSet
    source: int
    target: int


def _check_values(segment: Segment, rows: int, names: Collection[str]) -> None:
    """Refuse values of another number of nodes, and keys that are not among their columns."""
    if rows != segment.count:
        raise StoreError(
            f"Segment {segment.name} has {segment.count} nodes, but values for {rows}.\n"
            "Give one row for every node."
        )
    for column in segment.key:
        if column not in names:
            raise StoreError(
                f"Segment {segment.name} has {column!r} in its key, but its values have only "
                f"{', '.join(names) or 'no columns'}."
            )


def integers(edges: EdgeSet, column: str, given: IntArray) -> npt.NDArray[Any]:
    """Return a column of ordinals as an array of signed integers.

    Raises
    ------
    StoreError
        When they are not as many as the edges, are not integers, or have NULLs.
    """
    array: npt.NDArray[Any]
    if isinstance(given, pa.Array | pa.ChunkedArray):
        nulls = given.null_count
        array = (
            given.to_numpy(zero_copy_only=False)
            if isinstance(given, pa.Array)
            else (given.to_numpy())
        )
    else:
        nulls, array = 0, np.asarray(given)
    where = f"Column {column!r} of the edges from {edges.source} to {edges.target}"
    if nulls:
        raise StoreError(f"{where} has {nulls} NULLs; an edge has two ends.")
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        raise StoreError(
            f"{where} must be an array of integers with one dimension, not of {array.dtype} with "
            f"{array.ndim}."
        )
    if len(array) != edges.count:
        raise StoreError(f"{where} has {len(array)} ordinals for {edges.count} edges.")
    return array.astype(np.int64, copy=False) if array.dtype.kind != "i" else array


def largest(given: Ordinals, edges: EdgeSet, array: npt.NDArray[Any] | None, column: str) -> int:
    """Return the largest ordinal at one end of edges, explicit or implied; -1 without edges.

    Raises
    ------
    StoreError
        When one is negative.
    """
    if not edges.count:
        return -1
    if given is Ordinals.ONE:
        return 0
    if array is None:
        return edges.count - 1
    if int(array.min()) < 0:
        raise StoreError(
            f"Column {column!r} of the edges from {edges.source} to {edges.target} has the ordinal "
            f"{int(array.min())}; nodes count from 0."
        )
    return int(array.max())


def narrow(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return integers as int32 if they fit, so that edges of most sets share a file."""
    fits = not len(array) or int(array.max()) <= np.iinfo(np.int32).max
    return array.astype(np.int32 if fits else np.int64, copy=False)


class Transaction:
    """A transaction; use `Writer.transaction`, from one thread at a time.

    Leaving its block with an exception adds nothing to the store. Leaving it normally with
    uncommitted additions is an error.
    """

    def __init__(self, writer: Writer, staging: Staging) -> None:
        self._writer = writer
        self._staging = staging
        self._segments: dict[str, Segment] = {}
        self._edges: list[EdgeLimits] = []
        self._puts: dict[str, Json] = {}
        self._dropped: dict[str, None] = {}
        self._kept: set[str] = set()
        self._removed: dict[str, None] = {}
        self._open = True

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        forgotten = self._open and self._changed and error is None
        self.rollback()
        if forgotten:
            raise StoreError(
                "A transaction was left with changes and without commit() or rollback(); nothing "
                "was stored."
            )

    # -- what goes in ----------------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """A folder to write data files into; files that are not added are removed with it."""
        self._check_open()
        return self._staging.folder

    def add_segment(
        self,
        segment: Segment,
        table: pa.Table | None = None,
        *,
        file: str | os.PathLike[str] | None = None,
    ) -> Segment:
        """Add nodes, with their values if they have any.

        Parameters
        ----------
        segment
            A segment with a new name. The store sets its `file` and `offset` if there is a `table`
            or `file` (``file=""`` stands for a later one); otherwise they refer to a file added
            before.
        table
            The values, with a row per node. Tables with equal columns share a file.
        file
            The values as a Parquet file, or a folder of parts of one in the order of their names.
            Moved if it is in `folder`, else copied.

        Returns
        -------
        Segment
            The segment as stored.

        Raises
        ------
        StoreError
            There is a segment with that name, the number of rows differs from the number of nodes,
            or a column of the key is missing.
        """
        self._check_open()
        if segment.name in self._segments or self._writer.has_segment(segment.name):
            raise StoreError(f"The store has a segment {segment.name!r} already; names are unique.")
        if table is not None:
            rows, names = len(table), table.schema.names
            name, offset = self._staging.add_table("values", table)
            segment = replace(segment, file=name, offset=offset)
        elif file is not None:
            name = self._staging.add_path(Path(file))
            segment = replace(segment, file=name, offset=0)
            rows, names = self._rows_and_names(name)
        elif segment.file is not None:
            rows, names = self._rows_and_names(segment.file)
            rows = min(max(0, rows - segment.offset), segment.count) if segment.offset >= 0 else 0
        else:
            rows, names = segment.count, []
        _check_values(segment, rows, names)
        self._segments[segment.name] = segment
        return segment

    def add_edges(
        self,
        edges: EdgeSet,
        sources: IntArray | None = None,
        targets: IntArray | None = None,
        *,
        file: str | os.PathLike[str] | None = None,
    ) -> EdgeSet:
        """Add edges between two segments of the store or of this transaction.

        Parameters
        ----------
        edges
            If ordinals are passed here, the store sets its `file` and `offset` (``file=""`` stands
            for a later one).
        sources, targets
            Ordinals, `count` each; an end that has none must be implied (`Ordinals`).
        file
            The ordinals as a Parquet file, or a folder of parts of one, as for `add_segment`.

        Returns
        -------
        EdgeSet
            As it is stored.

        Raises
        ------
        StoreError
            The ordinals are not `count` non-negative integers.
        """
        self._check_open()
        if sources is not None or targets is not None:
            edges, arrays = self._add_arrays(edges, sources, targets)
        else:
            if file is not None:
                edges = replace(edges, file=self._staging.add_path(Path(file)), offset=0)
            arrays = self._read_arrays(edges, whole=file is not None)
        extremes = [
            largest(given, edges, arrays.get(column), column)
            for given, column in ((edges.sources, "source"), (edges.targets, "target"))
        ]
        self._edges.append(EdgeLimits(edges, *extremes))
        return edges

    def add_file(self, path: str | os.PathLike[str]) -> str:
        """Add a Parquet file (or a folder of parts of one) that stays until it is removed by name.

        Returns
        -------
        str
            Its name in the store, for records, segments and edge sets. Compaction leaves it alone.
        """
        self._check_open()
        name = self._staging.add_path(Path(path))
        self._kept.add(name)
        return name

    def add_table(self, table: pa.Table, stem: str = "table") -> str:
        """Add a table as a file of its own, as `add_file` does."""
        self._check_open()
        name = self._staging.add_whole(stem, table)
        self._kept.add(name)
        return name

    def add_rows(self, stem: str, table: pa.Table) -> tuple[str, int]:
        """Add rows that a record of a stream names, to a file of all tables with equal columns.

        Returns
        -------
        tuple
            The file's name in the store, and the first row. Compaction merges such files, and
            moves what records of streams say (`graphquery.store.streams`).
        """
        self._check_open()
        return self._staging.add_table(stem, table, BLOCK)

    def add_rows_of(self, path: str | os.PathLike[str]) -> str:
        """Add a Parquet file of rows that records of streams name, as `add_rows` does a table."""
        self._check_open()
        return self._staging.add_path(Path(path))

    def remove_file(self, name: str) -> None:
        """Remove a file that `add_file` or `add_table` added in an earlier transaction.

        Raises
        ------
        StoreError
            When there is no such file; at the commit, when nodes or edges are in it.
        """
        self._check_open()
        entry = self._writer.file(name)
        if entry is None or not entry.kept:
            raise StoreError(f"The store has no file {name!r} that was added by name.")
        self._removed[name] = None

    def put(self, name: str, document: Json) -> None:
        """Store a JSON document under a name, replacing an existing one.

        Raises
        ------
        StoreError
            The document cannot be represented in JSON.
        """
        self._check_open()
        try:
            self._puts[name] = json.loads(json.dumps(document, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise StoreError(f"Record {name!r} is not a JSON document: {error}") from error
        self._dropped.pop(name, None)

    def get(self, name: str, default: Json = None) -> Json:
        """Return a copy of the document with a name, as this transaction sees it."""
        self._check_open()
        if name in self._dropped:
            return default
        if name in self._puts:
            return copy.deepcopy(self._puts[name])
        return copy.deepcopy(self._writer.record(name, default))

    def delete(self, name: str) -> None:
        """Delete the document with a name, if it exists."""
        self._check_open()
        self._puts.pop(name, None)
        self._dropped[name] = None

    # -- the end of it ---------------------------------------------------------------------

    def commit(self) -> int:
        """Store everything, and return the version; without changes, the current version.

        Raises
        ------
        StoreError
            When edges name no segment or no node of it, a segment of the name was added in the
            meantime, or the file of a segment is not in use. Nothing is stored then.
        """
        self._check_open()
        try:
            if not self._changed:
                return self._writer.version
            commit = replace(
                Commit.planned("append"),
                segments=list(self._segments.values()),
                records=self._puts,
                dropped=list(self._dropped),
                removed=list(self._removed),
            )
            return self._writer.commit(self._staging, commit, self._edges, self._kept)
        finally:
            self._end()

    def rollback(self) -> None:
        """Discard everything; after a commit or a rollback, do nothing."""
        if self._open:
            self._end()

    def _end(self) -> None:
        self._open = False
        self._writer.ended(self, self._staging)

    @property
    def _changed(self) -> bool:
        parts = (self._segments, self._edges, self._puts, self._dropped, self._kept, self._removed)
        return any(parts)

    def _check_open(self) -> None:
        if not self._open:
            raise StoreError("The transaction is over: begin another with writer.transaction().")
        self._writer.check_open()

    def _path(self, name: str) -> Path:
        if name in self._staging.names:
            return self._staging.path(name)
        if self._writer.file(name) is None:
            raise StoreError(
                f"The store has no file {name!r} in use.\n"
                "Give the rows as a table or a path, or a name that add_file returned."
            )
        return self._writer.root / name

    def _rows_and_names(self, name: str) -> tuple[int, list[str]]:
        with pq.ParquetFile(self._path(name)) as parquet:
            return parquet.metadata.num_rows, list(parquet.schema_arrow.names)

    def _add_arrays(
        self, edges: EdgeSet, sources: IntArray | None, targets: IntArray | None
    ) -> tuple[EdgeSet, dict[str, npt.NDArray[Any]]]:
        arrays: dict[str, npt.NDArray[Any]] = {}
        given = (("source", edges.sources, sources), ("target", edges.targets, targets))
        for column, ordinals, array in given:
            if array is not None:
                arrays[column] = integers(edges, column, array)
            elif ordinals is Ordinals.COLUMN:
                raise StoreError(
                    f"Edges from {edges.source} to {edges.target} have a column {column!r}, which "
                    "is not given."
                )
        table = pa.table({name: narrow(array) for name, array in arrays.items()})
        name, offset = self._staging.add_table("edges", table)
        stored = replace(
            edges,
            sources=Ordinals.COLUMN if "source" in arrays else edges.sources,
            targets=Ordinals.COLUMN if "target" in arrays else edges.targets,
            file=name,
            offset=offset,
        )
        return stored, arrays

    def _read_arrays(self, edges: EdgeSet, *, whole: bool) -> dict[str, npt.NDArray[Any]]:
        if edges.file is None:
            return {}
        ends = (("source", edges.sources), ("target", edges.targets))
        columns = [column for column, given in ends if given is Ordinals.COLUMN]
        path = self._path(edges.file)
        table = read_rows(path, columns, edges.offset, None if whole else edges.count)
        return {column: integers(edges, column, table.column(column)) for column in columns}
