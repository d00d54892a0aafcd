"""Many hypotheses at once: which tokens each of them deletes, or which values it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.state import NOTHING
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Deleted:
    """Deleted tuples of one relation, each with its scenario's number.

    Attributes
    ----------
    tokens
        The relation's token columns.
    scenarios
        int64, one per row of `tokens`.
    """

    tokens: pa.Table
    scenarios: Array


@dataclass(frozen=True, slots=True)
class Scenarios:
    """Deletions, numbered from 0.

    Attributes
    ----------
    labels
        What each scenario is called in results.
    deleted
        Per relation the deleted tuples of all scenarios.
    """

    labels: pa.Array
    deleted: Mapping[str, Deleted]

    def __len__(self) -> int:
        return len(self.labels)

    def deleted_in(self, number: int) -> dict[str, pa.Table]:
        """The tokens that one scenario deletes, per relation."""
        return {
            name: part.tokens.take(pa.array(np.flatnonzero(part.scenarios == number)))
            for name, part in self.deleted.items()
        }


@dataclass(frozen=True, slots=True)
class Updated:
    """New values of one relation's tuples, each with its scenario's number.

    Attributes
    ----------
    table
        The relation's token columns, and other columns with their new values.
    scenarios
        int64, one per row of `table`.
    """

    relation: str
    table: pa.Table
    scenarios: Array


@dataclass(frozen=True, slots=True)
class Updates:
    """New values, in scenarios that are numbered from 0.

    Attributes
    ----------
    labels
        What each scenario is called in results.
    updated
        The new values of all scenarios. A column of a tuple has one in each at most.
    """

    labels: pa.Array
    updated: tuple[Updated, ...]

    def updated_in(self, number: int) -> dict[str, pa.Table]:
        """The new values of one scenario, per relation."""
        return {
            part.relation: part.table.filter(pa.array(part.scenarios == number))
            for part in self.updated
            if (part.scenarios == number).any()
        }


def pairs(scenarios: Array, positions: Array, width: int) -> Array:
    """One integer per pair of scenario and position: they sort by scenario, then position."""
    keys: Array = scenarios * width + positions
    return keys


def distinct_pairs(scenarios: Array, positions: Array, width: int) -> tuple[Array, Array]:
    """The distinct pairs of scenario and position, sorted."""
    keys = pairs(scenarios, positions, width)
    if len(keys) > 1 and not bool((keys[1:] > keys[:-1]).all()):
        # Several times faster than numpy.unique, which hashes.
        keys = np.sort(keys)
        keys = keys[np.diff(keys, prepend=-1) > 0]
    if not len(keys):
        return NOTHING, NOTHING
    owners, distinct_positions = np.divmod(keys, width)
    return owners, distinct_positions
