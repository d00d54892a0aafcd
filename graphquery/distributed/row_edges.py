"""Edges of the rows of stored files, computed by Spark's workers with numpy and pyarrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from graphquery.distributed.levels import Levels
from graphquery.model import EdgeSet, Ordinals
from semiring.base import Array

IMPLIED = ""
"""The file of edge sets with implied ends only; their rows are numbered consecutively."""

_COLUMNS = (
    "source_segment",
    "source",
    "target_segment",
    "target",
    "port",
    "link",
    "wrong",
)
_HOST = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]*:(//[^/]*)?")
"""The scheme and host that Spark puts before the path of a file, which it also quotes."""


def placing(
    levels: Levels, path: Callable[[str], str]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function from rows of edge files to edges; workers need only numpy and pyarrow."""
    sets = levels.edge_sets
    ends = {
        name: np.array(
            [
                (
                    levels.position[segment],
                    levels.bases[levels.position[segment]],
                    levels.segments[levels.position[segment]].count,
                    list(Ordinals).index(how),
                )
                for segment, how in pairs
            ],
            dtype=np.int64,
        )
        for name, pairs in {
            "source": [(edges.source, edges.sources) for edges in sets],
            "target": [(edges.target, edges.targets) for edges in sets],
        }.items()
    }
    level = np.array(levels.level, dtype=np.int64)
    links = level[ends["source"][:, 0]] * levels.count + level[ends["target"][:, 0]]
    ports = np.array([int(edges.port) for edges in sets], dtype=np.int8)
    layers = _layers(sets, path)
    names = _COLUMNS
    every, single = list(Ordinals).index(Ordinals.ALL), list(Ordinals).index(Ordinals.ONE)

    def of_end(name: str, number: Any, edge: Any, stored: Any) -> tuple[Any, Any, Any]:
        segment, base, size, how = ends[name][number].T
        ordinal = np.where(how == every, edge, np.where(how == single, 0, stored))
        return segment.astype(np.int32), base + ordinal, (ordinal < 0) | (ordinal >= size)

    host = _HOST

    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            files = batch.column(0).dictionary_encode()
            rows = batch.column(1).to_numpy()
            stored = [batch.column(c).fill_null(-1).to_numpy(zero_copy_only=False) for c in (2, 3)]
            which = files.indices.to_numpy()
            for code, file in enumerate(files.dictionary.to_pylist()):
                in_file = np.flatnonzero(which == code)
                for starts, numbers, counts in layers.get(unquote(host.sub("", file)), ()):
                    slot = np.searchsorted(starts, rows[in_file], side="right") - 1
                    edge = rows[in_file] - starts[slot]
                    held = (slot >= 0) & (edge < counts[slot])
                    chosen, edge, number = in_file[held], edge[held], numbers[slot[held]]
                    a = of_end("source", number, edge, stored[0][chosen])
                    b = of_end("target", number, edge, stored[1][chosen])
                    arrays = [*a[:2], *b[:2], ports[number], links[number], a[2] | b[2]]
                    yield pa.RecordBatch.from_arrays([pa.array(x) for x in arrays], names)

    return place


def _layers(
    sets: Sequence[EdgeSet], path: Callable[[str], str]
) -> dict[str, list[tuple[Array, Array, Array]]]:
    """Return, by file, layers of edge sets with disjoint rows: first rows, numbers, counts."""
    by_file: dict[str, list[tuple[int, int, int]]] = {}
    implied = 0
    for number, edges in enumerate(sets):
        if edges.file is None:
            by_file.setdefault(IMPLIED, []).append((implied, number, edges.count))
            implied += edges.count
        else:
            name = _HOST.sub("", path(edges.file))
            by_file.setdefault(name, []).append((edges.offset, number, edges.count))
    layers = {}
    for name, rows in by_file.items():
        split: list[list[tuple[int, int, int]]] = []
        for row in sorted(rows):
            free = (layer for layer in split if layer[-1][0] + layer[-1][2] <= row[0])
            layer = next(free, None)
            if layer is None:
                split.append([row])
            else:
                layer.append(row)
        layers[name] = [
            (columns[:, 0], columns[:, 1], columns[:, 2])
            for columns in (np.array(layer, dtype=np.int64) for layer in split)
        ]
    return layers
