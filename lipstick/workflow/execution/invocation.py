"""An invocation of a module: its identity, inputs, state relations, and outcome.

State relations are tuples with their nodes, changed by insertions and deletions. A tuple keeps its
identity for as long as it is in the state: the stored node that it had when it was inserted. The
store has the changes of each invocation, never the state as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.keys import KeyTable, distinct
from lipstick.workflow.definition.module import Module
from lipstick.workflow.derivation.nodes import Fragment, Origin, Values, origins
from lipstick.workflow.execution.tables import take
from semiring.arrays.arrow import whole
from semiring.arrays.segments import mask_of
from semiring.base import Array

CAME = ".new"
"""Suffix of a state relation's name for the tuples that an invocation inserted."""


@dataclass(frozen=True, slots=True)
class StateRelation:
    """The tuples of a state relation at one moment.

    Parameters
    ----------
    table
        Their values.
    origin
        The nodes that they are.
    values
        By column, the v-nodes of its values, where they have some.
    """

    table: pa.Table
    origin: Origin
    values: Mapping[str, Origin] = field(default_factory=dict)

    @classmethod
    def empty(cls, schema: pa.Schema) -> StateRelation:
        """Return the relation without tuples."""
        return cls(schema.empty_table(), Origin.none(0))

    def without(self, gone: Array) -> StateRelation:
        """Return the relation without the tuples at some rows."""
        if not len(gone):
            return self
        kept = ~mask_of(gone, self.table.num_rows)
        rows = np.flatnonzero(kept)
        values = {name: origin.take(rows) for name, origin in self.values.items()}
        return StateRelation(take(self.table, rows), self.origin.take(rows), values)

    def plus(self, table: pa.Table, segment: str, values: Values | None = None) -> StateRelation:
        """Return the relation with the tuples of a stored segment appended."""
        if not table.num_rows:
            return self
        before, after = self.table.num_rows, table.num_rows
        new = origins(values or {}, after)
        values_of_both = {
            name: Origin.concatenated(
                [
                    self.values.get(name, Origin.none(before)),
                    new.get(name, Origin.none(after)),
                ]
            )
            for name in dict.fromkeys([*self.values, *new])
        }
        return StateRelation(
            pa.concat_tables([self.table, table]).combine_chunks(),
            Origin.concatenated([self.origin, Origin.of(segment, after)]),
            values_of_both,
        )

    def rows_of(self, segment: str, ordinals: Array) -> Array:
        """Return the rows of a segment's nodes, which are all in the relation."""
        of_segment = np.flatnonzero(self.origin.segments == self.origin.names.index(segment))
        order = np.argsort(self.origin.ordinals[of_segment], kind="stable")
        sorted_rows = of_segment[order]
        places = np.searchsorted(self.origin.ordinals[sorted_rows], ordinals)
        rows: Array = sorted_rows[places]
        return rows


def matching(table: pa.Table, keys: pa.Table) -> Array:
    """Return the rows of a table whose key columns are among `keys`, with NULL equal to NULL."""
    if not table.num_rows or not keys.num_rows:
        return np.empty(0, dtype=np.int64)
    known = KeyTable([whole(keys.column(name)) for name in keys.column_names], keys.num_rows)
    wanted = [whole(table.column(name)) for name in keys.column_names]
    return np.flatnonzero(known.find(wanted, table.num_rows) >= 0)


def difference(old: pa.Table, new: pa.Table) -> tuple[Array, Array]:
    """Return the rows of `old` that are not in `new`, and vice versa, as bags.

    Equal rows cancel out one by one.
    """
    names = old.column_names
    both = pa.concat_tables([old, new])
    columns = [whole(both.column(name)) for name in names]
    codes, _ = distinct(columns, both.num_rows)
    ranks = _among_equals(codes[: old.num_rows]), _among_equals(codes[old.num_rows :])
    width = max((int(rank.max()) + 1 for rank in ranks if len(rank)), default=1)
    old_codes = codes[: old.num_rows] * width + ranks[0]
    its = codes[old.num_rows :] * width + ranks[1]
    return np.flatnonzero(~np.isin(old_codes, its)), np.flatnonzero(~np.isin(its, old_codes))


def _among_equals(codes: Array) -> Array:
    """Return the number of equal codes before each code."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(codes) else order
    counts = np.diff(np.append(starts, len(codes)))
    ranks = np.empty(len(codes), dtype=np.int64)
    ranks[order] = np.arange(len(codes)) - np.repeat(starts, counts)
    return ranks


def ranges(ordinals: Array) -> list[list[int]]:
    """Return sorted integers as runs ``[first, last + 1]``, for a record."""
    if not len(ordinals):
        return []
    breaks = np.flatnonzero(np.diff(ordinals) != 1)
    starts = ordinals[np.concatenate([[0], breaks + 1])]
    stops = ordinals[np.concatenate([breaks, [len(ordinals) - 1]])] + 1
    runs: list[list[int]] = np.stack([starts, stops], axis=1).tolist()
    return runs


def spread(runs: Sequence[Sequence[int]]) -> Array:
    """Return the integers of some runs: the inverse of :func:`ranges`."""
    if not runs:
        return np.empty(0, dtype=np.int64)
    return np.concatenate([np.arange(start, stop, dtype=np.int64) for start, stop in runs])


@dataclass(frozen=True, slots=True)
class Invocation:
    """The identity of an invocation: its module, number, node and execution."""

    module: Module
    number: int
    node: str
    execution: int

    @property
    def name(self) -> str:
        """The name, such as ``dealer1#3``."""
        return f"{self.module.name}#{self.number}"


@dataclass(frozen=True, slots=True)
class ArrivingTuples:
    """An input relation of an invocation: its tuples, with their nodes and the nodes of their
    values.
    """

    table: pa.Table
    origin: Origin
    values: Mapping[str, Origin] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leaving:
    """An output of an invocation: its tuples, and the v-nodes of their values."""

    table: pa.Table
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StateChange:
    """The change of a state relation by one invocation.

    Parameters
    ----------
    deleted
        The stored nodes of the tuples that left.
    inserted
        The tuples that came.
    state
        The relation after it.
    values
        The v-nodes of the tuples that came.
    """

    deleted: Origin
    inserted: pa.Table
    state: StateRelation
    values: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InvocationOutcome:
    """The outcome of an invocation.

    Parameters
    ----------
    outputs, changes, fragment
        Its outputs, the changes of its state, and its part of the graph.
    started, ended
        When it ran, in UTC.
    """

    outputs: Mapping[str, Leaving]
    changes: Mapping[str, StateChange]
    fragment: Fragment
    started: datetime
    ended: datetime
