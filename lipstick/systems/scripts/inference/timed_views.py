"""Views: tuples with transaction times, in the order in which they came."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lipstick.systems.scripts.errors import ScriptError
from semiring.base import Array

TIME, SEQUENCE = "txn_time", "seq"


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The transaction times of a view's tuples.

    Parameters
    ----------
    times
        int64, ascending; tuples of one time in the order of their sequence. A tuple is its place.
    """

    times: Array

    def __post_init__(self) -> None:
        if self.times.dtype.kind not in "iu":
            raise ScriptError(
                f"Transaction times are whole numbers, not {self.times.dtype}.\nGive them in the"
                " unit that windows and triggers have."
            )
        if len(self.times) > 1 and bool((np.diff(self.times) < 0).any()):
            raise ScriptError(
                "Transaction times descend.\nSort the tuples by time and sequence: a tuple that"
                " came later is in the view later."
            )

    @classmethod
    def of(cls, table: pa.Table, time: str = TIME, sequence: str | None = SEQUENCE) -> View:
        """The view of a table.

        Parameters
        ----------
        time, sequence
            Its columns; rows are sorted by both. Without sequence, by their order in the table.

        Raises
        ------
        ScriptError
            A column that there is not, that has NULLs, or times that are not whole numbers or
            timestamps.
        """
        for name in (time, sequence):
            if name is not None and name not in table.column_names:
                raise ScriptError(
                    f"The view has no column {name!r}; it has {', '.join(table.column_names)}.\n"
                    "Say which columns have the transaction time and the sequence."
                )
        column = table[time]
        if column.null_count:
            raise ScriptError(
                f"{column.null_count:,} tuples have no time in {time!r}.\nNothing can be inferred"
                " of a tuple that has no transaction time."
            )
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.int64())
        if not pa.types.is_integer(column.type):
            raise ScriptError(
                f"Column {time!r} is {column.type}; times are whole numbers or timestamps."
            )
        times = column.to_numpy().astype(np.int64)
        if sequence is not None:
            order = np.lexsort((pc.rank(table[sequence]).to_numpy(), times))
            return cls(times[order])
        return cls(np.sort(times, kind="stable"))

    @classmethod
    def read(cls, path: str | Path, time: str = TIME, sequence: str | None = SEQUENCE) -> View:
        """The view of a Parquet file; see `of`."""
        return cls.of(pq.read_table(path), time, sequence)

    def __len__(self) -> int:
        return len(self.times)

    def before(self, bounds: Array) -> Array:
        """int64: how many tuples came before some times. O(n log m)."""
        return np.searchsorted(self.times, bounds, side="left")

    def gaps(self) -> Array:
        """int64: the times from each tuple to the next."""
        return np.diff(self.times)
