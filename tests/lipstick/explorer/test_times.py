"""Times are shown and read as the session that captured saw them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest

from lipstick.explorer.captures.source import CaptureSource
from lipstick.explorer.cells import cell, parsed
from lipstick.explorer.conditions import column_mask
from lipstick.explorer.errors import ExploreError
from rewriter.interpret import in_time_zone
from tests.lipstick.explorer.conftest import ask
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

INSTANT = pa.timestamp("us", "UTC")
BERLIN = "Europe/Berlin"


def at(text: str) -> dt.datetime:
    """An instant, of a text in UTC."""
    return dt.datetime.fromisoformat(f"{text}+00:00")


@pytest.mark.parametrize(
    ("zone", "instant", "shown"),
    [
        ("UTC", "2026-03-01 00:00:00", "2026-03-01 00:00:00"),
        ("Etc/UTC", "2026-03-01 09:30:00", "2026-03-01 09:30:00"),
        (BERLIN, "2026-02-28 23:00:00", "2026-03-01 00:00:00"),
        (BERLIN, "2026-06-30 22:00:00", "2026-07-01 00:00:00"),
        ("+05:30", "2026-02-28 18:30:00", "2026-03-01 00:00:00"),
        # In the hour that clocks show twice, the offset tells which one it is.
        (BERLIN, "2026-10-25 00:30:00", "2026-10-25 02:30:00+02:00"),
        (BERLIN, "2026-10-25 01:30:00", "2026-10-25 02:30:00+01:00"),
        (None, "2026-03-01 00:00:00", "2026-03-01 00:00:00+00:00"),
        ("nowhere", "2026-03-01 00:00:00", "2026-03-01 00:00:00+00:00"),
    ],
)
def test_an_instant_is_what_the_clock_of_the_session_shows(
    zone: str | None, instant: str, shown: str
) -> None:
    with in_time_zone(zone):
        assert cell(at(instant)) == shown
        assert parsed([shown, None], INSTANT).to_pylist() == [at(instant), None]


def test_times_without_a_zone_are_as_they_are() -> None:
    naive = dt.datetime(2026, 3, 1, 12)
    with in_time_zone(BERLIN):
        assert cell(naive) == "2026-03-01 12:00:00"
        assert parsed(["2026-03-01 12:00:00"], pa.timestamp("us")).to_pylist() == [naive]


def test_a_time_that_clocks_pass_over_and_one_they_show_twice_are_read() -> None:
    with in_time_zone(BERLIN):
        read = parsed(["2026-03-29 02:30:00", "2026-10-25 02:30"], INSTANT).to_pylist()
    assert read == [at("2026-03-29 01:00:00"), at("2026-10-25 00:30:00")]
    with (
        in_time_zone(BERLIN),
        pytest.raises(ExploreError, match="not values of the type TIMESTAMP"),
    ):
        parsed(["yesterday"], INSTANT)


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("> 2026-03-01", [False, True, True]),
        ("= '2026-03-01'", [True, False, False]),
        ("2026-03-01..2026-03-01 12:00", [True, True, False]),
        ("in ('2026-03-01 00:00', '2026-03-02')", [True, False, True]),
        ("= '2026-02-28 23:00:00+00:00'", [True, False, False]),
        ("03-01", [True, True, False]),
    ],
)
def test_filters_of_instants_are_typed_without_an_offset(typed: str, wanted: list[bool]) -> None:
    instants = ["2026-02-28 23:00:00", "2026-03-01 11:00:00", "2026-03-01 23:00:00"]
    column = pa.array([at(text) for text in instants], INSTANT)
    with in_time_zone(BERLIN):
        assert column_mask(column, typed, "at").to_pylist() == wanted


def test_the_views_of_a_capture_are_in_its_time_zone(tmp_path: Path) -> None:
    times = [at("2026-02-28 23:00:00"), at("2026-03-01 11:00:00"), at("2026-03-01 23:00:00")]
    data = pa.table({"k": [1, 2, 3], "at": pa.array(times, INSTANT), "n": [1, 2, 4]})
    events = Relation("events", ("k",), "k int, at timestamp, n int", data)
    query = "SELECT at, sum(n) AS n FROM events GROUP BY at ORDER BY at"
    capture = write_capture(query, Database({"events": events}), tmp_path / "events")
    object.__setattr__(capture.manifest, "time_zone", BERLIN)
    source = CaptureSource("events", capture)
    shown = ["2026-03-01 00:00:00", "2026-03-01 12:00:00", "2026-03-02 00:00:00"]
    assert [row[0] for row in ask(source, "rows")["rows"]] == shown
    filtered = ask(source, "rows", filters={"0": ">= 2026-03-01 12:00"})
    assert [row[0] for row in filtered["rows"]] == shown[1:]
    assert ask(source, "value", row=0, column="n")["sentence"].startswith("n 1 of 2026-03-01: ")
    assert ask(source, "value", row=1, column="n")["sentence"].startswith(
        "n 2 of 2026-03-01 12:00:00: "
    )


def test_a_number_of_two_runs_is_named_by_the_times_of_the_session(tmp_path: Path) -> None:
    at = dt.datetime(2026, 2, 28, 23, tzinfo=dt.UTC)
    captures = []
    for run, number in (("monday", 1), ("tuesday", 5)):
        data = pa.table({"k": [1], "at": pa.array([at], INSTANT), "n": [number]})
        events = Relation("events", ("k",), "k int, at timestamp, n int", data)
        query = "SELECT at, sum(n) AS n FROM events GROUP BY at"
        capture = write_capture(query, Database({"events": events}), tmp_path / run)
        object.__setattr__(capture.manifest, "time_zone", BERLIN)
        captures.append(capture)
    parts = captures[0].diff(captures[1]).parts("n", {"at": "2026-03-01 00:00:00"})
    assert str(parts).startswith("n of at = 2026-03-01 00:00:00 went from 1 to 5 (+4):")
