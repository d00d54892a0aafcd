"""Memory: what a process takes after a tenth of the events and after all, for growing chains."""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmark_workflowgen.streams.chains import SOURCE, chain, events
from lipstick.systems.streams import Runner, TotalDelay

_PAGE = 4096


def measured(
    *, kinds: list[str], components: list[int], events_: int, batch: int
) -> Iterator[dict[str, Any]]:
    """Yield a row for every kind and length of the chain, each measured in a process of its own."""
    spawn = multiprocessing.get_context("spawn")
    for kind in kinds:
        for count in components:
            with ProcessPoolExecutor(1, mp_context=spawn) as pool:
                yield pool.submit(_process, kind, count, events_, batch).result()


def _process(kind: str, components: int, count: int, batch: int) -> dict[str, Any]:
    runner = Runner(chain(kind, components), properties=[TotalDelay()])
    resident: list[int] = []
    for first in range(0, count, batch):
        table = events(batch, 0, seed=first)
        shifted = table.column("ts").to_numpy() + first
        runner.push({SOURCE: table.set_column(0, "ts", [shifted])})
        if first >= count // 10 and not resident:
            resident.append(_resident())
    resident.append(_resident())
    return {
        "kind": kind,
        "components": components,
        "held events": runner.held(),
        "MB after a tenth": round(resident[0] / 1e6, 1),
        "MB after all": round(resident[1] / 1e6, 1),
    }


def _resident() -> int:
    """Return the bytes of this process in memory (Linux)."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE
