"""Snapshots: the content of a store after one commit, unaffected by later commits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from graphquery.errors import MissingColumnError, StoreDamagedError, StoreError
from graphquery.model import EdgeSet, Ordinals, Segment
from graphquery.store.commit import FileEntry, Json
from graphquery.store.state import StoreState
from semiring.support.document import file_checksum

_known: set[tuple[str, str, int, int, int]] = set()


def verify(path: Path, entry: FileEntry) -> None:
    """Check a file against its committed checksum, unless it was checked before.

    Raises
    ------
    StoreDamagedError
        The file is damaged or missing.
    """
    try:
        status = path.stat()
        key = (str(path), entry.sha256, status.st_ino, status.st_size, status.st_mtime_ns)
        if key in _known:
            return
        if status.st_size == entry.size and file_checksum(path) == entry.sha256:
            _known.add(key)
            return
    except FileNotFoundError as error:
        raise StoreDamagedError(
            f"{path} is gone.\nA snapshot older than the last vacuum cannot be read: take a new "
            "one. If it is the newest, run fsck on the store."
        ) from error
    except OSError as error:
        raise StoreDamagedError(
            f"{path} cannot be read: {error}\nRun fsck on the store."
        ) from error
    raise StoreDamagedError(
        f"{path} is not what was committed: it was truncated or altered.\nRun fsck on the store."
    )


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The content of a store after one commit.

    It stays readable while others append and compact, until the files it uses are vacuumed.

    Parameters
    ----------
    root
        The folder of the store.
    version, time
        Of the last commit it contains; 0 and the empty string if there is none.
    segments
        By name, in the order they were added.
    edges
        In the order they were added.
    records
        By name. Not to be changed.
    files
        The files in use.
    """

    root: Path
    version: int
    time: str
    segments: Mapping[str, Segment]
    edges: Sequence[EdgeSet]
    records: Mapping[str, Json]
    files: Mapping[str, FileEntry]

    @classmethod
    def of(cls, root: Path, state: StoreState) -> Snapshot:
        """Return the snapshot of a state, in time proportional to it."""
        return cls(
            root,
            state.version,
            state.time,
            MappingProxyType(dict(state.segments)),
            tuple(state.edges),
            MappingProxyType(dict(state.records)),
            MappingProxyType(dict(state.files)),
        )

    def path(self, file: str) -> Path:
        """Return the path of a file, for readers of Parquet such as Spark.

        At first access the file is verified against its checksum.

        Raises
        ------
        StoreError
            When the snapshot has no such file.
        StoreDamagedError
            When it is not what was committed.
        """
        if file not in self.files:
            raise StoreError(
                f"The store {self.root} has no file {file!r} in use at commit {self.version}.\n"
                "Take the names of files from the same snapshot."
            )
        path = self.root / file
        verify(path, self.files[file])
        return path

    def read(
        self,
        file: str,
        columns: Sequence[str] | None = None,
        offset: int = 0,
        count: int | None = None,
    ) -> pa.Table:
        """Read rows `offset` to `offset + count` of a file; by default all.

        Only the row groups that have them are read. To read many segments of one file, read the
        file once and slice it.

        Raises
        ------
        StoreError
            When the snapshot has no such file, or it no such column.
        StoreDamagedError
            When it cannot be read, or has not that many rows.
        """
        path = self.path(file)
        return read_rows(path, columns, offset, count)

    def column(self, file: str, name: str) -> pa.ChunkedArray:
        """Return a whole column of a file; the reader for `ProvenanceGraph.build`.

        Raises
        ------
        StoreError
            When the snapshot has no such file, or it no such column.
        StoreDamagedError
            When it cannot be read.
        """
        return self.read(file, [name]).column(name)

    def values(self, segment: Segment | str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the values of the nodes of a segment, one row each; no columns if there are none.

        Raises
        ------
        StoreError
            When there is no such segment, or it has no such column.
        StoreDamagedError
            When its file cannot be read, or has not that many rows.
        """
        if isinstance(segment, str):
            segment = self.segment(segment)
        if segment.file is None:
            if columns:
                raise StoreError(f"Segment {segment.name} has no values, so no {columns[0]!r}.")
            return pa.table({})
        return self.read(segment.file, columns, segment.offset, segment.count)

    def segment(self, name: str) -> Segment:
        """Return the segment with a name.

        Raises
        ------
        StoreError
            The snapshot has no such segment.
        """
        segment = self.segments.get(name)
        if segment is None:
            raise StoreError(
                f"The store {self.root} has no segment {name!r} at commit {self.version}."
            )
        return segment

    def ordinals(self, edges: EdgeSet) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the sources and the targets of the edges of a set: `count` integers each.

        Raises
        ------
        StoreDamagedError
            When their file cannot be read, or has not that many rows.
        """
        stored = {
            "source": edges.sources is Ordinals.COLUMN,
            "target": edges.targets is Ordinals.COLUMN,
        }
        columns = [name for name, is_column in stored.items() if is_column]
        table = None
        if edges.file is not None:
            table = self.read(edges.file, columns, edges.offset, edges.count)
        return (
            _ordinals(edges.sources, edges.count, table, "source"),
            _ordinals(edges.targets, edges.count, table, "target"),
        )


def _ordinals(given: Ordinals, count: int, table: pa.Table | None, column: str) -> npt.NDArray[Any]:
    if given is Ordinals.ALL:
        return np.arange(count)
    if given is Ordinals.ONE:
        return np.zeros(count, dtype=np.int64)
    assert table is not None  # the model has a file for every column
    values: npt.NDArray[Any] = table.column(column).to_numpy()
    return values


def read_rows(
    path: Path, columns: Sequence[str] | None = None, offset: int = 0, count: int | None = None
) -> pa.Table:
    """Read a slice of a Parquet file; see `Snapshot.read`."""
    try:
        with pq.ParquetFile(path) as file:
            _check_columns(path, file.schema_arrow.names, columns or ())
            meta = file.metadata
            count = meta.num_rows - offset if count is None else count
            if offset < 0 or count < 0 or offset + count > meta.num_rows:
                raise StoreDamagedError(
                    f"{path} has {meta.num_rows} rows; rows {offset} to {offset + count} were "
                    "asked for.\nRun fsck on the store."
                )
            sizes = [meta.row_group(index).num_rows for index in range(meta.num_row_groups)]
            groups, skipped = row_groups(sizes, offset, count)
            table: pa.Table = file.read_row_groups(groups, columns=columns)
    except FileNotFoundError as error:
        raise StoreDamagedError(
            f"{path} is gone.\nA snapshot older than the last vacuum cannot be read: take a new "
            "one. If it is the newest, run fsck on the store."
        ) from error
    except (OSError, pa.ArrowException) as error:
        raise StoreDamagedError(
            f"{path} cannot be read: {error}\nRun fsck on the store."
        ) from error
    return table.slice(offset - skipped, count)


def row_groups(sizes: Sequence[int], offset: int, count: int) -> tuple[list[int], int]:
    """Return the row groups with rows `offset` to `offset + count`, and the rows before them."""
    ends = np.cumsum(np.asarray(sizes, dtype=np.int64))
    if not count:
        return [], offset
    first = int(np.searchsorted(ends, offset, side="right"))
    last = int(np.searchsorted(ends, offset + count, side="left"))
    return list(range(first, last + 1)), int(ends[first - 1]) if first else 0


def _check_columns(path: Path, names: Sequence[str], wanted: Iterable[str]) -> None:
    for name in wanted:
        if name not in names:
            raise MissingColumnError(f"{path} has no column {name!r}; it has {', '.join(names)}.")
