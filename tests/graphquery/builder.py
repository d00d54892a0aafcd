"""Graphs written by hand: segments and edges added one by one, stored as the engines read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.model import EdgeSet, Kind, Ordinals, Port, Segment


class Builder:
    """Collects segments and edges; what is read is written down in `reads`."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.edge_sets: list[EdgeSet] = []
        self.files: dict[str, dict[str, pa.Array]] = {}
        self.reads: list[tuple[str, str]] = []

    def add(
        self,
        name: str,
        kind: Kind,
        label: str = "",
        rows: int | dict[str, Sequence[Any]] = 1,
        key: tuple[str, ...] = (),
        **attributes: Any,
    ) -> str:
        """Add a segment of so many nodes, or of nodes with values; return its name."""
        file, count = None, rows
        if not isinstance(rows, int):
            file = f"{name}.parquet"
            self.files[file] = {column: pa.array(values) for column, values in rows.items()}
            count = len(next(iter(rows.values())))
        assert isinstance(count, int)
        self.segments.append(Segment(name, kind, label, count, key=key, file=file, **attributes))
        return name

    def edges(
        self,
        source: str,
        target: str,
        pairs: Sequence[tuple[int, int]] = ((0, 0),),
        port: int = Port.OPERAND,
        implied: bool = True,
    ) -> None:
        """Add edges between ordinals; where possible and `implied`, these are not stored."""
        file = f"edges{len(self.edge_sets)}.parquet"
        columns: dict[str, Any] = {}
        how = {}
        for end, name in enumerate(("source", "target")):
            ordinals = [pair[end] for pair in pairs]
            how[name] = Ordinals.COLUMN
            if implied and ordinals == list(range(len(pairs))):
                how[name] = Ordinals.ALL
            elif implied and not any(ordinals):
                how[name] = Ordinals.ONE
            else:
                columns[name] = pa.array(np.array(ordinals, dtype=np.int32))
        if columns:
            self.files[file] = columns
        self.edge_sets.append(
            EdgeSet(
                source,
                target,
                len(pairs),
                how["source"],
                how["target"],
                file if columns else None,
                port,
            )
        )

    def columns(self, file: str, column: str) -> Any:
        """Read a column as a store would."""
        self.reads.append((file, column))
        return self.files[file][column]

    @property
    def data(self) -> tuple[list[Segment], list[EdgeSet], Any]:
        """What engines are built from."""
        return self.segments, self.edge_sets, self.columns
