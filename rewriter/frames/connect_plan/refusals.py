"""Relations of a Connect plan that no query says, and what to do instead."""

from __future__ import annotations

from collections.abc import Mapping

from rewriter.errors import QueryError
from rewriter.frames.writing.errors import unsupported
from rewriter.frames.writing.refusals import rows_of_state, untracked

_UNTRACKED = (
    "cached_local_relation",
    "cached_remote_relation",
    "chunked_cached_local_relation",
    "local_relation",
    "read",
)
_OF_STATE: Mapping[str, str] = {
    "apply_in_pandas_with_state": "groupBy().applyInPandasWithState",
    "group_map": "groupBy().transformWithState",
}
_AGGREGATE = "Call the aggregates that you need: agg(), or groupBy().agg()."
_STATISTICS: Mapping[str, str] = {
    "approx_quantile": "approxQuantile()",
    "corr": "corr()",
    "cov": "cov()",
    "crosstab": "crosstab()",
    "describe": "describe()",
    "freq_items": "freqItems()",
    "summary": "summary()",
}
_OTHERS: Mapping[str, tuple[str, str]] = {
    "as_of_join": (
        "an as-of join takes the nearest row, which no join of a query says",
        "Number the rows of a join by row_number() over a window, and filter.",
    ),
    "sample_by": (
        "sampleBy() draws a number for each row",
        "Take sample() of each stratum, and their union.",
    ),
    "to_schema": (
        "to() of a schema has no rule",
        "Choose and cast the columns in select().",
    ),
    "transpose": (
        "transpose() makes columns of what rows hold",
        "Give the values as columns: groupBy().pivot(column, values), or unpivot().",
    ),
}


def refusal(kind: str) -> QueryError:
    """Return the error of a relation without a rule."""
    if kind in _UNTRACKED:
        return untracked(kind)
    if kind in _OF_STATE:
        return rows_of_state(_OF_STATE[kind])
    if kind in _STATISTICS:
        return unsupported(
            f"{_STATISTICS[kind]} gives statistics as text, without the rows behind each",
            _AGGREGATE,
        )
    problem, *advice = _OTHERS.get(kind, (f"the relation {kind} has no rule",))
    return unsupported(problem, *advice)
