"""Map and filter: at most one output per event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.batch import Batch, Lists
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.operators.base import (
    Fired,
    OfTrigger,
    Parents,
    Stage,
    each,
)
from semiring.arrays.segments import mask_of
from semiring.base import Array

MapFunction = Callable[[pa.Table], Any]
Predicate: TypeAlias = Callable[[pa.Table], Any] | pc.Expression


@dataclass(frozen=True, slots=True)
class Absent:
    """The placeholder of a user's function in a graph read from a store.

    Parameters
    ----------
    name
        Of the function.
    """

    name: str

    def __call__(self, *given: object) -> Any:
        raise StreamError(
            f"{self.name} is not in the store, which keeps the names of functions alone.\n"
            "Give the graph that was run."
        )


def name_of(function: object) -> str:
    """Return a function's readable name, by which a replay detects a different function."""
    if isinstance(function, Absent):
        return function.name
    if isinstance(function, pc.Expression):
        return str(function)
    module = getattr(function, "__module__", "")
    return f"{module}.{getattr(function, '__qualname__', repr(function))}"


@dataclass(frozen=True, slots=True)
class Map(OfTrigger):
    """Apply a function to the content of every event (definition ``Map(F, sid)``).

    Parameters
    ----------
    function
        Maps a table of the events' content to a table, or a mapping of columns, with as many rows.
    """

    function: MapFunction
    kind: ClassVar[str] = "map"
    aligned: ClassVar[bool] = True

    def stage(self, keyed: bool, codes: KeyCodes) -> Stage:
        return _MapStage(self.function)

    def parameters(self) -> dict[str, Any]:
        return {"function": name_of(self.function)}


class _MapStage(Stage):
    def __init__(self, function: MapFunction) -> None:
        self._function = function

    def push(self, batches: Sequence[Batch], frontiers: Sequence[int]) -> Fired:
        (batch,) = batches
        content = checked_table(self._function(batch.table()), len(batch), "map")
        keys = batch.keys
        parents = [Parents(batch.properties, *each(len(batch)), aligned=True)]
        return Fired(keys.t, keys.n, content, parents, code=keys.code)


def checked_table(given: Any, count: int, what: str) -> pa.Table:
    """Return the result of a user's function as a table with a row for each event.

    Raises
    ------
    StreamError
        The result is not a table, or has a different number of rows.
    """
    if not isinstance(given, pa.Table):
        try:
            given = pa.table(given)
        except (TypeError, ValueError, pa.ArrowException) as error:
            raise StreamError(
                f"The function of a {what} gave {type(given).__name__}, not a table: {error}\n"
                "Return a pyarrow.Table, or a dictionary of columns."
            ) from error
    if given.num_rows != count or not given.num_columns:
        raise StreamError(
            f"The function of a {what} gave {given.num_rows} rows and {given.num_columns} columns "
            f"for {count} events.\nReturn one row for each event, and a column at least."
        )
    return given


@dataclass(frozen=True, slots=True)
class FilterEvents(OfTrigger):
    """Keep the events that a predicate holds for (definition ``Filter(P, sn, sid)``).

    Parameters
    ----------
    predicate
        Maps a table of the events' content to a Boolean for each; or an Arrow expression. NULL is
        false.
    """

    predicate: Predicate
    kind: ClassVar[str] = "filter"

    def stage(self, keyed: bool, codes: KeyCodes) -> Stage:
        return _FilterStage(self.predicate)

    def parameters(self) -> dict[str, Any]:
        return {"predicate": name_of(self.predicate)}


class _FilterStage(Stage):
    def __init__(self, predicate: Predicate) -> None:
        self._predicate = predicate

    def push(self, batches: Sequence[Batch], frontiers: Sequence[int]) -> Fired:
        (batch,) = batches
        positions = np.flatnonzero(self._mask(batch))
        keys = batch.keys
        content: pa.Table | Lists = batch.content
        if len(positions) < len(batch):
            content = batch.take(positions).content
            keys = keys.take(positions)
        parents = [Parents(batch.properties, positions, positions + 1)]
        return Fired(keys.t, None, content, parents, code=keys.code)

    def _mask(self, batch: Batch) -> Array:
        table = batch.table()
        if isinstance(self._predicate, pc.Expression):
            numbered = table.append_column("__position", pa.array(np.arange(len(batch))))
            return mask_of(
                numbered.filter(self._predicate).column("__position").to_numpy(), len(batch)
            )
        return checked_mask(self._predicate(table), len(batch), "filter")


def checked_mask(given: Any, count: int, what: str) -> Array:
    """Return the result of a user's predicate as an array of Booleans; NULL is false.

    Raises
    ------
    StreamError
        The result is not one Boolean for each event.
    """
    if isinstance(given, pa.ChunkedArray):
        given = given.combine_chunks()
    if isinstance(given, pa.Array):
        given = given.fill_null(False).to_numpy(zero_copy_only=False)
    mask: Array = np.asarray(given)
    if mask.shape != (count,) or mask.dtype != np.bool_:
        raise StreamError(
            f"The predicate of a {what} gave {mask.dtype} of shape {mask.shape} for {count} "
            "events.\nReturn one Boolean for each event."
        )
    return mask


@dataclass(frozen=True, slots=True)
class KeyBy(OfTrigger):
    """Give a stream without key a key: from there each value has its own order and numbers.

    Parameters
    ----------
    column
        Of the content, whose values are the key's.
    """

    column: str
    kind: ClassVar[str] = "key_by"

    def stage(self, keyed: bool, codes: KeyCodes) -> Stage:
        return _KeyByStage(self.column, codes)

    def parameters(self) -> dict[str, Any]:
        return {"column": self.column}


class _KeyByStage(Stage):
    def __init__(self, column: str, codes: KeyCodes) -> None:
        self._column = column
        self._codes = codes

    def push(self, batches: Sequence[Batch], frontiers: Sequence[int]) -> Fired:
        batch = batches[0].rows()
        table = batch.table()
        if self._column not in table.column_names:
            raise StreamError(
                f"key_by({self._column!r}): the stream has {', '.join(table.column_names)}.\n"
                "Give the name of a column of its content."
            )
        code = self._codes.encode(table.column(self._column))
        order = np.argsort(code, kind="stable")
        parents = [Parents(batch.properties, order, order + 1)]
        content = table.take(pa.array(order))
        return Fired(batch.keys.t[order], None, content, parents, code=code[order])
