"""Analysts' questions, each within a bound."""

from __future__ import annotations

import signal
import time
from typing import Any

import click
import pytest
import sqlglot

from benchmark_workflowgen.analyst_queries import QUERIES, VALUES
from benchmark_workflowgen.experiments.questions import (
    COLUMNS,
    ask,
    is_exact,
    table,
    with_table,
)
from semiring.analysis import Estimate, Repairs
from semiring.errors import LipstickError
from semiring.token import Token


def test_every_query_is_read_and_shows_the_column_that_is_asked_for() -> None:
    assert len(QUERIES) == 20 + 22
    assert QUERIES.keys() > VALUES.keys()
    for name, sql in QUERIES.items():
        shown = sqlglot.parse_one(sql, dialect="spark").named_selects
        assert VALUES.get(name, shown[-1]) in shown


def test_outcomes_of_questions() -> None:
    def refuses() -> None:
        raise LipstickError("not this one")

    assert ask(lambda: 1, 5.0)["what"] == "answered"
    assert ask(refuses, 5.0).items() >= {"what": "refused", "why": "not this one"}.items()
    assert ask(lambda: 1 / 0, 5.0)["what"] == "failed"
    assert ask(lambda: [({}, Estimate(0.5, 0.1))], 5.0)["exact"] is False
    began, before = time.perf_counter(), signal.getsignal(signal.SIGALRM)
    assert ask(lambda: time.sleep(60), 0.05)["what"] == "over"
    assert time.perf_counter() - began < 30
    assert signal.getsignal(signal.SIGALRM) is before


def test_an_answer_is_exact_if_all_its_parts_are() -> None:
    token = Token("t", 1)
    assert is_exact([({}, {token: Estimate(0.5)}), ({}, Repairs([], complete=True, at_least=0))])
    assert not is_exact([({}, {token: Estimate(0.5, 0.01)})])
    assert not is_exact([({}, Repairs([], complete=False, at_least=0))])


def test_the_table_counts_outcomes_and_names_what_is_not_answered() -> None:
    results: dict[str, dict[str, Any]] = {
        "one": {
            "plain": {"what": "answered", "processor": 1.23},
            "html": {"what": "over", "silent": 4.0},
        },
        "two": {
            "html": {"what": "answered", "processor": 0.04, "exact": False},
            "save": {"what": "refused", "why": "No.\nAsk for less."},
        },
    }
    written = table(results)
    head, _, one, two, _, summary, _, *unanswered = written.splitlines()
    assert head == "| query | " + " | ".join(COLUMNS) + " |"
    assert one.startswith("| one | 1.2 | – |")
    assert "**over**" in one
    assert "| ~0.0 |" in two
    assert summary == (
        "3 asked: 1 answered, 1 of them by bounds, samples or an incomplete list (~), "
        "1 not within the bound, 1 refused, 0 failed."
    )
    assert unanswered == [
        "- html, over: one",
        "- html, silent for 3 s: one",
        "- save, refused: two. No",
    ]
    page = "before\n<!-- questions: begin -->\nold\n<!-- questions: end -->\nafter\n"
    assert with_table(page, written).splitlines()[:3] == [
        "before",
        "<!-- questions: begin -->",
        head,
    ]
    assert "old" not in with_table(page, written)
    with pytest.raises(click.UsageError, match="has no lines"):
        with_table("nothing", written)
