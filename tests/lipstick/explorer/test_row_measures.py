"""Probabilities and shares of a row in the explorer are the engine's, within their seconds."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lipstick.explorer.captures import measures
from lipstick.explorer.captures.source import CaptureSource
from lipstick.explorer.explorer import Explorer
from lipstick.explorer.params import Params
from semiring.errors import ExactnessError
from tests.lipstick.explorer.conftest import Limit, ask, endless
from tests.lipstick.explorer.test_sentences import captured

TOTALS = (
    "SELECT name, sum(price) AS total FROM users JOIN orders ON user = id"
    " GROUP BY name HAVING count(*) > 1 OR max(price) > 4 ORDER BY name"
)


def test_a_probability_is_the_captures_own(tmp_path: Path) -> None:
    capture = captured(TOTALS, tmp_path)
    source = CaptureSource("totals", capture)
    wanted = capture.probability({"orders": 0.5, "users": 0.9}, limit=None)
    assert {estimate.value for _, estimate in wanted} == {0.9 * 0.25, 0.9 * 0.5}
    for row, (_, estimate) in enumerate(wanted):
        values = {"orders": "0.5", "users": "0.9"}
        answer = ask(source, "probability", row=row, values=values)
        assert (answer["probability"], answer["error"]) == (estimate.value, 0)
        assert answer["aside"] == ""


@pytest.mark.parametrize("measure", ["shapley", "responsibility"])
def test_shares_are_the_captures_own(tmp_path: Path, measure: str) -> None:
    capture = captured(TOTALS, tmp_path)
    source = CaptureSource("totals", capture)
    for row, (_, parts) in enumerate(getattr(capture.algebra, measure)(limit=None)):
        answer = ask(source, "shares", row=row, measure=measure)
        shown = {
            f"{share['relation']}:{share['text']}": share["value"] for share in answer["shares"]
        }
        assert shown == pytest.approx({str(of): float(part) for of, part in parts.items()})
        assert answer["tokens"] == len(shown)
        assert ("witnesses" in answer) == (measure == "shapley")


def test_what_limit_decides_is_left_aside_and_said_to_be(tmp_path: Path) -> None:
    source = CaptureSource(
        "first", captured("SELECT name FROM users ORDER BY id LIMIT 2", tmp_path)
    )
    answer = ask(source, "probability", row=1, values={"users": "0.5"})
    assert (answer["probability"], answer["aside"]) == (0.5, "LIMIT is left aside.")
    assert answer["python"] == ""  # the capture's own question is about LIMIT, too


@pytest.mark.parametrize(
    ("view", "params", "message"),
    [
        ("shares", {"measure": "luck"}, "shapley or responsibility, not 'luck'"),
        ("probability", {"values": {"users": "2"}}, "not a probability"),
        ("probability", {"values": {"users": "likely"}}, "is not a number"),
        ("probability", {"values": {"cars": "1"}}, "reads no relation 'cars'"),
    ],
)
def test_what_cannot_be_answered_is_said(
    tmp_path: Path, view: str, params: dict[str, object], message: str
) -> None:
    explorer = Explorer([CaptureSource("totals", captured(TOTALS, tmp_path))])
    reply = explorer.ask({"source": 0, "view": view, "params": {"row": 0, **params}})
    assert message in reply["error"]["message"]


def test_an_answer_ends_with_its_seconds_or_when_nobody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: Limit
) -> None:
    monkeypatch.setattr(measures, "annotation", endless)
    source = CaptureSource("totals", captured(TOTALS, tmp_path))
    begun = time.monotonic()
    with pytest.raises(ExactnessError, match=limit.told):
        source.views["shares"](Params({"row": 0, "seconds": limit.seconds}), limit.budget())
    assert time.monotonic() - begun < 20
