"""Streaming queries over recorded rows: which conditions are added, and what is refused."""

from __future__ import annotations

import re

import pytest

from rewriter.algebra import AntiJoin, Filter, walk
from rewriter.algebra.rendering import render
from rewriter.bind import Environment, bind_query
from rewriter.bind.catalog import (
    Deduplication,
    EventTimeColumn,
    MemoryCatalog,
    TrackedRelation,
    ViewText,
)
from rewriter.errors import UnsupportedError
from rewriter.streaming import Emission, OutputMode, Reading, Streamed, as_recorded

RELATIONS = (
    TrackedRelation("events", ("id", "ts", "k", "v")),
    TrackedRelation("alerts", ("id", "ts", "k")),
    TrackedRelation("plain", ("id", "k", "v")),
    TrackedRelation("places", ("k", "place")),
)
CATALOG = MemoryCatalog(RELATIONS)
STREAMS = {
    "events": Streamed("ts", "_batch", "_late", (), "_row", delay=1),
    "alerts": Streamed("ts", "_batch", "_late", (), "_row"),
    "plain": Streamed(None, "_batch", "_late"),
}
ALL = Emission(70)
TEN = "window(ts, '10 minutes')"


def read(sql: str, mode: str = "append", emission: Emission = ALL) -> Reading:
    return as_recorded(
        bind_query(sql, Environment(CATALOG)).root, STREAMS, OutputMode(mode), emission, sql
    )


def filters(sql: str, mode: str = "append", emission: Emission = ALL) -> list[str]:
    """The conditions of a query over recorded rows, from the bottom up, without numbers."""
    root = read(sql, mode, emission).root
    texts = [line.strip() for line in render(root).splitlines()]
    found = [text.removeprefix("Filter: ") for text in texts if text.startswith("Filter: ")]
    assert len(found) == sum(isinstance(operator, Filter) for operator in walk(root))
    found = [text.replace("`", "") for text in reversed(found)]
    return [re.sub(r"_stream_(\w+)_\d+", r"\1", text) for text in found]


LATE = "NOT (window.end <= late) IS TRUE"


def test_groups_of_windows_are_less_late_rows_and_passed() -> None:
    sql = f"SELECT window, count(*) FROM events GROUP BY {TEN}"
    assert filters(sql) == [LATE, "window.end <= TIMESTAMP_MILLIS(70)"]
    assert filters(sql, "update") == [LATE]
    assert filters(sql, "complete") == []
    assert read(sql).by_time
    assert not read(sql, "complete").by_time


def test_rows_of_one_batch_are_what_it_emits() -> None:
    """In append the windows passed since; in update the groups with a row of it."""
    sql = f"SELECT window, count(*) FROM events GROUP BY {TEN}"
    assert filters(sql, emission=Emission(70, 50, 3)) == [
        LATE,
        "window.end <= TIMESTAMP_MILLIS(70)",
        "NOT (window.end <= TIMESTAMP_MILLIS(50))",
    ]
    assert filters(sql, "update", Emission(70, 50, 3)) == [LATE, "last = 3"]
    assert filters("SELECT count(*) FROM events", "update", Emission(70, 50, 3)) == []


def test_only_a_column_that_names_the_event_time_has_its_watermark() -> None:
    renamed = "SELECT t, count(*) FROM (SELECT ts AS t FROM events) GROUP BY t"
    assert filters(renamed, "update") == ["NOT (t <= late) IS TRUE"]
    moved = "SELECT t, count(*) FROM (SELECT ts + INTERVAL 0 HOURS AS t FROM events) GROUP BY t"
    assert filters(moved, "update") == []
    assert filters("SELECT count(*) FROM plain", "update") == []


def test_a_join_of_streams_drops_late_rows_by_times_that_are_read() -> None:
    """Spark prunes a column that nothing reads, and then drops nothing by it."""
    joined = "FROM events e JOIN alerts a ON e.k = a.k"
    assert filters(f"SELECT e.id {joined}") == []
    assert len(filters(f"SELECT e.id, a.ts {joined}")) == 1
    assert len(filters(f"SELECT e.id {joined} AND a.ts BETWEEN e.ts AND e.ts")) == 2


def test_windows_of_windows_are_late_once() -> None:
    inner = f"SELECT window AS w, k, count(*) AS n FROM events GROUP BY {TEN}, k"
    sql = f"SELECT window, sum(n) FROM ({inner}) GROUP BY window(w, '30 minutes')"
    assert [text.count("late") for text in filters(sql)] == [1, 0, 0]


