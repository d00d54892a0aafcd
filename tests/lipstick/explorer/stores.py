"""Generated graphs in stores.

`python -m tests.lipstick.explorer.stores FOLDER [NODES [MODULES [EXECUTIONS]]]` makes one: of ten
million nodes, of 20 modules that were executed 1,000 times, by default.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmark_workflowgen.generated_graphs import Generated, generate
from graphquery.model import EdgeSet, Ordinals
from graphquery.store import Store
from semiring.base import Array
from tests.graphquery.store.workload import Unsynced


def store_generated(generated: Generated, path: Path) -> Path:
    """Store a generated graph in one commit."""
    columns = {
        name: np.concatenate([*parts, np.empty(0, np.int32)])
        for name, parts in generated.ordinals.items()
    }

    def part(edges: EdgeSet, given: Ordinals, column: str) -> Array | None:
        if given is not Ordinals.COLUMN:
            return None
        values: Array = columns[column][edges.offset : edges.offset + edges.count]
        return values

    writing = Store.create(path, files=Unsynced()).writer()
    with writing as writer, writer.transaction() as transaction:
        for segment in generated.segments:
            transaction.add_segment(segment)
        for edges in generated.edge_sets:
            stored: dict[str, Any] = {} if edges.file is None else {"file": "", "offset": 0}
            transaction.add_edges(
                replace(edges, **stored),
                part(edges, edges.sources, "source"),
                part(edges, edges.targets, "target"),
            )
        transaction.commit()
    return path


if __name__ == "__main__":
    sizes = [int(number) for number in sys.argv[2:]]
    given = sizes + [10_000_000, 20, 1_000][len(sizes) :]
    print(store_generated(generate(*given), Path(sys.argv[1])))
