"""Shapes of ordinary streaming queries, and micro-batches with late rows to run them over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Rows = Sequence[tuple[Any, ...]]

READINGS = "id BIGINT, ts TIMESTAMP, sensor STRING, v DOUBLE"
ALERTS = "aid BIGINT, at TIMESTAMP, sensor STRING, level INT"
SENSORS = "sensor STRING, place STRING, top DOUBLE"

# Minutes after midnight; some are late by more than the watermark's ten minutes.
READ: Sequence[Rows] = [
    [(1, 1, "a", 1.0), (2, 5, "b", 2.0), (3, 12, "a", 3.5), (4, 5, "b", 2.0)],
    [(5, 3, "a", 4.0), (6, 40, "b", 5.0), (7, 17, None, 6.0)],
    [(8, 2, "a", 6.0), (9, 25, "b", 7.0), (10, 31, "a", 7.5), (11, 29, "c", 1.0)],
    [(12, 90, "a", 8.0), (13, 24, "b", 1.0), (14, 41, "c", 9.0), (15, 35, "a", 0.5)],
    [(16, 60, "c", 2.0), (17, 130, "b", 3.0), (18, 85, "a", 4.0)],
]
ALERTED: Sequence[Rows] = [
    [(1, 2, "a", 1), (2, 14, "a", 2)],
    [(3, 41, "b", 1), (4, 1, "b", 3)],
    [],
    [(5, 88, "a", 2), (6, 30, "c", 1), (7, 42, "c", 2)],
    [(8, 126, "b", 3)],
]
PLACES: Rows = [("a", "roof", 5.0), ("b", "cellar", 2.5), ("d", "yard", 1.0)]

GONE: Mapping[str, Sequence[Sequence[int]]] = {
    # By relation the keys of what is deleted, in three ways: one row, the latest, and several.
    "readings": ([3], [12, 17], [1, 6, 9, 10]),
    "alerts": ([2], [5], [1, 3]),
}


@dataclass(frozen=True, slots=True)
class Dropping:
    """A view of the rows of a query without duplicates."""

    name: str
    sql: str
    keys: tuple[str, ...]
    within: bool = False
    """For as long as the watermark has not passed them and the delay."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A streaming query, and the columns by which a row is told from an earlier one of it."""

    name: str
    sql: str
    mode: str = "append"
    keys: int = 0
    """How many columns, from the left, say which row an update replaces."""
    waiting: bool = False
    """All files are there from the beginning, so that no batch is without data but the last."""
    delay: str = "10 minutes"
    """Of the watermarks."""
    distinct: tuple[str, ...] = ()
    """Columns by which the readings are without duplicates."""
    within: bool = False
    """They are so within the watermark."""
    views: tuple[Dropping, ...] = ()
    """What the query reads beside the streams."""

    @property
    def text(self) -> str:
        """The query with those of its views."""
        return " ".join([self.sql, *(view.sql for view in self.views)])


_TEN = "window(ts, '10 minutes')"
_COUNTED = "count(*) AS n, sum(v) AS total"
_NEAR = (
    "r.sensor = a.sensor AND a.at BETWEEN r.ts - INTERVAL 5 MINUTES AND r.ts + INTERVAL 10 MINUTES"
)