def test_rows_of_one_batch_are_stateless_or_not() -> None:
    assert read("SELECT e.id, p.place FROM events e JOIN places p ON e.k = p.k").stateless
    assert not read("SELECT e.id FROM events e JOIN alerts a ON e.k = a.k").stateless
    sql = f"SELECT window, count(*) FROM events GROUP BY {TEN}"
    assert not read(sql).stateless


REFUSED = [
    ("SELECT row_number() OVER (ORDER BY id) FROM events", "append", "a window function over"),
    ("SELECT id FROM events LIMIT 3", "append", "LIMIT outside of output mode complete is"),
    ("SELECT uuid() AS u FROM events", "append", "a value that chance or the partition"),
    ("SELECT id FROM events TABLESAMPLE (50 PERCENT)", "append", "TABLESAMPLE of a stream is"),
    ("SELECT id FROM events EXCEPT ALL SELECT id FROM alerts", "append", "EXCEPT ALL or INTERSECT"),
    ("SELECT k, count(*) FROM events GROUP BY k", "append", "without an event time"),
    (
        "SELECT e.id FROM events e LEFT JOIN alerts a ON e.k = a.k",
        "append",
        "without one bound between their times",
    ),
    (
        "SELECT e.id FROM events e LEFT JOIN alerts a ON e.ts = a.ts AND e.v > 2",
        "append",
        "a comparison of columns of the side it keeps",
    ),
    ("SELECT e.id FROM events e LEFT ANTI JOIN alerts a ON e.k = a.k", "append", "an anti join"),
    ("SELECT p.place FROM places p LEFT JOIN events e ON e.k = p.k", "append", "not a stream is"),
    ("SELECT place FROM places p LEFT SEMI JOIN events e ON e.k = p.k", "append", "looked up in"),
    ("SELECT place, (SELECT max(v) FROM events) FROM places", "append", "a subquery of a stream"),
    ("SELECT id FROM events UNION ALL SELECT place FROM places", "append", "a union of a stream"),
    (
        "SELECT k, count(*) FROM events GROUP BY ROLLUP (k)",
        "update",
        "grouping sets over a stream",
    ),
    (
        f"SELECT count(*) FROM (SELECT window, count(*) FROM events GROUP BY {TEN})",
        "update",
        "a grouping of groups in output mode update",
    ),
    (
        "SELECT ts, count(*) FROM (SELECT e.ts FROM events e JOIN alerts a ON e.k = a.k) "
        "GROUP BY ts",
        "update",
        "a grouping above a join of streams in output mode update",
    ),
    (
        "SELECT ts, count(*) FROM (SELECT e.ts FROM events e LEFT SEMI JOIN alerts a "
        "ON e.k = a.k AND a.ts > e.ts) GROUP BY ts",
        "append",
        "whose times have not one bound on either side",
    ),
    (
        "SELECT ts, count(*) FROM (SELECT e.ts FROM events e JOIN alerts a "
        "ON a.ts < date_trunc('DAY', e.ts)) GROUP BY ts",
        "append",
        "on either side is not followed",
    ),
    (
        "SELECT a.id FROM (SELECT ts, count(*) AS id FROM events GROUP BY ts) e "
        "JOIN alerts a ON e.id = a.id",
        "append",
        "a join of streams above a grouping",
    ),
    (
        f"SELECT ts, window, count(*) FROM events GROUP BY ts, {TEN}",
        "update",
        "several columns with a watermark",
    ),
]


@pytest.mark.parametrize(("sql", "mode", "problem"), REFUSED, ids=[r[2] for r in REFUSED])
def test_what_is_not_followed_is_refused(sql: str, mode: str, problem: str) -> None:
    with pytest.raises(UnsupportedError, match=problem):
        read(sql, mode)


BOUNDED = "e.k = a.k AND a.ts BETWEEN e.ts - INTERVAL 5 MINUTES AND e.ts + INTERVAL 10 MINUTES"


def test_a_batch_emits_a_row_of_a_semi_join_with_its_first_partner() -> None:
    """A row without a partner is given up, or emitted at once where it can have none."""
    semi = f"SELECT e.id FROM events e LEFT SEMI JOIN alerts a ON {BOUNDED}"
    root = read(semi, emission=Emission(70, 50, 3)).root
    [anti] = [operator for operator in walk(root) if isinstance(operator, AntiJoin)]
    assert render(anti).splitlines()[0].count("< 3") == 2
    outer = f"SELECT e.id FROM events e LEFT JOIN alerts a ON {BOUNDED} AND e.v <> 2"
    assert filters(outer)[-1].endswith("OR NOT ((v <> 2) IS TRUE)))")
    emitted = filters(outer, emission=Emission(70, 50, 3))[-1]
    assert emitted.startswith("(NOT there IS NULL AND NOT there IS NULL AND GREATEST(batch, batch)")
    assert emitted.count("batch = 3") == 2
    assert "TIMESTAMP_MILLIS(69)" in emitted
    assert "TIMESTAMP_MILLIS(49)" in emitted


