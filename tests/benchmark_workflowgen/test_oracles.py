"""Both workloads under the oracles: provenance changes no answer, and deletions in the graph are
what the workflow gives without the deleted tuples."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from benchmark_workflowgen.arctic import ArcticStations
from benchmark_workflowgen.dealerships import Dealerships
from benchmark_workflowgen.measure.workflows import Workload
from graphquery import ProvenanceGraph
from lipstick.workflow import Run, Workflow, open_run
from tests.benchmark_workflowgen.on_duckdb import DuckRun, Rows

pytestmark = [pytest.mark.spark, pytest.mark.classic]

State = Mapping[str, Mapping[str, pa.Table]]
Inputs = Sequence[Mapping[str, Any]]

STATIONS = ArcticStations(stations=3, topology="dense", fan_out=2, until=1962, executions=4)
ASKED: Inputs = [
    {"Asked": [(1963, month, selectivity)]}
    for month, selectivity in enumerate(("all", "season", "month", "year"), start=1)
]
DEALERSHIPS = Dealerships(cars=24, executions=2, acceptance=1.0, reserve=2.0, seed=5)
BOUGHT: Inputs = [DEALERSHIPS.input(execution) for execution in range(2)]


def _run(
    spark: SparkSession,
    workload: Workload,
    inputs: Inputs,
    store: Path,
    *,
    state: State | None = None,
    tracked: bool = True,
) -> Run:
    state = workload.state() if state is None else state
    workload.workflow.run(spark, inputs, store=store, state=state, tracked=tracked)
    return open_run(store)


def _everything(run: Run) -> dict[str, list[dict[str, Any]]]:
    """Outputs and states of all executions."""
    rows_by_name = {}
    for execution in range(run.executions):
        for node, module in run.workflow.shape.nodes.items():
            for name in module.outputs:
                rows_by_name[f"{execution} {node} {name}"] = run.output(
                    execution, node, name
                ).to_pylist()
        for name_of_module, module in run.workflow.modules.items():
            for name in module.state:
                rows = run.state(name_of_module, name, after=execution).to_pylist()
                rows_by_name[f"{execution} {name_of_module} {name}"] = rows
    return rows_by_name


# -- Arctic stations ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stations(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Four executions, one of each selectivity."""
    return _run(spark, STATIONS, ASKED, tmp_path_factory.mktemp("stations") / "run")


def _lowest(state: State, executions: Sequence[int]) -> Iterator[dict[str, float | None]]:
    """The lowest temperatures by station and execution, computed without Spark.

    Parameters
    ----------
    asked
        The executions whose input is there.
    """
    seen = {name: relations["Observations"].to_pylist() for name, relations in state.items()}
    for execution, given in enumerate(ASKED):
        temperatures: dict[str, list[float | None]] = {}
        [(year, month, selectivity)] = given["Asked"]
        if execution in executions:
            for name, relations in state.items():
                seen[name] += [
                    row
                    for row in relations["Instrument"].to_pylist()
                    if (row["Year"], row["Month"]) == (year, month)
                ]
                chosen = {
                    "all": lambda row: True,
                    "season": lambda row, m=month: row["Season"] == m % 12 // 3,
                    "month": lambda row, m=month: row["Month"] == m,
                    "year": lambda row, y=year: row["Year"] == y,
                }[selectivity]
                temperatures[name] = [row["AirTemperature"] for row in seen[name] if chosen(row)]
            told = [
                _least(temperatures[name])
                for name in ("station1", "station2")
                if temperatures[name]
            ]
            temperatures["station3"] += told
            temperatures["out"] = (
                [_least(temperatures["station3"])] if temperatures["station3"] else []
            )
        yield {name: _least(values) for name, values in temperatures.items() if values}


