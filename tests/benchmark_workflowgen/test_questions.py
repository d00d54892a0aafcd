"""Analysts' questions, each within a bound."""

from __future__ import annotations

import time

import sqlglot

from benchmark_workflowgen.experiments.questions import COLUMNS, QUERIES, VALUES, ask, table
from semiring.errors import LipstickError


def test_every_query_is_read_and_shows_the_column_that_is_asked_for() -> None:
    assert len(QUERIES) == 20 + 22
    assert QUERIES.keys() > VALUES.keys()
    for name, sql in QUERIES.items():
        shown = sqlglot.parse_one(sql, dialect="spark").named_selects
        assert VALUES.get(name, shown[-1]) in shown


def test_what_becomes_of_a_question_is_told() -> None:
    def refuses() -> None:
        raise LipstickError("not this one")

    assert ask(lambda: 1, 5.0)["what"] == "answered"
    assert ask(refuses, 5.0) | {"seconds": 0, "processor": 0} == {
        "what": "refused",
        "why": "not this one",
        "seconds": 0,
        "processor": 0,
    }
    assert ask(lambda: 1 / 0, 5.0)["what"] == "failed"
    began = time.perf_counter()
    assert ask(lambda: time.sleep(60), 0.05)["what"] == "over"
    assert time.perf_counter() - began < 30


def test_the_table_counts_what_became_of_questions() -> None:
    results = {
        "one": {"plain": {"what": "answered", "seconds": 1.23}, "html": {"what": "over"}},
        "two": {"html": {"what": "answered", "seconds": 0.04}, "save": {"what": "refused"}},
    }
    head, _, one, two, _, summary = table(results).splitlines()
    assert head == "| query | " + " | ".join(COLUMNS) + " |"
    assert one.startswith("| one | 1.2 | – |")
    assert "**over**" in one
    assert "| 0.0 |" in two
    assert summary == "3 asked: 1 answered, 1 not within the bound, 1 refused, 0 failed."