def test_the_watermark_above_a_join_is_the_least_by_which_rows_are_given_up() -> None:
    joined = f"SELECT window, count(*) FROM (SELECT e.ts FROM events e JOIN alerts a ON {BOUNDED})"
    *_, late, passed = filters(f"{joined} GROUP BY {TEN}")
    assert late == LATE
    assert passed.startswith("window.end <= LEAST(")
    assert passed.count("TIMESTAMP_MILLIS(70)") == 2
    assert passed.count("INTERVAL '1' MILLISECOND") == 2
    kept = f"{joined} GROUP BY {TEN}".replace(BOUNDED, "e.k = a.k")
    assert filters(kept)[-1] == "window.end <= LEAST(TIMESTAMP_MILLIS(70), TIMESTAMP_MILLIS(70))"


def test_below_a_grouping_joined_rows_are_of_any_batch() -> None:
    outer = f"SELECT e.ts FROM events e LEFT JOIN alerts a ON {BOUNDED}"
    sql = f"SELECT window, count(*) FROM ({outer}) GROUP BY {TEN}"
    found = filters(sql, emission=Emission(70, 50, 3))
    assert not any("batch" in text for text in found)
    assert found[-1].startswith("NOT (window.end <= LEAST(")


def first(inner: str, outer: str, *keys: int, within: bool = False) -> Reading:
    view = ViewText("firsts", inner, None, Deduplication(keys, within))
    plan = bind_query(outer, Environment(MemoryCatalog([*RELATIONS, view]))).root
    return as_recorded(plan, STREAMS, OutputMode.APPEND, ALL, outer)


def test_joins_of_three_streams_are_inner_ones_without_groupings() -> None:
    """Late to the upper join is what is so by the least of the watermarks of its inputs."""
    near = "a.ts BETWEEN e.ts AND e.ts + INTERVAL 5 MINUTES"
    pairs = f"SELECT e.k, a.ts FROM events e JOIN alerts a ON e.k = a.k AND {near}"
    third = "events s ON s.k = p.k AND s.ts BETWEEN p.ts AND p.ts + INTERVAL 5 MINUTES"
    sql = f"SELECT s.id, s.ts FROM ({pairs}) p JOIN {third}"
    assert "LEAST(" in render(read(sql).root)
    for refused, problem in (
        (f"SELECT s.id FROM ({pairs}) p LEFT JOIN {third}", "unless both are inner joins, is"),
        (f"SELECT count(*) FROM ({sql}) GROUP BY window(ts, '5 minutes')", "of three streams is"),
    ):
        with pytest.raises(UnsupportedError, match=problem):
            read(refused)


def watermarked(inner: str, outer: str, mode: str = "append") -> Reading:
    view = ViewText("timed", inner, None, None, EventTimeColumn(0, 5))
    plan = bind_query(outer, Environment(MemoryCatalog([*RELATIONS, view]))).root
    return as_recorded(plan, STREAMS, OutputMode(mode), ALL, outer)


def test_a_watermark_of_a_computed_time_is_one_of_its_column() -> None:
    """Also where the stream has no other; and it is the only one where the stream has."""
    outer = f"SELECT window, count(*) FROM timed GROUP BY {TEN}"
    for inner in ("SELECT timestamp_millis(v) AS ts FROM plain", "SELECT ts + v AS ts FROM events"):
        reading = watermarked(inner, outer)
        assert reading.by_time
        text = render(reading.root)
        assert "Watermarked" not in text
        assert text.count("Filter: ") == 2
    both = "SELECT ts + v AS t, ts FROM events"
    with pytest.raises(UnsupportedError, match="without an event time in output mode append"):
        watermarked(both, outer)
    with pytest.raises(UnsupportedError, match="a watermark above a grouping or a join"):
        watermarked(f"SELECT window.end FROM events GROUP BY {TEN}", "SELECT * FROM timed")


def test_sessions_have_a_query_of_rows_that_came_late() -> None:
    sql = "SELECT session_window, count(*) FROM events GROUP BY session_window(ts, '1 minute')"
    [late] = read(sql).sessions
    assert "<= `_stream_late" in render(late)
    assert not read(sql, "complete").sessions


