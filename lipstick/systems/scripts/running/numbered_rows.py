"""The rows of outputs and sources of a run, by their numbers, without Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.running.record import Event, FileVersion, RecordedRun, version_of
from lipstick.tracking.naming import shown_key

if TYPE_CHECKING:
    from lipstick.capture.capture import Capture

_FORMATS = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".orc": "orc"}


def check_version(version: FileVersion) -> None:
    """Check that a file is still the one that the run had.

    Raises
    ------
    ScriptError
        It is another, or gone.
    """
    if version.sha256 and version_of(version.path) != version:
        raise ScriptError(
            f"{version.path} is not what it was when the script ran.\nRun the script again, or put"
            f" the file back whose SHA-256 is {version.sha256}."
        )


def capture_of(run: RecordedRun, event: Event) -> Capture:
    """The capture of a frame that was written or collected."""
    from lipstick.capture.capture import open_capture

    return open_capture(run.directory / "captures" / str(event.number))


def written_answer(run: RecordedRun, event: Event) -> pa.Table:
    """The rows of a captured frame, in the order of the capture."""
    return capture_of(run, event).memory.answer()


def rows_before(run: RecordedRun, event: Event, file: str) -> int:
    """Return the number of rows of an output in the files before one of them."""
    count = 0
    for version in event.files:
        if version.path == file:
            return count
        count += _read(Path(version.path), event, run).num_rows
    raise ScriptError(f"{file} is not a file of {event.name}.")


def written_table(run: RecordedRun, event: Event) -> pa.Table:
    """The rows of an output, read from its files; of a collected frame as they were collected."""
    kept = run.directory / "frames" / f"{event.number}.parquet"
    if kept.exists():
        import pyarrow.parquet as pq

        return pq.read_table(kept)
    if event.kind == "collect" and event.capture:
        return written_answer(run, event)
    if not event.files:
        raise ScriptError(f"{event.name} is in no files of this machine: choose by values.")
    for version in event.files:
        check_version(version)
    return pa.concat_tables(
        [_read(Path(version.path), event, run) for version in event.files],
        promote_options="default",
    )


def _read(path: Path, event: Event, run: RecordedRun) -> pa.Table:
    kind = _FORMATS.get(path.suffix)
    if kind is None and event.library == "spark" and path.suffix in (".gz", ".snappy", ".zst"):
        kind = _FORMATS.get(Path(path.stem).suffix)
    if kind is None:
        raise ScriptError(
            f"Rows of {path.name} cannot be counted: its format is not Parquet, CSV, JSON or ORC.\n"
            "Choose the row by its values (--where)."
        )
    if kind == "csv" and event.capture:
        return _read_csv(path, event, run)
    import pyarrow.dataset as ds

    return ds.dataset(str(path), format=kind).to_table()


def _read_csv(path: Path, event: Event, run: RecordedRun) -> pa.Table:
    """A CSV file of Spark, with or without a line of names."""
    from pyarrow import csv

    types = written_answer(run, event).schema
    with path.open(encoding="utf-8") as file:
        headed = file.readline().rstrip("\r\n").split(",") == list(event.columns)
    options = csv.ReadOptions(column_names=list(event.columns), skip_rows=int(headed))
    converted = csv.ConvertOptions(
        column_types=dict(zip(event.columns, types.types, strict=True)), strings_can_be_null=True
    )
    return csv.read_csv(path, read_options=options, convert_options=converted)


def matching(table: pa.Table, row: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """Return the mask of the rows of a table with some values; floats as far as their last bits.

    Raises
    ------
    ScriptError
        A column that there is not.
    """
    matches = np.ones(table.num_rows, dtype=bool)
    for name, value in row.items():
        if table.column_names.count(name) != 1:
            raise ScriptError(
                f"There is no column {name!r}; there are {', '.join(table.column_names)}."
            )
        matches &= _equal(table.column(name), value)
    return matches


def _equal(column: pa.ChunkedArray, value: Any) -> np.ndarray[Any, Any]:
    if value is None:
        return np.asarray(pc.is_null(column, nan_is_null=False))
    kind = column.type
    if pa.types.is_floating(kind):
        numbers = column.to_numpy(zero_copy_only=False)
        return np.asarray(np.isclose(numbers, float(value), rtol=1e-9, equal_nan=True))
    if pa.types.is_nested(kind):
        return np.array([item == value for item in column.to_pylist()], dtype=bool)
    try:
        wanted = pa.scalar(value).cast(kind)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise ScriptError(f"{value!r} is not a value of a column of {kind}.") from error
    return np.asarray(pc.fill_null(pc.equal(column, wanted), False))


def lineage(
    run: RecordedRun, event: Event, chosen: np.ndarray[Any, Any] | None
) -> dict[int, list[tuple[str, int]]]:
    """By source, the rows that chosen rows of a captured frame were made from, exactly.

    Returns
    -------
    dict
        By event the files and the rows in them; the file of rows that Python gave is empty.
    """
    capture = capture_of(run, event)
    where = None if chosen is None else pa.array(chosen)
    rows_by_source: dict[int, list[tuple[str, int]]] = {}
    for name, tokens in capture.memory.lineage(where).items():
        record = capture.manifest.relations[name]
        places = rows_by_source.setdefault(event.relations[name], [])
        for (packed,) in zip(*(column.to_pylist() for column in tokens.columns), strict=True):
            file, row = shown_key(record.naming, (packed,))
            places.append((record.files[file], row))
        places.sort()
    return rows_by_source


def codes(run: RecordedRun, output: Event, source: int) -> tuple[Any, Any]:
    """The codes of rows of an output and a source; rows of equal codes belong together."""
    with np.load(run.directory / "links" / f"{output.number}-{source}.npz") as kept:
        return kept["output"], kept["source"]


def linked_rows(run: RecordedRun, output: Event, source: int, chosen: Sequence[int]) -> list[int]:
    """The rows of a source that belong to some rows of an output."""
    of_output, of_source = codes(run, output, source)
    wanted = of_output[np.asarray(chosen, dtype=np.int64)]
    rows: list[int] = np.flatnonzero(np.isin(of_source, wanted)).tolist()
    return rows
