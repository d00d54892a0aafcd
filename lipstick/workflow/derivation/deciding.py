"""Tuples of a block that decide about its other tuples: they have nodes though nothing shows them.

They are those that a window is over, those that LIMIT sorts by values which a deletion may change,
and the members of all groups where it may change what these are grouped by.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.places import NOTHING
from lipstick.engines.memory.reach import members_of
from lipstick.engines.memory.state import Rows
from lipstick.engines.memory.store import every
from lipstick.engines.memory.unions import UnionRows
from lipstick.engines.memory.window_rows import WindowRows
from lipstick.workflow.derivation.columns import branch_columns, computed_from
from lipstick.workflow.derivation.reading import Reading
from rewriter.algebra import Scalar
from rewriter.blocks import GROUP
from rewriter.interpret import interpret
from semiring.base import Array


def deciding(reading: Reading, rows: Rows) -> Array:
    """The sorted positions of tuples of a block that decide about its other tuples."""
    keys = [key for _, key in rows.block.keys]
    if isinstance(rows, WindowRows):
        return np.flatnonzero(rows.base_present())
    if isinstance(rows, GroupRows) and _changeable(reading, rows, keys):
        alive = rows.members.base_alive
        members = every(rows.members.count) if alive is None else np.flatnonzero(alive)
        return np.unique(rows.grouping.moved(members).groups)
    return np.sort(rows.base.sequence) if is_cut(reading, rows) else NOTHING


def is_cut(reading: Reading, rows: Rows) -> bool:
    """Whether LIMIT may drop a tuple that it shows when other tuples change."""
    block = rows.block
    if not block.limited or block.offset:
        return block.limited
    scalars = [key.scalar for key in block.order]
    if isinstance(rows, UnionRows):
        return bool(scalars)
    if isinstance(rows, GroupRows):
        read = {column for scalar in scalars for column in interpret(scalar).columns}
        aggregated = not read <= {(GROUP, name) for name, _ in block.keys}
        return aggregated or _changeable(reading, rows, [key for _, key in block.keys])
    return isinstance(rows, WindowRows) or _changeable(reading, rows, scalars)


def _changeable(reading: Reading, rows: Rows, scalars: Sequence[Scalar]) -> bool:
    """Whether a deletion may change scalars over members that are there."""
    members = members_of(rows)
    assert members is not None
    interpreted = [interpret(scalar) for scalar in scalars]
    if not all(map(members.is_stable, interpreted)):
        return True
    return any(
        name in reading.source(token.relation).values
        for scalar in interpreted
        for column in computed_from(rows.block, scalar)
        for alias, name in branch_columns(rows.block, column)
        for token in rows.block.tokens
        if token.alias == alias
    )
