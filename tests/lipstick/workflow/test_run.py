"""Sequences of executions: outputs, states, resumption, and the same without provenance."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from graphquery.store import Store
from lipstick.workflow import Module, Run, Workflow, open_run
from lipstick.workflow.errors import WorkflowError
from tests.lipstick.workflow.conftest import ask_specification

pytestmark = [pytest.mark.spark, pytest.mark.classic]

STATE = {
    "dealer1": {"Cars": [("C1", "Accord"), ("C2", "Civic"), ("C3", "Civic")]},
    "dealer2": {"Cars": [{"CarId": "D1", "Model": "Civic"}]},
}
INPUTS: list[dict[str, Any]] = [
    {"Request": [("B1", "Civic")]},
    {"ask": {"Request": pa.table({"BidId": ["B2", "B3"], "Model": ["Accord", "Civic"]})}},
]


def _rows(table: Any) -> list[tuple[Any, ...]]:
    if isinstance(table, pa.Table):
        return sorted(tuple(row.values()) for row in table.to_pylist())
    return sorted(tuple(row) for row in table.collect())


def _everything(run: Run) -> dict[str, list[tuple[Any, ...]]]:
    """Outputs and states of all executions."""
    rows_by_name = {}
    for execution in range(run.executions):
        for node, module in run.workflow.shape.nodes.items():
            for name in module.outputs:
                rows_by_name[f"{execution} {node} {name}"] = _rows(
                    run.output(execution, node, name)
                )
        for module_name, module in run.workflow.modules.items():
            for name in module.state:
                rows = _rows(run.state(module_name, name, after=execution))
                rows_by_name[f"{execution} {module_name} {name}"] = rows
    return rows_by_name


def contents(path: Path) -> dict[str, Any]:
    """What a store holds, but for where and when it was written."""
    snapshot = Store.open(path).snapshot()
    times = ("started", "ended")
    records = {
        name: {key: value for key, value in record.items() if key not in times}
        for name, record in snapshot.records.items()
    }
    segments = {
        name: (segment.kind, segment.label, segment.count, segment.key)
        for name, segment in snapshot.segments.items()
    }
    values = {
        name: snapshot.values(segment).to_pylist()
        for name, segment in snapshot.segments.items()
        if segment.file is not None
    }
    edges = sorted(
        (e.source, e.target, e.port, *(tuple(ends.tolist()) for ends in snapshot.ordinals(e)))
        for e in snapshot.edges
    )
    return {
        "segments": segments,
        "values": values,
        "edges": edges,
        "records": records,
    }


@pytest.fixture(scope="module")
def tracked(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The market's run of two executions, with provenance."""
    store = tmp_path_factory.mktemp("tracked") / "run"
    return _market().run(spark, INPUTS, state=STATE, store=store)


def _market() -> Workflow:
    from tests.lipstick.workflow import conftest

    dealer = conftest.dealer_specification()
    return Workflow(
        "market",
        {
            "ask": Module("ask", ask_specification()),
            "bid1": Module("dealer1", dealer),
            "bid2": Module("dealer2", dealer),
            "best": Module("best", conftest.best_specification()),
        },
        [("ask", "bid1"), ("ask", "bid2"), ("bid1", "best"), ("bid2", "best")],
        "ask",
        "best",
    )


def test_executions_thread_the_state(tracked: Run) -> None:
    assert tracked.executions == 2
    assert _rows(tracked.output(0)) == [("B1", 20)]
    assert _rows(tracked.output(1)) == [("B2", 21), ("B3", 20)]
    assert _rows(tracked.output(0, "bid2")) == [("B1", "Civic", 21)]
    assert _rows(tracked.state("dealer1", "Offers", after=-1)) == []
    assert _rows(tracked.state("dealer1", "Offers", after=0)) == [("B1", "Civic", 20)]
    assert len(_rows(tracked.state("dealer1", "Offers"))) == 3
    assert len(_rows(tracked.state("dealer2", "Offers"))) == 2


ALONE = """
import sys
from pyspark.sql import SparkSession
from lipstick.workflow import open_run

run = open_run(sys.argv[1])
offers = run.state("dealer1", "Offers", after=-1)
print(run.output(1).to_pylist(), offers.num_rows, len(run.graph()))
assert SparkSession.getActiveSession() is None
"""


def test_a_run_is_read_in_another_process_without_spark(tracked: Run) -> None:
    root = str(Path(__file__).parents[3])
    command = [sys.executable, "-c", ALONE, str(tracked.path)]
    environment = {**os.environ, "PYTHONPATH": root}
    printed = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout
    rows = [{"BidId": "B2", "Price": 21}, {"BidId": "B3", "Price": 20}]
    assert printed == f"{rows} 0 {len(tracked.graph())}\n"


def test_a_run_comes_back(tracked: Run) -> None:
    again = open_run(tracked.path)
    assert again.workflow == tracked.workflow
    assert again.tracked
    assert isinstance(again.output(1), pa.Table)
    assert _everything(again) == _everything(tracked)
    assert repr(again) == f"<tracked run of market in {tracked.path}: 2 executions>"


def test_what_is_done_is_not_done_again(tracked: Run, spark: SparkSession) -> None:
    version = tracked.snapshot.version
    _market().run(spark, INPUTS, state=STATE, store=tracked.path)
    assert tracked.snapshot.version == version


def test_without_provenance_it_is_the_same(
    tracked: Run, spark: SparkSession, tmp_path: Path
) -> None:
    plain = _market().run(spark, INPUTS, state=STATE, store=tmp_path / "run", tracked=False)
    assert _everything(plain) == _everything(tracked)
    assert not plain.snapshot.edges
    with pytest.raises(WorkflowError, match="has no provenance: it ran with tracked=False"):
        plain.graph()
    with pytest.raises(WorkflowError, match="began without provenance, and must go on that way"):
        _market().run(spark, INPUTS, store=plain.path)


