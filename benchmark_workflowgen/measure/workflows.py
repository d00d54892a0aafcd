"""The cost of an execution of a workflow, with provenance and without, by prior executions.

The tracked and the plain run go side by side, an execution each in turn, so that other work of the
machine disturbs both alike.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmark_workflowgen.measure.rows import Measurement, folder_bytes
from benchmark_workflowgen.measure.turns import Turns, alternate
from benchmark_workflowgen.workload import Workload
from lipstick.workflow import open_run

VARIANTS = ("plain", "tracked")


class Paced(Sequence[Mapping[str, Any]]):
    """The inputs of a run, made one at a time, with the time from each to the next.

    Parameters
    ----------
    turns
        Ended before each execution.
    name
        The participant's.
    store
        Of the run, which is asked whether it is over.
    """

    def __init__(self, workload: Workload, turns: Turns, name: str, store: Path) -> None:
        self._workload = workload
        self._turns = turns
        self._name = name
        self._store = store
        self._started = time.perf_counter()
        self.preparation = 0.0
        self.seconds: list[float] = []

    def __len__(self) -> int:
        return self._workload.executions

    def __getitem__(self, execution: Any) -> Any:
        passed = time.perf_counter() - self._started
        if execution:
            self.seconds.append(passed)
        else:
            self.preparation = passed
        if execution >= len(self) or (execution and self._over(execution - 1)):
            raise IndexError(execution)
        self._turns.next(self._name)
        self._started = time.perf_counter()
        return self._workload.input(execution)

    def _over(self, execution: int) -> bool:
        return self._workload.ended(open_run(self._store), execution)


def measure_runs(
    spark: SparkSession,
    workload: Workload,
    folder: Path,
    variants: Sequence[str] = VARIANTS,
    *,
    parallelism: int,
) -> Iterator[Measurement]:
    """Run a workload plainly and tracked, into the stores `plain` and `tracked` of a folder.

    Parameters
    ----------
    variants
        Which of them, in the order of their turns.

    Yields
    ------
    Measurement
        Per variant `preparation` (what is done once, before the first execution), `execution` by
        prior executions, `executions` (how many there were), and `store`.
    """
    workflow, state = workload.workflow, workload.state()
    paced: dict[str, Paced] = {}

    def work(variant: str, turns: Turns) -> None:
        store = folder / variant
        paced[variant] = Paced(workload, turns, variant, store)
        workflow.run(
            spark,
            paced[variant],
            store=store,
            state=state,
            tracked=variant == "tracked",
            parallelism=parallelism,
        )

    alternate({v: lambda turns, v=v: work(v, turns) for v in variants})  # type: ignore[misc]
    for variant in sorted(variants):
        times = paced[variant]
        yield Measurement("preparation", variant, times.preparation, "s")
        for prior, seconds in enumerate(times.seconds):
            yield Measurement("execution", variant, seconds, "s", prior)
        yield Measurement("executions", variant, len(times.seconds), "")
        yield Measurement("store", variant, folder_bytes(folder / variant), "B")
