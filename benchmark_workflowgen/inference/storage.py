"""Fig. 15: what provenance takes on disk, recorded and inferred, in SQLite as in the paper."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmark_workflowgen.inference.simulate import Simulated, simulate
from lipstick.systems.scripts.inference import Distribution, ProcessingElement, Ranges


def measure(setting: Mapping[str, Any], tuples: int, folder: Path) -> dict[str, Any]:
    """One column of Fig. 15, in bytes.

    Recorded is a row per output and input. Inferred needs the transaction times of both views and
    nothing else; the paper does not say what its 175 KB contain.
    """
    element = ProcessingElement(setting["window"], setting["trigger"])
    stream = simulate([element], Distribution.constant(1), tuples, 1)
    name = f"{setting['window']}-{setting['trigger']}"
    explicit = _written(folder / f"explicit-{name}.sqlite", lambda c: _pairs(c, stream.truth))
    times = _written(folder / f"times-{name}.sqlite", lambda c: _times(c, stream))
    return {"setting": {k: v for k, v in setting.items() if k != "paper"},
            "paper_kilobytes": setting["paper"], "outputs": len(stream.outputs),
            "explicit": explicit, "inference": times, "ratio": explicit / times}  # fmt: skip


def _written(path: Path, fill: Callable[[sqlite3.Connection], None]) -> int:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        fill(connection)
        connection.commit()
    return path.stat().st_size


def _pairs(connection: sqlite3.Connection, truth: Ranges) -> None:
    connection.execute("CREATE TABLE provenance (output INTEGER, input INTEGER)")
    for output in range(len(truth)):
        rows = ((output, int(row)) for row in truth.of(output)[0])
        connection.executemany("INSERT INTO provenance VALUES (?, ?)", rows)


def _times(connection: sqlite3.Connection, stream: Simulated) -> None:
    for name, view in (("inputs", stream.inputs), ("outputs", stream.outputs)):
        connection.execute(f"CREATE TABLE {name} (txn_time INTEGER)")
        rows = ((int(time),) for time in view.times)
        connection.executemany(f"INSERT INTO {name} VALUES (?)", rows)
