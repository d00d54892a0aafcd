"""The state of an operator as Arrow tables, so that it can be stored with a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.batch import Batch
from lipstick.systems.streams.keys import Keys
from semiring.base import Array

_KEY = "__key_"
_PROPERTY = "__property_"


@dataclass(frozen=True, slots=True)
class StageState:
    """Tables by name: buffered events, and counters."""

    tables: Mapping[str, pa.Table] = field(default_factory=dict)


def batch_to_table(batch: Batch) -> pa.Table:
    """Return a batch as one table.

    Raises
    ------
    StreamError
        A property has values that are not numbers, which cannot be stored.
    """
    table = batch.table()
    keys = batch.keys
    for name, array in (("t", keys.t), ("n", keys.n), ("d", keys.d), ("code", keys.code)):
        if array is not None:
            table = table.append_column(_KEY + name, pa.array(array))
    for name, values in batch.properties.items():
        if values.dtype == np.dtype(object) or values.ndim != 1:
            raise StreamError(
                f"Property {name} cannot be kept over a restart: its values are not numbers.\n"
                "Follow it in a run of its own, without a store."
            )
        table = table.append_column(_PROPERTY + name, pa.array(values))
    return table


def batch_of_table(table: pa.Table) -> Batch:
    """Return the inverse of `batch_to_table`."""
    arrays: dict[str, Array] = {}
    properties: dict[str, Array] = {}
    content = []
    for name in table.column_names:
        if name.startswith(_KEY):
            arrays[name.removeprefix(_KEY)] = table.column(name).to_numpy()
        elif name.startswith(_PROPERTY):
            properties[name.removeprefix(_PROPERTY)] = table.column(name).to_numpy()
        else:
            content.append(name)
    keys = Keys(arrays["t"], arrays["n"], arrays["d"], arrays.get("code"))
    return Batch(keys, table.select(content), properties)
