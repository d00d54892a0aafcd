"""The harness of the experiments: times, turns, presets, tracked tables, and results.

Variants run in turns and take turns at being first, so that a noisy machine disturbs all alike.
"""

from __future__ import annotations

import json
import signal
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial, wraps
from importlib.resources import files
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

import lipstick
from benchmark_workflowgen import suites
from benchmark_workflowgen.sessions import Sparks

T = TypeVar("T")
Row = dict[str, Any]
"""The figures of one case, by name."""
StartsSession = Callable[[], AbstractContextManager[lipstick.Session]]
"""Starts the session of an experiment."""

# -- times -------------------------------------------------------------------------------------


def timed(run: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds of one run, and its result."""
    started = time.perf_counter()
    result = run()
    return time.perf_counter() - started, result


def seconds(run: Callable[[], object]) -> float:
    """Return the seconds of one run."""
    return timed(run)[0]


def processor_seconds(run: Callable[[], object]) -> float:
    """Return the processor seconds of one run, over all threads."""
    started = time.process_time()
    run()
    return time.process_time() - started


def processor_clock(spark: SparkSession) -> float:
    """Return the processor seconds of this process so far, and of the JVM of a classic session."""
    jvm: Any = getattr(spark, "_jvm", None)
    if jvm is None:
        return time.process_time()
    taken = jvm.java.lang.ProcessHandle.current().info().totalCpuDuration().get()
    return time.process_time() + float(taken.toNanos()) / 1e9


@contextmanager
def measured(spark: SparkSession, figures: Row) -> Iterator[None]:
    """Add what a piece of work took to figures: seconds, processor seconds, jobs, and bytes read.

    Bytes are those of tables and files that tasks read, in millions.
    """
    before = _spent(spark)
    yield
    wall, jvm, own, jobs, read = (a - b for a, b in zip(_spent(spark), before, strict=True))
    figures |= {"wall": round(wall, 1), "Spark": round(jvm, 1), "Python": round(own, 1)}
    figures |= {"jobs": round(jobs), "MB": round(read / 1e6, 1)}


def _spent(spark: SparkSession) -> tuple[float, float, float, float, float]:
    """Return time, processor seconds of Spark's process and of this one, jobs and bytes so far."""
    context: Any = spark.sparkContext
    jvm, java = processor_clock(spark) - (own := time.process_time()), context._jsc.sc()
    java.listenerBus().waitUntilEmpty()
    read = java.statusStore().executorSummary("driver").totalInputBytes()
    return time.perf_counter(), jvm, own, java.dagScheduler().numTotalJobs(), read


def in_turns(
    ways: Mapping[str, Callable[[int], object]], repetitions: int
) -> dict[str, list[float]]:
    """Return the seconds of each way, after an unmeasured round.

    Parameters
    ----------
    ways
        Take the number of the round.
    """
    names = list(ways)
    times: dict[str, list[float]] = {name: [] for name in names}
    for number in range(repetitions + 1):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            started = time.perf_counter()
            ways[name](number)
            if number:
                times[name].append(time.perf_counter() - started)
    return times


class OverLimitError(BaseException):
    """A measurement over its limit; not an `Exception`, so that no handler swallows it."""


def least_seconds(run: Callable[[], object], repetitions: int, limit: float) -> float:
    """Return the shortest time of several repetitions, after a warm-up.

    Parameters
    ----------
    limit
        Seconds in all, after which no repetition begins; a first one that takes half of them is
        the measurement.

    Raises
    ------
    OverLimitError
        If the first one takes longer than `limit`.
    """
    with within(limit):
        first = seconds(run)
    if first > limit / 2:
        return first
    times: list[float] = []
    ends = time.perf_counter() + limit - first
    while len(times) < repetitions and time.perf_counter() < ends:
        times.append(seconds(run))
    return min(times)


@contextmanager
def within(limit: float) -> Iterator[None]:
    """Raise OverLimitError in this thread after some seconds, once Python has control again.

    It uses a signal, so it only works in the main thread.
    """

    def over(number: int, frame: FrameType | None) -> None:
        raise OverLimitError

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def evaluation(run: Callable[[], object], repetitions: int, limit: float) -> Row:
    """Return the least seconds of an evaluation; or that it is refused, or over the limit."""
    try:
        return {"seconds": least_seconds(run, repetitions, limit)}
    except lipstick.LipstickError as error:
        return {"refused": str(error).splitlines()[0]}
    except OverLimitError:
        return {"over_seconds": limit}


# -- what is measured --------------------------------------------------------------------------


def preset_values(name: str, file: Path | None = None) -> Row:
    """Return the parameters of an experiment, from its preset or from a file instead."""
    preset = files("benchmark_workflowgen").joinpath("presets", f"{name}.toml")
    return tomllib.loads((file or preset).read_text("utf-8"))


def session_options(
    session: Callable[..., Any], memory: str, **options: Callable[[Any], Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options of a local Spark to a command, which takes ``start`` in their place.

    Parameters
    ----------
    session
        The session that ``start`` starts, from the values of the options.
    memory
        The default heap of the driver.
    options
        Further ones, by the name of their value.
    """
    options["cores"] = click.option("--cores", default=2, show_default=True)
    options["memory"] = click.option(
        "--memory", default=memory, show_default=True, help="Heap of the driver."
    )

    def add(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**values: Any) -> None:
            given = {name: values.pop(name) for name in options}
            command(start=partial(session, **given), **values)

        for option in reversed(options.values()):
            option(run)
        return run

    return add


def tpch_options(memory: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options of an experiment on tables of TPC-H; see `session_options`."""
    data = click.option("--data", type=click.Path(exists=True, path_type=Path), required=True)
    return session_options(tpch_session, memory, data=data)


@contextmanager
def tpch_session(data: Path, cores: int, memory: str) -> Iterator[lipstick.Session]:
    """Start a local Spark whose session tracks the tables of TPC-H in a folder."""
    with (
        Sparks(None, None, memory) as sparks,
        lipstick.session(sparks.get(cores, 2 * cores)) as ls,
    ):
        suites.track(ls, "tpch", data)
        yield ls


def unmeasured(result: Mapping[str, Any]) -> str | None:
    """Return why an evaluation has no figures, or None."""
    if "refused" in result:
        return f"refused: {result['refused']}"
    if "over_seconds" in result:
        return f"not done after {result['over_seconds']:g} s"
    return None


def member_count(capture: lipstick.Capture) -> int:
    """Return the number of members of a capture, of all its blocks."""
    return sum(count.get("members", 0) for count in capture.manifest.counts.values())


# -- results -----------------------------------------------------------------------------------

output_option = click.option("--output", type=click.Path(path_type=Path), help="Results as JSON.")


def write_results(output: Path | None, results: object) -> None:
    """Write results as JSON, if there is a file for them."""
    if output is not None:
        output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def print_rows(title: str, rows: Sequence[Row]) -> None:
    """Print rows as a table."""
    table = Table(title=title, title_justify="left")
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*(_cell(row.get(name)) for name in names))
    Console(width=260).print(table)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else str(value)
