"""Passes: their order, and the account of what each did."""

from __future__ import annotations

import logging

import pytest

from rewriter.algebra import Relation, Windows, walk
from rewriter.algebra.rendering import render
from rewriter.bind import Environment, bind_query
from rewriter.lower import lower_query
from rewriter.passes import LOGGER, PASSES, PassStep, planned_capture, rewritten
from tests.rewriter.lower.catalog import CATALOG, TOKENS, blocks

OUTER_JOIN = (
    "SELECT c.model FROM dealers d LEFT JOIN cars c ON d.dealer = c.dealer WHERE c.price > 1"
)
UNREAD = (
    "WITH n AS (SELECT model, price, row_number() OVER (ORDER BY price) AS r,"
    " max(price) OVER () AS m FROM cars)"
)
WINDOWS = f"{UNREAD} SELECT model FROM n WHERE price > 1"
SUBQUERIES = "SELECT (SELECT max(price) FROM cars) AS a, (SELECT min(price) FROM cars) AS b"
HALVES = (
    "WITH r AS (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer)"
    " SELECT a.model, b.model FROM cars a, r x, cars b, r y"
    " WHERE a.dealer = x.dealer AND b.dealer = y.dealer AND x.n = y.n"
)
PUSHED = (
    "WITH c AS (SELECT model, max(price) AS p FROM cars GROUP BY model)"
    " SELECT a.p FROM c a, c b WHERE a.model = 'x' AND b.model = 'y'"
)
PRUNED = "SELECT dealer FROM cars GROUP BY dealer HAVING count(*) > 5"
REDUCED = (
    "SELECT bid FROM bids WHERE amount >"
    " (SELECT avg(price) FROM cars WHERE cars.car_id = bids.car_id)"
)
NONE = "SELECT model FROM cars"


def query(sql: str) -> Relation:
    """Return a query as it is bound."""
    return bind_query(sql, Environment(CATALOG, levels={})).root


def steps_of(sql: str) -> list[PassStep]:
    """Return what passes did to a query and to the plan of its capture."""
    steps: list[PassStep] = []
    root = lower_query(query(sql), TOKENS, sql, observe=steps.append)
    planned_capture(root, lambda _: False, steps.append)
    return steps


@pytest.mark.parametrize(
    ("sql", "fired"),
    [
        (OUTER_JOIN, ["eliminate_outer_joins"]),
        (WINDOWS, ["prune_windows"]),
        (SUBQUERIES, ["fuse_scalar_subqueries"]),
        (HALVES, ["split_components"]),
        (PUSHED, ["push_predicates"]),
        (PRUNED, ["prune_groups"]),
        (REDUCED, ["reduce_semijoins"]),
        (NONE, []),
    ],
)
def test_passes_that_fire(sql: str, fired: list[str]) -> None:
    """Each pass says that it did something, and only then."""
    assert list(dict.fromkeys(step.name for step in steps_of(sql))) == fired


@pytest.mark.parametrize(
    "sql", [OUTER_JOIN, WINDOWS, SUBQUERIES, HALVES, PUSHED, PRUNED, REDUCED, NONE]
)
def test_passes_are_pure(sql: str) -> None:
    """The query that a pass is given stays as it is, and a pass has nothing to add to its own."""
    root = query(sql)
    before = render(root)
    after = rewritten(root, lambda _: None)
    assert render(root) == before
    assert rewritten(after, lambda _: None) is after
    plan = planned_capture(blocks(sql), lambda _: False, lambda _: None)
    for rewrite in PASSES.capture:
        assert rewrite(plan) == plan


@pytest.mark.parametrize(
    ("sql", "calls"),
    [
        ("SELECT model FROM n", 0),
        ("SELECT count(*) FROM n", 0),
        ("SELECT a.model FROM n a LEFT JOIN n b ON a.model = b.model", 0),
        ("SELECT model FROM n ORDER BY r", 1),
        ("SELECT model FROM n WHERE r = 1", 1),
        ("SELECT sum(m) FROM n GROUP BY model", 1),
        ("SELECT a.model FROM n a JOIN n b ON a.r = b.price", 1),
        ("SELECT model FROM (SELECT *, lag(r) OVER (ORDER BY m) FROM n)", 0),
        ("SELECT l FROM (SELECT *, lag(r) OVER (ORDER BY m) AS l FROM n)", 3),
        ("SELECT model FROM (SELECT DISTINCT model, r FROM n)", 1),
        ("SELECT model FROM (SELECT * FROM n UNION ALL SELECT * FROM n)", 2),
        ("SELECT model FROM cars WHERE price IN (SELECT m FROM n)", 1),
        ("SELECT model FROM cars WHERE EXISTS (SELECT r FROM n WHERE n.model = cars.model)", 0),
    ],
)
def test_window_functions_that_something_reads_stay(sql: str, calls: int) -> None:
    root = rewritten(query(f"{UNREAD} {sql}"), lambda _: None)
    windows = [each for each in walk(root) if isinstance(each, Windows)]
    assert sum(len(each.calls) for each in windows) == calls


def test_outer_join_is_found_before_subqueries_are_compared() -> None:
    """Subqueries that differ in an outer join which is none are read together."""
    inner = "(SELECT max(c.price) FROM dealers d {} JOIN cars c ON d.dealer = c.dealer {})"
    sql = f"SELECT {inner.format('LEFT', 'WHERE c.price > 1')} AS a, " + (
        f"{inner.format('INNER', 'WHERE c.price > 1')} AS b"
    )
    assert [step.name for step in steps_of(sql)] == [
        "eliminate_outer_joins",
        "fuse_scalar_subqueries",
    ]


def test_step_shows_what_changed() -> None:
    """Lines that went, that came, and that stayed are told apart."""
    (step,) = steps_of(OUTER_JOIN)
    lines = str(step).split("\n")
    assert lines[0] == "eliminate_outer_joins:"
    assert [line[2:4].strip() for line in lines[1:]].count("-") == 1
    gone, come = (next(x for x in lines if x.startswith(f"  {sign} ")) for sign in "-+")
    assert "LeftOuterJoin" in gone
    assert "InnerJoin" in come
    (step,) = steps_of(PRUNED)
    assert str(step) == (
        "prune_groups:\n  - b0: all members\n  + b0: members of the groups that HAVING keeps"
    )


def test_plan_says_what_is_captured() -> None:
    """The lines of a plan are in the order in which members are written."""
    plan = planned_capture(blocks(REDUCED), lambda _: False)
    assert list(plan.lines()) == [
        "b0: all members",
        "b1: members of groups that b0 names, car_id_3 = m.`car_id`",
    ]
    plan = planned_capture(blocks(PUSHED), lambda _: False)
    assert list(plan.lines()) == ["b1: members where cars.`model` = 'x' OR cars.`model` = 'y'"]


def test_log(caplog: pytest.LogCaptureFixture) -> None:
    """The logger of the rewriter has a record for each step, at the level DEBUG."""
    with caplog.at_level(logging.DEBUG, LOGGER.name):
        blocks(OUTER_JOIN)
    assert [record.name for record in caplog.records] == ["lipstick.rewriter"]
    assert caplog.records[0].getMessage().startswith("eliminate_outer_joins:\n")
    caplog.clear()
    with caplog.at_level(logging.INFO, LOGGER.name):
        blocks(OUTER_JOIN)
    assert not caplog.records
