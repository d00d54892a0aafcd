"""Throughput: time of an event, plain, stored and with a property on the fly, in turns."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmark_workflowgen.streams.chains import SOURCE, chain, events
from lipstick.systems.streams import Assertions, Runner, TotalDelay

PLAIN, STORED, FLY = "plain", "stored", "on the fly"


def measured(
    *,
    kinds: list[str],
    components: list[int],
    work: dict[str, int],
    payload: int,
    batches: list[int],
) -> Iterator[dict[str, Any]]:
    """Yield a row for every kind, length of the chain, work in an operator and size of batches.

    Parameters
    ----------
    work
        By milliseconds of work, how many events are run.
    """
    for kind in kinds:
        for count in components:
            for milliseconds, size in work.items():
                # Windows have no function that could work, and then one size of batches will do.
                if float(milliseconds) and kind != "map":
                    continue
                for batch in batches[:1] if float(milliseconds) else batches:
                    yield _row(kind, count, float(milliseconds), size, payload, batch)


def _row(
    kind: str, components: int, milliseconds: float, count: int, payload: int, batch: int
) -> dict[str, Any]:
    seconds, busy = _turns(kind, components, milliseconds / 1e3, count, payload, batch)
    return {
        "kind": kind,
        "components": components,
        "work ms": milliseconds,
        "events": count,
        "batch": batch,
        **{f"{way} us": round(each / count * 1e6, 2) for way, each in seconds.items()},
        **{f"{way} x": round(seconds[way] / seconds[PLAIN], 2) for way in (STORED, FLY)},
        **{f"{way} cpu us": round(each / count * 1e6, 2) for way, each in busy.items()},
    }


def _turns(
    kind: str, components: int, work: float, count: int, payload: int, batch: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the wall seconds of each variant for the same batches, in turns, and its processor
    seconds.

    Processor seconds do not include waits for the disk.
    """
    table = events(count, payload)
    seconds = {PLAIN: 0.0, STORED: 0.0, FLY: 0.0}
    busy = dict(seconds)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        recorder = stack.enter_context(Assertions(folder / "store"))
        runners = {
            PLAIN: Runner(chain(kind, components, work)),
            STORED: Runner(chain(kind, components, work), recorders=[recorder]),
            FLY: Runner(chain(kind, components, work), properties=[TotalDelay()]),
        }
        for first in range(0, count, batch):
            for way, runner in runners.items():
                started, cpu = time.perf_counter(), time.process_time()
                runner.push({SOURCE: table.slice(first, batch)})
                seconds[way] += time.perf_counter() - started
                busy[way] += time.process_time() - cpu
    return seconds, busy
