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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

import lipstick
from benchmark_workflowgen.harness import in_turns, timed
from benchmark_workflowgen.sessions import Sparks
from lipstick.capture.capture import Capture
from lipstick.systems.streaming.definition import AnnotatedStream
from lipstick.systems.streaming.runs import StreamRun

MICROSECONDS = 1_000_000
LATE = 100
"""One event in this number is late."""
BEHIND = 3_600
"""Delay of late events in seconds."""

Columns = dict[str, np.ndarray]
Generate = Callable[[int, np.random.Generator], Columns]


@dataclass(frozen=True, slots=True)
class StreamQuery:
    """A query over streams, in its plain form and in a hand-written form that collects members.

    Attributes
    ----------
    sql
        The text of the query, where `{members}` is replaced by nothing, or by a column of
        `members`.
    members
        An array of `relation:key`: the members of a row.
    """

    sql: str
    members: str

    @property
    def plain(self) -> str:
        """The query itself."""
        return self.sql.format(members="")

    @property
    def eager(self) -> str:
        """The query with a column of its members."""
        return self.sql.format(members=f", {self.members} AS members")


@dataclass(frozen=True, slots=True)
class StreamWorkload:
    """Streams, static relations, and queries over them.

    Attributes
    ----------
    streams
        By name, how many of an event of the workload are of this stream, and how they are made.
        All have `id`, and `at` in microseconds.
    relations
        By name, their rows and their key.
    """

    streams: Mapping[str, tuple[float, Generate]]
    queries: Mapping[str, StreamQuery]
    relations: Mapping[str, tuple[pa.Table, str]] = field(default_factory=dict)


def events(count: int, generate: Generate, seconds: float, seed: int) -> pa.Table:
    """Return a number of events over some seconds, in the order of arrival.

    Parameters
    ----------
    generate
        Makes the columns beside `id` and `at`.
    """
    chance = np.random.default_rng(seed)
    ids = np.arange(count)
    times = np.sort(chance.integers(0, int(seconds * MICROSECONDS), count))
    late = np.flatnonzero(chance.integers(0, LATE, count) == 0)
    times[late] -= BEHIND * MICROSECONDS
    columns = generate(count, chance)
    return pa.table({"id": ids, "at": pa.array(times, pa.timestamp("us", "UTC")), **columns})


