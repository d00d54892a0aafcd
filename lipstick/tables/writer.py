"""Writing an annotated answer, in the manner of ``DataFrameWriter``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

from lipstick.errors import SourceChangedError, TrackingError, UnsupportedError
from lipstick.stages.spark_errors import running
from lipstick.tables.commit import finished, write_answer
from lipstick.tables.derivation import Derivation, read_latest
from lipstick.tables.target import Key, Target
from lipstick.tracking.source import Source
from lipstick.tracking.states import local_folder
from lipstick.tracking.tracker import Tracked
from rewriter.dialect import Into
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.frame import AnnotatedFrame
    from lipstick.sessions import Session

_PART = r"(?:[A-Za-z0-9_]+|`[^`]+`)"
_TABLE = re.compile(rf"{_PART}(?:\.{_PART})*")
_MODES = {"errorifexists": "error", "default": "error"}


@checked
@dataclass(frozen=True, slots=True)
class AnnotatedWriter:
    """The writer of an answer. The written table is tracked as a *derived* relation of the query.

    Made by :attr:`lipstick.AnnotatedFrame.write`. Settings return another writer; ``parquet``,
    ``orc``, ``save``, ``saveAsTable`` and ``insertInto`` write, and return the tracked relation.
    """

    _session: Session
    _frame: AnnotatedFrame
    _mode: str = "error"
    _format: str | None = None
    _options: Mapping[str, Any] = field(default_factory=dict)
    _partitions: tuple[str, ...] = ()
    _key: Key | None = None
    _directory: Path | None = None

    # -- settings --------------------------------------------------------------------------

    def mode(self, mode: str) -> AnnotatedWriter:
        """Return a writer with a mode: ``error`` (the default), ``append`` or ``overwrite``."""
        return replace(self, _mode=_MODES.get(mode.lower(), mode.lower()))

    def format(self, source: str) -> AnnotatedWriter:
        """Return a writer with a format of files, by default ``parquet``, or a table provider."""
        return replace(self, _format=source)

    def option(self, key: str, value: Any) -> AnnotatedWriter:
        """Return a writer with one more option of the format."""
        return replace(self, _options={**self._options, key: value})

    def options(self, **options: Any) -> AnnotatedWriter:
        """Return a writer with more options of the format."""
        return replace(self, _options={**self._options, **options})

    def partitionBy(self, *columns: str) -> AnnotatedWriter:  # noqa: N802 - as Spark has it
        """Return a writer that partitions the table by columns."""
        return replace(self, _partitions=columns)

    def key(self, *columns: str) -> AnnotatedWriter:
        """Return a writer whose rows are named by columns (``t:Civic``); none: by place.

        By default the grouping key names them, if it is among the columns and never NULL.
        """
        return replace(self, _key=columns)

    def provenance(self, path: str | os.PathLike[str]) -> AnnotatedWriter:
        """Return a writer with a directory for the table's provenance.

        By default ``<path>.provenance`` beside files, and in the session's store for tables.
        """
        return replace(self, _directory=local_folder(path).absolute())

    # -- writing ---------------------------------------------------------------------------

    def parquet(self, path: str | os.PathLike[str], name: str | None = None) -> Tracked:
        """Write Parquet files; see :meth:`save`."""
        return self.format("parquet").save(path, name)

    def orc(self, path: str | os.PathLike[str], name: str | None = None) -> Tracked:
        """Write ORC files; see :meth:`save`."""
        return self.format("orc").save(path, name)

    def csv(self, path: str | os.PathLike[str]) -> NoReturn:
        """Refuse to write CSV.

        Raises
        ------
        UnsupportedError
            Always: CSV keeps neither types nor NULLs beside empty texts.
        """
        raise _plain_only("CSV", "csv", path)

    def json(self, path: str | os.PathLike[str]) -> NoReturn:
        """Refuse to write JSON; see :meth:`csv`."""
        raise _plain_only("JSON", "json", path)

    def text(self, path: str | os.PathLike[str]) -> NoReturn:
        """Refuse to write text; see :meth:`csv`."""
        raise _plain_only("Text", "text", path)

    def save(self, path: str | os.PathLike[str], name: str | None = None) -> Tracked:
        """Write files.

        Parameters
        ----------
        path
            The directory.
        name
            What the relation is called in queries; that of the directory, up to a dot, if None.
        """
        if self._partitions:
            raise TrackingError(
                "Spark guesses the types of columns that files are partitioned by.\n"
                "Write a table: partitionBy(...).saveAsTable(name)."
            )
        location = os.fspath(path)
        called = name or Path(location).name.split(".")[0]
        format = self._format or "parquet"
        target = self._target(called, location, format=format)
        return self._write(target, lambda writer: writer.save(location, format=format))

    def saveAsTable(self, name: str) -> Tracked:  # noqa: N802 - as Spark has it
        """Write a table. Columns of one that is there are found by name."""
        _check_table(name)
        target = self._target(name, name, provider=self._format, partitions=self._partitions)
        return self._write(target, lambda writer: writer.saveAsTable(name))

    def insertInto(self, name: str, overwrite: bool = False) -> Tracked:  # noqa: N802 - as Spark has it
        """Add rows to a table, or replace those it has. Its columns are found by place."""
        _check_table(name)
        mode = "overwrite" if overwrite or self._mode == "overwrite" else "append"
        target = self.mode(mode)._target(name, name, into=Into(), keeps_schema=True)
        return self._write(target, lambda writer: writer.insertInto(name))

    def _target(self, name: str, source: str, **more: Any) -> Target:
        return Target(name, source, self._mode, key=self._key, directory=self._directory, **more)

    def _write(self, target: Target, emit: Callable[[DataFrameWriter], None]) -> Tracked:
        def write(rows: DataFrame) -> None:
            writer: DataFrameWriter = rows.write.mode(target.mode).options(**self._options)
            if self._format is not None:
                writer = writer.format(self._format)
            with running(self._frame.query):
                emit(writer.partitionBy(*self._partitions) if self._partitions else writer)

        return write_answer(self._session, self._frame, target, write)


def _check_table(name: str) -> None:
    if not _TABLE.fullmatch(name):
        raise TrackingError(
            f"{name!r} does not name a table.\nGive letters, digits and underscores, with dots "
            "between the parts of a name; a part with other characters stands in backticks."
        )


def _plain_only(name: str, method: str, path: str | os.PathLike[str]) -> UnsupportedError:
    return UnsupportedError(
        f"{name} does not keep the types of columns and tells no NULL from an empty text, so that "
        "rows could not be held against their provenance",
        f"Write q.write.parquet(path), or the rows without provenance: "
        f"q.df.write.{method}({os.fspath(path)!r}).",
    )


def written_derivation(
    spark: SparkSession,
    store: Path,
    name: str,
    pinned: Source,
    derived: str | os.PathLike[str] | Literal[True],
) -> Derivation:
    """Read the derivation of a written source, and check that it is of this source.

    Parameters
    ----------
    derived
        Its directory; True: the default place in the store of a session.

    Raises
    ------
    SourceChangedError, CaptureError
        When the source is not what was written, or nothing was.
    """
    if derived is True:
        directory = Target(name, pinned.place or name, "append", pinned.format).kept_in(store)
    else:
        directory = local_folder(derived).absolute()
    derivation = finished(spark, directory, pinned) or read_latest(directory)
    if derivation.fingerprint != pinned.fingerprint:
        raise SourceChangedError(
            f"{name!r} ({pinned.description}) is not what was written with the provenance in "
            f"{directory}: something else changed it, or a write did not end.\nWrite it anew."
        )
    return replace(derivation, name=name)
