"""Datasets of a capture that is in no directory: Arrow tables."""

from __future__ import annotations

import pyarrow as pa

from lipstick.engines.memory.store import Dataset
from rewriter.blocks import Block
from semiring.arrays.arrow import whole


class HeldDatasets:
    """The datasets of a capture that is being made, as far as it has come."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], HeldDataset] = {}

    def hold(self, block: Block, name: str, table: pa.Table) -> None:
        """Take the ``members`` or ``rows`` of a block."""
        self._held[block.name, name] = HeldDataset(table)

    def dataset(self, block: Block, name: str) -> Dataset | None:
        """See :class:`lipstick.engines.memory.store.Datasets`."""
        return self._held.get((block.name, name))


class HeldDataset(Dataset):
    """The rows of a table."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.count = table.num_rows
        self._columns: dict[str, pa.Array] = {}

    @property
    def names(self) -> list[str]:
        """See :class:`Dataset`."""
        names: list[str] = self.table.column_names
        return names

    def type(self, name: str) -> pa.DataType:
        """See :class:`Dataset`."""
        return self.table.schema.field(name).type

    def column(self, name: str) -> pa.Array:
        """See :class:`Dataset`."""
        if name not in self._columns:
            self._columns[name] = whole(self.table.column(name))
        return self._columns[name]
