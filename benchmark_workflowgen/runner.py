"""The runner: measures pending cases, one after another, storing each when it is done."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

import lipstick
from benchmark_workflowgen import suites
from benchmark_workflowgen.environment import environment
from benchmark_workflowgen.errors import BenchmarkError
from benchmark_workflowgen.generated_graphs import generate
from benchmark_workflowgen.grid import Case, text_of, workload_of
from benchmark_workflowgen.measure import queries, workflows
from benchmark_workflowgen.measure.graphs import measure_graph
from benchmark_workflowgen.measure.rows import Measurement
from benchmark_workflowgen.measure.workflows import measure_runs
from benchmark_workflowgen.results import Results
from benchmark_workflowgen.sessions import Sparks
from graphquery import ProvenanceGraph
from lipstick.workflow import open_run


class CaseRunner:
    """Measures cases.

    Parameters
    ----------
    sparks
        Where.
    results
        What is done is here, and is not done again.
    cache
        Tables of the SQL suites are kept here.
    """

    def __init__(self, sparks: Sparks, results: Results, cache: Path) -> None:
        self._sparks = sparks
        self._results = results
        self._cache = cache
        self._warm: set[tuple[int, str]] = set()

    def run(self, cases: Sequence[Case], console: Console) -> None:
        """Measure the cases that are not done yet.

        Raises
        ------
        BenchmarkError
            Before anything runs: for a number of cores where Spark is not started here.
        """
        if not self._sparks.local:
            chosen = next((case for case in cases if case.spark[0] is not None), None)
            if chosen is not None:
                raise BenchmarkError(
                    f"{chosen}: a cluster has the cores it has; leave 'cores' out of the grid, or "
                    "run other experiments (--only)."
                )
        with _progress(console) as progress:
            bar = progress.add_task("", total=len(cases))
            for case in cases:
                progress.update(bar, description=str(case))
                if not self._results.is_done(case):
                    self._measure(case)
                progress.advance(bar)

    def _measure(self, case: Case) -> None:
        spark = None if case.kind == "graph" else self._sparks.get(*case.spark)
        folder = Path(tempfile.mkdtemp(prefix="workflowgen-"))
        started = time.perf_counter()
        try:
            if spark is None:
                measurements = list(_generated(case))
            elif case.kind in ("tpch", "tpcds"):
                measurements = list(self._query(case, spark, folder))
            else:
                measurements = list(self._workflow(case, spark, folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        seconds = time.perf_counter() - started
        self._results.store(case, seconds, measurements, environment(spark))

    def _first(self, case: Case) -> bool:
        """Return True if no similar case has run on this Spark yet, and record the case."""
        key = (self._sparks.generation, case.identity.rpartition("-")[0])
        first = key not in self._warm
        self._warm.add(key)
        return first

    def _workflow(self, case: Case, spark: SparkSession, folder: Path) -> Iterator[Measurement]:
        parallelism = int(case.parameters.get("parallelism", 1))
        variants = tuple(case.parameters.get("variants", workflows.VARIANTS))
        if case.warm_up and self._first(case):
            short = workload_of(
                replace(case, parameters={**case.parameters, "executions": case.warm_up})
            )
            warm = folder / "warm"
            list(measure_runs(spark, short, warm, variants, parallelism=parallelism))
        order = _in_turn(variants, case.repetition)
        yield from measure_runs(spark, workload_of(case), folder, order, parallelism=parallelism)
        repetitions = int(case.parameters.get("graph_repetitions", 0))
        if repetitions and "tracked" in variants:
            run = open_run(folder / "tracked")
            yield from measure_graph(run.graph, repetitions, case.seed)

    def _query(self, case: Case, spark: SparkSession, folder: Path) -> Iterator[Measurement]:
        given = case.parameters
        scale, data = float(given.get("scale", 0.1)), given.get("data")
        tables = suites.tables(case.kind, scale, None if data is None else Path(data), self._cache)
        with lipstick.session(spark) as ls:
            suites.track(ls, case.kind, tables)
            yield from queries.measure_query(
                given["query"],
                partial(queries.runs, ls, text_of(case)),
                _in_turn(tuple(given.get("variants", queries.EAGER)), case.repetition),
                folder,
                warm_up=case.warm_up if self._first(case) else 0,
                log=self._sparks.log,
            )


def _in_turn(variants: tuple[str, ...], repetition: int) -> tuple[str, ...]:
    """Return variants in the order of a repetition: they take turns at being first, which costs
    most.
    """
    turn = repetition % len(variants)
    return variants[turn:] + variants[:turn]


def _generated(case: Case) -> Iterator[Measurement]:
    """Measure a generated graph, in memory from the beginning."""
    generated = generate(**case.arguments("nodes", "modules", "executions"), seed=case.seed)
    columns = generated.columns()

    def build() -> ProvenanceGraph:
        return ProvenanceGraph.build(generated.segments, generated.edge_sets, columns)

    return measure_graph(build, int(case.parameters.get("graph_repetitions", 5)), case.seed)


def _progress(console: Console) -> Progress:
    return Progress(
        BarColumn(20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
    )
