"""The experiments on chains of operators: throughput, latency, memory, storage and questions."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmark_workflowgen.harness import processor_seconds, seconds
from benchmark_workflowgen.sessions import Sparks
from lipstick.systems.streams import (
    Assertions,
    Events,
    Graph,
    Property,
    Runner,
    Stored,
    Stream,
    TotalDelay,
    ancestors,
    ancestors_frame,
    descendants,
    storage,
)
from lipstick.systems.streams.ancestors import EventRanges, walk_back
from lipstick.systems.streams.events import resolve
from lipstick.systems.streams.properties import PropertyStep
from semiring.base import Array

SOURCE = "s1"


def chain(kind: str, components: int, work: float = 0.0) -> Graph:
    """Return a source and a chain of operators, as many streams as components.

    Parameters
    ----------
    kind
        ``map``; or ``window 1000``, a time window of so many ticks and the mean of it, twice each.
    work
        Seconds of work for each event in each operator that has a function.
    """
    graph = Graph(f"{kind} {components}".replace(" ", "_"))
    stream = graph.source(SOURCE, time="ts")
    while len(graph.nodes) < components:
        name = f"s{len(graph.nodes) + 1}"
        stream = _next(graph, stream, kind, name, work)
    return graph


def _next(graph: Graph, stream: Stream, kind: str, name: str, work: float) -> Stream:
    if kind == "map":
        return stream.map(worked(work), name=name)
    windows = (node.operator.kind for node in graph.nodes.values() if node.operator is not None)
    if sum(kind == "time_window" for kind in windows) * 2 < len(graph.nodes):
        return stream.time_window(int(kind.split()[1]), name=name)
    return stream.aggregate({"v": ("mean", "v")}, name=name)


def worked(seconds: float) -> Callable[[pa.Table], pa.Table]:
    """Return a function that works for some time per event, and changes nothing."""

    def function(table: pa.Table) -> pa.Table:
        if seconds:
            time.sleep(seconds * table.num_rows)
        return table

    return function


def events(count: int, payload: int, seed: int = 0) -> pa.Table:
    """Return events, one per tick, with a value and a random-looking text of `size` bytes."""
    chance = np.random.default_rng(seed)
    columns = {"ts": pa.array(np.arange(count)), "v": pa.array(chance.random(count))}
    if payload:
        data = pa.py_buffer(chance.bytes(count * payload))
        fixed = pa.binary(payload)
        columns["payload"] = pa.FixedSizeBinaryArray.from_buffers(fixed, count, [None, data])
    return pa.table(columns)


PLAIN, STORED, FLY = "plain", "stored", "on the fly"


def measure_throughput(
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
                # Windows have no function that could do work, and one size of batches suffices.
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


class _Timed(Property):
    """A property that measures the seconds it takes per event, over all streams together."""

    def __init__(self, inner: Property) -> None:
        self.name = inner.name
        self._inner = inner
        self.seconds = 0.0

    def source(self, step: PropertyStep) -> Array:
        return self._timed(self._inner.source, step)

    def combine(self, step: PropertyStep) -> Array:
        return self._timed(self._inner.combine, step)

    def _timed(self, function: Any, step: PropertyStep) -> Array:
        started = time.perf_counter()
        values: Array = function(step)
        self.seconds += time.perf_counter() - started
        return values


def measure_latency(
    *, kinds: list[str], components: list[int], events_: int
) -> Iterator[dict[str, Any]]:
    """Yield a row for every kind and length of the chain.

    The time is that of the properties of all streams of the chain, as if none of them were there
    before the result was: the most that a result can wait.
    """
    for kind in kinds:
        for count in components:
            timed = _Timed(TotalDelay())
            runner = Runner(chain(kind, count), properties=[timed])
            table = events(events_, 0)
            waits = []
            for first in range(events_):
                timed.seconds = 0.0
                runner.push({SOURCE: table.slice(first, 1)})
                waits.append(timed.seconds)
            yield {
                "kind": kind,
                "components": count,
                "median ms": round(float(np.median(waits)) * 1e3, 3),
                "p99 ms": round(float(np.percentile(waits, 99)) * 1e3, 3),
            }


_PAGE = 4096


def measure_memory(
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


def measure_storage(
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


RESULTS = "s3"
ALL = 1_000_000
"""Results that are asked about at once."""


def measure_questions(
    *, events_: int, batches: list[int], questions: int
) -> Iterator[dict[str, Any]]:
    """Yield a row for every number of events a batch: times of questions to a store just opened."""
    for batch in batches:
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "store"
            record(store, events_, batch)
            yield {"batch": batch, **_asked(store, events_, questions)}


def record(store: Path, count: int, batch: int) -> None:
    """Record means of 20 ticks over a number of events, in batches."""
    with Assertions(store) as recorder:
        runner = Runner(chain("window 20", 3), recorders=[recorder])
        for first in range(0, count, batch):
            table = events(batch, 0, seed=first)
            shifted = table.column("ts").to_numpy() + first
            runner.push({SOURCE: table.set_column(0, "ts", [shifted])})


def _asked(store: Path, count: int, questions: int) -> dict[str, Any]:
    chance = np.random.default_rng(0)
    1e3 * seconds(lambda: ancestors(Stored(store), Events(RESULTS, 1)))  # imports what it needs
    opened = 1e3 * seconds(lambda: Stored(store))
    recording = Stored(store)
    numbers = chance.integers(1, count, questions).tolist()
    back = [
        1e3 * seconds(partial(ancestors, recording, Events(RESULTS, number))) for number in numbers
    ]
    recording = Stored(store)
    forth = [
        1e3 * seconds(partial(descendants, recording, Events(SOURCE, number))) for number in numbers
    ]
    wanted = Events(RESULTS, t=(0, ALL))
    results = min(count, ALL)
    recording = Stored(store)
    whole = processor_seconds(lambda: ancestors(recording, wanted))
    each = processor_seconds(lambda: _ranges(recording, wanted))
    return {
        "open ms": round(opened, 1),
        "ancestors ms": round(float(np.median(back)), 1),
        "most": round(max(back), 1),
        "descendants ms": round(float(np.median(forth)), 1),
        "most ": round(max(forth), 1),
        "results/s together": round(results / whole),
        "results/s each": round(results / each),
    }


def _ranges(recording: Stored, wanted: Events) -> None:
    """Compute the ancestors of each result as ranges of numbers, as a Spark job does."""
    keys = resolve(recording, wanted)
    walk_back(recording, wanted.sid, EventRanges.of(keys, np.arange(len(keys), dtype=np.int64)))


def measure_all_ancestors(
    *, events_: int, batch: int, cores: list[int]
) -> Iterator[dict[str, Any]]:
    """Yield a row per number of cores, for a job after an unmeasured one."""
    with tempfile.TemporaryDirectory() as folder, Sparks(None, None, "2g") as sparks:
        store = Path(folder) / "store"
        record(store, events_, batch)
        for number in cores:
            frame = ancestors_frame(sparks.get(number, None), Stored(store), RESULTS)
            write = frame.write.format("noop").mode("overwrite").save
            seconds(write)
            took = seconds(write)
            yield {
                "cores": number,
                "results": events_,
                "s": round(took, 2),
                "results/s and core": round(events_ / took / number),
            }
