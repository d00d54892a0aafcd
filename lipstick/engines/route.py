"""The router: whether this process answers, or Spark, is decided here for all questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import pyarrow as pa

from lipstick.errors import NeedsSparkError
from semiring.base import Semiring
from semiring.encodings.valuation import Valuation
from semiring.errors import LipstickError
from semiring.support.budget import free_memory

if TYPE_CHECKING:
    from lipstick.capture.manifest import Manifest
    from lipstick.engines.protocol import AskedCapture

T = TypeVar("T")
U = TypeVar("U")

Errors: TypeAlias = type[Exception] | tuple[type[Exception], ...]


MOST_MEMBERS = 20_000_000
"""Members of a capture that this process reads, at most, where Spark could answer."""
_CELL = 20
"""Bytes that a value of a member takes, and the indexes over it."""


def left_to_spark() -> tuple[type[Exception], ...]:
    """Return the errors that hand a computation to Spark, which then reports its own."""
    # Sessions that compute nothing in this process do not load the interpreter.
    from rewriter.interpret import UninterpretableError

    return (LipstickError, UninterpretableError, pa.ArrowException)


def answer(
    here: Callable[[], T],
    by_spark: Callable[[Exception], U] | None,
    left: Errors = NeedsSparkError,
) -> T | U:
    """Return what the first engine computes that can: this process, or else Spark.

    Parameters
    ----------
    by_spark
        Given the reason why this process cannot; None: there is no Spark, and the reason is raised.
    left
        The errors that are such reasons.
    """
    try:
        return here()
    except left as error:
        if by_spark is None:
            raise
        reason = error
    return by_spark(reason)


def if_here(here: Callable[[], T], left: Errors | None = None) -> T | None:
    """Return what this process computes; None where that is left to Spark."""
    return answer(here, lambda _: None, left_to_spark() if left is None else left)


def fits_memory(manifest: Manifest) -> bool:
    """Return True if a capture's members are few enough for this process, and its free memory.

    They may take a fourth of it.
    """
    counts = {name: each.get("members", 0) for name, each in manifest.counts.items()}
    cells = sum(
        count * len(manifest.schemas.get(name, {}).get("members", {"fields": ()})["fields"])
        for name, count in counts.items()
    )
    free = free_memory()
    room = free is None or cells * _CELL <= free // 4
    return sum(counts.values()) <= MOST_MEMBERS and room


def evaluation(
    capture: AskedCapture, semiring: Semiring[Any], valuations: Mapping[str, Valuation[Any]]
) -> Any:
    """Return an answer with its annotations in a semiring, from the engine that computes them.

    The world without the tokens valued 0 decides annotations with conditions, where all others are
    valued 1; else they are evaluated in memory.
    """
    memory = capture.memory
    if capture.engine.spark is None:
        return memory.evaluate(semiring, valuations)
    cluster = capture.cluster
    if cluster.evaluates(semiring):
        return cluster.evaluate(semiring, valuations)
    gone = memory.valued_zero(semiring, valuations) if cluster.in_worlds(semiring) else None
    if gone is not None:
        return cluster.evaluate_in_world(gone, semiring)
    return capture.engine.shown(memory.evaluate(semiring, valuations))
