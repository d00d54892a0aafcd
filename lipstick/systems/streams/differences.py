"""Differences of two runs of a stream: events are matched by trigger, and their content
compared.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.streams.batch import Lists
from lipstick.systems.streams.keys import Keys, search
from lipstick.systems.streams.operators.merge import trigger_rank
from lipstick.systems.streams.recording import InMemory, Recording
from semiring.arrays.segments import ascending, bounds
from semiring.base import Array


def matched(keys: Keys, other_keys: Keys, rank: Array | None = None) -> tuple[Array, Array]:
    """Return the positions of the events of one run in the other, by trigger and order.

    Parameters
    ----------
    rank
        The number of events of their run before each with the same trigger; None: `keys` are all.

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
    """Return the mask of the rows that differ, in any bit, between two tables with as many rows."""
    if table.schema.names != other.schema.names:
        return np.ones(table.num_rows, dtype=np.bool_)
    mask = np.zeros(table.num_rows, dtype=np.bool_)
    for left, right in zip(table.columns, other.columns, strict=True):
        mask |= _differing(left.combine_chunks(), right.combine_chunks())
    return mask


def differing_content(
    recording: Recording, keys: Keys, other: Recording, other_keys: Keys, sid: str
) -> Array:
    """Return the mask of the events whose content differs in the other run, one for one."""
    if isinstance(recording, InMemory) and isinstance(other, InMemory):
        lists, other_lists = recording.lists(sid, keys), other.lists(sid, other_keys)
        if lists is not None and other_lists is not None:
            differs = _differing_ranges(lists, other_lists)
            if differs is not None:
                return differs
    return differing_rows(recording.content(sid, keys), other.content(sid, other_keys))


def _differing_ranges(lists: Lists, other: Lists) -> Array | None:
    """Return the mask of the lists that differ, or None if members cannot be compared once each.

    Members of both runs must be in the same order, with one constant shift of positions.
    """
    lengths, other_lengths = lists.high - lists.low, other.high - other.low
    shared = (lengths == other_lengths) & (lengths > 0)
    shifts = ascending((other.low - lists.low)[shared])
    names = lists.members.schema.names == other.members.schema.names
    if len(shifts) > 1 or lists.newest_first != other.newest_first or not names:
        return None
    differs: Array = np.asarray(lengths != other_lengths)
    if not len(shifts):
        return differs
    low = int(lists.low[shared].min())
    count = int(lists.high[shared].max()) - low
    members = lists.members.slice(low, count)
    other_members = other.members.slice(low + int(shifts[0]), count)
    found = bounds(differing_rows(members, other_members))
    differs[shared] = found[lists.high[shared] - low] > found[lists.low[shared] - low]
    return differs


def _differing(left: pa.Array, right: pa.Array) -> Array:
    if left.type != right.type:
        return np.ones(len(left), dtype=np.bool_)
    absent = [each.is_null().to_numpy(zero_copy_only=False) for each in (left, right)]
    differs: Array = absent[0] != absent[1]
    if pa.types.is_dictionary(left.type):
        return differs | _differing(left.dictionary_decode(), right.dictionary_decode())
    if pa.types.is_struct(left.type):
        fields = zip(left.flatten(), right.flatten(), strict=True)
        for field in fields:
            differs |= _differing(*field)
        return differs
    if pa.types.is_fixed_size_list(left.type):
        left, right = (pc.cast(each, pa.large_list(each.type.value_type)) for each in (left, right))
    if pa.types.is_list(left.type) or pa.types.is_large_list(left.type):
        return differs | _differing_lists(left, right)
    if pa.types.is_nested(left.type):
        # Maps and unions are compared as text, in which NaN is NaN and -0.0 is not 0.0.
        pairs = zip(left.to_pylist(), right.to_pylist(), strict=True)
        return np.array([repr(a) != repr(b) for a, b in pairs], dtype=np.bool_)
    if pa.types.is_floating(left.type):
        bits = [each.cast(pa.float64()).fill_null(0.0).to_numpy() for each in (left, right)]
        differs |= bits[0].view(np.int64) != bits[1].view(np.int64)
        return differs
    if pa.types.is_null(left.type):
        return differs
    differs |= pc.not_equal(left, right).fill_null(False).to_numpy(zero_copy_only=False)
    return differs


def _differing_lists(left: pa.Array, right: pa.Array) -> Array:
    """Return the mask of the lists that differ in length or in a value, compared all at once."""
    lengths = [
        pc.list_value_length(each).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        for each in (left, right)
    ]
    differs: Array = lengths[0] != lengths[1]
    kept = pa.array(~differs)
    values = [each.filter(kept).flatten() for each in (left, right)]
    found = bounds(_differing(*values))
    ends = np.cumsum(np.where(differs, 0, lengths[0]))
    starts = np.concatenate(([0], ends[:-1]))
    differs |= found[ends] > found[starts]
    return differs
