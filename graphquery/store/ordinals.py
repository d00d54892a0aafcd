"""The ends of edges on their way into a store: integers, one per edge, checked as they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphquery.model import EdgeSet, Ordinals
from graphquery.store.errors import StoreError

IntArray: TypeAlias = npt.NDArray[Any] | pa.Array | pa.ChunkedArray | Sequence[int]
"""Integers, one per edge."""


@dataclass(frozen=True, slots=True)
class NewEdges:
    """An edge set, and the largest ordinal at either end (-1 if it has no edges)."""

    edges: EdgeSet
    source: int
    target: int


def integers(edges: EdgeSet, column: str, given: IntArray) -> npt.NDArray[Any]:
    """A column of ordinals as an array of signed integers.

    Raises
    ------
    StoreError
        When they are not as many as the edges, are no integers, or have NULLs.
    """
    array: npt.NDArray[Any]
    if isinstance(given, pa.Array | pa.ChunkedArray):
        nulls = given.null_count
        array = (
            given.to_numpy(zero_copy_only=False)
            if isinstance(given, pa.Array)
            else (given.to_numpy())
        )
    else:
        nulls, array = 0, np.asarray(given)
    where = f"Column {column!r} of the edges from {edges.source} to {edges.target}"
    if nulls:
        raise StoreError(f"{where} has {nulls} NULLs; an edge has two ends.")
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        raise StoreError(f"{where} is not integers in a row, but {array.dtype}.")
    if len(array) != edges.count:
        raise StoreError(f"{where} has {len(array)} ordinals for {edges.count} edges.")
    return array.astype(np.int64, copy=False) if array.dtype.kind != "i" else array


def largest(given: Ordinals, edges: EdgeSet, array: npt.NDArray[Any] | None, column: str) -> int:
    """The largest ordinal at one end of edges, given or implied; -1 if there are no edges.

    Raises
    ------
    StoreError
        When one is negative.
    """
    if not edges.count:
        return -1
    if given is Ordinals.ONE:
        return 0
    if array is None:
        return edges.count - 1
    if int(array.min()) < 0:
        raise StoreError(
            f"Column {column!r} of the edges from {edges.source} to {edges.target} has the ordinal "
            f"{int(array.min())}; nodes count from 0."
        )
    return int(array.max())


def narrow(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Four bytes each where they suffice: then edges of most sets share a file."""
    fits = not len(array) or int(array.max()) <= np.iinfo(np.int32).max
    return array.astype(np.int32 if fits else np.int64, copy=False)
