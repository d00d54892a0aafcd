"""The generated dealerships: cars, buyers, inputs, and what a dealer bids."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from benchmark_workflowgen.dealerships import Dealerships
from benchmark_workflowgen.dealerships.bids import LIST_PRICES, calc_bid

RUN = Dealerships(cars=600, executions=3, seed=7)


def test_a_seed_gives_one_history() -> None:
    again = Dealerships(cars=600, executions=3, seed=7)
    assert again.state() == RUN.state()
    assert [again.input(k) for k in range(3)] == [RUN.input(k) for k in range(3)]
    assert replace(RUN, seed=8).state() != RUN.state()


def test_the_history_is_the_same_on_every_machine() -> None:
    cars = [table["Cars"].to_pylist() for table in RUN.state().values()]
    text = repr((cars, RUN.buyer, [RUN.input(k) for k in range(3)]))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "bb14c6dc4d8ecd00"


def test_four_dealerships_have_cars_of_all_twelve_models() -> None:
    state = RUN.state()
    assert list(state) == ["dealer1", "dealer2", "dealer3", "dealer4"]
    keys = [row["CarId"] for relations in state.values() for row in relations["Cars"].to_pylist()]
    assert len(set(keys)) == 4 * 600
    for tables in state.values():
        assert set(tables["Cars"]["Model"].to_pylist()) == set(LIST_PRICES)
    assert len(LIST_PRICES) == 12


def test_more_cars_leave_the_first_ones_as_they_are() -> None:
    more = replace(RUN, cars=900).state()["dealer3"]["Cars"]
    assert more.slice(0, 600) == RUN.state()["dealer3"]["Cars"]


def test_a_buyer_asks_for_one_model_in_every_execution() -> None:
    buyer = RUN.buyer
    assert 0.05 <= buyer.acceptance <= 0.5
    assert 0.75 <= buyer.reserve / LIST_PRICES[buyer.model] <= 1
    requests = [RUN.input(k)["Request"][0] for k in range(3)]
    expected = [(buyer.name, f"B000{k + 1}", buyer.model) for k in range(3)]
    assert requests == expected


@pytest.mark.parametrize(("acceptance", "willing"), [(0.0, False), (1.0, True)])
def test_acceptance_is_given_or_drawn(acceptance: float, willing: bool) -> None:
    run = replace(RUN, acceptance=acceptance, reserve=0.5)
    choices = [run.input(k)["Choice"][0] for k in range(20)]
    assert {choice[2] for choice in choices} == {willing}
    assert {choice[1] for choice in choices} == {LIST_PRICES[run.buyer.model] // 2}


def test_some_are_willing_and_some_are_not() -> None:
    run = replace(RUN, acceptance=0.3)
    willing = [run.input(k)["Choice"][0][2] for k in range(1_000)]
    assert 250 < sum(willing) < 350


def test_a_bid_falls_with_stock_and_rises_with_sales() -> None:
    bid = calc_bid.func
    assert bid("VW Golf", 400, None, None) < bid("VW Golf", 20, None, None)
    assert bid("VW Golf", 20, 5, None) > bid("VW Golf", 20, None, None)
    assert bid("VW Golf", 20, None, 20_000) == 19_800
    assert bid("VW Golf", 5, 9, None) > 0


def test_the_workflow_is_that_of_the_paper() -> None:
    workflow = RUN.workflow
    workflow.validate()
    assert len(workflow.modules) == 10
    assert [n for n, m in workflow.shape.nodes.items() if m.name == "dealer3"] == ["bid3", "sell3"]


@pytest.mark.parametrize(
    "wrong", [{"cars": -1}, {"executions": 0}, {"acceptance": 1.5}, {"reserve": 0.0}, {"seed": -1}]
)
def test_what_is_out_of_range_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="not"):
        replace(RUN, **wrong)  # type: ignore[arg-type]
