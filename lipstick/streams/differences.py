"""Where two runs of a stream differ: events are found again by triggers, content is compared."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.streams.keys import Keys, search
from lipstick.streams.operators.merge import trigger_rank
from semiring.base import Array


def matched(keys: Keys, other_keys: Keys, rank: Array | None = None) -> tuple[Array, Array]:
    """Where events of one run are in another: those of the same trigger, in their order.

    Parameters
    ----------
    rank
        How many events of their run before each have the same trigger; None: `keys` are all.

    Returns
    -------
    place, there
        The positions among `other_keys`, and whether there is such an event.
    """
    trigger = other_keys.trigger
    index = search(other_keys.code, trigger, keys.code, keys.trigger, "left")
    index = index + (trigger_rank(keys) if rank is None else rank)
    there: Array = index < len(other_keys)
    there[there] = trigger[index[there]] == keys.trigger[there]
    if other_keys.code is not None and keys.code is not None:
        there[there] &= other_keys.code[index[there]] == keys.code[there]
    return index, there


def differing_rows(table: pa.Table, other: pa.Table) -> Array:
    """Which rows of two tables with as many rows differ, in any bit."""
    if table.schema.names != other.schema.names:
        return np.ones(table.num_rows, dtype=np.bool_)
    mask = np.zeros(table.num_rows, dtype=np.bool_)
    for left, right in zip(table.columns, other.columns, strict=True):
        mask |= _differing(left.combine_chunks(), right.combine_chunks())
    return mask


def _differing(left: pa.Array, right: pa.Array) -> Array:
    if left.type != right.type:
        return np.ones(len(left), dtype=np.bool_)
    if pa.types.is_nested(left.type):
        # Lists are compared as text, in which NaN is NaN and -0.0 is not 0.0.
        pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
        return np.array([repr(a) != repr(b) for a, b in pairs], dtype=np.bool_)
    absent = [each.is_null().to_numpy(zero_copy_only=False) for each in (left, right)]
    differs: Array = absent[0] != absent[1]
    if pa.types.is_floating(left.type):
        bits = [each.cast(pa.float64()).fill_null(0.0).to_numpy() for each in (left, right)]
        differs |= bits[0].view(np.int64) != bits[1].view(np.int64)
        return differs
    differs |= pc.not_equal(left, right).fill_null(False).to_numpy(zero_copy_only=False)
    return differs