@pytest.mark.parametrize(
    ("call", "operators"),
    [
        ("max_by(id, v)", 2),
        ("min_by(id, v) FILTER (WHERE v > 1)", 2),
        ("first(id)", 1),
        ("first(id, true)", 1),
        ("mode(id)", 3),
        ("listagg(k, ',')", 1),
        ("listagg(k, ',') WITHIN GROUP (ORDER BY v)", 1),
        ("sum(v)", 0),
    ],
)
def test_rows_that_tie_are_found_by_a_query(call: str, operators: int) -> None:
    ties = read(f"SELECT {call} FROM events GROUP BY k", "complete").ties
    texts = [render(groups) for groups, _ in ties]
    assert sum(text.count("Aggregate: ") for text in texts) == operators
    assert all("> 1" in text.splitlines()[0] for text in texts)


def test_the_first_of_equal_rows_is_numbered_by_batch_and_place() -> None:
    """Where the order in a batch is not known, rows must not differ in what is read of them."""
    reading = first("SELECT id, k FROM events", "SELECT id FROM firsts", 1)
    assert render(reading.root).count("ROW_NUMBER()") == 1
    assert not reading.stateless
    assert undecided(reading).count("> 1") == 2
    assert not first("SELECT id, k FROM plain", "SELECT k FROM firsts", 1).undecided
    assert undecided(first("SELECT id, k FROM plain", "SELECT id FROM firsts", 1)).count("> 1") == 1
    joined = "SELECT e.id, e.k, place FROM events e LEFT JOIN places p ON e.k = p.k"
    assert undecided(first(joined, "SELECT id FROM firsts", 2)).count("> 1") == 1
    united = "SELECT id, k FROM events UNION ALL SELECT id, k FROM alerts"
    assert "branch" in undecided(first(united, "SELECT id FROM firsts", 1), lines=2)


def undecided(reading: Reading, lines: int = 1) -> str:
    [relation] = reading.undecided
    return "\n".join(render(relation).splitlines()[:lines])


def test_within_the_watermark_the_state_is_followed_from_batch_to_batch() -> None:
    """By the event time, which is read even where nothing else reads it."""
    reading = first("SELECT id, ts, k FROM events", "SELECT id FROM firsts", 2, within=True)
    text = render(reading.root)
    assert text.count("COLLECT_LIST") == 1
    assert "COALESCE(UNIX_MICROS" in text
    assert "<= `_stream_late" in text


@pytest.mark.parametrize(
    ("inner", "within", "problem"),
    [
        (f"SELECT window, count(*) AS k FROM events GROUP BY {TEN}", False, "above a grouping"),
        (
            "SELECT e.id, e.k FROM events e LEFT SEMI JOIN alerts a ON e.k = a.k",
            False,
            "above an outer or semi join",
        ),
        ("SELECT e.id, a.k FROM events e JOIN alerts a ON e.k = a.k", True, "above a join of"),
        (
            "SELECT e.ts, a.k FROM events e JOIN alerts a ON hour(e.ts) < hour(a.ts)",
            False,
            "without one bound between their times",
        ),
        ("SELECT id, k FROM events", True, "without one column with a watermark"),
    ],
)
def test_duplicates_that_are_not_followed(inner: str, within: bool, problem: str) -> None:
    with pytest.raises(UnsupportedError, match=problem):
        first(inner, "SELECT * FROM firsts", 1, within=within)


@pytest.mark.parametrize(
    ("condition", "over"),
    [
        ("e.ts = a.ts", "ts <= TIMESTAMP_MILLIS(70)"),
        (
            "a.ts < e.ts + INTERVAL 5 MINUTES",
            "ts + INTERVAL 5 MINUTES <= TIMESTAMP_MILLIS(70)",
        ),
        (
            "e.k = a.k AND a.ts - INTERVAL 1 HOUR BETWEEN e.ts AND e.ts + INTERVAL 1 DAY",
            "ts + INTERVAL 1 DAY <= TIMESTAMP_MILLIS(69) - INTERVAL 1 HOUR",
        ),
    ],
)
def test_a_row_without_a_partner_is_emitted_when_none_can_come(condition: str, over: str) -> None:
    sql = f"SELECT e.id FROM events e LEFT JOIN alerts a ON {condition}"
    assert filters(sql)[-1].endswith(f"(there IS NULL AND {over})")


def test_sessions_drop_late_rows_in_every_output_mode() -> None:
    """And are split by an emission where state is not kept for ever."""
    sql = "SELECT session_window, count(*) FROM events GROUP BY session_window(ts, '1 minute')"
    late = "NOT (session_window.end <= late) IS TRUE"
    assert filters(sql, "complete") == [late]
    assert not read(sql, "complete").sessions
    assert filters(sql)[0] == late
    assert read(sql).sessions