def _least(values: Sequence[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _left(graph: ProvenanceGraph) -> list[dict[str, float | None]]:
    """The lowest temperatures that a graph has, by station and execution."""
    lowest: list[dict[str, float | None]] = [{} for _ in ASKED]
    for node in graph.select(kind="o", relation="MinTemp").ids.tolist():
        segment = graph.segment(node)
        assert segment.module is not None
        assert segment.execution is not None
        invocation = f"{segment.module}#{segment.invocation}"
        value = graph.value(f"{invocation}/MinTemp.Temperature")
        lowest[segment.execution][segment.module] = value
    return lowest


@pytest.mark.slow
def test_stations_give_the_same_without_provenance(
    stations: Run, spark: SparkSession, tmp_path: Path
) -> None:
    plain = _run(spark, STATIONS, ASKED, tmp_path / "plain", tracked=False)
    assert _everything(plain) == _everything(stations)


def test_stations_give_the_lowest_temperatures(stations: Run) -> None:
    expected = list(_lowest(STATIONS.state(), range(4)))
    assert _left(stations.graph()) == expected
    for execution, temperatures in enumerate(expected):
        [row] = stations.output(execution).to_pylist()
        assert row["Temperature"] == temperatures["out"]


def test_deleted_observations_are_as_if_they_had_not_been_made(stations: Run) -> None:
    graph, state = stations.graph(), STATIONS.state()
    tokens = [
        (int(node), module, relation, row)
        for module, relations in state.items()
        for relation in relations
        for row, node in enumerate(graph.select(kind="token", module=module, relation=relation).ids)
    ]
    inputs = [(int(node), "", "", 0) for node in graph.select(kind="token", relation="Asked").ids]
    assert len(inputs) == 4
    cold = [
        (node, module, relation, row)
        for node, module, relation, row in tokens
        if (state[module][relation]["AirTemperature"][row].as_py() or 0) < -22
    ]
    draws = random.Random(1)
    changed = 0
    before = list(_lowest(state, range(4)))
    for number in range(60):
        chosen = draws.sample(cold, draws.randint(1, len(cold))) + draws.sample(tokens, 3)
        if number % 10 == 0:
            chosen += draws.sample(inputs, 1)
        gone = {node for node, *_ in chosen}
        reduced = {
            module: {
                relation: table.filter(
                    pa.array(
                        [
                            (module, relation, number) not in {row[1:] for row in chosen}
                            for number in range(table.num_rows)
                        ],
                        pa.bool_(),
                    )
                )
                for relation, table in relations.items()
            }
            for module, relations in state.items()
        }
        remaining = [row for row, (node, *_) in enumerate(inputs) if node not in gone]
        expected = list(_lowest(reduced, remaining))
        assert _left(graph.delete(sorted(gone))) == expected
        changed += expected != before
    assert changed >= 30


# -- car dealerships ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dealerships(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two executions, in each of which the buyer buys."""
    return _run(spark, DEALERSHIPS, BOUGHT, tmp_path_factory.mktemp("dealerships") / "run")


@pytest.mark.slow
def test_dealerships_give_the_same_without_provenance(
    dealerships: Run, spark: SparkSession, tmp_path: Path
) -> None:
    plain = _run(spark, DEALERSHIPS, BOUGHT, tmp_path / "plain", tracked=False)
    assert _everything(plain) == _everything(dealerships)
    assert [plain.output(execution).num_rows for execution in range(2)] == [1, 1]


@pytest.mark.slow
def test_deleted_cars_are_as_if_they_had_not_been_there(dealerships: Run) -> None:
    """Cars that were not sold: had a sold one not been there, another would have been sold."""
    graph, model = dealerships.graph(), DEALERSHIPS.buyer.model
    cars = {name: relations["Cars"].to_pylist() for name, relations in DEALERSHIPS.state().items()}
    sold = {dealerships.output(k).to_pylist()[0]["CarId"] for k in range(2)}
    unsold = [(d, car["CarId"]) for d, cars_of_dealer in cars.items() for car in cars_of_dealer]
    unsold = [(dealer, car) for dealer, car in unsold if car not in sold]
    requested = [
        (d, car["CarId"])
        for d, cars_of_dealer in cars.items()
        for car in cars_of_dealer
        if car["Model"] == model
    ]
    draws = random.Random(1)
    changed = 0
    everything = _kept(dealerships, graph)
    for number in range(20):
        gone = set(draws.sample(unsold, 5))
        # And all that some dealers have, but for the one who sells.
        emptied = draws.sample(["dealer2", "dealer3", "dealer4"], number % 4)
        gone |= {(dealer, car) for dealer, car in requested if dealer in emptied}
        left = graph.delete([f"{dealer}/Cars:{car}" for dealer, car in gone])
        reduced = {
            dealer: {
                "Cars": pa.Table.from_pylist(
                    [c for c in cars_of_dealer if (dealer, c["CarId"]) not in gone]
                )
            }
            for dealer, cars_of_dealer in cars.items()
        }
        again = DuckRun(DEALERSHIPS.workflow, reduced, BOUGHT)
        kept = _kept(dealerships, left)
        assert kept == [
            {
                output: _keys(DEALERSHIPS.workflow, output, rows)
                for output, rows in rows_by_output.items()
            }
            for rows_by_output in again.outputs
        ]
        _check_values(dealerships, left, again, reduced)
        changed += kept != everything
    assert changed >= 10


def _kept(run: Run, graph: ProvenanceGraph) -> list[dict[tuple[str, str], list[str]]]:
    """The keys of the outputs that are in a graph, per execution."""
    names = graph.names(graph.select(kind="o").ids)
    keys_by_execution = []
    for execution in range(2):
        prefixes = {
            (node, relation): f"{run.invocation(execution, node).name}/{relation}:"
            for node, module in run.workflow.shape.nodes.items()
            for relation in module.outputs
        }
        keys_by_execution.append(
            {
                output: sorted(n.removeprefix(prefix) for n in names if n.startswith(prefix))
                for output, prefix in prefixes.items()
            }
        )
    return keys_by_execution


def _keys(workflow: Workflow, output: tuple[str, str], rows: Rows) -> list[str]:
    relation = workflow.shape.nodes[output[0]].outputs[output[1]]
    [column] = relation.key
    return sorted(row[relation.names.index(column)] for row in rows)


def _check_values(run: Run, left: ProvenanceGraph, again: DuckRun, state: State) -> None:
    """Check how many cars a dealer has, and all prices that are known without asking a dealer."""
    unknown = set(left.names(left.stale().ids))
    for execution, outputs in enumerate(again.outputs):
        for number in range(1, 5):
            invocation = run.invocation(execution, f"bid{number}").name
            for row in outputs[f"bid{number}", "Bids"]:
                models = state[f"dealer{number}"]["Cars"]["Model"].to_pylist()
                count = left.value(f"{invocation}/NumCarsByModel.NumAvail")
                assert count == models.count(DEALERSHIPS.buyer.model)
                if f"{invocation}/Bids.Price" not in unknown:
                    assert left.value(f"{invocation}/Bids.Price") == row[2]
