"""Streaming queries plain, with members carried along, and with members computed afterwards.

The comparison of LPStream (SIGMOD 2025), on Structured Streaming: *plain* is the query,
*eager* the query that carries the members of every row as one would by hand, and *replayed*
the query as it is annotated here, whose members are computed when asked for. All three have to
emit the same rows, and the latter two to name the same members.
"""

from __future__ import annotations

import random
import shutil
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

import lipstick
from benchmark_workflowgen.sessions import Sparks
from benchmark_workflowgen.streams.generated_events import (
    WORKLOADS,
    StreamQuery,
    StreamWorkload,
    events,
)
from lipstick.capture.capture import Capture
from lipstick.systems.streaming.definition import AnnotatedStream
from lipstick.systems.streaming.runs import StreamRun

DELAY = "5 seconds"
"""Of all watermarks."""

T = TypeVar("T")

_WAYS = ("plain", "eager", "replayed")


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of runs, and the number of questions.

    Attributes
    ----------
    events
        The number of events of all streams of a workload together.
    batches
        The number of files of each stream, a micro-batch each.
    repetitions
        The number of runs of each variant, in turns, after one that is not measured.
    questions
        The number of rows that are asked about one by one.
    """

    events: int
    batches: int
    repetitions: int
    questions: int


def measured(**sizes: int) -> Iterator[dict[str, Any]]:
    """Yield a row per query of every workload; see :func:`compared`."""
    folder = Path(tempfile.mkdtemp(prefix="workloads-"))
    try:
        with Sparks(None, None, "4g") as sparks:
            spark = sparks.get(2, 4)
            for name in WORKLOADS:
                for row in compared(spark, name, folder / name, Sizes(**sizes)):
                    yield {"workload": name} | row
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def compared(
    spark: SparkSession, name: str, folder: Path, sizes: Sizes
) -> Iterator[dict[str, Any]]:
    """Yield a row per query of one of `WORKLOADS`; all that is written is in a folder."""
    workload, seconds = WORKLOADS[name]
    _write(workload, folder / "in", sizes, seconds)
    with lipstick.session(spark, store=folder / "store") as ls:
        _track(ls, workload, folder / "in")
        for number, (title, query) in enumerate(workload.queries.items()):
            yield {"query": title} | _run_in_turns(ls, query, folder / str(number), sizes)


def _write(workload: StreamWorkload, folder: Path, sizes: Sizes, seconds: float) -> None:
    for seed, (name, (share, generate)) in enumerate(workload.streams.items()):
        (folder / name).mkdir(parents=True)
        count = max(int(sizes.events * share), sizes.batches)
        table = events(count, generate, seconds, seed)
        bounds = np.linspace(0, count, sizes.batches + 1).astype(int)
        for number, (start, end) in enumerate(pairwise(bounds)):
            pq.write_table(table.slice(start, end - start), folder / name / f"{number:04}.parquet")


def _track(ls: lipstick.Session, workload: StreamWorkload, folder: Path) -> None:
    for name in workload.streams:
        schema = ls.spark.read.parquet(str(folder / name)).schema
        stream = ls.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        ls.track(name, stream.parquet(str(folder / name)).withWatermark("at", DELAY), key="id")
    for name, (table, key) in workload.relations.items():
        ls.track(name, ls.spark.createDataFrame(table), key=key)


def _run_in_turns(
    ls: lipstick.Session, query: StreamQuery, folder: Path, sizes: Sizes
) -> dict[str, Any]:
    stream = ls.sql(query.plain)
    assert isinstance(stream, AnnotatedStream)
    frames: dict[str, Any] = {
        "plain": ls.spark.sql(query.plain),
        "eager": ls.spark.sql(query.eager),
        "replayed": stream,
    }
    seconds: dict[str, list[float]] = {way: [] for way in _WAYS}
    for number in range(sizes.repetitions + 1):
        shutil.rmtree(folder, ignore_errors=True)
        turn = number % len(_WAYS)
        for way in (*_WAYS[turn:], *_WAYS[:turn]):
            started = time.perf_counter()
            _run(frames[way].writeStream, folder / way)
            seconds[way].append(time.perf_counter() - started)
    plain, eager, replayed = (statistics.median(seconds[way][1:]) for way in _WAYS)
    recorded = stream.recorded(folder / "replayed" / "checkpoint")
    return {
        "plain s": round(plain, 2),
        "eager": round(eager / plain, 2),
        "replayed": round(replayed / plain, 2),
        **_answers(ls.spark, recorded, folder, sizes.questions),
        "eager bytes": _size(folder / "eager"),
        "replayed bytes": _size(folder / "replayed"),
    }


def _run(writer: Any, folder: Path) -> None:
    writer.format("parquet").option("checkpointLocation", str(folder / "checkpoint")).trigger(
        availableNow=True
    ).start(str(folder / "sink")).awaitTermination()


def _answers(
    spark: SparkSession, recorded: StreamRun, folder: Path, questions: int
) -> dict[str, Any]:
    """Hold rows and members of the ways against each other; time those computed afterwards."""
    sinks = {way: spark.read.parquet(str(folder / way / "sink")).collect() for way in _WAYS}
    names = [name for name in sinks["eager"][0].asDict() if name != "members"]
    rows = {
        way: Counter(tuple(row[n] for n in names) for row in sink) for way, sink in sinks.items()
    }
    eager: dict[tuple[Any, ...], set[str]] = {}
    for row in sinks["eager"]:
        eager.setdefault(tuple(row[name] for name in names), set()).update(row["members"])
    results = recorded.results()
    captured, capture = _timed(lambda: results.capture)
    everything, whole = _timed(partial(_lineage, capture))
    same = whole == set().union(*eager.values())
    times = []
    for chosen in random.Random(0).sample(sorted(eager, key=str), min(questions, len(eager))):
        where = [F.col(n).eqNullSafe(F.lit(v)) for n, v in zip(names, chosen, strict=True)]
        took, members = _timed(partial(_lineage, capture, reduce(Column.__and__, where)))
        times.append(took)
        same &= members == eager[chosen]
    return {
        "rows": len(sinks["plain"]),
        "same rows": rows["plain"] == rows["eager"] == rows["replayed"],
        "same members": same,
        "capture s": round(captured, 2),
        "members of all s": round(everything, 2),
        "of one s": round(statistics.median(times), 2),
    }


def _lineage(capture: Capture, where: Column | None = None) -> set[str]:
    """Return the tuples that rows were made of, as eager queries write them."""
    frames = capture.lineage(where).items()
    return {f"{name}:{key}" for name, rows in frames for key in rows.toArrow()[0].to_pylist()}


def _timed(act: Callable[[], T]) -> tuple[float, T]:
    started = time.perf_counter()
    result = act()
    return time.perf_counter() - started, result


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
