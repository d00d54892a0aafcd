"""The cost of an execution of a workflow, with provenance and without, by prior executions.

The tracked and the plain run go side by side, an execution each in turn, so that other work of the
machine disturbs both alike.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import SparkSession

from benchmark_workflowgen.measure.rows import Measurement, folder_bytes
from lipstick.workflow import Run, Workflow, open_run


class Workload(Protocol):
    """One run: a workflow, its initial state, and the input of every execution.

    All of it is determined by parameters and a seed.
    """

    @property
    def executions(self) -> int:
        """The limit on executions."""

    @property
    def workflow(self) -> Workflow:
        """The workflow."""

    def state(self) -> Mapping[str, Mapping[str, pa.Table]]:
        """Return the initial state, by module and relation."""

    def input(self, execution: int) -> Mapping[str, Any]:
        """Return the input of an execution, from 0."""

    def ended(self, run: Run, execution: int) -> bool:
        """Return True if a run is over after an execution."""


class Turns:
    """The order in which some participants work.

    Parameters
    ----------
    names
        The participants; the first one begins.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._waiting = list(names)
        self._changed = threading.Condition()
        self._stopped = False

    def take(self, name: str) -> None:
        """Wait for a participant's turn.

        Raises
        ------
        CancelledError
            When nobody is to work any more.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._waiting[0] == name)
            if self._stopped:
                raise CancelledError

    def next(self, name: str) -> None:
        """End a participant's turn, and wait for its next one; see :meth:`take`."""
        with self._changed:
            self._waiting.append(self._waiting.pop(0))
            self._changed.notify_all()
        self.take(name)

    def leave(self, name: str) -> None:
        """End a participant's last turn."""
        with self._changed:
            self._waiting.remove(name)
            self._changed.notify_all()

    def stop(self) -> None:
        """Stop all turns."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()


def alternate(works: Mapping[str, Callable[[Turns], None]]) -> None:
    """Run some works in turns; each ends its turn where it calls :meth:`Turns.next`.

    Raises
    ------
    BaseException
        What the first of them raised that failed; the others have stopped at their next turn.
    """
    turns = Turns(tuple(works))

    def run(name: str, work: Callable[[Turns], None]) -> None:
        turns.take(name)
        try:
            work(turns)
        except BaseException:
            turns.stop()
            raise
        finally:
            turns.leave(name)

    with ThreadPoolExecutor(len(works)) as pool:
        running = [pool.submit(run, name, work) for name, work in works.items()]
        try:
            wait(running, return_when=FIRST_EXCEPTION)
        finally:
            turns.stop()
    failures = [future.exception() for future in running]
    for failure in sorted(filter(None, failures), key=lambda f: isinstance(f, CancelledError)):
        raise failure


VARIANTS = ("plain", "tracked")


class Paced(Sequence[Mapping[str, Any]]):
    """The inputs of a run, produced one at a time, with the time from each to the next.

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
