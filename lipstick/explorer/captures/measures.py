"""Measures of the groups of a value's inputs: what each brings to a sum, a mean, an extreme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.explorer.captures.axes import Axis, InputGroups
from lipstick.explorer.cells import kind, spelled
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of one value.

    Attributes
    ----------
    total
        The value.
    values
        Per input what the aggregate reads of it; None where the value is not a plain aggregate.
    axes
        The rows that they come from. Where there are no values each axis has inputs of its own.
    nulls
        Inputs that are not counted, for their argument is NULL.
    """

    column: str
    text: str
    total: Any
    function: str | None
    distinct: bool
    values: pa.Array | None
    axes: list[Axis]
    nulls: int = 0

    @property
    def shared(self) -> bool:
        """True if the groups have shares in the value."""
        return self.values is not None and self.function in ("SUM", "COUNT")

    @property
    def measure(self) -> str:
        """The measure of a group, in words."""
        if self.values is None:
            return "how much less the value is without it"
        if self.distinct:
            return "the distinct values that are in it alone; those in several groups are in none"
        return _MEASURES[self.function or "SUM"]


_MEASURES = {
    "SUM": "what it adds; the shares add up to the whole",
    "COUNT": "how many it counts; the shares add up to the whole",
    "AVG": "how far it pulls the mean up or down; the pulls of all inputs add up to nothing",
    "MIN": "its smallest value; only the smallest of all decides",
    "MAX": "its largest value; only the largest of all decides",
}


def measured(inputs: Inputs, kept: Array, groups: InputGroups, counts: Array) -> pa.Array:
    """Return what each group brings to an aggregate.

    To a sum or a count what it adds; to one of distinct values what no other input has; to a
    mean how far it pulls it from where the others have it; of MIN and MAX its own.

    Parameters
    ----------
    kept
        The places of the inputs that are in groups.
    """
    assert inputs.values is not None
    values = taken(inputs.values, kept)
    if inputs.function in ("MIN", "MAX"):
        return _folded(groups.codes, values, inputs.function.lower(), groups.count)
    if inputs.distinct:
        codes = np.full(len(inputs.values), -1, dtype=np.int64)
        codes[kept] = groups.codes
        return _alone(inputs.function or "", codes, inputs.values, groups.count)
    if inputs.function == "COUNT":
        return pa.array(counts)
    if kind(values.type) != "number":
        return pa.nulls(groups.count, pa.float64())
    if inputs.function == "SUM":
        return _folded(groups.codes, exact(values), "sum", groups.count)
    numbers = inputs.values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    pulls = np.bincount(groups.codes, numbers[kept] - numbers.mean(), minlength=groups.count)
    return pa.array(pulls / max(len(numbers), 1))


def _alone(function: str, codes: Array, values: pa.Array, count: int) -> pa.Array:
    """Return the number or sum of the distinct values that each group has, and no other input."""
    table = pa.table({"g": codes, "v": values}).group_by(["g", "v"]).aggregate([])
    owners = table.group_by("v").aggregate([("g", "count"), ("g", "min")])
    single = pc.and_(pc.equal(owners.column("g_count"), 1), pc.greater(owners.column("g_min"), -1))
    own = owners.filter(single)
    groups = own.column("g_min").to_numpy()
    if function == "COUNT":
        return pa.array(np.bincount(groups, minlength=count))
    summed = own.column("v").combine_chunks()
    if function == "AVG" or kind(summed.type) != "number":
        return pa.nulls(count, pa.float64())
    sums = _folded(groups, exact(summed), "sum", count)
    return pc.coalesce(sums, pa.scalar(0).cast(sums.type))


def _folded(codes: Array, values: pa.Array, how: str, count: int) -> pa.Array:
    """Return an aggregate of the values of each group."""
    if count == len(codes) and bool((codes[1:] > codes[:-1]).all()):
        return values
    if count == len(codes) and np.bincount(codes).max(initial=0) == 1:
        places = np.empty(count, dtype=np.int64)
        places[codes] = np.arange(count)
        return values.take(pa.array(places))
    table = pa.table({"g": codes, "v": values}).group_by("g").aggregate([("v", how)])
    places = np.full(count, -1)
    places[table.column("g").to_numpy()] = np.arange(table.num_rows)
    taken = pa.array(places, pa.int64(), mask=places < 0)
    return table.column(f"v_{how}").combine_chunks().take(taken)


def taken(values: pa.Array, places: Array) -> pa.Array:
    """Return the values at ascending places, each once."""
    return values if len(places) == len(values) else values.take(pa.array(places))


def exact(values: pa.Array) -> pa.Array:
    """Return numbers that add up exactly: whole ones as decimals."""
    return values.cast(pa.decimal128(38, 0)) if pa.types.is_integer(values.type) else values


def numbered(arrays: Sequence[pa.Array]) -> pa.Array:
    """Return one number for every combination of values."""
    codes = np.zeros(len(arrays[0]), dtype=np.int64)
    for array in arrays:
        own = array.dictionary_encode().indices.to_numpy(zero_copy_only=False)
        _, codes = np.unique(codes * (own.max(initial=0) + 1) + own, return_inverse=True)
    return pa.array(codes)


def ranked(inputs: Inputs, values: pa.Array, most: int) -> Array:
    """Return the places of measures, the most important first: by size, for MIN the least.

    Only the first `most` are in order; the others follow as they come.
    """
    is_number = kind(values.type) == "number"
    signed = inputs.function in ("MIN", "MAX") or not is_number
    way = "ascending" if inputs.function == "MIN" else "descending"
    if len(values) > most and is_number:
        # Rounding keeps the order, so that the first ones are among those that are not less.
        sizes = np.array(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
        if not signed:
            np.abs(sizes, out=sizes)
        if way == "descending":
            np.negative(sizes, out=sizes)
        if values.null_count or pa.types.is_floating(values.type):
            sizes[np.isnan(sizes)] = np.inf
        ahead = sizes <= np.partition(sizes, most - 1)[most - 1]
        near, far = np.flatnonzero(ahead), np.flatnonzero(~ahead)
    else:
        near, far = np.arange(len(values)), np.zeros(0, dtype=np.int64)
    keys = values.take(pa.array(near))
    keys = keys if signed else pc.abs(keys)
    order = pc.array_sort_indices(keys, order=way, null_placement="at_end")
    return np.concatenate([near[order.to_numpy()], far])


def extremes(inputs: Inputs, values: pa.Array) -> str:
    """Return how many inputs have the extreme of some values, and the next value, in words."""
    fold, word = (pc.min, "smallest") if inputs.function == "MIN" else (pc.max, "largest")
    if not len(values):
        return "no input"
    best = fold(values)
    others = values.filter(pc.not_equal(values, best))
    count = len(values) - len(others)
    having = f"the {word}, {spelled(best.as_py())}, is in {count:,} of them"
    if not len(others):
        return having
    return f"{having}, the next value is {spelled(fold(others).as_py())}"
