"""Folders of plain Parquet files as tables of an erasure: new rows beside them, then exchanged.

Plain files have no versions. A number of the names, lengths and times of the files stands for one,
and the rows before an erasure stay readable beside the folder until all tables are written. All
states are seen from names, so that a run that was stopped at any moment goes on:

- nothing beside the folder, or ``.NAME.writing_ID``: its new rows are not written;
- ``.NAME.erasure_ID`` with the mark of the erasure: they are written as a whole;
- the mark in the folder: the folders are exchanged, the earlier rows are ``.NAME.erasure_ID``;
- the mark in the folder, and nothing beside it: the earlier rows are removed.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from lipstick.errors import LipstickError, SourceError, VersionGoneError
from lipstick.tracking.formats.versions import TableVersion
from lipstick.tracking.states import local_path

FORMAT = "parquet"
_EXCHANGE = 2
"""RENAME_EXCHANGE of Linux."""


@dataclass(frozen=True, slots=True)
class ParquetFolder:
    """A folder of Parquet files, or the table of a catalog whose files are in it."""

    spark: SparkSession
    table: str
    """The table as SQL names it: ``shop.report`` or ``parquet.`/lake/report```."""
    folder: Path

    format = FORMAT

    @property
    def identity(self) -> str:
        """The folder."""
        return str(self.folder)

    @property
    def location(self) -> str:
        """The folder."""
        return str(self.folder)

    def current(self) -> int:
        """Return the number that stands for the files as they are now."""
        return _state(self.folder)

    def history(self) -> list[TableVersion]:
        """Return no version: plain files have none.

        Raises
        ------
        LipstickError
        """
        raise LipstickError(
            f"{self.table} has no versions: statements over plain Parquet are not replayed.\n"
            "Give the query that the table is the answer of."
        )

    def read(self, version: int | None) -> DataFrame:
        """Return the rows as they were at a state of the files, also when they were exchanged.

        Raises
        ------
        VersionGoneError
            When the files were replaced otherwise.
        """
        now = self._now()
        if version == self.current():
            return now
        for place in self.beside():
            if _state(place) == version:
                return self.spark.read.schema(now.schema).parquet(str(place))
        raise VersionGoneError(f"The files of {self.table} are others than they were.")

    def _now(self) -> DataFrame:
        if "`" not in self.table:  # Spark remembers the files of tables
            self.spark.catalog.refreshTable(self.table)
        return self.spark.table(self.table)

    def files(self, version: int | None) -> list[str]:
        """Return the URIs of the files."""
        del version
        return [(self.folder / name).as_uri() for name in _visible(self.folder)]

    def all_files(self) -> list[str]:
        """Return the URIs of the files."""
        return self.files(None)

    def beside(self) -> list[Path]:
        """Return the folders that erasures made beside this one, and did not remove."""
        return sorted(self.folder.parent.glob(f".{self.folder.name}.*_*"))

    def partitions(self) -> list[str]:
        """Return the partition columns."""
        first = next(iter(_visible(self.folder)), "")
        return [part.partition("=")[0] for part in Path(first).parts[:-1] if "=" in part]

    def exchanged(self, made: str) -> bool:
        """Return True if an erasure has exchanged the folder.

        Raises
        ------
        LipstickError
            When the files were changed afterwards.
        """
        mark = self.folder / _mark(made)
        if not mark.is_file():
            return False
        if mark.read_text() != str(self.current()):
            raise LipstickError(
                f"The files of {self.table} were changed after the erasure.\nPlan it anew."
            )
        return True

    def write(self, rows: DataFrame, made: str, on_step: Callable[[str], None]) -> None:
        """Write rows beside the folder, and exchange both."""
        new = self._place(made)
        if not (new / _mark(made)).is_file():
            part = self._place(made, "writing")
            on_step(f"writing {part}")
            rows.write.mode("overwrite").partitionBy(*self.partitions()).parquet(str(part))
            written = self.spark.read.parquet(str(part)).schema
            if written.simpleString() != self._now().schema.simpleString():
                raise LipstickError(
                    f"The columns of {self.table} are others when its remaining rows are written: "
                    f"{written.simpleString()}.\nGive partition columns values of one type."
                )
            shutil.copymode(self.folder, part)
            (part / _mark(made)).write_text(str(_state(part)))
            on_step(f"{part} is written")
            part.rename(new)
        on_step(f"exchanging {self.folder}")
        self.exchange(made)
        self.spark.catalog.refreshByPath(str(self.folder))
        self._now()  # which the session reads from then on

    def remove_earlier(self, made: str) -> None:
        """Remove the rows from before the erasure."""
        place = self._place(made)
        if place.exists():
            # A folder that is removed in part must not be read as the earlier rows.
            removing = self._place(made, "removing")
            place.rename(removing)
        for left in (self._place(made, "removing"), self._place(made, "writing")):
            if left.exists():
                shutil.rmtree(left)

    def _place(self, made: str, state: str = "erasure") -> Path:
        return self.folder.with_name(f".{self.folder.name}.{state}_{made}")

    def has_earlier(self, made: str) -> bool:
        """Return True if the rows from before the erasure, or the new ones, are beside it."""
        return self._place(made).exists()

    def exchange(self, made: str) -> None:
        new = self._place(made)
        try:
            libc = ctypes.CDLL(None, use_errno=True)
            paths = (os.fsencode(self.folder), os.fsencode(new))
            done = libc.renameat2(-100, paths[0], -100, paths[1], _EXCHANGE) == 0
        except (OSError, AttributeError):
            done = False
        if not done:
            self.folder.rename(self._place(made, "earlier"))
            self.resume(made)

    def resume(self, made: str) -> None:
        """Finish an exchange by two renames, where the system has no other."""
        earlier, new = self._place(made, "earlier"), self._place(made)
        if earlier.exists():
            if not self.folder.exists():
                new.rename(self.folder)
            earlier.rename(new)


def parquet_table(spark: SparkSession, reference: str) -> ParquetFolder:
    """Return the table of plain Parquet of a name in SQL, or in a local folder.

    Raises
    ------
    SourceError
        When there is none, or its files are on no local disk.
    """
    if "/" in reference:
        path = reference.removeprefix("parquet.`").removesuffix("`")
        folder = local_path(path)
        if folder is not None:
            found = ParquetFolder(spark, f"parquet.`{folder.absolute()}`", folder.absolute())
            for earlier in folder.parent.glob(f".{folder.name}.earlier_*"):
                found.resume(earlier.name.rpartition("_")[2])
            if any(name.endswith(".parquet") for name in _visible(folder)):
                return found
        raise SourceError(f"{path} is not a local folder of Parquet files.")
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {reference}").collect()
    about = {row["col_name"]: row["data_type"] for row in rows}
    folder = local_path(about.get("Location", ""))
    if about.get("Provider", "").lower() != FORMAT or folder is None or not folder.is_dir():
        raise SourceError(f"{reference!r} is not a table of Delta, Iceberg or local Parquet files.")
    if about.get("Partition Provider") == "Catalog":
        raise SourceError(
            f"The catalog has the partitions of {reference}: its files are not exchanged.\n"
            "Name its folder instead."
        )
    return ParquetFolder(spark, reference, folder)


def _mark(made: str) -> str:
    return f"_lipstick_erasure_{made}"


def _visible(folder: Path) -> list[str]:
    """Return the relative paths of the files that Spark reads in a folder, sorted."""
    if not folder.is_dir():
        return []
    found = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    return sorted(str(file) for file in found if not any(map(_is_hidden, file.parts)))


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _state(folder: Path) -> int:
    """Return a number of the names, lengths and times of the files in a folder."""
    states = []
    for name in _visible(folder):
        status = (folder / name).stat()
        states.append(f"{name} {status.st_size} {status.st_mtime_ns}")
    return int.from_bytes(hashlib.sha256("\n".join(states).encode()).digest()[:7])
