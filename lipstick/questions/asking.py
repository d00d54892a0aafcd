"""Asking: progress, a budget, and a session that goes on after Ctrl-C, for every question."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Final, Literal, ParamSpec, TypeAlias, TypeVar, cast

from lipstick.display.progress_line import progress
from lipstick.engines.memory.store import OPEN_WITH_SPARK
from lipstick.errors import NeedsSparkError
from semiring.errors import ArgumentError, BudgetError, ExactnessError
from semiring.support.budget import call_within, remaining, uncollected, within

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lipstick.capture.manifest import Manifest
    from lipstick.questions.jobs import JobLog

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")

BUDGET: Final = 30.0
"""Seconds for a question by default."""

_SILENT: Final = 2.0
"""Seconds after which progress is shown."""

_USED: Final = 0.9
"""The share of a budget after which answers are given, so that none comes too late."""

_LARGEST: Final = 0.5
"""The share that one row may take: what it is made of is often that of others too."""

_LAST: Final = 0.75
"""The share of the rest for rows that took too long, before worlds are drawn."""

Method: TypeAlias = Literal["auto", "exact", "sample"]
"""The method for hard questions: exact, sampling, or exact unless that is too hard."""


def question(doing: str, *, captured: bool = True) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Show the progress of a method that answers a question, and hold it to its budget.

    The budget is the argument ``budget`` where the method has one. It begins once the query is
    captured, and covers all that the answer takes from there, annotations included.

    Parameters
    ----------
    doing
        The text of the progress line.
    captured
        Whether the question is about a capture, which is made first.
    """

    def decorate(method: Callable[P, T]) -> Callable[P, T]:
        budget = inspect.signature(method).parameters.get("budget")

        @wraps(method)
        def asked(*args: P.args, **kwargs: P.kwargs) -> T:
            with progress(after=_SILENT) as line:
                line(doing)
                try:
                    if budget is None:
                        return method(*args, **kwargs)
                    seconds = _seconds(kwargs.get("budget", budget.default))
                    with _evaluating(args[0]) if captured else nullcontext():
                        return call_within(seconds, partial(method, *args, **kwargs))
                except NeedsSparkError as error:
                    subject: Any = args[0]
                    raise _answered_here(error, subject._captured.engine.spark) from None
                except (KeyboardInterrupt, ExactnessError):  # Ctrl-C, or a budget that is spent
                    forget_connection()
                    raise

        return jobs_counted(doing)(asked)

    return decorate


