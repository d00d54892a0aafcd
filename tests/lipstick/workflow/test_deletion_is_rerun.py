"""Deleting tuples from the graph of a run of positive modules is running without them.

Random workflows of two modules with state, in two executions; without Spark, see
:mod:`tests.lipstick.workflow.without_spark`.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql.types import IntegerType, LongType, StructType

from graphquery import ProvenanceGraph
from graphquery.store import Store
from lipstick.workflow import Module, Relation, Run, Specification, StateQuery, Workflow, open_run
from lipstick.workflow.execution.tables import remember_structs
from tests.graphquery.store.workload import Unsynced
from tests.lipstick.workflow.without_spark import run_workflow

PAIRS = Relation("a int, b int")
GROUPS = Relation("a int, n bigint, m int")
_PAIR = StructType().add("a", IntegerType()).add("b", IntegerType())
_GROUP = StructType().add("a", IntegerType()).add("n", LongType()).add("m", IntegerType())
remember_structs({PAIRS.ddl: _PAIR.jsonValue(), GROUPS.ddl: _GROUP.jsonValue()})

OPERATORS = (
    "SELECT a, b FROM {x} WHERE b > 1",
    "SELECT b AS a, a AS b FROM {x}",
    "SELECT x.a, y.b FROM {x} x JOIN {y} y ON x.a = y.a",
    "SELECT a, b FROM {x} UNION ALL SELECT b AS a, a AS b FROM {y}",
    "SELECT DISTINCT a, b FROM {x}",
    "SELECT a, b FROM {x} WHERE a IN (SELECT b FROM {y})",
    "SELECT a, 7 AS b FROM {x} GROUP BY a",
)
Rows = list[tuple[int | None, int | None]]

values = st.one_of(st.integers(0, 2), st.none())
relations: st.SearchStrategy[Rows] = st.lists(st.tuples(values, values), max_size=4)


@st.composite
def specifications(draw: st.DrawFn, name: str) -> Specification:
    """Two temporary relations, a state that grows, and two outputs, of which one aggregates."""
    known = ["In", "S"]

    def query() -> str:
        chosen = {end: draw(st.sampled_from(known)) for end in "xy"}
        return draw(st.sampled_from(OPERATORS)).format(**chosen)

    temporary = {}
    for relation in ("T", "U"):
        temporary[relation] = query()
        known.append(relation)
    insert = {"S": query()} if draw(st.booleans()) else {}
    return Specification(
        name,
        {"In": PAIRS},
        {"Out": PAIRS, "Agg": GROUPS},
        {"Out": query(), "Agg": "SELECT a, count(*) AS n, max(b) AS m FROM U GROUP BY a"},
        state={"S": PAIRS},
        query_state=StateQuery(temporary, insert=insert),
    )


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    """What the first module puts out is the input of the second."""
    modules = {name: Module(name, draw(specifications(f"s{name}"))) for name in ("m1", "m2")}
    return Workflow("random", modules, [("m1", "m2", {"Out": "In"})], "m1", "m2")


def ran(workflow: Workflow, inputs: Sequence[Rows], state: Mapping[str, Rows], path: Path) -> Run:
    """Run a workflow into a new store."""
    store = Store.create(path, files=Unsynced())
    given_state = {module: {"S": rows} for module, rows in state.items()}
    run_workflow(store, workflow, [{"In": rows} for rows in inputs], given_state)
    return open_run(path)


def outputs(run: Run) -> dict[tuple[int, str, str], Counter[tuple[Any, ...]]]:
    """The rows of every output."""
    return {
        (execution, node, relation): Counter(
            tuple(row.values())
            for row in run.output(execution, node, relation).to_pylist()  # type: ignore[union-attr]
        )
        for execution in range(run.executions)
        for node in ("m1", "m2")
        for relation in ("Out", "Agg")
    }


def left(graph: ProvenanceGraph, run: Run) -> dict[tuple[int, str, str], Counter[tuple[Any, ...]]]:
    """The rows of every output that a graph still has, aggregates computed from what is left."""
    left_by_output = {}
    for (execution, node, relation), rows in outputs(run).items():
        segment = f"{node}#{execution + 1}/{relation}"
        count = sum(rows.values())
        names = [segment] if count == 1 else [f"{segment}[{n}]" for n in range(count)]
        alive = [ordinal for ordinal, name in enumerate(names) if name in graph]
        stored = run.output(execution, node, relation).to_pylist()  # type: ignore[union-attr]
        shown: Counter[tuple[Any, ...]] = Counter()
        for ordinal in alive:
            row = dict(stored[ordinal])
            if relation == "Agg":
                end = "" if count == 1 else f"[{ordinal}]"
                for column in ("n", "m"):
                    value = f"{segment}.{column}{end}"
                    # Of no tensor nothing is left: the greatest of none is NULL.
                    row[column] = graph.value(value) if value in graph else None
            shown[tuple(row.values())] += 1
        left_by_output[execution, node, relation] = shown
    return left_by_output


@settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(workflows(), st.lists(relations, min_size=2, max_size=2), relations, relations, st.data())
def test_deletion_is_rerun(
    workflow: Workflow, inputs: list[Rows], first: Rows, second: Rows, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        given_rows = {"input#0/m1/In": inputs[0], "input#1/m1/In": inputs[1]}
        given_rows |= {"m1/S": first, "m2/S": second}
        run = ran(workflow, inputs, {"m1": first, "m2": second}, Path(folder) / "all")
        graph = run.graph()
        assert left(graph, run) == outputs(run)
        places = [(name, n) for name, rows in given_rows.items() for n in range(len(rows))]
        if not places:
            return
        gone = data.draw(st.sets(st.sampled_from(places), min_size=1))
        names = [n if len(given_rows[n]) == 1 else f"{n}[{i}]" for n, i in sorted(gone)]
        rest = {
            name: [row for n, row in enumerate(rows) if (name, n) not in gone]
            for name, rows in given_rows.items()
        }
        again = ran(
            workflow,
            [rest["input#0/m1/In"], rest["input#1/m1/In"]],
            {"m1": rest["m1/S"], "m2": rest["m2/S"]},
            Path(folder) / "rest",
        )
        assert left(graph.delete(names), run) == outputs(again)
