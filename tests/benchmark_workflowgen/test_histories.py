"""What happens in runs of both workloads, by DuckDB: no Spark, no provenance."""

from __future__ import annotations

from dataclasses import replace

from benchmark_workflowgen.arctic import ArcticStations
from benchmark_workflowgen.dealerships import Dealerships
from benchmark_workflowgen.dealerships.workload import LIST_PRICES
from tests.benchmark_workflowgen.on_duckdb import DuckRun

BUYING = Dealerships(cars=24, executions=2, acceptance=1.0, reserve=2.0, seed=5)


def _run(workload: Dealerships | ArcticStations) -> DuckRun:
    inputs = [workload.input(execution) for execution in range(workload.executions)]
    return DuckRun(workload.workflow, workload.state(), inputs)


def test_a_willing_buyer_gets_the_first_car_of_the_best_dealer() -> None:
    run, model = _run(BUYING), BUYING.buyer.model
    cars = [row for row in run.state["dealer1"]["Cars"] if row[1] == model]
    assert [outputs["car", "Car"] for outputs in run.outputs] == [
        [(min(cars)[0], "B0001")],
        [(sorted(cars)[1][0], "B0002")],
    ]
    assert [len(run.state[f"dealer{n}"]["SoldCars"]) for n in range(1, 5)] == [2, 0, 0, 0]


def test_a_buyer_who_comes_back_is_offered_less() -> None:
    run = _run(replace(BUYING, acceptance=0.0, executions=3))
    assert [outputs["car", "Car"] for outputs in run.outputs] == [[], [], []]
    prices = [outputs["aggregate", "BestBid"][0][2] for outputs in run.outputs]
    price = LIST_PRICES[BUYING.buyer.model]
    assert prices == [price, price * 99 // 100, price * 99 // 100 * 99 // 100]
    assert len(run.state["dealer2"]["InventoryBids"]) == 3


def test_nothing_is_sold_above_the_reserve_price() -> None:
    run = _run(replace(BUYING, reserve=0.985, executions=3))
    assert [len(outputs["car", "Car"]) for outputs in run.outputs] == [0, 0, 1]


def test_a_dealer_without_the_model_does_not_bid() -> None:
    workload = replace(BUYING, cars=0, executions=1)
    [outputs] = _run(workload).outputs
    assert [outputs[f"bid{n}", "Bids"] for n in range(1, 5)] == [[], [], [], []]
    assert outputs["aggregate", "BestBid"] == []


def test_all_topologies_find_the_same_minimum() -> None:
    rows_by_selectivity = {}
    for selectivity in ("all", "season", "month"):
        lowest = set()
        for topology in ("parallel", "serial", "dense"):
            workload = ArcticStations(5, topology, 2, selectivity, executions=2, until=1965)
            run = _run(workload)
            lowest.add(tuple(out["out", "MinTemp"][0] for out in run.outputs))
            assert len(run.state["station5"]["Observations"]) > 4 * 12
        assert len(lowest) == 1
        [rows_by_selectivity[selectivity]] = lowest
    first = {name: rows[0][2] for name, rows in rows_by_selectivity.items()}
    assert first["all"] <= first["season"] <= first["month"]


def test_the_current_year_begins_with_the_first_measurement() -> None:
    workload = ArcticStations(3, "serial", selectivity="year", executions=3, until=1965)
    measured = [
        row["AirTemperature"]
        for relations in workload.state().values()
        for row in relations["Instrument"].to_pylist()
        if row["Month"] == 1
    ]
    first = _run(workload).outputs[0]["out", "MinTemp"]
    assert first == [(1966, 1, min(t for t in measured if t is not None))]
