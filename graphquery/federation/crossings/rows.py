"""Crossing rows: sets of rows by channel, and their form in messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from graphquery.errors import WireError
from semiring.arrays.segments import ascending
from semiring.base import Array

Rows: TypeAlias = Mapping[str, Array]
"""By channel, int64 rows, ascending and each once."""

_CHANNEL = re.compile(r"[0-9a-f]{32}")


def union(parts: Iterable[Rows]) -> dict[str, Array]:
    """Return the union of the sets of rows."""
    rows_by_channel: dict[str, list[Array]] = {}
    for part in parts:
        for channel, numbers in part.items():
            rows_by_channel.setdefault(channel, []).append(numbers)
    joined = {channel: ascending(np.concatenate(each)) for channel, each in rows_by_channel.items()}
    return {channel: numbers for channel, numbers in joined.items() if len(numbers)}


def difference(rows: Rows, other: Rows) -> dict[str, Array]:
    """Return the rows that are not in the other set."""
    nothing = np.empty(0, dtype=np.int64)
    left = {
        channel: np.setdiff1d(numbers, other.get(channel, nothing), assume_unique=True)
        for channel, numbers in rows.items()
    }
    return {channel: numbers for channel, numbers in left.items() if len(numbers)}


def intersection(rows: Rows, other: Rows) -> dict[str, Array]:
    """Return the rows that are in both sets."""
    both = {
        channel: np.intersect1d(numbers, other[channel], assume_unique=True)
        for channel, numbers in rows.items()
        if channel in other
    }
    return {channel: numbers for channel, numbers in both.items() if len(numbers)}


def count(rows: Rows) -> int:
    """Return the number of rows."""
    return sum(len(numbers) for numbers in rows.values())


def to_table(rows: Rows, **more: Array) -> tuple[list[str], pa.Table]:
    """Return rows as a list of channels and a table of `channel` (an index into it) and `row`.

    Parameters
    ----------
    more
        Further columns, a value for each row in the order of the channels.
    """
    channels = list(rows)
    lengths = [len(numbers) for numbers in rows.values()]
    numbers = np.concatenate([*rows.values(), np.empty(0, dtype=np.int64)])
    columns: dict[str, Any] = {
        "channel": pa.array(np.repeat(np.arange(len(channels), dtype=np.uint16), lengths)),
        "row": pa.array(numbers.astype(np.int64)),
    }
    return channels, pa.table(columns | {name: pa.array(each) for name, each in more.items()})


def from_table(channels: Any, table: pa.Table | None) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the inverse of `to_table`.

    Returns
    -------
    rows
        By channel; ascending.
    places
        By channel, the table indices of its rows, for reading further columns.

    Raises
    ------
    WireError
        A table that does not hold rows of channels.
    """
    if table is None:
        return {}, {}
    if not isinstance(channels, list) or not all(
        isinstance(each, str) and _CHANNEL.fullmatch(each) for each in channels
    ):
        raise WireError("Names of channels in crossing rows have 32 hexadecimal digits.")
    try:
        number = table.column("channel").cast(pa.uint16()).to_numpy()
        row = table.column("row").cast(pa.int64()).to_numpy()
    except (KeyError, pa.ArrowException) as error:
        raise WireError(f"Crossing rows have columns channel and row: {error}.") from error
    if len(row) and (int(number.max()) >= len(channels) or int(row.min()) < 0):
        raise WireError("A crossing row has an unknown channel or a negative number.")
    rows, places = {}, {}
    for channel_number in ascending(number).tolist():
        chosen = np.flatnonzero(number == channel_number)
        chosen = chosen[np.argsort(row[chosen], kind="stable")]
        numbers = row[chosen]
        if len(numbers) > 1 and bool((numbers[1:] == numbers[:-1]).any()):
            raise WireError("A crossing row occurs twice in one set.")
        rows[channels[channel_number]], places[channels[channel_number]] = numbers, chosen
    return rows, places
