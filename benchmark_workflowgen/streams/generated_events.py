"""Events in the form of four benchmarks of streams, generated.

Linear Road (Arasu et al., VLDB 2004), the advertisements of Yahoo's benchmark (Chintapalli et al.,
IPDPSW 2016), the auctions of Nexmark (Tucker et al., 2004), and the taxi rides of the challenge of
DEBS 2015: their relations and the queries that the literature asks, with columns that no query
reads left out. One event in a hundred comes too late.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

MICROSECONDS = 1_000_000
LATE = 100
"""One of so many events comes late."""
BEHIND = 3_600
"""Late events are of so many seconds before."""

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
    """Streams, relations that are none, and queries over them.

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
    """So many events over so many seconds, in the order in which they come.

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
    """Reports of cars: in turns, every 30 seconds; one car in fifty stands."""
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
    """Fifteen to an auction; half of all bids are for a few that are hot."""
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
