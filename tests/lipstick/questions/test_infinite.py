"""Questions about floats that overflow, are infinite or NaN: true words, and no warning."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lipstick.capture.capture import Capture
from lipstick.errors import CaptureError
from tests.oracle.database import Database
from tests.oracle.small import small
from tests.oracle.written import write_capture

_LARGE = 1.5e308
READINGS = Database(
    {
        "readings": small(
            "readings",
            "id int, k int, v double",
            [
                (1, 1, _LARGE),
                (2, 1, _LARGE),
                (3, 1, 7.0),
                (4, 2, math.nan),
                (5, 2, 1.0),
                (6, 3, math.inf),
                (7, 3, 2.0),
                (8, 4, -_LARGE),
                (9, 4, 3.0),
            ],
        )
    }
)


@pytest.fixture
def captured(tmp_path: Path) -> Callable[[str], Capture]:
    return lambda sql: write_capture(sql, READINGS, tmp_path)


def without_each(capture: Capture, k: int) -> list[tuple[Any, ...]]:
    rows = capture.contributions("s", {"k": k}).to_pylist()
    return [(row["id"], str(row["_after"]), str(row["_effect"])) for row in rows]


def test_contributions_to_what_is_not_finite(captured: Callable[[str], Capture]) -> None:
    """Rows without which a sum is a number come first; two equal infinities differ by 0."""
    capture = captured("SELECT k, sum(v) AS s FROM readings GROUP BY k")
    finite = str(_LARGE + 7.0)
    assert without_each(capture, 1) == [
        (1, finite, "-inf"),
        (2, finite, "-inf"),
        (3, "inf", "0.0"),
    ]
    assert without_each(capture, 2) == [(4, "1.0", "None"), (5, "nan", "0.0")]
    assert without_each(capture, 3) == [(6, "2.0", "-inf"), (7, "inf", "0.0")]
    assert capture.what_if({"readings": [3]}).df.to_pylist()[0]["s"] == math.inf


@pytest.mark.parametrize(("k", "named"), [(1, "Infinity"), (2, "NaN"), (3, "Infinity")])
def test_why_and_top_say_what_the_number_is(
    captured: Callable[[str], Capture], k: int, named: str
) -> None:
    capture = captured("SELECT k, sum(v) AS s FROM readings GROUP BY k")
    for question in (capture.why, capture.top):
        with pytest.raises(CaptureError, match=f"s of k = {k} is {named}: "):
            question("s", where={"k": k})


def test_a_number_that_would_overflow(captured: Callable[[str], Capture]) -> None:
    """A deletion after which a number is infinite is no cause of it."""
    capture = captured(
        "SELECT id, sum(v) OVER (ORDER BY id DESC) AS s FROM readings WHERE k IN (1, 4)"
    )
    for question in (capture.why, capture.top):
        assert question("s", where={"id": 2}) is not None
