"""Aggregating anew the groups that lose or gain members, in one scenario or in many at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.aggregates import Part, Touched, cut
from lipstick.engines.memory.scenarios import pairs
from lipstick.engines.memory.state import NOTHING, Context, matches
from rewriter.emit import MEMBERS
from rewriter.interpret import Resolve
from semiring.base import Array

if TYPE_CHECKING:
    from lipstick.engines.memory.groups import GroupRows

_MANY = 1 << 16
"""More members than these in a scenario's groups: sums of floats are added up by chunks."""

ResolveIn: TypeAlias = Callable[[Array, Array], Resolve]
"""The columns of members at some positions, each in the scenario whose number goes with it."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Members that groups lose or gain, in some scenarios.

    Attributes
    ----------
    positions, scenarios, groups
        Of each member its position, the scenario, and the position of its group; by scenario, then
        by position.
    """

    positions: Array
    scenarios: Array
    groups: Array


@dataclass(frozen=True, slots=True)
class Regrouped:
    """Groups with changed members, by scenario and group.

    Attributes
    ----------
    scenarios, groups
        The scenario and the group's position.
    columns
        The new values of the aggregates.
    exists
        Boolean array: which have a tuple, before HAVING.
    """

    scenarios: Array
    groups: Array
    columns: Mapping[str, pa.Array]
    exists: Array


def regroup(
    rows: GroupRows,
    lost: Moved,
    gained: Moved,
    context: Context,
    resolve: ResolveIn | None = None,
) -> Regrouped:
    """Aggregate anew the groups that lose or gain members.

    Parameters
    ----------
    context
        The rows of other blocks, as the gained members see them.
    resolve
        The columns of members that are there now; those they are captured with if None.

    Raises
    ------
    CaptureError
        When an aggregate is needed that only Spark can compute, or that is not in the capture.
    """
    return _Regrouping(rows, lost, gained, context, resolve).run()


class _Regrouping:
    def __init__(
        self,
        rows: GroupRows,
        lost: Moved,
        gained: Moved,
        context: Context,
        resolve: ResolveIn | None,
    ) -> None:
        self._rows = rows
        self._resolve = resolve or (lambda positions, _: rows.members.resolve(positions, context))
        width = 1 + max((int(m.groups.max()) for m in (lost, gained) if len(m.groups)), default=0)
        old, new = (pairs(m.scenarios, m.groups, width) for m in (lost, gained))
        order = np.argsort(old, kind="stable")
        old = old[order]
        touched = old[np.diff(old, prepend=-1) > 0]
        if len(new):
            touched = np.union1d(touched, new)
        self._scenarios, self._groups = np.divmod(touched, width)
        self._lost, self._lost_places = lost.positions[order], np.searchsorted(touched, old)
        self._gained, self._gained_places = gained.positions, np.searchsorted(touched, new)

    def run(self) -> Regrouped:
        rows = self._rows
        old = rows.members.resolve(self._lost, rows.members.base)
        new = self._columns(self._gained, self._gained_places)
        touched = Touched(
            len(self._groups),
            Part(self._lost, self._lost_places, old),
            Part(self._gained, self._gained_places, new),
            lambda name: rows.stored(name, self._groups),
            self._survivors,
            self._sums,
        )
        columns: dict[str, pa.Array] = {}
        if len(self._groups):
            columns = {name: touched.recompute(name, call) for name, call in rows.calls.items()}
        exists = np.ones(len(self._groups), dtype=np.bool_)
        if rows.block.keys:
            exists = touched.members > 0
        return Regrouped(self._scenarios, self._groups, columns, exists)

    def _survivors(self, places: Array) -> Part:
        """The surviving members of the groups at some places."""
        members = self._rows.members
        positions, owners = self._rows.grouping.members_of(self._groups[places])
        kept = np.ones(len(positions), dtype=np.bool_)
        if members.base_alive is not None:
            kept &= members.base_alive[positions]
        gone, where = matches(self._lost_places, places)
        wanted = pairs(where, self._lost[gone], members.count)
        kept[np.searchsorted(pairs(owners, positions, members.count), wanted)] = False
        arrived, at = matches(self._gained_places, places)
        survivors = np.concatenate([positions[kept], self._gained[arrived]])
        groups = np.concatenate([owners[kept], at])
        if len(arrived):
            by_group = np.lexsort([survivors, groups])
            survivors, groups = survivors[by_group], groups[by_group]
        return Part(survivors, groups, self._columns(survivors, groups))

    def _columns(self, members: Array, places: Array) -> Resolve:
        """The columns of members of the groups at some places, in the scenarios of these."""
        return self._resolve(members, self._scenarios[places])

    def _sums(self, name: str, places: Array) -> tuple[Array, Array]:
        """The groups of scenarios that touch many members, and their sums over the members left."""
        rows = self._rows
        if rows.block.sets:
            return NOTHING, NOTHING
        sizes = rows.stored(MEMBERS, self._groups[places])
        assert sizes is not None
        numbers = sizes.fill_null(0).to_numpy(zero_copy_only=False)
        scenarios = self._scenarios[places]
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
            sums.append(chunked.without(self._groups[piece], where, self._lost[gone]))
        return chosen, np.concatenate(sums)
