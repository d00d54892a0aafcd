"""The generated Arctic stations: climate, topologies, inputs."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from benchmark_workflowgen.arctic import ArcticStations, arctic, generate
from benchmark_workflowgen.arctic.climate import OBSERVATIONS, VARIABLES

MONTHS = 40 * 12


def test_a_seed_gives_one_climate() -> None:
    assert generate(3, 7, MONTHS) == generate(3, 7, MONTHS)
    assert generate(3, 8, MONTHS) != generate(3, 7, MONTHS)
    assert generate(4, 7, MONTHS) != generate(3, 7, MONTHS)


def test_the_climate_is_the_same_on_every_machine() -> None:
    text = repr([generate(station, 7, MONTHS).to_pylist() for station in (1, 24)])
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "aee44e679693a2eb"


def test_more_months_leave_the_first_ones_as_they_are() -> None:
    more, fewer = generate(1, 0, MONTHS + 30), generate(1, 0, MONTHS)
    assert more.slice(0, fewer.num_rows) == fewer


def test_observations_have_the_annual_cycle_that_is_stated() -> None:
    every = [generate(station, 0, MONTHS) for station in range(1, 25)]
    for variable in VARIABLES:
        means = []
        for month in range(1, 13):
            values = [
                value
                for table in every
                for value in table.filter(np.array(table["Month"]) == month)[
                    variable.name
                ].to_pylist()
                if value is not None
            ]
            assert variable.low <= min(values)
            assert max(values) <= variable.high
            means.append(np.mean(values))
        middle = variable.mean + variable.trend * 2
        assert abs(np.mean(means) - middle) < variable.spread
        assert abs(np.argmax(means) - variable.warmest) <= 1
        assert (max(means) - min(means)) / 2 == pytest.approx(variable.amplitude, rel=0.15)


def test_observations_become_warmer() -> None:
    every = [generate(station, 0, MONTHS) for station in range(1, 25)]
    slopes = []
    for table in every:
        known = table.drop_null()
        slopes.append(np.polyfit(np.array(known["Year"]), np.array(known["AirTemperature"]), 1)[0])
    assert np.mean(slopes) == pytest.approx(0.025, abs=0.015)


def test_some_values_and_months_are_missing() -> None:
    every = [generate(station, 0, MONTHS) for station in range(1, 25)]
    assert 0.985 < sum(t.num_rows for t in every) / (24 * MONTHS) < 0.995
    for variable in VARIABLES:
        missing = sum(table[variable.name].null_count for table in every)
        assert 0.015 < missing / (24 * MONTHS) < 0.025


def test_history_ends_where_measurements_begin() -> None:
    state = ArcticStations(stations=2, executions=14).state()
    assert list(state) == ["station1", "station2"]
    for relations in state.values():
        past, to_come = relations["Observations"], relations["Instrument"]
        assert past.schema == to_come.schema == OBSERVATIONS
        assert (min(past["Year"].to_pylist()), max(past["Year"].to_pylist())) == (1961, 2000)
        assert set(to_come["Year"].to_pylist()) <= {2001, 2002}
        assert 10 <= to_come.num_rows <= 14


def test_an_execution_is_a_month() -> None:
    run = ArcticStations(stations=2, executions=14, selectivity="season")
    assert run.input(0) == {"Asked": [(2001, 1, "season")]}
    assert run.input(13) == {"Asked": [(2002, 2, "season")]}


def _told(topology: str, stations: int, fan_out: int = 1) -> set[tuple[str, str]]:
    edges = arctic(stations, topology, fan_out).edges
    short = {"in": "in", "out": "out"} | {f"station{n}": str(n) for n in range(1, stations + 1)}
    return {(short[e.source], short[e.target]) for e in edges if e.source != "in"}


def test_topologies_are_those_of_figure_4() -> None:
    assert _told("serial", 3) == {("1", "2"), ("2", "3"), ("3", "out")}
    assert _told("parallel", 3) == {("1", "out"), ("2", "out"), ("3", "out")}
    dense = _told("dense", 9, 3)
    assert {source for source, target in dense if target == "5"} == {"1", "2", "3"}
    assert {source for source, target in dense if target == "out"} == {"7", "8", "9"}
    assert len(dense) == 9 + 9 + 3


@pytest.mark.parametrize("topology", ["serial", "parallel", "dense"])
@pytest.mark.parametrize("stations", [2, 24])
def test_workflows_are_valid(topology: str, stations: int) -> None:
    workflow = arctic(stations, topology, 6)
    workflow.validate()
    assert len(workflow.modules) == stations + 2
    assert sum(edge.source == "in" for edge in workflow.edges) == stations


@pytest.mark.parametrize(
    "wrong",
    [{"selectivity": "decade"}, {"executions": 0}, {"seed": -1}, {"until": 1950}],
)
def test_what_is_out_of_range_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"one of|at least"):
        replace(ArcticStations(), **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stations", "topology", "fan_out"), [(0, "serial", 1), (3, "ring", 1), (3, "dense", 0)]
)
def test_other_topologies_are_refused(stations: int, topology: str, fan_out: int) -> None:
    with pytest.raises(ValueError, match=r"at least|one of"):
        arctic(stations, topology, fan_out)
