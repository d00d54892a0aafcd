"""Every change that a store makes to the file system, one method each.

A change is durable when the method returns: files are synced before they are named, folders after
an entry in them was named.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

TEMPORARY = ".tmp"
ROW_GROUP = 1 << 17
"""Rows of a row group: the unit of reading, and of buffering before a write."""


class StoreFiles:
    """The elementary changes of a store; each calls `step` first.

    A subclass with its own `step` sees, delays or interrupts every change.
    """

    def step(self, operation: str, path: Path) -> None:
        """Do nothing: called with the operation's name and its path before each change."""

    def make_folder(self, path: Path) -> None:
        """Make a folder and its parents, if missing."""
        self.step("make folder", path)
        path.mkdir(parents=True, exist_ok=True)

    def write(self, path: Path, data: bytes) -> None:
        """Write a new file, which is not durable yet."""
        self.step("write", path)
        path.write_bytes(data)

    def publish(self, path: Path, data: bytes, *before: Path) -> None:
        """Write a file that appears whole, and only if no file has its path.

        Parameters
        ----------
        before
            Files and folders that are made durable before the file appears.

        Raises
        ------
        FileExistsError
            When there is one.
        """
        temporary = path.with_name(f"{path.name}.{os.getpid()}{TEMPORARY}")
        self.write(temporary, data)
        self.sync(temporary, *before)
        self.step("publish", path)
        try:
            _name(temporary, path)
        finally:
            self.remove(temporary)
        self.sync(path.parent)

    def replace(self, path: Path, data: bytes) -> None:
        """Write a file that appears whole, replacing an existing one."""
        temporary = path.with_name(f"{path.name}.{os.getpid()}{TEMPORARY}")
        self.write(temporary, data)
        self.sync(temporary)
        self.step("replace", path)
        temporary.replace(path)
        self.sync(path.parent)

    def move(self, source: Path, target: Path) -> None:
        """Rename a file or folder within the same file system."""
        self.step("move", target)
        source.rename(target)

    def copy(self, source: Path, target: Path) -> None:
        """Copy a file."""
        self.step("copy", target)
        shutil.copyfile(source, target)

    def remove(self, path: Path) -> None:
        """Remove a file, if it exists."""
        self.step("remove", path)
        path.unlink(missing_ok=True)

    def remove_folder(self, path: Path) -> None:
        """Remove a folder if it is empty."""
        self.step("remove folder", path)
        path.rmdir()

    def remove_tree(self, path: Path) -> None:
        """Remove a folder and its contents, if it exists."""
        self.step("remove tree", path)
        shutil.rmtree(path, ignore_errors=True)

    def sync(self, *paths: Path) -> None:
        """Make the content of files, and the names in folders, durable.

        The first of several paths costs most: a journal writes all pending changes at once.
        """
        for path in paths:
            self.step("sync", path)
            self.flush(path)

    def flush(self, path: Path) -> None:
        """Flush a file or folder to the disk."""
        if path.is_dir() and os.name != "posix":  # where a folder cannot be opened
            return
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def open_parquet(self, path: Path, schema: pa.Schema) -> pq.ParquetWriter:
        """Open a Parquet file for writing."""
        self.step("open", path)
        return pq.ParquetWriter(path, schema, compression="zstd")

    def write_rows(
        self, path: Path, writer: pq.ParquetWriter, rows: pa.Table, row_group: int = ROW_GROUP
    ) -> None:
        """Append rows to a Parquet file, in row groups of at most `group` rows."""
        self.step("write rows", path)
        writer.write_table(rows, row_group_size=row_group)


def _name(temporary: Path, path: Path) -> None:
    """Rename a file to its final name; raise if that exists."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links; there is one writer
        if path.exists():
            raise FileExistsError(path) from None
        temporary.rename(path)
