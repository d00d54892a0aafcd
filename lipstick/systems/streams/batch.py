"""A batch of events: keys, content, and the properties that travel with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from lipstick.systems.streams.keys import Keys, concat_keys
from semiring.arrays.segments import bounds, expand
from semiring.base import Array

LIST = "events"
"""The column with a list of events, for content that is such a list."""


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Content that is a list of events for each event: ranges of rows of one table.

    Parameters
    ----------
    members
        The events' content.
    low, high
        Event i is the list of rows ``low[i]`` to ``high[i] - 1``; ranges may overlap.
    newest_first
        Whether the list is in the reverse order of rows (windows) or in theirs (pairs of joins).
    """

    members: pa.Table
    low: Array
    high: Array
    newest_first: bool = True

    def __len__(self) -> int:
        return len(self.low)

    def take(self, positions: Array) -> Lists:
        """Return the lists at positions."""
        return Lists(self.members, self.low[positions], self.high[positions], self.newest_first)

    def table(self) -> pa.Table:
        """Return the lists as one column named ``events``, of structs of the members' columns."""
        if self.newest_first:  # the list from its last row down
            rows, _ = expand(-self.high + 1, -self.low + 1)
            rows = -rows
        else:
            rows, _ = expand(self.low, self.high)
        taken = self.members.take(pa.array(rows)).combine_chunks()
        columns = [
            column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
            for column in taken.columns
        ]
        structs = pa.StructArray.from_arrays(columns, fields=list(taken.schema))
        offsets = bounds(self.high - self.low)
        lists = pa.LargeListArray.from_arrays(pa.array(offsets), structs)
        return pa.table({LIST: lists})


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Events of one stream, ascending by (code, t).

    Parameters
    ----------
    keys
        Their keys.
    content
        A row for each, or lists.
    properties
        By name of a property, an array with a value for each event.
    """

    keys: Keys
    content: pa.Table | Lists
    properties: Mapping[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)

    def table(self) -> pa.Table:
        """Return the content, a row for each event."""
        return self.content.table() if isinstance(self.content, Lists) else self.content

    def take(self, positions: Array) -> Batch:
        """Return the events at ascending positions."""
        if is_each(positions, len(self)):
            return self
        content = self.content
        taken = (
            content.take(positions)
            if isinstance(content, Lists)
            else content.take(pa.array(positions))
        )
        properties = {name: values[positions] for name, values in self.properties.items()}
        return Batch(self.keys.take(positions), taken, properties)

    def rows(self) -> Batch:
        """Return the same batch with content as rows."""
        return Batch(self.keys, self.table(), self.properties)


def is_each(positions: Array, count: int) -> bool:
    """Return True if positions are 0, 1, ... for all rows."""
    return len(positions) == count and bool((positions == np.arange(count)).all())


def concat_batches(parts: Sequence[Batch]) -> Batch:
    """Concatenate batches of one stream, with their content as rows."""
    filled = [part for part in parts if len(part)]
    if not filled:
        return parts[0].rows()
    if len(filled) == 1:
        return filled[0].rows()
    keys, order = concat_keys([part.keys for part in filled])
    table = pa.concat_tables([part.table() for part in filled])
    names = filled[0].properties
    properties = {
        name: np.concatenate([part.properties[name] for part in filled]) for name in names
    }
    if order is not None:
        table = table.take(pa.array(order))
        properties = {name: values[order] for name, values in properties.items()}
    return Batch(keys, table, properties)
