"""The columns that set the inputs of a value apart from the other rows of their relation."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest

from lipstick.explorer.budget import Budget
from lipstick.explorer.captures.splits import splits
from lipstick.explorer.errors import TooLongError
from lipstick.questions.contributions.axes import Axes
from lipstick.questions.contributions.question import ValueInputs, inputs_of
from lipstick.questions.why.sources import SourceRows
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

FIRST = dt.datetime(2026, 3, 1)
COUNT = 2_000


def rows() -> pa.Table:
    """Events of 20 days and four countries; those of BR on one day are large."""
    days = [number % 20 for number in range(COUNT)]
    countries = ["DE", "FR", "BR", "US"]
    return pa.table(
        {
            "k": range(COUNT),
            "at": [FIRST + dt.timedelta(days=day) for day in days],
            "country": [countries[number // 20 % 4] for number in range(COUNT)],
            "code": [f"c{number}" for number in range(COUNT)],
            "size": [
                900 if day == 7 and number // 20 % 4 == 2 else 5 for number, day in enumerate(days)
            ],
        }
    )


def asked(query: str, folder: Path, row: int = 0) -> tuple[Axes, ValueInputs]:
    """The inputs of the last column of a row."""
    types = "k bigint, at timestamp_ntz, country string, code string, size bigint"
    events = Relation("events", ("k",), types, rows())
    capture = write_capture(query, Database({"events": events}), folder / "events")
    axes = Axes(capture.memory)
    record = capture.manifest.relations["events"]
    axes.sources = {"events": SourceRows.of_table(record, rows(), whole=True)}
    column = capture.manifest.names[-1]
    return axes, inputs_of(capture.memory, axes, row, column)


def found(query: str, folder: Path, row: int = 0) -> list[tuple[str, str, object, float, float]]:
    axes, inputs = asked(query, folder, row)
    return [
        (each.column, each.unit, each.label, each.share, each.usual)
        for each in splits(axes._memory.engine, inputs, Budget())
    ]


def test_a_check_that_fails_leads_to_what_its_rows_have_in_common(tmp_path: Path) -> None:
    assert found("SELECT count(*) AS failures FROM events WHERE size > 100", tmp_path) == [
        ("at", "day", FIRST + dt.timedelta(days=7), 1.0, 0.05),
        ("country", "", "BR", 1.0, 0.25),
    ]


def test_what_the_query_itself_decides_does_not_stand_out(tmp_path: Path) -> None:
    query = (
        "SELECT country, sum(size) AS total FROM events WHERE k >= 0 GROUP BY country ORDER BY 1"
    )
    assert found(query, tmp_path) == []
    query = "SELECT country, count(*) AS n FROM events WHERE code LIKE 'c1%' GROUP BY country"
    assert all(column != "country" for column, *_ in found(query, tmp_path / "like"))


def test_rows_like_all_others_do_not_stand_out(tmp_path: Path) -> None:
    assert found("SELECT count(*) AS n FROM events", tmp_path) == []


def test_a_search_ends_with_its_budget(tmp_path: Path) -> None:
    axes, inputs = asked("SELECT count(*) AS n FROM events WHERE size > 100", tmp_path)
    budget = Budget()
    budget.cancel()
    with pytest.raises(TooLongError):
        splits(axes._memory.engine, inputs, budget)
