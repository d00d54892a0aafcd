"""Columns of a grouping's rows where scenarios change some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.places import NOTHING, matches, positions_of
from lipstick.engines.memory.state import State, overlay
from semiring.base import Array


class OnDemand(Mapping[str, pa.Array]):
    """Columns that are computed when they are first asked for, each once."""

    def __init__(self, names: Iterable[str], compute: Callable[[str], pa.Array]) -> None:
        self._names = dict.fromkeys(names)
        self._compute = compute
        self._known: dict[str, pa.Array] = {}

    def __getitem__(self, name: str) -> pa.Array:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._known:
            self._known[name] = self._compute(name)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, slots=True)
class Patch:
    """New values of some columns at sorted places."""

    places: Array
    columns: Mapping[str, pa.Array]


class PatchedTake:
    """Columns of groups in scenarios: the columns without deletion, overlaid by changed values.

    Parameters
    ----------
    base
        The groups without deletion.
    keys
        The names of the grouping keys.
    grouped
        New values of aggregates.
    new_keys
        The keys of groups that only deletions make, whose positions follow the ones of `base`.

    Attributes
    ----------
    post
        New values of outputs and sort keys, once they are known.
    """

    def __init__(
        self, base: State, keys: Sequence[str], grouped: Patch, new_keys: Sequence[pa.Array]
    ) -> None:
        self._base = base
        self._keys = list(keys)
        self._grouped = grouped
        self._new_keys = new_keys
        self.post = Patch(NOTHING, {})

    def __call__(self, name: str, places: Array) -> pa.Array:
        """The values of a column at some places."""
        base, positions = self._base, positions_of(places)
        beyond = np.flatnonzero(positions >= base.size)
        inside = np.minimum(positions, max(base.size - 1, 0)) if len(beyond) else positions
        if base.size:
            taken = base.take(name, inside)
        else:
            taken = pa.nulls(len(positions), base.take(name, NOTHING).type)
        if len(beyond) and name in self._keys:
            column = self._new_keys[self._keys.index(name)]
            taken = overlay(taken, beyond, column.take(pa.array(positions[beyond] - base.size)))
        for patch in (self._grouped, self.post):
            if name in patch.columns:
                found, rows = matches(places, patch.places)
                taken = overlay(taken, found, patch.columns[name].take(pa.array(rows)))
        return taken
