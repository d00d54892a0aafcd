"""The ancestors of all results of a store as one job of Spark, by the number of cores."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from benchmark_workflowgen.sessions import Sparks
from benchmark_workflowgen.streams.questions import RESULTS, record
from lipstick.systems.streams import Stored, ancestors_frame


def measured(*, events_: int, batch: int, cores: list[int]) -> Iterator[dict[str, Any]]:
    """Yield a row per number of cores: a job after one that is not measured."""
    with tempfile.TemporaryDirectory() as folder, Sparks(None, None, "2g") as sparks:
        store = Path(folder) / "store"
        record(store, events_, batch)
        for number in cores:
            frame = ancestors_frame(sparks.get(number, None), Stored(store), RESULTS)
            _seconds(frame)
            took = _seconds(frame)
            yield {
                "cores": number,
                "results": events_,
                "s": round(took, 2),
                "results/s and core": round(events_ / took / number),
            }


def _seconds(frame: DataFrame) -> float:
    started = time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started
