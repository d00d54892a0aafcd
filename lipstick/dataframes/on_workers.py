"""Functions of groups as workers run them: what PySpark's worker does with a group, over an array.

Workers have PySpark, pandas and pyarrow, and not this distribution: what stands here is pickled by
value. Rows come as the Arrow structs that Spark itself would send, values are converted by PySpark
(:mod:`lipstick.dataframes.conversions`), and so a function sees and returns what it would in
``applyInPandas`` and ``applyInArrow``; and in ``mapInPandas`` and ``mapInArrow``, whose groups are
partitions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark import cloudpickle

from lipstick.dataframes.conversions import (
    Settings,
    arrow_type,
    enforced,
    from_pandas,
    series_of,
    verified,
    verified_parts,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

Side: TypeAlias = tuple[tuple[int, ...], tuple[str, ...]]
"""The places of a row's key fields, and the function's names for its columns, the last fields."""
Groups: TypeAlias = "list[pa.RecordBatch]"
"""The rows of a group of each side."""
Group: TypeAlias = Callable[[Groups], "Iterable[pa.RecordBatch]"]
"""A function that computes the result rows of a group."""


def caller(
    kind: str, command: bytes, sides: Sequence[Side], settings: Settings
) -> Callable[..., pa.Array]:
    """Return the function of arrays of rows that calls a function for the groups they are.

    Parameters
    ----------
    kind
        One of :data:`KINDS`.
    command
        The function and the type of its rows, as PySpark pickled them.
    sides
        One, or two for a function of two groups: an array each. Where there are no rows at all,
        there is no group.
    """
    of_function = KINDS[kind]
    known: list[tuple[Group, StructType]] = []

    def call(*arrays: pa.Array) -> pa.Array:
        if not known:
            function, returned = _unpickled(command)
            known.append((of_function(function, returned, sides, settings), returned))
        ((group, returned),) = known
        results = []
        for at in range(len(arrays[0])):
            groups = [_rows(array, at, side) for array, side in zip(arrays, sides, strict=True)]
            results.append(list(group(groups)) if any(rows.num_rows for rows in groups) else [])
        return _lists(results, returned, settings)

    return call


def _unpickled(command: bytes) -> tuple[Callable[..., Any], StructType]:
    import pickle

    unpickled = pickle.loads(command)
    if not isinstance(unpickled, tuple):
        # PySpark sends long functions as broadcast variables.
        unpickled = pickle.loads(unpickled.value)
    function, returned = unpickled
    return function, returned


def _rows(array: pa.Array, at: int, side: Side) -> pa.RecordBatch:
    import pyarrow as pa

    columns = array[at].values.flatten()
    names = [""] * (len(columns) - len(side[1]))
    return pa.RecordBatch.from_arrays(columns, [*names, *side[1]])


def _lists(
    groups: Sequence[Sequence[pa.RecordBatch]], returned: StructType, settings: Settings
) -> pa.Array:
    """Return an array of structs for each group, whose fields are named by their places."""
    import pyarrow as pa

    types = [field.type for field in arrow_type(returned, settings)]
    fields = [
        pa.field(f"c{number}", kind, field.nullable)
        for number, (kind, field) in enumerate(zip(types, returned.fields, strict=True))
    ]
    offsets, parts = [0], [pa.array([], pa.struct(fields))]
    for batches in groups:
        for batch in batches:
            pairs = zip(batch.columns, types, strict=True)
            columns = [column.cast(kind) for column, kind in pairs]
            parts.append(pa.StructArray.from_arrays(columns, fields=fields))
        offsets.append(offsets[-1] + sum(batch.num_rows for batch in batches))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.concat_arrays(parts))


def _arguments(function: Callable[..., Any]) -> int:
    from inspect import getfullargspec

    return len(getfullargspec(function).args)


def _batches(rows: pa.RecordBatch, settings: Settings) -> Iterator[pa.RecordBatch]:
    """Yield the parts of a group that Spark would send one after the other."""
    size = int(settings["rows of a batch"])
    size = size if size > 0 else rows.num_rows
    for start in range(0, rows.num_rows, size):
        yield rows.slice(start, size)


# -- pandas --------------------------------------------------------------------------------


def _frame(series: Sequence[Any], side: Side) -> Any:
    import pandas as pd  # type: ignore[import-untyped]

    return pd.concat(series[len(series) - len(side[1]) :], axis=1)


def _key(series: Sequence[Any], side: Side) -> tuple[Any, ...]:
    return tuple(series[number].iloc[0] for number in side[0])


def _of_frames(
    function: Callable[..., Any], returned: StructType, sides: Sequence[Side], settings: Settings
) -> Group:
    keyed = _arguments(function) > len(sides)

    def group(groups: Groups) -> Iterable[pa.RecordBatch]:
        series = [series_of(rows, settings) for rows in groups]
        pairs = list(zip(series, sides, strict=True))
        frames = [_frame(*pair) for pair in pairs]
        keys = [_key(*pairs[_first(groups)])] if keyed else []
        yield from_pandas(function(*keys, *frames), returned, settings)

    return group


def _of_iterators_of_frames(
    function: Callable[..., Any], returned: StructType, sides: Sequence[Side], settings: Settings
) -> Group:
    (side,), keyed = sides, _arguments(function) > 1

    def group(groups: Groups) -> Iterable[pa.RecordBatch]:
        parts = (series_of(rows, settings) for rows in _batches(groups[0], settings))
        first = next(_batches(groups[0], settings))
        keys = [_key(series_of(first, settings), side)] if keyed else []
        for result in function(*keys, (_frame(series, side) for series in parts)):
            yield from_pandas(result, returned, settings)

    return group


def _of_partitions_of_frames(
    function: Callable[..., Any], returned: StructType, sides: Sequence[Side], settings: Settings
) -> Group:
    (side,) = sides
    _refuse_rows_of_none(function, settings)

    def group(groups: Groups) -> Iterable[pa.RecordBatch]:
        import pandas as pd

        parts = (series_of(rows, settings) for rows in _batches(groups[0], settings))
        results = _iterated(function(_frame(series, side) for series in parts), settings)
        for result in verified_parts(results, pd.DataFrame):
            yield from_pandas(result, returned, settings, more=True)

    return group


def _refuse_rows_of_none(function: Callable[..., Any], settings: Settings) -> None:
    """Refuse a function that makes rows of a partition without rows: they come from nothing.

    Spark calls it for such partitions too. Where it fails then, it may never have met one.
    """
    try:
        count = sum(len(result) for result in _iterated(function(iter(())), settings))
    except Exception:
        return
    if count:
        raise ValueError(
            "This function of partitions makes rows of a partition that has none. What they come "
            "from cannot be said: let it return nothing then."
        )


def _iterated(results: Any, settings: Settings) -> Any:
    """Return an iterator over an iterable result, if the session accepts any iterable."""
    known = isinstance(results, Iterator) or settings["any iterable"] != "true"
    return results if known or not hasattr(results, "__iter__") else iter(results)


# -- Arrow ---------------------------------------------------------------------------------


def _columns(rows: pa.RecordBatch, side: Side) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(rows.columns[-len(side[1]) :], list(side[1]))


def _arrow_key(rows: pa.RecordBatch, side: Side) -> tuple[Any, ...]:
    return tuple(rows.column(number)[0] for number in side[0])


def _of_tables(
    function: Callable[..., Any], returned: StructType, sides: Sequence[Side], settings: Settings
) -> Group:
    keyed = _arguments(function) > len(sides)

    def group(groups: Groups) -> Iterable[pa.RecordBatch]:
        import pyarrow as pa

        pairs = list(zip(groups, sides, strict=True))
        tables = [pa.Table.from_batches([_columns(*pair)]) for pair in pairs]
        keys = [_arrow_key(*pairs[_first(groups)])] if keyed else []
        result = verified(function(*keys, *tables), pa.Table)
        if result.num_columns:
            yield from enforced(result, returned, settings).combine_chunks().to_batches()

    return group


def _of_iterators_of_batches(
    function: Callable[..., Any], returned: StructType, sides: Sequence[Side], settings: Settings
) -> Group:
    (side,), keyed = sides, _arguments(function) > 1

    def group(groups: Groups) -> Iterable[pa.RecordBatch]:
        import pyarrow as pa

        keys = [_arrow_key(groups[0], side)] if keyed else []
        parts = (_columns(rows, side) for rows in _batches(groups[0], settings))
        made_of = function(*keys, parts)
        for result in verified_parts(made_of, pa.RecordBatch):
            if result.num_columns:
                yield enforced(result, returned, settings)

    return group


def _of_partitions_of_batches(
    function: Callable[..., Any], returned: StructType, sides: Sequence[Side], settings: Settings
) -> Group:
    (side,) = sides
    _refuse_rows_of_none(function, settings)

    def group(groups: Groups) -> Iterable[pa.RecordBatch]:
        import pyarrow as pa

        types = [field.type for field in arrow_type(returned, settings)]
        parts = (_columns(rows, side) for rows in _batches(groups[0], settings))
        results = _iterated(function(parts), settings)
        for result in verified_parts(results, pa.RecordBatch):
            actual = [column.type for column in result.columns]
            if actual != types:
                raise TypeError(f"a function returns columns of {actual} instead of {types}")
            yield result

    return group


def _first(groups: Groups) -> int:
    """Return the first side that has rows, which has the keys."""
    return next(number for number, rows in enumerate(groups) if rows.num_rows)


KINDS: Mapping[str, Callable[..., Group]] = {
    "SQL_COGROUPED_MAP_ARROW_UDF": _of_tables,
    "SQL_COGROUPED_MAP_PANDAS_UDF": _of_frames,
    "SQL_GROUPED_MAP_ARROW_ITER_UDF": _of_iterators_of_batches,
    "SQL_GROUPED_MAP_ARROW_UDF": _of_tables,
    "SQL_GROUPED_MAP_PANDAS_ITER_UDF": _of_iterators_of_frames,
    "SQL_GROUPED_MAP_PANDAS_UDF": _of_frames,
    "SQL_MAP_ARROW_ITER_UDF": _of_partitions_of_batches,
    "SQL_MAP_PANDAS_ITER_UDF": _of_partitions_of_frames,
}
"""Kinds of functions of groups and partitions, by PySpark's names: how each is called."""
