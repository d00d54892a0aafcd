"""Aggregating anew the groups that lose or gain members, in one scenario or in many at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.aggregates import Touched, TouchedMembers, cut
from lipstick.engines.memory.patch import OnDemand
from lipstick.engines.memory.places import (
    NOTHING,
    beside,
    matches,
    pack,
    positions_of,
    scenarios_of,
)
from lipstick.engines.memory.state import Context
from rewriter.emit import MEMBERS
from rewriter.interpret import Resolve
from semiring.arrays.segments import ascending, union
from semiring.base import Array

if TYPE_CHECKING:
    from lipstick.engines.memory.groups import GroupRows

_MANY = 1 << 12
"""More members than these in a scenario's groups: sums of floats are added up by chunks."""

ResolveIn: TypeAlias = Callable[[Array], Resolve]
"""The columns of members at some places, each in its scenario."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Members that groups lose or gain: their places, and the places of their groups."""

    members: Array
    groups: Array


@dataclass(frozen=True, slots=True)
class Regrouped:
    """Groups with changed members.

    Attributes
    ----------
    places
        The places of the groups, sorted.
    columns
        The new values of the aggregates.
    exists
        Boolean array: which have a tuple, before HAVING.
    """

    places: Array
    columns: Mapping[str, pa.Array]
    exists: Array


def regroup(
    rows: GroupRows,
    lost: Moved,
    gained: Moved,
    context: Context,
    resolve: ResolveIn | None = None,
    *,
    on_demand: bool = False,
) -> Regrouped:
    """Aggregate anew the groups that lose or gain members.

    Parameters
    ----------
    context
        The rows of other blocks, as the gained members see them.
    resolve
        The columns of members that are there now; those they are captured with if None.
    on_demand
        True: aggregates are computed when they are first asked for.

    Raises
    ------
    CaptureError
        When an aggregate is needed that only Spark can compute, or that is not in the capture.
    """
    return _Regrouping(rows, lost, gained, context, resolve, on_demand).run()


class _Regrouping:
    def __init__(
        self,
        rows: GroupRows,
        lost: Moved,
        gained: Moved,
        context: Context,
        resolve: ResolveIn | None,
        on_demand: bool,
    ) -> None:
        self._rows = rows
        self._on_demand = on_demand
        self._columns = resolve or (lambda places: rows.members.resolve(places, context))
        order = np.argsort(lost.groups, kind="stable")
        old = lost.groups[order]
        self._groups = union(old[np.diff(old, prepend=-1) > 0], ascending(gained.groups))
        self._lost, self._lost_places = lost.members[order], np.searchsorted(self._groups, old)
        self._gained = gained.members
        self._gained_places = np.searchsorted(self._groups, gained.groups)

    def run(self) -> Regrouped:
        rows = self._rows
        old = rows.members.resolve(self._lost, rows.members.base)
        new = self._columns(self._gained)
        touched = Touched(
            len(self._groups),
            TouchedMembers(self._lost_places, old),
            TouchedMembers(self._gained_places, new),
            lambda name: rows.stored(name, positions_of(self._groups)),
            self._survivors,
            self._sums,
            self._whole,
        )
        columns: Mapping[str, pa.Array] = OnDemand(
            rows.calls if len(self._groups) else (),
            lambda name: touched.recompute(name, rows.calls[name]),
        )
        if not self._on_demand:
            columns = dict(columns)
        exists = np.ones(len(self._groups), dtype=np.bool_)
        if rows.block.keys:
            exists = touched.members > 0
        return Regrouped(self._groups, columns, exists)

    def _survivors(self, places: Array) -> TouchedMembers:
        """The surviving members of the groups at some places."""
        members, groups = self._rows.members, self._groups[places]
        positions, owners = self._rows.grouping.members_of(positions_of(groups))
        kept = np.ones(len(positions), dtype=np.bool_)
        if members.base_alive is not None:
            kept &= members.base_alive[positions]
        gone, where = matches(self._lost_places, places)
        wanted = pack(where, positions_of(self._lost[gone]))
        kept[np.searchsorted(pack(owners, positions), wanted)] = False
        arrived, at = matches(self._gained_places, places)
        survivors = beside(groups[owners[kept]], positions[kept])
        survivors = np.concatenate([survivors, self._gained[arrived]])
        owners = np.concatenate([owners[kept], at])
        if len(arrived):
            by_group = np.lexsort([survivors, owners])
            survivors, owners = survivors[by_group], owners[by_group]
        return TouchedMembers(owners, self._columns(survivors))

    def _whole(self) -> tuple[TouchedMembers, Array]:
        """The members of the groups without deletion, each group once."""
        rows = self._rows
        positions, numbers = np.unique(positions_of(self._groups), return_inverse=True)
        known = np.flatnonzero(positions < rows.base.size)
        found, owners = rows.grouping.present_members(positions[known])
        return TouchedMembers(
            known[owners], rows.members.resolve(found, rows.members.base)
        ), numbers

    def _sums(self, name: str, places: Array) -> tuple[Array, Array]:
        """The groups of scenarios that touch many members, and their sums over the members left."""
        rows = self._rows
        if rows.block.sets:
            return NOTHING, NOTHING
        groups = self._groups[places]
        sizes = rows.stored(MEMBERS, positions_of(groups))
        assert sizes is not None
        numbers = sizes.fill_null(0).to_numpy(zero_copy_only=False)
        _, scenarios = np.unique(scenarios_of(groups), return_inverse=True)
        total = np.bincount(scenarios, weights=numbers)
        if sizes.null_count:
            total[scenarios[sizes.is_null().to_numpy(zero_copy_only=False)]] = 0
        many = total[scenarios] > _MANY
        chosen = places[many]
        if not len(chosen):
            return NOTHING, NOTHING
        chunked = rows.chunked(name)
        sums = []
        for piece in cut(chosen, numbers[many], most=1 << 28):
            gone, where = matches(self._lost_places, piece)
            lost = positions_of(self._lost[gone])
            sums.append(chunked.without(positions_of(self._groups[piece]), where, lost))
        return chosen, np.concatenate(sums)
