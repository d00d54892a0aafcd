"""Tuples in scenarios, each one integer: a *place*.

The low 32 bits are the position of the tuple in its block, the others the number of the scenario.
Places sort by scenario, then by position; of the scenario 0 they are the positions, so that a
single deletion, and none, is a case of many.
"""

from __future__ import annotations

import numpy as np

from semiring.arrays.segments import mask_of
from semiring.base import Array

_BITS = 32
_POSITION = (1 << _BITS) - 1

NOTHING: Array = np.zeros(0, dtype=np.int64)


def pack(scenarios: Array, positions: Array) -> Array:
    """Return the places of tuples at some positions, each in its scenario."""
    places: Array = (scenarios << _BITS) | positions
    return places


def positions_of(places: Array) -> Array:
    """Return the positions of places."""
    positions: Array = places & _POSITION
    return positions


def scenarios_of(places: Array) -> Array:
    """Return the scenarios of places."""
    scenarios: Array = places >> _BITS
    return scenarios


def beside(places: Array, positions: Array) -> Array:
    """Return positions in the scenarios of some places; -1, no tuple, stays."""
    return np.where(positions >= 0, (places & ~_POSITION) | positions, -1)


def everywhere(scenarios: Array, positions: Array) -> Array:
    """Return the places of positions in every one of some scenarios, sorted as these are."""
    places: Array = pack(scenarios[:, None], positions[None, :]).ravel()
    return places


def matches(places: Array, among: Array) -> tuple[Array, Array]:
    """Return where sorted distinct `among` occur in `places`: indices into both."""
    if not len(among) or not len(places):
        return NOTHING, NOTHING
    index = np.minimum(np.searchsorted(among, places), len(among) - 1)
    found = np.flatnonzero(among[index] == places)
    return found, index[found]


def contains(among: Array, places: Array) -> Array:
    """Return a Boolean array: the places that are among some sorted ones."""
    return mask_of(matches(places, among)[0], len(places))