SHAPES = [
    Shape("all columns", "SELECT * FROM readings"),
    Shape("filter", "SELECT id, v * 2 AS w FROM readings WHERE v > 2 AND sensor <> 'c'"),
    Shape("case", "SELECT id, CASE WHEN v > 3 THEN 'high' ELSE sensor END AS k FROM readings"),
    Shape("explode", "SELECT id, part FROM readings LATERAL VIEW explode(array(v, -v)) AS part"),
    Shape(
        "union",
        "SELECT id, ts FROM readings WHERE v > 3 UNION ALL SELECT aid, at FROM alerts",
    ),
    Shape(
        "join with a relation",
        "SELECT r.id, s.place FROM readings r JOIN sensors s ON r.sensor = s.sensor",
    ),
    Shape(
        "left join with a relation",
        "SELECT r.id, s.place FROM readings r LEFT JOIN sensors s USING (sensor)",
    ),
    Shape(
        "semi join with a relation",
        "SELECT id FROM readings r WHERE EXISTS (SELECT 1 FROM sensors s WHERE s.sensor = "
        "r.sensor AND r.v > s.top)",
    ),
    Shape(
        "anti join with a relation",
        "SELECT id FROM readings r LEFT ANTI JOIN sensors s ON s.sensor = r.sensor",
    ),
    Shape(
        "relation on the left",
        "SELECT s.place, r.id FROM sensors s RIGHT JOIN readings r ON s.sensor = r.sensor",
    ),
    Shape("tumbling", f"SELECT window, {_COUNTED} FROM readings GROUP BY {_TEN}"),
    Shape(
        "tumbling, waiting",
        f"SELECT window, {_COUNTED} FROM readings GROUP BY {_TEN}",
        waiting=True,
    ),
    Shape(
        "tumbling by key",
        "SELECT window.end, sensor, avg(v) AS mean, max(id) AS last FROM readings "
        f"GROUP BY {_TEN}, sensor",
    ),
    Shape(
        "sliding",
        f"SELECT window.start, window.end, {_COUNTED} FROM readings "
        "GROUP BY window(ts, '20 minutes', '10 minutes')",
    ),
    Shape(
        "sliding, waiting",
        "SELECT window.start, sensor, min(v) AS least FROM readings "
        "GROUP BY window(ts, '30 minutes', '10 minutes'), sensor",
        waiting=True,
    ),
    Shape(
        "shifted",
        f"SELECT window.start, {_COUNTED} FROM readings "
        "GROUP BY window(ts, '10 minutes', '10 minutes', '3 minutes')",
    ),
    Shape(
        "having", f"SELECT window.end, {_COUNTED} FROM readings GROUP BY {_TEN} HAVING count(*) > 1"
    ),
    Shape(
        "filter below",
        f"SELECT window.end, {_COUNTED} FROM readings WHERE v < 8 AND sensor IS NOT NULL "
        f"GROUP BY {_TEN}",
    ),
    Shape(
        "filter above",
        "SELECT * FROM (SELECT window.end AS w, sensor, count(*) AS n FROM readings "
        f"GROUP BY {_TEN}, sensor) WHERE sensor = 'a'",
    ),
    Shape("by time", f"SELECT ts, {_COUNTED} FROM readings GROUP BY ts"),
    Shape("distinct", "SELECT DISTINCT ts, sensor FROM readings"),
    Shape(
        "renamed time",
        "SELECT window.end, count(*) AS n FROM (SELECT ts AS t, v FROM readings WHERE v > 1) "
        "GROUP BY window(t, '15 minutes')",
    ),
    Shape(
        "join, then windows",
        f"SELECT window.end, place, {_COUNTED} FROM readings JOIN sensors USING (sensor) "
        f"GROUP BY {_TEN}, place",
    ),
    Shape(
        "union, then windows",
        "SELECT window.end, count(*) AS n FROM (SELECT ts, v FROM readings UNION ALL "
        "SELECT at, level FROM alerts) GROUP BY window(ts, '10 minutes')",
    ),
    Shape(
        "windows of windows",
        "SELECT window.end, sum(n) AS total, count(*) AS parts FROM (SELECT window AS w, sensor, "
        f"count(*) AS n FROM readings GROUP BY {_TEN}, sensor) GROUP BY window(w, '30 minutes')",
    ),
    Shape("first rows", "SELECT * FROM readings", distinct=("sensor", "v")),
    Shape("first rows by time", "SELECT id FROM readings", distinct=("sensor", "ts")),
    Shape("first rows, no time", "SELECT id, v FROM readings", distinct=("sensor",)),
    Shape(
        "first rows, then windows",
        f"SELECT window.end, {_COUNTED} FROM readings WHERE v > 1 GROUP BY {_TEN}",
        distinct=("sensor", "v"),
        waiting=True,
    ),
    Shape(
        "first rows joined",
        "SELECT r.id, s.place, r.ts FROM readings r JOIN sensors s ON r.sensor = s.sensor",
        distinct=("sensor", "v"),
    ),
    Shape("first rows within", "SELECT * FROM readings", distinct=("sensor",), within=True),
    Shape(
        "first rows within, waiting",
        "SELECT id, k FROM firsts",
        views=(Dropping("firsts", "SELECT id, ts, v > 3 AS k FROM readings", ("k",), True),),
        waiting=True,
    ),
    Shape(
        "first rows within, a short delay",
        "SELECT id, sensor, ts FROM firsts WHERE v < 9",
        delay="1 minute",
        views=(Dropping("firsts", "SELECT * FROM readings WHERE v > 0.5", ("sensor",), True),),
    ),
    Shape(
        "first rows within, then windows",
        f"SELECT window.end, {_COUNTED} FROM firsts GROUP BY {_TEN}",
        views=(Dropping("firsts", "SELECT ts, sensor, v FROM readings", ("sensor",), True),),
    ),
    Shape(
        "first of filtered rows",
        "SELECT id, sensor FROM firsts",
        views=(Dropping("firsts", "SELECT * FROM readings WHERE v > 3", ("sensor",)),),
    ),
    Shape(
        "first of computed rows, by time",
        "SELECT id, t, high FROM firsts WHERE id <> 7",
        views=(
            Dropping("firsts", "SELECT id, ts AS t, v > 3 AS high FROM readings", ("t", "high")),
        ),
    ),
    Shape(
        "first of rows joined with a relation",
        "SELECT place, v, ts FROM firsts",
        views=(
            Dropping(
                "firsts",
                "SELECT r.*, s.place FROM readings r JOIN sensors s USING (sensor)",
                ("place", "v"),
            ),
        ),
    ),
    Shape(
        "first of rows found in a relation, then windows",
        f"SELECT window.end, {_COUNTED} FROM firsts GROUP BY {_TEN}",
        views=(
            Dropping(
                "firsts",
                "SELECT * FROM readings r LEFT SEMI JOIN sensors s ON s.sensor = r.sensor",
                ("sensor", "v"),
            ),
        ),
        waiting=True,
    ),
    Shape(
        "first rows of a union",
        "SELECT * FROM firsts",
        views=(
            Dropping(
                "firsts",
                "SELECT id, ts, sensor FROM readings UNION ALL "
                "SELECT aid, at, sensor FROM alerts WHERE aid > 1",
                ("sensor", "id"),
            ),
        ),
    ),
    Shape(
        "first rows of first rows",
        "SELECT id, v FROM seconds",
        views=(
            Dropping("firsts", "SELECT id, v, sensor FROM readings", ("sensor", "v")),
            Dropping("seconds", "SELECT * FROM firsts WHERE v > 1", ("v",)),
        ),
    ),
    Shape(
        "first rows joined with a stream",
        "SELECT f.id, a.aid FROM firsts f JOIN alerts a ON f.sensor = a.sensor "
        "AND a.at BETWEEN f.ts AND f.ts + INTERVAL 10 MINUTES",
        views=(Dropping("firsts", "SELECT id, ts, sensor FROM readings", ("sensor", "ts")),),
    ),
    Shape(
        "first of joined rows",
        "SELECT sensor, level FROM firsts",
        views=(
            Dropping(
                "firsts",
                f"SELECT r.sensor, a.level, r.id FROM readings r JOIN alerts a ON {_NEAR}",
                ("sensor", "level"),
            ),
        ),
    ),
    Shape(
        "first of joined rows by time, then windows, waiting",
        f"SELECT window.end, sensor, count(*) AS n FROM firsts GROUP BY {_TEN}, sensor",
        views=(
            Dropping(
                "firsts",
                f"SELECT r.sensor, r.ts FROM readings r JOIN alerts a ON {_NEAR}",
                ("sensor", "ts"),
            ),
        ),
        waiting=True,
    ),
    Shape(
        "sessions",
        f"SELECT session_window.start, session_window.end, sensor, {_COUNTED} FROM readings "
        "GROUP BY session_window(ts, '3 minutes'), sensor",
        delay="70 minutes",
    ),
    Shape(
        "sessions, complete",
        f"SELECT session_window, sensor, {_COUNTED} FROM readings "
        "GROUP BY session_window(ts, '5 minutes'), sensor",
        "complete",
    ),
    Shape("update", f"SELECT window, {_COUNTED} FROM readings GROUP BY {_TEN}", "update", 1),
    Shape(
        "update, waiting",
        f"SELECT window, {_COUNTED} FROM readings GROUP BY {_TEN}",
        "update",
        1,
        True,
    ),
    Shape("update by key", f"SELECT sensor, {_COUNTED} FROM readings GROUP BY sensor", "update", 1),
    Shape("update of all", f"SELECT {_COUNTED} FROM readings", "update", 0),
    Shape(
        "update by window and key",
        "SELECT window.start, sensor, max(v) AS top FROM readings "
        "GROUP BY window(ts, '20 minutes', '10 minutes'), sensor",
        "update",
        2,
    ),
    Shape(
        "update by the end of windows",
        f"SELECT w, {_COUNTED} FROM (SELECT {_TEN}.end AS w, v FROM readings) GROUP BY w",
        "update",
        1,
    ),
    Shape(
        "update by part of the time",
        f"SELECT hour(ts) AS h, {_COUNTED} FROM readings GROUP BY hour(ts)",
        "update",
        1,
    ),
    Shape("update, distinct", "SELECT DISTINCT sensor FROM readings", "update", 1),
    Shape("complete", f"SELECT window, {_COUNTED} FROM readings GROUP BY {_TEN}", "complete"),
    Shape(
        "complete by key",
        f"SELECT sensor, {_COUNTED} FROM readings GROUP BY sensor ORDER BY total DESC",
        "complete",
    ),
    Shape(
        "complete, first",
        f"SELECT sensor, {_COUNTED} FROM readings GROUP BY sensor "
        "ORDER BY total DESC, sensor LIMIT 2",
        "complete",
    ),
    Shape("complete of all", f"SELECT {_COUNTED} FROM readings WHERE v > 1", "complete"),
    Shape(
        "join of streams",
        "SELECT r.id, a.aid FROM readings r JOIN alerts a ON r.sensor = a.sensor",
    ),
    Shape(
        "join of streams in time",
        "SELECT r.id, a.aid, r.ts FROM readings r JOIN alerts a ON r.sensor = a.sensor "
        "AND a.at BETWEEN r.ts AND r.ts + INTERVAL 10 MINUTES",
    ),
    Shape(
        "join of streams in time, waiting",
        "SELECT r.id, a.aid, a.level FROM readings r JOIN alerts a ON r.sensor = a.sensor "
        "AND a.at > r.ts - INTERVAL 5 MINUTES AND a.at < r.ts + INTERVAL 5 MINUTES",
        waiting=True,
    ),
    Shape(
        "join of filtered streams",
        "SELECT r.id, a.aid FROM readings r, alerts a WHERE r.sensor = a.sensor AND r.v > 2 "
        "AND a.level < 3 AND a.at >= r.ts AND a.at <= r.ts + INTERVAL 1 HOUR",
    ),
    Shape(
        "left join of streams",
        "SELECT r.id, a.aid, r.ts FROM readings r LEFT JOIN alerts a ON r.sensor = a.sensor "
        "AND a.at BETWEEN r.ts AND r.ts + INTERVAL 10 MINUTES",
    ),
    Shape(
        "right join of streams, waiting",
        "SELECT r.id, a.aid FROM readings r RIGHT JOIN alerts a ON r.sensor = a.sensor "
        "AND a.at > r.ts - INTERVAL 5 MINUTES AND a.at < r.ts + INTERVAL 5 MINUTES",
        waiting=True,
    ),
    Shape(
        "full join of streams",
        "SELECT r.id, a.aid, a.at FROM readings r FULL JOIN alerts a ON r.sensor = a.sensor "
        "AND r.ts >= a.at - INTERVAL 20 MINUTES AND r.ts - INTERVAL 1 MINUTE <= a.at",
    ),
    Shape(
        "left join of streams at one time",
        "SELECT r.id, a.aid FROM readings r LEFT JOIN alerts a ON r.ts = a.at",
    ),
    Shape(
        "semi join of streams",
        "SELECT r.id, r.ts FROM readings r LEFT SEMI JOIN alerts a ON r.sensor = a.sensor "
        "AND a.at BETWEEN r.ts - INTERVAL 5 MINUTES AND r.ts + INTERVAL 10 MINUTES",
    ),
    Shape(
        "left join of streams with a condition on the left",
        "SELECT r.id, a.aid, r.ts FROM readings r LEFT JOIN alerts a ON r.sensor = a.sensor "
        "AND r.sensor <> 'c' AND a.at BETWEEN r.ts AND r.ts + INTERVAL 10 MINUTES",
    ),
    Shape(
        "join of streams, then windows",
        f"SELECT window.end, {_COUNTED} FROM (SELECT r.ts, r.v FROM readings r JOIN alerts a ON "
        f"{_NEAR}) GROUP BY {_TEN}",
    ),
    Shape(
        "join of streams, then windows by the other time, waiting",
        "SELECT window.end, sensor, count(*) AS n FROM (SELECT a.at, a.sensor FROM readings r JOIN "
        f"alerts a ON {_NEAR}) GROUP BY window(at, '10 minutes'), sensor",
        waiting=True,
    ),
    Shape(
        "join of streams without bounds, then windows",
        f"SELECT window.end, {_COUNTED} FROM (SELECT r.ts, r.v FROM readings r JOIN alerts a ON "
        f"r.sensor = a.sensor) GROUP BY {_TEN}",
    ),
    Shape(
        "join of streams at one time, then by it",
        "SELECT ts, count(*) AS n FROM (SELECT r.ts FROM readings r JOIN alerts a ON r.ts = a.at) "
        "GROUP BY ts",
        delay="3 minutes",
    ),
    Shape(
        "join of three streams",
        "SELECT r.id, a.aid, s.id AS other FROM readings r JOIN alerts a ON "
        f"{_NEAR} JOIN readings s ON s.sensor = a.sensor AND s.id <> r.id "
        "AND s.ts BETWEEN a.at - INTERVAL 20 MINUTES AND a.at + INTERVAL 5 MINUTES",
    ),
    Shape(
        "left join of streams, then windows",
        f"SELECT window.end, {_COUNTED}, count(aid) AS met FROM (SELECT r.ts, r.v, a.aid FROM "
        f"readings r LEFT JOIN alerts a ON {_NEAR}) GROUP BY {_TEN}",
    ),
    Shape(
        "semi join of streams, then windows, waiting",
        f"SELECT window.end, {_COUNTED} FROM (SELECT r.ts, r.v FROM readings r LEFT SEMI JOIN "
        f"alerts a ON {_NEAR}) GROUP BY {_TEN}",
        waiting=True,
    ),
]