def jobs_counted(doing: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Count the Spark jobs of a question to a frame, or to its algebra."""

    def decorate(method: Callable[P, T]) -> Callable[P, T]:
        @wraps(method)
        def asked(*args: P.args, **kwargs: P.kwargs) -> T:
            log = getattr(getattr(args[0], "_asked", args[0]), "_job_log", None)
            with nullcontext() if log is None else cast("JobLog", log).asking(doing):
                return method(*args, **kwargs)

        return asked

    return decorate


def _evaluating(subject: Any) -> AbstractContextManager[None]:
    """Capture a query, and evaluate scalars as its session does."""
    capture = getattr(subject, "_captured", None)
    return nullcontext() if capture is None else evaluating(capture.manifest, capture.engine.spark)


@contextmanager
def evaluating(manifest: Manifest, spark: SparkSession | None) -> Iterator[None]:
    """Evaluate scalars in the time zone of a capture, and by a session those without a rule here.

    Parameters
    ----------
    spark
        The session; None: there is none.
    """
    # Sessions that compute nothing in this process do not load the interpreter.
    from rewriter.interpret import in_time_zone

    with ExitStack() as stack:
        stack.enter_context(in_time_zone(manifest.time_zone))
        if spark is not None:
            # Sessions alone have pyspark.
            from lipstick.engines.spark.scalars import scalars_by

            stack.enter_context(scalars_by(spark))
        try:
            yield
        except NeedsSparkError as error:
            raise _answered_here(error, spark) from None


def _seconds(budget: Any) -> float | None:
    return None if budget is None else float(budget)


@dataclass(frozen=True, slots=True)
class QuestionCost:
    """An estimate of the cost of a question, coarse and without the time of a capture.

    Attributes
    ----------
    members
        Members of groups and rows of joins that the answer is computed from, at most.
    seconds
        On two cores of a few gigahertz. More than the budget: the answer may be samples, or an
        error.
    """

    members: int
    seconds: float


_RATES: Final = {
    "lineage": 0.5e-6,
    "evaluate": 4e-6,
    "what_if": 1e-6,
    "polynomials": 10e-6,
    "tensors": 10e-6,
    "witnesses": 20e-6,
    "wsms": 25e-6,
    "probability": 30e-6,
    "expected": 30e-6,
    "repairs": 40e-6,
    "banzhaf": 50e-6,
    "responsibility": 100e-6,
    "shapley": 500e-6,
}
"""Seconds for each member, as measured over TPC-H."""


def question_cost(name: str, members: int) -> QuestionCost:
    """Return the estimate for a question over a number of members.

    Raises
    ------
    ArgumentError
        For a question without an estimate.
    """
    if name not in _RATES:
        raise ArgumentError(
            f"There is no estimate of {name!r}.\nAsk for that of one of: {', '.join(_RATES)}."
        )
    return QuestionCost(members, members * _RATES[name])


def answer_rows(
    rows: Sequence[tuple[R, Callable[[], Any]]],
    method: Method,
    exact: Callable[[Any], T],
    sampled: Callable[[Any], T] | None = None,
    unknown: Callable[[], T] | None = None,
    together: Callable[[list[Any]], list[T]] | None = None,
) -> list[tuple[R, T]]:
    """Answer a question about rows; each may take its share of the remaining budget.

    Parameters
    ----------
    rows
        With a function that makes the annotation or formal value of the row.
    exact, sampled
        Answer from what was made: exactly, for half of the time where samples may follow.
    unknown
        The answer about a row whose annotation, or whose samples, take all of the time.
    together
        In place of `sampled`: answers for all rows that are not answered exactly, in the time
        that is left.

    Raises
    ------
    ExactnessError
        Where a row is not answered in time.
    """
    if together is not None and method != "exact":
        return _answered_together(rows, method, exact, together, unknown)
    answers = []
    with progress(after=_SILENT) as line, uncollected():
        for number, (row, make) in enumerate(rows):
            line(f"row {number + 1:,} of {len(rows):,}")
            left = remaining()
            share = None if left is None else left * max(1 / (len(rows) - number), _LARGEST)
            try:
                answer = call_within(
                    share and _USED * share, partial(_answer, make, method, exact, sampled)
                )
            except ExactnessError:
                if unknown is None or method == "exact":
                    raise
                answer = unknown()
            answers.append((row, answer))
    return answers


def _answered_together(
    rows: Sequence[tuple[R, Callable[[], Any]]],
    method: Method,
    exact: Callable[[Any], T],
    together: Callable[[list[Any]], list[T]],
    unknown: Callable[[], T] | None,
) -> list[tuple[R, T]]:
    answers: dict[int, T] = {}
    made: dict[int, Any] = {}

    def make(number: int) -> None:
        if number not in made:
            made[number] = rows[number][1]()

    def answer(number: int) -> None:
        make(number)
        answers[number] = exact(made[number])

    with progress(after=_SILENT) as line, uncollected():
        half = None if (left := remaining()) is None else left / 2
        waiting = list(range(len(rows))) if method == "auto" else []
        # A row that takes more than its share is asked again in the time that the others leave.
        for turn in range(2):
            late: list[int] = []
            for place, number in enumerate(waiting):
                line(f"row {number + 1:,} of {len(rows):,}")
                left = remaining()
                if left is not None:
                    left = _LAST * left if turn else max(left - (half or 0.0), 0.0)
                share = left and left * max(1 / (len(waiting) - place), 0 if turn else _LARGEST)
                try:
                    call_within(share, partial(answer, number))
                except BudgetError:
                    late.append(number)
                except ExactnessError:
                    pass
            waiting = late
        for number in range(len(rows)):
            if number not in made:
                left = None if unknown is None else remaining()
                with suppress(ExactnessError) if unknown else nullcontext():
                    call_within(left and _LARGEST * left, partial(make, number))
        hard = [number for number in made if number not in answers]
        if hard:
            line(f"drawing worlds for {len(hard):,} rows")
            draw = partial(together, [made[number] for number in hard])
            left = remaining()
            with suppress(ExactnessError) if unknown else nullcontext():
                drawn = call_within(left and _USED * left, draw)
                answers.update(zip(hard, drawn, strict=True))
    if unknown is not None:
        answers = {number: answers.get(number) or unknown() for number in range(len(rows))}
    return [(row, answers[number]) for number, (row, _) in enumerate(rows)]


def _answer(
    make: Callable[[], Any],
    method: Method,
    exact: Callable[[Any], T],
    sampled: Callable[[Any], T] | None,
) -> T:
    made = make()
    if method == "exact" or sampled is None:
        return exact(made)
    left = remaining()
    if method != "sample":
        with suppress(ExactnessError):
            return call_within(None if left is None else left / 2, partial(exact, made))
        left = remaining()
    with within(None if left is None else _USED * left):
        return sampled(made)


def _answered_here(error: NeedsSparkError, spark: SparkSession | None) -> NeedsSparkError:
    """Return the error without advice to open with Spark, where that is open with Spark."""
    problem = str(error)
    if OPEN_WITH_SPARK not in problem or spark is None:
        return error
    problem = problem.removesuffix(OPEN_WITH_SPARK).rstrip()
    return NeedsSparkError(
        f"{problem}\nThis question is answered in the session's process, beside Spark, and has no "
        "answer here. Spark answers what_if(), what_if_many(), lineage() and algebra.evaluate()."
    )


def forget_connection() -> None:
    """Have the next call to Spark use a new connection.

    An interrupted call leaves an answer unread in the connection of its thread, which the next
    call would take for its own.
    """
    with suppress(Exception):
        gateway = sys.modules["pyspark"].SparkContext._gateway
        client = gateway._gateway_client
        client.thread_connection.connection = None


def check_limit(limit: int | None) -> None:
    """Refuse a negative number of rows, which would be a place from the end."""
    if limit is not None and limit < 0:
        raise ArgumentError(
            f"limit is {limit}: the number of rows to return.\nGive 0 or more, or None for all."
        )
