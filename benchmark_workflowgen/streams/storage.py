"""Storage: bytes that assertions take, optimised and full, beside the formula of the thesis."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmark_workflowgen.streams.chains import SOURCE, chain, events
from lipstick.systems.streams import Assertions, Runner, Stored, storage


def measured(
    *, events_: int, components: list[int], payloads: list[int], batch: int
) -> Iterator[dict[str, Any]]:
    """Yield a row for every payload and length of the chain."""
    for payload in payloads:
        for count in components:
            bytes_of = {
                full: _stored(count, payload, events_, batch, full=full) for full in (False, True)
            }
            source = bytes_of[False][SOURCE]
            between = sum(bytes_of[False].values()) - source
            key = between / (count - 1) / events_
            formula = storage(events_, 1, count - 1, key, source / events_ - key)
            optimised, full = (sum(each.values()) for each in bytes_of.values())
            yield {
                "payload": payload,
                "components": count,
                "key bytes": round(key, 2),
                "optimised MB": round(optimised / 1e6, 2),
                "full MB": round(full / 1e6, 2),
                "saved": round(1 - optimised / full, 3),
                "by formula": round(formula.saved, 3),
            }


def _stored(
    components: int, payload: int, count: int, batch: int, *, full: bool
) -> dict[str, float]:
    """Return the bytes of every stream of a run."""
    table = events(count, payload)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        with Assertions(store, full=full) as recorder:
            runner = Runner(chain("map", components), recorders=[recorder])
            for first in range(0, count, batch):
                runner.push({SOURCE: table.slice(first, batch)})
        recording = Stored(store)
        return {sid: recording.bytes_of(sid) for sid in recording.graph.recorded}
