"""The rows of two answers: how they are paired, and which differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.state import same
from lipstick.engines.route import if_here
from lipstick.errors import CaptureError, NeedsSparkError
from rewriter.blocks import Block, Kind
from semiring.arrays.arrow import decoded
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class RowPairs:
    """Rows of two tables by their positions; -1: the row is in the other table alone."""

    before: Array
    after: Array

    @property
    def both(self) -> Array:
        """A Boolean per pair: both rows are there."""
        both: Array = (self.before >= 0) & (self.after >= 0)
        return both


def pair_rows(
    before: Sequence[pa.Array], after: Sequence[pa.Array], counts: tuple[int, int]
) -> RowPairs:
    """Pair the rows of two tables by key columns; rows of one key by their order.

    Parameters
    ----------
    counts
        The numbers of rows, for tables without key columns.
    """
    columns = []
    for old, new in zip(map(decoded, before), map(decoded, after), strict=True):
        try:
            columns.append(pa.concat_arrays([old, new.cast(old.type)]))
        except pa.ArrowException as error:
            raise CaptureError(
                f"Keys of the types {old.type} and {new.type} are not compared: {error}"
            ) from error
    codes, _ = distinct(columns, sum(counts))
    ordinals = np.concatenate([_ordinals(codes[: counts[0]]), _ordinals(codes[counts[0] :])])
    codes = codes * (int(ordinals.max(initial=0)) + 1) + ordinals
    _, first, second = np.intersect1d(
        codes[: counts[0]], codes[counts[0] :], assume_unique=True, return_indices=True
    )
    first, second = (each[np.argsort(first, kind="stable")] for each in (first, second))
    removed = np.setdiff1d(np.arange(counts[0]), first, assume_unique=True)
    added = np.setdiff1d(np.arange(counts[1]), second, assume_unique=True)
    return RowPairs(
        np.concatenate([first, removed, np.full(len(added), -1)]),
        np.concatenate([second, np.full(len(removed), -1), added]),
    )


def _ordinals(codes: Array) -> Array:
    """Return the number of each row among the rows with its code."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(codes) else order
    places = np.arange(len(codes)) - np.repeat(starts, np.diff(np.append(starts, len(codes))))
    ordinals = np.empty(len(codes), dtype=np.int64)
    ordinals[order] = places
    return ordinals


def net_changes(changes: pa.Table) -> pa.Table:
    """Return changes without rows that are deleted and added with the same values.

    Such a row is made from other rows than before, and reads the same.
    """
    gone, came = (np.flatnonzero(changes[side].is_null()) for side in ("new", "old"))
    sides = ((changes["old"], gone), (changes["new"], came))
    old, new = (rows.take(pa.array(at)).combine_chunks().flatten() for rows, at in sides)
    pairs = if_here(lambda: pair_rows(old, new, (len(gone), len(came))), NeedsSparkError)
    if pairs is None:  # Values of some types are not compared here.
        return changes
    differ = np.full(changes.num_rows, True)
    differ[gone[pairs.before[pairs.both]]] = False
    differ[came[pairs.after[pairs.both]]] = False
    return changes.filter(pa.array(differ))


def differing(before: pa.Array, after: pa.Array) -> Array:
    """Return a Boolean per row: the values differ, for which NULL equals NULL."""
    before, after = decoded(before), decoded(after)
    if before.type != after.type:
        try:
            after = after.cast(before.type)
        except pa.ArrowException:
            # Text that is not a number, or a number with more digits than the type has.
            before, after = before.cast(pa.string()), after.cast(pa.string())
    different: Array = ~same(before, after)
    return different


def answer_key(roots: Sequence[Block], names: Sequence[Sequence[str]]) -> tuple[str, ...] | None:
    """Return the columns that identify rows of both answers; None: they are compared as bags.

    They are the columns of GROUP BY, if both queries show theirs; an aggregate without GROUP BY
    has one row, which needs none.
    """
    keys = []
    for root, columns in zip(roots, names, strict=True):
        if root.key_outputs is not None and not root.sets:
            keys.append({columns[place].lower() for place in root.key_outputs})
        elif root.kind is Kind.GROUP and not root.keys:
            keys.append(set())
        else:
            return None
    if keys[0] != keys[1]:
        return None
    return tuple(name for name in names[0] if name.lower() in keys[0])