def _positions(count: int, chance: np.random.Generator) -> Columns:
    """Return reports of cars: in turns, every 30 seconds; one car in fifty stands."""
    cars = max(count // 60, 1)
    car = np.arange(count) % cars
    stands = car % 50 == 0
    place = np.where(stands, car * 97, np.arange(count) // cars * 800 + car * 97) % 528_000
    return {
        "car": car,
        "speed": np.where(stands, 0, chance.integers(20, 100, count)),
        "direction": car % 2,
        "segment": place // 5_280,
        "place": place,
    }


def _advertised(count: int, chance: np.random.Generator) -> Columns:
    return {
        "ad": chance.integers(0, 1_000, count),
        "kind": np.array(["view", "click", "purchase"])[chance.integers(0, 3, count)],
    }


def _persons(count: int, chance: np.random.Generator) -> Columns:
    states = np.array(["OR", "ID", "CA", "WA", "AZ", "NV"])
    return {"state": states[chance.integers(0, len(states), count)]}


def _auctions(count: int, chance: np.random.Generator) -> Columns:
    """Return auctions, three consecutive ones of each person, as in Nexmark."""
    return {"seller": np.arange(count) // 3, "category": chance.integers(0, 10, count)}


def _bids(count: int, chance: np.random.Generator) -> Columns:
    """Return bids, fifteen per auction; half of all bids are for a few popular ones."""
    newest = np.arange(count) // 15
    hot = chance.integers(0, 2, count) == 0
    auction = np.where(hot, newest // 100 * 100, newest - chance.integers(0, 100, count) % 100)
    return {"auction": np.maximum(auction, 0), "price": chance.integers(100, 100_000, count)}


def _rides(count: int, chance: np.random.Generator) -> Columns:
    """Return rides between cells of a grid, where cells near the middle are more frequent; fares in
    cents.
    """
    cells = np.clip(chance.normal(10, 3, (2, count)), 0, 19).astype(np.int64)
    ends = np.clip(chance.normal(10, 3, (2, count)), 0, 19).astype(np.int64)
    return {
        "pickup": cells[0] * 20 + cells[1],
        "dropoff": ends[0] * 20 + ends[1],
        "fare": chance.integers(300, 6_000, count),
        "tip": chance.integers(0, 1_000, count),
    }


def _of(relation: str, key: str = "id") -> str:
    return f"concat('{relation}:', {key})"


LINEAR_ROAD = StreamWorkload(
    {"positions": (1.0, _positions)},
    {
        "speed of segments": StreamQuery(
            "SELECT window.end, direction, segment, avg(speed) AS speed{members} FROM positions "
            "GROUP BY window(at, '5 minutes', '1 minute'), direction, segment",
            f"collect_list({_of('positions')})",
        ),
        "accidents": StreamQuery(
            "SELECT window.end, car, segment, place, count(*) AS reports{members} FROM positions "
            "WHERE speed = 0 GROUP BY window(at, '2 minutes'), car, segment, place "
            "HAVING count(*) >= 4",
            f"collect_list({_of('positions')})",
        ),
    },
)

YAHOO = StreamWorkload(
    {"events": (1.0, _advertised)},
    {
        "views of campaigns": StreamQuery(
            "SELECT window.end, c.campaign, count(*) AS views{members} FROM events e "
            "JOIN campaigns c ON e.ad = c.ad WHERE e.kind = 'view' "
            "GROUP BY window(e.at, '10 seconds'), c.campaign",
            f"flatten(collect_list(array({_of('events', 'e.id')}, {_of('campaigns', 'c.ad')})))",
        )
    },
    {
        "campaigns": (
            pa.table({"ad": np.arange(1_000), "campaign": np.arange(1_000) // 10}),
            "ad",
        )
    },
)

NEXMARK = StreamWorkload(
    {"bids": (46 / 50, _bids), "auctions": (3 / 50, _auctions), "persons": (1 / 50, _persons)},
    {
        "1, currency": StreamQuery(
            "SELECT id, auction, price * 89 AS price{members} FROM bids", f"array({_of('bids')})"
        ),
        "3, local items": StreamQuery(
            "SELECT p.id AS person, p.state, a.id AS auction{members} FROM auctions a "
            "JOIN persons p ON a.seller = p.id WHERE a.category = 1 AND p.state IN ('OR', 'ID')",
            f"array({_of('auctions', 'a.id')}, {_of('persons', 'p.id')})",
        ),
        "5, hot items": StreamQuery(
            "SELECT window.end, auction, count(*) AS bids{members} FROM bids "
            "GROUP BY window(at, '10 seconds', '5 seconds'), auction HAVING count(*) > 5",
            f"collect_list({_of('bids')})",
        ),
        "7, highest bid": StreamQuery(
            "SELECT window.end, max(price) AS price{members} FROM bids "
            "GROUP BY window(at, '10 seconds')",
            f"collect_list({_of('bids')})",
        ),
        "8, new sellers": StreamQuery(
            "SELECT p.id AS person, a.id AS auction{members} FROM persons p JOIN auctions a "
            "ON p.id = a.seller AND a.at BETWEEN p.at AND p.at + INTERVAL 10 SECONDS",
            f"array({_of('persons', 'p.id')}, {_of('auctions', 'a.id')})",
        ),
    },
)

TAXI = StreamWorkload(
    {"rides": (1.0, _rides)},
    {
        "frequent routes": StreamQuery(
            "SELECT window.end, pickup, dropoff, count(*) AS rides{members} FROM rides "
            "GROUP BY window(at, '30 minutes', '15 minutes'), pickup, dropoff HAVING count(*) > 3",
            f"collect_list({_of('rides')})",
        ),
        "profit of areas": StreamQuery(
            "SELECT window.end, pickup, avg(fare + tip) AS profit{members} FROM rides "
            "GROUP BY window(at, '15 minutes'), pickup",
            f"collect_list({_of('rides')})",
        ),
    },
)

WORKLOADS: Mapping[str, tuple[StreamWorkload, float]] = {
    "Linear Road": (LINEAR_ROAD, 1_800),
    "Yahoo": (YAHOO, 120),
    "Nexmark": (NEXMARK, 120),
    "taxi rides": (TAXI, 7_200),
}
"""Each with the seconds its events are of."""


DELAY = "5 seconds"
"""Of all watermarks."""

T = TypeVar("T")

_WAYS = ("plain", "eager", "replayed")


@dataclass(frozen=True, slots=True)
class Sizes:
    """The queries, the sizes of runs, and the number of questions.

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
    queries
        The titles of the queries that are run, all of a workload by default.
    """

    events: int
    batches: int
    repetitions: int
    questions: int
    queries: Sequence[str] = ()


def measured(**sizes: Any) -> Iterator[dict[str, Any]]:
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
    chosen = sizes.queries or workload.queries
    queries = {title: query for title, query in workload.queries.items() if title in chosen}
    if not queries:
        return
    _write(workload, folder / "in", sizes, seconds)
    with lipstick.session(spark, store=folder / "store") as ls:
        _track(ls, workload, folder / "in")
        for number, (title, query) in enumerate(queries.items()):
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

    def run(way: str, number: int) -> None:
        _run(frames[way].writeStream, folder / str(number) / way)

    times = in_turns({way: partial(run, way) for way in _WAYS}, sizes.repetitions)
    plain, eager, replayed = (statistics.median(times[way]) for way in _WAYS)
    folder = folder / str(sizes.repetitions)
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
    """Compare rows and members of the variants, and time the ones computed afterwards."""
    written = {way: spark.read.parquet(str(folder / way / "sink")) for way in _WAYS}
    sinks = {way: frame.collect() for way, frame in written.items()}
    names = written["plain"].columns
    rows = {
        way: Counter(tuple(row[n] for n in names) for row in sink) for way, sink in sinks.items()
    }
    eager: dict[tuple[Any, ...], set[str]] = {}
    for row in sinks["eager"]:
        eager.setdefault(tuple(row[name] for name in names), set()).update(row["members"])
    results = recorded.results()
    captured, capture = timed(lambda: results.capture)
    everything, whole = timed(partial(_lineage, capture))
    same = whole == set().union(*eager.values())
    times = []
    for chosen in random.Random(0).sample(sorted(eager, key=str), min(questions, len(eager))):
        where = [F.col(n).eqNullSafe(F.lit(v)) for n, v in zip(names, chosen, strict=True)]
        took, members = timed(partial(_lineage, capture, reduce(Column.__and__, where)))
        times.append(took)
        same &= members == eager[chosen]
    return {
        "rows": len(sinks["plain"]),
        "same rows": rows["plain"] == rows["eager"] == rows["replayed"],
        "same members": same,
        "capture s": round(captured, 2),
        "members of all s": round(everything, 2),
        "of one s": round(statistics.median(times), 2) if times else None,
    }


def _lineage(capture: Capture, where: Column | None = None) -> set[str]:
    """Return the tuples behind rows, as written by eager queries."""
    frames = capture.lineage(where).items()
    return {f"{name}:{key}" for name, rows in frames for key in rows.toArrow()[0].to_pylist()}


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
