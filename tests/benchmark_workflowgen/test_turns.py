"""Threads that take turns."""

from __future__ import annotations

import pytest

from benchmark_workflowgen.measure.workflows import Turns, alternate


def test_each_works_in_its_turn() -> None:
    seen: list[str] = []

    def work(name: str, rounds: int, turns: Turns) -> None:
        for number in range(rounds):
            if number:
                turns.next(name)
            seen.append(name)

    alternate({"a": lambda t: work("a", 4, t), "b": lambda t: work("b", 2, t)})
    assert seen == ["a", "b", "a", "b", "a", "a"]


def test_a_failure_stops_the_others_at_their_next_turn() -> None:
    seen: list[str] = []

    def fail(turns: Turns) -> None:
        turns.next("a")
        raise RuntimeError("broken")

    def work(turns: Turns) -> None:
        seen.append("before")
        turns.next("b")
        seen.append("after")

    with pytest.raises(RuntimeError, match="broken"):
        alternate({"a": fail, "b": work})
    assert seen == ["before"]
