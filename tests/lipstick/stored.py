"""Graphs written by hand, put into a store without Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from graphquery.model import EdgeSet, Ordinals
from graphquery.store import Store, Transaction
from tests.graphquery.builder import Builder
from tests.graphquery.store.workload import Unsynced


def store_graph(builder: Builder, path: Path) -> Path:
    """Store what a builder has collected: one commit per invocation, and one for all else."""
    store = Store.create(path, files=Unsynced())
    parts = dict.fromkeys((each.module, each.invocation) for each in builder.segments)
    with store.writer() as writer:
        for part in parts:
            with writer.transaction() as transaction:
                for segment in builder.segments:
                    if (segment.module, segment.invocation) != part:
                        continue
                    if segment.file is None:
                        transaction.add_segment(segment)
                    else:
                        table = pa.table(builder.files[segment.file])
                        transaction.add_segment(replace(segment, file=""), table)
                transaction.commit()
        with writer.transaction() as transaction:
            for edges in builder.edge_sets:
                _add_edges(transaction, builder, edges)
            transaction.commit()
    return path


def _add_edges(transaction: Transaction, builder: Builder, edges: EdgeSet) -> None:
    def ordinals(given: Ordinals, column: str) -> Any:
        if given is not Ordinals.COLUMN or edges.file is None:
            return None
        return builder.files[edges.file][column].to_numpy()

    stored = edges if edges.file is None else replace(edges, file="")
    transaction.add_edges(
        stored, ordinals(edges.sources, "source"), ordinals(edges.targets, "target")
    )
