"""The input rows of a row as they are in their source, where that is Parquet and unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from lipstick.capture.manifest import RelationRecord
from lipstick.engines.memory.memory import Memory
from lipstick.engines.memory.reach import first_lineage, lineage_reach
from lipstick.explorer.budget import Budget
from lipstick.explorer.cells import cells, columns
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from lipstick.questions.contributions.question import position_of
from lipstick.questions.why.sources import parquet_rows, readable
from lipstick.tracking.row_groups import row_group_ends
from lipstick.tracking.states import local_path, local_state
from semiring.base import Array

SHOWN = 50
"""Input rows of one relation that are looked up at most."""

_KEY = "key"


def source_rows(memory: Memory, row: int, params: Params, budget: Budget) -> dict[str, Any]:
    """The first input rows of a row from one relation, with all their columns.

    Parameters
    ----------
    params
        ``relation``.

    Raises
    ------
    ExploreError
        Where the source cannot be read here: it is not Parquet, elsewhere, changed, or not named by
        a key.
    """
    name = params.text("relation")
    record = memory.engine.manifest.relations.get(name)
    if record is None or not record.token:
        raise ExploreError(f"The query reads no relation {name!r} with tokens.")
    at = np.array([position_of(memory, row)], dtype=np.int64)
    keys, total = first_lineage(memory.engine, lineage_reach(memory.engine, at), SHOWN)[name]
    budget.check()
    table, places = _found(record, keys)
    return {
        "relation": name,
        "columns": columns(table.schema),
        "rows": cells(table),
        "places": [_place(source_files(record), place) for place in places.tolist()],
        "total": total,
    }


def looked_up(record: RelationRecord, keys: pa.Table) -> pa.Table:
    """The rows of a relation's source that have some keys, in the order of the keys."""
    return _found(record, keys)[0]


def _found(record: RelationRecord, keys: pa.Table) -> tuple[pa.Table, Array]:
    """The rows of a relation's source that have some keys, and their numbers in all its files."""
    source_files(record)
    try:
        source = parquet_rows(record)
        if source is None:
            raise ExploreError(f"The files of {record.name!r} have different columns or types.")
        found = source.find(keys)
        found = found[found >= 0]
        return source.take(found, record.columns), found
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(record, error) from error


def _place(files: list[Path], row: int) -> dict[str, Any]:
    """The file of a row by its number in all files, and its row group and number there."""
    for file in files:
        ends = row_group_ends(str(file))
        if row < ends[-1]:
            group = next(n for n, end in enumerate(ends) if row < end)
            return {"file": str(file), "row_group": group, "row": row}
        row -= ends[-1]
    raise AssertionError(row)  # it was read from one of them


def source_columns(record: RelationRecord, names: list[str]) -> pa.Table:
    """Whole columns of a relation's source.

    Raises
    ------
    ExploreError
        As :func:`source_rows`.
    """
    source = _dataset(record)
    try:
        return source.to_table(columns=names)
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(record, error) from error


def source_schema(record: RelationRecord) -> pa.Schema:
    """The columns of a relation's source; raises as :func:`source_columns`."""
    try:
        return _filtered(pq.read_schema(source_files(record)[0]))
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(record, error) from error


def _dataset(record: RelationRecord) -> ds.Dataset:
    names = [str(path) for path in source_files(record)]
    try:
        return ds.dataset(names, _filtered(pq.read_schema(names[0])), format="parquet")
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(record, error) from error


def _unreadable(record: RelationRecord, error: Exception) -> ExploreError:
    return ExploreError(f"The source of {record.name!r} cannot be read: {error}")


def _filtered(schema: pa.Schema) -> pa.Schema:
    """A schema whose columns Arrow can filter, with the types of the relation."""
    return pa.schema([field.with_type(readable(field.type)) for field in schema])


def source_files(record: RelationRecord) -> list[Path]:
    """Return the files of a source, which are as they were when it was captured.

    Raises
    ------
    ExploreError
        Where they are not, or are not Parquet files with a key.
    """
    told = f"The rows of {record.name!r} ({record.description}) are not looked up here: "
    if record.naming != _KEY or record.derived is not None or not record.fingerprint:
        raise ExploreError(told + "only those of Parquet files with a key are.")
    paths = []
    for state in record.fingerprint:
        path = local_path(state[0])
        if path is None or path.suffix != ".parquet":
            raise ExploreError(told + "only those of Parquet files with a key are.")
        if not path.is_file():
            raise ExploreError(told + f"{path} is not there.")
        if local_state(state[0]) != state:
            raise ExploreError(told + f"{path} is not as it was when it was captured.")
        paths.append(path)
    return paths
