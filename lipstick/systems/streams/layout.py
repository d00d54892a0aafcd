"""The layout of a batch's keys in a store: columns, and blocks with ranges of keys.

Constant or implied columns are not stored: numbers of a stream without key are consecutive, and
times are stored as differences. The module only needs numpy and pyarrow, since Spark's workers run
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.systems.streams.keys import Keys, first_of_time
from lipstick.systems.streams.operator_state import StageState
from semiring.arrays.segments import ascending
from semiring.base import Array


def key_columns(keys: Keys) -> tuple[pa.Table, int | None]:
    """Return keys as the stored columns, and the delay if all events share it."""
    columns: dict[str, Array] = {"t": np.diff(keys.t, prepend=keys.t[:1])}
    constant = bool((keys.d == keys.d[0]).all())
    if not constant:
        columns["d"] = keys.d
    if keys.code is not None:
        columns |= {"n": keys.n, "code": keys.code}
    return pa.table(columns), int(keys.d[0]) if constant else None


def column_names(keyed: bool, d: int | None) -> list[str]:
    """Return the columns that `key_columns` stores for keys with this delay."""
    return ["t", *(["d"] if d is None else []), *(["n", "code"] if keyed else [])]


def keys_of(table: pa.Table, first_t: int, first_n: int, d: int | None, codes: int) -> Keys:
    """Return the keys of some rows that `key_columns` made; omitted columns follow from the rest.

    Parameters
    ----------
    first_t, first_n
        The least time and number among them.
    d
        The delay of all; None: a column.
    codes
        The offset to add to codes.
    """

    def column(name: str) -> Array:
        values: Array = table.column(name).to_numpy()
        return values

    t = np.cumsum(column("t"))
    # Differences start before the first row, which in a keyed stream need not be the earliest.
    t += first_t - int(t.min())
    delays = column("d") if d is None else np.full(len(t), d, dtype=np.int64)
    if "code" not in table.column_names:
        return Keys(t, first_n + np.arange(len(t), dtype=np.int64), delays)
    return Keys(t, column("n"), delays, column("code") + codes)


@dataclass(frozen=True, slots=True)
class EventBlock:
    """Consecutive events of a batch, and the ranges by which they are found.

    Parameters
    ----------
    start
        The position of the first in the batch.
    ranges
        How many, and their least and greatest times, trigger's times, numbers and codes, by the
        names that `graphquery.store.streams.Part` has.
    """

    start: int
    ranges: dict[str, Any]


def blocks(keys: Keys, size: int) -> Iterator[EventBlock]:
    """Split a batch into blocks of about `size` events."""
    # Outputs of one trigger are distinguished by their order: they stay together.
    groups = first_of_time(keys.code, keys.trigger)
    places = np.arange(0, len(keys), size)
    starts = ascending(groups[np.searchsorted(groups, places, "right") - 1]).tolist()
    for start, stop in zip(starts, [*starts[1:], len(keys)], strict=True):
        yield EventBlock(start, ranges_of(keys.slice(start, stop)))


def ranges_of(keys: Keys) -> dict[str, Any]:
    """Return the ranges of a non-empty `EventBlock`."""
    ranges: dict[str, Any] = {"rows": len(keys)}
    for name, values in (("t", keys.t), ("trigger", keys.trigger), ("n", keys.n)):
        ranges |= {f"first_{name}": int(values.min()), f"last_{name}": int(values.max())}
    if keys.code is not None:
        ranges |= {"first_code": int(keys.code[0]), "last_code": int(keys.code[-1])}
    return ranges


def packed(state: Mapping[str, StageState]) -> pa.Table:
    """Return a state as one table, with a row for each of its tables."""
    rows: list[dict[str, Any]] = []
    for stream, stage in state.items():
        for name, table in stage.tables.items():
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            rows.append({"stream": stream, "name": name, "table": sink.getvalue().to_pybytes()})
    types = {"stream": pa.string(), "name": pa.string(), "table": pa.large_binary()}
    return pa.Table.from_pylist(rows, pa.schema(types))


def unpacked(table: pa.Table) -> dict[str, StageState]:
    """Return the inverse of `packed`."""
    tables: dict[str, dict[str, pa.Table]] = {}
    for row in table.to_pylist():
        with pa.ipc.open_stream(row["table"]) as reader:
            tables.setdefault(row["stream"], {})[row["name"]] = reader.read_all()
    return {stream: StageState(each) for stream, each in tables.items()}