def test_the_graph_on_spark_is_that_in_memory(tracked: Run, tmp_path: Path) -> None:
    """Also of a state tuple's key, by which nodes are named."""
    graph, spark = tracked.graph(), tracked.spark_graph(tmp_path / "graph")
    assert (spark.node_count, spark.edge_count) == (graph.node_count, graph.edge_count)
    car = graph.select(kind="token", relation="Cars").names()[0]
    assert spark.descendants(car, 1).names() == graph.descendants(car, 1).names()
    with pytest.raises(WorkflowError, match=r"was opened without Spark\."):
        open_run(tracked.path).spark_graph(tmp_path / "other")


@pytest.mark.engines("spark")
def test_parallel_and_piecemeal_runs_store_the_same(
    tracked: Run, spark: SparkSession, tmp_path: Path
) -> None:
    workflow, store = _market(), tmp_path / "run"
    workflow.run(spark, INPUTS[:1], state=STATE, store=store, parallelism=3)
    workflow.run(spark, INPUTS[1:], store=store, first=1, parallelism=2)
    assert contents(store) == contents(tracked.path)


def test_a_run_goes_on_with_what_it_began_with(tracked: Run, spark: SparkSession) -> None:
    other = Workflow("other", {"ask": Module("ask", ask_specification())}, [], "ask", "ask")
    with pytest.raises(WorkflowError, match="holds a run of a different workflow"):
        other.run(spark, [], store=tracked.path)
    with pytest.raises(
        WorkflowError, match="Execution 0 began with a different Request at node ask"
    ):
        _market().run(spark, [{"Request": []}], store=tracked.path)
    with pytest.raises(WorkflowError, match="began with a different state Cars of dealer1"):
        _market().run(spark, [], state={"dealer1": {"Cars": []}}, store=tracked.path)
    with pytest.raises(WorkflowError, match="Execution 5 starts from the state after execution 4"):
        _market().run(spark, INPUTS[:1], first=5, store=tracked.path)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "Input Request of node ask in execution 0 is missing."),
        ({"Other": []}, "Execution 0: no input node has a relation 'Other'."),
        ({"ask": {"Other": []}}, "Execution 0: node ask has no input 'Other'."),
        ({"Request": [("B1",)]}, "('B1',) is not a row of 2 values (BidId, Model)."),
        ({"Request": [{"Bid": 1}]}, "has no column 'Bid'.\nIts columns are: BidId, Model."),
        ({"Request": [(1, "Civic")]}, "the rows do not fit the columns `BidId` string"),
        ({"Request": pa.table({"BidId": ["B1"]})}, "has the columns BidId.\nIt should have:"),
        ({"Request": 3}, "Input Request of node ask in execution 0 is a int.\nGive a data"),
    ],
)
def test_inputs_fit(
    spark: SparkSession, tmp_path: Path, given: dict[str, Any], message: str
) -> None:
    workflow = Workflow("w", {"ask": Module("ask", ask_specification())}, [], "ask", "ask")
    with pytest.raises(WorkflowError, match=re.escape(message)):
        workflow.run(spark, [given], store=tmp_path / "run", tracked=False)


def test_keys_of_inputs_are_unique(spark: SparkSession, tmp_path: Path) -> None:
    workflow = Workflow("w", {"ask": Module("ask", ask_specification())}, [], "ask", "ask")
    twice = [{"Request": [("B1", "Civic"), ("B1", "Accord"), ("B2", "Fit")]}]
    with pytest.raises(WorkflowError, match=r"has several tuples of one key \(BidId\): B1"):
        workflow.run(spark, twice, store=tmp_path / "run", tracked=False)
    with pytest.raises(WorkflowError, match="has 1 tuples with NULL in its key BidId"):
        workflow.run(spark, [{"Request": [(None, "Fit")]}], store=tmp_path / "run", tracked=False)


def test_initial_states_fit(spark: SparkSession, tmp_path: Path) -> None:
    workflow, store = _market(), tmp_path / "run"
    with pytest.raises(WorkflowError, match="has a module 'dealer9', which is not there"):
        workflow.run(spark, [], state={"dealer9": {}}, store=store)
    with pytest.raises(WorkflowError, match="of dealer1 has 'Vans', which is not a state relation"):
        workflow.run(spark, [], state={"dealer1": {"Vans": []}}, store=store)


def test_questions_about_what_there_is_not(tracked: Run) -> None:
    with pytest.raises(WorkflowError, match="has no node 'nobody'"):
        tracked.output(0, "nobody")
    with pytest.raises(WorkflowError, match="Node best has no output 'Worst'"):
        tracked.output(0, "best", "Worst")
    with pytest.raises(WorkflowError, match=r"best#8 \(node best in execution 7\) has not run"):
        tracked.output(7)
    with pytest.raises(WorkflowError, match="has no module 'nobody'"):
        tracked.state("nobody", "Cars")
    with pytest.raises(WorkflowError, match="Module dealer1 has no state relation 'Vans'"):
        tracked.state("dealer1", "Vans")
    with pytest.raises(WorkflowError, match="Execution 7 is not done for dealer1"):
        tracked.state("dealer1", "Cars", after=7)


def test_a_store_without_a_run(tmp_path: Path) -> None:
    Store.create(tmp_path / "store")
    with pytest.raises(WorkflowError, match="holds no run of a workflow"):
        open_run(tmp_path / "store")
