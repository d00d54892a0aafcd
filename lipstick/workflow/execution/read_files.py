"""Rows in files on this machine, read without Spark and without guessing types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from lipstick.workflow.errors import InputError

SUFFIXES = (".parquet", ".csv", ".json")


def read_table(path: Path) -> pa.Table | list[Any]:
    """Read the rows of a file: Parquet as it is, CSV as text, JSON as a list of rows or by line.

    Text is read as what the columns of its relation are: ``007`` is no number in a string.

    Raises
    ------
    InputError
        For a file that cannot be read, and for other kinds of files.
    """
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path} is no table.\nGive a file that ends in {', '.join(SUFFIXES)}.")
    try:
        if path.suffix == ".parquet":
            return pq.read_table(path)
        if path.suffix == ".csv":
            return _csv(path)
        return _json(path)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def _csv(path: Path) -> pa.Table:
    """A CSV file with a header, every column as text; what is empty and not quoted is NULL."""
    with pa.csv.open_csv(path) as file:
        names = file.schema.names
    return pa.csv.read_csv(
        path,
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _json(path: Path) -> list[Any]:
    """A list of rows, or a row on every line."""
    text = path.read_text(encoding="utf-8")
    if text.lstrip().startswith("{"):
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    rows = json.loads(text)
    if not isinstance(rows, list):
        raise InputError(f"{path} has {rows!r}, and not a list of rows.")
    return rows
