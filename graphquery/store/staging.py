"""Data files on their way into a store: written to a staging folder, published by a commit."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from graphquery.errors import StoreError
from graphquery.store.commit import FileEntry
from graphquery.store.file_system import ROW_GROUP, StoreFiles
from graphquery.store.format import DATA, STAGING
from semiring.support.document import file_checksum

_LARGE = 1 << 24
"""Size in bytes from which files are made durable before the commit blocks other commits."""


@dataclass(slots=True)
class _Pack:
    """A Parquet file being written, of tables with the same columns."""

    name: str
    path: Path
    writer: pq.ParquetWriter
    rows: int = 0
    row_group: int = ROW_GROUP
    waiting: list[pa.Table] = field(default_factory=list)
    waiting_rows: int = 0

    def add(self, table: pa.Table, files: StoreFiles) -> int:
        """Append a table and return the row it starts at."""
        offset = self.rows
        self.rows += len(table)
        self.waiting.append(table)
        self.waiting_rows += len(table)
        if self.waiting_rows >= ROW_GROUP:
            self.flush(files)
        return offset

    def flush(self, files: StoreFiles) -> None:
        if self.waiting_rows:
            rows = pa.concat_tables(self.waiting)
            files.write_rows(self.path, self.writer, rows, self.row_group)
        self.waiting = []
        self.waiting_rows = 0


class Staging:
    """One folder of files to be added.

    Parameters
    ----------
    root
        The folder of the store.
    version
        The version of the last commit, which makes the folder's name readable.
    """

    def __init__(self, root: Path, version: int, files: StoreFiles) -> None:
        self._id = f"{version + 1:08d}-{secrets.token_hex(4)}"
        self._root = root
        self._files = files
        self._staged = root / STAGING / self._id
        self._packs: dict[tuple[str, str], _Pack] = {}
        self._names: dict[str, Path] = {}

    @property
    def folder(self) -> Path:
        """A working folder for the caller; files that are not added are removed in the end."""
        path = self._staged / "work"
        if not path.is_dir():
            self._files.make_folder(path)
        return path

    @property
    def names(self) -> frozenset[str]:
        """The names, in the store, of the files added so far."""
        return frozenset(self._names)

    def path(self, name: str) -> Path:
        """Return the path of an added file before the commit."""
        return self._names[name]

    def add_table(self, stem: str, table: pa.Table, row_group: int = ROW_GROUP) -> tuple[str, int]:
        """Append a table to the file of its columns; return the file's name and the first row.

        Parameters
        ----------
        row_group
            The limit on a row group's rows, for a file that this table starts.
        """
        table = table.replace_schema_metadata(None)
        key = (stem, schema_digest(table.schema))
        pack = self._packs.get(key)
        if pack is None:
            pack = self._packs[key] = self._open(stem, table.schema, row_group)
        return pack.name, pack.add(table, self._files)

    def add_whole(self, stem: str, table: pa.Table) -> str:
        """Write a table, with the metadata of its schema, as a file of its own; return the name."""
        name, path = self._new(stem)
        with self._files.open_parquet(path, table.schema) as writer:
            self._files.write_rows(path, writer, table)
        return name

    def add_path(self, path: Path) -> str:
        """Add a Parquet file, or a folder of parts of one, and return its name.

        Files in the staging folder are moved, others copied; parts are joined in the order of their
        names.

        Raises
        ------
        StoreError
            When there is no such file, it is not Parquet, or its parts differ in their columns.
        """
        parts = _parts(path)
        schemas = [_schema(part) for part in parts]
        for part, schema in zip(parts, schemas, strict=True):
            if not schema.equals(schemas[0]):
                raise StoreError(
                    f"The columns of {part} are not those of {parts[0]}: {_columns(schema)} "
                    f"instead of {_columns(schemas[0])}.\n"
                    "Write the parts of one file from one data frame."
                )
        if len(parts) == 1:
            return self._take(path.stem, parts[0])
        return self._join(path.stem, parts, schemas[0])

    def _take(self, stem: str, part: Path) -> str:
        name, target = self._new(stem)
        if part.is_relative_to(self._staged / "work"):
            self._files.move(part, target)
        else:
            self._files.copy(part, target)
        return name

    def _join(self, stem: str, parts: list[Path], schema: pa.Schema) -> str:
        pack = self._open(stem, schema.remove_metadata())
        with pack.writer:
            for part in parts:
                for rows in read_groups(part):
                    pack.add(rows, self._files)
            pack.flush(self._files)
        return pack.name

    def close(self) -> dict[str, FileEntry]:
        """Finish all files, and describe them by name."""
        self._close_packs(flush=True)
        entries = {name: describe(path) for name, path in self._names.items()}
        if sum(entry.size for entry in entries.values()) > _LARGE:
            self._files.sync(*self._names.values())
        return entries

    def publish(self) -> list[Path]:
        """Move the files to their final names, all at once.

        Returns
        -------
        list of Path
            The files and folders that are to be made durable before a commit names them.
        """
        if not self._names:
            return []
        folder = self._root / DATA / self._id
        self._files.move(self._staged / DATA, folder)
        return [*(self._root / name for name in self._names), folder, folder.parent]

    def discard(self, *, published: bool) -> None:
        """Remove all remaining files, and published ones unless `published`."""
        with contextlib.suppress(OSError):  # of files that are removed
            self._close_packs(flush=False)
        if not published and (self._root / DATA / self._id).exists():
            self._files.remove_tree(self._root / DATA / self._id)
        if self._staged.exists():
            self._files.remove_tree(self._staged)

    def _close_packs(self, *, flush: bool) -> None:
        while self._packs:
            pack = self._packs.pop(next(iter(self._packs)))
            with pack.writer:
                if flush:
                    pack.flush(self._files)

    def _open(self, stem: str, schema: pa.Schema, row_group: int = ROW_GROUP) -> _Pack:
        name, path = self._new(stem)
        return _Pack(name, path, self._files.open_parquet(path, schema), row_group=row_group)

    def _new(self, stem: str) -> tuple[str, Path]:
        safe = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in stem)
        file = f"{safe[:40]}-{len(self._names)}.parquet"
        folder = self._staged / DATA
        if not folder.is_dir():
            self._files.make_folder(folder)
        name = f"{DATA}/{self._id}/{file}"
        self._names[name] = folder / file
        return name, folder / file


def schema_digest(schema: pa.Schema) -> str:
    """Return a digest of a schema's names, types and nullability of columns."""
    text = schema.to_string(show_field_metadata=False, show_schema_metadata=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def describe(path: Path) -> FileEntry:
    """Return the entry of a Parquet file as it is now; reads all of it.

    Raises
    ------
    OSError, pyarrow.ArrowException
        When it cannot be read, or is not Parquet.
    """
    with pq.ParquetFile(path) as parquet:
        rows, schema = parquet.metadata.num_rows, schema_digest(parquet.schema_arrow)
    return FileEntry(path.stat().st_size, file_checksum(path), rows, schema)


def read_groups(path: Path) -> Iterator[pa.Table]:
    """Yield the row groups of a Parquet file, or one empty table if it has none.

    Raises
    ------
    StoreError
        When it cannot be read.
    """
    try:
        with pq.ParquetFile(path) as parquet:
            if not parquet.num_row_groups:
                yield parquet.schema_arrow.remove_metadata().empty_table()
            for index in range(parquet.num_row_groups):
                yield parquet.read_row_group(index).replace_schema_metadata(None)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"{path} cannot be read as Parquet: {error}") from error


def _schema(path: Path) -> pa.Schema:
    try:
        return pq.read_schema(path)
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"{path} cannot be read as Parquet: {error}") from error


def _parts(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise StoreError(f"There is no file {path} to add to the store.")
        return [path]
    parts = sorted(each for each in path.glob("*.parquet") if each.name[0] not in "._")
    if not parts:
        raise StoreError(
            f"The folder {path} has no Parquet file to add to the store.\n"
            "Write at least one part, which may be empty: it has the columns."
        )
    return parts


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{each.name} {each.type}" for each in schema)
