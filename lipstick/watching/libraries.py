"""Libraries of checks: who asks for a query, and which queries a result in a report comes from.

Who asks for a query is in the calls that are running then, as objects of the library; its report
leads to the same objects, or names what they are about. Nothing is concluded from equal numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lipstick.errors import CaptureError
from lipstick.outer import resolve

if TYPE_CHECKING:
    from lipstick.watching.shown import Shown

Places = tuple[Collection[int], bool]
"""The columns of a query that may have a number, and True if it is a count of rows that fail."""

NONE: Final[Places] = ((), False)


@dataclass(frozen=True, slots=True)
class LibraryVerdict:
    """The verdict of a library on a check.

    Attributes
    ----------
    passed
        None: the library has none, such as for a check that could not run.
    failures
        The number of failures that it found; None: it reports none, or the check is about a value.
    value
        The value that it found; None: it reports none.
    query, column
        For a library that is not known here: the result that has the number, such as
        ``watch.last``, and its column; None: its only one.
    """

    name: str
    passed: bool | None
    failures: float | None = None
    value: Any = None
    query: Shown | None = None
    column: str | None = None


class ReportedResult(NamedTuple):
    """A verdict in a report, and what finds its number in a query, by who asked for that.

    ``finds`` takes who asked, and the number of columns of the query.
    """

    verdict: LibraryVerdict
    finds: Callable[[Any, int], Places]


class CheckLibrary(NamedTuple):
    """A library of checks: how its calls name who asks for a query, and how a report is read.

    ``asks`` takes a running call of the library, and the modules of those within.
    """

    asks: Callable[[FrameType, Sequence[str]], Any]
    reads: Callable[[Any], Iterable[ReportedResult]]


def asker(frame: FrameType | None) -> Any:
    """Return who asks for the query that is run by a call; None: no library that is known."""
    within: list[str] = []
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        library = LIBRARIES.get(module.partition(".")[0])
        if library is not None and (by := library.asks(frame, within)) is not None:
            return by
        within.append(module)
        frame = frame.f_back
    return None


def reports_of(report: Any) -> list[ReportedResult]:
    """Read the report of a library.

    Raises
    ------
    CaptureError
        For one of another kind.
    """
    package = type(report).__module__.partition(".")[0]
    if hasattr(report, "pandera"):
        package = "pandera"
    if package not in LIBRARIES:
        raise CaptureError(
            f"A report of {package} is not known: those of {', '.join(LIBRARIES)} are.\nGive its "
            "verdicts with their queries, as lipstick.LibraryVerdict has them."
        )
    return list(LIBRARIES[package].reads(report))


# -- Great Expectations ---------------------------------------------------------------------------


class _Metrics(NamedTuple):
    """The metrics that a query computes: each column one, or all columns the only one."""

    bundle: bool
    metrics: Sequence[Any]


_DOMAIN: Final = ("batch_id", "column", "column_A", "column_B", "column_list", "row_condition")
_FAILING_ROWS: Final = (".unexpected_count", "unexpected_rows_query.row_count")


def _metrics_asked(frame: FrameType, _: Sequence[str]) -> _Metrics | None:
    """Return the metrics that the engine of Great Expectations computes in a call."""
    found = frame.f_locals
    if frame.f_code.co_name == "resolve_metric_bundle" and "aggregate" in found:
        made = [each.metric_configuration for each in found["metric_fn_bundle"]]
        by_id = {each.id: each for each in made}
        return _Metrics(True, [by_id[each] for each in found["aggregate"]["metric_ids"]])
    if frame.f_code.co_name == "_process_direct_and_bundled_metric_computation_configurations":
        return _Metrics(False, [found["metric_computation_configuration"].metric_configuration])
    return None


def _expectations(report: Any) -> Iterable[ReportedResult]:
    """Yield the verdicts of a validation result, of version 0.18 or 1."""
    implementation = resolve("great_expectations.expectations.registry:get_expectation_impl")
    for result in getattr(report, "results", [report]):
        config = result.expectation_config
        kind = getattr(config, "type", None) or config.expectation_type
        expectation = implementation(kind)
        fields = getattr(expectation, "__fields__", {})
        given = {
            **{name: field.default for name, field in fields.items()},
            **getattr(expectation, "default_kwarg_values", {}),
            **config.kwargs,
        }
        named = [given.get(name) for name in ("column", "column_A", "column_B")]
        columns = [*filter(None, named), *(given.get("column_list") or ())]
        found = result.result or {}
        raised = (result.exception_info or {}).get("raised_exception", False)
        map_metric = getattr(expectation, "map_metric", None)
        metrics = (
            [f"{map_metric}.unexpected_count"]
            if map_metric
            else getattr(expectation, "metric_dependencies", ())
        )
        verdict = LibraryVerdict(
            f"{kind}({', '.join(columns)})",
            None if raised else bool(result.success),
            found.get("unexpected_count"),
            found.get("observed_value"),
        )
        yield ReportedResult(verdict, _finds_metric(tuple(metrics), given))


def _finds_metric(names: Sequence[str], given: Mapping[str, Any]) -> Callable[[Any, int], Places]:
    def is_own(metric: Any) -> bool:
        values = metric.metric_value_kwargs
        about = metric.metric_domain_kwargs
        return metric.metric_name.removesuffix(".aggregate_fn") in names and all(
            _stated(kwargs.get(name)) == _stated(given.get(name))
            for kwargs, keys in ((about, _DOMAIN), (values, values))
            for name in keys
            if name in given
        )

    def finds(by: Any, width: int) -> Places:
        if not isinstance(by, _Metrics):
            return NONE
        own = [place for place, metric in enumerate(by.metrics) if is_own(metric)]
        if by.bundle or not own:
            return own, False
        counts = by.metrics[0].metric_name.endswith(_FAILING_ROWS)
        return range(width), counts

    return finds


def _stated(argument: Any) -> Any:
    """Return an argument, None for one that is off or empty: but 0 is a bound."""
    return None if argument is False or argument in ("", [], ()) else argument


# -- Soda -----------------------------------------------------------------------------------------

_FAILURES: Final = ("missing_count", "invalid_count", "duplicate_count", "reference")
_FAILING_KINDS: Final = ("UserDefinedFailedRowsCheck", "UserDefinedFailedRowsExpressionCheck")


def _query_asked(frame: FrameType, _: Sequence[str]) -> Any:
    """Return the query of Soda that a call runs."""
    query = frame.f_locals.get("self")
    return query if type(query).__module__.startswith("soda.execution.query.") else None


def _scan(scan: Any) -> Iterable[ReportedResult]:
    """Yield the verdicts of a scan of Soda Core."""
    for check in scan._checks:
        outcome = getattr(check.outcome, "value", None)
        metrics = list(check.metrics.values())
        for metric in list(metrics):  # a percentage is computed from numbers
            formula = getattr(metric, "derived_formula", None)
            metrics += getattr(formula, "metric_dependencies", {}).values()
        failing = [each for each in metrics if each.name in _FAILURES]
        if type(check).__name__ in _FAILING_KINDS:
            failing = metrics
        own = failing or metrics
        value: Any = getattr(check, "check_value", None)
        verdict = LibraryVerdict(
            check.name,
            None if outcome is None else outcome == "pass",
            own[0].value if failing and own[0].value is not None else None,
            None if failing else value,
        )
        yield ReportedResult(verdict, _finds_soda(own[:1], bool(failing)))


def _finds_soda(metrics: Sequence[Any], failing: bool) -> Callable[[Any, int], Places]:
    def finds(by: Any, width: int) -> Places:
        if not metrics or not type(by).__module__.startswith("soda."):
            return NONE
        kind = type(by).__name__
        if kind == "AggregationQuery":
            return [n for n, each in enumerate(by.metrics) if each is metrics[0]], False
        if kind == "SampleQuery" or getattr(by, "metric", None) is not metrics[0]:
            return NONE
        return range(width), failing and kind.startswith("UserDefinedFailedRows")

    return finds


# -- Pandera --------------------------------------------------------------------------------------

_BUILT_IN: Final = "pandera.backends.pyspark.builtin_checks"
_OWN_CHECKS: Final = {"check_nullable": "not_nullable", "check_column_values_are_unique": "unique"}


class _Checked(NamedTuple):
    """A check of Pandera; ``counts``: it counts rows that fail, as the built-in ones do."""

    schema: Any
    check: str
    counts: bool


def _check_asked(frame: FrameType, within: Sequence[str]) -> _Checked | None:
    """Return the check of Pandera that a call runs."""
    found, name = frame.f_locals, frame.f_code.co_name
    if name in _OWN_CHECKS and "schema" in found:
        return _Checked(found["schema"].name, _OWN_CHECKS[name], True)
    if name == "run_check" and "check" in found:
        check = found["check"]
        return _Checked(found["schema"].name, str(check.error or check.name), _BUILT_IN in within)
    return None


def _validated(frame: Any) -> Iterable[ReportedResult]:
    """Yield the failures of a frame that Pandera has validated: it reports no others."""
    for group in frame.pandera.errors.values():
        for errors in group.values():
            for error in errors:
                check, column = str(error.get("check")), error.get("column")
                yield ReportedResult(
                    LibraryVerdict(f"{column}: {check}", False), _finds_check(column, check)
                )


def _finds_check(column: str | None, check: str) -> Callable[[Any, int], Places]:
    def finds(by: Any, width: int) -> Places:
        own = isinstance(by, _Checked) and (by.schema, by.check) == (column, check)
        return (range(width), by.counts) if own else NONE

    return finds


LIBRARIES: Final = {
    "great_expectations": CheckLibrary(_metrics_asked, _expectations),
    "pandera": CheckLibrary(_check_asked, _validated),
    "soda": CheckLibrary(_query_asked, _scan),
}
"""The libraries that are known, by package."""
