"""The cost of capturing the annotations of queries, beside running them.

Variants of a query:

=========  =====================================================================================
plain      the query as Spark runs it, its answer written to Parquet
copy       its capture, with aggregated values copied beside the tokens
reference  its capture, with aggregated values by reference
lazy       the answer of the tracked query, written; nothing is captured until something is asked
asked      what the first question adds then: the capture, written because it is asked for
=========  =====================================================================================
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import lipstick
from benchmark_workflowgen.harness import member_count, timed
from benchmark_workflowgen.measure.eventlog import EventLog
from benchmark_workflowgen.measure.rows import Measurement, folder_bytes
from lipstick.errors import LipstickError

VARIANTS = ("plain", "copy", "reference", "lazy", "asked")
EAGER = VARIANTS[:3]
"""The variants that are measured by default."""


def runs(ls: lipstick.Session, text: str) -> dict[str, Callable[[Path], object]]:
    """Return the functions that run a query in each variant, into a folder."""
    query = ls.sql(text)
    return {
        "plain": lambda path: ls.spark.sql(text).write.parquet(str(path)),
        "copy": lambda path: query.save(path, values="copy"),
        "reference": lambda path: query.save(path, values="reference"),
        "lazy": lambda path: query.df.write.parquet(str(path)),
        "asked": lambda _: ls.sql(text).capture,
    }


def measure_query(
    name: str,
    prepare: Callable[[], Mapping[str, Callable[[Path], object]]],
    variants: Sequence[str],
    scratch: Path,
    *,
    warm_up: int,
    log: EventLog | None,
) -> Iterator[Measurement]:
    """Run a query once in each variant, in turn.

    Parameters
    ----------
    prepare
        Returns the functions that run the query; see `runs`.
    warm_up
        How many rounds before, which are not measured.
    log
        From which shuffled bytes and memory are read; None: they are not measured.

    Yields
    ------
    Measurement
        Called by the query's name: its time; what it wrote (`<name> bytes`); what it shuffled
        (`<name> shuffle`) and its peak execution memory (`<name> memory`); the captured members
        (`<name> members`). `<name> refused` is 1 where a query is refused.
    """
    try:
        every = prepare()
    except LipstickError:
        yield Measurement(f"{name} refused", "tracked", 1, "")
        return
    for _ in range(warm_up):
        for variant in variants:
            _fresh(scratch / variant)
            every[variant](scratch / variant)
    for variant in variants:
        path = scratch / variant
        _fresh(path)
        began = time.time()
        taken, captured = timed(partial(every[variant], path))
        yield Measurement(name, variant, taken, "s")
        yield Measurement(f"{name} bytes", variant, folder_bytes(path, "*.parquet"), "B")
        if isinstance(captured, lipstick.Capture):
            yield Measurement(f"{name} members", variant, member_count(captured), "")
        if log is not None:
            usage = log.usage(began, time.time())
            yield Measurement(f"{name} shuffle", variant, usage.shuffle_bytes, "B")
            yield Measurement(f"{name} memory", variant, usage.execution_memory, "B")


def _fresh(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
