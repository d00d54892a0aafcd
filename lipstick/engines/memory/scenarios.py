"""Many hypotheses at once: which tokens each of them deletes, or which values it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

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

    def slice(self, first: int, last: int) -> Deleted:
        """Return the deletions of the scenarios from one up to another; `scenarios` are sorted."""
        start, stop = np.searchsorted(self.scenarios, [first, last]).tolist()
        return Deleted(self.tokens.slice(start, stop - start), self.scenarios[start:stop])


def alone(tokens: pa.Table) -> Deleted:
    """Return deleted tuples as the deletions of a single scenario."""
    return Deleted(tokens, np.zeros(tokens.num_rows, dtype=np.int64))


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
